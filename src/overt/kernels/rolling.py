# SPDX-License-Identifier: Apache-2.0
"""Rolling up: groups of a coarser node from the groups of a finer one, and their counts with them.

A group is known by one of its rows, its representative. `codes` is (row, column); the rank of a code at the level
that is asked for is `rank[begin[j] + code]`. Neighbouring columns with few codes are packed into one, `packs` is (row,
pack): looking up one sum takes as long as looking up one rank.
"""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.counting import read_off

_MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: spreads keys that differ in a few low digits


@kernel
def parts_of_packs(first_column, n_codes, rank, begin, stride, first):
    """(code of a pack) -> its part of a key: the sum over the pack's columns of rank * stride; pack after pack."""
    part = np.zeros(first[-1], np.int64)
    for p in range(first.size - 1):
        size = 1
        for j in range(first_column[p], first_column[p + 1]):
            n = n_codes[j]
            for c in range(size - 1, -1, -1):  # from the end, so that what is still needed is not overwritten
                so_far = part[first[p] + c]
                for code in range(n):
                    part[first[p] + c * n + code] = so_far + rank[begin[j] + code] * stride[j]
            size *= n
    return part


@kernel
def keys_of(packs, representative, part, first, prefix, prefix_stride):
    """key[g] = prefix[g] * prefix_stride + the parts of all packs; no prefix if it is empty."""
    n = representative.size
    keys = np.empty(n, np.int64)
    for g in range(n):
        row = representative[g]
        key = np.int64(0)
        for p in range(first.size - 1):
            key += part[first[p] + packs[row, p]]
        keys[g] = key
    if prefix.size:
        for g in range(n):
            keys[g] += prefix[g] * prefix_stride
    return keys


@kernel
def number_keys(keys, n_keys, most_direct):
    """number[g]: keys numbered in the order in which they are met, and how many there are. All are below n_keys."""
    n = keys.size
    number = np.empty(n, np.int32)
    n_numbers = 0
    if n_keys <= most_direct:
        number_of_key = np.full(n_keys, -1, np.int32)
        for g in range(n):
            known = number_of_key[keys[g]]
            if known < 0:
                known = n_numbers
                number_of_key[keys[g]] = known
                n_numbers += 1
            number[g] = known
        return number, n_numbers
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    number_at = np.full(1 << bits, -1, np.int32)
    key_of_number = np.empty(n, np.int64)
    for g in range(n):
        key = keys[g]
        place = np.int64((np.uint64(key) * _MIX) >> shift)
        known = number_at[place]
        while known >= 0 and key_of_number[known] != key:
            place = (place + 1) & mask
            known = number_at[place]
        if known < 0:
            known = n_numbers
            number_at[place] = known
            key_of_number[known] = key
            n_numbers += 1
        number[g] = known
    return number, n_numbers


@kernel
def merge_sizes(number, n_groups, representative, sizes):
    """The representative and the size of every new group; an empty `sizes` stands for ones."""
    new_representative = np.empty(n_groups, np.int32)
    new_sizes = np.zeros(n_groups, np.int64)
    met = 0
    for g in range(number.size):
        group = number[g]
        if group == met:
            new_representative[met] = representative[g]
            met += 1
        new_sizes[group] += sizes[g] if sizes.size else 1
    return new_representative, new_sizes


@kernel
def merge_histograms(number, n_groups, first, value, count, n_values):
    """Sparse histograms of the new groups from those of the old: (first, value, count), values ascending."""
    start = np.zeros(n_groups + 1, np.int64)
    for g in range(number.size):
        start[number[g] + 1] += 1
    for group in range(n_groups):
        start[group + 1] += start[group]
    old = np.empty(number.size, np.int32)
    place = start[:-1].copy()
    for g in range(number.size):
        old[place[number[g]]] = g
        place[number[g]] += 1
    seen = np.zeros(n_values, np.int64)
    new_first = np.zeros(n_groups + 1, np.int64)
    new_value = np.empty(value.size, np.int32)
    new_count = np.empty(value.size, np.int64)
    filled = 0
    for group in range(n_groups):
        begin = filled
        for i in range(start[group], start[group + 1]):
            for j in range(first[old[i]], first[old[i] + 1]):
                v = value[j]
                if seen[v] == 0:
                    new_value[filled] = v
                    filled += 1
                seen[v] += count[j]
        read_off(seen, new_value, new_count, begin, filled)
        new_first[group + 1] = filled
    return new_first, new_value[:filled].copy(), new_count[:filled].copy()


@kernel
def sum_weights(codes, representative, sizes, chosen, weight, begin):
    """(column) -> the sum over chosen groups of size * weight, the weight being `weight[begin[j] + code]`."""
    sums = np.zeros(begin.size, np.int64)
    for g in range(representative.size):
        if chosen[g]:
            row = representative[g]
            for j in range(begin.size):
                sums[j] += sizes[g] * weight[begin[j] + codes[row, j]]
    return sums


@kernel
def fewest_below(levels, n_groups, n_places, node):
    """The place with the fewest groups whose levels are all at most the node's, or -1."""
    best = -1
    for place in range(n_places):
        if best >= 0 and n_groups[place] >= n_groups[best]:
            continue
        is_below = True
        for j in range(node.size):
            if levels[place, j] > node[j]:
                is_below = False
                break
        if is_below:
            best = place
    return best
