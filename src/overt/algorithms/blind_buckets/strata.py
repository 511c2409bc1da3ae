# SPDX-License-Identifier: Apache-2.0
"""Strata: parts of a table that share no box and no bucket, told apart by quasi-identifiers and fixed before values are seen.

Values stay near the people they belong to, which queries need and which leaves less to guess from correlations. How deep strata may be depends
on the values: too deep, and one cannot be planned. Whoever tries depths until one works, looking at the people who are
published, tells them so: with the strata {0, 1} and {2, 3, 4} refused for 2-diversity of HIV, HIV, flu, cold, asthma, both HIV must be
in one of the two, and person 2 has it with 2/3. So a method is given its strata and refuses where they do not do.

`Halvings` and `ByColumns` look at quasi-identifiers alone. A `StrataTree` is a list of questions that anybody may have chosen in any way
that does not depend on the people who are published; `overt.algorithms.blind_buckets.pilot` grows one.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.counted_strata import strata_of
from overt.errors import InvalidInput
from overt.partition import Partition
from overt.privacy.base import exact, require_whole
from overt.table import Codes, Column, Kind, Table, unknown_column

EXPECTED = (
    "strata are { halvings = 3 }, { by = ['Sex'] }, or a tree of { column = 'Age', up_to = 40, yes = {...}, no = {...} } and "
    "{ column = 'Sex', among = ['F'], yes = {...}, no = {...} }"
)


class Strata(ABC):
    """A way to tell the stratum of a row from its quasi-identifiers."""

    @abstractmethod
    def divide(self, table: Table) -> Partition:
        """The stratum of every row, strata numbered in an order that quasi-identifiers decide."""

    @property
    @abstractmethod
    def most_strata(self) -> int:
        """How many there are at most; 0 if that depends on which values of some columns occur, none of which is ever mixed with another."""

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """As a recipe writes it: texts, numbers, lists and tables, which `strata_of_plain` reads."""


@dataclass(frozen=True)
class Halvings(Strata):
    """Every stratum halved `n` times, each time along the column of whose values it covers the largest share.

    The cut is the boundary between two values nearest to the middle of the rows; a stratum whose rows are all alike is left
    whole. `columns` are those that are cut; without names all quasi-identifiers.
    """

    n: int = 0
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_whole("halvings", self.n, least=0)
        object.__setattr__(self, "columns", names_of("columns", self.columns))

    def divide(self, table: Table) -> Partition:
        columns = quasi_identifiers_of(table, self.columns)
        parts = [np.arange(table.n_rows, dtype=np.int32)]
        for _ in range(self.n):
            parts = [half for part in parts for half in halve(columns, part)]
        return partition_of_parts(parts, table.n_rows)

    @property
    def most_strata(self) -> int:
        return 2**self.n

    def plain(self) -> dict[str, Any]:
        return {"halvings": self.n} | ({"columns": list(self.columns)} if self.columns else {})


@dataclass(frozen=True)
class ByColumns(Strata):
    """One stratum for each combination of the values of some quasi-identifiers."""

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", names_of("by", self.by))
        if not self.by:
            raise InvalidInput("'by' is empty; name the quasi-identifiers whose values are never mixed.")

    def divide(self, table: Table) -> Partition:
        return Partition(*strata_of(table, self.by))

    @property
    def most_strata(self) -> int:
        return 0

    def plain(self) -> dict[str, Any]:
        return {"by": list(self.by)}


@dataclass(frozen=True)
class UpTo:
    """A question about numbers or dates: is the value at most this? A missing value is not."""

    column: str
    limit: int | float | str  # a date is written 2024-12-31

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int | float | str | date):
            raise InvalidInput(f"'up_to' of {self.column!r} needs a number or a date.")
        require_name(self.column)
        if isinstance(self.limit, date):
            object.__setattr__(self, "limit", self.limit.isoformat())
        if isinstance(self.limit, str):
            try:
                datetime.fromisoformat(self.limit)
            except ValueError:
                raise InvalidInput(
                    f"'up_to' of {self.column!r}: {self.limit!r} is no date; write one as '2024-12-31'."
                ) from None

    def answer(self, column: Column) -> NDArray[np.bool_]:
        """(code) -> yes."""
        if column.kind is Kind.CATEGORY:
            raise InvalidInput(f"{column.name!r} has no order for 'up_to'; name values under 'among'.")
        if (column.kind is Kind.DATE) != isinstance(self.limit, str):
            expected = "a date such as '2024-12-31'" if column.kind is Kind.DATE else "a number"
            raise InvalidInput(f"'up_to' of {column.name!r} needs {expected}.")
        if isinstance(self.limit, str):
            return np.array(
                [value is not None and value.isoformat() <= self.limit for value in column.values], np.bool_
            )
        limit = exact(self.limit)
        return np.array([value is not None and exact(value) <= limit for value in column.values], np.bool_)

    def plain(self) -> dict[str, Any]:
        return {"column": self.column, "up_to": self.limit}


@dataclass(frozen=True)
class Among:
    """A question about categories: is the value one of these? A missing value, or one that nobody thought of, is not."""

    column: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        require_name(self.column)
        object.__setattr__(self, "values", names_of("among", self.values))

    def answer(self, column: Column) -> NDArray[np.bool_]:
        """(code) -> yes."""
        if column.kind is not Kind.CATEGORY:
            raise InvalidInput(f"{column.name!r} has an order; ask 'up_to' instead of 'among'.")
        return (
            np.isin(np.array([str(value) for value in column.values]), self.values)
            & column.values.is_not_null().to_numpy()
        )

    def plain(self) -> dict[str, Any]:
        return {"column": self.column, "among": list(self.values)}


@dataclass(frozen=True)
class StrataTree(Strata):
    """Questions about quasi-identifiers, and what is asked next of those who say yes and of those who say no.

    A leaf is a tree without a question: a stratum.
    """

    question: UpTo | Among | None = None
    yes: "StrataTree | None" = field(default=None)
    no: "StrataTree | None" = field(default=None)

    def __post_init__(self) -> None:
        if (self.question is None) != (self.yes is None) or (self.yes is None) != (self.no is None):
            raise InvalidInput("A tree has a question with what follows on yes and on no, or none of the three.")

    @classmethod
    def of(cls, plain: Any) -> "StrataTree":
        """A tree from what `plain` gives."""
        return tree_of_plain(plain)

    @property
    def n_strata(self) -> int:
        """How many strata there are, some of which may be empty."""
        return 1 if self.yes is None or self.no is None else self.yes.n_strata + self.no.n_strata

    @property
    def most_strata(self) -> int:
        return self.n_strata

    def divide(self, table: Table) -> Partition:
        return partition_of_parts(self._leaves(table, np.arange(table.n_rows, dtype=np.int32)), table.n_rows)

    def _leaves(self, table: Table, rows: Codes) -> list[Codes]:
        if self.question is None or self.yes is None or self.no is None:
            return [rows]
        column = quasi_identifiers_of(table, (self.question.column,))[0]
        says_yes = self.question.answer(column)[column.codes[rows]]
        return self.yes._leaves(table, rows[says_yes]) + self.no._leaves(table, rows[~says_yes])

    def plain(self) -> dict[str, Any]:
        if self.question is None or self.yes is None or self.no is None:
            return {}
        return {**self.question.plain(), "yes": self.yes.plain(), "no": self.no.plain()}


def strata_of_plain(plain: Any) -> Strata:
    """Strata from what `plain` gives, or a recipe holds."""
    if isinstance(plain, Strata):
        return plain
    if not isinstance(plain, Mapping):
        raise InvalidInput(f"Strata are written as a table: {EXPECTED}.")
    keys = set(plain)
    if "halvings" in keys and keys <= {"halvings", "columns"}:
        return Halvings(plain["halvings"], plain.get("columns", ()))
    if keys == {"by"}:
        return ByColumns(plain["by"])
    return tree_of_plain(plain)


def tree_of_plain(plain: Any) -> StrataTree:
    """A tree from tables in tables; an empty one is a stratum."""
    if not isinstance(plain, Mapping):
        raise InvalidInput(f"Strata are written as a table: {EXPECTED}.")
    if not plain:
        return StrataTree()
    keys = set(plain)
    if not {"column"} < keys <= {"column", "up_to", "among", "yes", "no"} or ("up_to" in keys) == ("among" in keys):
        raise InvalidInput(f"Strata have the keys {', '.join(map(repr, sorted(map(str, keys))))}; {EXPECTED}.")
    question = UpTo(plain["column"], plain["up_to"]) if "up_to" in keys else Among(plain["column"], plain["among"])
    return StrataTree(question, tree_of_plain(plain.get("yes", {})), tree_of_plain(plain.get("no", {})))


def require_name(column: Any) -> None:
    """Refuse what cannot be the name of a column."""
    if not isinstance(column, str):
        raise InvalidInput(f"'column' needs the name of a quasi-identifier; {EXPECTED}.")


def names_of(key: str, names: Any) -> tuple[str, ...]:
    """A tuple of texts; a single text is refused, which would be taken for its letters."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"{key!r} needs texts in a list.")
    return tuple(names)


def quasi_identifiers_of(table: Table, names: tuple[str, ...]) -> tuple[Column, ...]:
    """The quasi-identifiers of these names; all without names."""
    known = {column.name: column for column in table.quasi_identifiers}
    for name in names:
        if name not in known:
            if any(column.name == name for column in table.columns):
                raise InvalidInput(
                    f"Strata need quasi-identifiers and {name!r} is none: strata made of values would give them away."
                )
            raise unknown_column(name, known)
    return tuple(known[name] for name in names) if names else table.quasi_identifiers


def partition_of_parts(parts: list[Codes], n_rows: int) -> Partition:
    """The partition whose groups are those of these parts that have rows."""
    parts = [part for part in parts if part.size]
    group_of_row = np.full(n_rows, -1, np.int32)
    for number, part in enumerate(parts):
        group_of_row[part] = number
    return Partition(group_of_row, len(parts))


def halve(columns: tuple[Column, ...], rows: Codes) -> list[Codes]:
    """Two halves of a part, or the part itself if all its rows are alike."""
    counts = [np.bincount(column.codes[rows], minlength=column.n_values) for column in columns]
    found = where_to_halve(counts)
    if found is None:
        return [rows]
    widest, last = found
    goes_left = columns[widest].codes[rows] <= last
    return [rows[goes_left], rows[~goes_left]]


def where_to_halve(counts: list[NDArray[np.int64]]) -> tuple[int, int] | None:
    """The column to cut and the last code that goes left, from how often every code of every column occurs; None if all rows are alike."""
    shares = [np.count_nonzero(of_code) / of_code.size if np.count_nonzero(of_code) > 1 else 0.0 for of_code in counts]
    widest = int(np.argmax(shares))
    if not shares[widest]:
        return None
    n_rows = int(counts[widest].sum())
    below = np.cumsum(counts[widest])[:-1]  # (code) -> rows up to it
    uneven = np.where((below > 0) & (below < n_rows), np.abs(2 * below - n_rows), n_rows)
    return widest, int(np.argmin(uneven))
