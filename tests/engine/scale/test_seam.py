# SPDX-License-Identifier: Apache-2.0
"""What every engine promises: the four operations, and that nothing of what it staged remains."""

import numpy as np
import polars as pl
import pytest

from overt.engine.scale.seam import CountCells, TablePlace, count_cells, n_fragments_of, require_countable
from overt.errors import InvalidInput, TooLarge
from scales import ENGINES, Keep, collected, engine_named

ROWS = pl.DataFrame({"a": np.arange(2_000) % 7, "b": np.arange(2_000)}).cast({"a": pl.Int32})


@pytest.fixture(params=ENGINES)
def engine(request, tmp_path):
    made = engine_named(request.param, request, tmp_path)
    yield made
    made.close()


def staged(engine, folder, frame=ROWS):
    frame.write_parquet(folder / "rows.parquet")
    place = TablePlace(str(folder / "rows.parquet"), "parquet")
    assert list(engine.columns(place)) == frame.columns
    return engine.stage(engine.open(place, {name: name for name in frame.columns}), Keep(), frame.clear())


class ColumnA:
    def __call__(self, rows):
        return rows.get_column("a").to_numpy().astype(np.int64)


class SumOfFragment:
    def __call__(self, fragment, rows):
        return pl.DataFrame({"fragment": [fragment], "rows": [rows.height], "sum": [int(rows["b"].sum())]})


class Fragment:
    def __call__(self, rows):
        return rows.get_column("a").to_numpy()


class Even:
    def __call__(self, rows):
        return rows.filter(pl.col("b") % 2 == 0)


def test_every_engine_has_the_four_operations(engine, tmp_path):
    data = staged(engine, tmp_path)
    assert count_cells(engine, data, ColumnA(), 9).tolist() == [286, 286, 286, 286, 286, 285, 285, 0, 0]
    assert collected(engine, data, ROWS.clear()).sort("b").equals(ROWS)
    assert engine.select(data, Even(), ROWS.clear(), 1_000).height == 1_000
    with pytest.raises(TooLarge, match="looked at together"):
        engine.select(data, Even(), ROWS.clear(), 999)
    like = pl.DataFrame(schema={"fragment": pl.Int64, "rows": pl.Int64, "sum": pl.Int64})
    found = collected(engine, engine.apply(data, Fragment(), SumOfFragment(), like), like).sort("fragment")
    expected = ROWS.group_by(fragment=pl.col("a").cast(pl.Int64)).agg(
        rows=pl.len().cast(pl.Int64), sum=pl.col("b").sum()
    )
    assert found.equals(expected.sort("fragment"))
    assert collected(engine, engine.numbers(3), pl.DataFrame(schema={"number": pl.Int64}))[
        "number"
    ].sort().to_list() == [*range(3)]


class Late:
    def __call__(self, rows):
        return rows.filter(pl.col("b") >= 1_500)


def test_batches_of_which_nothing_is_left_are_passed_over(engine, tmp_path):
    late = engine.stage(staged(engine, tmp_path), Late(), ROWS.clear())
    like = pl.DataFrame(schema={"fragment": pl.Int64, "rows": pl.Int64, "sum": pl.Int64})
    found = collected(engine, engine.apply(late, Fragment(), SumOfFragment(), like), like)
    assert found["rows"].sum() == 500
    assert found["sum"].sum() == sum(range(1_500, 2_000))


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_what_an_engine_writes_it_reads(engine, file_format, tmp_path):
    frame = pl.DataFrame({"k": ["=1+1", 'a "quoted" word', "two\nlines", None, "é"], "n": [1, 2, 3, None, 5]})
    engine.write(staged(engine, tmp_path, frame), tmp_path / "out", file_format, ";")
    place = TablePlace(str(tmp_path / "out"), file_format, ";")
    like = (frame.cast(pl.String) if file_format == "csv" else frame).rename({"k": "x", "n": "y"})
    found = collected(
        engine, engine.stage(engine.open(place, {"x": "k", "y": "n"}), Keep(), like.clear()), like.clear()
    )
    expected = like.fill_null("") if file_format == "csv" else like  # in a CSV file what is missing is an empty text
    assert set(found.rows()) == set(expected.rows())
    assert all(path.name.startswith("part-") for path in (tmp_path / "out").iterdir())


def test_a_broken_line_of_a_csv_file_is_refused_and_not_quoted(engine, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\nKanarienvogel,4,5\n")
    place = TablePlace(str(tmp_path / "x.csv"), "csv")
    like = pl.DataFrame(schema={"x": pl.String, "y": pl.String})
    with pytest.raises(InvalidInput) as caught:
        engine.stage(engine.open(place, {"x": "a", "y": "b"}), Keep(), like)
    assert "Kanarienvogel" not in str(caught.value)


def test_nothing_that_was_staged_remains(engine, tmp_path):
    staged(engine, tmp_path)
    engine.close()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_plans_stay_small_whatever_the_table():
    class OfAnySize:
        fragment_rows = 200_000

    assert n_fragments_of(OfAnySize(), 1000) == 1
    assert n_fragments_of(OfAnySize(), 10**12) == 256
    with pytest.raises(TooLarge, match="counted at once"):
        require_countable(10**9)
    assert next(CountCells(ColumnA(), 8)([ROWS]))["n"].sum() == ROWS.height
