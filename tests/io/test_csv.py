# SPDX-License-Identifier: Apache-2.0
"""Separated text, compared with Python's own reader and with broken files."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.io import csv as overt_csv
from overt.io.csv import read_texts
from overt.io.dialect import read_dialect


def rows_of(path, **settings):
    dialect = read_dialect(path, **settings)
    coded = read_texts(path, dialect, dialect.header)
    columns = [coded[name].dictionary.gather(coded[name].codes).to_list() for name in dialect.header]
    return dialect, [list(row) for row in zip(*columns, strict=True)]


def written(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_found(tmp_path, separator):
    other = ";" if separator != ";" else ","
    text = f"name{separator}age\none{other} two{separator}1\n{other}three{other} four{separator}2\n"
    dialect, rows = rows_of(written(tmp_path, text))
    assert dialect.separator == separator and dialect.header == ("name", "age")
    assert rows == [[f"one{other} two", "1"], [f"{other}three{other} four", "2"]]


def test_a_separator_in_every_quoted_text_is_not_the_separator(tmp_path):
    dialect, rows = rows_of(written(tmp_path, 'name,age\n"Roe; Jane",3\n"Doe; John",4\n'))
    assert dialect.separator == "," and rows == [["Roe; Jane", "3"], ["Doe; John", "4"]]


def test_separator_can_be_named(tmp_path):
    dialect, rows = rows_of(written(tmp_path, "a;b:c;d\n1;2:3;4\n"), separator=":")
    assert dialect.header == ("a;b", "c;d") and rows == [["1;2", "3;4"]]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", None), ("utf-8-sig", "utf-8"), ("cp1252", None), ("utf-16", "utf-16-le"), ("utf-16-be", None)],
)
def test_encoding_is_found(tmp_path, encoding, found):
    text = "naïve,age\nJosé €,3\nZoë,4\n"
    content = text.encode(encoding)
    if encoding == "utf-16-be":
        content, found = b"\xfe\xff" + content, "utf-16-be"
    dialect, rows = rows_of(written(tmp_path, content))
    assert dialect.header == ("naïve", "age") and dialect.encoding == found
    assert rows == [["José €", "3"], ["Zoë", "4"]]


def test_one_late_byte_makes_the_whole_file_windows_1252(tmp_path):
    lines = ["city,age", *(f"Bern,{i % 90}" for i in range(60_000)), "Z\xfcrich,3"]
    rows = rows_of(written(tmp_path, "\n".join(lines).encode("latin-1")))[1]
    assert rows[-1] == ["Zürich", "3"] and len(rows) == 60_001


def test_bytes_that_windows_1252_lacks_are_latin_1(tmp_path):
    assert rows_of(written(tmp_path, b"a,b\n\x81\xe9,1\n"))[1] == [["\x81é", "1"]]


def test_named_encoding_is_used(tmp_path):
    path = written(tmp_path, "a,b\nпривет,1\n".encode("koi8-r"))
    assert rows_of(path, encoding="koi8-r")[1] == [["привет", "1"]]
    with pytest.raises(InvalidInput, match="not written in ascii"):
        rows_of(path, encoding="ascii")
    with pytest.raises(InvalidInput, match="no encoding 'utf-9'"):
        rows_of(path, encoding="utf-9")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_line_ends(tmp_path, end, last):
    content = end.join(["a,b", "1,2", "3,", ""]) if last else end.join(["a,b", "1,2", "3,"])
    assert rows_of(written(tmp_path, content))[1] == [["1", "2"], ["3", ""]]


def test_blank_lines_are_skipped_but_a_blank_cell_is_not(tmp_path):
    assert rows_of(written(tmp_path, "\n\na,b\n\n1,2\n\r\n,\n\n"))[1] == [["1", "2"], ["", ""]]
    assert rows_of(written(tmp_path, "a\n1\n\n2\n"))[1] == [["1"], [""], ["2"]]


def test_quotes(tmp_path):
    text = 'a,"b ""x""",c\n"1,2","say ""no""", "blank before" \n"two\nlines",,5" pipe\n"","""",""""""\n'
    dialect, rows = rows_of(written(tmp_path, text))
    assert dialect.header == ("a", 'b "x"', "c")
    assert rows == [["1,2", 'say "no"', "blank before"], ["two\nlines", "", '5" pipe'], ["", '"', '""']]


def test_the_end_mark_of_the_dictionary_may_be_data(tmp_path):
    assert rows_of(written(tmp_path, "a,b\nx\x1fy,1\n\x1f,2\n"))[1] == [["x\x1fy", "1"], ["\x1f", "2"]]


def test_gzip_by_magic_whatever_the_name(tmp_path):
    path = written(tmp_path, gzip.compress(b"a,b\n1,2\n"), "data.txt")
    assert rows_of(path)[1] == [["1", "2"]]
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)[:-20])
    with pytest.raises(InvalidInput, match="damaged gzip"):
        rows_of(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,,c\n1,2,3\n", "Column 2 of data.csv has no name"),
        ("a,b,a\n1,2,3\n", "more than one column 'a'"),
        ("a,b\n1,2\n3\n", "Line 3 of data.csv has 1 field where the header has 2"),
        ("a,b\n\n1,2\n\n3,4,5\n", "Line 5 of data.csv has 3 fields"),
        ('a,b\n"x\ny",2\n3\n', "Line 4 of data.csv has 1 field"),
        ('a,b\n1,2\n1,"x\n5,6\n', "Line 3 of data.csv opens a quote in field 2 that is never closed"),
        ('a,b\n1,"x"y\n', "Line 2 of data.csv has text after the closing quote of field 2"),
        (b"\x00\x01\x02PK", "not a text file"),
    ],
)
def test_broken_files_are_refused_with_the_line(tmp_path, content, message):
    with pytest.raises(InvalidInput, match=message):
        rows_of(written(tmp_path, content))


def test_messages_hold_no_cells(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        rows_of(written(tmp_path, 'name,age\nJane Roe,3\n"Jane Roe,4\n'))
    assert "Jane" not in str(caught.value)


def test_a_field_larger_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(overt_csv, "_BLOCK", 64)
    long = "x" * 1000
    assert rows_of(written(tmp_path, f"a,b\n{long},1\n2,{long}\n"))[1] == [[long, "1"], ["2", long]]


def test_spans_that_begin_inside_a_quoted_field_are_read_again_as_one(tmp_path, monkeypatch):
    monkeypatch.setattr(overt_csv, "_BLOCK", 8)
    monkeypatch.setenv("OVERT_THREADS", "4")
    cell = "\n1,2" * 100
    assert rows_of(written(tmp_path, f'a,b\n"{cell}",x\n3,4\n'))[1] == [[cell, "x"], ["3", "4"]]


texts = st.text(st.sampled_from('ab1é"\n, ;|\tß'), max_size=20).map(lambda text: text.strip(" \t"))


@given(
    st.lists(st.lists(texts, min_size=2, max_size=2), max_size=30),
    st.sampled_from([1, 3]),
    st.sampled_from([8, 64, 1 << 20]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_reads_what_the_standard_writer_writes(tmp_path_factory, rows, n_threads, block, quoting):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=quoting)
    writer.writerows([["a", "b"], *rows])
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overt_csv, "_BLOCK", block)
        patch.setenv("OVERT_THREADS", str(n_threads))
        assert rows_of(path, separator=",")[1] == rows


@given(st.lists(st.text(st.sampled_from("ab\0é"), max_size=40), min_size=1, max_size=60))
def test_numbers_are_those_of_equal_texts(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_bytes(("x,y\n" + "".join(f'"{cell}",1\n' for cell in cells)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERT_THREADS", "1")
        coded = read_texts(path, read_dialect(path, encoding="utf-8", separator=","), ["x"])["x"]
    assert len(coded.dictionary) == len(set(cells))
    assert [coded.dictionary[code] for code in coded.codes.tolist()] == cells
