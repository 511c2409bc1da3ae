# SPDX-License-Identifier: Apache-2.0
"""The default mode: every step treats the values of a batch alike, so replaying it teaches nothing.

1. Plan batches from how often each value occurs (`overt.algorithms.batches`): beta values, alpha rows of each,
   beta a multiple of k where that is possible.
2. Draw the rows of every batch blind.
3. Split a batch into alpha sets with one row per value: all values' lists are cut at the same ranks.
4. Divide a set of beta rows. If k divides beta, its values lie in k blocks of beta / k, the same ones in every set
   of the batch. Blocks are cut at the same ranks too: the r-th rows of the blocks are a group of k, and a block is
   a bucket, so every bucket has one row of every group. Otherwise runs of k rows or more are the groups, and the
   whole set is one bucket.
5. Swap: two sets of a batch exchange their rows of one value where that makes boxes smaller. The value keeps its
   bucket, values are taken in a random order, and only quasi-identifiers decide.

Steps 3 and 4 are one idea, lists cut at equal ranks, applied to values and then to blocks. A permutation of the values that
maps blocks to blocks changes no box and no bucket, because all buckets of a set carry the same boxes; such
permutations take any value to any other. Swaps follow along: their random order is as likely as the permuted one. So everyone in the set has each of its beta values with 1/beta.
Cutting the values into blocks once per batch matters: with another cut in every set, fewer permutations would
be common to all sets.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.random import Generator

from overt.algorithms.batches import BatchPlan, bits_of_codes, plan_batches
from overt.algorithms.counted_strata import CountedStrata
from overt.errors import InvalidInput, Unreachable
from overt.kernels.batches import split_lists_at_equal_ranks
from overt.kernels.counting import starts_of
from overt.kernels.crossed_division import divide_sets, places_by_set, swap_alike
from overt.partition import Counts, Partition
from overt.privacy.base import Number, exact
from overt.progress import Progress
from overt.table import Codes, Column, Kind, Table

if TYPE_CHECKING:
    from overt.algorithms.cross_bucket.method import CrossBucket

Blocks = Literal["random", "near", "apart"]
STRIDES = (1, 2, 4, 8, 16, 3, 5, 7)  # sets that were cut apart last are next to each other; others are farther away


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Batches of a table, their values block by block, and what each row counts as."""

    batches: BatchPlan
    strata: CountedStrata
    k: int


def plan_table(table: Table, sensitive: Column, method: "CrossBucket", rng: Generator) -> TablePlan:
    """Plan every stratum from its counts, or raise `Unreachable` if one value is too frequent."""
    strata = CountedStrata.of(table, method.strata, *as_bins(sensitive, method.bin_width))

    def plan_stratum(counts: Counts) -> BatchPlan:
        require_eligible(counts, method, sensitive.name)
        return plan_batches(counts, max(method.k, method.l), k=method.k)

    return TablePlan(cut_into_blocks(strata.plan(plan_stratum), method.k, method.blocks, rng), strata, method.k)


def as_bins(sensitive: Column, width: Number | None) -> tuple[Codes, int]:
    """What each row counts as: its value, or the interval of a width that its number lies in."""
    if width is None:
        return sensitive.codes, sensitive.n_values
    if sensitive.kind is not Kind.NUMBER:
        raise InvalidInput(f"A bin width is given and {sensitive.name!r} is no number; leave it out.")
    bins = [None if number is None else exact(number) // exact(width) for number in sensitive.values]
    bin_of_value = np.unique(
        [-1 if b is None else b - min(x for x in bins if x is not None) for b in bins], return_inverse=True
    )[1]
    return bin_of_value.astype(np.int32)[sensitive.codes], int(bin_of_value.max(initial=-1)) + 1


def require_eligible(counts: Counts, method: "CrossBucket", column: str) -> None:
    """No value may have more than 1/max(k, l) of the rows; the test depends on counts, which a release shows anyway."""
    n, most, m = int(counts.sum()), int(counts.max(initial=0)), max(method.k, method.l)
    where = f" in one stratum of {', '.join(map(repr, method.strata))}" if method.strata else ""
    what = f"({method.k}, {method.l})-anonymity cannot be reached{where}"
    if n < m:
        raise Unreachable(f"{what}: there are {n} rows and max(k, l) = {m} are needed; ask for less.")
    if most * m > n:
        kind = "value" if method.bin_width is None else f"interval of width {method.bin_width}"
        limit = f"max(k, l) = {m} allows {n // m}"
        remedy = (
            f"Use k and l of at most {n // most}, or leave out rows."
            if n // most > 1
            else "Leave out rows of that value."
        )
        raise Unreachable(f"{what}: one {kind} of {column!r} fills {most} of {n} rows, and {limit}. {remedy}")


def cut_into_blocks(plan: BatchPlan, k: int, blocks: Blocks, rng: Generator) -> BatchPlan:
    """The values of every batch in k blocks, one after the other: once per batch, and without looking at rows.

    "near" puts neighbouring values into a block and "apart" every k-th; the order of the blocks and of the values in
    a block is random in any case, so that no later step can tell values by their place.
    """
    if blocks == "random":
        return plan.with_slots_in_random_order(rng)
    beta_of_batch = np.diff(plan.first)
    batch_of_slot = np.repeat(np.arange(plan.n_batches), beta_of_batch)
    by_value = np.lexsort((plan.value, batch_of_slot))
    rank, beta = np.arange(plan.value.size) - plan.first[batch_of_slot], beta_of_batch[batch_of_slot]
    block = np.where(beta % k, 0, rank // np.maximum(beta // k, 1) if blocks == "near" else rank % k)
    random_rank_of_block = rng.random(plan.value.size)[plan.first[batch_of_slot] + block]
    order = np.lexsort((rng.random(plan.value.size), random_rank_of_block, batch_of_slot))
    return BatchPlan(plan.first, plan.value[by_value][order], plan.alpha)


def divide_table(
    table: Table, plan: TablePlan, swaps: int, rng: Generator, on_progress: Progress
) -> tuple[Partition, Partition]:
    """Steps 2 to 5: the groups and the buckets of all rows."""
    batches, columns = plan.batches, table.quasi_identifiers
    on_progress("Drawing rows", 0, table.n_rows)
    drawn = plan.strata.draw(batches, rng)
    points = np.stack([column.codes[drawn] for column in columns], axis=1)
    scale = 1 / np.array([max(column.n_values - 1, 1) for column in columns], np.float64)
    bits = bits_of_codes(columns)
    on_progress("Splitting batches into sets", 0, table.n_rows)
    split_lists_at_equal_ranks(batches.first, batches.alpha, points, drawn, scale, bits)
    places, beta = places_by_set(batches.first, batches.alpha)
    drawn, points = drawn[places], points[places]
    on_progress("Dividing sets into groups and buckets", table.n_rows // 2, table.n_rows)
    n_blocks = np.where(beta % plan.k, 1, plan.k)
    split_lists_at_equal_ranks(starts_of(n_blocks), beta // n_blocks, points, drawn, scale, bits)
    for swap in range(swaps if plan.k > 1 else 0):
        on_progress("Swapping rows that have the same value", swap, swaps)
        stride = STRIDES[swap % len(STRIDES)]
        swap_alike(
            batches.first, batches.alpha, batches.value, plan.strata.value_of_row, plan.k, points, drawn, scale, stride
        )
    group_of_row, n_groups, bucket_of_row, n_buckets = divide_sets(beta, plan.k, drawn)
    on_progress("Dividing sets into groups and buckets", table.n_rows, table.n_rows)
    return Partition(group_of_row, n_groups), Partition(bucket_of_row, n_buckets)
