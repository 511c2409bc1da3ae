# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""SQLite: what is really in a column, since its declared type binds nobody, and how it is read.

Every value of an SQLite table has its own type. The driver decides by the first rows and fails at a later one that differs
(or at a text after many nulls), so what there is is counted first, and the result begins with a row that shows the
types, which is thrown away.
"""

from collections.abc import Collection

from overt.errors import InvalidData
from overt.io.database.address import TableName, literal, quote
from overt.io.database.columns import ColumnPlan
from overt.io.database.connection import Connection
from overt.io.database.postgresql import no_such_table, refuse_repeated_names
from overt.io.database.selection import Selection

_EXACT = 1 << 53  # whole numbers up to here are floats without loss


def all_columns(connection: Connection, selection: Selection) -> list[str]:
    """The names of all columns."""
    if selection.table is not None and table_columns(connection, selection.table) is None:
        raise no_such_table(connection, selection.table, tables_of(connection))
    names = connection.columns(f"SELECT * FROM {selection.sql} LIMIT 0", selection.what)
    refuse_repeated_names(names, selection)
    return names


def plan_columns(connection: Connection, selection: Selection, wanted: Collection[str] | None) -> dict[str, ColumnPlan]:
    """The columns of a table or query in their order, those wanted (or all) with a plan."""
    names = [name for name in all_columns(connection, selection) if wanted is None or name in wanted]
    if not names:
        return {}
    looks = ", ".join(
        f"coalesce(min(nullif(typeof({c}), 'null')), 'null'), coalesce(max(nullif(typeof({c}), 'null')), 'null')"
        for c in map(quote, names)
    )
    found = iter(connection.rows(f"SELECT {looks} FROM {selection.sql}", selection.what)[0])
    return {name: _plan(connection, selection, name, {next(found), next(found)}) for name in names}


def plan_cells(connection: Connection, selection: Selection, wanted: Collection[str]) -> dict[str, ColumnPlan]:
    """The same for cells that are read by themselves: no value is looked at, and each comes as what it is."""
    return {name: _plan_cells(name) for name in all_columns(connection, selection) if name in wanted}


def _plan_cells(name: str) -> ColumnPlan:
    column = quote(name)
    texts = f"CASE typeof({column}) WHEN 'text' THEN {column} WHEN 'integer' THEN CAST({column} AS TEXT) END"
    return ColumnPlan(name, texts, "lone text", "any", floats=f"CASE WHEN typeof({column}) = 'real' THEN {column} END")


def is_plain_table(connection: Connection, table: TableName) -> bool:
    """Whether rows are stored under this name, and no cell is made when it is read: a rule could fail at one row."""
    found = table_columns(connection, table)
    if found is None or found[0] != "table":
        return False
    where = f"{literal(table.name)}, {literal(table.schema or 'main')}"
    [(n_hidden,)] = connection.rows(
        f"SELECT count(*) FROM pragma_table_xinfo({where}) WHERE hidden NOT IN (0, 3)", f"table {table}"
    )
    [(n_virtual,)] = connection.rows(
        f"SELECT count(*) FROM {quote(table.schema or 'main')}.sqlite_master WHERE type = 'table' AND rootpage = 0 "
        f"AND lower(name) = lower({literal(table.name)})",
        f"table {table}",
    )
    return not n_hidden and not n_virtual


def first_row(plans: Collection[ColumnPlan]) -> str:
    """A row of the types that the plans expect, before all others."""
    samples = {"integer": "0", "real": "0.0"}
    shown = [samples[plan.type_name] if plan.becomes == "as it is" else "''" for plan in plans]
    shown += ["0.0" for plan in plans if plan.floats is not None]
    return "SELECT " + ", ".join(shown) + " UNION ALL "


def tables_of(connection: Connection) -> list[TableName]:
    """The tables and views."""
    found = connection.rows(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "UNION ALL SELECT '' ORDER BY 1",  # at least one row, so that the driver sees a text
        "the list of tables",
    )
    return [TableName(None, name) for (name,) in found if name]


def table_columns(connection: Connection, table: TableName) -> tuple[str, list[tuple[str, str]]] | None:
    """What a table is ("table" or "view") and its columns with their declared types; None if there is none."""
    schema = quote(table.schema or "main")
    kinds = connection.rows(
        f"SELECT type, name FROM {schema}.sqlite_master WHERE type IN ('table', 'view') "
        f"AND lower(name) = lower({literal(table.name)}) UNION ALL SELECT '', ''",
        f"table {table}",
    )
    if len(kinds) < 2:
        return None
    kind = next(kind for kind, _ in kinds if kind)
    found = connection.rows(
        f"SELECT name, type FROM pragma_table_info({literal(table.name)}, {literal(table.schema or 'main')})",
        f"table {table}",
    )
    return kind, [(name, declared) for name, declared in found]


def _plan(connection: Connection, selection: Selection, name: str, types: set[str]) -> ColumnPlan:
    column = quote(name)
    if types == {"null"}:
        return ColumnPlan(name, f"CAST({column} AS TEXT)", "loose text", "null")
    if types == {"integer"}:
        return ColumnPlan(name, column, "as it is", "integer")
    if types == {"real"}:
        return ColumnPlan(name, column, "as it is", "real")
    if types == {"blob"}:
        why_not = f"bytes have no order. Leave it without a role, or select hex({column}) in a query."
        return ColumnPlan(name, f"hex({column})", "text", "blob", why_not)
    if types == {"text"}:
        return ColumnPlan(name, column, "loose text", "text")
    return _plan_mixed(connection, selection, name)


def _plan_mixed(connection: Connection, selection: Selection, name: str) -> ColumnPlan:
    """A column with values of several types."""
    column = quote(name)
    kinds = ("integer", "real", "text", "blob")
    counts = ", ".join(f"total(typeof({column}) = '{kind}')" for kind in kinds)
    large = f"total(typeof({column}) = 'integer' AND ({column} > {_EXACT} OR {column} < -{_EXACT}))"
    *found, n_large = connection.rows(f"SELECT {counts}, {large} FROM {selection.sql}", selection.what)[0]
    there = {kind: int(n) for kind, n in zip(kinds, found, strict=True) if n}
    described = " and ".join(f"{kind} in {n:,} rows" for kind, n in there.items())
    if "blob" in there:
        raise InvalidData(
            f"Column {name!r} holds {described}; bytes cannot be mixed with others. Select CAST({column} AS TEXT) in a query if "
            "they are text."
        )
    if "text" in there:
        floats = f"CASE WHEN typeof({column}) = 'real' THEN {column} END" if "real" in there else None
        texts = (
            f"CASE WHEN typeof({column}) <> 'real' THEN CAST({column} AS TEXT) END"
            if floats
            else f"CAST({column} AS TEXT)"
        )
        return ColumnPlan(name, texts, "loose text", "mixed", floats=floats)
    if n_large:
        raise InvalidData(
            f"Column {name!r} holds {described}, and {int(n_large):,} whole numbers are too long to be fractions without loss; "
            f"select CAST({column} AS TEXT) or CAST({column} AS INTEGER) in a query."
        )
    return ColumnPlan(name, f"CAST({column} AS REAL)", "as it is", "real")
