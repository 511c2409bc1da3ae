# SPDX-License-Identifier: Apache-2.0
"""The fields of JSON documents that the reference lists: those that commands print, of the types that it says, and none else."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.test_disclose import CASE

PAGE = Path(__file__).parents[2] / "docs/reference/command-line.md"
TYPES = {
    "text": str, "list of texts": list, "list of objects": list, "object": dict, "whole number": int, "number": float,
    "true or false": bool, "null": type(None),
}  # fmt: skip
COMMANDS = [
    ("init", ["init", "hospital.csv", "--into", "draft.toml"]),
    ("risk", ["risk", "hospital.csv", "--known", "Sex", "--sensitive", "Disease"]),
    ("run", ["run", "recipe.toml", "--no-audit"]),
    ("run --engine", ["run", "recipe.toml", "--engine", "out-of-core"]),
    ("check", ["check", "hospital.csv", "release.csv"]),
    ("compare", ["compare", "recipe.toml", "--seconds", "0"]),
    ("budget", ["budget", "hospital.csv"]),
    ("audit", ["audit", "recipe.toml", "--seconds", "0.2"]),
    ("distinguish", ["distinguish", "dp.toml", "--runs", "20", "--tried", "1"]),
    ("disclose", ["disclose", "case.json"]),
    ("explain", ["explain", "l-diversity"]),
]
TEXTS = {"known", "sensitive", "cautions", "rows", "values", "sequence", "files"}
QUIET = {"disclose", "explain"}  # which print their answer and nothing beside it
INSIDE = [
    ("init", "columns", ["init", "stays.csv", "--into", "draft.toml"]),
    ("init", "persons", ["init", "stays.csv", "--into", "draft.toml"]),
    ("risk", "persons", ["risk", "stays.csv", "--known", "Sex", "--sensitive", "Diagnosis"]),
    ("run", "persons", ["run", "stays.toml", "--no-audit"]),
    ("run --engine", "utility", ["run", "recipe.toml", "--engine", "out-of-core", "--report"]),
    ("compare", "results", ["compare", "stays.toml", "recipe.toml", "--seconds", "0"]),
    ("audit", "highest_belief", ["audit", "recipe.toml", "--seconds", "0.2"]),
    ("audit", "guessed_right", ["audit", "recipe.toml", "--seconds", "0.2"]),
]
DP = """version = 1
[input]
path = "people.csv"
[columns]
value = { role = "quasi-identifier", hierarchy = { nested = { "*" = ["a", "b"] } } }
[method]
name = "algorithm-3-as-published-not-dp"
i_know_it_is_not_dp = true
t = 30
beta = "1/2"
tau1 = 0.91
[output]
path = "dp.csv"
"""
STAYS = """version = 1
[input]
path = "stays.csv"
person = "Patient ID"
[columns]
Sex = { role = "quasi-identifier" }
Ward = { role = "quasi-identifier", varies = true }
Diagnosis = { role = "sensitive" }
[[goal]]
property = "relative-risk"
times = 3
[method]
name = "blind-buckets"
[output]
path = "persons.csv"
"""


@pytest.fixture
def cases(folder):
    """What the commands are given, beside a hospital and its recipe."""
    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "Patient ID": np.repeat(np.arange(150), 2),
            "Sex": rng.choice(["f", "m"], 150).repeat(2),
            "Ward": rng.choice(list("ABC"), 300),
            "Diagnosis": rng.choice(["flu", "cold", "gout", "asthma", "measles", "mumps"], 300),
        }
    ).write_csv(folder / "stays.csv")
    pl.DataFrame({"value": ["a"] * 30 + ["b"] * 68}).write_csv(folder / "people.csv")
    (folder / "dp.toml").write_text(DP)
    (folder / "stays.toml").write_text(STAYS)
    (folder / "case.json").write_text(json.dumps(CASE), encoding="utf-8")
    return folder


def documented(command, inside=None):
    """(field) -> the types that the page gives it, in the document of a command or in an object inside it."""
    fields = PAGE.read_text(encoding="utf-8").split("## Fields of JSON documents")[1]
    heading = (
        f"\n### Fields of `overt {command}`\n"
        if inside is None
        else f"\n#### Fields of `{inside}` in `overt {command}`\n"
    )
    section = re.split(r"\n####? ", fields.split(heading)[1])[0]
    found = dict(re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|", section, flags=re.MULTILINE))
    return {
        name: (bool,) if said == "true or false" else tuple(TYPES[word] for word in said.split(" or "))
        for name, said in found.items()
    }


def fits(value, types):
    return type(value) in types or (float in types and type(value) is int)


@pytest.mark.parametrize(("command", "words"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_every_field_that_is_printed_is_documented_with_its_type(cases, overt_json, command, words):
    if command == "check":
        assert overt_json("run", "recipe.toml", "--no-audit", "--quiet")[0] == 0
    code, document = overt_json(*words, *([] if command in QUIET else ["--quiet"]))
    said = ({} if command in QUIET else {"audience": (str,)}) | documented(command)
    assert code in (0, 1 if command == "distinguish" else 0) and set(document) == set(said)
    assert {name for name, value in document.items() if not fits(value, said[name])} == set()
    assert all(isinstance(one, str if name in TEXTS else dict)
               for name, value in document.items() if isinstance(value, list) and name not in ("report", "owner_report", "cleared")
               for one in value)  # fmt: skip


@pytest.mark.parametrize(("command", "inside", "words"), INSIDE, ids=[f"{one[0]} {one[1]}" for one in INSIDE])
def test_every_field_of_an_object_inside_is_documented_with_its_type(cases, overt_json, command, inside, words):
    code, document = overt_json(*words, "--quiet")
    found, said = document[inside], documented(command, inside)
    assert code == 0 and found
    for one in found if isinstance(found, list) else [found]:
        assert set(one) == set(said)
        assert {name for name, value in one.items() if not fits(value, said[name])} == set()


def test_a_term_less_explanation_is_documented(overt_json):
    _, document = overt_json("explain")
    page = PAGE.read_text(encoding="utf-8")
    assert "the lists of texts " + ", ".join(f"`{name}`" for name in list(document)[:2]) in page
    assert set(document) == {"properties", "methods", "words"}
