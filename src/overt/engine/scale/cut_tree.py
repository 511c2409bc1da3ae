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
    MOST_COUNTED,
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
MOST_KEPT = 1 << 28  # counts of groups that are to be cut further, on the driver


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
    counted: Codes  # the columns that are counted
    offset: Counts  # (counted column) -> where its codes begin
    width: int

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counts = np.zeros((self.column.size, self.width), np.int64)
        for rows in batches:
            codes = codes_of(rows, self.names)
            count_left(
                codes, self.tree.leaves(rows), self.first, self.column, self.bar, self.counted, self.offset, counts
            )
        yield sparse(counts)


@dataclass(frozen=True, eq=False)
class BestCut:
    """The best cut of a node so far, what it would send left, and what its parts lose."""

    cut: ConsideredCut
    below: NDArray[np.int64]
    loss: float


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
        self.together = columns_together(sizes)
        self.n_codes = np.array(sizes[: len(self.quasi)], np.int64)
        self.is_range = [column.kind is not Kind.CATEGORY for column in self.quasi]
        self.nodes: list[list[int]] = [[-1, 0, -1, -1] for _ in range(strata.n_strata)]
        self.counts: dict[int, NDArray[np.int64]] = {}

    def tree(self) -> FragmentTree:
        most = self._count_roots()
        frontier = list(self.counts)
        while frontier:
            candidates = [c for node in frontier if self._size(self.counts[node]) > most for c in self._consider(node)]
            following: list[int] = []
            for chosen, below in self._choose(candidates):
                left, right = len(self.nodes), len(self.nodes) + 1
                self.nodes += [[-1, 0, -1, -1], [-1, 0, -1, -1]]
                self.nodes[chosen.node] = [chosen.column, chosen.bar, left, right]
                self._keep({left: below, right: self.counts[chosen.node] - below}, most)
                following += [node for node in (left, right) if node in self.counts]
            for node in frontier:
                if self._size(self.counts[node]) > MOST_ALIKE and self.nodes[node][0] < 0:
                    raise TooLarge(
                        f"A group of {self._size(self.counts[node]):,} people cannot be cut further, and {MOST_ALIKE:,} are worked on in one "
                        "place. Use more strata, or more quasi-identifiers."
                    )
                del self.counts[node]
            frontier = following
        return self._as_arrays()

    def _count_roots(self) -> int:
        """Count the strata, as many at a time as may be; how many rows a fragment may have follows from all of them."""
        roots, at_once, n_rows = self.strata.n_strata, max(1, MOST_COUNTED // self.width), 0
        for begin in range(0, roots, at_once):
            everyone = [ConsideredCut(r, 0, int(self.n_codes[0]), 0) for r in range(begin, min(begin + at_once, roots))]
            counts = self._count(everyone)
            n_rows += int(counts[:, : self.n_codes[0]].sum())
            self._keep({c.node: of for c, of in zip(everyone, counts, strict=True)}, self.engine.fragment_rows)
        return most_rows_of_fragment(self.engine, n_rows)

    def _keep(self, found: dict[int, NDArray[np.int64]], most: int) -> None:
        """Keep the counts of nodes that are to be cut further: only these are looked at again."""
        for node, counts in found.items():
            if self._size(counts) > min(most, MOST_ALIKE):
                self.counts[node] = counts.copy()
        if len(self.counts) * self.width > MOST_KEPT:
            raise TooLarge(
                f"The values of {len(self.counts):,} groups of people would have to be counted, of {self.width:,} values each, and {MOST_KEPT:,} "
                "counts fit. Use fewer strata, or columns with fewer values: round numbers, shorten codes."
            )

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
        """The cut of every node that gets one, and what goes left. Candidates are counted as many at a time as may be, also those of one node."""
        most = max(1, MOST_AT_ONCE // self.width)
        chosen: dict[int, BestCut] = {}
        while candidates:
            here, candidates = candidates[:most], candidates[most:]
            counts = self._count(here)
            for i in np.flatnonzero(self._verdict(here, counts)).tolist():
                loss, best = self._loss(here[i], counts[i]), chosen.get(here[i].node)
                if best is None or loss < best.loss - 1e-9:  # of equal ones the first, as `choose_least_loss` has it
                    chosen[here[i].node] = BestCut(here[i], counts[i].copy(), loss)
            if self.rule.choose == "widest":  # the first that both parts satisfy is taken
                candidates = [c for c in candidates if c.node not in chosen]
        return [(best.cut, best.below) for best in chosen.values()]

    def _count(self, candidates: list[ConsideredCut]) -> NDArray[np.int64]:
        """(candidate, code of any column) -> rows that would go left."""
        n_of_node = np.bincount([c.node for c in candidates], minlength=len(self.nodes))
        first = np.append(0, np.cumsum(n_of_node)).astype(np.int64)
        order = sorted(range(len(candidates)), key=lambda i: candidates[i].node)
        column = np.array([candidates[i].column for i in order], np.int32)
        bar = np.array([candidates[i].bar for i in order], np.int32)
        tree, counts = self._as_arrays(), np.empty((len(candidates), self.width), np.int64)
        for counted in self.together:
            begin, end = int(self.offset[counted[0]]), int(self.offset[counted[-1] + 1])
            offset, n_cells = self.offset[counted] - begin, len(candidates) * (end - begin)
            count = CountBelow(tree, self.names, first, column, bar, counted, offset, end - begin)
            found = dense(self.engine.histogram(self.data, count, NO_CELLS), n_cells)
            counts[order, begin:end] = found.reshape(len(candidates), end - begin)
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

    def _loss(self, cut: ConsideredCut, below: NDArray[np.int64]) -> float:
        """What the parts of a cut lose; where the first column wins, nothing."""
        if self.rule.choose == "widest":
            return 0.0
        whole = self.counts[cut.node]
        n_left, size, loss = cut.n_left, self._size(whole), 0.0
        for j in range(len(self.quasi)):
            if self.n_codes[j] >= 2:
                wide = [self._width_of(self._of_column(p, j), self.is_range[j]) for p in (below, whole - below)]
                loss += (n_left * wide[0] + (size - n_left) * wide[1]) / (int(self.n_codes[j]) - 1)
        return loss

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


def columns_together(sizes: Sequence[int]) -> list[Codes]:
    """The places of columns with so many values, in groups that can be counted in one pass."""
    groups: list[list[int]] = [[]]
    for j, size in enumerate(sizes):
        require_countable(size)
        if groups[-1] and sum(sizes[i] for i in groups[-1]) + size > MOST_COUNTED:
            groups.append([])
        groups[-1].append(j)
    return [np.array(group, np.int32) for group in groups]


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
