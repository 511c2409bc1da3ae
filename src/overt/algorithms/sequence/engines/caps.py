# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_sampling.py
"""Caps: under a bound on ratios a group fails when a value occurs more often than its cap. Here is which groups can."""

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.functions import Function
from overt.algorithms.sequence.properties import RatioBound

Flags = NDArray[np.bool_]


def fate_of_groups(
    bound: RatioBound, function: Function, released: Function, histograms: NDArray[np.int64]
) -> tuple[Flags, Flags]:
    """For every group of an earlier function: whether it may and whether it must fail in a permutation set.

    `histograms` are those of the released groups, which the tables of the set share.
    """
    partition, sizes = function.partition, released.partition.sizes
    joint = partition.group_of_row.astype(np.int64) * sizes.size + released.partition.group_of_row
    pair, overlap = np.unique(joint, return_counts=True)
    group, of_released = pair // sizes.size, pair % sizes.size
    most = np.minimum(overlap[:, None], histograms[of_released])
    least = np.maximum(0, overlap[:, None] - (sizes[of_released, None] - histograms[of_released]))
    caps = np.array([bound.largest_count(size) for size in partition.sizes.tolist()])
    most_of_group = np.zeros((partition.n_groups, histograms.shape[1]), np.int64)
    least_of_group = np.zeros_like(most_of_group)
    np.add.at(most_of_group, group, most)
    np.add.at(least_of_group, group, least)
    may_fail: Flags = np.any(most_of_group > caps[:, None], axis=1)
    must_fail: Flags = np.any(least_of_group > caps[:, None], axis=1)
    return may_fail, must_fail
