# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_frames.py
"""From numbered columns to a table: who plays which role, and what becomes of missing sensitive values."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.io.date_formats import DateFormats, formats_of
from overt.io.encoding import (
    Coded,
    Unreadable,
    encode,
    find_unreadable,
    is_missing,
    kind_of_format,
    positions_without,
    without_entries,
)
from overt.io.number_formats import NumberFormat
from overt.io.person_rows import PersonRows, gather_persons
from overt.table import Column, Kind, Role, Table, unknown_column

if TYPE_CHECKING:
    from overt.hierarchy import Builder

Missing = Literal["refuse", "drop", "own value"]


class NoRows(InvalidData):
    """There is nothing to release."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Intake:
    """How the columns of a source are to be read: the keywords that all doors share.

    `missing` says what becomes of a row without a sensitive value: "refuse" the table, "drop" the row, or let missing
    be an "own value". `date_formats` says how dates are written (`"%d.%m.%Y"`, or several) or numbers (`"1.234,5"`), `unreadable` of a column whether a cell
    that is no number or date is refused or "missing". `missing_values` are the texts that mean "missing". `others` names the columns without a role
    that are kept for release; None keeps all of them.

    With `row_by_row` no row has a say in how another is read, as differentially private releases need it: every cell is a text found
    from the cell alone, what cannot be read is missing, columns without a role are not kept, and no row is refused.

    Rows that are `left_out` have no say in anything: the others are read as if those were not there.
    """

    quasi_identifiers: Collection[str]
    sensitive: Collection[str] = ()
    identifiers: Collection[str] = ()
    hierarchies: "Mapping[str, Builder]" = field(default_factory=dict)
    kinds: Mapping[str, Kind | str] = field(default_factory=dict)
    date_formats: Mapping[str, str | Sequence[str] | DateFormats | NumberFormat] = field(default_factory=dict)
    unreadable: Mapping[str, Unreadable] = field(default_factory=dict)
    missing: Missing = "refuse"
    missing_values: Collection[str] = ("",)
    others: Collection[str] | None = None
    row_by_row: bool = False
    left_out: NDArray[np.intp] | None = None  # the positions of rows that are read as if they were not there
    persons: PersonRows | None = None  # whose the rows are, if a person can have several

    def __post_init__(self) -> None:
        for keyword in ("quasi_identifiers", "sensitive", "identifiers", "missing_values", "others"):
            given = getattr(self, keyword)
            if isinstance(given, str):
                raise InvalidInput(f"{keyword} takes a list of texts; write [{given!r}] instead of {given!r}.")
        if not self.quasi_identifiers:
            raise InvalidInput("No quasi-identifier is named; name at least one column that an adversary may know.")
        if self.persons is not None:
            self._check_persons(self.persons)
        named = [*self.quasi_identifiers, *self.sensitive, *self.identifiers, *(self.others or ())]
        for name in named:
            if named.count(name) > 1:
                raise InvalidInput(f"Column {name!r} is given more than one role, or one role twice; a column has one.")
        if self.missing not in ("refuse", "drop", "own value"):
            raise InvalidInput(f"missing is 'refuse', 'drop' or 'own value', not {self.missing!r}.")
        if self.row_by_row and (
            self.hierarchies or self.kinds or self.others or self.missing != "refuse" or self.unreadable
        ):
            raise InvalidInput(
                "A table that is read row by row has texts in every column and missing ones among them, and nothing beside them: "
                "leave out hierarchies (a differentially private method has its own), kinds, unreadable, missing and others."
            )
        for name, kind in self.kinds.items():
            if kind not in list(Kind):
                raise InvalidInput(f"The kind of {name!r} is one of {', '.join(Kind)}, not {kind!r}.")
        for name, formats in self.date_formats.items():
            kind = kind_of_format(formats_of(formats))
            if self.kinds.get(name, kind) != kind:
                raise InvalidInput(
                    f"Column {name!r} has a format of {kind}s and the kind {self.kinds[name]!r}; keep one."
                )
        for name, choice in self.unreadable.items():
            if choice not in ("refuse", "missing"):
                raise InvalidInput(f"unreadable of {name!r} is 'refuse' or 'missing', not {choice!r}.")
        for keyword, settings in (
            ("hierarchies", self.hierarchies),
            ("kinds", self.kinds),
            ("date_formats", self.date_formats),
            ("unreadable", self.unreadable),
        ):
            for name in settings:
                if name not in self.encoded:
                    raise InvalidInput(
                        f"{keyword} names {name!r}, which is neither a quasi-identifier nor sensitive; give it a role first."
                    )

    def _check_persons(self, persons: PersonRows) -> None:
        """What is said of persons must fit the roles."""
        if persons.column in (*self.encoded, *(self.others or ())):
            raise InvalidInput(
                f"Column {persons.column!r} says whose row it is and is never released; give it the role 'identifier', or none."
            )
        if persons.order in self.sensitive:
            raise InvalidInput(
                f"Column {persons.order!r} is sensitive and cannot be the order: what is cut, or comes first, would tell of it. Name a date."
            )
        if persons.order == persons.column:
            raise InvalidInput(f"Column {persons.order!r} says whose row it is; the order is another column.")
        for name in persons.varies:
            if name not in self.quasi_identifiers:
                raise InvalidInput(
                    f"varies names {name!r}, which is no quasi-identifier; sensitive columns vary as they are."
                )
        if self.row_by_row:
            raise InvalidInput(
                "A differentially private method protects one row, and a person here has several: of all of them it promises less than it "
                'says. Make a file with one row per person, or use "blind-buckets".'
            )

    @property
    def numbered(self) -> tuple[str, ...]:
        """The columns that are read as codes: those that become codes, and those that say whose a row is and which is earlier."""
        if self.persons is None:
            return self.encoded
        beside = dict.fromkeys((self.persons.column, self.persons.order))
        return (*self.encoded, *(name for name in beside if name is not None and name not in self.encoded))

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns that become codes."""
        return (*self.quasi_identifiers, *self.sensitive)

    def kept_others(self, columns: Iterable[str]) -> list[str]:
        """Those columns of a source, in its order, that are kept as they are."""
        if self.row_by_row:
            return []
        plain = [name for name in columns if name not in self.numbered and name not in self.identifiers]
        return plain if self.others is None else [name for name in plain if name in self.others]

    def refuse_unknown(self, columns: Collection[str]) -> None:
        """Every column that is named must be there, under a name that means one column only.

        Where none of several is, what stands for names may be somebody's row, and is not repeated.
        """
        named = (*self.numbered, *self.identifiers, *(self.others or ()))
        if len(named) > 1 and columns and not set(named) & set(columns):
            raise InvalidInput(
                f"There is no column {named[0]!r}, nor any other that is named. If the first line is not the names of the columns, "
                "put them there; else name columns as they are called."
            )
        for name in named:
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
        undeclared: Collection[str] = (),
    ) -> Table:
        """Encode the columns that have a role, one at a time; `coded` hands over a column and forgets it.

        The source says nothing of the types of `undeclared` columns: they were found from all their cells.
        """
        names = [name for name in columns if name in self.encoded]
        if self.left_out is not None:
            every, left_out = coded, self.left_out
            coded = lambda name: every(name).without(left_out)  # noqa: E731
            others = others[positions_without(left_out, others.height)] if others.width else others
        if self.unreadable:
            raw = coded
            coded = lambda name: self.readable(name, raw(name))  # noqa: E731
        if self.persons is not None:
            table = gather_persons(self, tuple(columns), coded, others, frame_kind)
            return replace(table, undeclared=frozenset(undeclared))
        sensitive = {name: coded(name) for name in names if name in self.sensitive}
        kept, n_dropped = self._kept_rows(sensitive)
        encoded = [
            self._encode(name, sensitive.pop(name) if name in sensitive else coded(name), kept) for name in names
        ]
        if not encoded[0].codes.size and not self.row_by_row:
            left = f" left: all {n_dropped} lack a sensitive value" if n_dropped else ""
            raise NoRows(f"The table has no rows{left}; there is nothing to release.")
        if kept is not None and others.width:
            others = others.filter(kept)
        identifiers = tuple(name for name in columns if name in self.identifiers)
        return Table(
            tuple(encoded), others, identifiers, frame_kind, n_dropped, tuple(columns), self.row_by_row, undeclared=frozenset(undeclared),
        )  # fmt: skip

    def _kept_rows(self, sensitive: Mapping[str, Coded]) -> tuple[NDArray[np.bool_] | None, int]:
        """Which rows stay (None: all), and how many do not."""
        if self.missing == "own value" or self.row_by_row or not sensitive:
            return None, 0
        missing = {name: is_missing(column, self.missing_values) for name, column in sensitive.items()}
        for name, rows in missing.items():
            if self.missing == "refuse" and rows.any():
                raise InvalidData(
                    f"The sensitive column {name!r} is missing in {int(rows.sum())} of {rows.size} rows; say what becomes "
                    "of them: missing='drop' leaves the rows out, missing='own value' makes missing a value like others."
                )
        dropped = np.logical_or.reduce(list(missing.values()))
        return (~dropped, int(dropped.sum())) if dropped.any() else (None, 0)

    def readable(self, name: str, column: Coded) -> Coded:
        """A column whose cells that are no number, or no date, are missing if that was asked for."""
        formats = formats_of(self.date_formats[name]) if name in self.date_formats else None
        kind = self.kinds.get(name, None if formats is None else kind_of_format(formats))
        if self.unreadable.get(name) != "missing" or kind is None:
            return column
        return without_entries(column, find_unreadable(column, Kind(kind), formats, self.missing_values))

    def encode(self, name: str, column: Coded, kind: Kind | None = None) -> Column:
        """A column as it is said to be read, or as of the kind that was found; one without a role as a quasi-identifier."""
        return self._encode(name, column, None, kind)

    def _encode(self, name: str, column: Coded, kept: NDArray[np.bool_] | None, found: Kind | None = None) -> Column:
        if kept is not None:
            column = column.at(np.flatnonzero(kept))
        kind, role = self.kinds.get(name, found), Role.SENSITIVE if name in self.sensitive else Role.QUASI_IDENTIFIER
        formats = formats_of(self.date_formats[name]) if name in self.date_formats else None
        if self.row_by_row:
            if formats is not None and column.dtype in (None, pl.String):  # other types have no format
                column = replace(column, dictionary=formats.read_texts(column.dictionary))
            return encode(name, role, column, kind=Kind.CATEGORY, missing_values=self.missing_values)
        return encode(
            name,
            role,
            column,
            kind=None if kind is None else Kind(kind),
            missing_values=self.missing_values,
            builder=self.hierarchies.get(name),
            date_formats=formats,
        )
