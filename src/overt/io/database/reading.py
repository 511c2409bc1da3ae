# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""A table or a query of a database becomes a table of ours; a release in a database is read back to be checked."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from overt.errors import InvalidData, InvalidInput
from overt.io.database.address import TableName, find_address, quote
from overt.io.database.connection import Connection, reading
from overt.io.database.digest import digest_of
from overt.io.database.gathering import Gathered, all_columns, gather, plan_cells, plan_columns
from overt.io.database.selection import Selection
from overt.io.encoding import Coded
from overt.io.intake import Intake, Missing
from overt.io.repeated_persons import repeated_words
from overt.progress import Progress, silent
from overt.table import Kind, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder


def read_database(
    database: str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str] = (),
    identifiers: Collection[str] = (),
    hierarchies: "Mapping[str, Builder] | None" = None,
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Missing = "refuse",
    missing_values: Collection[str] = ("",),
    others: Collection[str] | None = None,
    row_by_row: bool = False,
    on_progress: Progress = silent,
) -> Table:
    """Read a table, or what a query gives, from PostgreSQL or SQLite, and encode it.

    `database` is the name of an environment variable that holds the address, an address, or the path of an SQLite file.
    The reading is one transaction that sees one state and changes nothing. Columns without a role are kept as they are,
    all of them or those in `others`; identifiers are not read. With `row_by_row` no row has a say in how another is read,
    as differentially private methods need it: only tables can be read, and every cell is a text found from the cell alone.

    >>> import sqlite3, tempfile
    >>> place = Path(tempfile.mkdtemp()) / "people.db"
    >>> with sqlite3.connect(place) as connection:
    ...     _ = connection.execute("CREATE TABLE people (age INTEGER, illness TEXT)")
    ...     _ = connection.executemany("INSERT INTO people VALUES (?, ?)", [(31, "flu"), (36, "cold")])
    >>> connection.close()
    >>> read_database(place, table="people", quasi_identifiers=["age"], sensitive=["illness"]).n_rows
    2
    """
    selection = Selection.of(find_address(str(database), may_hold_password=True), table=table, query=query)
    intake = Intake(
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifiers=identifiers,
        hierarchies=hierarchies or {},
        kinds=kinds or {},
        missing=missing,
        missing_values=missing_values,
        others=others,
        row_by_row=row_by_row,
    )
    return read_selection(selection, intake, on_progress=on_progress, with_digest=False)[0]


def read_selection(
    selection: Selection,
    intake: Intake,
    *,
    persons: Sequence[str] = (),
    on_progress: Progress = silent,
    with_digest: bool = True,
) -> tuple[Table, str]:
    """The table, and the digest of the columns that were read. No value of `persons` may stand in two rows."""
    on_progress(f"Reading {selection.name}", 0, 0)
    with reading(selection.database) as connection:
        columns = all_columns(connection, selection)
        intake.refuse_unknown(columns)
        for name in persons:
            _refuse_repeated(connection, selection, name)
        plain = intake.kept_others(columns)
        plan = plan_cells if intake.row_by_row else plan_columns
        plans = plan(connection, selection, {*intake.numbered, *plain})
        for name in intake.numbered:
            plans[name].require_role()
        gathered = gather(connection, selection, plans, on_progress)
    digest = digest_of(gathered) if with_digest else ""
    others = pl.DataFrame([gathered.pop(name).as_it_is() for name in plain])
    is_loose = selection.database.system == "sqlite"  # declared types bind nobody there
    undeclared = [name for name, plan in plans.items() if is_loose or plan.becomes == "decimal"]
    return intake.table(columns, lambda name: gathered.pop(name).with_role(), others, undeclared=undeclared), digest


def read_columns(selection: Selection, on_progress: Progress = silent) -> dict[str, Coded | None]:
    """Every column in codes; None for one that cannot have a role."""
    on_progress(f"Reading {selection.name}", 0, 0)
    with reading(selection.database) as connection:
        plans = plan_columns(connection, selection, None)
        wanted = {name: plan for name, plan in plans.items() if not plan.why_not}
        gathered = gather(connection, selection, wanted, on_progress)
    return {name: _role_or_none(gathered.pop(name)) if name in gathered else None for name in plans}


def read_release_table(connection: Connection, table: TableName) -> tuple[pl.DataFrame, str]:
    """A released table as text in the order in which it is stored, and the digest of what it holds."""
    if connection.address.system == "postgresql":  # workers would hand over rows as they come
        connection.run("SET LOCAL max_parallel_workers_per_gather TO 0", "the transaction")
    selection = Selection(connection.address, table)
    columns = gather(connection, selection, plan_columns(connection, selection, None))
    digest = digest_of(columns)
    return pl.DataFrame([_as_enum(name, columns.pop(name)) for name in list(columns)]), digest


def _as_enum(name: str, column: Gathered) -> pl.Series:
    """Texts as a check looks at them."""
    texts = column.texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique().sort())).gather(column.codes).alias(name)


def _role_or_none(column: Gathered) -> Coded | None:
    try:
        return column.with_role()
    except InvalidInput:
        return None


def _refuse_repeated(connection: Connection, selection: Selection, name: str) -> None:
    """Refuse several rows for one person, and say what to do."""
    n_persons, n_rows = _count_persons(connection, selection, name)
    if n_persons < n_rows:
        raise InvalidData(repeated_words(name, selection.what, n_persons, n_rows))


def _count_persons(connection: Connection, selection: Selection, name: str) -> tuple[int, int]:
    """(different values, rows) of a column, counted by the database."""
    value = f"{quote(name)}::text" if connection.address.system == "postgresql" else quote(name)
    [(n_rows, n_persons)] = connection.rows(
        f"SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT {value} FROM {selection.sql}) AS persons) FROM {selection.sql}",
        selection.what,
    )
    return int(n_persons), int(n_rows)


def count_repeated(selection: Selection, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """(different values, rows) of those of these columns in which a value stands in several rows."""
    with reading(selection.database) as connection:
        there = all_columns(connection, selection)
        counted = {name: _count_persons(connection, selection, name) for name in names if name in there}
    return {name: (n_persons, n_rows) for name, (n_persons, n_rows) in counted.items() if n_persons < n_rows}
