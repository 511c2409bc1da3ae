# SPDX-License-Identifier: Apache-2.0
"""Record by record through recipes: personal weights, an external database, and the check of what comes out."""

import json

import numpy as np
import polars as pl
import pytest

import overt
from overt.cli import main
from overt.errors import InvalidInput, InvalidRecipe
from overt.io.recipe.recipe import read_recipe

RECIPE = """\
version = 1

[input]
path = "people.csv"

[columns.age]
role = "quasi-identifier"
hierarchy = { widths = [5, 20] }

[columns.city]
role = "quasi-identifier"

[columns.ill]
role = "sensitive"

[columns.care]
role = "other"

[[goal]]
property = "k-anonymity"
k = 1

[method]
%s

[output]
path = "release.csv"
"""


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    n = 200
    people = pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "city": rng.choice(["A", "B", "C"], n),
            "ill": rng.choice(["x", "y", "z"], n),
            "care": rng.integers(1, 4, n),
        }
    )
    people.write_csv(tmp_path / "people.csv")
    pl.DataFrame({"age": rng.integers(18, 70, 500), "city": rng.choice(["A", "B", "C", "D"], 500)}).write_csv(
        tmp_path / "register.csv"
    )
    return tmp_path


def recipe_of(folder, method):
    path = folder / "recipe.toml"
    path.write_text(RECIPE % method, encoding="utf-8")
    return read_recipe(path)


@pytest.mark.parametrize(
    "method",
    [
        'name = "record-threshold"\nc = 2\nutility = "depth"',
        'name = "record-threshold"\nc = "3/2"\nweights = [1, "care"]\nexternal = "register.csv"',
        'name = "record-lagrangian"\nlam = 0.05\nkappa = 2\nrisk = "harmonic"\nweights = ["care", 2]\nbase = 0.1',
        'name = "record-threshold"\nc = 2\nutility = "depth"\nrisk = "II"\nsolver = "genetic"',
    ],
)
def test_a_recipe_is_run_and_its_release_checked(folder, method):
    outcome = overt.run(recipe_of(folder, method), rng=np.random.default_rng(1))
    assert outcome.verdict.ok, outcome.verdict.findings
    assert any(c.startswith("Every row is generalized on its own (mean risk ") for c in outcome.cautions)
    release = pl.read_csv(folder / "release.csv")
    assert release.columns == ["age", "city", "ill"]  # weights are read and not published
    assert release.height == 200
    assert overt.check(folder / "people.csv", folder / "release.csv").ok


def test_the_external_database_is_part_of_what_was_made(folder):
    method = 'name = "record-threshold"\nc = 1\nexternal = "register.csv"'
    assert overt.run(recipe_of(folder, method), rng=np.random.default_rng(1)).verdict.ok
    register = folder / "register.csv"
    register.write_text(register.read_text() + "30,A\n")
    digests = overt.check(folder / "people.csv", folder / "release.csv").verdict.findings[1]
    said = "register.csv is not what the release was made from, or has changed since."
    assert (digests.ok, digests.sentence) == (False, said)
    (folder / "recipe.toml").write_text((folder / "recipe.toml").read_text().replace("release.csv", "register.csv"))
    with pytest.raises(
        InvalidInput, match="register.csv is read by this recipe and would be replaced; give \\[output\\]"
    ):
        overt.run(read_recipe(folder / "recipe.toml"), rng=np.random.default_rng(1), overwrite=True)


def test_mistakes_are_named(folder):
    with pytest.raises(InvalidRecipe, match=r"line \d+: .*There is no risk model 'IV'; choose one of I, II, harmonic"):
        recipe_of(folder, 'name = "record-threshold"\nc = 1\nrisk = "IV"')
    with pytest.raises(InvalidRecipe, match="lambda is -1.0; a finite number of at least 0 is expected"):
        recipe_of(folder, 'name = "record-lagrangian"\nlam = -1')


def test_the_public_report_says_that_every_row_was_weighed_by_itself(folder):
    overt.run(recipe_of(folder, 'name = "record-threshold"\nc = 2\nutility = "depth"'), report=True)
    report = json.loads((folder / "release.report.json").read_text())
    assert "Every row was weighed by itself: nothing is promised of groups." in report["not_promised"]


def test_recipes_with_an_external_database_are_compared_as_they_are_run(folder, capsys):
    recipe = recipe_of(folder, 'name = "record-threshold"\nc = 1\nexternal = "register.csv"')
    path = folder / recipe.name
    assert main(["compare", str(path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    made = overt.run(recipe, rng=np.random.default_rng(1))
    assert (found["rows"], found["groups"]) == (made.n_rows, made.n_groups)
