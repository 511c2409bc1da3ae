# SPDX-License-Identifier: Apache-2.0
"""From numbered columns to a table: who plays which role, and what becomes of missing sensitive values."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.io.encoding import Coded, encode, is_missing
from overt.table import Column, Kind, Role, Table, unknown_column

if TYPE_CHECKING:
    from overt.hierarchy import Builder

Missing = Literal["refuse", "drop", "own value"]


class NoRows(InvalidInput):
    """There is nothing to release."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Intake:
    """How the columns of a source are to be read: the keywords that all doors share.

    `missing` says what becomes of a row without a sensitive value: "refuse" the table, "drop" the row, or let missing
    be an "own value". `missing_values` are the texts that mean "missing". `others` names the columns without a role
    that are kept for release; None keeps all of them.
    """

    quasi_identifiers: Collection[str]
    sensitive: Collection[str] = ()
    identifiers: Collection[str] = ()
    hierarchies: "Mapping[str, Builder]" = field(default_factory=dict)
    kinds: Mapping[str, Kind | str] = field(default_factory=dict)
    missing: Missing = "refuse"
    missing_values: Collection[str] = ("",)
    others: Collection[str] | None = None

    def __post_init__(self) -> None:
        for keyword in ("quasi_identifiers", "sensitive", "identifiers", "missing_values", "others"):
            given = getattr(self, keyword)
            if isinstance(given, str):
                raise InvalidInput(f"{keyword} takes a list of texts; write [{given!r}] instead of {given!r}.")
        if not self.quasi_identifiers:
            raise InvalidInput("No quasi-identifier is named; name at least one column that an adversary may know.")
        named = [*self.quasi_identifiers, *self.sensitive, *self.identifiers, *(self.others or ())]
        for name in named:
            if named.count(name) > 1:
                raise InvalidInput(f"Column {name!r} is given more than one role, or one role twice; a column has one.")
        if self.missing not in ("refuse", "drop", "own value"):
            raise InvalidInput(f"missing is 'refuse', 'drop' or 'own value', not {self.missing!r}.")
        for name, kind in self.kinds.items():
            if kind not in list(Kind):
                raise InvalidInput(f"The kind of {name!r} is one of {', '.join(Kind)}, not {kind!r}.")
        for keyword, settings in (("hierarchies", self.hierarchies), ("kinds", self.kinds)):
            for name in settings:
                if name not in self.encoded:
                    raise InvalidInput(
                        f"{keyword} names {name!r}, which is neither a quasi-identifier nor sensitive; give it a role first."
                    )

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns that become codes."""
        return (*self.quasi_identifiers, *self.sensitive)

    def kept_others(self, columns: Iterable[str]) -> list[str]:
        """Those columns of a source, in its order, that are kept as they are."""
        plain = [name for name in columns if name not in self.encoded and name not in self.identifiers]
        return plain if self.others is None else [name for name in plain if name in self.others]

    def refuse_unknown(self, columns: Collection[str]) -> None:
        """Every column that is named must be there, under a name that means one column only."""
        for name in (*self.encoded, *self.identifiers, *(self.others or ())):
            if name == "*" or (name.startswith("^") and name.endswith("$")):  # Polars would take it for a pattern
                raise InvalidInput(
                    f"A column is called {name!r}, which stands for several columns elsewhere; rename it."
                )
            if name not in columns:
                raise unknown_column(name, columns)

    def table(
        self,
        columns: Collection[str],
        coded: Callable[[str], Coded],
        others: pl.DataFrame,
        *,
        frame_kind: str = "polars",
    ) -> Table:
        """Encode the columns that have a role, one at a time; `coded` hands over a column and forgets it."""
        names = [name for name in columns if name in self.encoded]
        sensitive = {name: coded(name) for name in names if name in self.sensitive}
        kept, n_dropped = self._kept_rows(sensitive)
        encoded = [
            self._encode(name, sensitive.pop(name) if name in sensitive else coded(name), kept) for name in names
        ]
        if not encoded[0].codes.size:
            left = f" left: all {n_dropped} lack a sensitive value" if n_dropped else ""
            raise NoRows(f"The table has no rows{left}; there is nothing to release.")
        if kept is not None and others.width:
            others = others.filter(kept)
        identifiers = tuple(name for name in columns if name in self.identifiers)
        return Table(tuple(encoded), others, identifiers, frame_kind, n_dropped, tuple(columns))

    def _kept_rows(self, sensitive: Mapping[str, Coded]) -> tuple[NDArray[np.bool_] | None, int]:
        """Which rows stay (None: all), and how many do not."""
        if self.missing == "own value" or not sensitive:
            return None, 0
        missing = {name: is_missing(column, self.missing_values) for name, column in sensitive.items()}
        for name, rows in missing.items():
            if self.missing == "refuse" and rows.any():
                raise InvalidInput(
                    f"The sensitive column {name!r} is missing in {int(rows.sum())} of {rows.size} rows; say what becomes "
                    "of them: missing='drop' leaves the rows out, missing='own value' makes missing a value like others."
                )
        dropped = np.logical_or.reduce(list(missing.values()))
        return (~dropped, int(dropped.sum())) if dropped.any() else (None, 0)

    def _encode(self, name: str, column: Coded, kept: NDArray[np.bool_] | None) -> Column:
        if kept is not None:
            column = Coded(column.dictionary, column.codes[kept], column.is_text, column.dtype)
        kind = self.kinds.get(name)
        return encode(
            name,
            Role.SENSITIVE if name in self.sensitive else Role.QUASI_IDENTIFIER,
            column,
            kind=None if kind is None else Kind(kind),
            missing_values=self.missing_values,
            builder=self.hierarchies.get(name),
        )
