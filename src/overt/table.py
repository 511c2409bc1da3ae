# SPDX-License-Identifier: Apache-2.0
"""Table, Column, Role: microdata as integer codes with dictionaries, immutable.

A table is encoded once, at the door (`overt.io`). From then on a cell is a code, and codes are in the
order of their values: numbers and dates by value, categories by hierarchy if there is one, else by name.
A missing value is a value of its own and has the last code of its column.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.markup import Markup, element, html_table
from overt.persons import Bundles, Persons

if TYPE_CHECKING:
    import polars as pl

    from overt.hierarchy import Hierarchy

Codes = NDArray[np.int32]
_HEADER = ("column", "role", "kind", "hierarchy", "values")


class Role(StrEnum):
    """What a column says about a person, and so what may become of it."""

    IDENTIFIER = "identifier"  # never released, not even read where that can be avoided
    QUASI_IDENTIFIER = "quasi-identifier"  # what an adversary may know: released generalized
    SENSITIVE = "sensitive"  # what nobody may learn: released detached from the person
    OTHER = "other"  # released as it is, and only on explicit request


class Kind(StrEnum):
    """How the values of a column are ordered and printed."""

    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"


@dataclass(frozen=True, eq=False)
class Column:
    """One encoded column: `values[codes[row]]` is the cell of a row."""

    name: str
    role: Role
    kind: Kind
    codes: Codes
    values: "pl.Series" = field(repr=False)  # the dictionary, in code order; a null, if any, is last
    hierarchy: "Hierarchy | None" = field(default=None, repr=False)  # its leaf c is code c
    dtype: "pl.DataType | None" = field(default=None, repr=False)  # what came in and goes out; None: that of `values`
    bundles: Bundles | None = field(default=None, repr=False)  # what its codes hold, if a person has several values
    totals: NDArray[np.int64] | None = field(default=None, repr=False)  # of the whole table, if codes are of some rows

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int32:
            raise InvalidInput(f"Column {self.name!r} has codes of type {self.codes.dtype}; int32 is expected.")
        if self.codes.size and not 0 <= self.codes.min() <= self.codes.max() < self.n_values:
            raise InvalidInput(f"Column {self.name!r} has codes outside its dictionary of {self.n_values} values.")
        if self.hierarchy is not None and self.hierarchy.n_leaves != self.n_values:
            raise InvalidInput(
                f"The hierarchy of {self.name!r} has {self.hierarchy.n_leaves} leaves, the column "
                f"{self.n_values} values; build the hierarchy from the column's own values."
            )
        if self.totals is not None and self.totals.size != self.n_values:
            raise InvalidInput(f"Column {self.name!r} has {self.totals.size} totals for {self.n_values} values.")
        self.codes.flags.writeable = False

    def __repr__(self) -> str:
        """Its role and how many values it has, never a value."""
        return f"Column({self.name!r}, {self.role}, {self.kind}, {self.codes.size:,} rows, {self.n_values:,} values)"

    @property
    def n_values(self) -> int:
        return len(self.values)

    @cached_property
    def total_of_value(self) -> NDArray[np.int64]:
        """(value) -> how many rows of the table have it. Of a part of a table they are given: counted from its rows they would be wrong."""
        return np.bincount(self.codes, minlength=self.n_values) if self.totals is None else self.totals

    @cached_property
    def total_of_member(self) -> NDArray[np.int64]:
        """(value) -> how many rows have it; of persons with several values, how many have it in any row."""
        if self.bundles is None:
            return self.total_of_value
        return np.bincount(self.bundles.members(self.codes)[1], minlength=self.bundles.n_values)

    @property
    def missing_code(self) -> int | None:
        """The code that stands for "missing", if any row needs it."""
        return self.n_values - 1 if self.values.null_count() else None


@dataclass(frozen=True, eq=False)
class Table:
    """Microdata with roles. Quasi-identifiers and sensitive columns are encoded, others are kept as they are.

    Identifiers are known by name only: their cells never enter a table.
    """

    columns: tuple[Column, ...]
    others: "pl.DataFrame" = field(repr=False)
    identifiers: tuple[str, ...] = ()
    frame_kind: str = "polars"  # the kind of frame that came in, and in which a release goes out
    n_dropped: int = 0  # rows left out at the door because their sensitive value is missing
    order: tuple[str, ...] = field(default=(), repr=False)  # every column, as it came; empty: encoded, then others
    row_by_row: bool = True  # no row had a say in how another was read
    persons: Persons | None = None  # whose rows were put together, if a person had several; a row is then a person
    undeclared: frozenset[str] = (
        frozenset()
    )  # columns whose type no source declares: it was found from the cells of all rows

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns] + self.others.columns + list(self.identifiers)
        if len(set(names)) != len(names):
            raise InvalidInput("A table has two columns of the same name; rename one of them.")
        if not self.quasi_identifiers:
            raise InvalidInput(
                "The table has no quasi-identifier; name at least one column that an adversary may know."
            )
        lengths = {column.codes.size for column in self.columns}
        if self.others.width:
            lengths.add(self.others.height)
        if len(lengths) > 1:
            raise InvalidInput(f"The columns of a table have different lengths: {sorted(lengths)}.")

    @property
    def n_rows(self) -> int:
        return int(self.columns[0].codes.size)

    def _described(self) -> list[list[str]]:
        """A line for each column: its role and what is known of it, never a value."""
        lines = [
            [c.name, c.role, c.kind, "" if c.hierarchy is None else f"{c.hierarchy.n_levels} levels", f"{c.n_values:,}"]
            for c in self.columns
        ]
        lines += [[name, Role.OTHER, "", "", ""] for name in self.others.columns]
        return lines + [[name, Role.IDENTIFIER, "", "", ""] for name in self.identifiers]

    def __repr__(self) -> str:
        """What a console shows: roles and counts, never a value."""
        lines = [list(_HEADER), *self._described()]
        widths = [max(len(line[place]) for line in lines) for place in range(len(_HEADER))]
        shown = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join(
            [
                f"Table of {self.n_rows:,} {self.thing}{'' if self.n_rows == 1 else 's'}",
                *(f"  {line}".rstrip() for line in shown),
            ]
        )

    def _repr_html_(self) -> Markup:
        """What notebooks show: the same as a table."""
        shown = html_table(_HEADER, self._described(), n_text_columns=4)
        return element(
            "div", element("p", f"Table of {self.n_rows:,} {self.thing}{'' if self.n_rows == 1 else 's'}"), shown
        )

    @property
    def thing(self) -> str:
        """What one of its rows is, in words."""
        return "row" if self.persons is None else "person"

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.SENSITIVE)

    @property
    def judged(self) -> tuple[Column, ...]:
        """The sensitive columns that goals speak of: not those that bundles only carry."""
        return tuple(column for column in self.sensitive if column.bundles is None or not column.bundles.carried)

    @property
    def has_bundles(self) -> bool:
        """Whether a row is a person with several values of a sensitive column."""
        return any(column.bundles is not None for column in self.columns)

    def column(self, name: str) -> Column:
        """The encoded column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_column(name, (column.name for column in self.columns))

    def the_sensitive(self, asked_by: str) -> Column:
        """The one sensitive column, for methods that handle exactly one."""
        if len(self.sensitive) != 1:
            raise InvalidInput(
                f"{asked_by} needs exactly one sensitive column and the table has {len(self.sensitive)}; "
                "give the role 'sensitive' to one column."
            )
        return self.sensitive[0]


def unknown_column(name: str, known: Iterable[str]) -> InvalidInput:
    """The error for a column that is not there: it lists those that are."""
    return InvalidInput(f"There is no column {name!r}; the columns are {', '.join(map(repr, known))}.")
