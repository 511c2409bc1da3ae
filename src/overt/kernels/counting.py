# SPDX-License-Identifier: Apache-2.0
"""Counting loops: rows by group, values by group."""

import numpy as np

from overt.kernels.compiler import kernel

INSERTION_LIMIT = 32  # up to here moving neighbours beats everything else


@kernel
def sift_down(heap, place, size, item):
    """Put an item at this place of a heap of the greatest first, or as far below as it must go."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= item:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@kernel
def sort_ascending(array, begin, end):
    """Sort `array[begin:end]` in place, never in quadratic time: by insertion if short, else as a heap."""
    size = end - begin
    if size <= INSERTION_LIMIT:
        for i in range(begin + 1, end):
            item = array[i]
            j = i
            while j > begin and array[j - 1] > item:
                array[j] = array[j - 1]
                j -= 1
            array[j] = item
        return
    for place in range(size // 2 - 1, -1, -1):
        sift_down(array[begin:end], place, size, array[begin + place])
    for last in range(size - 1, 0, -1):
        item = array[begin + last]
        array[begin + last] = array[begin]
        sift_down(array[begin:end], 0, last, item)


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
def read_off(seen, value, count, begin, end):
    """Sort the values found in `value[begin:end]`, write how often each was seen beside it, and forget them."""
    if end - begin > INSERTION_LIMIT and seen.size <= 16 * (end - begin):
        j = begin  # most values occur: read them off in order
        for v in range(seen.size):
            if seen[v] > 0:
                value[j] = v
                j += 1
    else:
        sort_ascending(value, begin, end)
    for j in range(begin, end):
        count[j] = seen[value[j]]
        seen[value[j]] = 0


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
                value[filled] = v
                filled += 1
            seen[v] += 1
        read_off(seen, value, count, begin, filled)
        first[g + 1] = filled
    return first, value[:filled], count[:filled]  # views: what was never written takes no memory
