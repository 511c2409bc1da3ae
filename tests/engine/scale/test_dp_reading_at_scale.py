# SPDX-License-Identifier: Apache-2.0
"""Records counted by an engine are those that a private recipe reads in memory, one by one, whatever one of them holds."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from hostile_records import CSV_RECORDS, JSON_RECORDS, TYPED_RECORDS
from overt.engine.course import prepare, with_public_hierarchies
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.record_counts import RecordClasses, count_records
from overt.errors import InvalidInput
from overt.io import csv, record_files
from overt.io.recipe.recipe import parse_recipe
from overt.io.record_files import RecordFiles

ALIKE = ("fermière", 1011, "2024-03-31")
RECIPE = """
version = 1
[input]
path = "people.{ending}"
{more}
[columns.job]
role = "sensitive"
hierarchy = {{ nested = {{ women = ["fermière", "ouvrière"], men = ["fermier", "café"] }} }}
[columns.code]
role = "quasi-identifier"
hierarchy = {{ nested = {{ low = ["1011", "1011.5"], high = ["2024.5", "9223372036854775807"] }} }}
[columns.day]
role = "quasi-identifier"
hierarchy = {{ dates = ["month", "year"] }}
[method]
name = "dp-sampling"
epsilon = 1
delta = 1e-3
s = 0.5
levels = [[0, 0, 2]]
[output]
path = "release.csv"
"""
RECORDS = {
    **dict.fromkeys(("csv", "csv.gz", "tsv"), CSV_RECORDS),
    **dict.fromkeys(("jsonl", "jsonl.gz"), JSON_RECORDS),
    **dict.fromkeys(("parquet", "parts.parquet"), TYPED_RECORDS),
}
CASES = [(ending, [name]) for ending in ("csv", "jsonl", "parquet") for name in RECORDS[ending]]
CASES += [(ending, list(records)) for ending, records in RECORDS.items()] + [("csv", [])]


@cache
def classes_of():
    """What records of the recipe can become, which no file has a say in."""
    return RecordClasses.of(parse_recipe(RECIPE.format(ending="csv", more=""), folder=Path()).method)


def write(folder, ending, extra, more=""):
    """People who are alike, and records among them; and the recipe that reads them."""
    path = folder / f"people.{ending}"
    if ending.endswith("parquet"):
        schema = {"job": pl.String, "code": pl.Float64, "day": pl.String}
        rows = [[ALIKE] * 20 + list(extra), [ALIKE] * 20]
        if ending == "parquet":
            pl.DataFrame(rows[0] + rows[1], schema=schema, orient="row").write_parquet(path, row_group_size=16)
        else:
            path.mkdir()
            for i, part in enumerate([*rows, []]):
                of_part = schema if i else {**schema, "code": pl.Float32}
                pl.DataFrame(part, schema=of_part, orient="row").write_parquet(path / f"part-{i}.parquet")
    else:
        line = json.dumps(dict(zip(("job", "code", "day"), ALIKE, strict=True)), ensure_ascii=False).encode()
        head = []
        if ending.startswith(("csv", "tsv")):
            line, head = "fermière,1011,2024-03-31".encode(), [b"job,code,day"]
        content = b"\n".join([*head, *[line] * 20, *extra, *[line] * 20, b""])
        content = content.replace(b",", b"\t") if ending == "tsv" else content
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    return parse_recipe(RECIPE.format(ending=ending, more=more), folder=folder)


def counted(recipe, engine):
    """(labels of a record) -> how often an engine counts it."""
    intake = with_public_hierarchies(recipe).intake()
    classes = classes_of()
    files = RecordFiles.of(recipe.source.file, intake)
    counts = count_records(engine, files, classes, intake)
    records = classes.records(counts)
    labels = [[of[value][0] for value in row] for of, row in zip(classes.classes, records.values, strict=True)]
    return Counter(dict(zip(zip(*labels, strict=True), records.counts.tolist(), strict=True)))


def in_memory(recipe):
    """The same of the table that a run in memory reads."""
    prepared = prepare(recipe)
    columns = []
    for (name, tree), level in zip(prepared.method.trees.items(), recipe.method.levels[0], strict=True):
        column = prepared.table.column(name)
        columns.append([tree.chain(column.values[code])[level] for code in column.codes.tolist()])
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize(("ending", "names"), CASES)
def test_records_are_read_as_in_memory_and_one_changes_how_no_other_is(ending, names, tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 97)  # bytes that are read at a time
    monkeypatch.setattr(record_files, "BATCH", 7)
    extra = [RECORDS[ending][name] for name in names]
    recipe = write(tmp_path, ending, extra)
    found = counted(recipe, LocalEngine())
    alike = ("fermière", "1011", "2024")
    if ending != "parts.parquet":  # a folder is not read in memory
        assert found == in_memory(recipe)
    n_lines_more = sum(record.count(b"\n") for record in extra if isinstance(record, bytes))
    assert found.total() == 40 + len(extra) + n_lines_more
    assert found[alike] == 40


def test_a_long_line_is_a_record_as_any_other(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 64)
    monkeypatch.setattr(csv, "_MOST_OF_RECORD", 1 << 10)
    recipe = write(tmp_path, "csv", [b'x,"' + b"y" * 5000])
    found = counted(recipe, LocalEngine())
    assert found == in_memory(recipe) and found.total() == 41


@pytest.mark.parametrize(("encoding", "job"), [("cp1252", "café"), ("latin-1", "café")])
def test_other_encodings_and_texts_for_missing_are_those_of_memory(encoding, job, tmp_path):
    recipe = write(tmp_path, "csv", [])
    text = "job;code;day\n" + f"{job};n/a;2024-03-31\n" * 5 + "\n" + f" {job} ;+1011;2024-03\n"
    (tmp_path / "people.csv").write_bytes(text.encode(encoding))
    more = f'encoding = "{encoding}"\nmissing_values = ["n/a"]'
    recipe = parse_recipe(RECIPE.format(ending="csv", more=more), folder=tmp_path)
    found = counted(recipe, LocalEngine())
    assert found == in_memory(recipe) == {("café", "*", "2024"): 5, ("café", "1011", "*"): 1}


def test_typed_columns_are_texts_cell_by_cell_as_in_memory(tmp_path):
    recipe = write(tmp_path, "parquet", [])
    moments = pl.Series([datetime(2024, 3, 31, 23, 30), None, datetime(9999, 12, 31)])
    days = (
        moments.dt.replace_time_zone("America/Lima"),
        moments.dt.cast_time_unit("ms"),
        moments.cast(pl.Date),
        moments,
    )
    jobs = (pl.Categorical(), pl.Enum(["café", "fermier"]), pl.String(), pl.String())
    for of_days, of_jobs, of_codes in zip(days, jobs, (pl.Decimal(10, 2), pl.Int8, pl.UInt64, pl.Float32), strict=True):
        frame = pl.DataFrame(
            {
                "day": of_days,
                "job": pl.Series(["café", None, "fermier"], dtype=of_jobs),
                "code": pl.Series([1011, 7, None]).cast(of_codes, strict=False),
            }
        )
        frame.write_parquet(tmp_path / "people.parquet")
        assert counted(recipe, LocalEngine()) == in_memory(recipe)


def refused_by(recipe, **changes):
    """What is said of a source, without any row being read."""
    source = replace(recipe.source.file, **changes)
    with pytest.raises(InvalidInput) as caught:
        RecordFiles.of(source, with_public_hierarchies(recipe).intake())
    return str(caught.value)


@pytest.mark.parametrize("extra", [[], *([record] for record in CSV_RECORDS.values())])
def test_sources_are_refused_by_name_alike_with_any_record(tmp_path, extra):
    recipe = write(tmp_path, "csv", extra)
    path = tmp_path / "people.csv"
    said = [
        refused_by(recipe, encoding="utf-16"),
        refused_by(recipe, path=path.rename(tmp_path / "people")),
        refused_by(recipe, path=(tmp_path / "people").rename(tmp_path / "people.arrow")),
        refused_by(recipe, path=(tmp_path / "people.arrow").rename(tmp_path / "people.xlsx")),
        refused_by(recipe, path=(tmp_path / "people.xlsx").rename(tmp_path / "people.parquet.gz")),
        refused_by(recipe),
    ]
    words = [
        "one row can change",
        "does not say a format",
        "CSV, JSON Lines and Parquet",
        "CSV, JSON Lines",
        "CSV, JSON",
    ]
    assert all(word in found for word, found in zip(words, said, strict=False)) and "people.csv" in said[-1]


def test_folders_are_of_parquet_alone(tmp_path):
    recipe = write(tmp_path, "parts.parquet", [])
    folder = tmp_path / "people.parts.parquet"
    (folder / "_SUCCESS").touch()
    assert counted(recipe, LocalEngine()).total() == 40
    (folder / "more.csv").touch()
    assert "and nothing else" in refused_by(recipe)
    (folder / "more.csv").unlink()
    pl.DataFrame({"job": ["x"], "code": [1]}).write_parquet(folder / "part-9.parquet")
    assert "There is no column 'day'" in refused_by(recipe)
    pl.DataFrame({"job": [["x"]], "code": [1], "day": [""]}).write_parquet(folder / "part-9.parquet")
    assert "of type List" in refused_by(recipe)
    for part in folder.glob("part-*"):
        part.rename(part.with_suffix(".csv"))
    assert "and nothing else" in refused_by(recipe)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_spark_counts_what_memory_reads(spark, tmp_path):
    from overt.engine.scale.spark import SparkEngine

    for ending in ("csv", "jsonl.gz", "parquet", "parts.parquet"):
        recipe = write(tmp_path, ending, list(RECORDS[ending].values()))
        engine = SparkEngine(spark, str(tmp_path))
        found = counted(recipe, engine)
        engine.close()
        assert found == counted(recipe, LocalEngine())
        if ending != "parts.parquet":
            assert found == in_memory(recipe)
