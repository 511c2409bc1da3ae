# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""PostgreSQL: the types of a table's or query's columns, and how each is read."""

from collections.abc import Collection
from dataclasses import replace

from overt.errors import InvalidInput
from overt.io.database.address import TableName, literal, quote
from overt.io.database.columns import Becomes, ColumnPlan
from overt.io.database.connection import Connection
from overt.io.database.selection import Selection

_AS_IT_IS = {"bool", "int2", "int4", "int8", "float8", "date", "timestamp", "timestamptz"}
_TEXTS = {"text", "varchar", "bpchar", "name", "char", "citext", "uuid", "jsonb", "inet", "cidr", "macaddr", "macaddr8", "bit", "varbit"}  # fmt: skip
_EXPRESSIONS = {
    "float4": "{}::text::float8",  # 0.1 stays 0.1 and does not become 0.10000000149
    "oid": "{}::int8",
    "inet": "abbrev({})",  # 10.0.0.1 and not 10.0.0.1/32
    "numeric": "{}::text",
    "money": "{}::numeric::text",  # how many digits follow the point is the server's to know
}
_WHY_NOT = {
    "interval": "months and days differ in length, so it has no order. Select EXTRACT(EPOCH FROM {}) in a query for seconds, or "
    "{}::text for a category.",
    "json": "two json values cannot be compared. Select {}::jsonb in a query, or a field of it: {}->>'field'.",
    "bytea": "bytes have no order. Leave it without a role, or select encode({}, 'hex') in a query.",
    "time": "a time of day has no date. Select EXTRACT(HOUR FROM {}) in a query, or {}::text for a category.",
    "timetz": "a time of day has no date. Select EXTRACT(HOUR FROM {}) in a query, or {}::text for a category.",
}
_ARRAY = "it holds several values. Select one of them in a query, such as {}[1], or array_to_string({}, ' ')."
_OTHER = "it has no order to generalize by. Select a part of it in a query, or {}::text for a category."


def plan_columns(connection: Connection, selection: Selection, wanted: Collection[str] | None) -> dict[str, ColumnPlan]:
    """The columns of a table or query in their order, those wanted (or all) with a plan."""
    _refuse_no_table(connection, selection)
    names = connection.columns(f"SELECT * FROM {selection.sql} LIMIT 0", selection.what)
    refuse_repeated_names(names, selection)
    types = _types_of(connection, selection, names)
    labels = _labels_of(connection, {oid for oid, _, kind, _ in types.values() if kind == "e"})
    return {
        name: _plan(name, type_name, kind, category, labels.get(oid, ()))
        for name, (oid, type_name, kind, category) in types.items()
        if wanted is None or name in wanted
    }


def plan_cells(connection: Connection, selection: Selection, wanted: Collection[str]) -> dict[str, ColumnPlan]:
    """The same for cells that are read by themselves: the server writes each as text, by the type of its column."""
    found = connection.rows("SELECT pg_catalog.current_setting('server_encoding')", "the encoding")
    if found[0][0] != "UTF8":
        raise InvalidInput(
            f"The database {connection.address.said} is in {found[0][0]}, from which one text can stop the reading of all; copy the "
            "table to a database in UTF8, or to a file."
        )
    return {name: _as_cells(plan) for name, plan in plan_columns(connection, selection, wanted).items()}


def _as_cells(plan: ColumnPlan) -> ColumnPlan:
    column = quote(plan.name)
    written = {"money": f"{column}::numeric::text", "inet": f"abbrev({column})"}.get(plan.type_name, f"{column}::text")
    return replace(plan, expression=written, becomes="lone text")


def is_plain_table(connection: Connection, table: TableName) -> bool:
    """Whether rows are stored under this name, in this database, and neither a rule hides some nor a cell is made when it is read."""
    found = connection.rows(
        "WITH RECURSIVE parts (oid) AS ("
        f"SELECT pg_catalog.to_regclass({literal(table.quoted)})::oid UNION SELECT inhrelid FROM parts JOIN pg_catalog.pg_inherits "
        "ON inhparent = oid) "
        "SELECT c.relkind::text, pg_catalog.row_security_active(c.oid), "
        "EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated::text NOT IN ('', 's')) "
        "FROM parts JOIN pg_catalog.pg_class c USING (oid)",
        f"table {table}",
    )
    return all(kind in ("r", "p", "m") and not hides and not makes for kind, hides, makes in found)


def all_columns(connection: Connection, selection: Selection) -> list[str]:
    """The names of all columns."""
    _refuse_no_table(connection, selection)
    names = connection.columns(f"SELECT * FROM {selection.sql} LIMIT 0", selection.what)
    refuse_repeated_names(names, selection)
    return names


def tables_of(connection: Connection) -> list[TableName]:
    """The tables that a user can name, those of the search path without their schema."""
    found = connection.rows(
        "SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname::text END, c.relname::text "
        "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 2, 1 NULLS FIRST",
        "the list of tables",
    )
    return [TableName(schema, name) for schema, name in found]


def table_columns(connection: Connection, table: TableName) -> tuple[str, list[tuple[str, str]]] | None:
    """The kind of a table ("r" for an ordinary one) and its columns with their types; None if there is none."""
    found = connection.rows(
        "SELECT c.relkind::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) "
        "FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        f"WHERE c.oid = pg_catalog.to_regclass({literal(table.quoted)}) ORDER BY a.attnum",
        f"table {table}",
    )
    return (found[0][0], [(name, kind) for _, name, kind in found if name is not None]) if found else None


def refuse_repeated_names(names: list[str], selection: Selection) -> None:
    """Two columns of one name cannot be told apart."""
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"{selection.what.capitalize()} gives two columns named {name!r}; rename one with AS.")


def _refuse_no_table(connection: Connection, selection: Selection) -> None:
    if selection.table is None:
        return
    there = connection.rows(
        f"SELECT pg_catalog.to_regclass({literal(selection.table.quoted)})::oid::int8", selection.what
    )
    if there[0][0] is None:
        raise no_such_table(connection, selection.table, tables_of(connection))


def no_such_table(connection: Connection, table: TableName, tables: list[TableName]) -> InvalidInput:
    """A table that is not there: perhaps another was meant."""
    near = [str(other) for other in tables if other.name.lower() == table.name.lower()]
    known = near or list(map(str, tables))
    advice = (
        f"did you mean {near[0]!r}?"
        if near
        else f"there {'are' if len(known) > 1 else 'is'} {', '.join(map(repr, known[:12]))}{' and more' if len(known) > 12 else ''}."
        if known
        else "there are no tables that this user can see."
    )
    return InvalidInput(f"There is no table {str(table)!r} in the database {connection.address.said}; {advice}")


def _types_of(connection: Connection, selection: Selection, names: list[str]) -> dict[str, tuple[int, str, str, str]]:
    """(name) -> (oid, type, kind, category) of the type under all domains. No row of the table is looked at."""
    if not names:
        raise InvalidInput(f"{selection.what.capitalize()} has no columns; there is nothing to release.")
    oids = ", ".join(f"pg_catalog.pg_typeof(t.{quote(name)})::oid" for name in names)
    found = connection.rows(
        "WITH RECURSIVE under (place, oid) AS ("
        f"SELECT place, oid FROM (SELECT ARRAY[{oids}] AS oids FROM (SELECT 1) AS one LEFT JOIN "
        f"(SELECT * FROM {selection.sql}) AS t ON false) AS typed, unnest(oids) WITH ORDINALITY AS u (oid, place) "
        "UNION ALL SELECT place, typbasetype FROM under JOIN pg_catalog.pg_type USING (oid) WHERE typtype = 'd') "
        "SELECT place::int8, oid::int8, typname::text, typtype::text, typcategory::text "
        "FROM under JOIN pg_catalog.pg_type USING (oid) WHERE typtype <> 'd' ORDER BY place",
        selection.what,
    )
    return {names[place - 1]: (oid, type_name, kind, category) for place, oid, type_name, kind, category in found}


def _labels_of(connection: Connection, oids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """The labels of enumerations, in their order."""
    if not oids:
        return {}
    labels: dict[int, tuple[str, ...]] = {}
    for oid, label in connection.rows(
        "SELECT enumtypid::int8, enumlabel::text FROM pg_catalog.pg_enum "
        f"WHERE enumtypid IN ({', '.join(map(str, oids))}) ORDER BY enumtypid, enumsortorder",
        "the list of types",
    ):
        labels[oid] = (*labels.get(oid, ()), label)
    return labels


def _plan(name: str, type_name: str, kind: str, category: str, labels: tuple[str, ...]) -> ColumnPlan:
    column = quote(name)
    if kind == "e":
        return ColumnPlan(name, f"{column}::text", "order", type_name, labels=labels)
    if type_name in _AS_IT_IS:
        return ColumnPlan(name, column, "as it is", type_name)
    if type_name in _TEXTS:
        return ColumnPlan(name, _EXPRESSIONS.get(type_name, "{}::text").format(column), "text", type_name)
    why_not = "" if type_name in ("float4", "oid", "numeric", "money") else _WHY_NOT.get(type_name, _OTHER)
    if category == "A":
        type_name, why_not = f"{type_name.removeprefix('_')}[]", _ARRAY
    if type_name in _EXPRESSIONS:
        becomes: Becomes = "decimal" if type_name in ("numeric", "money") else "as it is"
        return ColumnPlan(
            name, _EXPRESSIONS[type_name].format(column), becomes, type_name, why_not.replace("{}", column)
        )
    return ColumnPlan(name, f"{column}::text", "text", type_name, why_not.replace("{}", column))
