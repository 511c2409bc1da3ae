# SPDX-License-Identifier: Apache-2.0
"""Boxes and blind buckets: safe for every belief, for any goal. See docs/guides/blind-buckets.md.

`BlindBuckets` is the method. `strata` divides a table beforehand, `boxes` makes groups of people who are alike, `plan` decides
from counts how many buckets there are, `deal` fills them. `pilot` grows strata.
"""

from overt.algorithms.blind_buckets.method import BlindBuckets
from overt.algorithms.blind_buckets.pilot import bears_unseen_value, grow_strata, halvings_for
from overt.algorithms.blind_buckets.reach import method_for_counts, method_that_reaches
from overt.algorithms.blind_buckets.strata import Among, ByColumns, Halvings, Strata, StrataTree, UpTo

__all__ = [
    "Among",
    "BlindBuckets",
    "ByColumns",
    "Halvings",
    "Strata",
    "StrataTree",
    "UpTo",
    "bears_unseen_value",
    "grow_strata",
    "halvings_for",
    "method_for_counts",
    "method_that_reaches",
]
