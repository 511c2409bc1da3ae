# SPDX-License-Identifier: Apache-2.0
"""Releases in parts that were altered, with digests that fit: the manifest's words, the files that there are, the order of lines, every byte."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt.checks import Claim
from overt.checks.shapes import GroupShape
from overt.cli import main
from overt.engine.scale.group_measures import GroupMeasures
from overt.engine.scale.parts import MANIFEST, digest_of_parts, parts_of
from overt.engine.scale.parts_check import MeasuredParts, PublishedParts
from overt.engine.scale.parts_shape import find_shape_of_parts
from overt.engine.scale.seam import TablePlace
from overt.io.files import digest
from overt.io.owner_record import owner_record_path
from scales import METHODS, RECIPE, write_people


def made(folder, method="blind-buckets", *, ending="csv", more=""):
    """A release in parts of made-up people, and its folder."""
    write_people(folder, ending=ending)
    text = RECIPE.format(input=ending, method=METHODS[method], output=ending, more=more)
    (folder / "recipe.toml").write_text(text)
    assert overt.run(folder / "recipe.toml", engine="out-of-core").ok
    return folder / f"release.{ending}"


def failed(folder, release):
    """What a check finds of the altered release, whose digests are made to fit first."""
    path = release / MANIFEST
    text = path.read_text()
    for name, part in json.loads(text)["release"].items():
        if (release / name).is_dir():
            text = text.replace(part["sha256"], digest_of_parts(release / name))
    path.write_text(text)
    record = owner_record_path(release)
    if record.exists():
        record.write_text(re.sub(r'("manifest_sha256": )"\w+"', rf'\1"{digest(path)}"', record.read_text()))
    return {finding.name for finding in overt.check(folder / f"people{release.suffix}", release).verdict.failures}


def in_manifest(release, old, new):
    text = (release / MANIFEST).read_text()
    assert re.search(old, text), text
    (release / MANIFEST).write_text(re.sub(old, new, text, count=1))


CLAIMS = {
    "method": (r'^  "method": "[\w-]+"', '  "method": "batch-matching"'),
    "goal": (r'"goal": \[\n    "[^"]*"', '"goal": [\n    "1000-anonymity"'),
    "groups": (r'"groups": \d+', '"groups": 7'),
    "rows": (r'"rows": 900', '"rows": 899'),
    "rows of the last table": (r'(?s)(.*)"rows": 900', r'\1"rows": 901'),
    "folder": (r'"path": "sensitive"', '"path": "./sensitive"'),
    "created": (r'"created": "20', '"created": "29'),
    "blank": (r'"groups": ', '"groups":  '),
    "version": (r'"overt": "[^"]*"', '"overt": "ask Meyer"'),
    "recipe": (r'"k": 3', '"k": 2'),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_a_manifest_of_parts_says_is_a_claim_too(claim, tmp_path):
    release = made(tmp_path)
    assert not failed(tmp_path, release)
    old, new = CLAIMS[claim]
    in_manifest(release, rf"(?m){old}", new)
    assert "manifest" in failed(tmp_path, release) or (claim == "rows" and "rows" in failed(tmp_path, release))


def swap_lines(path):
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        pl.concat([frame[1:], frame[:1]]).write_parquet(path, compression="zstd")
        return
    names, first, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join([names, *others, first]))


def change_text(old, new):
    def change(path):
        text = path.read_bytes()
        assert re.search(old, text), text[:300]
        path.write_bytes(re.sub(old, new, text, count=1))

    return change


PARTS = {
    "order": ("boxes", swap_lines, "order"),
    "order of values": ("sensitive", swap_lines, "order"),
    "zero before a number": ("boxes", change_text(rb"\n(\d+),(\d\d)\.\.", rb"\n\1,0\2.."), "spelling"),
    "sign": ("boxes", change_text(rb"\n(\d+),", rb"\n+\1,"), "spelling"),
    "quotes": ("sensitive", change_text(rb"\n(\d+),", rb'\n"\1",'), "spelling"),
    "line end": ("sensitive", change_text(rb"\n", rb"\r\n"), "spelling"),
    "byte order mark": ("sensitive", change_text(rb"^", b"\xef\xbb\xbf"), "spelling"),
    "blank line": ("sensitive", change_text(rb"$", rb"\n"), "spelling"),
}


@pytest.mark.parametrize("how", PARTS)
def test_parts_have_one_order_and_one_spelling(how, tmp_path):
    release = made(tmp_path)
    table, change, expected = PARTS[how]
    change(parts_of(release / table)[0])
    assert expected in failed(tmp_path, release)


@pytest.mark.parametrize("method", METHODS)
def test_parquet_is_compared_byte_for_byte(method, tmp_path):
    release = made(tmp_path, method, ending="parquet")
    assert not failed(tmp_path, release)
    path = parts_of(next(one for one in sorted(release.iterdir()) if one.is_dir()))[0]
    pl.read_parquet(path).write_parquet(path, compression="snappy")
    assert failed(tmp_path, release) == {"spelling"}
    swap_lines(path)
    assert "order" in failed(tmp_path, release)


FILES = {
    "beside the tables": lambda release: (release / "note.txt").write_text("Goldammer"),
    "a part of another kind": lambda release: (release / "boxes" / "part-00002.txt").write_text("Goldammer"),
    "no part": lambda release: (release / "boxes" / ".crc").write_text("Goldammer"),
    "a name that says something": lambda release: (release / "boxes" / "part-00001.csv").rename(
        release / "boxes" / "part-Goldammer.csv"
    ),
    "a link": lambda release: (
        (release / "boxes" / "part-00001.csv").rename(release.parent / "elsewhere"),
        (release / "boxes" / "part-00001.csv").symlink_to(release.parent / "elsewhere"),
    ),
    "a folder": lambda release: (release / "boxes" / "part-00002.csv").mkdir(),
    "a folder in place of the report": lambda release: (
        (release / "report.html").mkdir(),
        (release / "report.html" / "data.csv").write_text("Goldammer"),
    ),
    "a link in place of the report": lambda release: (release / "report.html").symlink_to(
        release.parent / "people.csv"
    ),
    "a link in place of a table": lambda release: (
        (release / "boxes").rename(release.parent / "elsewhere"),
        (release / "boxes").symlink_to(release.parent / "elsewhere"),
    ),
}


@pytest.mark.parametrize("which", FILES)
def test_a_file_more_in_a_release_in_parts_is_found(which, tmp_path):
    release = made(tmp_path)
    FILES[which](release)
    verdict = failed(tmp_path, release)
    assert "files" in verdict


def test_files_that_a_release_in_parts_was_made_with_are_known_by_their_digests(tmp_path, capsys):
    """The recipe of the manifest means files beside the release, as it lay there."""
    degrees = write_people(tmp_path, ending="csv")["Education"].drop_nulls().cast(pl.String).unique().sort()
    (tmp_path / "levels.csv").write_text("".join(f"{one};{one[0]};*\n" for one in degrees))
    text = RECIPE.format(input="csv", method=METHODS["mondrian"], output="csv", more="")
    text = text.replace("{ prefixes = [3, 1] }", '{ file = "levels.csv" }')
    (tmp_path / "recipe.toml").write_text(text)
    assert overt.run(tmp_path / "recipe.toml", engine="out-of-core").ok
    release = tmp_path / "release.csv"
    assert not failed(tmp_path, release)
    with (tmp_path / "levels.csv").open("a") as file:
        file.write("Other;short;*\n")
    assert failed(tmp_path, release) == {"origin"}
    assert main(["check", str(tmp_path / "people.csv"), str(release)]) == 1
    assert "levels.csv is not what the release was made from" in capsys.readouterr().out


def test_each_column_is_at_one_level_over_all_parts(tmp_path):
    release = made(tmp_path, "full-domain", ending="parquet")
    assert not failed(tmp_path, release)
    said = str(overt.check(tmp_path / "people.parquet", release))
    assert "What full-domain promises of files is there: all cells of a column are at one level" in said
    (part,) = parts_of(release / "release")
    lines = pl.read_parquet(part)
    (name, *_) = [n for n in ("Gender", "Education", "Age") if "*" not in lines[n].unique()]
    halves = lines[:450], lines[450:].with_columns(pl.lit("*").alias(name)).sort(lines.columns)
    for i, half in enumerate(halves, 1):
        half.write_parquet(release / "release" / f"part-0000{i}.parquet")
    assert "method" in failed(tmp_path, release)


def test_boxes_and_buckets_have_the_sizes_that_the_method_promises(tmp_path):
    release = made(tmp_path, ending="parquet")
    said = str(overt.check(tmp_path / "people.parquet", release))
    assert "every box has at least 3 rows" in said
    assert "Not checked of parts: whether boxes are as narrow as their rows" in said
    of = GroupShape(method="blind-buckets", tables=frozenset({"boxes", "sensitive"}), least_box=3, least_bucket=2)
    assert shape_found(of, box=3, bucket=2).ok
    assert "every box of it has at least 3 rows" in shape_found(of, box=2, bucket=2).sentence
    assert "every bucket of it has at least 2 rows" in shape_found(of, box=3, bucket=1).sentence
    differing = GroupShape(method="anatomy", l=2, sizes="least", differ=True)
    assert shape_found(differing, bucket=2, n_most=5).ok
    assert "all values differ" in shape_found(differing, bucket=2, n_most=6).sentence
    assert "it makes 5 buckets of 10 rows, and there are 3" in shape_found(differing, bucket=2, n_buckets=3).sentence
    dealing = shape_found(GroupShape(method="dealing", l=2, sizes="even", differ=True), tables=1)
    assert "Not checked of parts: sizes of groups" in dealing.sentence


def shape_found(shape, *, box=3, bucket=2, n_buckets=5, n_most=None, tables=2):
    """What is found of a release of ten people with these least groups."""
    people = GroupMeasures(np.array([box]), np.array([1]), {}, (), (), 0)
    sizes = np.array([bucket, 10 - bucket * (n_buckets - 1)])
    learnt = {"ill": (0, 0, Fraction(1, 2), n_buckets if n_most is None else n_most)}
    values = GroupMeasures(sizes, np.array([n_buckets - 1, 1]), learnt, (), (), 0)
    place = TablePlace("nowhere", "csv")
    parts = [PublishedParts(name, place, (), (), tables > 1) for name in ("boxes", "sensitive")[:tables]]
    claim = Claim(goal=overt.KAnonymity(2), n_rows=10)
    return find_shape_of_parts(Path("nowhere"), parts, claim, shape, MeasuredParts(people, values))
