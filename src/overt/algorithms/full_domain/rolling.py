# SPDX-License-Identifier: Apache-2.0
"""Groups of any node of the lattice, counted from distinct rows or from a finer node that was counted before.

Rows that agree on all quasi-identifiers never part, so everything is done on distinct rows with multiplicities, and the
work grows with their number. A node above one that is still remembered is counted from the groups of that one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.counting import order_by_code, starts_of
from overt.kernels.rolling import fewest_below, keys_of, merge_histograms, merge_sizes, number_keys, parts_of_packs
from overt.lattice import Lattice, Node, nodes_of_levels
from overt.partition import Counts, Groups, Histogram
from overt.table import Codes, Column, Table

LARGEST_KEY = 2**62
PACKED = 1024  # codes of a pack: its table of sums is filled anew for every node
REMEMBERED = 6  # groups of remembered nodes, as a multiple of distinct rows: bounds the memory
_NO_CODES = np.empty(0, np.int32)
_NO_COUNTS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Which node of its hierarchy each code of each column has at each level, numbered from 0 in the order of codes."""

    rank: Codes  # column by column, level by level, code by code
    begin: tuple[tuple[int, ...], ...]  # (column, level) -> where its codes begin
    n_ranks: tuple[tuple[int, ...], ...]  # (column, level) -> how many there are
    penalty: Counts  # as `rank`: how many other values the cell leaves possible
    most: tuple[int, ...]  # (column) -> the penalty of `*`

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "Ranks":
        parts, penalties, begin, n_ranks, at = [], [], [], [], 0
        for column in columns:
            begin_of_level, n_of_level = [], []
            for nodes in nodes_of_levels(column):
                is_new = np.append(False, nodes[1:] != nodes[:-1])[: nodes.size]
                rank = np.cumsum(is_new, dtype=np.int32)
                n = int(rank[-1]) + 1 if rank.size else 0
                parts.append(rank)
                penalties.append(np.bincount(rank, minlength=n)[rank] - 1)
                begin_of_level.append(at)
                n_of_level.append(n)
                at += rank.size
            begin.append(tuple(begin_of_level))
            n_ranks.append(tuple(n_of_level))
        return cls(
            np.concatenate(parts).astype(np.int32),
            tuple(begin),
            tuple(n_ranks),
            np.concatenate(penalties).astype(np.int64),
            tuple(column.n_values - 1 for column in columns),
        )


@dataclass(frozen=True, eq=False)
class Rolled:
    """The groups of one node: a row that represents each, how many rows it has, and their sensitive values."""

    node: Node
    representative: Codes
    groups: Groups

    @property
    def n_groups(self) -> int:
        return int(self.representative.size)

    @property
    def sizes(self) -> Counts:
        return self.groups.sizes


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a table whose rows lie elsewhere, as they were counted there."""

    codes: Codes  # (distinct row, column)
    groups: Groups  # how many rows each is, and their sensitive values if a goal looks at them


class RolledRows:
    """The distinct rows of a table, and the memory of nodes already counted.

    `codes` is (distinct row, column) and `packs` (distinct row, pack). Goals that look at sizes only need no sensitive
    values to be counted.
    """

    def __init__(self, table: Table, *, counts_sensitive: bool = True, distinct: DistinctRows | None = None) -> None:
        columns = table.quasi_identifiers
        if not table.n_rows and distinct is None:
            raise InvalidInput("The table has no rows, so there is nothing to generalize; give a table with rows.")
        self.table = table
        self.lattice, self.ranks = Lattice.of(columns), Ranks.of(columns)
        n_codes = [column.n_values for column in columns]
        self._n_codes, self.packing = np.array(n_codes, np.int64), PackedColumns.of(n_codes)
        if distinct is not None:
            self.n_rows, self.codes = int(distinct.groups.sizes.sum()), distinct.codes
            self.packs, self.distinct_of_row = self.packing.pack(distinct.codes, n_codes), _NO_CODES
            numbers = np.arange(distinct.groups.n_groups, dtype=np.int32)
            self.finest = Rolled(self.lattice.bottom, numbers, distinct.groups)
            self._memory = Memory(REMEMBERED * size_of(self.finest))
            return
        self.n_rows = table.n_rows
        codes = np.stack([column.codes for column in columns], axis=1)
        packs = self.packing.pack(codes, n_codes)
        rows = np.arange(table.n_rows, dtype=np.int32)
        self.distinct_of_row, n_distinct = self._number(packs, rows, self.lattice.bottom)
        representative, sizes = merge_sizes(self.distinct_of_row, n_distinct, rows, _NO_COUNTS)
        self.codes, self.packs = codes[representative], packs[representative]
        histograms = {}
        if counts_sensitive:
            order = order_by_code(self.distinct_of_row, n_distinct, rows)
            counted = Groups.of_ranges(table.sensitive, order, starts_of(sizes))
            histograms = dict(counted.histograms)
        self.finest = Rolled(self.lattice.bottom, np.arange(n_distinct, dtype=np.int32), Groups(sizes, histograms))
        self._memory = Memory(REMEMBERED * size_of(self.finest))

    def at(self, node: Node) -> Rolled:
        """The groups of a node."""
        finer = self._memory.coarsest_below(node) or self.finest
        if finer.node == node:
            return finer
        number, n_groups = self._number(self.packs, finer.representative, node)
        representative, sizes = merge_sizes(number, n_groups, finer.representative, finer.sizes)
        histograms = {}
        for name, found in finer.groups.histograms.items():
            first, value, count = merge_histograms(
                number, n_groups, found.first, found.value, found.count, found.n_values
            )
            histograms[name] = Histogram(
                first, value, count, found.total_of_value, found.node_of_value, labels=found.labels
            )
        rolled = Rolled(node, representative, Groups(sizes, histograms))
        if 2 * rolled.n_groups <= self.finest.n_groups:  # from the finest rows it would take not much longer
            self._memory.keep(rolled)
        return rolled

    def group_of_distinct(self, node: Node) -> Codes:
        """The group of every distinct row at a node."""
        return self._number(self.packs, self.finest.representative, node)[0]

    def _number(self, packs: NDArray[Any], representative: Codes, node: Node) -> tuple[Codes, int]:
        """Groups numbered by their keys, in several passes if one key cannot hold all columns."""
        begin = np.array([begins[level] for begins, level in zip(self.ranks.begin, node, strict=True)], np.int64)
        number, n_numbers = _NO_CODES, 1
        for stride, n_keys in self._passes(node, representative.size):
            part = parts_of_packs(
                self.packing.first_column, self._n_codes, self.ranks.rank, begin, stride, self.packing.first
            )
            keys = keys_of(packs, representative, part, self.packing.first, number, n_keys)
            number, n_numbers = number_keys(keys, n_keys * n_numbers, 4 * representative.size + 1024)
        return number, n_numbers

    def _passes(self, node: Node, n: int) -> Iterator[tuple[Counts, int]]:
        """Strides of the columns that fit into a key beside n earlier groups, and the number of keys; others have 0."""
        stride, n_keys = np.zeros(len(node), np.int64), 1
        for j, level in enumerate(node):
            n_ranks = self.ranks.n_ranks[j][level]
            if n_keys * n_ranks * n > LARGEST_KEY:
                yield stride, n_keys
                stride, n_keys = np.zeros(len(node), np.int64), 1
            if n_ranks > 1:
                stride[j] = n_keys
                n_keys *= n_ranks
        yield stride, n_keys


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Neighbouring columns with few codes together as one."""

    first_column: Counts  # (pack + 1)
    first: Counts  # (pack + 1) -> where the codes of a pack begin if they lie one after the other

    @classmethod
    def of(cls, n_codes: Sequence[int]) -> "PackedColumns":
        first_column: list[int] = []
        sizes: list[int] = []
        for j, n in enumerate(n_codes):
            if sizes and sizes[-1] * n <= PACKED:
                sizes[-1] *= n
            else:
                first_column.append(j)
                sizes.append(n)
        return cls(np.array([*first_column, len(n_codes)], np.int64), np.append(0, np.cumsum(sizes)).astype(np.int64))

    def pack(self, codes: NDArray[Any], n_codes: Sequence[int]) -> NDArray[np.int32]:
        """(row, pack) from (row, column)."""
        packs = np.empty((len(codes), self.first_column.size - 1), np.int32)
        for p, (begin, end) in enumerate(zip(self.first_column[:-1], self.first_column[1:], strict=True)):
            packs[:, p] = codes[:, begin]
            for j in range(begin + 1, end):
                packs[:, p] *= n_codes[j]
                packs[:, p] += codes[:, j]
        return packs


class Memory:
    """Nodes counted before, up to a size in all; the largest are forgotten first, since they save the least."""

    def __init__(self, most: int) -> None:
        self.most, self.total = most, 0
        self.kept: list[Rolled] = []
        self.levels = np.empty((0, 0), np.int16)  # (place, column), with places to spare
        self.n_groups = np.empty(0, np.int64)

    def keep(self, rolled: Rolled) -> None:
        """Remember a node."""
        if len(self.kept) == len(self.levels):
            levels, n_groups = self.levels, self.n_groups
            self.levels = np.zeros((2 * len(levels) + 64, len(rolled.node)), np.int16)
            self.n_groups = np.zeros(2 * len(levels) + 64, np.int64)
            self.levels[: len(levels)] = levels.reshape(-1, len(rolled.node))
            self.n_groups[: len(levels)] = n_groups
        self.levels[len(self.kept)], self.n_groups[len(self.kept)] = rolled.node, rolled.n_groups
        self.kept.append(rolled)
        self.total += size_of(rolled)
        while self.total > self.most:
            self._forget(int(self.n_groups[: len(self.kept)].argmax()))

    def coarsest_below(self, node: Node) -> Rolled | None:
        """The remembered node with the fewest groups that is not above the given one in any column."""
        place = fewest_below(self.levels, self.n_groups, len(self.kept), np.array(node, np.int16))
        return None if place < 0 else self.kept[place]

    def _forget(self, place: int) -> None:
        self.total -= size_of(self.kept[place])
        last = self.kept.pop()
        if place < len(self.kept):
            self.kept[place] = last
            self.levels[place], self.n_groups[place] = last.node, last.n_groups


def size_of(rolled: Rolled) -> int:
    """How much memory a node takes, in groups and counts."""
    return rolled.n_groups + sum(found.value.size for found in rolled.groups.histograms.values())
