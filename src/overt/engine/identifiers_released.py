# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_run.py
"""Columns that a recipe releases although they look as if they named, numbered or reached a person: a caution for the owner."""

from collections.abc import Iterator

import polars as pl

from overt.hierarchy.texts import texts_of
from overt.io.roles.role_choice import Choice, Look, choose_role
from overt.table import Column, Kind, Role, Table


def find_identifiers_released(table: Table, others: tuple[str, ...] = ()) -> Iterator[str]:
    """One sentence for every released column that looks like an identifier, by its header or by its cells."""
    for column in table.columns:
        choice = choose_role(_look_at(column))
        if choice.is_telling:
            yield _sentence(column.name, f"as a {column.role} column", choice)
    for name in others:
        other = table.others.get_column(name)
        texts = _texts_of_other(other).drop_nulls().unique()
        n_known = table.n_rows - other.null_count()
        choice = choose_role(Look(name, Kind.CATEGORY, texts, table.n_rows, n_known))
        if choice.role is Role.IDENTIFIER:
            yield _sentence(name, "as it is", choice)


def _texts_of_other(other: pl.Series) -> pl.Series:
    """The texts of a column without a role; lists, structs and bytes as Python writes them."""
    if other.dtype.is_nested() or other.dtype in (pl.Binary, pl.Object):
        return pl.Series([None if cell is None else str(cell) for cell in other.to_list()], dtype=pl.String)
    return texts_of(other)


def _look_at(column: Column) -> Look:
    texts = texts_of(column.values if column.bundles is None else column.bundles.values).drop_nulls()
    n_rows = column.codes.size or int(column.total_of_value.sum())  # of rows that lie elsewhere there are only totals
    n_missing = 0 if column.missing_code is None else int(column.total_of_value[column.missing_code])
    return Look(
        column.name,
        column.kind,
        texts,
        n_rows,
        n_rows - n_missing,
        dates="a date" if column.kind is Kind.DATE else "",
        is_fraction=isinstance(column.values.dtype, pl.Float64),
    )


def _sentence(name: str, how: str, choice: Choice) -> str:
    return (
        f"{name!r} is released {how} and looks like an identifier: {choice.reason}. If it identifies a person or is a way to contact one, "
        "give it the role 'identifier' and run again under a new [output]; do not publish this release."
    )
