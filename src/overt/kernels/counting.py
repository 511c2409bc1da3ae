# SPDX-License-Identifier: Apache-2.0
"""Counting loops: rows by group, values by group."""

import numpy as np

from overt.kernels.compiling import kernel


@kernel
def count_codes(codes, n_codes):
    """counts[c]: how often code c occurs."""
    counts = np.zeros(n_codes, np.int64)
    for i in range(codes.size):
        counts[codes[i]] += 1
    return counts


@kernel
def starts_of(sizes):
    """starts[g]: where group g begins when groups lie one after the other; starts[-1] is the end."""
    starts = np.zeros(sizes.size + 1, np.int64)
    for g in range(sizes.size):
        starts[g + 1] = starts[g] + sizes[g]
    return starts


@kernel
def order_by_code(codes, n_codes, order):
    """Reorder `order` (row positions) by the code of the row, ties as they were: one radix pass."""
    place = np.zeros(n_codes + 1, np.int64)
    for i in range(codes.size):
        place[codes[i] + 1] += 1
    for c in range(n_codes):
        place[c + 1] += place[c]
    ordered = np.empty(order.size, order.dtype)
    for i in range(order.size):
        row = order[i]
        ordered[place[codes[row]]] = row
        place[codes[row]] += 1
    return ordered


@kernel
def count_values_in_ranges(value_of_place, starts, n_values):
    """Sparse histograms of the values in each range `starts[g]:starts[g + 1]` of places.

    Returns (first, value, count): range g has the values `value[first[g]:first[g + 1]]`, ascending, and
    each occurs `count[...]` times.
    """
    n_groups = starts.size - 1
    seen = np.zeros(n_values, np.int64)
    first = np.zeros(n_groups + 1, np.int64)
    value = np.empty(value_of_place.size, np.int32)
    count = np.empty(value_of_place.size, np.int64)
    filled = 0
    for g in range(n_groups):
        begin = filled
        for i in range(starts[g], starts[g + 1]):
            v = value_of_place[i]
            if seen[v] == 0:
                # insertion keeps the group's values ascending; groups are small or values few
                j = filled
                while j > begin and value[j - 1] > v:
                    value[j] = value[j - 1]
                    j -= 1
                value[j] = v
                filled += 1
            seen[v] += 1
        for j in range(begin, filled):
            count[j] = seen[value[j]]
            seen[value[j]] = 0
        first[g + 1] = filled
    return first, value[:filled].copy(), count[:filled].copy()
