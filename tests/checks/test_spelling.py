# SPDX-License-Identifier: Apache-2.0
"""What cannot be seen in a reader's table is seen in bytes; what a method promises is seen in files."""

import json

import numpy as np
import polars as pl
import pytest

import overt
from checks.released import make, write_people
from checks.test_altered_releases import alterations_of, bind, is_found, seal
from overt.errors import OvertError
from overt.io.recipe.recipe import read_recipe


def check(folder, release):
    return overt.check(str(folder / "people.csv"), str(release)).verdict


def claim(folder, release, method, **parameters):
    """Manifest and recipe both say that another method made the release, and agree in everything."""
    path = folder / f"{release.name}.manifest.json"
    document = json.loads(path.read_text())
    document["method"] = method
    document["recipe"]["method"] = {"name": method, **parameters}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    bind(folder)


@pytest.mark.parametrize(
    ("made", "method", "parameters"),
    [
        ("mondrian-plain", "dealing", {"form": "generalized", "cells": "tight"}),
        ("mondrian-plain", "rda", {"form": "generalized", "cells": "tight"}),
        ("mondrian", "batch-matching", {"form": "bucketized"}),
        ("batch-matching-buckets", "batch-matching", {"form": "generalized"}),
        ("ria", "anatomy", {}),
        ("ria", "batch-matching", {"form": "bucketized"}),
        ("in-order-plain", "in-order", {"functions": "hierarchy levels"}),
    ],
)
def test_another_method_is_found_where_files_show_it(made, method, parameters, tmp_path):
    release = make(tmp_path, made)
    claim(tmp_path, release, method, **parameters)
    finding = check(tmp_path, release).finding("method")
    assert not finding.ok and finding.sentence.startswith(f"This is not what {method} makes: ")


def test_where_files_cannot_show_the_method_the_check_says_so(tmp_path):
    release = make(tmp_path, "mondrian")
    finding = check(tmp_path, release).finding("method")
    assert finding.ok and finding.sentence.endswith("The files cannot show by which method they were made.")


def test_a_box_that_is_wider_than_its_rows_is_found(tmp_path):
    release = make(tmp_path, "mondrian-plain")
    frame = pl.read_csv(release, infer_schema=False)
    ranges = frame.get_column("age").unique().sort()
    low, high = next(r for r in ranges if ".." in r and not r.endswith("59")).split("..")
    group = frame.get_column("age") == f"{low}..{high}"
    wider = frame.with_columns(pl.when(group).then(pl.lit(f"{low}..{int(high) + 1}")).otherwise("age").alias("age"))
    wider.write_csv(release)
    seal(tmp_path)
    assert not check(tmp_path, release).finding("method").ok


def test_a_column_at_two_levels_is_not_what_full_domain_makes(tmp_path):
    release = make(tmp_path, "full-domain")
    frame = pl.read_csv(release, infer_schema=False)
    shown = pl.Series(["*" if text == frame.get_column("city")[-1] else text for text in frame.get_column("city")])
    assert frame.get_column("city").n_unique() > 1
    frame.with_columns(city=shown).write_csv(release)
    seal(tmp_path)
    assert "all cells of a column are at one level" in check(tmp_path, release).finding("method").sentence


def test_spellings_are_counted_and_never_quoted(tmp_path):
    release = make(tmp_path, "mondrian")
    text = release.read_text()
    head, first, *rest = text.split("\n")
    release.write_text("\n".join([head, first.replace("20..", "020..", 1), *rest]))
    assert release.read_text() != text
    seal(tmp_path)
    sentence = check(tmp_path, release).finding("spelling").sentence
    assert sentence.startswith("1 cell of 'age' can be read, and a release would spell them otherwise")
    assert "020" not in sentence


def test_a_table_of_sensitive_values_left_behind_is_found(tmp_path):
    release = make(tmp_path, "mondrian")
    (tmp_path / "release.sensitive.csv").write_text("bucket,ill\n1,flu\n")
    assert is_found(tmp_path, release)


def test_empty_texts_among_other_columns_are_released_and_pass(tmp_path):
    make(tmp_path, "mondrian")
    frame = pl.read_csv(tmp_path / "people.csv")
    some = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("")).otherwise("note")
    frame.with_columns(some.alias("note")).write_csv(tmp_path / "people.csv")
    outcome = overt.run(read_recipe(tmp_path / "recipe.toml"), rng=np.random.default_rng(1), overwrite=True)
    assert outcome.verdict.ok, outcome.verdict.failures
    assert check(tmp_path, tmp_path / "release.csv").ok


def test_data_that_is_another_is_said_to_be_perhaps_the_only_reason(tmp_path):
    release = make(tmp_path, "mondrian")
    write_people(tmp_path, n=390)
    verdict = check(tmp_path, release)
    assert (
        verdict.finding("origin").sentence == "people.csv is not what the release was made from, or has changed since."
    )
    assert verdict.finding("truth").sentence.endswith(
        "The data is not what the release was made from, which may be the only reason."
    )
    (tmp_path / "release.csv.owner.json").unlink()
    lines = (tmp_path / "release.csv.manifest.json").read_text()
    assert "left_out" in lines  # the nested hierarchy: without the record the recipe is needed
    assert not overt.check(str(tmp_path / "people.csv"), str(release), recipe=tmp_path / "recipe.toml").ok


def test_cells_of_a_database_have_one_spelling(tmp_path):
    import sqlite3

    make(tmp_path, "mondrian")
    text = (tmp_path / "recipe.toml").read_text()
    text = text.replace('path = "release.csv"', 'database = "./clinic.db"\ntable = "shown"')
    (tmp_path / "recipe.toml").write_text(text)
    assert overt.run(read_recipe(tmp_path / "recipe.toml"), rng=np.random.default_rng(1)).verdict.ok
    manifest = tmp_path / "shown.manifest.json"
    assert check(tmp_path, manifest).ok, check(tmp_path, manifest).failures
    with sqlite3.connect(tmp_path / "clinic.db") as connection:
        connection.execute("UPDATE shown SET age = '0' || age WHERE rowid = 1 AND age GLOB '[0-9]*'")
    assert not check(tmp_path, manifest).finding("spelling").ok


EMPTY = """\
version = 1
[input]
path = "people.parquet"
missing_values = ["NA"]
[columns.age]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
missing = "own value"
[[goal]]
{goal}
[method]
name = "{method}"
[output]
{place}
others = ["note"]
"""


def release_with_empty_texts(folder, method, ending):
    """Empty and missing texts, of illnesses and of notes, also of people who are alike in all else."""
    cells = ["", "flu", None, "x"]
    frame = pl.DataFrame(
        {
            "age": [20 + i // 12 for i in range(48)],
            "ill": cells * 12,
            "note": [cells[i // 12 + i % 3 - 3] for i in range(48)],
        }
    )
    frame.write_parquet(folder / "people.parquet")
    goal = 'property = "distinct-l-diversity"\nl = 2' if method == "anatomy" else 'property = "k-anonymity"\nk = 4'
    place = 'database = "release.db"\ntable = "release"' if ending == "db" else f'path = "release.{ending}"'
    (folder / "recipe.toml").write_text(EMPTY.format(goal=goal, method=method, place=place))
    outcome = overt.run(folder / "recipe.toml", rng=np.random.default_rng(1), audit=False)
    assert outcome.ok, outcome
    return folder / ("release.manifest.json" if ending == "db" else f"release.{ending}")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "jsonl", "db"])
@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_empty_and_missing_texts_are_two_things(method, ending, tmp_path):
    """A file tells them apart (`""` and nothing), and so does the order of its rows."""
    release = release_with_empty_texts(tmp_path, method, ending)
    verdict = overt.check(tmp_path / "people.parquet", release).verdict
    assert verdict.ok, verdict.failures
    if ending != "db":
        assert "byte for byte" in verdict.finding("spelling").sentence


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_file_with_empty_and_missing_texts_is_compared_byte_for_byte(ending, tmp_path):
    release = release_with_empty_texts(tmp_path, "mondrian", ending)
    pristine, overlooked, n = release.read_bytes(), [], 0
    for name, alter in alterations_of(release).items():
        altered = alter(pristine)
        if altered is None or altered == pristine:
            continue
        n += 1
        release.write_bytes(altered)
        seal(tmp_path)
        try:
            overlooked += [name] if overt.check(tmp_path / "people.parquet", release).ok else []
        except OvertError:
            continue
    assert n > 8 and not overlooked


def test_an_empty_text_in_the_place_of_a_missing_one_is_no_row_of_the_original(tmp_path):
    release = release_with_empty_texts(tmp_path, "mondrian", "csv")
    for before, after in ((b',""\n', b",\n"), (b',"",', b",,")):
        pristine = release.read_bytes()
        release.write_bytes(pristine.replace(before, after, 1))
        seal(tmp_path)
        verdict = overt.check(tmp_path / "people.parquet", release).verdict
        assert not verdict.finding("truth").ok
        release.write_bytes(pristine)


@pytest.mark.parametrize("l", [999, 1 << 62, 10**30])
@pytest.mark.parametrize("made", ["anatomy", "batch-matching", "dealing"])
def test_a_manifest_that_claims_an_l_beyond_all_rows_is_a_finding(made, l, tmp_path):
    release = make(tmp_path, made, ".csv")
    path = tmp_path / f"{release.name}.manifest.json"
    document = json.loads(path.read_text())
    (goal,) = [one for one in document["recipe"]["goal"] if "l" in one]
    document["goal"] = [one.replace(str(goal["l"]), str(l), 1) for one in document["goal"]]
    goal["l"] = l
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    bind(tmp_path)
    verdict = check(tmp_path, release)
    assert not verdict.finding("goal").ok
