# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""A connection to a database over ADBC: one transaction, which is read-only or is kept only if all of it succeeds."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from overt.errors import InvalidInput, MissingExtra
from overt.io.database.address import Address
from overt.io.database.problems import connecting, working

if TYPE_CHECKING:
    from adbc_driver_manager import AdbcConnection, AdbcDatabase

Returned = TypeVar("Returned")
PATIENCE = 20  # seconds to wait for a server, unless the address or PGCONNECT_TIMEOUT says otherwise

_SESSION = (
    "SET LOCAL client_min_messages TO error",  # notices of functions go to standard error, and may hold values
    "SET LOCAL client_encoding TO 'UTF8'",  # else the texts of a LATIN1 database arrive as they are stored
    "SET LOCAL DateStyle TO 'ISO, YMD'",
    "SET LOCAL IntervalStyle TO 'iso_8601'",
    "SET LOCAL TimeZone TO 'UTC'",
    "SET LOCAL extra_float_digits TO 1",  # the shortest text that reads back as the same number
    "SET LOCAL synchronize_seqscans TO off",  # a table is read from its beginning
)


@dataclass(frozen=True, eq=False)
class Connection:
    """An open transaction."""

    address: Address
    adbc: "AdbcConnection" = field(repr=False)
    pool: Executor = field(repr=False)  # one thread: many would each keep memory for the next batch

    def run(self, sql: str, what: str) -> None:
        """Do something that has no result."""
        with working(self.address, what), closing(self._statement(sql)) as statement:
            self._wait(statement.execute_update, statement.cancel)

    def rows(self, sql: str, what: str) -> list[tuple[Any, ...]]:
        """A small result."""
        import nanoarrow

        with working(self.address, what), closing(self._statement(sql)) as statement:
            stream, _ = self._wait(statement.execute_query, statement.cancel)
            rows: list[tuple[Any, ...]] = []
            for batch in nanoarrow.c_array_stream(stream):
                columns = [pl.Series(batch.child(i)).to_list() for i in range(batch.n_children)]  # names may repeat
                rows += zip(*columns, strict=True)
            return rows

    def columns(self, sql: str, what: str) -> list[str]:
        """The names of the columns of a query."""
        import nanoarrow

        with working(self.address, what), closing(self._statement(sql)) as statement:
            stream, _ = self._wait(statement.execute_query, statement.cancel)
            return [column.name for column in nanoarrow.c_array_stream(stream).get_schema().children]

    def batches(self, sql: str, what: str) -> Iterator[Any]:
        """A large result, some thousand rows at a time, as Arrow arrays that nobody has looked into yet."""
        import nanoarrow

        with working(self.address, what), closing(self._statement(sql)) as statement:
            if self.address.system == "sqlite":
                statement.set_options(**{"adbc.sqlite.query.batch_rows": "65536"})
            handle, _ = self._wait(statement.execute_query, statement.cancel)
            with nanoarrow.c_array_stream(handle) as stream:
                while True:
                    try:
                        batch = self._wait(stream.get_next, statement.cancel)
                    except StopIteration:
                        return
                    yield batch

    def insert(self, frame: pl.DataFrame, sql: str | None, what: str, **options: str) -> None:
        """Hand over the rows of a frame: to an INSERT, or in bulk as `options` say."""
        with working(self.address, what), closing(self._statement(sql)) as statement:
            if options:
                statement.set_options(**options)
            statement.bind_stream(frame)
            self._wait(statement.execute_update, statement.cancel)

    def commit(self) -> None:
        """Keep what was done."""
        with working(self.address, "the transaction"):
            self.adbc.commit()

    def _wait(self, work: Callable[[], Returned], cancel: Callable[[], None]) -> Returned:
        return _wait(self.pool, work, cancel)

    def _statement(self, sql: str | None) -> Any:
        from adbc_driver_manager import AdbcStatement

        statement = AdbcStatement(self.adbc)
        if sql is not None:
            statement.set_sql_query(sql)
        return statement


@contextmanager
def reading(address: Address) -> Iterator[Connection]:
    """A transaction that sees one state of the database and cannot change it."""
    with _connection(address, mode="ro") as connection:
        if address.system == "postgresql":
            connection.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "the transaction")
            _prepare(connection)
        yield connection


@contextmanager
def writing(address: Address) -> Iterator[Connection]:
    """A transaction of which nothing stays unless it is committed; nor does an SQLite file that was made for it."""
    is_new = address.system == "sqlite" and not address.path.exists()
    if is_new and not address.path.parent.is_dir():
        raise InvalidInput(f"There is no folder {address.path.parent} to make {address.path.name} in; make it first.")
    kept = False
    try:
        with _connection(address, mode="rwc" if is_new else "rw") as connection:
            _prepare(connection)
            yield connection
        kept = True
    finally:
        if is_new and not kept:
            for path in (address.path, Path(f"{address.path}-journal")):
                path.unlink(missing_ok=True)


@contextmanager
def _connection(address: Address, *, mode: str) -> Iterator[Connection]:
    _require_drivers(address)
    from adbc_driver_manager import AdbcConnection

    if mode != "rwc" and address.system == "sqlite" and not address.path.is_file():
        raise InvalidInput(f"The SQLite database {address.said} is not there; check the path.")
    with ThreadPoolExecutor(max_workers=1) as pool:
        with connecting(address):
            database = _open(address, mode, pool)
        with closing(database):
            with connecting(address):
                connection = AdbcConnection(database)
            with closing(connection):
                with connecting(address):
                    connection.set_autocommit(False)
                yield Connection(address, connection, pool)


def _require_drivers(address: Address) -> None:
    try:
        for name in ("nanoarrow", "adbc_driver_manager", f"adbc_driver_{address.system}"):
            import_module(name)
    except ImportError:
        raise MissingExtra(
            "Databases are read and written with the ADBC drivers; install them with `pip install overt[db]`."
        ) from None


def _open(address: Address, mode: str, pool: Executor) -> "AdbcDatabase":
    """The database. PostgreSQL's driver connects at once, to ask for types; SQLite's when there is a connection."""
    if address.system == "sqlite":
        import adbc_driver_sqlite

        return adbc_driver_sqlite.connect(f"{address.path.absolute().as_uri()}?mode={mode}")
    import adbc_driver_postgresql

    connect: Callable[[str], AdbcDatabase] = adbc_driver_postgresql.connect
    return _wait(pool, lambda: connect(_with_defaults(address.target)), lambda: None)


def _with_defaults(target: str) -> str:
    """An address that also says who asks, and how long to wait."""
    wanted = {"fallback_application_name": "overt"}
    if "PGCONNECT_TIMEOUT" not in os.environ:
        wanted["connect_timeout"] = str(PATIENCE)
    missing = [f"{key}={value}" for key, value in wanted.items() if f"{key}=" not in target]
    if "://" not in target:
        return " ".join([target, *missing])
    return target + ("&" if "?" in target else "?") + "&".join(missing) if missing else target


def _prepare(connection: Connection) -> None:
    """Let a server write values in one way, whatever it is used to; and let SQLite keep nothing of what is replaced in its file."""
    if connection.address.system == "sqlite":
        connection.columns("PRAGMA secure_delete = ON", "the transaction")
    else:
        for setting in _SESSION:
            connection.run(setting, "the transaction")


def _wait(pool: Executor, work: Callable[[], Returned], cancel: Callable[[], None]) -> Returned:
    """Wait for a driver in such a way that Ctrl-C stops it."""
    waiting = pool.submit(work)
    try:
        while not waiting.done():  # Polars handles Ctrl-C in such a way that it does not end a wait
            wait([waiting], timeout=0.2)
        return waiting.result()
    except KeyboardInterrupt:
        with suppress(Exception):  # not every driver can be stopped; then it finishes what it does
            cancel()
        raise
