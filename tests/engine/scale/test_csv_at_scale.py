# SPDX-License-Identifier: Apache-2.0
"""A CSV file means the same with an engine as on one machine in memory: the same cells, in the same rows, or the same refusal."""

import json

import polars as pl
import pytest

import overt
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.parts_check import Everything
from overt.engine.scale.scaled_run import place_of_path
from overt.engine.scale.seam import ROW
from overt.engine.scale.spark import SparkEngine
from overt.engine.scale.staging import stage_table
from overt.errors import InvalidInput
from overt.io import csv
from overt.io.intake import Intake
from scales import write_people

ROLES = {"quasi_identifiers": ["a"], "sensitive": ["b"], "missing": "own value"}
WRITTEN = {
    "a line that is too short": "a,b\n1\n2,3\n",
    "a line that is too long": "a,b\n1,2,3\n2,3\n",
    "blank lines": "a,b\n1,2\n\n3,4\n\n\n",
    "blanks before quotes": 'a,b\n1, "x,y"\n3,"z" \n',
    "text after a quote": 'a,b\n1,"x"y\n3,4\n',
    "quotes inside": 'a,b\n1,x"y"z\n"a ""b""",4\n"",5\n',
    "a quote that is not closed": 'a,b\n1,"xy\n3,4\n',
    "carriage returns": "a,b\r1,2\r3,4\r",
    "both": "a,b\r\n1,2\r\n3,4",
    "a header with blanks": ' a , "b" \n1,2\n',
    "a mark before it": "\ufeffa,b\n1,2\n",
    "signs that mean something elsewhere": 'a,b\n#1,2\n"x\\",NULL\nnan,\n',
    "a line end in a cell": 'a,b\n"x\ny",2\n3,4\n',
    "two columns of a name": "a,b,b\n1,2,3\n",
    "another encoding": "a,b\n1,\udce9\n",
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("batch_rows", [1, 100])
def test_a_csv_file_means_what_it_means_in_memory(written, batch_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 7)  # bytes that are read at a time
    path = tmp_path / "people.csv"
    path.write_bytes(written.encode(errors="surrogateescape"))
    said, tables = [], []
    for read in (in_memory, lambda path: at_scale(path, batch_rows)):
        try:
            tables.append(read(path))
            said.append("")
        except InvalidInput as error:
            said.append(str(error))
    if "\udce9" in written:  # what a whole file decides in memory is asked for here
        assert "not written in utf-8" in said[1]
        return
    assert said[0] == said[1]
    assert len(set(map(repr, tables))) <= 1


def in_memory(path):
    table = overt.read_file(path, **ROLES)
    return [(c.name, c.kind, c.values.to_list(), c.total_of_value.tolist(), c.codes.tolist()) for c in table.columns]


def at_scale(path, batch_rows):
    staged = stage_table(LocalEngine(batch_rows=batch_rows), place_of_path(path), Intake(**ROLES))
    rows = pl.concat(list(staged.data))
    codes = [rows["q0"].to_list(), rows["s0"].to_list()]
    found = zip(staged.columns, codes, strict=True)
    return [(c.name, c.kind, c.values.to_list(), c.total_of_value.tolist(), some) for c, some in found]


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_spark_reads_a_csv_file_as_memory_does(spark, tmp_path):
    path = tmp_path / "people.csv"
    for case in ("blank lines", "blanks before quotes", "quotes inside", "carriage returns", "a header with blanks"):
        path.write_text(WRITTEN[case], newline="")
        engine = SparkEngine(spark, str(tmp_path))
        like = pl.DataFrame(schema={"x": pl.String, "y": pl.String, ROW: pl.Int64})
        opened = engine.open(place_of_path(path), {"x": "a", "y": "b"}, is_numbered=True)
        found = engine.select(opened, Everything(), like, 100).sort(ROW)
        engine.close()
        alone = LocalEngine().open(place_of_path(path), {"x": "a", "y": "b"}, is_numbered=True)
        assert found.equals(pl.concat(list(alone))), case
    for case in ("a line that is too short", "text after a quote", "a quote that is not closed", "another encoding"):
        path.write_bytes(WRITTEN[case].encode(errors="surrogateescape"))
        engine = SparkEngine(spark, str(tmp_path))
        with pytest.raises(InvalidInput, match="people.csv"):
            stage_table(engine, place_of_path(path), Intake(**ROLES))
        engine.close()


def test_no_batch_is_empty(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 20)
    for batch_rows in (4, 5, 20):
        opened = LocalEngine(batch_rows=batch_rows).open(place_of_path(tmp_path / "x.csv"), {"x": "a"})
        assert all(rows.height for rows in opened)
    (tmp_path / "x.csv").write_text("a,b\n")
    with pytest.raises(InvalidInput, match="has no rows"):
        at_scale(tmp_path / "x.csv", 100)


def test_blank_lines_shift_nobody_into_a_pilot_or_out_of_it(tmp_path):
    frame = write_people(tmp_path, ending="csv")
    lines = (tmp_path / "people.csv").read_text().splitlines(keepends=True)
    (tmp_path / "people.csv").write_text("".join([*lines[:5], "\n\n", *lines[5:300], "\n", *lines[300:]]))
    overt.init(tmp_path / "people.csv", into=tmp_path / "recipe.toml")
    outcome = overt.run(tmp_path / "recipe.toml", engine="out-of-core")
    pilot = json.loads(next(tmp_path.glob("*.pilot.owner.json")).read_text())["rows"]
    assert outcome.n_rows == 900 - len(pilot)
    (release,) = [path for path in tmp_path.glob("release*") if path.is_dir()]
    published = pl.concat([pl.read_csv(part, infer_schema=False) for part in (release / "sensitive").iterdir()])
    name = published.columns[-1]
    expected = frame.filter(~pl.int_range(pl.len()).is_in(pilot))[name].cast(pl.String)
    assert published[name].sort().equals(expected.sort())


def test_a_record_without_end_is_refused_before_memory_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 64)
    monkeypatch.setattr(csv, "_MOST_OF_RECORD", 1 << 10)
    (tmp_path / "x.csv").write_text('a,b\n1,2\n3,"' + "4,5\n" * 1_000)
    with pytest.raises(InvalidInput, match="Line 3 of x.csv opens a quote that is not closed"):
        at_scale(tmp_path / "x.csv", 100)


def test_parts_that_are_not_alike_are_refused_by_name(tmp_path):
    for name, text in (("part-1.csv", "a,b\n1,2\n"), ("part-2.csv", "a,c\n1,2\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=r"part-2\.csv has not the columns of the other parts"):
        at_scale(tmp_path, 100)
    (tmp_path / "part-2.csv").write_text("b,a\n4,3\n")  # in another order
    assert [values for _, _, values, _, _ in at_scale(tmp_path, 100)] == [[1, 3], [2, 4]]


@pytest.mark.parametrize("name", ["more.csv", "part-2.parquet", "year=2026"])
def test_a_folder_that_holds_more_than_its_parts_is_refused(name, tmp_path):
    (tmp_path / "part-1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "_SUCCESS").touch()
    assert at_scale(tmp_path, 100)
    (tmp_path / name).touch() if "." in name else (tmp_path / name).mkdir()
    with pytest.raises(InvalidInput, match=f"holds {name} beside its parts"):
        at_scale(tmp_path, 100)
