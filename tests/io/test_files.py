# SPDX-License-Identifier: Apache-2.0
"""Files in every format, in and out."""

import errno
import gzip
import hashlib
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.io import files
from overt.io.files import dialect_of, digest, read_file, read_release, write_tables, writing_tables
from overt.io.formats import find_format, write_frame
from overt.io.publication import published_tables
from overt.partition import Partition
from overt.release import GeneralizedRelease
from overt.table import Kind

FRAME = pl.DataFrame(
    {
        "id": ["x1", "x2", "x3", "x4"],
        "age": [31, None, 36, 40],
        "height": [1.5, 1.75, 2.0, None],
        "born": [date(2000, 1, 31), None, date(1999, 12, 1), date(1980, 5, 5)],
        "job": ["a; b", 'say "hi"', "ä, ö", None],
        "note": ["  kept ", "x", "y", "z"],
        "ill": ["flu", "cold", "flu", "hiv"],
    }
)
ROLES = {"quasi_identifiers": ["age", "height", "born", "job"], "sensitive": ["ill"], "identifiers": ["id"]}
NAMES = ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.jsonl", "t.jsonl.gz"]


def cells(table, name):
    column = table.column(name)
    return [column.values[code] for code in column.codes.tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_comes_back(tmp_path, name):
    path = tmp_path / name
    write_tables({path: FRAME})
    table = read_file(path, **ROLES, kinds={"born": "date"})
    assert table.identifiers == ("id",) and table.order == tuple(FRAME.columns)
    assert [column.kind for column in table.quasi_identifiers] == [Kind.NUMBER, Kind.NUMBER, Kind.DATE, Kind.CATEGORY]
    for column in table.columns:
        assert cells(table, column.name) == FRAME[column.name].to_list()
        assert column.values.drop_nulls().is_sorted()
    assert table.others.to_dict(as_series=False) == {"note": FRAME["note"].to_list()}
    assert read_file(path, **ROLES, others=[]).others.width == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_release_comes_back_as_text(tmp_path, name):
    path = tmp_path / name
    table = read_file(_csv(tmp_path), **ROLES)
    release = GeneralizedRelease(table, Partition.from_groups([[3, 1], [0, 2]]), made_by=None)
    published = published_tables(release)["release"]
    digests = write_tables({path: published})
    assert digests == {path: digest(path)} == {path: hashlib.sha256(path.read_bytes()).hexdigest()}
    back = read_release(path)
    assert back.columns == published.columns == ["age", "height", "born", "job", "ill"]
    assert back.cast(pl.String).equals(published.cast(pl.String))


def _csv(folder):
    path = folder / "source.csv"
    FRAME.write_csv(path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_same_table_gives_the_same_bytes(tmp_path, name):
    first, second = tmp_path / f"1{name}", tmp_path / f"2{name}"
    write_tables({first: FRAME})
    write_tables({second: FRAME})
    assert first.read_bytes() == second.read_bytes()


def test_moments_are_written_in_iso(tmp_path):
    frame = pl.DataFrame({"at": [datetime(2024, 1, 2, 3, 4, 5)]})
    for name in ("t.csv", "t.parquet"):
        write_tables({tmp_path / name: frame})
        assert read_release(tmp_path / name)["at"].to_list() == ["2024-01-02T03:04:05.000000"]


def test_a_separator_may_be_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    write_tables({path: pl.DataFrame({"a": ["x;y"], "b": [1]})}, separator=";")
    assert path.read_text() == 'a;b\n"x;y";1\n' and dialect_of(path).separator == ";"


def test_census_traps_are_ordinary_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("origin;country\nNA;?\nCuban;Peru\n")
    table = read_file(path, quasi_identifiers=["origin", "country"])
    assert cells(table, "origin") == ["NA", "Cuban"] and cells(table, "country") == ["?", "Peru"]
    table = read_file(path, quasi_identifiers=["origin", "country"], missing_values=["?"])
    assert cells(table, "country") == [None, "Peru"] and cells(table, "origin") == ["NA", "Cuban"]


def test_blanks_around_cells_are_no_part_of_encoded_values_but_of_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age , job, note\n 31, a , b \n31 ,a, c\n")
    table = read_file(path, quasi_identifiers=["age", "job"])
    assert table.column("age").values.to_list() == [31] and table.column("job").values.to_list() == ["a"]
    assert table.others["note"].to_list() == [" b ", " c"]


def test_identifiers_and_unwanted_columns_are_not_read(tmp_path, monkeypatch):
    wanted = []
    read_texts = files.read_texts
    monkeypatch.setattr(
        files,
        "read_texts",
        lambda path, dialect, names, *rest: wanted.extend(names) or read_texts(path, dialect, names, *rest),
    )
    read_file(_csv(tmp_path), **ROLES, others=[])
    assert wanted == ["age", "height", "born", "job", "ill"]


def test_tables_and_companions_appear_together(tmp_path):
    first, second, manifest = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "m.json"
    given = {}

    def companions(digests):
        assert not first.exists()
        given.update(digests)
        return {manifest: b"{}"}

    digests = write_tables({first: FRAME, second: FRAME}, companions=companions)
    assert given == {first: digest(first), second: digest(second)}
    assert digests == {**given, manifest: digest(manifest)}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_if_a_companion_fails(tmp_path, error):
    def companions(digests):
        raise error

    with pytest.raises(error):
        write_tables({tmp_path / "a.csv": FRAME, tmp_path / "b.parquet": FRAME}, companions=companions)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_if_the_second_table_cannot_be_written(tmp_path):
    nested = pl.DataFrame({"a": [[1], [2]]})
    with pytest.raises(InvalidInput, match="Column 'a' has cells that a csv file cannot hold"):
        write_tables({tmp_path / "a.csv": FRAME, tmp_path / "b.csv": nested})
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_not_overwritten_unless_asked(tmp_path):
    path = tmp_path / "a.csv"
    write_tables({path: FRAME})
    with pytest.raises(InvalidInput, match="exists already"):
        write_tables({path: FRAME})
    write_tables({path: FRAME}, overwrite=True)


@pytest.mark.parametrize(
    ("name", "content", "asked", "message"),
    [
        ("t.parquet", b"PAR1 and then nothing", None, "cannot be read as parquet"),
        ("t.arrow", b"ARROW1 and then nothing", None, "cannot be read as arrow"),
        ("t.jsonl", b'{"age": 3}\n{"age": secret\n', None, "cannot be read as jsonl"),
        ("t.jsonl.gz", gzip.compress(b'{"age": 3}\n', mtime=0)[:-9], None, "damaged gzip"),
        ("t.csv", b"PAR1\0\0", None, "not a text file"),
        ("t.csv", b"age\n3\n", "lotus", "no format 'lotus'; the formats are csv, parquet, arrow, jsonl, excel"),
        ("t.csv", b"age\n", None, "no rows"),
        ("t.csv", b"sex\nf\n", None, "no column 'age'; the columns are 'sex'"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, asked, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=message) as caught:
        read_file(tmp_path / name, quasi_identifiers=["age"], format=asked)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_not_there():
    with pytest.raises(InvalidInput, match="no file nowhere.csv"):
        read_file("nowhere.csv", quasi_identifiers=["age"])


def test_format_is_found_by_name_or_by_the_first_bytes(tmp_path):
    for name, found in (
        ("a.CSV", "csv"),
        ("a.tsv.gz", "csv"),
        ("a.pq", "parquet"),
        ("a.feather", "arrow"),
        ("a.ndjson", "jsonl"),
    ):
        assert find_format(Path(name)) == found
    for found in ("csv", "parquet", "arrow", "jsonl"):
        write_tables({tmp_path / f"t.{found}": FRAME})
        nameless = (tmp_path / f"t.{found}").rename(tmp_path / f"nameless {found}")
        assert find_format(nameless) == found
    with pytest.raises(InvalidInput, match=r"'a.sav' does not say a format"):
        write_tables({tmp_path / "a.sav": FRAME})
    with pytest.raises(InvalidInput, match="leave .gz out"):
        write_tables({tmp_path / "a.parquet.gz": FRAME})


def test_arrow_streams_are_read(tmp_path):
    FRAME.write_ipc_stream(tmp_path / "t.arrow")
    assert read_file(tmp_path / "t.arrow", **ROLES).n_rows == 4


def test_tables_that_are_written_meanwhile_appear_when_all_is_decided(tmp_path):
    path = tmp_path / "t.csv"
    with writing_tables({path: FRAME}) as finish:
        assert not path.exists()
        digests = finish(lambda digests: {tmp_path / "note": digests[path].encode()})
        assert not path.exists()
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", "note"}
    assert (tmp_path / "note").read_text() == digests[path] == digest(path)


def test_tables_that_are_written_meanwhile_never_appear_unless_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    with writing_tables({path: FRAME}):
        pass
    with pytest.raises(KeyboardInterrupt), writing_tables({path: FRAME}) as finish:
        finish(lambda digests: {})
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_a_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InvalidInput, match="xlsx"), writing_tables({tmp_path / "t.xlsx": FRAME}):
        pytest.fail("should have been refused")
    assert list(tmp_path.iterdir()) == []


def test_a_release_whose_texts_hold_zero_bytes_is_read_as_it_was_written(tmp_path):
    frame = pl.DataFrame({"a": ["x\0y", "\0", "z"]})
    write_tables({tmp_path / "release.csv": frame})
    assert read_release(tmp_path / "release.csv").get_column("a").cast(pl.String).to_list() == ["x\0y", "\0", "z"]
    (tmp_path / "utf-16.csv").write_bytes("a\nx\n".encode("utf-16-le"))
    with pytest.raises(InvalidInput, match="is not a text file: it has zero bytes"):
        read_file(tmp_path / "utf-16.csv", quasi_identifiers=["a"])


@pytest.mark.parametrize("file_format", ["parquet", "arrow", "jsonl", "csv"])
def test_a_disk_without_room_is_said_by_the_system_in_every_format(tmp_path, file_format):
    resource = pytest.importorskip("resource", reason="needs limits of POSIX")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (7, before[1]))
    try:
        with pytest.raises(OSError) as caught:
            write_frame(
                pl.DataFrame({"a": list(range(5000))}),
                tmp_path / "a",
                file_format=file_format,
                compress=False,
                separator=",",
                neutralise_formulas=False,
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize("content", [b"a,b\rc,d\n1,2,3,4\n", b"\ra\r,b\n1,2\n", b'"a\r",b\n1,2\n'])
def test_a_carriage_return_among_the_names_is_read_or_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    try:
        assert len(dialect_of(path).header) == 2
    except InvalidInput as error:
        assert "carriage return" in str(error) or "no name" in str(error)
