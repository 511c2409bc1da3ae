# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Who of a value goes where, when places are given by rank: intervals of ranks, found as thresholds of coins.

The rank of a row is how many rows of its value have smaller coins: uniform among all orders, whatever the rows hold
(`boxes_and_buckets` has the argument). A plan made from counts says of every value which ranks go to which fragment. The coin at which one interval
ends and the next begins is an order statistic: parts of the coins' range are counted, and of the few parts that hold a threshold the coins
themselves are fetched. From then on the interval of a row is a function of its value and its coins, and so is its rank inside a fragment
that has all rows of the interval. Two rows whose first coins are equal are told apart by the second.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.boxes_and_buckets import PartOfCoin
from overt.engine.scale.seam import MOST_COUNTED, RowBatch, column_of, count_cells
from overt.engine.scale.staging import COIN, SECOND_COIN, Staged
from overt.kernels.counting import starts_of
from overt.partition import Counts
from overt.table import Codes

CELLS = 1 << 22
MOST_BITS = 20

NumberValues = Callable[[RowBatch], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Of every value the ranks at which its intervals begin, and the fragment of each interval."""

    first: Counts  # (value + 1): its intervals are first[v]:first[v + 1]
    base: Counts  # (interval) -> its least rank
    fragment: Codes  # (interval)

    @classmethod
    def of(cls, begins: list[list[tuple[int, int]]]) -> "RankIntervals":
        """From (least rank, fragment) of the intervals of each value, ascending."""
        first = starts_of(np.array([len(of_value) for of_value in begins], np.int64))
        every = [interval for of_value in begins for interval in of_value]
        base, fragment = np.array(every, np.int64).reshape(-1, 2).T
        return cls(first, np.ascontiguousarray(base), fragment.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Ranked:
    """The interval of every row; and of rows that are together, their ranks."""

    value_of: NumberValues
    intervals: RankIntervals
    coin: NDArray[np.uint64]  # (interval) -> the coins of its first row; of a value's first interval 0
    second: NDArray[np.uint64]

    def __call__(self, rows: RowBatch) -> Codes:
        """The fragment of every row."""
        value = self.value_of(rows)
        return self.intervals.fragment[self.find(value, *_coins(rows))]

    def find(self, value: NDArray[np.int64], coin: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The interval of every row."""
        order = np.argsort(value, kind="stable")
        ends = np.searchsorted(value[order], np.arange(self.intervals.first.size - 1), side="right")
        found = np.empty(value.size, np.int64)
        begin = 0
        for v, end in enumerate(ends):
            here, begin = order[begin:end], end
            if here.size:
                found[here] = self._find_of_value(v, coin[here], second[here])
        return found

    def _find_of_value(self, v: int, coin: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.int64]:
        low, high = int(self.intervals.first[v]), int(self.intervals.first[v + 1])
        coins, seconds = self.coin[low + 1 : high], self.second[low + 1 : high]
        found = low + np.searchsorted(coins, coin, side="left")
        for i in np.flatnonzero(coin == coins[np.minimum(found - low, coins.size - 1)]) if coins.size else ():
            while found[i] < high - 1 and (coins[found[i] - low], seconds[found[i] - low]) <= (coin[i], second[i]):
                found[i] += 1
        return found

    def ranks(self, rows: RowBatch) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
        """Value and rank of every row of a whole fragment; and the rows by value and rank."""
        value, (coin, second) = self.value_of(rows), _coins(rows)
        interval = self.find(value, coin, second)
        order = np.lexsort((second, coin, interval))
        ordered = interval[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        inside = np.arange(ordered.size) - np.repeat(begins, np.diff(np.append(begins, ordered.size)))
        rank = np.empty(value.size, np.int64)
        rank[order] = self.intervals.base[ordered] + inside
        return value, rank, order


def _coins(rows: RowBatch) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    return column_of(rows, COIN).view(np.uint64), column_of(rows, SECOND_COIN).view(np.uint64)


@dataclass(frozen=True, eq=False)
class PartOfValue:
    """Of every row the cell (value, part of the coin)."""

    value_of: NumberValues
    part_of: PartOfCoin

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        return (self.value_of(rows) << self.part_of.bits) + self.part_of(rows)


@dataclass(frozen=True, eq=False)
class InCells:
    """Choose the coins of the rows in some cells."""

    cell_of: PartOfValue
    cells: NDArray[np.int64]

    def __call__(self, rows: RowBatch) -> RowBatch:
        cell = self.cell_of(rows)
        at = np.searchsorted(self.cells, cell)
        chosen = np.flatnonzero(self.cells[np.minimum(at, self.cells.size - 1)] == cell)
        coins = rows.select(COIN, SECOND_COIN)[chosen]
        return coins.with_columns(pl.Series("cell", cell[chosen]))


def rank_by_coins(staged: Staged, value_of: NumberValues, n_values: int, intervals: RankIntervals) -> Ranked:
    """Find the thresholds between the intervals of every value."""
    coin, second = (np.zeros(intervals.base.size, np.uint64) for _ in range(2))
    is_inner = np.ones(intervals.base.size, np.bool_)
    is_inner[intervals.first[:-1][np.diff(intervals.first) > 0]] = False
    if is_inner.any():
        bits = max(0, min(MOST_BITS, (CELLS // max(1, n_values)).bit_length() - 1))
        cell_of = PartOfValue(value_of, PartOfCoin(bits))
        counts = count_cells(staged.engine, staged.data, cell_of, n_values << bits).reshape(n_values, -1)
        upto = np.cumsum(counts, axis=1)
        inner = np.flatnonzero(is_inner)
        value = np.repeat(np.arange(n_values), np.diff(intervals.first))[inner]
        part = np.array(
            [np.searchsorted(upto[v], r, side="right") for v, r in zip(value, intervals.base[inner], strict=True)]
        )
        cell = (value << bits) + part
        wanted = np.unique(cell)
        like = pl.DataFrame(schema={COIN: pl.Int64, SECOND_COIN: pl.Int64, "cell": pl.Int64})
        rows = staged.engine.select(staged.data, InCells(cell_of, wanted), like, MOST_COUNTED)
        coins, seconds = _coins(rows)
        cells = column_of(rows, "cell")
        order = np.lexsort((seconds, coins, cells))
        begin = np.searchsorted(cells[order], cell)
        within = intervals.base[inner] - (upto[value, part] - counts[value, part])
        at = order[begin + within]
        coin[inner], second[inner] = coins[at], seconds[at]
    return Ranked(value_of, intervals, coin, second)
