# SPDX-License-Identifier: Apache-2.0
"""Batches: rows drawn so that several values are equally likely for everyone who was drawn.

A batch is a set of beta values and a number alpha: it holds alpha rows of each value of the set. Which batches
there are is planned from how often each value occurs, and which rows fill them is drawn at random, without
looking at quasi-identifiers. Whatever is then done inside a batch, as long as it treats the values of the set
alike, leaves everyone in it with each of the beta values equally likely (Theorem B of docs/theory/safety.md). Methods
that group rows by their quasi-identifiers stand on this.

Paper       X. Xiao, Y. Tao, "m-Invariance", SIGMOD 2007 (assignment of values to buckets); restated, with the
            existence lemma proved in `plan_batches`.
Implements  The largest alpha for a beta; a plan that uses up every m-eligible table; a plan of random sets.
Departs     Random sets of values are ours: they let counts be estimated without bias (`overt.metrics`).
Guarantee   Exact: a plan exists for every m-eligible table, and every set has at least m values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.kernels import planning
from overt.kernels.batches import draw_lists
from overt.kernels.counting import count_codes, order_by_code, starts_of
from overt.partition import Counts
from overt.table import Codes, Column

SETS_PER_VALUE = 8  # random sets per value: enough for the sets to tell the values apart
FEW_ROWS = 1000  # per value: with fewer, all rows are shuffled at once
MOST_WORK = 4  # a random plan looks at every value once per set, and at no more than this many per row


@dataclass(frozen=True)
class Batch:
    """Alpha rows of each of these values."""

    values: tuple[int, ...]
    alpha: int


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """Batches one after the other: batch b has the values `value[first[b]:first[b + 1]]`, `alpha[b]` rows each."""

    first: Counts
    value: Codes
    alpha: Counts

    def __iter__(self) -> Iterator[Batch]:
        for b in range(self.n_batches):
            yield Batch(tuple(self.value[self.first[b] : self.first[b + 1]].tolist()), int(self.alpha[b]))

    @property
    def n_batches(self) -> int:
        return int(self.alpha.size)

    @property
    def n_groups(self) -> int:
        return int(self.alpha.sum())

    @property
    def n_rows(self) -> int:
        return int((np.diff(self.first) * self.alpha).sum())

    def with_slots_in_random_order(self, rng: Generator) -> "BatchPlan":
        """The same batches with the values of each set in an order that says nothing."""
        batch_of_slot = np.repeat(np.arange(self.n_batches, dtype=np.int32), np.diff(self.first))
        order = order_by_code(batch_of_slot, self.n_batches, rng.permutation(self.value.size).astype(np.int32))
        return BatchPlan(self.first, self.value[order], self.alpha)

    def draw(self, rows: Codes, first_of_value: Counts) -> Codes:
        """The rows of every batch, value by value: see `shuffle_by_value` for what is needed."""
        drawn: Codes = draw_lists(self.first, self.value, self.alpha, rows, first_of_value[:-1].copy())
        return drawn


def join_plans(plans: Sequence[BatchPlan], first_values: Sequence[int]) -> BatchPlan:
    """One plan for parts of a table whose values are numbered one part after the other."""
    n_slots = np.concatenate([np.diff(plan.first) for plan in plans])
    value = np.concatenate([plan.value + np.int32(first) for plan, first in zip(plans, first_values, strict=True)])
    return BatchPlan(starts_of(n_slots), value, np.concatenate([plan.alpha for plan in plans]))


def bits_of_codes(columns: Sequence[Column]) -> NDArray[np.int64]:
    """How many bits a code of each column needs: for cuts along the widest column, ties by the others."""
    return np.array([max(1, (column.n_values - 1).bit_length()) for column in columns])


def shuffle_by_value(value_of_row: Codes, n_values: int, rng: Generator) -> tuple[Codes, Counts]:
    """All rows, value by value, in random order inside a value; and where each value begins.

    This is the one secret shuffle that every method here begins with: afterwards "the next row of this value"
    is a uniform choice, whatever order the rows came in.
    """
    first = starts_of(count_codes(value_of_row, n_values))
    if n_values * FEW_ROWS > value_of_row.size:
        order = rng.permutation(value_of_row.size).astype(np.int32)
        return order_by_code(value_of_row, n_values, order), first
    rows: Codes = order_by_code(value_of_row, n_values, np.arange(value_of_row.size, dtype=np.int32))
    for value in range(n_values):  # each part fits a cache that the whole does not
        rng.shuffle(rows[first[value] : first[value + 1]])
    return rows, first


def largest_alpha(counts: Sequence[int] | Counts, beta: int, m: int) -> int | None:
    """How many rows of each of the beta most frequent values can be taken so that an m-eligible rest remains.

    >>> largest_alpha([2, 2, 1, 1, 1, 1], 4, 4), largest_alpha([2, 2, 1, 1, 1, 1], 5, 4)
    (1, None)
    """
    ordered = np.sort(np.asarray(counts, np.int64))[::-1]
    ordered = ordered[ordered > 0]
    if not m <= beta <= ordered.size:
        return None
    c_next = int(ordered[beta]) if beta < ordered.size else 0
    alpha = int(planning.largest_take(int(ordered[0]), int(ordered[beta - 1]), c_next, int(ordered.sum()), beta, m))
    return alpha if alpha >= 1 else None


def plan_batches(counts: Sequence[int] | Counts, m: int, *, k: int = 1) -> BatchPlan:
    """The plan that always takes the most frequent values: few batches, each as large as can be.

    Each time the first beta with an alpha: multiples of k from m up to k * m, then every number from m up.
    One always exists. If m + 1 values or fewer are tied at the top, or the next count is at most
    gamma / m - 1 (gamma rows left), beta = m leaves an m-eligible rest. Otherwise more than m values have the
    same count c = floor(gamma / m); let r be how many. Then beta = r and alpha = 1 work: what remains has
    gamma - r rows and no count above c - 1, and m (c - 1) <= gamma - r because gamma >= r c and
    (r - m)(c - 1) >= 0. The rest is m-eligible again, so the plan ends with no row left.

    >>> [(batch.values, batch.alpha) for batch in plan_batches([2, 2, 1, 1, 1, 1], 4, k=2)]
    [((0, 1, 2, 3), 1), ((0, 1, 4, 5), 1)]
    """
    return BatchPlan(*planning.plan_batches(np.asarray(counts, np.int64), m, k))


def plan_random_batches(counts: Sequence[int] | Counts, l: int, rng: Generator) -> BatchPlan:
    """Many smaller batches, each of l values drawn at random in proportion to how many rows they have left.

    The rest, once values can no longer be drawn freely, is planned by `plan_batches`. With many random sets the
    release tells apart which quasi-identifiers go with which value over the whole table, though for nobody in it.
    """
    array = np.asarray(counts, np.int64)
    present = np.flatnonzero(array).astype(np.int32)
    n_rows, n_values = int(array.sum()), present.size
    n_sets = min(SETS_PER_VALUE * n_values, MOST_WORK * n_rows // n_values, n_rows // l)
    orders = rng.permuted(np.tile(np.arange(n_values, dtype=np.int32), (n_sets, 1)), axis=1)
    value, alpha, left = planning.plan_random_batches(
        array[present], l, max(1, n_rows // l // n_sets), orders, rng.random(n_sets)
    )
    rest = plan_batches(left, l)
    n_slots = np.concatenate([np.full(alpha.size, l, np.int64), np.diff(rest.first)])
    return BatchPlan(
        starts_of(n_slots), present[np.concatenate([value.ravel(), rest.value])], np.concatenate([alpha, rest.alpha])
    )
