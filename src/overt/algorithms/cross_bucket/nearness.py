# SPDX-License-Identifier: Apache-2.0
"""Numbers that are nearly equal: what (k, l)-anonymity does not look at.

50,000 and 50,001 are two values to l-diversity, and hardly one to anybody else. Nothing here changes a release: it
measures how surely a number is known to within a hundredth of its column's range, and refuses buckets whose numbers lie too
close together where a least spread was asked for.

Paper       Q. Zhang, N. Koudas, D. Srivastava, T. Yu, "Aggregate Query Answering on Anonymized Tables", ICDE
            2007 ((k, e)-anonymity: values that range over at least e).
Implements  The spread of buckets; the belief in an interval.
Departs     The spread is asked of every bucket, beside l-diversity and not in its place.
Guarantee   Exact.
"""

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from overt.errors import Caution, InvalidInput, Unreachable
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.nearness import most_within
from overt.partition import Counts
from overt.privacy.base import exact
from overt.release import CrossBucketRelease
from overt.table import Codes, Column, Kind

if TYPE_CHECKING:
    from overt.algorithms.cross_bucket.symmetric import TablePlan

NEAR = Fraction(1, 100)  # of the range of the column


def belief_within(column: Column, first: Counts, value: Codes, width: Fraction) -> Fraction:
    """How surely a number is known to lie in some interval of a width, in the worst of several sets of values."""
    numbers = column.values.cast(float).to_numpy()
    order = np.lexsort((value, np.repeat(np.arange(first.size - 1), np.diff(first))))
    most = most_within(first, numbers[value[order]], float(width))
    return max((Fraction(int(n), int(size)) for n, size in zip(most, np.diff(first), strict=True)), default=Fraction(0))


def describe_near_values(plan: "TablePlan", column: Column, l: int) -> str | None:
    """The caution for numbers that differ by little, if someone is known more surely to within it than 1/l."""
    if column.kind is not Kind.NUMBER or column.missing_code is not None or column.n_values < 2:
        return None
    if plan.n_values != column.n_values:  # bins: near numbers are planned as one value already
        return None
    numbers = column.values.cast(float)
    width = exact(float(numbers.max()) - float(numbers.min())) * NEAR  # type: ignore[arg-type]
    belief = belief_within(column, plan.batches.first, plan.batches.value % np.int32(column.n_values), width)
    if belief <= Fraction(1, l):
        return None
    return (
        f"Numbers that are nearly equal count as different: somebody's {column.name!r} is known to within 1 % of its "
        f"range with probability {belief}, although no single value is with more than 1/{l}. Give a bin width or a "
        "spread, or add t-closeness to the goal."
    )


def warn_of_near_values(plan: "TablePlan", column: Column, l: int) -> None:
    """Warn of numbers that are nearly equal."""
    caution = describe_near_values(plan, column, l)
    if caution is not None:
        warnings.warn(caution, Caution, stacklevel=4)


def require_spread_of_buckets(release: CrossBucketRelease, spread: Fraction) -> None:
    """Refuse a release with a bucket whose numbers are less than this apart."""
    column = release.table.the_sensitive("CrossBucket")
    if column.kind is not Kind.NUMBER or column.missing_code is not None:
        raise InvalidInput(
            f"A spread is asked for and {column.name!r} is no number without missing ones; leave it out."
        )
    numbers = [exact(number) for number in column.values]
    bounds = bounds_of_groups(column.codes, release.buckets.rows, release.buckets.starts)
    pairs, n_buckets = np.unique(bounds, axis=0, return_counts=True)
    too_near = [
        int(n) for (low, high), n in zip(pairs, n_buckets, strict=True) if numbers[high] - numbers[low] < spread
    ]
    if too_near:
        raise Unreachable(
            f"In {sum(too_near)} of {release.buckets.n_groups} buckets the numbers of {column.name!r} range over less than "
            f"{spread}. Use blocks = 'apart', a bin width, a larger l, or a smaller spread."
        )
