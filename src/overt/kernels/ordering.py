# SPDX-License-Identifier: Apache-2.0
"""Groups by what they hold: bounds beside a missing value, sets of codes, and lists in the order of a dictionary."""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.counting import sort_ascending
from overt.kernels.csv_fields import scatter


@kernel
def bounds_beside(codes, rows, starts, missing):
    """(group, 3): least and greatest code other than `missing` (both -1 if there is none), and whether it occurs."""
    n_groups = starts.size - 1
    bounds = np.empty((n_groups, 3), np.int32)
    for g in range(n_groups):
        least = greatest = np.int32(-1)
        has_missing = np.int32(0)
        for i in range(starts[g], starts[g + 1]):
            code = codes[rows[i]]
            if code == missing:
                has_missing = np.int32(1)
            elif least < 0:
                least = greatest = code
            else:
                least = min(least, code)
                greatest = max(greatest, code)
        bounds[g, 0] = least
        bounds[g, 1] = greatest
        bounds[g, 2] = has_missing
    return bounds


@kernel
def masks_of_groups(codes, rows, starts):
    """The codes (0 to 63) of each group as bits, code 0 the highest."""
    n_groups = starts.size - 1
    masks = np.zeros(n_groups, np.uint64)
    for g in range(n_groups):
        mask = np.uint64(0)
        for i in range(starts[g], starts[g + 1]):
            mask |= np.uint64(1) << np.uint64(63 - codes[rows[i]])
        masks[g] = mask
    return masks


@kernel
def sets_of_groups(codes, rows, starts):
    """(first, code): the distinct codes of group g are `code[first[g]:first[g + 1]]`, ascending."""
    n_groups = starts.size - 1
    first = np.zeros(n_groups + 1, np.int64)
    code = np.empty(rows.size, np.int32)
    filled = 0
    for g in range(n_groups):
        begin = filled
        size = starts[g + 1] - starts[g]
        for i in range(size):
            code[begin + i] = codes[rows[starts[g] + i]]
        sort_ascending(code, begin, begin + size)
        for i in range(begin, begin + size):
            if i == begin or code[i] != code[filled - 1]:
                code[filled] = code[i]
                filled += 1
        first[g + 1] = filled
    return first, code[:filled].copy()


@kernel
def compare_lists(first, item, one, other):
    """Negative, zero or positive as list `one` comes before, equals or comes after list `other`."""
    n_one = first[one + 1] - first[one]
    n_other = first[other + 1] - first[other]
    for i in range(min(n_one, n_other)):
        difference = np.int64(item[first[one] + i]) - np.int64(item[first[other] + i])
        if difference != 0:
            return difference
    return n_one - n_other


@kernel
def order_of_lists(first, item):
    """The lists `item[first[i]:first[i + 1]]` in the order of a dictionary; equal ones as they were (merge sort)."""
    n = first.size - 1
    order = np.arange(n)
    merged = np.empty(n, np.int64)
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            left, right = begin, middle
            for place in range(begin, end):
                if left < middle and (right >= end or compare_lists(first, item, order[left], order[right]) <= 0):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel
def number_lists(first, item):
    """(number of list, representatives): equal lists have the same number; list `representatives[k]` has number k."""
    n = first.size - 1
    n_slots = 4
    while n_slots < 2 * n:
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int64)
    number = np.empty(n, np.int64)
    representatives = np.empty(n, np.int64)
    n_numbers = 0
    for i in range(n):
        key = np.uint64(first[i + 1] - first[i])
        for j in range(first[i], first[i + 1]):
            key = scatter(key ^ np.uint64(item[j]))
        slot = np.int64(key & np.uint64(n_slots - 1))
        while slots[slot] >= 0 and compare_lists(first, item, representatives[slots[slot]], i) != 0:
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = n_numbers
            representatives[n_numbers] = i
            n_numbers += 1
        number[i] = slots[slot]
    return number, representatives[:n_numbers].copy()
