# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/downcoding/test_tiers.py
"""Bounds: of the rows of every published class, how many at least and at most have which values of a column.

A cell is divided into items, ranges of neighbouring codes that have nothing in common. A range `20..35` is its two ends and
what lies between; a set its members; a label the labels below it. An item is counted in every class that shows the cell.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overt.table import Codes

Counts = NDArray[np.int64]
MOST_ROUNDS = 20  # of settling; every round is sound by itself


class CellItems(NamedTuple):
    """The items of each distinct cell of a column: item i of cell c for i in `first[c]:first[c + 1]`."""

    first: Counts  # (cell + 1)
    least: Codes  # (item) -> its first code
    greatest: Codes  # (item) -> its last code
    occurs: NDArray[np.bool_]  # (item) -> whether some row of the class surely has one of its values
    not_all: NDArray[np.bool_]  # (item) -> whether some row of the class surely has none of them

    @classmethod
    def of(cls, cells: "Iterable[Iterable[tuple[int, int, bool, bool]]]") -> "CellItems":
        """From a list of (least, greatest, occurs, not_all) for each cell."""
        lists = [list(items) for items in cells]
        first = np.append(0, np.cumsum([len(items) for items in lists], dtype=np.int64))
        flat = np.array([item for items in lists for item in items], np.int64).reshape(-1, 4)
        return cls(first, flat[:, 0].astype(np.int32), flat[:, 1].astype(np.int32), flat[:, 2] > 0, flat[:, 3] > 0)

    def covering(self) -> "CellItems":
        """The same items, if nothing is known but that the values are among them."""
        nothing = np.zeros_like(self.occurs)
        return self._replace(occurs=nothing, not_all=nothing)


@dataclass(frozen=True, eq=False)
class CountBounds:
    """How many rows of each class have a value of an item: from `lo` to `hi`."""

    n_rows: Counts  # (class)
    first: Counts  # (class + 1) -> where its items begin
    least: Codes  # (item)
    greatest: Codes  # (item)
    lo: Counts  # (item)
    hi: Counts  # (item)

    @classmethod
    def of(cls, items: CellItems, cell_of_class: Codes, n_rows: Counts) -> "CountBounds":
        """What the cells alone say, settled."""
        n_items = np.diff(items.first)[cell_of_class]
        first = np.append(0, np.cumsum(n_items))
        item = np.arange(first[-1]) + np.repeat(items.first[cell_of_class] - first[:-1], n_items)
        lo = items.occurs[item].astype(np.int64)
        hi = np.repeat(n_rows, n_items) - items.not_all[item]
        return cls(n_rows, first, items.least[item], items.greatest[item], lo, hi).settled()

    def settled(self) -> "CountBounds":
        """What the sums say: an item has the rows that the others cannot have, and not those that they must have."""
        lo, hi, m = self.lo, self.hi, np.repeat(self.n_rows, self.n_items)
        for _ in range(MOST_ROUNDS):
            new_hi = np.minimum(hi, m - (self.spread(self.sum(lo)) - lo))
            new_lo = np.maximum(lo, m - (self.spread(self.sum(new_hi)) - new_hi))
            if np.array_equal(new_lo, lo) and np.array_equal(new_hi, hi):
                break
            lo, hi = new_lo, new_hi
        return CountBounds(self.n_rows, self.first, self.least, self.greatest, lo, hi)

    def narrowed(self, lo: Counts, hi: Counts) -> "CountBounds":
        """With other bounds that hold too."""
        both = CountBounds(
            self.n_rows, self.first, self.least, self.greatest, np.maximum(self.lo, lo), np.minimum(self.hi, hi)
        )
        return both.settled()

    @property
    def n_items(self) -> Counts:
        """(class) -> items of its cell."""
        return np.diff(self.first)

    @property
    def is_value(self) -> NDArray[np.bool_]:
        """(item) -> whether it is a single value."""
        return self.least == self.greatest

    def sum(self, of_item: NDArray[Any]) -> Counts:
        """(class) -> the sum over its items, of which there is at least one."""
        return np.add.reduceat(of_item.astype(np.int64), self.first[:-1]) if self.first.size > 1 else self.n_rows

    def most(self, of_item: NDArray[Any]) -> Counts:
        """(class) -> the largest among its items."""
        return np.maximum.reduceat(of_item.astype(np.int64), self.first[:-1]) if self.first.size > 1 else self.n_rows

    def spread(self, of_class: Counts) -> Counts:
        """(item) -> what its class has."""
        return np.repeat(of_class, self.n_items)
