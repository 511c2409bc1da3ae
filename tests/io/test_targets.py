# SPDX-License-Identifier: Apache-2.0
"""A target is asked, not recognised: a release goes to files or to tables of a database, whole or not at all."""

import hashlib

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.io.database.address import TableName
from overt.io.sources import FileSource
from overt.io.targets import DatabaseTarget, FileTarget, Replaced

TABLES = {
    "quasi-identifiers": pl.DataFrame({"bucket": [1, 1], "age": ["31", "36"]}),
    "sensitive": pl.DataFrame({"bucket": [1, 1], "illness": ["cold", "flu"]}),
}


@pytest.fixture(params=["files", "database"])
def target(request, tmp_path):
    (tmp_path / "people.csv").write_text("age,illness\n31,flu\n36,cold\n")
    if request.param == "files":
        return FileTarget(tmp_path / "release.csv")
    return DatabaseTarget("./public.db", TableName.parse("release"), tmp_path)


def writing(target, tmp_path, **options):
    source = FileSource(tmp_path / "people.csv")
    how = {"source": source, "row_by_row": False, "overwrite": False, "going": Replaced(), **options}
    return target.writing(TABLES, **how)


def test_what_is_written_is_read_back(target, tmp_path):
    told = {}

    def companions(digests):
        told.update(digests)
        return {tmp_path / "beside.json": b"{}"}

    with writing(target, tmp_path) as finish:
        assert not any(target.is_there(place) for place in target.places(TABLES).values() if target.has_bytes)
        finish(companions)
    places = target.places(TABLES)
    assert [target.name_of(place).replace("_", ".").removesuffix(".csv") for place in places.values()] == [
        "release",
        "release.sensitive",
    ]
    assert all(target.is_there(place) for place in places.values())
    read, found = target.read(places)
    assert {name: table.cast(pl.String).rows() for name, table in read.items()} == {
        name: table.cast(pl.String).rows() for name, table in TABLES.items()
    }
    digests = {**target.digests(places), **found}
    assert {name: digests[place] for name, place in places.items()} == told
    assert (tmp_path / "beside.json").read_bytes() == b"{}"


def test_nothing_is_written_unless_it_is_finished(target, tmp_path):
    before = sorted(tmp_path.iterdir())
    with writing(target, tmp_path):
        pass
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_is_written_if_what_lies_beside_cannot_be(target, tmp_path):
    before = sorted(tmp_path.iterdir())

    def companions(digests):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"), writing(target, tmp_path) as finish:
        finish(companions)
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_there_is_replaced_only_if_that_is_asked_for(target, tmp_path):
    with writing(target, tmp_path) as finish:
        finish(lambda digests: {})
    how = {"source": FileSource(tmp_path / "people.csv"), "never": []}
    with pytest.raises(InvalidInput, match="exists already"):
        target.refuse_taken(target.places(TABLES).values(), [], overwrite=False, **how)
    target.refuse_taken(target.places(TABLES).values(), [], overwrite=True, **how)


def test_a_release_of_one_table_takes_the_values_of_the_one_before_with_it(target, tmp_path):
    with writing(target, tmp_path) as finish:
        finish(lambda digests: {})
    named = {name: target.seen_from(tmp_path, place) for name, place in target.places(TABLES).items()}
    gone = target.replaced(named["sensitive"], "a" * 64, never=[])
    assert gone.files or gone.tables
    assert target.replaced("somebody-else.csv", "a" * 64, never=[]) == Replaced()


def test_places_are_found_again_by_what_a_manifest_calls_them(target, tmp_path):
    places = target.places(TABLES)
    named = {name: target.seen_from(tmp_path, place) for name, place in places.items()}
    assert target.recorded(named, tmp_path / "release.csv") == places
    assert target.at("elsewhere").places(("release",)) != target.places(("release",))


def test_files_are_compared_byte_for_byte(tmp_path):
    (tmp_path / "people.csv").write_text("age\n31\n")
    target = FileTarget(tmp_path / "release.csv")
    with writing(target, tmp_path) as finish:
        finish(lambda digests: {})
    place = target.places(TABLES)["quasi-identifiers"]
    assert target.digests({"quasi-identifiers": place})[place] == hashlib.sha256(place.read_bytes()).hexdigest()
    assert not target.differs(place, TABLES["quasi-identifiers"], tmp_path, separator=",")
    place.write_bytes(place.read_bytes() + b"\n")
    assert target.differs(place, TABLES["quasi-identifiers"], tmp_path, separator=",")
