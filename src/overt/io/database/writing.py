# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database_writing.py
"""A release becomes tables of a database, all of them in one transaction.

A table that exists is refused, or, if asked, emptied and filled again: it is never dropped, so its owner, grants,
indexes and views stay. It must then have the columns of the release. Before anything is kept, every table is read back.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.database.address import LONGEST_NAME, Address, TableName, find_address, quote
from overt.io.database.connection import Connection, reading, writing
from overt.io.database.gathering import system_of
from overt.io.database.reading import read_release_table
from overt.io.database.selection import Selection
from overt.io.publication import published_tables
from overt.release import Release

_ROWS_AT_ONCE = 1 << 17
_POSTGRESQL_TYPES = {
    pl.Boolean: "boolean",
    pl.Int8: "smallint",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.UInt8: "smallint",
    pl.UInt16: "integer",
    pl.UInt32: "bigint",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.Date: "date",
    pl.Time: "text",
    pl.String: "text",
}
_WIDER = {
    "smallint": pl.Int16,
    "integer": pl.Int32,
    "bigint": pl.Int64,
    "INTEGER": pl.Int64,
    "REAL": pl.Float64,
}


def write_database(
    release: Release,
    database: str | Path,
    *,
    table: str,
    show: Mapping[str, str] | None = None,
    others: Collection[str] = (),
    overwrite: bool = False,
) -> list[str]:
    """Write a release to a table (one in buckets to two) of PostgreSQL or SQLite, and return the names of the tables.

    Everything happens in one transaction: after an error nothing is there. Rows are in canonical order. `overwrite` empties
    and fills tables that exist already with the same columns.

    >>> import tempfile, overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> release = overt.Mondrian(goal=overt.KAnonymity(4)).anonymize(table)
    >>> write_database(release, Path(tempfile.mkdtemp()) / "public.db", table="people")
    ['people']
    """
    address = find_address(str(database), may_hold_password=True)
    tables = published_tables(release, show=show, others=others)
    names = names_of(TableName.parse(table), tables)
    with written_tables(address, {names[key]: frame for key, frame in tables.items()}, overwrite=overwrite) as written:
        written.commit()
    return list(map(str, names.values()))


def names_of(table: TableName, tables: Collection[str]) -> dict[str, TableName]:
    """Which table each part of a release goes to: the first to `people`, another, "sensitive", to `people_sensitive`."""
    first, *rest = tables
    return {first: table} | {name: table.beside(name) for name in rest}


class Written:
    """Tables that are written and read back, and not kept yet."""

    def __init__(self, connection: Connection, digests: Mapping[TableName, str]) -> None:
        self.connection, self.digests = connection, digests

    def commit(self) -> None:
        """Keep the tables."""
        self.connection.commit()


@contextmanager
def written_tables(
    address: Address,
    tables: Mapping[TableName, pl.DataFrame],
    *,
    overwrite: bool = False,
    source: Selection | None = None,
    going: Mapping[TableName, str] | None = None,
) -> Iterator[Written]:
    """Write tables in a transaction that is kept only if the block commits it. `source` is never replaced.

    `going` are tables of a release that is replaced, with the digests of what they held: those that still do are emptied.
    """
    with writing(address) as connection:
        refuse_taken_tables(connection, tables, overwrite=overwrite, source=source)
        for table, digest in (going or {}).items():
            if table not in tables and not (source is not None and reads_from(connection, source, table)):
                _empty_if_same(connection, table, digest)
        digests = {}
        for table, frame in tables.items():
            _write(connection, table, frame)
            read, digests[table] = read_release_table(connection, table)
            _refuse_changed(table, frame, read)
        yield Written(connection, digests)


def refuse_taken_tables(
    connection: Connection, tables: Collection[TableName], *, overwrite: bool, source: Selection | None = None
) -> None:
    """Refuse tables that exist, unless they may be overwritten; and always what the release was read from."""
    for table in tables:
        found = system_of(connection).table_columns(connection, table)
        if found is None:
            continue
        if found[0] not in ("r", "p", "table"):
            raise InvalidInput(f"{str(table)!r} exists in {connection.address.said} and is not a table; name another.")
        if source is not None and reads_from(connection, source, table):
            raise InvalidInput(
                f"Table {str(table)!r} is read by this recipe and would be replaced; give [output] another."
            )
        if not overwrite:
            raise InvalidInput(
                f"Table {str(table)!r} exists already in the database {connection.address.said}; add --overwrite to empty and "
                "fill it, or give [output] another table."
            )


def reads_from(connection: Connection, source: Selection, table: TableName) -> bool:
    """Whether a table is what was read, as far as can be seen: of a query, whether it speaks of the table."""
    if not _is_same_database(connection, source.database):
        return False
    if source.query is not None:
        return table.name.lower() in source.query.lower()
    if source.table is None or source.table.name.lower() != table.name.lower():
        return False
    return source.table.schema is None or table.schema is None or source.table.schema == table.schema


def types_of(connection: Connection, frame: pl.DataFrame) -> dict[str, str]:
    """The type that each column has in the database."""
    is_sqlite = connection.address.system == "sqlite"
    return {
        name: (_sqlite_type if is_sqlite else _postgresql_type)(name, dtype) for name, dtype in frame.schema.items()
    }


def _write(connection: Connection, table: TableName, frame: pl.DataFrame) -> None:
    """Make or empty the table, and fill it some rows at a time."""
    system, what = system_of(connection), f"table {table}"
    types = types_of(connection, frame)
    _refuse_names(connection, types, [part for part in (table.schema, table.name) if part])
    found = system.table_columns(connection, table)
    if found is None:
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
        connection.run(f"CREATE TABLE {table.quoted} ({columns})", what)
    else:
        if found[1] != list(types.items()):
            raise InvalidInput(
                f"Table {str(table)!r} exists with other columns ({', '.join(f'{name} {kind}' for name, kind in found[1])}) than the "
                f"release has ({', '.join(f'{name} {kind}' for name, kind in types.items())}); drop it first, or name another."
            )
        _empty(connection, table)
    for first in range(0, frame.height, _ROWS_AT_ONCE):
        part = frame.slice(first, _ROWS_AT_ONCE).select(
            _as_type(column, types[column.name]) for column in frame.slice(first, _ROWS_AT_ONCE)
        )
        _insert(connection, table, part, what)


def _empty(connection: Connection, table: TableName) -> None:
    empty = "TRUNCATE TABLE" if connection.address.system == "postgresql" else "DELETE FROM"
    connection.run(f"{empty} {table.quoted}", f"table {table}")


def _empty_if_same(connection: Connection, table: TableName, digest: str) -> None:
    """Empty a table that is there and holds what a manifest says; one with other rows is somebody else's."""
    found = system_of(connection).table_columns(connection, table)
    if found is not None and found[0] in ("r", "p", "table") and read_release_table(connection, table)[1] == digest:
        _empty(connection, table)


def _refuse_changed(table: TableName, frame: pl.DataFrame, read: pl.DataFrame) -> None:
    """Compare what a table holds with what was written, cell by cell: drivers before 1.11 lost the points of decimals."""
    same = (read.height, read.columns) == (frame.height, frame.columns)
    for first in range(0, frame.height if same else 0, _ROWS_AT_ONCE):
        for name in frame.columns:
            written = _as_text(frame.get_column(name)[first : first + _ROWS_AT_ONCE])
            same &= written.equals(read.get_column(name)[first : first + _ROWS_AT_ONCE].cast(pl.String))
    if not same:
        raise InvalidInput(
            f"Table {table} does not hold what was written to it: a trigger or rule of the database, or its driver, changes rows. "
            "Nothing was kept; name another table."
        )


def _insert(connection: Connection, table: TableName, part: pl.DataFrame, what: str) -> None:
    if connection.address.system == "sqlite":
        places = ", ".join("?" * part.width)
        connection.insert(part, f"INSERT INTO {table.quoted} VALUES ({places})", what)
        return
    options = {"adbc.ingest.target_table": table.name, "adbc.ingest.mode": "adbc.ingest.mode.append"}
    if table.schema is not None:
        options["adbc.ingest.target_db_schema"] = table.schema
    connection.insert(part, None, what, **options)


def _postgresql_type(name: str, dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.Datetime) and dtype.time_zone in (None, "UTC"):
        return f"timestamp {'without' if dtype.time_zone is None else 'with'} time zone"
    if isinstance(dtype, pl.Datetime):
        return "text"  # a server keeps the moment and forgets the zone
    if isinstance(dtype, pl.Decimal):
        return f"numeric(38,{dtype.scale})"
    if dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        return "numeric(38,0)"
    if isinstance(dtype, pl.Categorical | pl.Enum) or dtype == pl.Null:
        return "text"
    found = _POSTGRESQL_TYPES.get(dtype.base_type())
    if found is None:
        raise InvalidInput(f"Column {name!r} has cells that a table of a database cannot hold; leave it out.")
    return found


def _sqlite_type(name: str, dtype: pl.DataType) -> str:
    """SQLite has neither dates nor booleans nor exact decimals: they are written as text."""
    if dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
        return "INTEGER"
    if dtype.is_float():
        return "REAL"
    _postgresql_type(name, dtype)  # refuses what no table holds
    return "TEXT"


def _as_type(column: pl.Series, kind: str) -> pl.Series:
    """The cells in the Arrow type that the driver writes as this type."""
    if kind in ("text", "TEXT"):
        return _as_text(column)
    if kind.startswith("numeric") and not column.dtype.is_decimal():
        return column.cast(pl.Decimal(38, 0))
    if kind.startswith("timestamp"):
        moments = column.dt.cast_time_unit("us")
        if getattr(column.dtype, "time_unit", "") == "ns" and (moments.dt.cast_time_unit("ns") != column).any():
            raise InvalidInput(f"Column {column.name!r} has moments finer than a microsecond; round them first.")
        return moments
    return column.cast(_WIDER[kind]) if kind in _WIDER else column


def _as_text(column: pl.Series) -> pl.Series:
    """Cells as text; Polars leaves fractions of seconds out of times of day."""
    return column.dt.to_string("%H:%M:%S%.f") if column.dtype == pl.Time else texts_of(column)


def _refuse_names(connection: Connection, columns: Collection[str], others: Collection[str]) -> None:
    if connection.address.system == "sqlite":
        folded = [name.lower() for name in columns]
        for name in columns:
            if folded.count(name.lower()) > 1:
                raise InvalidInput(f"SQLite cannot tell column {name!r} from another that differs in case; rename one.")
    else:
        for name in (*columns, *others):
            if len(name.encode()) > LONGEST_NAME:
                raise InvalidInput(
                    f"{name!r} is longer than the {LONGEST_NAME} bytes of a name in PostgreSQL; shorten it."
                )


def _is_same_database(connection: Connection, other: Address) -> bool:
    here = connection.address
    if here.system != other.system or here.target == other.target:
        return here.system == other.system
    if here.system == "sqlite":
        return here.path.exists() and other.path.exists() and here.path.samefile(other.path)
    asked = "SELECT pg_postmaster_start_time()::text, current_database()::text"
    with reading(other) as there:
        return there.rows(asked, "the name of the database") == connection.rows(asked, "the name of the database")
