# SPDX-License-Identifier: Apache-2.0
"""The paper's own algorithm: rows are looked for by their quasi-identifiers until every value is among them.

Paper       B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization", TKDE 2018.
Implements  Algorithms 1 to 5, with the assignment of m-Invariance (X. Xiao, Y. Tao, SIGMOD 2007) for m equal to
            `diversity_num`, the least multiple of k that is at least l.
Departs     Where it cannot run as printed: Algorithm 3 keeps the half it descends into, and drops a column whose
            cut leaves a side empty, on which it would recurse for ever; loops end one step earlier; a set of
            fewer than k rows is refused, where Algorithm 4 divides by zero. What is left open is drawn at random:
            which row of a value is taken, and in which order the rows of a group are dealt to buckets. Rows of a
            set are sorted by its widest column before they are cut into groups.
Guarantee   None by itself. Property 2 is false, and the last call takes every value as often as the rarest
            although counts differ: on the paper's own table (Fig. 1b, k = 2, l = 4) two people are exposed with 1/2.
            The method checks every release and gives out none that fails. Against an adversary who also knows
            the algorithm nothing holds: which rows meet depends on their values, and replaying tells them.
            Every set begins with a pass over all rows that are left, so the time grows with the square of the rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.batches import Batch, BatchPlan
from overt.errors import TooLarge, Unreachable
from overt.kernels.counting import starts_of
from overt.kernels.table_halving import deal_sets, pick_sets
from overt.partition import Counts, Partition
from overt.progress import Progress
from overt.table import Column, Kind, Table

MOST_ROWS = 100_000  # a minute or so; ten times the rows would take two hours


def cal_diversity(k: int, l: int) -> int:
    """The least multiple of k that is at least l.

    >>> cal_diversity(2, 4), cal_diversity(3, 7)
    (4, 9)
    """
    return -(-l // k) * k


def calculate_alpha(counts: Sequence[int], beta: int, m: int) -> int | None:
    """The largest number of rows of each of the first beta values (most frequent first) that leaves an m-eligible rest.

    Unlike `overt.algorithms.batches.largest_alpha` it is asked about tables that are not m-eligible too.
    """
    if not 1 <= beta <= len(counts) or (beta <= m and m * counts[0] > sum(counts)):
        return None
    bounds = [counts[beta - 1]]
    if beta != m:
        slack = sum(counts) - m * counts[0]
        if beta < m:  # taking more of them helps: a least number instead of a largest
            return None
        bounds.append(slack // (beta - m))
    if beta < len(counts):
        bounds.append((sum(counts) - m * counts[beta]) // beta)
    return min(bounds) if min(bounds) >= 1 else None


def cal_sen_set(counts: Sequence[int], k: int, l: int) -> tuple[int, int]:
    """Algorithm 2: how many of the most frequent values (beta), and how many rows of each (alpha)."""
    d = cal_diversity(k, l)
    if len(counts) < 2 * d:
        return len(counts), counts[-1]
    beta = d
    alpha = calculate_alpha(counts, beta, d)
    while alpha is None:
        beta += k
        if len(counts) - beta < 2 * l:
            return len(counts), counts[-1]
        alpha = calculate_alpha(counts, beta, d)
    return beta, alpha


def printed_plan(counts: Sequence[int] | Counts, k: int, l: int) -> list[Batch]:
    """Algorithm 1 without its rows: the batches it works through.

    >>> [(batch.values, batch.alpha) for batch in printed_plan([2, 2, 1, 1, 1, 1], 2, 4)]
    [((0, 1, 2, 3, 4, 5), 1), ((0, 1), 1)]
    """
    left = {value: int(count) for value, count in enumerate(counts) if count > 0}
    batches = []
    while left:
        by_count = sorted(left, key=lambda value: (-left[value], value))
        beta, alpha = cal_sen_set([left[value] for value in by_count], k, l)
        chosen = by_count[:beta]
        batches.append(Batch(tuple(chosen), alpha))
        for value in chosen:
            left[value] -= alpha
            if left[value] == 0:
                del left[value]
    return batches


def divide_table(
    table: Table, sensitive: Column, k: int, l: int, rng: Generator, on_progress: Progress
) -> tuple[Partition, Partition]:
    """Algorithm 1: the groups and the buckets of all rows."""
    if table.n_rows > MOST_ROWS:
        raise TooLarge(
            f"The printed algorithm needs time with the square of the rows and is given {table.n_rows:,}; "
            f"it takes up to {MOST_ROWS:,}. Use mode = 'safe'."
        )
    plan = join_batches(printed_plan(sensitive.total_of_value, k, l))
    beta_of_set = np.repeat(np.diff(plan.first), plan.alpha)
    if beta_of_set.min(initial=k) < k:
        raise Unreachable(
            f"The printed algorithm gets to a set of {beta_of_set.min()} rows, too few for a group of k = {k}; "
            "use mode = 'safe'."
        )
    on_progress("Picking rows", 0, table.n_rows)
    measured = measures_of(table.quasi_identifiers)
    picked = pick_sets(*measured, sensitive.codes, plan.first, plan.value, plan.alpha, rng.random(table.n_rows))
    divided = deal_sets(*measured, picked, beta_of_set, k, rng.random(table.n_rows))
    on_progress("Picking rows", table.n_rows, table.n_rows)
    return Partition(*divided[:2]), Partition(*divided[2:])


def join_batches(batches: Sequence[Batch]) -> BatchPlan:
    """Batches as arrays."""
    first = starts_of(np.array([len(batch.values) for batch in batches], np.int64))
    value = np.array([value for batch in batches for value in batch.values], np.int32)
    return BatchPlan(first, value, np.array([batch.alpha for batch in batches], np.int64))


def measures_of(
    columns: Sequence[Column],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Codes, the position of every code on its column's scale, which columns are ranges, and what spans are divided by."""
    codes = np.stack([column.codes for column in columns])
    position = np.zeros((len(columns), max(column.n_values for column in columns)))
    is_range = np.array([column.kind is not Kind.CATEGORY for column in columns])
    scale = np.ones(len(columns))
    for a, column in enumerate(columns):
        place = np.arange(column.n_values, dtype=np.float64)
        if is_range[a] and column.missing_code is None:
            place = column.values.to_physical().cast(float).to_numpy()
        position[a, : column.n_values] = place
        widest = place[-1] - place[0] if place.size > 1 else 0.0
        scale[a] = 1 / widest if widest > 0 else 1.0
    return codes, position, is_range, scale
