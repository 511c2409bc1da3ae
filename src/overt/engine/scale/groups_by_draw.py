# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Methods that fill planned groups blind, at scale: batch-matching, dealing and rda.

Their plans are those of one machine, made from counts over the whole table: how many rows of which value go to which batch or group.
Which rows these are is decided by rank among the coins of the value (`rank_intervals`), a uniformly random order as the shuffle of one machine is, and
quasi-identifiers have no say. So the law is the same, and so is what is promised. For the same order of rows and the same plan the groups are the same
ones. A batch with more rows than a fragment is planned as several with the same values: a plan from counts like any other, of which Theorem B
of docs/theory/safety.md holds as it stands. Inside a fragment, whole batches are matched by the loops of one machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.batches import BatchPlan
from overt.algorithms.counted_strata import CountedStrata
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.algorithms.streamliner.rda import plan_groups
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import CutFragment, like_of, lines_of_groups
from overt.engine.scale.made_tables import MadeGroups, MadeTables, release_of_groups
from overt.engine.scale.rank_intervals import Ranked, RankIntervals, rank_by_coins
from overt.engine.scale.row_strata import OneStratum, StratumOf, by_columns
from overt.engine.scale.scaled_methods import DrawsGroups, MatchesLists
from overt.engine.scale.seam import RowBatch, column_of, count_cells, most_rows_of_fragment, n_fragments_of
from overt.engine.scale.staging import Staged
from overt.errors import InvalidInput, TooLarge
from overt.kernels.batches import fill_slots
from overt.kernels.counting import starts_of
from overt.method import Method
from overt.partition import Partition
from overt.progress import Progress
from overt.release import Release
from overt.table import Codes, Column

MOST_LISTED = 1 << 24  # rows of a table whose groups are listed one by one


@dataclass(frozen=True, eq=False)
class ValueInStratum:
    """The sensitive value of every row, numbered over all strata."""

    stratum_of: StratumOf
    n_values: int

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        return self.stratum_of(rows).astype(np.int64) * self.n_values + column_of(rows, "s0")


@dataclass(frozen=True, eq=False)
class PublishDrawn:
    """The lines of the groups of a fragment."""

    ranked: Ranked
    grouping: Any  # (fragment, value, rank, order, quasi) -> the groups of the rows
    columns: CutFragment
    lines: ShownLines

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        quasi, sensitive = self.columns.columns(rows)
        return lines_of_groups(self.lines, quasi, sensitive, self.groups(fragment, rows, quasi))

    def release(self, fragment: int, rows: RowBatch, made_by: Method) -> Release:
        """The fragment as a release of its own."""
        quasi, _ = self.columns.columns(rows)
        return release_of_groups(quasi, self.groups(fragment, rows, quasi), made_by)

    def groups(self, fragment: int, rows: RowBatch, quasi: tuple[Column, ...]) -> Partition:
        """The group of every row, groups numbered inside the fragment."""
        value, rank, order = self.ranked.ranks(rows)
        found: Partition = self.grouping(fragment, value, rank, order, quasi)
        return found


@dataclass(frozen=True, eq=False)
class InTurn:
    """Groups that are dealt to in turn."""

    first_of_value: NDArray[np.int64]
    n_groups: int
    begin: NDArray[np.int64]  # (fragment + 1) -> its first group

    def __call__(
        self, fragment: int, value: NDArray[np.int64], rank: NDArray[np.int64], order: Any, quasi: Any
    ) -> Partition:
        group = (self.first_of_value[value] + rank) % self.n_groups - self.begin[fragment]
        return Partition(group.astype(np.int32), int(self.begin[fragment + 1] - self.begin[fragment]))


@dataclass(frozen=True, eq=False)
class ByList:
    """Groups whose values are listed, and a few rows that are left over, each in a group of its own choice."""

    value_of_slot: Codes  # (group, slot)
    begin: NDArray[np.int64]  # (fragment + 1) -> its first group
    group_left_over: dict[tuple[int, int], int]  # (value, rank) -> group

    def __call__(
        self, fragment: int, value: NDArray[np.int64], rank: NDArray[np.int64], order: Any, quasi: Any
    ) -> Partition:
        begin, end = int(self.begin[fragment]), int(self.begin[fragment + 1])
        group_left_over = np.full(value.size, -1, np.int32)
        for (v, r), group in self.group_left_over.items():
            group_left_over[(value == v) & (rank == r)] = group - begin
        is_left = group_left_over >= 0
        slots, everyone = self.value_of_slot[begin:end], np.arange(value.size, dtype=np.int32)
        placed = order[~is_left[order]].astype(np.int32)
        n_values = int(max(value.max(initial=0), slots.max(initial=0))) + 1
        next_of_value = starts_of(np.bincount(value[placed], minlength=n_values))[:-1].copy()
        group_of_row = fill_slots(slots, np.concatenate([placed, everyone[is_left]]), next_of_value)
        return Partition(np.where(is_left, group_left_over, group_of_row), end - begin)


@dataclass(frozen=True, eq=False)
class InBatches:
    """Whole batches, matched by a method's own loops."""

    plans: tuple[BatchPlan, ...]  # (fragment)
    method: MatchesLists

    def __call__(self, fragment: int, value: Any, rank: Any, order: NDArray[np.intp], quasi: Any) -> Partition:
        plan = self.plans[fragment]
        first_of_value = starts_of(np.bincount(value, minlength=int(plan.value.max()) + 1))
        drawn = plan.draw(order.astype(np.int32), first_of_value)
        return Partition(self.method.match_drawn(quasi, plan, drawn), plan.n_groups)


def make_dealing(staged: Staged, method: DrawsGroups, lines: ShownLines, told: Progress, rng: Generator) -> MadeTables:
    """The release of dealing."""
    column = _the_sensitive(staged, method)
    require_eligible(column.total_of_value, method.diversity, column=column.name)
    n_groups = staged.n_rows // method.diversity
    n_fragments = min(n_fragments_of(staged.engine, staged.n_rows), n_groups)
    begin = np.arange(n_fragments + 1, dtype=np.int64) * n_groups // n_fragments
    first = starts_of(column.total_of_value)
    begins: list[list[tuple[int, int]]] = []
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        of_value = []
        if low < high:
            fragment, position = int(np.searchsorted(begin, low % n_groups, side="right")) - 1, low
            while position < high:
                of_value.append((position - low, fragment))
                position += int(begin[fragment + 1]) - position % n_groups
                fragment = (fragment + 1) % n_fragments
        begins.append(of_value)
    grouping = InTurn(first[:-1], n_groups, begin)
    return _made(staged, lines, OneStratum(), column, RankIntervals.of(begins), grouping, n_fragments)


def make_rda(staged: Staged, method: DrawsGroups, lines: ShownLines, told: Progress, rng: Generator) -> MadeTables:
    """The release of rda."""
    column = _the_sensitive(staged, method)
    if staged.n_rows > MOST_LISTED:
        raise TooLarge(
            f"rda lists its groups one by one, and the table has {staged.n_rows:,} rows; up to {MOST_LISTED:,} can be listed. Use dealing, "
            "which has as many groups and needs no list."
        )
    require_eligible(column.total_of_value, method.diversity, column=column.name)
    value_of_slot, left_over = plan_groups(column.total_of_value, method.diversity)
    n_groups = len(value_of_slot)
    n_fragments = min(n_fragments_of(staged.engine, staged.n_rows), n_groups)
    begin = np.arange(n_fragments + 1, dtype=np.int64) * n_groups // n_fragments
    begins: list[list[tuple[int, int]]] = [[] for _ in range(column.n_values)]
    before = np.zeros(column.n_values, np.int64)
    for fragment in range(n_fragments):
        here = np.bincount(value_of_slot[begin[fragment] : begin[fragment + 1]].ravel(), minlength=column.n_values)
        for v in np.flatnonzero(here):
            begins[v].append((int(before[v]), fragment))
        before += here
    sizes, chosen = np.full(n_groups, method.diversity), dict[tuple[int, int], int]()
    for alone in map(int, np.flatnonzero(left_over)):  # at most l - 1 of them, each with one row
        compatible = ~(value_of_slot == alone).any(axis=1)
        smallest = np.flatnonzero(compatible & (sizes == sizes[compatible].min()))
        group, rank = int(smallest[rng.integers(smallest.size)]), int(before[alone])
        sizes[group] += 1
        chosen[alone, rank] = group
        begins[alone].append((rank, int(np.searchsorted(begin, group, side="right")) - 1))
    grouping = ByList(value_of_slot, begin, chosen)
    return _made(staged, lines, OneStratum(), column, RankIntervals.of(begins), grouping, n_fragments)


def make_batch_matching(
    staged: Staged, method: MatchesLists, lines: ShownLines, told: Progress, rng: Generator
) -> MadeTables:
    """The release of batch-matching."""
    column = _the_sensitive(staged, method)
    if method.matching != "kd":
        raise InvalidInput(
            'matching = "rank" of batch-matching works on one machine in memory only; leave it out, or choose no engine.'
        )
    stratum_of = by_columns(staged.engine, staged.data, staged.quasi_identifiers, method.strata)
    value_of = ValueInStratum(stratum_of, column.n_values)
    n_values = stratum_of.n_strata * column.n_values
    counts = count_cells(staged.engine, staged.data, value_of, n_values).reshape(stratum_of.n_strata, -1)
    plan = method.plan_strata(CountedStrata(np.empty(0, np.int32), counts), column.name, rng)
    intervals, plans = divide_plan(plan, n_values, most_rows_of_fragment(staged.engine, staged.n_rows))
    return _made(staged, lines, stratum_of, column, intervals, InBatches(plans, method), len(plans))


def divide_plan(plan: BatchPlan, n_values: int, most_rows: int) -> tuple[RankIntervals, tuple[BatchPlan, ...]]:
    """A plan in fragments of whole batches, the largest batches as several with the same values; and the ranks of each."""
    pieces: list[tuple[Codes, int]] = []  # the values of a batch, and alpha
    for b in range(plan.n_batches):
        values, alpha = plan.value[plan.first[b] : plan.first[b + 1]], int(plan.alpha[b])
        n_pieces = -(-alpha * values.size // most_rows)
        pieces += [(values, alpha * (i + 1) // n_pieces - alpha * i // n_pieces) for i in range(n_pieces)]
    fragments: list[list[tuple[Codes, int]]] = [[]]
    n_rows = 0
    for values, alpha in pieces:
        if n_rows and n_rows + values.size * alpha > most_rows:
            fragments.append([])
            n_rows = 0
        fragments[-1].append((values, alpha))
        n_rows += values.size * alpha
    begins: list[list[tuple[int, int]]] = [[] for _ in range(n_values)]
    before = np.zeros(n_values, np.int64)
    for f, batches in enumerate(fragments):
        here = np.zeros(n_values, np.int64)
        for values, alpha in batches:
            np.add.at(here, values, alpha)
        for v in np.flatnonzero(here):
            begins[v].append((int(before[v]), f))
        before += here
    return RankIntervals.of(begins), tuple(_joined(batches) for batches in fragments)


def _joined(batches: Sequence[tuple[Codes, int]]) -> BatchPlan:
    first = starts_of(np.array([values.size for values, _ in batches], np.int64))
    alpha = np.array([alpha for _, alpha in batches], np.int64)
    return BatchPlan(first, np.concatenate([values for values, _ in batches]), alpha)


def _the_sensitive(staged: Staged, method: DrawsGroups) -> Column:
    if method.form != "generalized":
        raise InvalidInput(
            f'form = "{method.form}" of {method.name} works on one machine in memory only; leave form out, or choose no engine.'
        )
    if method.k > method.diversity:
        raise InvalidInput(
            f"{method.name} with a k above l merges groups, on one machine in memory only; leave k-anonymity out, or choose no engine."
        )
    return staged.table().the_sensitive(type(method).__name__)


def _made(
    staged: Staged,
    lines: ShownLines,
    stratum_of: StratumOf,
    column: Column,
    intervals: RankIntervals,
    grouping: Any,
    n: int,
) -> MadeTables:
    value_of = ValueInStratum(stratum_of, column.n_values)
    ranked = rank_by_coins(staged, value_of, stratum_of.n_strata * column.n_values, intervals)
    columns = CutFragment(staged.quasi_identifiers, staged.sensitive, 1, "widest", None)
    publish = PublishDrawn(ranked, grouping, columns, lines)
    lines_made = staged.engine.apply(staged.data, ranked, publish, like_of(lines))
    return MadeTables({"release": lines_made}, n, groups=MadeGroups(staged.data, ranked, publish.release))
