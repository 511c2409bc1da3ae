# SPDX-License-Identifier: Apache-2.0
"""Read row by row, a table is the rows of its records: none changes another, whatever it holds, in every format."""

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import overt
from oracles.csv_lines import cells_of_line
from overt.engine.course import prepare
from overt.errors import InvalidInput
from overt.io import csv
from overt.io.canonical_texts import text_of, text_of_decimal, text_of_moment
from overt.io.recipe.recipe import read_recipe

WRITES = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAMES = ["a", "b"]

PIECES = [
    b"", b" ", b'"', b'""', b",", b",", b";", b"\t", b"|", b"\r", b"\0", b"\x1f", b"\xff", b"caf\xe9", b"\xef\xbb\xbf", b"\xc3",
    b"1011", b"1011.5", b"1e999", b"9" * 40, b"2024-03-31", b"ferm\xc3\xa8re", b"{", b"=1+1", b"\\", b"*", b"x" * 70,
]  # fmt: skip
CSV_LINES = st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join)
JSON_CELLS = st.sampled_from(
    ["1011", "1011.0", "1011.5", "1e3", "1e999", "-0", "-0.0", "9" * 5000, "[1]", "{}", "null", "true", '"1011"', '"\\ud800"',
     '"\\u0000"', '"*"', "NaN", "Infinity", "01", '"caf\u00e9"', '{"a": 1}', "[" * 30_000],
)  # fmt: skip
JSON_LINES = st.one_of(
    st.builds(lambda a, b: f'{{"a": {a}, "b": {b}}}'.encode(), JSON_CELLS, JSON_CELLS),
    st.builds(lambda a: f'{{"b": {a}, "new": 1}}'.encode(), JSON_CELLS),
    st.sampled_from([b"", b" ", b"{", b"[]", b"7", b"null", b"\xff", b'{"a": "caf\xe9"}', b"\xef\xbb\xbf{}", b"\x1f\x8b", b'{"a": 1'])
)  # fmt: skip


def rows_of(table):
    """Every row as the texts of its cells."""
    columns = [[column.values.to_list()[code] for code in column.codes] for column in table.columns]
    return list(zip(*columns, strict=True))


def read(path, **how):
    return rows_of(overt.read_file(path, quasi_identifiers=NAMES, row_by_row=True, **how))


def write_lines(path, lines, header=b"a,b\n", *, last=b"\n"):
    content = header + b"\n".join(lines) + (last if lines else b"")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(path.stem, content)
        return path
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Files in blocks and spans of a few dozen bytes, in several threads: where they are cut must not matter."""
    monkeypatch.setattr(csv, "_BLOCK", 48)
    monkeypatch.setenv("OVERT_THREADS", "3")


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
@given(lines=st.lists(CSV_LINES, max_size=12), header=st.sampled_from([b"a,b\n", b"\xef\xbb\xbfa,b\r\n", b"\n\na,b\n"]))
@WRITES
def test_a_line_of_csv_is_a_record_by_itself(tmp_path, in_small_pieces, name, lines, header):
    expected = [cells_of_line(line, 2) for line in lines]
    found = read(write_lines(tmp_path / name, lines, header))
    assert found == [tuple(cells) for cells in expected if cells is not None]


TWINS = {  # texts of which somebody made another that the mark of long texts takes for the same
    "Villeneuve-Saint-Georges": b"Villeneu\x9b\x17u\xcb\x93\x11\xe6\xb3-Georges",
    "Neuroendokriner Tumor": b"Neuroend\xa2\x83\xdb]\x1e~\x07\xb7Tumor",
    "fermière de profession": b"fermi\xc3\xa8r>\xa4\xe0?\xec\xb0\x05Ffession",
}


@pytest.mark.parametrize("encoding", [None, "latin-1"])
@pytest.mark.parametrize("text", TWINS)
def test_a_text_that_was_made_to_be_taken_for_another_is_not(tmp_path, text, encoding):
    """Long texts are looked up by a mark of eight bytes that anybody can compute."""
    lines = [b"1," + TWINS[text], *[f"2,{text}".encode(encoding or "utf-8")] * 3]
    found = read(write_lines(tmp_path / "people.csv", lines), encoding=encoding)
    assert [row[1] for row in found[1:]] == [text] * 3 and found[0][1] != text


@given(lines=st.lists(CSV_LINES.filter(lambda line: b"," not in line), max_size=8))
@WRITES
def test_a_line_of_a_file_of_one_column_is_a_record_by_itself(tmp_path, in_small_pieces, lines):
    path = write_lines(tmp_path / "one.csv", lines, b"a\n")
    found = rows_of(overt.read_file(path, quasi_identifiers=["a"], separator=",", row_by_row=True))
    assert found == [tuple(cells_of_line(line, 1)) for line in lines]


@pytest.mark.parametrize(
    "name", ["people.csv", "people.csv.zip", "people.jsonl", "people.jsonl.gz", "people.jsonl.zip"]
)
@given(data=st.data())
@WRITES
def test_lines_together_are_what_each_is_alone(tmp_path, in_small_pieces, name, data):
    lines = data.draw(st.lists(CSV_LINES if "csv" in name else JSON_LINES, min_size=1, max_size=8))
    header = b"a,b\n" if "csv" in name else b""
    alone = [read(write_lines(tmp_path / name, [line], header)) for line in lines]
    last = data.draw(st.sampled_from([b"", b"\n", b"\n\n"]))
    assert read(write_lines(tmp_path / name, lines, header, last=last)) == [row for rows in alone for row in rows]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "iso8859-15", "ascii"])
@given(lines=st.lists(CSV_LINES, max_size=6))
@WRITES
def test_an_encoding_of_one_byte_that_is_named_is_used_for_every_cell(tmp_path, encoding, lines):
    expected = [cells_of_line(line, 2, encoding=encoding) for line in lines]
    found = read(write_lines(tmp_path / "people.csv", lines), encoding=encoding)
    assert found == [tuple(cells) for cells in expected if cells is not None]


def test_the_separator_is_that_of_the_names_whatever_the_rows_hold(tmp_path):
    for extra in ([], [b"x,x,x,x,x"] * 50, [b"x|x"] * 50):
        path = write_lines(tmp_path / "people.csv", [b"1;2", *extra], b"a;b\n")
        assert read(path)[0] == ("1", "2")
    assert read(write_lines(tmp_path / "people.tsv", [b"1;\t2"], b"a\tb\n")) == [("1;", "2")]
    assert read(write_lines(tmp_path / "people.csv", [b"1:2"], b"a:b\n"), separator=":") == [("1", "2")]


@pytest.mark.parametrize(
    ("header", "how", "words"),
    [
        (b"\xff\xfea\0,\0b\0\n\0", {}, "is in utf-16-le, in which one row can change"),
        (b"a,b\n", {"encoding": "shift_jis"}, "is in shift_jis, in which one row can change"),
        (b"a,caf\xe9\n", {}, "is not written in utf-8"),
        (b'a,"b\n', {}, "opens a quote that it does not close"),
        (b"a,b\rx\n", {}, "no line of their own that ends in a line feed"),
        (b"\n \n", {}, "is empty; a line with the names"),
        (b"a,a\n", {}, "more than one column 'a'"),
        (b"a,c\n", {}, "There is no column 'b'"),
    ],
)
@pytest.mark.parametrize("record", [b"", b'1,2\n"'])
def test_a_file_is_refused_for_its_names_and_what_was_said_of_it(tmp_path, header, how, words, record):
    path = write_lines(tmp_path / "people.csv", [record], header)
    with pytest.raises(InvalidInput, match=words):
        read(path, **how)


def test_a_format_is_never_found_in_the_rows(tmp_path):
    for first in (b"{}", b"1,2"):
        with pytest.raises(InvalidInput, match="does not say a format"):
            read(write_lines(tmp_path / "people", [first], b""))
    assert read(write_lines(tmp_path / "people.jsonl", [b"\x1f\x8b", b'{"a": 1}'], b"")) == [(None, None), ("1", None)]


NUMBERS = st.one_of(
    st.integers(-(2**52), 2**52), st.floats(), st.sampled_from([1011, 1011.0, -0.0, 1e22, 1e300, 2.0**63, 0.1, 1e-7])
)
MOMENTS = st.one_of(
    st.datetimes(), st.datetimes().map(lambda moment: moment.replace(hour=0, minute=0, second=0, microsecond=0))
)
TYPED = {
    "text": (pl.String, st.text(max_size=5)),
    "float": (pl.Float64, NUMBERS.map(float)),
    "single": (pl.Float32, st.floats(width=32)),
    "whole": (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
    "unsigned": (pl.UInt64, st.integers(0, 2**64 - 1)),
    "exact": (pl.Decimal(38, 4), st.decimals(-(10**30), 10**30, places=4)),
    "truth": (pl.Boolean, st.booleans()),
    "day": (pl.Date, st.dates()),
    "moment": (pl.Datetime("us"), MOMENTS),
    "moment in a zone": (pl.Datetime("ms", "Europe/Berlin"), MOMENTS.filter(lambda moment: 1 < moment.year < 9999)),
    "category": (pl.Categorical, st.sampled_from(["", "*", "x", "é"])),
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("source", ["frame", "pyarrow", "parquet", "arrow"])
@given(data=st.data())
@WRITES
def test_a_typed_cell_has_the_text_that_it_has_alone(tmp_path, kind, source, data):
    dtype, values = TYPED[kind]
    cells = pl.Series("a", data.draw(st.lists(st.none() | values, min_size=1, max_size=8)), dtype=dtype, strict=False)

    def read_column(column):
        frame = column.to_frame()
        if source == "frame":
            return rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True))
        if source == "pyarrow":  # in chunks of a row, each with a dictionary of its own
            arrow = pytest.importorskip("pyarrow")
            chunks = arrow.concat_tables([frame[i : i + 1].to_arrow() for i in range(frame.height)])
            return rows_of(overt.read_frame(chunks, quasi_identifiers=["a"], row_by_row=True))
        path = tmp_path / f"people.{source}"
        if source == "parquet":
            frame.write_parquet(path, row_group_size=data.draw(st.sampled_from([1, 3, 100])))
        else:
            frame.write_ipc(path, record_batch_size=data.draw(st.sampled_from([1, 3, 100])))
        return rows_of(overt.read_file(path, quasi_identifiers=["a"], row_by_row=True))

    assert read_column(cells) == [row for i in range(len(cells)) for row in read_column(cells[i : i + 1])]


@pytest.mark.parametrize(
    ("dtype", "number"),
    [(pl.Date, 2**31 - 1), (pl.Date, -(2**31)), *((pl.Datetime(unit), 2**63 - 1) for unit in ("ms", "us"))],
)
def test_days_off_the_calendar_are_unknown(dtype, number):
    days = pl.Series("a", [0, number], dtype=pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    assert rows_of(overt.read_frame(days.to_frame(), quasi_identifiers=["a"], row_by_row=True)) == [
        ("1970-01-01",),
        (None,),
    ]


@pytest.mark.parametrize("zone", [None, "UTC", "+01:00", "Europe/Berlin", "EST5EDT"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("far", [253_402_300_800_000_000, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1])
def test_a_moment_off_the_calendar_changes_no_other_and_ends_nothing(zone, unit, far):
    """Polars cannot work beside such a number, not even where it lies under a null."""
    beside = [0, 86_400_000_000_000_000 // {"ms": 10**6, "us": 10**3, "ns": 1}[unit]]
    alone, together = (
        rows_of(overt.read_frame(cells.to_frame(), quasi_identifiers=["a"], row_by_row=True))
        for cells in (
            pl.Series("a", numbers, pl.Int64).cast(pl.Datetime(unit, zone)) for numbers in (beside, [*beside, far])
        )
    )
    assert together[:2] == alone and (together[2] == (None,)) == (unit != "ns")


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "pandas on pyarrow"])
def test_seconds_off_the_calendar_are_unknown(kind):
    """They are counted in seconds, and overflow where Polars counts in thousandths: 2**62 seconds were the first of January 1970."""
    arrow = pytest.importorskip("pyarrow")
    seconds = [0, 2**62, -(2**62), 253_402_300_799, 253_402_300_800, 2**61 + 86_400, None]
    cells = arrow.array(seconds, arrow.int64()).cast(arrow.timestamp("s"))
    frame = arrow.table({"a": cells})
    if kind != "pyarrow":
        pandas = pytest.importorskip("pandas")
        series = (
            pandas.arrays.ArrowExtensionArray(cells)
            if "on" in kind
            else np.array([-(2**63) if s is None else s for s in seconds]).astype("datetime64[s]")
        )
        frame = pandas.DataFrame({"a": series})
    found = rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True))
    assert found == [("1970-01-01",), (None,), (None,), ("9999-12-31T23:59:59",), *[(None,)] * 3]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"])
def test_a_moment_has_the_offset_of_its_zone_to_the_second_in_every_type(zone):
    """Before standard time, Berlin was 53 minutes and 28 seconds ahead, and New York 4:56:02 behind."""
    moments = [
        datetime(1800, 1, 1, 5, 6, 7),
        datetime(1890, 6, 1),
        datetime(2024, 7, 1, 12),
        datetime(2024, 10, 27, 3, 30),
    ]
    objects = [moment.replace(tzinfo=ZoneInfo(zone)) for moment in moments]
    column = pl.Series("a", objects)
    assert column.dtype == pl.Datetime("us", zone)
    texts = [text_of(moment) for moment in objects]
    assert rows_of(overt.read_frame(column.to_frame(), quasi_identifiers=["a"], row_by_row=True)) == [
        (t,) for t in texts
    ]
    if zone == "Europe/Berlin":
        assert texts[0] == "1800-01-01T05:06:07+00:53:28" and texts[2] == "2024-07-01T12:00:00+02:00"
    if zone == "America/New_York":
        assert texts[0] == "1800-01-01T05:06:07-04:56:02"


@pytest.mark.parametrize("number", [0.1, 65504.0, 0.3, 2047.0, 6e-8])
def test_a_half_precision_number_has_the_same_text_in_every_type(number):
    half = np.float16(number)
    text = text_of(float(half))  # 65504, not 6.55e+04 as NumPy writes it
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for frame in (
        pl.DataFrame({"a": pl.Series([float(half)], dtype=pl.Float16)}),
        pandas.DataFrame({"a": np.array([half])}),
        pandas.DataFrame({"a": pandas.Series([half, "x"], dtype=object)}),
        arrow.table({"a": arrow.array([half], arrow.float16())}),
    ):
        assert rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True))[0] == (text,)


OBJECTS = st.one_of(
    st.none(), st.text(max_size=4), NUMBERS, st.booleans(), st.dates(), MOMENTS, st.binary(max_size=3), st.just([1]), st.just({}),
    st.just(10**5000), st.just("\ud800"), st.decimals(allow_nan=True, allow_infinity=True), st.just(object()),
    st.just(np.int64(7)), st.timedeltas(timedelta(0), timedelta(9)),
)  # fmt: skip


def test_a_type_of_pyarrow_without_an_equivalent_is_refused_whatever_the_cells():
    arrow = pytest.importorskip("pyarrow")
    for cells in ([], [1011]):
        column = arrow.array(cells, arrow.decimal256(60, 3))
        with pytest.raises(InvalidInput, match="without an equivalent"):
            overt.read_frame(arrow.table({"a": column}), quasi_identifiers=["a"], row_by_row=True)


def needs_object(cell):
    """Pandas cannot make a column of it, or makes one of a type that is refused, unless it is told that it holds objects."""
    half = isinstance(cell, str) and any("\ud800" <= letter <= "\udfff" for letter in cell)  # no text of pandas 3
    return half or isinstance(cell, timedelta) or (isinstance(cell, int) and abs(cell) > 2**63)


@given(cells=st.lists(OBJECTS, min_size=1, max_size=6), extra=OBJECTS, dtype=st.sampled_from([None, object]))
def test_a_record_more_in_pandas_changes_no_other_even_if_it_changes_the_type(cells, extra, dtype):
    pandas = pytest.importorskip("pandas")

    def read_cells(cells):
        frame = pandas.DataFrame(
            {"a": pandas.Series(cells, dtype=object if any(needs_object(cell) for cell in cells) else dtype)}
        )
        return rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True))

    assert read_cells([*cells, extra])[:-1] == read_cells(cells)


@given(
    cells=st.lists(st.sampled_from(["x", "", "é", None]), min_size=1, max_size=6),
    extra=st.sampled_from([7, "y", 1.5, True]),
)
def test_categories_of_pandas_are_read_one_by_one(cells, extra):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Categorical([*cells, extra])})
    found = rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True))
    assert found == [(cell or None,) for cell in cells] + [(text_of(extra),)]


@pytest.mark.parametrize("kind", ["pyarrow", "pyarrow dictionary", "pandas", "pandas dictionary"])
def test_text_in_arrow_that_is_not_utf_8_is_unknown_and_no_other_is(kind):
    arrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    offsets = arrow.py_buffer(np.array([0, 1, 3], np.int32).tobytes())
    cells = arrow.Array.from_buffers(arrow.string(), 2, [None, offsets, arrow.py_buffer(b"x\xff\xfe")])
    if "dictionary" in kind:
        cells = arrow.DictionaryArray.from_arrays(arrow.array([0, 1]), cells)
    series = pandas.Series(pandas.arrays.ArrowExtensionArray(cells))
    frame = arrow.table({"a": cells}) if "pandas" not in kind else pandas.DataFrame({"a": series})
    assert rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True)) == [("x",), (None,)]
    if "dictionary" not in kind:
        with pytest.raises(InvalidInput, match="Column 'a' mixes types or has one without an equivalent"):
            overt.read_frame(frame, quasi_identifiers=["a"])


def test_a_missing_text_in_a_view_of_arrow_that_pandas_holds_is_unknown():
    arrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    for cells in (["x"], ["x", None]):
        series = pandas.Series(pandas.arrays.ArrowExtensionArray(arrow.array(cells, arrow.string_view())))
        table = overt.read_frame(pandas.DataFrame({"a": series}), quasi_identifiers=["a"], row_by_row=True)
        assert rows_of(table) == [(cell,) for cell in cells]


ODD_DIGITS = "\u0660\u0661\u0662\u0663\uff14\u0967"


@pytest.mark.parametrize(
    ("form", "good"), [("%d.%m.%y", "01.02.99"), ("%d.%m.%Y %H:%M", "01.02.1999 10:11"), ("%Y-%m-%dT%H:%M:%S", "1999-02-01T10:11:12")]
)  # fmt: skip
@pytest.mark.parametrize("place", range(20))
def test_digits_of_other_scripts_in_one_date_leave_all_others_what_they_are(form, good, place):
    if place >= len(good) or not good[place].isdigit():
        return
    for digit in ODD_DIGITS:
        odd = good[:place] + digit + good[place + 1 :]
        how = {"quasi_identifiers": ["a"], "row_by_row": True, "date_formats": {"a": form}}
        alone = rows_of(overt.read_frame(pl.DataFrame({"a": [good]}), **how))
        assert rows_of(overt.read_frame(pl.DataFrame({"a": [good, odd]}), **how)) == [*alone, (None,)]


@pytest.mark.parametrize("kind", ["double", "float", "timestamp[us]", "date32[day]", "int64"])
def test_a_dictionary_of_numbers_or_moments_is_its_cells_in_however_many_pieces(kind):
    """More rows are more pieces, of which Polars makes categories with texts of PyArrow's."""
    arrow = pytest.importorskip("pyarrow")
    plain = {"double": [1.0, 1e-7, float("nan"), None], "float": [0.1, 2.0], "timestamp[us]": [datetime(2024, 3, 31), datetime(2024, 3, 31, 1)],
             "date32[day]": [date(2024, 3, 31)], "int64": [1011, None]}[kind]  # fmt: skip
    cells = arrow.array(plain).cast(kind).dictionary_encode()
    whole = arrow.table({"a": cells})
    pieces = arrow.concat_tables(
        [arrow.table({"a": arrow.array([cell]).cast(kind).dictionary_encode()}) for cell in plain]
    )
    expected = rows_of(
        overt.read_frame(arrow.table({"a": arrow.array(plain).cast(kind)}), quasi_identifiers=["a"], row_by_row=True)
    )
    for frame in (whole, pieces, arrow.concat_tables([whole, whole.slice(0, 1)]).slice(0, len(plain))):
        assert rows_of(overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True)) == expected


@pytest.mark.parametrize("kind", ["frame", "parquet", "pandas", "postgresql"])
def test_a_format_is_for_texts_and_days_of_a_typed_column_need_none(tmp_path, kind, request):
    how = {"quasi_identifiers": ["a"], "row_by_row": True, "date_formats": {"a": "%d.%m.%Y"}}
    frame = pl.DataFrame({"a": [date(2024, 3, 31), None]})
    if kind == "postgresql":
        server = request.getfixturevalue("postgresql")
        server.run(
            "DROP TABLE IF EXISTS typed_days",
            "CREATE TABLE typed_days (a date)",
            "INSERT INTO typed_days VALUES ('2024-03-31'), (NULL)",
        )
        (tmp_path / "recipe.toml").write_text(
            'version = 1\n[input]\ndatabase = "OVERT_TEST_DAYS"\ntable = "typed_days"\n[columns.a]\nrole = "quasi-identifier"\nformat = "%d.%m.%Y"\n'
            'hierarchy = { dates = ["month"] }\n[method]\nname = "dp-sampling"\nepsilon = 1\ndelta = 1e-3\ns = 0.5\nlevels = [[0]]\n'
            '[output]\npath = "release.csv"\n'
        )
        request.getfixturevalue("monkeypatch").setenv("OVERT_TEST_DAYS", server.address())
        assert rows_of(prepare(read_recipe(tmp_path / "recipe.toml")).table) == [("2024-03-31",), (None,)]
        return
    if kind == "parquet":
        frame.write_parquet(tmp_path / "people.parquet")
        table = overt.read_file(tmp_path / "people.parquet", **how)
    else:
        table = overt.read_frame(frame if kind == "frame" else frame.to_pandas(), **how)
    assert rows_of(table) == [("2024-03-31",), (None,)]


def test_decimals_that_count_in_thousands_are_refused_whatever_the_cells():
    arrow = pytest.importorskip("pyarrow")
    for cells in ([], [5000]):
        frame = arrow.table({"a": arrow.array(cells, arrow.decimal128(10, -3))})
        with pytest.raises(InvalidInput, match="without an equivalent"):
            overt.read_frame(frame, quasi_identifiers=["a"], row_by_row=True)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("cells", [[], ["1.00"], ["9" * 45 + ".00"]])
def test_decimals_of_more_digits_than_can_be_read_are_refused_whatever_the_cells(tmp_path, suffix, cells):
    """Where there are no rows nothing has to be read, and one row more must not change that."""
    arrow = pytest.importorskip("pyarrow")
    frame = arrow.table({"a": arrow.array(map(Decimal, cells), arrow.decimal256(50, 2)), "b": ["x"] * len(cells)})
    path = tmp_path / f"people.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(frame, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(frame, path, compression="uncompressed")
    with pytest.raises(InvalidInput, match="'a' holds exact numbers of up to 50 digits, and 38 are read"):
        overt.read_file(path, quasi_identifiers=["a"], row_by_row=True)


def test_frames_of_pyarrow_are_read_cell_by_cell():
    arrow = pytest.importorskip("pyarrow")
    for extra in ([], [1011.5], [float("nan")], [None]):
        chunks = arrow.chunked_array([arrow.array([1011.0, 0.5]), arrow.array(extra, arrow.float64())])
        rows = rows_of(overt.read_frame(arrow.table({"a": chunks}), quasi_identifiers=["a"], row_by_row=True))
        assert rows[:2] == [("1011",), ("0.5",)]


@pytest.mark.parametrize("dtype", [pl.List(pl.Int64), pl.Struct({"x": pl.Int64}), pl.Binary, pl.Duration, pl.Time])
def test_a_type_without_order_is_refused_by_its_name_even_without_rows(dtype):
    with pytest.raises(InvalidInput, match="has no order to generalize by"):
        overt.read_frame(pl.DataFrame(schema={"a": dtype}), quasi_identifiers=["a"], row_by_row=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1011, "1011"), (1011.0, "1011"), (-0.0, "0"), (0.5, "0.5"), (1e-7, "1e-7"), (1e22, "1e+22"), (2.0**60, str(2**60)),
        (float("nan"), None), (float("inf"), None), (True, "true"), (np.False_, "false"), ("01", "01"), ("", ""), (None, None),
        ("\ud800", None), (b"x", None), ([1], None), (10**5000, None), (Decimal("10.50"), "10.5"), (Decimal("1E+3"), "1000"),
        (Decimal("-0.0"), "0"), (Decimal("nan"), None), (date(2024, 3, 31), "2024-03-31"),
        (datetime(2024, 3, 31), "2024-03-31"), (datetime(2024, 3, 31, 1, 2, 3, 400_000), "2024-03-31T01:02:03.4"),
        (np.datetime64("2024-03-31"), "2024-03-31"), (np.datetime64("NaT"), None), (np.float32(0.1), "0.1"), (1j, None),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_the_text_of_a_cell(value, text):
    assert text_of(value) == text


def test_the_text_of_what_a_server_writes():
    assert text_of_moment("2024-03-31 01:02:03.450+00") == "2024-03-31T01:02:03.45+00:00"
    assert text_of_moment("2024-03-31 00:00:00") == "2024-03-31"
    assert text_of_moment("0044-03-15 BC") is text_of_moment("infinity") is text_of_moment("10000-01-01") is None
    assert text_of_decimal("1011.00") == "1011" and text_of_decimal("100") == "100" and text_of_decimal("NaN") is None


LITERALS = st.sampled_from(
    ["NULL", "1011", "1011.0", "1011.5", "9e999", "-0.0", "9223372036854775807", "''", "'1011'", "'caf\u00e9'", "'2024-03-31'",
     "CAST(x'636166e9' AS TEXT)", "CAST(x'610062' AS TEXT)", "x'00ff'", "'[1]'", "1e22", "0.1", "'\"'", "char(10)"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "how"),
    [*((kind, "") for kind in ("", "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "DATE")), ("", "PRAGMA encoding = 'UTF-16le'")],
)  # fmt: skip
@given(cells=st.lists(LITERALS, max_size=8), extra=LITERALS, place=st.integers(0, 8))
@WRITES
def test_a_row_more_in_sqlite_changes_no_other(tmp_path, declared, how, cells, extra, place):
    path = tmp_path / "people.db"

    def read_cells(cells):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(how)
            connection.execute(f"CREATE TABLE people (a {declared})")
            for cell in cells:
                connection.execute(f"INSERT INTO people VALUES ({cell})")
            connection.commit()
        return rows_of(overt.read_database(path, table="people", quasi_identifiers=["a"], row_by_row=True))

    place = min(place, len(cells))
    found = read_cells([*cells[:place], extra, *cells[place:]])
    assert found[:place] + found[place + 1 :] == read_cells(cells)


POSTGRESQL = {
    "numeric": ["1011", "1011.00", "1011.5", "'NaN'", "'Infinity'", "9e200", "NULL", "0.10"],
    "double precision": ["1011", "1011.5", "'NaN'", "'-Infinity'", "1e300", "-0.0", "NULL"],
    "real": ["0.1", "'NaN'", "1e30", "NULL", "1011"],
    "bigint": ["9223372036854775807", "-1", "NULL", "1011"],
    "text": ["'caf\u00e9'", "''", "'\"'", "E'a\\nb'", "'1011.0'", "NULL", "'*'"],
    "boolean": ["true", "false", "NULL"],
    "date": ["'2024-03-31'", "'infinity'", "'0044-03-15 BC'", "'20000-01-01'", "NULL"],
    "timestamp": ["'2024-03-31'", "'2024-03-31 10:00:00.50'", "'-infinity'", "'20000-01-01'", "NULL"],
    "timestamptz": ["'2024-03-31 00:00+02'", "'infinity'", "'1000-01-01 10:00 BC'", "NULL"],
    "money": ["12.50", "1011", "NULL"],
    "char(5)": ["'ab'", "''", "NULL"],
    "jsonb": ["'[1]'", "'{\"a\": 1.50}'", "NULL"],
    "inet": ["'10.0.0.1'", "'::1'", "NULL"],
}
EXPECTED = {
    "numeric": {("1011",), ("1011.5",), ("0.1",), ("9" + "0" * 200,), (None,)},
    "double precision": {("1011",), ("1011.5",), ("1e+300",), ("0",), (None,)},
    "timestamp": {("2024-03-31",), ("2024-03-31T10:00:00.5",), (None,)},
}


@pytest.mark.parametrize("kind", POSTGRESQL)
def test_a_cell_in_postgresql_has_the_text_that_it_has_alone(postgresql, kind):
    schema = "rows_" + "".join(letter for letter in kind if letter.isalnum())
    address = postgresql.schema_address(schema)
    postgresql.run(f"CREATE TABLE {schema}.people (place int, a {kind})")

    def read_cells(cells):
        values = ", ".join(f"({place}, {cell}::{kind})" for place, cell in enumerate(cells))
        postgresql.run(f"TRUNCATE {schema}.people", f"INSERT INTO {schema}.people VALUES {values}")
        return rows_of(overt.read_database(address, table="people", quasi_identifiers=["a"], row_by_row=True))

    cells = POSTGRESQL[kind]
    together = read_cells(cells)
    assert together == [row for cell in cells for row in read_cells([cell])]
    assert kind not in EXPECTED or set(together) == EXPECTED[kind]


def quoted(value):
    return "'" + str(value).replace("'", "''") + "'"


DRAWN = {
    "numeric": st.decimals(-(10**20), 10**20, places=6).map(str),
    "double precision": st.floats().map(quoted),
    "real": st.floats(width=32).map(quoted),
    "bigint": st.integers(-(2**63) + 1, 2**63 - 1).map(str),
    "text": st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8).map(quoted),
    "date": st.dates().map(quoted),
    "timestamp": st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(quoted),
    "timestamptz": st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)).map(lambda when: quoted(f"{when}+05:30")),
}
ROWS_OF_POSTGRESQL = st.tuples(
    *(st.one_of(st.sampled_from(cells), DRAWN.get(kind, st.nothing())) for kind, cells in POSTGRESQL.items())
)


@given(rows=st.lists(ROWS_OF_POSTGRESQL, max_size=4), extra=ROWS_OF_POSTGRESQL, place=st.integers(0, 4))
@settings(max_examples=8)  # each begins and ends four connections
def test_a_row_more_in_postgresql_changes_no_other(postgresql, rows, extra, place):
    names = [f"c{i}" for i in range(len(POSTGRESQL))]
    kinds = ", ".join(f"{name} {kind}" for name, kind in zip(names, POSTGRESQL, strict=True))
    postgresql.run(f"CREATE TABLE IF NOT EXISTS drawn_rows ({kinds})")

    def read_rows(rows):
        cells = ", ".join(
            "(" + ", ".join(f"{c}::{kind}" for c, kind in zip(row, POSTGRESQL, strict=True)) + ")" for row in rows
        )
        postgresql.run("TRUNCATE drawn_rows", *([f"INSERT INTO drawn_rows VALUES {cells}"] if rows else []))
        return rows_of(
            overt.read_database(postgresql.address(), table="drawn_rows", quasi_identifiers=names, row_by_row=True)
        )

    place = min(place, len(rows))
    found = read_rows([*rows[:place], extra, *rows[place:]])
    assert found[:place] + found[place + 1 :] == read_rows(rows)


def test_only_tables_of_a_database_in_utf_8_are_read_row_by_row(postgresql, tmp_path):
    address = postgresql.schema_address("views")
    postgresql.run("CREATE TABLE views.people (a int)", "CREATE VIEW views.seen AS SELECT 1 / a AS a FROM views.people")
    how = {"quasi_identifiers": ["a"], "row_by_row": True}
    for place in ({"table": "seen"}, {"query": "SELECT a FROM people LIMIT 3"}):
        with pytest.raises(InvalidInput, match="is no table: a query or a view can make many rows of one"):
            overt.read_database(address, **place, **how)
    postgresql.run("CREATE DATABASE western ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0")
    postgresql.run("CREATE TABLE people (a text)", database="western")
    with pytest.raises(InvalidInput, match="is in WIN1252, from which one text can stop the reading of all"):
        overt.read_database(postgresql.address("western"), table="people", **how)
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("CREATE TABLE people (a)")
        connection.execute("CREATE VIEW seen AS SELECT a FROM people")
    with pytest.raises(InvalidInput, match="is no table"):
        overt.read_database(tmp_path / "people.db", table="seen", **how)


def test_a_table_whose_cells_are_made_when_they_are_read_is_refused_with_any_rows(tmp_path):
    """A rule of SQLite may fail at one row (here, of text that is no JSON), and would end the run because of it."""
    how = {"quasi_identifiers": ["a"], "row_by_row": True}
    for row in ('{"a": 1}', "{"):
        path = tmp_path / "people.db"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE people (x TEXT, b AS (x || 'y') STORED)")
            connection.execute("INSERT INTO people VALUES (?)", [row])
            connection.execute("CREATE TABLE plain AS SELECT x AS a FROM people")
            connection.execute("ALTER TABLE people ADD COLUMN a AS (json_extract(x, '$.a')) VIRTUAL")
            connection.execute("CREATE VIRTUAL TABLE seen USING fts5(a)")
            connection.commit()
        for table in ("people", "seen"):
            with pytest.raises(InvalidInput, match="is no table"):
                overt.read_database(path, table=table, **how)
        assert rows_of(overt.read_database(path, table="plain", **how)) == [(row,)]


def test_tables_of_postgresql_that_lie_elsewhere_or_hide_rows_are_refused(postgresql):
    postgresql.schema_address("hidden")
    postgresql.run(
        "CREATE TABLE hidden.people (a int, b int GENERATED ALWAYS AS (a + 1) STORED)",
        "CREATE TABLE hidden.parted (a int) PARTITION BY LIST (a)",
        "CREATE TABLE hidden.part PARTITION OF hidden.parted DEFAULT",
        "INSERT INTO hidden.people VALUES (1)",
        "INSERT INTO hidden.parted VALUES (1)",
        "CREATE TABLE hidden.secured (a int)",
        "ALTER TABLE hidden.secured ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
        "CREATE POLICY few ON hidden.secured USING ((SELECT count(*) FROM hidden.people) < 7)",
        "CREATE ROLE hidden_reader LOGIN PASSWORD 'reader'",
        "GRANT USAGE ON SCHEMA hidden TO hidden_reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA hidden TO hidden_reader",
    )
    address = postgresql.address(user="hidden_reader", password="reader") + "?options=-csearch_path%3Dhidden"
    how = {"quasi_identifiers": ["a"], "row_by_row": True}
    for table in ("people", "parted"):
        assert rows_of(overt.read_database(address, table=table, **how)) == [("1",)]
    with pytest.raises(InvalidInput, match="row security"):
        overt.read_database(address, table="secured", **how)


def test_the_order_of_categories_plays_no_part():
    """Categories that stand twice have no order, and are texts all the same."""
    arrow = pytest.importorskip("pyarrow")
    for categories in (["x", "y"], ["x", "x"], ["x", None]):
        column = arrow.DictionaryArray.from_arrays(arrow.array([0, 1, None]), arrow.array(categories), ordered=True)
        table = overt.read_frame(arrow.table({"a": column}), quasi_identifiers=["a"], row_by_row=True)
        assert rows_of(table) == [("x",), (categories[1],), (None,)]


def test_what_needs_the_whole_table_is_refused_row_by_row(tmp_path):
    path = write_lines(tmp_path / "people.csv", [b"1,2"])
    for more in (
        {"kinds": {"a": "number"}},
        {"hierarchies": {"a": overt.Flat()}},
        {"others": ["b"]},
        {"missing": "drop"},
    ):
        with pytest.raises(InvalidInput, match="leave out hierarchies"):
            overt.read_file(
                path, quasi_identifiers=["a"], sensitive=["b"] if "missing" in more else (), row_by_row=True, **more
            )
    table = overt.read_file(path, quasi_identifiers=["a"], row_by_row=True)
    assert table.row_by_row and not table.others.width
    assert not overt.read_file(path, quasi_identifiers=["a"]).row_by_row
    empty = overt.read_file(write_lines(path, []), quasi_identifiers=["a"], sensitive=["b"], row_by_row=True)
    assert empty.n_rows == 0


def test_missing_marks_are_those_that_are_named_in_every_type():
    frame = pl.DataFrame({"a": [9, 1], "b": ["-", ""]})
    table = overt.read_frame(frame, quasi_identifiers=NAMES, missing_values=["9", "-"], row_by_row=True)
    assert rows_of(table) == [(None, None), ("1", "")]


def test_json_that_is_read_row_by_row_means_what_json_means(tmp_path):
    records = [{"a": "x", "b": 1}, {"b": None}, {"a": 2.5, "b": False, "c": []}]
    path = write_lines(tmp_path / "people.jsonl", [json.dumps(record).encode() for record in records], b"")
    assert read(path) == [("x", "1"), (None, None), ("2.5", "false")]
