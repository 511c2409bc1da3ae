# SPDX-License-Identifier: Apache-2.0
"""Loops over sparse histograms: how far the values of a group are from those of the whole table.

Group g has `sizes[g]` rows and the values `value[first[g]:first[g + 1]]`, ascending, each `count[...]` times.
All is in integers: p - q = c / n - C / N is taken times n * N. Results have the type of `count`, so that the
loops also run uncompiled on Python integers where 64 bits are not enough.
"""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def excess_over_table(first, value, count, sizes, node_of_value, total_of_node, n_rows):
    """(group) -> n * N times the sum, over levels and their nodes, of what p exceeds q by.

    `node_of_value` is (level, value), `total_of_node` is (level, node).
    """
    n_groups, n_levels = sizes.size, node_of_value.shape[0]
    excess = np.zeros(n_groups, count.dtype)
    count_of_node = np.zeros(total_of_node.shape[1], count.dtype)
    for g in range(n_groups):
        for level in range(n_levels):
            for j in range(first[g], first[g + 1]):
                count_of_node[node_of_value[level, value[j]]] += count[j]
            for j in range(first[g], first[g + 1]):
                node = node_of_value[level, value[j]]
                if count_of_node[node] > 0:  # once per node: absent nodes have p = 0, which exceeds nothing
                    over = count_of_node[node] * n_rows - total_of_node[level, node] * sizes[g]
                    if over > 0:
                        excess[g] += over
                    count_of_node[node] = 0
    return excess


@kernel
def rank_work(first, value, count, sizes, rank_of_value, rows_up_to, sum_before, n_rows):
    """(group) -> n * N times the sum over ranks of how far the cumulated p and q are apart.

    `rows_up_to[r]` are the table's rows of rank r or less, `sum_before[r]` is the sum of `rows_up_to[:r]`.
    Between two values of a group its cumulated count stays the same while the table's grows, so that the
    sum over those ranks is two prefix sums, split where the one overtakes the other.
    """
    n_groups, n_ranks = sizes.size, rows_up_to.size
    work = np.zeros(n_groups, count.dtype)
    for g in range(n_groups):
        n, cumulated, begin = sizes[g], 0 * n_rows, 0
        for j in range(first[g], first[g + 1] + 1):
            end = rank_of_value[value[j]] if j < first[g + 1] else n_ranks - 1
            here = cumulated * n_rows
            low, high = begin, end
            if begin < end and rows_up_to[begin] * n >= here:
                high = begin
            elif begin < end and rows_up_to[end - 1] * n <= here:
                low = end
            while low < high:  # the first rank at which the table is ahead of the group
                middle = (low + high) // 2
                if rows_up_to[middle] * n >= here:
                    high = middle
                else:
                    low = middle + 1
            work[g] += here * (low - begin) - n * (sum_before[low] - sum_before[begin])
            work[g] += n * (sum_before[end] - sum_before[low]) - here * (end - low)
            if j < first[g + 1]:
                cumulated += count[j]
            begin = end
    return work


@kernel
def any_outside(first, value, count, kind_of_group, kind_of_value, least, most):
    """(group) -> whether a count is below `least` or above `most`, both (kind of group, kind of value)."""
    n_groups = first.size - 1
    outside = np.zeros(n_groups, np.bool_)
    for g in range(n_groups):
        kind = kind_of_group[g]
        for j in range(first[g], first[g + 1]):
            other = kind_of_value[value[j]]
            if count[j] < least[kind, other] or count[j] > most[kind, other]:
                outside[g] = True
                break
    return outside


@kernel
def extreme_counts(first, value, count, kind_of_group, kind_of_value, n_group_kinds, n_value_kinds):
    """(kind of group, kind of value) -> the least and the greatest count; both 0 where the pair does not occur."""
    least = np.zeros((n_group_kinds, n_value_kinds), np.int64)
    most = np.zeros((n_group_kinds, n_value_kinds), np.int64)
    for g in range(first.size - 1):
        kind = kind_of_group[g]
        for j in range(first[g], first[g + 1]):
            other = kind_of_value[value[j]]
            if most[kind, other] == 0 or count[j] < least[kind, other]:
                least[kind, other] = count[j]
            most[kind, other] = max(most[kind, other], count[j])
    return least, most
