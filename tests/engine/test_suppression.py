# SPDX-License-Identifier: Apache-2.0
"""Runs that suppress rows: the manifest says how many are left, and a check knows how many there may be."""

import json
import re

import numpy as np
import polars as pl
import pytest

import overt
from overt.io.recipe.recipe import read_recipe

RECIPE = """
version = 1
[input]
path = "people.csv"
[columns]
age = { role = "quasi-identifier", hierarchy = { widths = [10] } }
sex = { role = "quasi-identifier" }
ill = { role = "sensitive" }
[[goal]]
property = "k-anonymity"
k = 3
[[goal]]
property = "t-closeness"
t = 0.3
[method]
name = "full-domain"
max_suppressed = 0.1
[output]
path = "release.csv"
"""


@pytest.fixture
def recipe(tmp_path):
    rng = np.random.default_rng(5)
    n = 200
    people = {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "ill": rng.choice(["a", "b", "c"], n)}
    odd = {"age": [95, 96], "sex": ["f", "f"], "ill": ["a", "a"]}
    pl.concat([pl.DataFrame(people), pl.DataFrame(odd)]).write_csv(tmp_path / "people.csv")
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def run(recipe):
    return overt.run(read_recipe(recipe), rng=np.random.default_rng(0))


def check(path, **options):
    return overt.check(path.parent / "people.csv", path.parent / "release.csv", **options).verdict


def test_a_run_says_how_many_rows_it_suppressed(recipe):
    outcome = run(recipe)
    released = pl.read_csv(recipe.parent / "release.csv")
    assert outcome.verdict.ok
    assert outcome.n_suppressed == outcome.to_dict()["rows_suppressed"] == 202 - released.height == 2
    assert outcome.discernibility == sum(n * n for n in released.group_by("age", "sex").len()["len"]) + 2 * 202
    assert outcome.average_group_size == pytest.approx(200 / outcome.n_groups)
    manifest = json.loads((recipe.parent / "release.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["release"]["release"]["rows"] == 200
    assert not re.search(r"\b202\b", json.dumps(manifest))  # how many there were is not for the public
    record = json.loads((recipe.parent / "release.csv.owner.json").read_text(encoding="utf-8"))
    assert (record["input"]["rows"], record["input"]["rows_suppressed"]) == (202, 2)


def test_a_check_accepts_what_may_be_suppressed_by_manifest_and_by_recipe(recipe):
    run(recipe)
    for verdict in (check(recipe), check(recipe, recipe=recipe)):
        assert verdict.ok, verdict.failures
        assert "left out of the original: 2 suppressed" in verdict.finding("rows").sentence


def test_a_check_refuses_more_suppressed_rows_than_the_recipe_allows(recipe):
    run(recipe)
    recipe.write_text(RECIPE.replace("max_suppressed = 0.1", "max_suppressed = 0.005"), encoding="utf-8")
    verdict = check(recipe, recipe=recipe)
    assert [finding.name for finding in verdict.failures] == ["rows", "truth"]


def test_a_manifest_cannot_talk_a_check_into_more(recipe):
    run(recipe)
    file = recipe.parent / "release.csv.manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["recipe"]["method"]["max_suppressed"] = 0.005
    file.write_text(json.dumps(manifest), encoding="utf-8")
    assert "rows" in [finding.name for finding in check(recipe).failures]
