# SPDX-License-Identifier: Apache-2.0
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from overt.errors import InvalidInput
from overt.io.manifest import (
    FileRecord,
    Manifest,
    hierarchy_files,
    manifest_path,
    now,
    read_manifest,
    recipe_of,
    recorded_recipe,
    versions,
)
from overt.io.owner_record import (
    InputRecord,
    OwnerRecord,
    digest_of_text,
    find_owner_record,
    owner_record_beside,
    owner_record_path,
)
from overt.io.paths import input_name, seen_from
from overt.io.recipe.recipe import parse_recipe

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
        release={"release": FileRecord(path="release.csv", sha256=digest, rows=9)},
        recipe=recorded_recipe(recipe, recipe.output_path.parent)[0],
        left_out=(),
    )


def test_paths_are_seen_from_the_manifest_and_the_input_has_no_name(recipe, tmp_path):
    content, left_out = recorded_recipe(recipe, recipe.output_path.parent)
    assert left_out == ()
    assert content["input"]["path"] == "input.csv"
    assert content["output"]["path"] == "release.csv"
    assert content["columns"]["Age"]["hierarchy"] == {"file": "../age.csv"}
    assert str(tmp_path) not in json.dumps(content)


def test_an_ending_that_says_something_is_left_out_of_the_name_of_the_input():
    names = ("people.csv", "people.CSV.gz", "people.of dr meyer", "of dr meyer.gz", "ward.db", "ward.7", "people")
    found = [input_name(Path(name)) for name in names]
    assert found == ["input.csv", "input.CSV.gz", "input", "input.gz", "input.db", "input", "input"]


def test_defaults_are_recorded_because_they_may_change(recipe):
    content, _ = recorded_recipe(recipe, recipe.folder)
    assert content["columns"]["Disease"]["missing"] == "refuse"
    assert content["method"] == {"name": "mondrian", "relaxed": False, "choose": "widest", "cells": "tight"}
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
    with pytest.raises(InvalidInput, match=r"^There is neither x\.csv nor x\.csv\.manifest\.json here"):
        read_manifest(tmp_path / "x.csv.manifest.json")
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(InvalidInput, match=r"^There is no manifest x\.csv\.manifest\.json beside the release"):
        read_manifest(tmp_path / "x.csv.manifest.json")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('"manifest": 2', '"manifest": 1', "manifest"),
        ('"audience": "public"', '"audience": "owner"', "audience"),
        ('"groups": 3', '"groups": "many"', "groups"),
        ("0" * 64, "0" * 63, "release.release.sha256"),
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


NESTED = RECIPE.replace("{ cut_points = [18, 65] }", '{ nested = { known = ["HIVSECRET"], other = ["f", "m"] } }')
QUERIED = NESTED.replace(
    'path = "../data/patients.csv"', 'database = "CLINIC"\nquery = "SELECT * FROM p WHERE id = 4711"'
)


def test_values_that_a_recipe_writes_out_are_in_the_owners_record_alone(recipe):
    queried = parse_recipe(QUERIED, folder=recipe.folder, name="recipe.toml")
    content, left_out = recorded_recipe(queried, recipe.output_path.parent)
    text = json.dumps(content)
    assert "HIVSECRET" not in text and "4711" not in text
    assert [part.path for part in left_out] == [("input", "query"), ("columns", "Sex", "hierarchy", "nested")]
    path = manifest_path(recipe.output_path)
    digest = "0" * 64
    public = Manifest(
        created=now(), versions=versions(), method="mondrian", goal=("0.2-closeness",), groups=3,
        release={"release": FileRecord(path="release.csv", sha256=digest, rows=9)}, recipe=content,
        left_out=tuple(part.path for part in left_out),
    )  # fmt: skip
    record = OwnerRecord(
        manifest_sha256=digest_of_text(public.to_json()),
        input=InputRecord(name="p.csv", sha256=digest, rows=9, rows_dropped=0, rows_suppressed=0),
        files_read={}, left_out=left_out,
    )  # fmt: skip
    path.write_text(public.to_json())
    owner_record_path(recipe.output_path).write_text(record.to_json())
    again = recipe_of(read_manifest(path), path, find_owner_record(owner_record_beside(path)))
    assert again.hierarchies == queried.hierarchies
    assert again.settings.input.query == queried.settings.input.query
    with pytest.raises(
        InvalidInput, match=r"leaves input\.query out of the recipe, .* give the recipe with --recipe\.$"
    ):
        recipe_of(public, path)


def test_a_damaged_record_and_one_that_others_cannot_read(tmp_path):
    path = tmp_path / "release.csv.owner.json"
    assert find_owner_record(path) is None
    path.write_text("{}")
    with pytest.raises(
        InvalidInput, match=r"^release\.csv\.owner\.json is not an owner's record that this Overt can read"
    ):
        find_owner_record(path)


def test_a_manifest_without_its_hierarchy_file(recipe, manifest):
    path = manifest_path(recipe.output_path)
    (recipe.folder / "age.csv").unlink()
    with pytest.raises(InvalidInput, match=r"age\.csv.*Give the recipe with --recipe instead\.$"):
        recipe_of(manifest, path)


def test_a_manifest_that_names_no_file_is_refused(recipe, manifest):
    path = manifest_path(recipe.output_path)
    path.write_text(json.dumps({**json.loads(manifest.to_json()), "release": {}}))
    with pytest.raises(
        InvalidInput, match=r"not a manifest that this Overt can read \(release: dictionary should have at least 1 item"
    ):
        read_manifest(path)
