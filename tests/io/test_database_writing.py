# SPDX-License-Identifier: Apache-2.0
"""Writing to real databases: all or nothing, in canonical order, and nothing of others touched."""

import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt.io.database import writing
from overt.io.publication import published_tables
from servers import rows_at

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 30 for i in range(60)],
        'ci"ty; x': ["ABC"[i % 3] for i in range(60)],
        "illness": [["flu", "cold", "asthma", "gout"][i % 4] for i in range(60)],
    }
)
TYPES = pl.DataFrame(
    {
        "i": [2**40, None, -1],
        "small": pl.Series([1, None, 3], dtype=pl.UInt8),
        "long": pl.Series([2**63 + 1, None, 5], dtype=pl.UInt64),
        "f": [0.1 + 0.2, None, -1e300],
        "n": pl.Series([Decimal("0.10"), None, Decimal("-12345678901234567890.12")], dtype=pl.Decimal(38, 2)),
        "d": [date(2024, 2, 29), None, date(1, 1, 1)],
        "ts": [datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime(1066, 10, 14)],
        "tz": [datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), None, datetime(1066, 10, 14, tzinfo=UTC)],
        "paris": pl.Series([datetime(2024, 2, 29, 1), None, datetime(2024, 8, 1)]).dt.replace_time_zone("Europe/Paris"),
        "t": [time(1, 2, 3, 4), None, time(0)],
        "bo": [True, None, False],
        "s": ["quote \" and ' and ü", None, "\\ \n"],
        "e": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "x"])),
        "nul": [None, None, None],
    }
)


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request, tmp_path):
    """An empty database: its address, and what answers queries there."""
    if request.param == "sqlite":
        path = tmp_path / "release.db"

        def rows(sql):
            connection = sqlite3.connect(path)
            found = connection.execute(sql).fetchall()
            connection.commit()
            connection.close()
            return found

        return str(path), rows
    server = request.getfixturevalue("postgresql")
    address = server.schema_address(f"writing_{next(NUMBERS)}")
    return address, lambda sql: rows_at(address, sql)


NUMBERS = count()


def tables_in(database):
    address, rows = database
    if address.startswith("postgresql"):
        return {name for (name,) in rows("SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace")}  # fmt: skip
    return {name for (name,) in rows("SELECT name FROM sqlite_master")}


def people(frame=PEOPLE, **roles):
    roles = {"quasi_identifiers": ["age", 'ci"ty; x'], "sensitive": ["illness"], **roles}
    return overt.read_frame(frame, **roles)


def generalized(table=None):
    return overt.Mondrian(goal=overt.KAnonymity(5)).anonymize(table or people())


def in_buckets(seed=1):
    return overt.Anatomy(goal=overt.FrequencyLDiversity(3)).anonymize(people(), rng=np.random.default_rng(seed))


def test_a_release_is_stored_in_canonical_order(database):
    address, rows = database
    release = generalized()
    assert overt.write_database(release, address, table="released") == ["released"]
    order = "ctid" if address.startswith("postgresql") else "rowid"
    assert rows(f"SELECT * FROM released ORDER BY {order}") == overt.publish(release).rows()
    shuffled = PEOPLE.sample(fraction=1.0, shuffle=True, seed=3)
    overt.write_database(generalized(people(shuffled)), address, table="again")
    assert rows(f"SELECT * FROM again ORDER BY {order}") == rows(f"SELECT * FROM released ORDER BY {order}")


def test_buckets_are_two_tables(database):
    address, rows = database
    release = in_buckets()
    assert overt.write_database(release, address, table="people") == ["people", "people_sensitive"]
    for table, frame in zip(("people", "people_sensitive"), overt.publish(release), strict=True):
        assert rows(f"SELECT * FROM {table}") == frame.rows()


def test_every_type_comes_back(database):
    address, _ = database
    frame = TYPES.with_columns(k=pl.lit(1))
    release = generalized(overt.read_frame(pl.concat([frame] * 2), quasi_identifiers=["k"]))
    overt.write_database(release, address, table="types", others=TYPES.columns)
    back = overt.read_database(address, table="types", quasi_identifiers=["k"]).others
    written = published_tables(release, others=TYPES.columns)["release"]
    sqlite_texts = {"n", "d", "ts", "tz", "bo"} if address.endswith(".db") else set()
    for name in TYPES.columns:
        expected = written.get_column(name)
        if name == "t":
            expected = expected.dt.to_string("%H:%M:%S%.f")
        if name in sqlite_texts | {"paris", "e"} or (name == "long" and sqlite_texts):
            is_moment = isinstance(expected.dtype, pl.Datetime)
            expected = expected.dt.to_string("iso:strict") if is_moment else expected.cast(pl.String)
        assert (name, back.get_column(name).to_list()) == (name, expected.to_list())


@pytest.mark.parametrize(
    "column",
    [pl.Series("x", [[1], [2]] * 30), pl.Series("x", [b"a", b"b"] * 30), pl.Series("x", [{"a": 1}, {"a": 2}] * 30)],
)
def test_cells_that_no_table_holds(database, column):
    address, _ = database
    release = generalized(people(PEOPLE.with_columns(column)))
    with pytest.raises(
        overt.InvalidInput, match="Column 'x' has cells that a table of a database cannot hold; leave it out."
    ):
        overt.write_database(release, address, table="people", others=["x"])
    if address.startswith("postgresql"):
        assert tables_in(database) == set()
    else:
        assert not Path(address).exists()


def test_moments_that_postgresql_would_round(postgresql):
    fine = pl.Series("x", [1, 1000] * 30).cast(pl.Datetime("ns"))
    release = generalized(people(PEOPLE.with_columns(fine)))
    with pytest.raises(overt.InvalidInput, match="Column 'x' has moments finer than a microsecond; round them first."):
        overt.write_database(release, postgresql.address(), table="fine", others=["x"])


def test_what_exists_is_refused_and_nothing_changes(database):
    address, rows = database
    rows("CREATE TABLE people_sensitive (x int)") if address.endswith(".db") else rows(
        "CREATE TABLE people_sensitive ()"
    )
    with pytest.raises(overt.InvalidInput, match="Table 'people_sensitive' exists already in the database"):
        overt.write_database(in_buckets(), address, table="people")
    assert tables_in(database) == {"people_sensitive"}
    with pytest.raises(overt.InvalidInput, match="Table 'people_sensitive' exists with other columns"):
        overt.write_database(in_buckets(), address, table="people", overwrite=True)
    assert tables_in(database) == {"people_sensitive"}


def test_a_view_is_not_overwritten(database):
    address, rows = database
    rows("CREATE TABLE base (x int)")
    rows("CREATE VIEW people AS SELECT x FROM base")
    with pytest.raises(overt.InvalidInput, match="'people' exists in .* and is not a table; name another."):
        overt.write_database(generalized(), address, table="people", overwrite=True)


def test_overwriting_replaces_the_rows(database):
    address, rows = database
    overt.write_database(in_buckets(seed=1), address, table="people")
    before = rows("SELECT * FROM people")
    overt.write_database(in_buckets(seed=2), address, table="people", overwrite=True)
    after = rows("SELECT * FROM people")
    assert len(after) == len(before) == 60
    assert after != before


def test_overwriting_leaves_owner_grants_indexes_and_views(postgresql):
    postgresql.run("CREATE DATABASE granted", "CREATE ROLE reader", "CREATE ROLE keeper")
    address = postgresql.address("granted")
    overt.write_database(generalized(), address, table="people")
    postgresql.run(
        "GRANT SELECT ON people TO reader",
        "ALTER TABLE people OWNER TO keeper",
        "CREATE INDEX ages ON people (age)",
        "CREATE VIEW young AS SELECT * FROM people",
        "COMMENT ON TABLE people IS 'ours'",
        database="granted",
    )
    asked = (
        "SELECT relacl::text, relowner::regrole::text, oid::int8, obj_description(oid, 'pg_class'), relhasindex "
        "FROM pg_class WHERE relname = 'people'"
    )
    before = postgresql.rows(asked, "granted")
    assert "reader=r" in before[0][0] and before[0][1] == "keeper"
    overt.write_database(generalized(), address, table="people", overwrite=True)
    assert postgresql.rows(asked, "granted") == before
    assert postgresql.rows("SELECT count(*) FROM young", "granted") == [(60,)]


@pytest.mark.parametrize("error", [RuntimeError("disk"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("place", ["_insert", "read_release_table"])
def test_an_error_in_the_middle_leaves_nothing(database, monkeypatch, place, error):
    address, _ = database
    step, steps = getattr(writing, place), count()

    def fail_at_the_second(*arguments):
        if next(steps) == 1:
            raise error
        return step(*arguments)

    monkeypatch.setattr(writing, place, fail_at_the_second)
    with pytest.raises(type(error)):
        overt.write_database(in_buckets(), address, table="people")
    if address.startswith("postgresql"):
        assert tables_in(database) == set()
    else:
        assert list(Path(address).parent.iterdir()) == []


def test_an_error_in_the_middle_leaves_what_was_there(database, monkeypatch):
    address, rows = database
    overt.write_database(in_buckets(), address, table="people")
    before = [rows("SELECT * FROM people"), rows("SELECT * FROM people_sensitive")]
    insert, steps = writing._insert, count()

    def fail_at_the_second(*arguments):
        if next(steps) == 1:
            raise RuntimeError
        insert(*arguments)

    monkeypatch.setattr(writing, "_insert", fail_at_the_second)
    with pytest.raises(RuntimeError):
        overt.write_database(in_buckets(seed=2), address, table="people", overwrite=True)
    assert [rows("SELECT * FROM people"), rows("SELECT * FROM people_sensitive")] == before


KILLED = """
import os, signal, sys
import numpy as np, polars as pl, overt
from overt.io.database import writing
insert, steps = writing._insert, []
def die_at_the_second(*arguments):
    insert(*arguments)
    steps.append(1)
    if len(steps) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
writing._insert = die_at_the_second
people = pl.DataFrame({"age": range(60), "illness": ["flu", "cold", "gout"] * 20})
table = overt.read_frame(people, quasi_identifiers=["age"], sensitive=["illness"])
release = overt.Anatomy(goal=overt.FrequencyLDiversity(3)).anonymize(table, rng=np.random.default_rng(1))
overt.write_database(release, sys.argv[1], table="killed")
"""


def test_a_killed_process_leaves_nothing(database):
    address, rows = database
    if address.endswith(".db"):
        rows("CREATE TABLE there (x)")
    done = subprocess.run([sys.executable, "-c", KILLED, address], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert tables_in(database) <= {"there"}


def test_schemas_and_odd_names(postgresql):
    postgresql.run("CREATE DATABASE odd")
    postgresql.run('CREATE SCHEMA "o.d""d"', database="odd")
    address = postgresql.address("odd")
    assert overt.write_database(in_buckets(), address, table='"o.d""d"."ta; ble"') == [
        '"o.d""d".ta; ble',
        '"o.d""d".ta; ble_sensitive',
    ]
    assert postgresql.rows('SELECT count(*) FROM "o.d""d"."ta; ble_sensitive"', "odd") == [(60,)]
    table = overt.read_database(address, table='"o.d""d"."ta; ble"', quasi_identifiers=['ci"ty; x'])
    assert table.n_rows == 60
    with pytest.raises(
        overt.InvalidInput, match='Table nowhere.people is not understood by .*: schema "nowhere" does not exist'
    ):
        overt.write_database(in_buckets(), address, table="nowhere.people")


def test_names_that_would_be_cut_off(postgresql):
    long = "x" * 64
    release = generalized(people(PEOPLE.rename({"age": long}), quasi_identifiers=[long]))
    with pytest.raises(overt.InvalidInput, match="is longer than the 63 bytes of a name in PostgreSQL; shorten it"):
        overt.write_database(release, postgresql.address(), table="long_names")
    with pytest.raises(overt.InvalidInput, match="is longer than the 63 bytes of a name in PostgreSQL; shorten it"):
        overt.write_database(generalized(), postgresql.address(), table="é" * 32)


def test_names_that_sqlite_cannot_tell_apart(tmp_path):
    release = generalized(people(PEOPLE.rename({"illness": "AGE"}), sensitive=["AGE"]))
    with pytest.raises(overt.InvalidInput, match="SQLite cannot tell column 'age' from another that differs in case"):
        overt.write_database(release, tmp_path / "x.db", table="people")
    assert list(tmp_path.iterdir()) == []


def test_no_folder_for_a_new_file(tmp_path):
    with pytest.raises(overt.InvalidInput, match="There is no folder .* to make people.db in; make it first."):
        overt.write_database(generalized(), tmp_path / "none" / "people.db", table="people")


@pytest.mark.parametrize(
    "body", ["IF NEW.illness = 'gout' THEN RETURN NULL; END IF; RETURN NEW;", "NEW.illness = 'flu'; RETURN NEW;"]
)
def test_a_trigger_that_changes_rows_is_noticed(postgresql, body):
    address = postgresql.schema_address(f"ruled_{next(NUMBERS)}")
    overt.write_database(generalized(), address, table="people")
    before = rows_at(address, "SELECT * FROM people")
    rows_at(address, f"CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {body} END$$")
    rows_at(address, "CREATE TRIGGER spoiling BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION spoil()")
    with pytest.raises(overt.InvalidInput, match="Table people does not hold what was written to it"):
        overt.write_database(generalized(), address, table="people", overwrite=True)
    assert rows_at(address, "SELECT * FROM people") == before


def test_a_user_who_may_not_write(postgresql):
    postgresql.run("CREATE DATABASE guarded")
    postgresql.run(
        "CREATE ROLE guest LOGIN PASSWORD 'guest'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC", database="guarded"
    )
    address = postgresql.address("guarded", user="guest", password="guest")
    with pytest.raises(
        overt.InvalidInput, match=r"Table people in the database .* may not be done by this user; .* \(SQLSTATE 42501\)"
    ):
        overt.write_database(generalized(), address, table="people")
