# SPDX-License-Identifier: Apache-2.0
import tomllib

import numpy as np
import pytest

from overt.errors import InvalidInput
from overt.io.profiling import profile_file
from overt.samples import discharges

ROLES = {
    "Patient ID": "identifier",
    "Last name": "identifier",
    "First name": "identifier",
    "Birth date": "quasi-identifier",
    "Sex": "quasi-identifier",
    "ZIP": "quasi-identifier",
    "Phone": "identifier",
    "Admitted": "quasi-identifier",
    "Discharged": "quasi-identifier",
    "Ward": "quasi-identifier",
    "Attending": "identifier",
    "Diagnosis": "sensitive",
    "HIV": "sensitive",
    "Mental health flag": "sensitive",
    "Charge": "other",  # nobody else has somebody's bill, and beside it would stand HIV
    "Remarks": "identifier",
}


@pytest.fixture(scope="module")
def stays():
    return discharges()


def test_it_is_as_messy_as_files_are(stays):
    assert stays.height == 20_000
    assert stays["Patient ID"].n_unique() == 17_500
    counts = stays["Diagnosis"].str.strip_chars().value_counts()["count"]
    assert len(counts) == 300 and counts.max() > 50 * counts.median()
    assert 0.018 < (stays["HIV"] == "yes").mean() < 0.022
    assert (stays["HIV"] == "").any() and (stays["ZIP"] == "").any()
    assert stays["Diagnosis"].str.ends_with(" ").any()
    forms = stays["Birth date"].str.replace_all(r"\d", "9").unique().to_list()
    assert sorted(forms) == ["99.99.9999", "9999-99-99"]
    of_one = stays.group_by("Patient ID").n_unique()  # who somebody is does not change from stay to stay
    assert of_one.select("Last name", "Birth date", "Sex", "ZIP").max().row(0) == (1, 1, 1, 1)


def test_the_same_seed_gives_the_same_rows():
    assert discharges(50, seed=3).equals(discharges(50, seed=3))
    assert not discharges(50, seed=3).equals(discharges(50, seed=4))
    assert discharges(0).height == 0
    with pytest.raises(InvalidInput, match="neither can be negative"):
        discharges(-1)


def test_init_proposes_the_roles_that_an_expert_would_give(stays, tmp_path, monkeypatch):
    from overt import init

    monkeypatch.chdir(tmp_path)
    stays.write_csv("discharges.csv")
    first = init("discharges.csv")
    assert {column.name: str(column.role) for column in first.profile.columns} == ROLES
    recipe = tomllib.loads((tmp_path / "recipe.toml").read_text())
    assert proposed(recipe) == {"keep": 3, "people": 1_750, **AS_SHIPPED}
    columns = recipe["columns"]
    assert columns["Birth date"]["format"] == ["%d.%m.%Y", "%Y-%m-%d"]
    assert columns["Admitted"]["format"] == "%d.%m.%Y"
    assert columns["Charge"] == {"role": "other"}
    assert columns["ZIP"]["hierarchy"] == {"prefixes": [4, 3, 2]}
    everything = profile_file(tmp_path / "discharges.csv")
    [charge] = [column for column in everything.columns if column.name == "Charge"]
    line = 2 + stays["Charge"].to_list().index("see file")
    assert str(charge.odd) == f"line {line:,}"


def proposed(recipe):
    """What a recipe says of persons and promises: all that does not follow from the roles."""
    said = {name: recipe["input"][name] for name in ("person", "keep", "which", "order", "known")}
    return {
        **said,
        "varies": [name for name, column in recipe["columns"].items() if column.get("varies")],
        "goals": [(goal["property"], goal.get("column")) for goal in recipe["goal"]],
        "bounds": [{name: goal[name] for name in ("k", "l", "times") if name in goal} for goal in recipe["goal"]],
        "method": recipe["method"],
        "people": recipe["pilot"]["people"],
    }


AS_SHIPPED = {
    "person": "Patient ID",
    "which": "latest",
    "order": "Admitted",
    "known": "visits",
    "varies": ["Admitted", "Discharged", "Ward"],
    "goals": [
        ("k-anonymity", None),
        ("l-diversity", "Diagnosis"),
        ("relative-risk", "HIV"),
        ("relative-risk", "Mental health flag"),
    ],
    "bounds": [{"k": 5}, {"l": 3}, {"times": 2}, {"times": 2}],
    "method": {"name": "blind-buckets", "stratify": {"halvings": 0}},
}


def test_init_proposes_the_same_for_a_small_file_but_keeps_fewer_rows(tmp_path, monkeypatch):
    """As many rows as a hundred patients have; the pilot is a tenth of the patients, drawn the same each time here."""
    from overt import init

    monkeypatch.setattr("overt.engine.init.secret_generator", lambda: np.random.default_rng(1))
    discharges(3_000).write_csv(tmp_path / "stays.csv")
    first = init(tmp_path / "stays.csv", into=tmp_path / "stays.toml")
    assert {column.name: str(column.role) for column in first.profile.columns} == ROLES
    recipe = tomllib.loads((tmp_path / "stays.toml").read_text())
    assert proposed(recipe) == {"keep": 2, "people": 262, **AS_SHIPPED}


def test_init_proposes_the_goals_that_an_expert_would_give(tmp_path, monkeypatch):
    """Of patients with one stay each: what is bounded is what is rare, and amounts are kept near."""
    from overt import init, run

    monkeypatch.chdir(tmp_path)
    discharges().unique("Patient ID", maintain_order=True, keep="first").write_csv("patients.csv")
    first = init("patients.csv")
    recipe = tomllib.loads((tmp_path / "recipe.toml").read_text())
    goals = [(goal.pop("property"), goal.pop("column", None), goal) for goal in recipe["goal"]]
    assert goals == [
        ("k-anonymity", None, {"k": 5}),
        ("l-diversity", "Diagnosis", {"l": 3}),
        ("relative-risk", "HIV", {"times": 2}),
        ("relative-risk", "Mental health flag", {"times": 2}),
    ]
    assert recipe["method"]["name"] == "blind-buckets"
    assert {column.name: str(column.role) for column in first.profile.columns} == ROLES
    outcome = run("recipe.toml", audit=False)  # as it stands
    assert outcome.ok and not any("looks like an identifier" in caution for caution in outcome.cautions)
