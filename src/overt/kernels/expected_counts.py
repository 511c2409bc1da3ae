# SPDX-License-Identifier: Apache-2.0
"""Spreading: groups of rows laid out over the codes that their cells cover.

A group covers runs of neighbouring codes. Group g has the runs `first[g]:first[g + 1]`, run i the codes
`least[i]` to `greatest[i]`, and `weight[i]` rows are expected at each of them.
"""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def runs_of_sets(first, value, sizes):
    """The runs of neighbouring codes in ascending sets, every code of a group with the same weight."""
    n_groups = sizes.size
    run_first = np.zeros(n_groups + 1, np.int64)
    least = np.empty(value.size, np.int32)
    greatest = np.empty(value.size, np.int32)
    weight = np.empty(value.size, np.float64)
    filled = 0
    for g in range(n_groups):
        share = sizes[g] / (first[g + 1] - first[g])
        for i in range(first[g], first[g + 1]):
            if i > first[g] and value[i] == value[i - 1] + 1:
                greatest[filled - 1] = value[i]
                continue
            least[filled] = greatest[filled] = value[i]
            weight[filled] = share
            filled += 1
        run_first[g + 1] = filled
    return run_first, least[:filled], greatest[:filled], weight[:filled]


@kernel
def runs_beside(least, greatest, or_missing, missing, sizes):
    """The runs of ranges that may also hold the code `missing`; where only that is held, `least` is negative."""
    n_groups = sizes.size
    first = np.zeros(n_groups + 1, np.int64)
    lower = np.empty(2 * n_groups, np.int32)
    upper = np.empty(2 * n_groups, np.int32)
    weight = np.empty(2 * n_groups, np.float64)
    filled = 0
    for g in range(n_groups):
        n_codes = 0
        if least[g] >= 0:
            n_codes += greatest[g] - least[g] + 1
        if or_missing[g] or least[g] < 0:
            n_codes += 1
        if least[g] >= 0:
            lower[filled], upper[filled], weight[filled] = least[g], greatest[g], sizes[g] / n_codes
            filled += 1
        if or_missing[g] or least[g] < 0:
            lower[filled], upper[filled], weight[filled] = missing, missing, sizes[g] / n_codes
            filled += 1
        first[g + 1] = filled
    return first, lower[:filled], upper[:filled], weight[:filled]


@kernel
def lay_out(least, greatest, weight, n_values):
    """rows[v]: how many rows are expected at code v."""
    steps = np.zeros(n_values + 1)
    exact = np.zeros(n_values)
    for i in range(weight.size):
        if least[i] == greatest[i]:
            exact[least[i]] += weight[i]
        else:
            steps[least[i]] += weight[i]
            steps[greatest[i] + 1] -= weight[i]
    level = 0.0
    for v in range(n_values):
        level += steps[v]
        exact[v] += level
    return exact


@kernel
def lay_out_pairs(first, least, greatest, weight, other_first, other_least, other_greatest, other_weight, sizes, n, m):
    """rows[v, w]: how many rows are expected at codes v and w, if inside a group one says nothing of the other."""
    steps = np.zeros((n + 1, m + 1))
    for g in range(sizes.size):
        for i in range(first[g], first[g + 1]):
            per_row = weight[i] / sizes[g]
            begin, end = least[i], greatest[i] + 1
            for j in range(other_first[g], other_first[g + 1]):
                expected = per_row * other_weight[j]
                low, high = other_least[j], other_greatest[j] + 1
                steps[begin, low] += expected
                steps[begin, high] -= expected
                steps[end, low] -= expected
                steps[end, high] += expected
    for v in range(n + 1):
        level = 0.0
        for w in range(m + 1):
            level += steps[v, w]
            steps[v, w] = level
            if v > 0:
                steps[v, w] += steps[v - 1, w]
    return steps[:n, :m]


@kernel
def rows_in_runs(first, least, greatest, below):
    """covered[g]: how many rows of the whole column lie in the runs of group g; `below[c]` rows have a lesser code."""
    covered = np.zeros(first.size - 1, np.int64)
    for g in range(covered.size):
        for i in range(first[g], first[g + 1]):
            covered[g] += below[greatest[i] + 1] - below[least[i]]
    return covered


@kernel
def count_pairs(one, other, n, m):
    """counts[v, w]: rows with code v in one column and w in the other."""
    counts = np.zeros((n, m), np.int64)
    for row in range(one.size):
        counts[one[row], other[row]] += 1
    return counts
