# SPDX-License-Identifier: Apache-2.0
"""Rare values: what overt init proposes for them, and what is said when a release makes them likelier."""

import random
import tomllib

import polars as pl
import pytest

RECIPE = """version = 1
[input]
path = "clinic.csv"
[columns]
Age = { role = "quasi-identifier" }
HIV = { role = "sensitive" }
[[goal]]
property = "k-anonymity"
k = 5
[[goal]]
GOAL
[method]
name = "mondrian"
[output]
path = "release.csv"
"""


@pytest.fixture
def clinic(folder):
    """2,000 people, 2 % of them with HIV."""
    draw = random.Random(3)
    n = 2000
    sick = set(draw.sample(range(n), n // 50))
    frame = pl.DataFrame(
        {
            "Age": [draw.randint(18, 90) for _ in range(n)],
            "Sex": [draw.choice("fm") for _ in range(n)],
            "HIV": ["yes" if i in sick else "no" for i in range(n)],
            "Diagnosis": [draw.choice(["flu", "gout", "asthma", "angina"]) for _ in range(n)],
        }
    )
    frame.write_csv(folder / "clinic.csv")
    return folder


def goals(folder, name="c.toml"):
    return [
        (goal["property"], goal.get("column"))
        for goal in tomllib.loads((folder / name).read_text(encoding="utf-8"))["goal"]
    ]


def test_init_bounds_the_relative_risk_of_a_rare_value(clinic, overt, overt_json):
    assert overt("init", "clinic.csv", "--into", "c.toml", "--quiet")[0] == 0
    asked = goals(clinic)  # the pilot is drawn blindly: what is asked of Diagnosis besides depends on it
    assert asked[:3] == [("k-anonymity", None), ("relative-risk", "HIV"), ("l-diversity", "Diagnosis")]
    code, outcome = overt_json("run", "c.toml")
    assert code == 0
    assert not [words for words in outcome["cautions"] if "Rare values" in words]
    assert overt("check", "clinic.csv", "release.csv", "--quiet")[0] == 0


def test_init_names_no_value(clinic, overt):
    overt("init", "clinic.csv", "--into", "c.toml", "--quiet")
    document = tomllib.loads((clinic / "c.toml").read_text(encoding="utf-8"))
    assert all("positive" not in goal for goal in document["goal"])


def test_a_release_that_makes_a_rare_value_likelier_says_so_whatever_its_goal(clinic, overt_json):
    (clinic / "r.toml").write_text(RECIPE.replace("GOAL", 'property = "t-closeness"\nt = 0.3'), encoding="utf-8")
    code, outcome = overt_json("run", "r.toml", "--report")
    assert code == 0
    [caution] = [words for words in outcome["cautions"] if words.startswith("Rare values of 'HIV': one that 2.0")]
    assert "times as likely in a group" in caution and "yes" not in caution
    assert caution.endswith("ask for relative-risk.")  # which can be done: nobody was looked at before


@pytest.mark.parametrize("engine", [(), ("--engine", "out-of-core")])
def test_after_a_pilot_the_advice_is_what_a_run_would_take(engine, clinic, overt, overt_json):
    text = RECIPE.replace("GOAL", 'property = "t-closeness"\nt = 0.3').replace(
        "[columns]", "[pilot]\npeople = 200\n[columns]"
    )
    (clinic / "r.toml").write_text(text, encoding="utf-8")
    overt("compare", "r.toml", "--quiet")
    code, outcome = overt_json("run", "r.toml", *engine)
    assert code == 0
    [caution] = [words for words in outcome["cautions"] if words.startswith("Rare values of 'HIV'")]
    assert caution.endswith("ask for relative-risk, with new data: other goals for these people are refused now.")
    goal = '[[goal]]\nproperty = "relative-risk"\ntimes = 30\npositive = ["yes"]\n[method]'
    (clinic / "r.toml").write_text(text.replace("[method]", goal), encoding="utf-8")
    code, refusal = overt_json("run", "r.toml", "--overwrite", *engine)
    assert code == 3 and "under other choices" in refusal["error"] and "begin with new data" in refusal["error"]


def test_values_that_matter_are_bounded_by_name_and_a_typing_error_is_told(clinic, overt_json):
    goal = 'property = "relative-risk"\ntimes = 2\npositive = ["yes", "Yes"]'
    (clinic / "r.toml").write_text(RECIPE.replace("GOAL", goal), encoding="utf-8")
    code, outcome = overt_json("run", "r.toml")
    assert code == 0
    assert outcome["goal"][1]["asked"] == "relative risk of at most 2 for 'yes', 'Yes'"
    said = " ".join(outcome["cautions"])
    assert "The goal names 1 value that nobody has under `positive`, so the goal limits nothing there" in said
