# SPDX-License-Identifier: Apache-2.0
"""Numbers that are nearly equal: what (k, l)-anonymity does not look at.

50,000 and 50,001 are two values to l-diversity, and hardly one to anybody else. Nothing here changes a release: it
measures how surely a number is known to within a hundredth of its column's range, and refuses buckets whose numbers lie too
close together where a least spread was asked for.

Paper       Q. Zhang, N. Koudas, D. Srivastava, T. Yu, "Aggregate Query Answering on Anonymized Tables", ICDE
            2007 ((k, e)-anonymity: values that range over at least e).
Implements  The spread of buckets; the belief in an interval.
Departs     The spread is asked of every bucket, beside l-diversity and not in its place.
Guarantee   Exact for the spread. The belief in an interval is an exact fraction; which numbers lie in it is told in floats.
"""

from fractions import Fraction

import numpy as np

from overt.algorithms.batches import BatchPlan
from overt.cautions import caution
from overt.errors import InvalidInput, Unreachable
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.nearness import most_within
from overt.partition import Histogram
from overt.privacy.base import exact
from overt.privacy.exactness import greatest_ratio
from overt.release import CrossBucketRelease
from overt.table import Column, Kind

NEAR = Fraction(1, 100)  # of the range of the column


def belief_within(column: Column, beliefs: Histogram, width: float) -> Fraction:
    """How surely somebody's number is known to lie in some interval of a width, in the worst of several groups."""
    assert beliefs.out_of is not None
    numbers = column.values.cast(float).to_numpy()
    return greatest_ratio(most_within(beliefs.first, numbers[beliefs.value], beliefs.count, width), beliefs.out_of)


def beliefs_of_plan(plan: BatchPlan, column: Column) -> Histogram:
    """What will be believed of the people of each batch: all of its values alike."""
    batch_of_slot = np.repeat(np.arange(plan.n_batches), np.diff(plan.first))
    value = plan.value % np.int32(column.n_values)  # without the stratum
    value = value[np.lexsort((value, batch_of_slot))]
    return Histogram(
        plan.first, value, np.ones_like(batch_of_slot), column.total_of_value, None, np.diff(plan.first), column.values
    )


def warn_of_near_values(column: Column, beliefs: Histogram, l: int) -> None:
    """Warn if somebody's number is known more surely than 1/l to within a hundredth of its range."""
    numbers = column.values.cast(float)
    belief = belief_within(column, beliefs, float(NEAR) * (float(numbers[-1]) - float(numbers[0])))
    if belief > Fraction(1, l):
        caution(
            f"Numbers that are nearly equal count as different: somebody's {column.name!r} is known to within 1 % of "
            f"its range with probability {belief}, although no single value is with more than 1/{l}. Give a bin width "
            "or a spread, or add t-closeness to the goal.",
            stacklevel=4,
        )


def can_be_near(column: Column) -> bool:
    """Whether the values of a column have distances."""
    return column.kind is Kind.NUMBER and column.missing_code is None and column.n_values > 1


def require_spread_of_buckets(release: CrossBucketRelease, spread: Fraction) -> None:
    """Refuse a release with a bucket whose numbers are less than this apart."""
    column = release.table.the_sensitive("CrossBucket")
    if not can_be_near(column):
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
