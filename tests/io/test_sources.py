# SPDX-License-Identifier: Apache-2.0
"""A source is asked, not recognised: files, databases and frames give the same table."""

import hashlib
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.io.intake import Intake
from overt.io.recipe.settings import Input
from overt.io.sources import CatalogSource, DatabaseSource, FileSource, FrameSource, source_named, source_of

PEOPLE = pl.DataFrame({"age": [31, 36, 31, 40], "illness": ["flu", "cold", "flu", "asthma"]})
INTAKE = Intake(quasi_identifiers=["age"], sensitive=["illness"])


@pytest.fixture
def sources(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, illness TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?)", PEOPLE.rows())
    database.close()
    return {
        "file": FileSource(tmp_path / "people.csv"),
        "database": DatabaseSource("./people.db", "people", folder=tmp_path),
        "frame": FrameSource(PEOPLE),
    }


@pytest.mark.parametrize("kind", ["file", "database", "frame"])
def test_every_source_gives_the_same_table(sources, kind):
    source = sources[kind]
    source.require()
    table, _ = source.read(INTAKE)
    assert [column.name for column in table.columns] == ["age", "illness"]
    assert table.column("age").values.to_list() == [31, 36, 40]
    assert table.column("age").codes.tolist() == [0, 1, 0, 2]
    assert isinstance(source.name, str) and isinstance(source.said, str)
    assert source.file is (source if kind == "file" else None)


def test_a_file_is_known_by_its_bytes_and_is_never_replaced(sources, tmp_path):
    source = sources["file"]
    digest = hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    _, find_digest = source.read(INTAKE, with_digest=True)
    assert source.has_bytes and find_digest() == source.digest() == digest
    assert source.files == (tmp_path / "people.csv",)
    assert source.separator() == ","


def test_a_table_is_known_by_its_content(sources, tmp_path):
    source = sources["database"]
    _, find_digest = source.read(INTAKE, with_digest=True)
    assert not source.has_bytes and source.digest() is None and len(find_digest()) == 64
    assert source.files == (tmp_path / "people.db",)  # which is never replaced either
    assert source.base == tmp_path / "people" and not source.base.exists()
    assert source.separator() is None


def test_a_table_of_a_catalog_has_a_name_and_lies_in_no_folder(tmp_path):
    chosen = Input(path="clinic.visits", format="table")
    source = source_of(chosen, tmp_path)
    assert source == CatalogSource("clinic.visits")
    assert (source.file, source.files, source.digest(), source.separator()) == (None, (), None, None)
    assert (source.name, source.said, source.base) == ("clinic.visits", "clinic.visits", Path("clinic.visits"))
    assert source.identity != FileSource(Path("clinic.visits")).identity
    asked = (source.require, source.profile, lambda: source.read(INTAKE), lambda: source.person_of_row("age"))
    for ask in asked:
        with pytest.raises(InvalidInput, match="read by Spark"):
            ask()
    PEOPLE.write_csv(tmp_path / "export.csv")
    assert source_of(chosen, tmp_path, "clinic.copy") == CatalogSource("clinic.copy")
    assert source_of(chosen, tmp_path, tmp_path / "export.csv") == FileSource(tmp_path / "export.csv")


def test_a_frame_lies_nowhere():
    source = FrameSource(PEOPLE)
    assert (source.file, source.files, source.selection, source.catalog_table) == (None, (), None, None)
    assert (source.has_bytes, source.digest(), source.separator()) == (False, None, None)
    with pytest.raises(InvalidInput, match="lies in no folder"):
        _ = source.base  # a path that does not exist would be taken for one
    with pytest.raises(InvalidInput, match="in a file only"):
        source.person_of_row("age")


def test_what_cannot_be_found_is_refused_before_any_work(tmp_path):
    with pytest.raises(InvalidInput, match="There is no file"):
        FileSource(tmp_path / "nothing.csv").require()
    with pytest.raises(InvalidInput, match="There is no environment variable NO_SUCH_DATABASE"):
        DatabaseSource("NO_SUCH_DATABASE", "people").require()


def test_what_a_frame_cannot_do_is_said(sources):
    with pytest.raises(InvalidInput, match="has no digest"):
        sources["frame"].read(INTAKE, with_digest=True)
    with pytest.raises(InvalidInput, match="name the quasi-identifiers with `known`"):
        sources["frame"].profile()


def test_words_name_a_source(tmp_path):
    assert source_named(tmp_path / "people.csv") == FileSource(tmp_path / "people.csv")
    assert source_named("CLINIC", table="people") == DatabaseSource("CLINIC", "people")
    assert source_named(PEOPLE).read(INTAKE)[0].n_rows == 4
