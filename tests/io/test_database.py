# SPDX-License-Identifier: Apache-2.0
"""Reading from real databases: what every type becomes, what is refused, and that nothing is changed."""

import signal
import sqlite3
import sys
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt
from overt.io.database.address import TableName, find_address, holds_password, quote
from overt.io.database.connection import reading
from overt.io.database.reading import read_columns, read_release_table
from overt.io.database.selection import Selection
from overt.table import Kind

NASTY = '"odd.schema"."na""sty; t"'


@pytest.fixture(scope="module")
def nasty(postgresql):
    """A table with a column of every type that could be misread, two rows and odd names; the address of its database."""
    postgresql.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
        "CREATE DOMAIN count AS int CHECK (VALUE > 0)",
        "CREATE DOMAIN counts AS count",
        "CREATE TYPE pair AS (a int, b text)",
        "CREATE CAST (bytea AS xml) WITHOUT FUNCTION",  # a server without libxml has the type and cannot read it from text
        'CREATE SCHEMA "odd.schema"',
        f"CREATE TABLE {NASTY} (id uuid, n numeric, m money, i interval, j json, jb jsonb, ts timestamp, tz timestamptz, d date, "
        "t time, ttz timetz, arr int[], b bytea, e mood, bo boolean, c char(5), v varchar(10), f4 real, f8 double precision, "
        'i2 smallint, i8 bigint, ip inet, dom counts, rng int4range, xm xml, p pair, o oid, "we""ird; "" col" text, nul text)',
        f"INSERT INTO {NASTY} VALUES "
        "('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 12.50, '12.34', '1 mon 2 days', '{\"a\": 1}', '{\"b\":2}', "
        "'2024-01-02 03:04:05.678', '2024-01-02 03:04:05+02', '2024-02-29', '12:34', '12:34+01', '{1,2}', '\\xdead', 'ok', true, "
        "'ab', 'abc', 0.1, 0.5, 1, 9007199254740993, '10.0.0.1', 5, '[1,5)', '<a/>'::bytea::xml, ROW(1,'x'), 99, 'q', NULL), "
        "('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', 'NaN', '-1.01', '-3 hours', '[]', '{}', "
        "'1066-10-14 00:00', '1066-10-14 00:00+00', '1066-10-14', '00:00', '00:00-05', NULL, '\\x', 'sad', false, "
        "'', '', 'NaN', -0.0, -1, -9007199254740993, '::1', 7, 'empty', NULL, NULL, 0, 'r', NULL)",
    )
    return postgresql.address()


@pytest.fixture
def file(tmp_path):
    """An SQLite file, and what runs statements in it."""

    def run(*statements, rows=()):
        connection = sqlite3.connect(path)
        for sql in statements:
            connection.execute(sql)
        for table, values in rows:
            places = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({places})", values)
        connection.commit()
        connection.close()

    path = tmp_path / "people.db"
    run.path = path
    return run


WITH_ROLE = {  # column -> (kind, values in order, type that goes out)
    "id": (Kind.CATEGORY, [f"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1{i}" for i in (1, 2)], pl.String()),
    "n": (Kind.NUMBER, [12.5, None], pl.Decimal(38, 2)),
    "m": (Kind.NUMBER, [-1.01, 12.34], pl.Decimal(38, 2)),
    "jb": (Kind.CATEGORY, ['{"b": 2}', "{}"], pl.String()),
    "ts": (Kind.DATE, [datetime(1066, 10, 14), datetime(2024, 1, 2, 3, 4, 5, 678000)], pl.Datetime("us")),
    "tz": (
        Kind.DATE,
        [datetime(1066, 10, 14, tzinfo=UTC), datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC)],
        pl.Datetime("us", "UTC"),
    ),
    "d": (Kind.DATE, [date(1066, 10, 14), date(2024, 2, 29)], pl.Date()),
    "e": (Kind.CATEGORY, ["sad", "ok"], pl.Enum(["sad", "ok", "happy"])),
    "bo": (Kind.CATEGORY, ["false", "true"], pl.Boolean()),
    "c": (Kind.CATEGORY, ["ab", None], pl.String()),
    "v": (Kind.CATEGORY, ["abc", None], pl.String()),
    "f4": (Kind.NUMBER, [0.1, None], pl.Float64()),
    "f8": (Kind.NUMBER, [0.0, 0.5], pl.Float64()),
    "i2": (Kind.NUMBER, [-1, 1], pl.Int16()),
    "i8": (Kind.NUMBER, [-9007199254740993, 9007199254740993], pl.Int64()),
    "ip": (Kind.CATEGORY, ["10.0.0.1", "::1"], pl.String()),
    "dom": (Kind.NUMBER, [5, 7], pl.Int32()),
    "o": (Kind.NUMBER, [0, 99], pl.Int64()),
    'we"ird; " col': (Kind.CATEGORY, ["q", "r"], pl.String()),
    "nul": (Kind.CATEGORY, [None], pl.String()),
}
AS_IT_IS = {
    "i": ["P1M2D", "PT-3H"],
    "j": ['{"a": 1}', "[]"],
    "t": ["12:34:00", "00:00:00"],
    "ttz": ["12:34:00+01", "00:00:00-05"],
    "arr": ["{1,2}", None],
    "b": ["\\xdead", "\\x"],
    "rng": ["[1,5)", "empty"],
    "xm": ["<a/>", None],
    "p": ["(1,x)", None],
}
REFUSED = {
    "i": 'Select EXTRACT(EPOCH FROM "i") in a query for seconds',
    "j": 'Select "j"::jsonb in a query',
    "t": 'Select EXTRACT(HOUR FROM "t") in a query',
    "ttz": 'Select EXTRACT(HOUR FROM "ttz") in a query',
    "arr": 'is of type int4[]: it holds several values. Select one of them in a query, such as "arr"[1]',
    "b": "select encode(\"b\", 'hex') in a query",
    "rng": 'or "rng"::text for a category',
    "xm": 'or "xm"::text for a category',
    "p": "is of type pair",
}


NO_DAY = "Column 'x' has days that are infinite, before the year 1 or after the year 9999 in 1 rows"


def test_types_of_postgresql_with_a_role(nasty):
    table = overt.read_database(nasty, table=NASTY, quasi_identifiers=list(WITH_ROLE), others=[])
    for name, (kind, values, dtype) in WITH_ROLE.items():
        column = table.column(name)
        assert (name, column.kind, column.values.to_list(), column.dtype) == (name, kind, values, dtype)


def test_types_of_postgresql_without_a_role(nasty):
    table = overt.read_database(nasty, table=NASTY, quasi_identifiers=["d"])
    for name, cells in AS_IT_IS.items():
        assert (name, table.others.get_column(name).to_list()) == (name, cells)
    numbers = table.others.select("m", "n", "f8")
    assert numbers.get_column("m").to_list() == [Decimal("12.34"), Decimal("-1.01")]
    assert numbers.get_column("n").to_list() == ["12.50", "NaN"]  # exact, and NaN stays


@pytest.mark.parametrize("name", REFUSED)
def test_a_type_that_cannot_have_a_role_is_refused_with_what_to_do(nasty, name):
    with pytest.raises(overt.InvalidInput) as refused:
        overt.read_database(nasty, table=NASTY, quasi_identifiers=[name])
    assert str(refused.value).startswith(f"Column {name!r} is of type ")
    assert REFUSED[name] in str(refused.value)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("'Infinity'::numeric", "Column 'x' is infinite in 1 rows, which is no number to generalize"),
        ("'-Infinity'::float8", "Column 'x' is infinite in 1 rows, which is no number to generalize"),
        ("'infinity'::date", NO_DAY),
        ("'-infinity'::timestamptz", NO_DAY),
        ("'0044-03-15 BC'::date", NO_DAY),
        ("'12345-01-01'::timestamp", NO_DAY),
        ("123456789012345678901234567890.1", "more digits than a 64-bit number holds"),
        ("1e50::numeric", "Column 'x' has numbers of 51 digits"),
    ],
)
def test_values_that_nobody_could_generalize(postgresql, value, sentence):
    query = f"SELECT {value} AS x, 1 AS y"
    with pytest.raises(overt.InvalidInput) as refused:
        overt.read_database(postgresql.address(), query=query, quasi_identifiers=["x"])
    assert sentence in str(refused.value)
    if sentence == NO_DAY:  # nor is it released as it is
        with pytest.raises(overt.InvalidInput, match=NO_DAY):
            overt.read_database(postgresql.address(), query=query, quasi_identifiers=["y"])


def test_exact_numbers_stay_exact(postgresql):
    table = overt.read_database(
        postgresql.address(),
        query="SELECT * FROM (VALUES (0.10, 1), (0.30, 2), (-7.00, 3), (NULL, 4)) AS v (x, y)",
        quasi_identifiers=["y"],
        sensitive=["x"],
        missing="drop",
    )
    assert table.column("x").values.to_list() == [-7.0, 0.1, 0.3]
    shown = overt.publish(overt.Mondrian(goal=overt.KAnonymity(3)).anonymize(table))
    assert shown.get_column("x").to_list() == [Decimal("-7.00"), Decimal("0.10"), Decimal("0.30")]


def test_texts_of_another_encoding_arrive_right(postgresql):
    postgresql.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    postgresql.run("CREATE TABLE t (x text)", "INSERT INTO t VALUES (chr(233)), (chr(228))", database="latin")
    table = overt.read_database(postgresql.address("latin"), table="t", quasi_identifiers=["x"])
    assert table.column("x").values.to_list() == ["ä", "é"]


def test_texts_that_are_not_utf8_are_refused(postgresql, file):
    postgresql.run("CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    postgresql.run("CREATE TABLE t (x text)", "INSERT INTO t VALUES (E'\\xff'), ('a')", database="plain")
    file("CREATE TABLE t (x text)", "INSERT INTO t VALUES (CAST(x'ff41' AS TEXT)), ('a')")
    with pytest.raises(
        overt.InvalidInput, match="Table t in the database .* holds texts that are not UTF-8; repair them."
    ):
        overt.read_database(postgresql.address("plain"), table="t", quasi_identifiers=["x"])
    with pytest.raises(overt.InvalidInput, match="Column 'x' has texts that are not UTF-8; repair them"):
        overt.read_database(file.path, table="t", quasi_identifiers=["x"])


def test_a_large_result_arrives_in_batches(postgresql):
    batches = []
    table = overt.read_database(
        postgresql.address(),
        query="SELECT i % 1000 AS x, repeat('x', 90) || i % 7 AS y, NULLIF(i % 3, 0) AS z FROM generate_series(1, 250000) AS i",
        quasi_identifiers=["x", "z"],
        sensitive=["y"],
        on_progress=lambda stage, done, total: batches.append(done),
    )
    assert table.n_rows == 250_000
    assert len(batches) > 2 and batches == sorted(batches)
    assert Counter(table.column("y").codes.tolist()) == Counter(i % 7 for i in range(1, 250_001))
    assert [None if v is None else int(v) for v in table.column("z").values] == [1, 2, None]


def test_a_table_without_rows(postgresql, file):
    postgresql.run("CREATE TABLE nobody (age int, illness text)")
    file("CREATE TABLE nobody (age int, illness text)")
    for database in (postgresql.address(), file.path):
        with pytest.raises(overt.InvalidInput, match="The table has no rows; there is nothing to release."):
            overt.read_database(database, table="nobody", quasi_identifiers=["age"], sensitive=["illness"])


def test_a_query_can_only_read(postgresql, file):
    postgresql.run("CREATE TABLE kept (x int)", "INSERT INTO kept VALUES (1)", "CREATE SEQUENCE drawn")
    file("CREATE TABLE kept (x int)", "INSERT INTO kept VALUES (1)")
    for query in (
        "SELECT nextval('drawn') AS x",
        "WITH gone AS (DELETE FROM kept RETURNING x) SELECT x FROM gone",
        "DELETE FROM kept RETURNING x",
        "SELECT 1 AS x; DELETE FROM kept",
        "SELECT x FROM kept) AS a; DROP TABLE kept; SELECT * FROM (SELECT 1 AS x",
    ):
        for database in (postgresql.address(), file.path):
            with pytest.raises(overt.InvalidInput):
                overt.read_database(database, query=query, quasi_identifiers=["x"])
    assert postgresql.rows("SELECT x FROM kept") == [(1,)]
    assert postgresql.rows("SELECT is_called FROM drawn") == [(False,)]
    assert sqlite3.connect(file.path).execute("SELECT x FROM kept").fetchall() == [(1,)]


def test_a_query_may_end_as_people_end_queries(postgresql, file):
    for database in (postgresql.address(), file.path):
        file("CREATE TABLE IF NOT EXISTS t (x int)")
        query = "WITH v AS (SELECT 1 AS x UNION ALL SELECT 2)\nSELECT x FROM v ORDER BY x -- two rows\n ; \n"
        assert overt.read_database(database, query=query, quasi_identifiers=["x"]).n_rows == 2


def test_a_reading_sees_one_state(postgresql, monkeypatch):
    postgresql.run("CREATE TABLE growing AS SELECT i FROM generate_series(1, 10) AS i")
    from overt.io.database import reading as module

    plan = module.plan_columns

    def plan_and_let_others_write(*arguments):
        plans = plan(*arguments)
        postgresql.run("INSERT INTO growing VALUES (11)")
        return plans

    monkeypatch.setattr(module, "plan_columns", plan_and_let_others_write)
    assert overt.read_database(postgresql.address(), table="growing", quasi_identifiers=["i"]).n_rows == 10


MIXED = {  # values -> kind, values of the column
    "whole and fraction": ([1, 0.1, None], Kind.NUMBER, [0.1, 1.0, None]),
    "numbers and an empty text": ([3, "", 7], Kind.NUMBER, [3, 7, None]),
    "fractions and a mark": ([0.1 + 0.2, "?", 7], Kind.CATEGORY, ["0.30000000000000004", "7", "?"]),
    "dates": (["2024-02-29", None, "1066-10-14"], Kind.DATE, [date(1066, 10, 14), date(2024, 2, 29), None]),
    "leading zeros": (["01234", "1234", "9"], Kind.CATEGORY, ["01234", "1234", "9"]),
    "texts and numbers": (["a", 1, 2.5], Kind.CATEGORY, ["1", "2.5", "a"]),
    "zero bytes": (["a\0b", "a", "a"], Kind.CATEGORY, ["a", "a\0b"]),
    "nothing": ([None, None, None], Kind.CATEGORY, [None]),
    "long whole numbers": ([2**62, -(2**62), 5], Kind.NUMBER, [-(2**62), 5, 2**62]),
}


@pytest.mark.parametrize("case", MIXED)
def test_sqlite_types_every_value_by_itself(file, case):
    cells, kind, values = MIXED[case]
    file("CREATE TABLE t (x, y)", rows=[("t", [(cell, i) for i, cell in enumerate(cells)])])
    column = overt.read_database(file.path, table="t", quasi_identifiers=["x"]).column("x")
    assert (column.kind, column.values.to_list()) == (kind, values)
    back = [column.values[int(code)] for code in column.codes]
    assert [None if cell in (None, "") else str(cell) for cell in cells] == [
        None if cell is None else str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)
        for cell in back
    ]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([2**60 + 1, 0.5], "Column 'x' holds integer in 1 rows and real in 1 rows, and 1 whole numbers are too long"),
        ([b"a", "a"], "Column 'x' holds text in 1 rows and blob in 1 rows; bytes cannot be mixed with others"),
        ([b"a", b"b"], "Column 'x' is of type blob: bytes have no order."),
    ],
)
def test_mixtures_that_sqlite_cannot_mean(file, cells, sentence):
    file("CREATE TABLE t (x)", rows=[("t", [(cell,) for cell in cells])])
    with pytest.raises(overt.InvalidInput) as refused:
        overt.read_database(file.path, table="t", quasi_identifiers=["x"])
    assert str(refused.value).startswith(sentence)


def test_sqlite_texts_after_many_nulls(file):
    # the driver takes the type from the first rows, and a column of nulls for one of numbers
    cells = [(None, i) for i in range(70_000)] + [("late", 0), (0.5, 1)]
    file("CREATE TABLE t (x, y)", rows=[("t", cells)])
    table = overt.read_database(file.path, table="t", quasi_identifiers=["x", "y"])
    assert table.n_rows == 70_002
    assert table.column("x").values.to_list() == ["0.5", "late", None]


def test_persons_are_counted_by_the_database(postgresql, file):
    statements = [
        "CREATE TABLE visits (person text, age int)",
        "INSERT INTO visits VALUES ('a', 1), ('b', 2), ('a', 3)",
    ]
    postgresql.run(*statements)
    file(*statements)
    from overt.io.database.reading import read_selection
    from overt.io.intake import Intake

    for database in (postgresql.address(), str(file.path)):
        selection = Selection.of(find_address(database, may_hold_password=True), table="visits")
        intake = Intake(quasi_identifiers=["age"], identifiers=["person"])
        with pytest.raises(overt.InvalidInput, match="'person' of table visits has 2 different values in 3 rows"):
            read_selection(selection, intake, persons=["person"])


def test_names_that_are_not_there(postgresql, file):
    postgresql.run("CREATE TABLE people (age int)", "CREATE SCHEMA clinic", "CREATE TABLE clinic.hidden (x int)")
    file("CREATE TABLE people (age int)")
    with pytest.raises(
        overt.InvalidInput, match=r"There is no table 'People' in the database .*; did you mean 'people'\?"
    ):
        overt.read_database(postgresql.address(), table="People", quasi_identifiers=["age"])
    with pytest.raises(overt.InvalidInput, match=r"There is no table 'hidden' in .*; did you mean 'clinic.hidden'\?"):
        overt.read_database(postgresql.address(), table="hidden", quasi_identifiers=["age"])
    with pytest.raises(overt.InvalidInput, match=r"There is no table 'nobody' in .*; there is 'people'\."):
        overt.read_database(file.path, table="nobody", quasi_identifiers=["age"])
    for database in (postgresql.address(), file.path):
        with pytest.raises(overt.InvalidInput, match="no column 'sex'"):
            overt.read_database(database, table="people", quasi_identifiers=["sex"])
    with pytest.raises(overt.InvalidInput, match='The query is not understood by .*: column "sex" does not exist'):
        overt.read_database(postgresql.address(), query="SELECT sex FROM people", quasi_identifiers=["sex"])
    with pytest.raises(overt.InvalidInput, match="The query is not understood by .*: no such column: sex"):
        overt.read_database(file.path, query="SELECT sex FROM people", quasi_identifiers=["sex"])
    with pytest.raises(overt.InvalidInput, match="gives two columns named 'x'; rename one with AS"):
        overt.read_database(postgresql.address(), query="SELECT 1 AS x, 2 AS x", quasi_identifiers=["x"])


def test_a_value_that_cannot_be_computed_is_not_quoted(postgresql):
    with pytest.raises(overt.InvalidInput) as refused:
        overt.read_database(
            postgresql.address(), query="SELECT x::int AS x FROM (VALUES ('Alice')) AS v (x)", quasi_identifiers=["x"]
        )
    assert "stopped at a value that cannot be converted or computed (SQLSTATE 22P02)" in str(refused.value)
    assert "Alice" not in str(refused.value)


def test_problems_while_rows_arrive(postgresql):
    query = "SELECT 10 / (200000 - i) AS x, repeat('Alice', 30) AS y FROM generate_series(1, 300000) AS i"
    with pytest.raises(overt.InvalidInput, match="stopped at a value that cannot be converted or computed") as refused:
        overt.read_database(postgresql.address(), query=query, quasi_identifiers=["x"])
    assert "Alice" not in str(refused.value)
    with pytest.raises(overt.InvalidInput, match="was stopped by the server: it took too long"):
        overt.read_database(
            f"{postgresql.address()}?options=-cstatement_timeout%3D100",
            query="SELECT pg_sleep(5)::text AS x",
            quasi_identifiers=["x"],
        )


def test_an_interrupt_stops_the_server_too(postgresql):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            overt.read_database(postgresql.address(), query="SELECT pg_sleep(30)::text AS x", quasi_identifiers=["x"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    asked = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()"
    assert postgresql.rows(asked) == [(0,)]


def test_columns_that_cannot_have_a_role_are_not_read_for_a_profile(nasty):
    columns = read_columns(Selection.of(find_address(nasty, may_hold_password=True), table=NASTY))
    assert {name for name, column in columns.items() if column is None} == set(REFUSED)
    assert set(columns) == {*WITH_ROLE, *AS_IT_IS}


ROWS = st.lists(st.tuples(st.sampled_from([None, 0, 1, 2]), st.sampled_from([None, "", "a", "b"])), max_size=6)


@settings(max_examples=25)
@given(ROWS, ROWS, st.randoms())
def test_equal_digests_mean_equal_content(tmp_path_factory, one, other, random):
    path = tmp_path_factory.mktemp("digest") / "d.db"
    shuffled = random.sample(one, len(one))
    with sqlite3.connect(path) as connection:
        for name, rows in (("one", one), ("other", other), ("shuffled", shuffled)):
            connection.execute(f"CREATE TABLE {name} (x INTEGER, y TEXT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE renamed AS SELECT x AS z, y FROM one")
    connection.close()
    with reading(find_address(str(path))) as opened:
        digests = {
            name: read_release_table(opened, TableName(None, name))[1]
            for name in ("one", "other", "shuffled", "renamed")
        }
    assert digests["one"] == digests["shuffled"]
    assert digests["one"] != digests["renamed"]
    assert (digests["one"] == digests["other"]) == (Counter(one) == Counter(other))


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), st.booleans())
def test_any_name_can_be_written_and_read(name, with_schema):
    table = TableName("main" if with_schema else None, name)
    assert TableName.parse(str(table)) == table
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({quote(name)} INTEGER)")
    assert [row[1] for row in connection.execute("PRAGMA table_info(t)")] == [name]
    connection.close()


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a.b.c", 'a"b', '"a', '""', "a..b"])
def test_words_that_name_no_table(text):
    with pytest.raises(overt.InvalidInput, match="is no name of a table"):
        TableName.parse(text)


def test_references(monkeypatch, tmp_path):
    monkeypatch.setenv("A_DB", "postgres://bob:s3cret@host/name")
    monkeypatch.setenv("B_DB", "postgresql+psycopg://host/name")
    monkeypatch.setenv("C_DB", "host=h dbname=d password='s3 cret'")
    monkeypatch.setenv("D_DB", "people.db")
    monkeypatch.setenv("E_DB", "mysql://bob:s3cret@host/name")
    addresses = {name: find_address(name) for name in ("A_DB", "B_DB", "C_DB", "D_DB")}
    assert [address.system for address in addresses.values()] == ["postgresql"] * 3 + ["sqlite"]
    assert addresses["A_DB"].target == "postgresql://bob:s3cret@host/name"
    assert addresses["B_DB"].target == "postgresql://host/name"
    assert "cret" not in repr(addresses) and "cret" not in str(Selection.of(addresses["A_DB"], table="t"))
    assert find_address("people.db", tmp_path).path == tmp_path / "people.db"
    assert find_address("sqlite:///people.db", tmp_path).path == tmp_path / "people.db"
    assert find_address("sqlite:////people.db", tmp_path).target == "/people.db"
    assert find_address("./PEOPLE", tmp_path).path == tmp_path / "PEOPLE"
    assert find_address("service=clinic").system == "postgresql"
    with pytest.raises(overt.InvalidInput, match="E_DB is no address of a PostgreSQL or SQLite database") as refused:
        find_address("E_DB")
    assert "cret" not in str(refused.value)
    with pytest.raises(overt.InvalidInput, match="There is no environment variable F_DB; set it to the address"):
        find_address("F_DB")


@pytest.mark.parametrize(
    "reference",
    [
        "postgresql://bob:s3cret@host/name",
        "postgresql://bob:s3/cr@et@host/name",
        "postgres://host/name?user=bob&password=s3cret",
        "host=h password=s3cret",
        "host=h sslpassword = s3cret",
        "postgresql://host/name?PASSWORD=s3cret",
    ],
)
def test_passwords_are_seen(reference):
    assert holds_password(reference)
    with pytest.raises(overt.InvalidInput, match="An address with a password is not taken from here") as refused:
        find_address(reference)
    assert "cret" not in str(refused.value)


def test_addresses_without_a_password_are_not_suspected():
    for reference in (
        "CLINIC_DB",
        "postgresql://bob@host:5432/name",
        "service=clinic",
        "host=h passfile=/x",
        "people.db",
    ):
        assert not holds_password(reference)


def test_without_the_drivers_one_sentence_says_what_to_install(file, monkeypatch):
    file("CREATE TABLE t (x int)")
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    with pytest.raises(overt.MissingExtra, match=r"install them with `pip install overt\[db\]`"):
        overt.read_database(file.path, table="t", quasi_identifiers=["x"])
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "adbc_driver_manager", None)
    with pytest.raises(overt.MissingExtra, match=r"install them with `pip install overt\[db\]`"):
        overt.read_database(file.path, table="t", quasi_identifiers=["x"])


def test_files_that_are_no_databases(tmp_path):
    (tmp_path / "text.db").write_text("hello\n" * 500)
    with pytest.raises(overt.InvalidInput, match="cannot be opened as an SQLite database"):
        overt.read_database(tmp_path / "text.db", table="t", quasi_identifiers=["x"])
    with pytest.raises(overt.InvalidInput, match="is not there; check the path"):
        overt.read_database(tmp_path / "none.db", table="t", quasi_identifiers=["x"])
    assert not (tmp_path / "none.db").exists()


def test_a_table_or_a_query():
    for given_words in ({}, {"table": "t", "query": "SELECT 1"}):
        with pytest.raises(overt.InvalidInput, match="A database is read by table or by query: name one of the two."):
            overt.read_database("postgresql://h/d", quasi_identifiers=["x"], **given_words)
    with pytest.raises(overt.InvalidInput, match="The query is empty"):
        overt.read_database("postgresql://h/d", query=" ; ", quasi_identifiers=["x"])


def test_a_text_in_a_query_is_not_repeated(tmp_path):
    connection = sqlite3.connect(tmp_path / "people.db")
    connection.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    connection.close()
    query = "SELECT age FROM people WHERE name = 'Bruno' 'Vogel'"
    with pytest.raises(overt.errors.InvalidInput) as caught:
        overt.read_database(tmp_path / "people.db", query=query, quasi_identifiers=["age"])
    assert "Vogel" not in str(caught.value)
    with pytest.raises(overt.errors.InvalidInput, match="no such table: nobody"):
        overt.read_database(tmp_path / "people.db", query="SELECT age FROM nobody", quasi_identifiers=["age"])
