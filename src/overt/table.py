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

if TYPE_CHECKING:
    import polars as pl

    from overt.hierarchy import Hierarchy

Codes = NDArray[np.int32]


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
        self.codes.flags.writeable = False

    @property
    def n_values(self) -> int:
        return len(self.values)

    @cached_property
    def total_of_value(self) -> NDArray[np.int64]:
        """(value) -> how many rows have it."""
        return np.bincount(self.codes, minlength=self.n_values)

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

    def _repr_html_(self) -> Markup:
        """What notebooks show: roles and counts, never a value."""
        rows = [
            [c.name, c.role, c.kind, "" if c.hierarchy is None else f"{c.hierarchy.n_levels} levels", f"{c.n_values:,}"]
            for c in self.columns
        ]
        rows += [[name, Role.OTHER, "", "", ""] for name in self.others.columns]
        rows += [[name, Role.IDENTIFIER, "", "", ""] for name in self.identifiers]
        shown = html_table(["column", "role", "kind", "hierarchy", "values"], rows, n_text_columns=4)
        return element("div", element("p", f"Table of {self.n_rows:,} rows"), shown)

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.SENSITIVE)

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
