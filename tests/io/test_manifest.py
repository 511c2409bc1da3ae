# SPDX-License-Identifier: Apache-2.0
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from overt.errors import InvalidInput
from overt.io.manifest import (
    FileRecord,
    InputRecord,
    Manifest,
    hierarchy_files,
    manifest_path,
    now,
    read_manifest,
    recipe_of,
    recorded_recipe,
    seen_from,
    versions,
)
from overt.io.recipe import parse_recipe

RECIPE = """\
version = 1
[input]
path = "../data/patients.csv"
[columns.Age]
role = "quasi-identifier"
hierarchy = { file = "age.csv" }
[columns.Sex]
role = "quasi-identifier"
hierarchy = { cut_points = [18, 65] }
[columns.Disease]
role = "sensitive"
[[goal]]
property = "t-closeness"
t = 0.2
[method]
name = "mondrian"
[output]
path = "out/release.csv"
"""


@pytest.fixture
def recipe(tmp_path):
    folder = tmp_path / "recipes"
    (folder / "out").mkdir(parents=True)
    (folder / "age.csv").write_text("1;young;*\n2;old;*\n")
    return parse_recipe(RECIPE, folder=folder, name="recipe.toml")


@pytest.fixture
def manifest(recipe):
    digest = "0" * 64
    return Manifest(
        created=now(),
        versions=versions(),
        method="mondrian",
        goal=("0.2-closeness",),
        groups=3,
        input=InputRecord(name="patients.csv", sha256=digest, rows=9, rows_dropped=1),
        release={"release": FileRecord(path="release.csv", sha256=digest, rows=9)},
        hierarchy_files={"Age": digest},
        recipe=recorded_recipe(recipe, recipe.output_path.parent),
    )


def test_paths_are_seen_from_the_manifest_and_the_input_is_only_a_name(recipe, tmp_path):
    content = recorded_recipe(recipe, recipe.output_path.parent)
    assert content["input"]["path"] == "patients.csv"
    assert content["output"]["path"] == "release.csv"
    assert content["columns"]["Age"]["hierarchy"] == {"file": "../age.csv"}
    assert str(tmp_path) not in json.dumps(content)


def test_defaults_are_recorded_because_they_may_change(recipe):
    content = recorded_recipe(recipe, recipe.folder)
    assert content["columns"]["Disease"]["missing"] == "refuse"
    assert content["method"] == {"name": "mondrian", "relaxed": False, "choose": "widest"}
    assert content["goal"] == [{"property": "t-closeness", "t": 0.2, "distance": "equal"}]


def test_a_manifest_reads_back_and_its_recipe_means_the_same(recipe, manifest):
    path = manifest_path(recipe.output_path)
    path.write_text(manifest.to_json())
    again = read_manifest(path)
    assert again == manifest
    understood = recipe_of(again, path)
    assert understood.goal == recipe.goal
    assert understood.method == recipe.method
    assert understood.hierarchies == recipe.hierarchies
    assert hierarchy_files(understood)["Age"].samefile(hierarchy_files(recipe)["Age"])


def test_the_date_is_in_utc_to_the_second(manifest):
    assert abs((datetime.now(UTC) - manifest.created).total_seconds()) < 60
    assert json.loads(manifest.to_json())["created"].endswith("Z")
    assert manifest.created.microsecond == 0


def test_a_manifest_lies_beside_its_release():
    assert manifest_path(Path("out/release.csv.gz")) == Path("out/release.csv.gz.manifest.json")
    assert seen_from(Path("a/b"), Path("a/c/d.csv")) == "../c/d.csv"


def test_no_manifest(tmp_path):
    with pytest.raises(InvalidInput, match=r"^There is no manifest x\.csv\.manifest\.json beside the release"):
        read_manifest(tmp_path / "x.csv.manifest.json")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('"manifest": 1', '"manifest": 2', "manifest"),
        ('"groups": 3', '"groups": "many"', "groups"),
        ("0" * 64, "0" * 63, "input.sha256"),
        ("{", "[", "its text"),
    ],
)
def test_a_damaged_manifest(tmp_path, manifest, old, new, where):
    path = tmp_path / "x.manifest.json"
    path.write_text(manifest.to_json().replace(old, new))
    with pytest.raises(InvalidInput) as refused:
        read_manifest(path)
    assert str(refused.value).startswith(f"x.manifest.json is not a manifest that this Overt can read ({where}: ")
    assert str(refused.value).endswith("; run the recipe again, or give it with --recipe.")


def test_a_manifest_without_its_hierarchy_file(recipe, manifest):
    path = manifest_path(recipe.output_path)
    (recipe.folder / "age.csv").unlink()
    with pytest.raises(InvalidInput, match=r"age\.csv.*Give the recipe with --recipe instead\.$"):
        recipe_of(manifest, path)
