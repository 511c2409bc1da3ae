# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""The first cuts of Mondrian, found from counts, until every part is small enough to be cut in one place.

Which cut a group gets is a function of how often each code occurs in it, and of its two parts: strict cuts do not depend on the order of
rows. So one pass over all rows decides the cuts of all groups of a level at once, with the same arithmetic as the loops of one machine
(`overt.kernels.mondrian`), and a part that is cut further elsewhere, with the code counts of the whole table (`n_values`) and its totals,
gets the same groups as it would there. Groups are numbered from left to right in the tree, here as there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from overt.engine.scale.row_strata import OneStratum, StratumOf
from overt.engine.scale.seam import (
    NO_CELLS,
    Data,
    RowBatch,
    ScaleEngine,
    codes_of,
    dense,
    most_rows_of_fragment,
    require_countable,
    sparse,
)
from overt.errors import TooLarge
from overt.kernels.cut_routes import count_left, route_rows
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Property
from overt.table import Codes, Column, Kind

MOST_AT_ONCE = 1 << 22  # cells that a task counts at a time
MOST_ALIKE = 1 << 25  # rows of one group that are worked on in one place


@dataclass(frozen=True, eq=False)
class CutRule:
    """What a cut is: the fewest rows of a part, how the column is chosen, and what both parts must satisfy beyond their size."""

    unit: int
    choose: Literal["widest", "gain"] = "widest"
    goal: Property | None = None


@dataclass(frozen=True, eq=False)
class FragmentTree:
    """Cuts, and the number of the fragment that every leaf is."""

    column: Codes  # (node) -> the column that is cut; -1 for a leaf
    bar: Codes
    left: Codes
    right: Codes
    fragment: Codes  # (node), leaves from left to right
    roots: Codes  # (stratum) -> node
    stratum_of: StratumOf
    quasi_names: tuple[str, ...]

    @property
    def n_fragments(self) -> int:
        return int((self.column < 0).sum())

    def leaves(self, rows: RowBatch) -> Codes:
        """The leaf of every row."""
        node = self.roots[self.stratum_of(rows)]
        route_rows(codes_of(rows, self.quasi_names), self.column, self.bar, self.left, self.right, node)
        return node

    def __call__(self, rows: RowBatch) -> Codes:
        """The fragment of every row."""
        return self.fragment[self.leaves(rows)]


def grow_cut_tree(
    engine: ScaleEngine,
    data: Data,
    columns: Sequence[Column],
    sensitive: Sequence[Column],
    rule: CutRule,
    strata: StratumOf | None = None,
) -> FragmentTree:
    """Cut all strata until no part has more rows than a fragment may have, or can be cut."""
    return _Growing(engine, data, columns, sensitive, rule, strata or OneStratum()).tree()


@dataclass(frozen=True, eq=False)
class ConsideredCut:
    """A cut that is considered for a node."""

    node: int
    column: int
    bar: int
    n_left: int


@dataclass(frozen=True, eq=False)
class CountBelow:
    """What would go left at every candidate."""

    tree: FragmentTree
    names: tuple[str, ...]
    first: Counts
    column: Codes
    bar: Codes
    offset: Counts
    width: int

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counts = np.zeros((self.column.size, self.width), np.int64)
        for rows in batches:
            codes = codes_of(rows, self.names)
            count_left(codes, self.tree.leaves(rows), self.first, self.column, self.bar, self.offset, counts)
        yield sparse(counts)


class _Growing:
    def __init__(
        self,
        engine: ScaleEngine,
        data: Data,
        columns: Sequence[Column],
        sensitive: Sequence[Column],
        rule: CutRule,
        strata: StratumOf,
    ) -> None:
        self.engine, self.data, self.rule, self.strata = engine, data, rule, strata
        self.quasi, self.sensitive = tuple(columns), tuple(sensitive) if rule.goal is not None else ()
        self.quasi_names = tuple(f"q{i}" for i in range(len(self.quasi)))
        self.names = (*self.quasi_names, *(f"s{i}" for i in range(len(self.sensitive))))
        sizes = [column.n_values for column in (*self.quasi, *self.sensitive)]
        self.offset, self.width = np.append(0, np.cumsum(sizes)).astype(np.int64), int(sum(sizes))
        require_countable(self.width)
        self.n_codes = np.array(sizes[: len(self.quasi)], np.int64)
        self.is_range = [column.kind is not Kind.CATEGORY for column in self.quasi]
        self.nodes: list[list[int]] = [[-1, 0, -1, -1] for _ in range(strata.n_strata)]
        self.counts: dict[int, NDArray[np.int64]] = {}

    def tree(self) -> FragmentTree:
        everyone = [ConsideredCut(root, 0, int(self.n_codes[0]), 0) for root in range(self.strata.n_strata)]
        self.counts = {c.node: counts for c, counts in zip(everyone, self._count(everyone), strict=True)}
        n_rows = sum(self._size(counts) for counts in self.counts.values())
        most = most_rows_of_fragment(self.engine, n_rows)
        frontier = list(self.counts)
        while frontier:
            candidates = [c for node in frontier if self._size(self.counts[node]) > most for c in self._consider(node)]
            following: list[int] = []
            for chosen, below in self._choose(candidates):
                left, right = len(self.nodes), len(self.nodes) + 1
                self.nodes += [[-1, 0, -1, -1], [-1, 0, -1, -1]]
                self.nodes[chosen.node] = [chosen.column, chosen.bar, left, right]
                self.counts[left], self.counts[right] = below, self.counts[chosen.node] - below
                following += [left, right]
            for node in frontier:
                if self._size(self.counts[node]) > MOST_ALIKE and self.nodes[node][0] < 0:
                    raise TooLarge(
                        f"A group of {self._size(self.counts[node]):,} people cannot be cut further, and {MOST_ALIKE:,} are worked on in one "
                        "place. Use more strata, or more quasi-identifiers."
                    )
                del self.counts[node]
            frontier = following
        return self._as_arrays()

    def _size(self, counts: NDArray[np.int64]) -> int:
        return int(counts[: self.n_codes[0]].sum())

    def _of_column(self, counts: NDArray[np.int64], j: int) -> NDArray[np.int64]:
        return counts[self.offset[j] : self.offset[j + 1]]

    def _consider(self, node: int) -> list[ConsideredCut]:
        """The cuts to try, in the order in which they are tried, as far as counts of the node say."""
        counts, unit = self.counts[node], self.rule.unit
        size = self._size(counts)
        if size < 2 * unit:
            return []
        n_distinct = [np.count_nonzero(self._of_column(counts, j)) for j in range(len(self.quasi))]
        order = range(len(self.quasi))
        if self.rule.choose == "widest":
            order = sorted(order, key=lambda j: -(n_distinct[j] / self.n_codes[j]))  # type: ignore[assignment]
        found = []
        for j in order:
            if n_distinct[j] < 2:
                continue
            bar, n_left = most_even_boundary(self._of_column(counts, j))
            if n_left >= unit and size - n_left >= unit:
                found.append(ConsideredCut(node, j, bar, n_left))
        return found[:1] if self.rule.choose == "widest" and self.rule.goal is None else found

    def _choose(self, candidates: list[ConsideredCut]) -> list[tuple[ConsideredCut, NDArray[np.int64]]]:
        """The cut of every node that gets one, and what goes left."""
        most = max(1, MOST_AT_ONCE // self.width)
        chosen: list[tuple[ConsideredCut, NDArray[np.int64]]] = []
        while candidates:
            n_here = min(most, len(candidates))
            while n_here < len(candidates) and candidates[n_here].node == candidates[n_here - 1].node:
                n_here += 1
            here, candidates = candidates[:n_here], candidates[n_here:]
            counts = self._count(here)
            accepted = self._verdict(here, counts)
            for node in dict.fromkeys(c.node for c in here):
                of_node = [i for i, c in enumerate(here) if c.node == node and accepted[i]]
                if of_node:
                    best = self._least_loss(here, counts, of_node) if self.rule.choose == "gain" else of_node[0]
                    chosen.append((here[best], counts[best].copy()))
        return chosen

    def _count(self, candidates: list[ConsideredCut]) -> NDArray[np.int64]:
        """(candidate, code of any column) -> rows that would go left."""
        n_of_node = np.bincount([c.node for c in candidates], minlength=len(self.nodes))
        first = np.append(0, np.cumsum(n_of_node)).astype(np.int64)
        order = sorted(range(len(candidates)), key=lambda i: candidates[i].node)
        column = np.array([candidates[i].column for i in order], np.int32)
        bar = np.array([candidates[i].bar for i in order], np.int32)
        require_countable(len(candidates) * self.width)
        count = CountBelow(self._as_arrays(), self.names, first, column, bar, self.offset[:-1], self.width)
        found = dense(self.engine.histogram(self.data, count, NO_CELLS), len(candidates) * self.width)
        counts = np.empty((len(candidates), self.width), np.int64)
        counts[order] = found.reshape(len(candidates), self.width)
        return counts

    def _verdict(self, candidates: list[ConsideredCut], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether both parts of every candidate satisfy the goal."""
        goal = self.rule.goal
        if goal is None:
            return np.ones(len(candidates), np.bool_)
        parts = np.empty((2 * len(candidates), self.width), np.int64)
        parts[::2] = counts
        parts[1::2] = np.stack([self.counts[c.node] for c in candidates]) - counts
        broken = goal.breaks(groups_of_counts(self.sensitive, parts[:, self.offset[len(self.quasi)] :]))
        return np.logical_not(broken.reshape(-1, 2).any(axis=1))

    def _least_loss(self, candidates: list[ConsideredCut], counts: NDArray[np.int64], of_node: list[int]) -> int:
        """The candidate whose parts lose least; of equal ones the first, as `choose_least_loss` has it."""
        best, least = -1, np.inf
        for i in of_node:
            left, right = counts[i], self.counts[candidates[i].node] - counts[i]
            n_left, size = candidates[i].n_left, self._size(self.counts[candidates[i].node])
            loss = 0.0
            for j in range(len(self.quasi)):
                if self.n_codes[j] >= 2:
                    wide = [self._width_of(self._of_column(part, j), self.is_range[j]) for part in (left, right)]
                    loss += (n_left * wide[0] + (size - n_left) * wide[1]) / (int(self.n_codes[j]) - 1)
            if loss < least - 1e-9:
                best, least = i, loss
        return best

    @staticmethod
    def _width_of(counts: NDArray[np.int64], is_range: bool) -> int:
        present = np.flatnonzero(counts)
        return int(present[-1] - present[0]) if is_range else present.size - 1

    def _as_arrays(self) -> FragmentTree:
        column, bar, left, right = np.array(self.nodes, np.int32).T.copy()
        fragment = np.full(column.size, -1, np.int32)
        n_fragments = 0
        stack = list(range(self.strata.n_strata))[::-1]
        while stack:
            node = stack.pop()
            if column[node] < 0:
                fragment[node] = n_fragments
                n_fragments += 1
            else:
                stack += [int(right[node]), int(left[node])]
        roots = np.arange(self.strata.n_strata, dtype=np.int32)
        return FragmentTree(column, bar, left, right, fragment, roots, self.strata, self.quasi_names)


def most_even_boundary(counts: NDArray[np.int64]) -> tuple[int, int]:
    """The boundary between two codes that occur which halves their rows most evenly, the lower of two: (bar, rows below it).

    >>> most_even_boundary(np.array([2, 0, 1, 3]))
    (3, 3)
    """
    present = np.flatnonzero(counts)
    if present.size < 2:
        return 0, 0
    below = np.cumsum(counts[present])[:-1]
    best = int(np.argmin(np.abs(2 * below - counts.sum())))
    return int(present[best + 1]), int(below[best])


def groups_of_counts(columns: Sequence[Column], counts: NDArray[np.int64]) -> Groups:
    """Groups from (group, code of any of these columns) -> rows. What compares with the table compares with the columns' totals."""
    histograms, begin = {}, 0
    sizes: Counts = counts[:, : columns[0].n_values].sum(axis=1)
    for column in columns:
        histograms[column.name] = Histogram.of_counts(column, counts[:, begin : begin + column.n_values])
        begin += column.n_values
    return Groups(sizes, histograms)


def everyone(columns: Sequence[Column]) -> Groups:
    """The whole table as one group, from the columns' totals."""
    if not columns:
        return Groups(np.zeros(1, np.int64), {})
    return groups_of_counts(columns, np.concatenate([column.total_of_value for column in columns])[None, :])
