# SPDX-License-Identifier: Apache-2.0
"""Uniques, and the smallest sets of columns that single them out.

A row is unique if no other agrees with it on all quasi-identifiers. A *minimal unique set* of a row is a set of columns
on which it is unique already, while it is on no part of the set: the fewer the columns, the less somebody must know. A
unique row that needs only some of the columns is a *special unique*.

Paper       M. J. Elliot, A. M. Manning, R. W. Ford, "A Computational Algorithm for Handling the Special Uniques
            Problem", 2002; A. M. Manning, D. J. Haglin, J. A. Keane, "A Recursive Search Algorithm for Statistical
            Disclosure Assessment" (SUDA2), 2008.
Implements  All minimal unique sets of up to `max_size` columns.
Departs     All sets of columns are counted in one pass, saturating at two, instead of by recursion over values.
Guarantee   Exact.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.uniques import count_up_to_two, find_minimal
from overt.metrics.equal_rows import first_rows, number_combinations, rows_alike
from overt.partition import Partition
from overt.table import Column, Table
from overt.threads import in_threads, n_threads

MOST_PLACES = 1 << 24  # combinations of all sets together that are counted in one array
MOST_OF_SET = 1 << 21  # of one set
MOST_WORK = 4_000_000_000  # rows times sets: above it fewer columns are combined
MOST_SETS = 12_000
MOST_COLUMNS = 64  # that are combined; of more, those with most values


@dataclass(frozen=True)
class UniqueSet:
    """A set of columns, and how many rows it singles out while no part of it does."""

    columns: tuple[str, ...]
    n_rows: int


@dataclass(frozen=True, eq=False)
class Uniques:
    """The unique rows of a table."""

    n_rows: int
    n_unique: int
    max_size: int  # sets of more columns were not looked at
    sets: tuple[UniqueSet, ...]  # those that single rows out, most rows first
    n_of_size: tuple[int, ...]  # (size - 1) -> unique rows whose smallest set has so many columns
    rows: NDArray[np.int64]  # the unique rows: for the owner, never printed
    size_of_row: NDArray[np.int32]  # (unique row) -> columns of its smallest set; 0: more than `max_size`
    n_not_combined: int = 0  # columns that are in no set, where there are too many to combine
    n_not_counted: int = (
        0  # sets that were left out, whose combinations are too many to be counted where rows lie elsewhere
    )

    @property
    def n_special(self) -> int:
        """Unique rows that some of the columns are enough for, as far as was looked."""
        return sum(self.n_of_size)


def find_uniques(table: Table, *, max_size: int = 3, alike: Partition | None = None) -> Uniques:
    """Unique rows, and all minimal unique sets of up to `max_size` quasi-identifiers.

    `alike` is `rows_alike(table)`, if that is known already.

    >>> from overt import read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Birth date", "Postcode", "Sex"])
    >>> uniques = find_uniques(table)
    >>> uniques.n_unique, uniques.n_of_size
    (96, (96, 0, 0))
    """
    columns = most_varied(table.quasi_identifiers)
    if max_size < 1:
        raise InvalidInput(f"Sets of at least one column can be searched; max_size is {max_size}.")
    n_left_out = len(table.quasi_identifiers) - len(columns)
    alike = alike or rows_alike(table)
    first_row, n_rows_of = first_rows(alike), alike.sizes
    is_unique = n_rows_of == 1
    n_unique = int(is_unique.sum())
    max_size = affordable_size(len(columns), min(max_size, len(columns)), first_row.size if n_unique else 0)
    sets = [chosen for size in range(1, max_size + 1) for chosen in combinations(range(len(columns)), size)]
    rows = first_row[is_unique].astype(np.int64)
    if not n_unique:
        return Uniques(table.n_rows, 0, max_size, (), (0,) * max_size, rows, np.empty(0, np.int32), n_left_out)
    layout = SetLayout.of([column.n_values for column in columns], sets)
    narrow = np.uint16 if max(column.n_values for column in columns) <= 1 << 16 else np.int32
    codes = np.stack([column.codes[first_row].astype(narrow) for column in columns])
    seen = layout.count(codes, np.minimum(n_rows_of, 2).astype(np.uint8))
    known = np.stack([_is_unique_on(table, sets[s])[rows] for s in layout.wide] or [np.zeros(rows.size, np.uint8)])
    has_unique = layout.has_unique(seen)
    parts = in_threads(lambda codes, known: layout.find(codes, known, seen, has_unique), codes[:, is_unique].T, known.T)
    n_rows_of_set = np.sum([part[0] for part in parts], axis=0)
    size_of_row = np.concatenate([part[1] for part in parts])
    found = [
        UniqueSet(tuple(columns[j].name for j in chosen), int(n))
        for chosen, n in zip(sets, n_rows_of_set, strict=True)
        if n
    ]
    found.sort(key=lambda one: (-one.n_rows, len(one.columns)))
    n_of_size = np.bincount(size_of_row, minlength=max_size + 1)[1:]
    n_sizes = tuple(map(int, n_of_size))
    return Uniques(table.n_rows, n_unique, max_size, tuple(found), n_sizes, rows, size_of_row, n_left_out)


def most_varied(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns that are combined: all, or of too many those with most values, in their order."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    varied = sorted(range(len(columns)), key=lambda place: -columns[place].n_values)[:MOST_COLUMNS]
    return tuple(columns[place] for place in sorted(varied))


@dataclass(frozen=True, eq=False)
class SetLayout:
    """Where the combinations of every set of columns are counted."""

    sets: list[tuple[int, ...]]
    n_values: NDArray[np.int64]  # (column)
    prefix: NDArray[np.int64]  # (set) -> the set without its last column
    last: NDArray[np.int64]
    n_last: NDArray[np.int64]
    offset: NDArray[np.int64]
    n_places: int
    given: NDArray[np.int64]  # (set) -> its place in `wide`
    wide: list[int]  # sets with too many combinations, which are looked at one by one

    @classmethod
    def of(cls, n_values: list[int], sets: list[tuple[int, ...]]) -> "SetLayout":
        number = {chosen: s for s, chosen in enumerate(sets)}
        last = np.array([chosen[-1] for chosen in sets])
        offset, given, n_places = np.full(len(sets), -1), np.full(len(sets), -1), 0
        wide: list[int] = []
        for s, chosen in enumerate(sets):
            size = prod(n_values[j] for j in chosen)
            if size <= MOST_OF_SET and n_places + size <= MOST_PLACES:
                offset[s] = n_places
                n_places += size
            else:
                given[s] = len(wide)
                wide.append(s)
        prefix = np.array([number.get(chosen[:-1], -1) for chosen in sets])
        return cls(sets, np.array(n_values), prefix, last, np.array(n_values)[last], offset, n_places, given, wide)

    def count(self, codes: NDArray[Any], n_rows_of: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(place) -> rows, 2 for more. Few larger sets are counted by row, all others from their tables."""
        seen = np.zeros(self.n_places, np.uint8)

        def count_base(base: tuple[int, ...], parts: list[int]) -> None:
            shape = [int(self.n_values[j]) for j in base]
            table = np.zeros(prod(shape), np.uint8)
            count_up_to_two(codes, n_rows_of, np.array(base), self.n_values[list(base)], table)
            for s in parts:
                axes = tuple(axis for axis, j in enumerate(base) if j not in self.sets[s])
                n_rows = table.reshape(shape).sum(axis=axes, dtype=np.int32).ravel()
                seen[self.offset[s] : self.offset[s] + n_rows.size] = np.minimum(n_rows, 2)  # nobody else's places

        bases = self.bases(codes.shape[1])
        with ThreadPoolExecutor(max_workers=n_threads()) as pool:
            list(pool.map(count_base, bases.keys(), bases.values()))
        return seen

    def bases(self, n_rows: int) -> dict[tuple[int, ...], list[int]]:
        """Sets of columns to count by row, and the sets (by number) whose counts follow from each."""
        most = min(MOST_OF_SET, max(4096, n_rows // 8))
        narrow = set(np.flatnonzero(self.offset >= 0).tolist())
        left = sorted(narrow, key=lambda s: (-len(self.sets[s]), -prod(self.n_values[list(self.sets[s])].tolist())))
        bases: dict[tuple[int, ...], list[int]] = {}
        while left:
            base = set(self.sets[left[0]])
            for j in np.argsort(self.n_values, kind="stable").tolist():
                if prod(self.n_values[list(base | {j})].tolist()) <= most:
                    base.add(j)
            parts = [s for s in left if base.issuperset(self.sets[s])]
            bases[tuple(sorted(base))] = parts
            left = [s for s in left if not base.issuperset(self.sets[s])]
        return bases

    def has_unique(self, seen: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(set) -> whether some row may be unique on it."""
        narrow = np.flatnonzero(self.offset >= 0)
        has = np.ones(self.offset.size, np.bool_)
        if narrow.size:
            has[narrow] = np.add.reduceat(seen == 1, self.offset[narrow], dtype=np.int64) > 0
        return has

    def find(
        self, codes: NDArray[Any], known: NDArray[np.uint8], seen: NDArray[np.uint8], has_unique: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(set) -> rows that it singles out while no part of it does; and (row) -> the size of its smallest set."""
        needed = has_unique.copy()
        for s in range(needed.size - 1, -1, -1):  # a key is made from that of its prefix
            if needed[s] and self.prefix[s] >= 0:
                needed[self.prefix[s]] = True
        number = np.append(np.cumsum(needed) - 1, -1)  # a prefix of -1 finds the last entry
        where = (number[self.prefix[needed]], self.last[needed], self.n_last[needed], self.offset[needed])
        rows = np.ascontiguousarray(codes), np.ascontiguousarray(known.T)
        found, size_of_row = cast(Any, find_minimal)(
            rows[0], *where, seen, has_unique[needed], self.given[needed], rows[1]
        )
        n_rows_of_set = np.zeros(needed.size, np.int64)
        n_rows_of_set[needed] = found
        return n_rows_of_set, size_of_row


def _is_unique_on(table: Table, chosen: tuple[int, ...]) -> NDArray[np.uint8]:
    """(row) -> whether it is the only one with its combination."""
    number, n_numbers = number_combinations([table.quasi_identifiers[j] for j in chosen])
    is_unique: NDArray[np.uint8] = (np.bincount(number, minlength=n_numbers) == 1)[number].astype(np.uint8)
    return is_unique


def affordable_size(n_columns: int, max_size: int, n_rows: int) -> int:
    """The most columns that can be combined without days of work."""

    def n_sets() -> int:
        return sum(comb(n_columns, size) for size in range(1, max_size + 1))

    while max_size > 1 and (n_rows * n_sets() > MOST_WORK or n_sets() > MOST_SETS):
        max_size -= 1
    return max_size
