# SPDX-License-Identifier: Apache-2.0
"""Loops over sparse histograms: how the values of one group are spread.

Group g has `count[first[g]:first[g + 1]]`, one count for each value that occurs in it.
"""

import math

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.counting import sort_ascending


@kernel
def largest_counts(first, count):
    """(group) -> how often its most frequent value occurs."""
    n_groups = first.size - 1
    largest = np.zeros(n_groups, np.int64)
    for g in range(n_groups):
        for j in range(first[g], first[g + 1]):
            largest[g] = max(largest[g], count[j])
    return largest


@kernel
def sort_counts(first, count):
    """The counts of every group, ascending."""
    ordered = count.copy()
    for g in range(first.size - 1):
        sort_ascending(ordered, first[g], first[g + 1])
    return ordered


@kernel
def tails(first, ordered, l):
    """(group) -> rows that have none of its l - 1 most frequent values; `ordered` are ascending counts."""
    n_groups = first.size - 1
    tail = np.zeros(n_groups, np.int64)
    for g in range(n_groups):
        for j in range(first[g], first[g + 1] - (l - 1)):
            tail[g] += ordered[j]
    return tail


@kernel
def count_logs(first, count):
    """(group) -> the sum of c ln c over its counts, and how many values it has if they are equally frequent, else 0."""
    n_groups = first.size - 1
    total = np.zeros(n_groups, np.float64)
    n_even = np.zeros(n_groups, np.int64)
    for g in range(n_groups):
        is_even = True
        for j in range(first[g], first[g + 1]):
            is_even = is_even and count[j] == count[first[g]]
            if count[j] > 1:
                total[g] += count[j] * math.log(count[j])
        if is_even:
            n_even[g] = first[g + 1] - first[g]
    return total, n_even
