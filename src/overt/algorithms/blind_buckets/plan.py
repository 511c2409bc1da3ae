# SPDX-License-Identifier: Apache-2.0
"""Plan: how many buckets each stratum gets and in which order its values are dealt, from counts alone.

Paper       Ours. Compositions, and buckets planned from counts, generalise the batches of X. Xiao, Y. Tao, "m-Invariance",
            SIGMOD 2007, from different values to any goal.
Implements  For each of several orders of the values, the largest number of buckets found for which every composition
            satisfies the goal, and of these the largest.
Departs     nothing.
Guarantee   Exact. A plan is a function of the stratum's counts, the whole table's counts (with which t-closeness, delta-disclosure and
            beta-likeness compare) and public parameters. All our properties survive mergers, so one bucket for a whole stratum satisfies the goal whenever
            any plan does: no goal is refused that could be reached. How small buckets get is not claimed to be the least possible.
"""

from collections.abc import Iterator

import numpy as np

from overt.algorithms.blind_buckets.deal import Deal, Values
from overt.algorithms.blind_buckets.why_not import why_not as explain
from overt.errors import Unreachable
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Property
from overt.table import Codes

FEW = 4  # numbers of buckets that are tried one by one before steps get longer
SAMPLE = 16  # compositions that are looked at first: most numbers of buckets that do not do fail on them
CLOSE = 64  # the search ends within one of so many buckets


def plan_stratum(
    values: Values, count_of_value: Counts, goal: Property, box_size: int, bucket_size: int
) -> Deal | None:
    """The deal with the most buckets that was found, each of at least `bucket_size` rows; None if there is none."""
    most = int(count_of_value.sum()) // bucket_size
    if most and not goal.holds(whole_strata(values, count_of_value[None], box_size)):
        return None  # what one bucket for all misses, no plan reaches
    best = None
    for order in orders(values, count_of_value):
        n_buckets = 0 if best is None else best.n_buckets
        found = most_buckets(values, order, count_of_value[order], goal, box_size, n_buckets, most)
        if found is not None:
            best = found
        if best is not None and best.n_buckets == most:
            break
    return best


def most_buckets(
    values: Values, order: Codes, counts: Counts, goal: Property, box_size: int, beyond: int, most: int
) -> Deal | None:
    """The deal in this order with nearly the most buckets, more than `beyond`; which numbers satisfy the goal need not be monotone.

    Numbers are tried from the top, first one by one, then in steps that double; the last step is halved.
    """

    def deal(n_buckets: int) -> Deal | None:
        dealt = Deal(order, counts, n_buckets)
        few = dealt.first_buckets[:: -(-dealt.first_buckets.size // SAMPLE)]
        if not goal.holds(dealt.compositions(values, box_size, few)):
            return None
        return dealt if goal.holds(dealt.compositions(values, box_size)) else None

    failed, step = most + 1, 1
    while True:
        n_buckets = max(failed - step, beyond + 1)
        if n_buckets >= failed:
            return None
        found = deal(n_buckets)
        if found is not None:
            break
        failed = n_buckets
        step = 1 if most + 1 - failed < FEW else 2 * step
    while failed - found.n_buckets > 1 + found.n_buckets // CLOSE:
        between = deal((failed + found.n_buckets) // 2)
        if between is None:
            failed = (failed + found.n_buckets) // 2
        else:
            found = between
    return found


def orders(values: Values, count_of_value: Counts) -> Iterator[Codes]:
    """The values that occur, in the orders that are tried.

    By frequency, which spreads rare values best; as values lie in their columns, which is along the order for ordered and along the
    tree for hierarchical t-closeness; and with each column in turn first, so that its own counts come out even.
    """
    present = np.flatnonzero(count_of_value).astype(np.int32)
    rarest_last = -count_of_value[present]
    yield present[np.lexsort((present, rarest_last))]
    yield present
    if len(values.columns) > 1:
        for column, code_of_value in zip(values.columns, values.code_of_value, strict=True):
            code = code_of_value[present]
            rows_of_code = np.bincount(code, weights=count_of_value[present], minlength=column.n_values)
            yield present[np.lexsort((present, rarest_last, code, -rows_of_code[code]))]
            yield present[np.lexsort((present, rarest_last, code))]


def plan_strata(values: Values, counts: Counts, goal: Property, box_size: int, bucket_size: int) -> list[Deal]:
    """The deal of every stratum, from (stratum, value) -> count; or `Unreachable`, which is for the owner's eyes."""
    require_rows(counts.sum(axis=1), box_size, bucket_size)
    deals = [plan_stratum(values, of_stratum, goal, box_size, bucket_size) for of_stratum in counts]
    planned = [deal for deal in deals if deal is not None]
    if len(planned) < len(deals):
        raise Unreachable(why_not(values, counts, goal, box_size))
    return planned


def require_rows(sizes: Counts, box_size: int, bucket_size: int) -> None:
    """Every stratum must have the rows of a box and of a bucket."""
    least, n_rows = max(box_size, bucket_size), int(sizes.min()) if sizes.size else 0
    n_small = int((sizes < least).sum())
    if n_small or not sizes.size:
        where = f"The table has {n_rows} rows"
        if len(sizes) > 1:
            where = f"{n_small} of {len(sizes)} strata have too few rows, the smallest {n_rows}"
        remedy = "Use fewer strata, or smaller" if len(sizes) > 1 else "Use smaller"
        raise Unreachable(
            f"{where}: boxes of {box_size} and buckets of {bucket_size} rows are asked for. {remedy} boxes or buckets."
        )


def why_not(values: Values, counts: Counts, goal: Property, box_size: int) -> str:
    """Which counts stand in the way of a goal, and what could be reached."""
    everyone = counts.sum(axis=0, keepdims=True)
    return explain(goal, whole_strata(values, counts, box_size), whole_strata(values, everyone, box_size))


def whole_strata(values: Values, counts: Counts, box_size: int) -> Groups:
    """Every stratum as a single bucket: the coarsest plan there is, and so what can be reached at all."""
    histograms: dict[str, Histogram] = {}
    for column, code_of_value in zip(values.columns, values.code_of_value, strict=True):
        stratum, value = np.nonzero(counts)
        dense = np.zeros((len(counts), column.n_values), np.int64)
        np.add.at(dense, (stratum, code_of_value[value]), counts[stratum, value])
        histograms[column.name] = Histogram.of_counts(column, dense, counts.sum(axis=1))
    return Groups(np.full(len(counts), box_size, np.int64), histograms)
