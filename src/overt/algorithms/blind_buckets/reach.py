# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_alternative.py
"""Reach: whether blind buckets can reach a goal on a table, found from counts alone, without making a release."""

import numpy as np

from overt.algorithms.blind_buckets.deal import Values
from overt.algorithms.blind_buckets.method import BlindBuckets
from overt.algorithms.blind_buckets.plan import plan_strata
from overt.errors import InvalidInput, Unreachable
from overt.partition import Counts, Partition
from overt.privacy.base import Property
from overt.table import Table


def method_that_reaches(goal: Property, table: Table) -> BlindBuckets | None:
    """Blind buckets in one stratum, if they reach the goal; None if they do not, or cannot be asked for it.

    The answer is certain: a plan depends on how often values occur, and boxes need nothing but rows.
    """
    if not table.sensitive or table.has_bundles:
        return None
    values = Values.of(table.sensitive)
    return method_for_counts(goal, values, values.count(Partition(np.zeros(table.n_rows, np.int32), 1)))


def method_for_counts(goal: Property, values: Values, counts: Counts) -> BlindBuckets | None:
    """The same from (0, value) -> how many rows."""
    try:
        method = BlindBuckets(goal=goal)
        plan_strata(values, counts, goal, method.box_size, method.bucket_size)
    except (InvalidInput, Unreachable):
        return None
    return method
