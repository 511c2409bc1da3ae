# SPDX-License-Identifier: Apache-2.0
"""Unique combinations: rows that nobody shares some columns with.

Sets of columns are numbered, smaller ones first. Set s is set `prefix[s]` (-1: the empty one) and the column `last[s]`,
which has `n_last[s]` values, so that the key of a combination is that of its prefix times `n_last[s]` plus a code. It
is counted at the place `offset[s]` + key. Where there are too many combinations for that, `offset[s]` is -1.
"""

import numpy as np

from overt.kernels.compiler import kernel

_BLOCK = 2048


@kernel
def count_up_to_two(codes, n_rows_of, columns, n_values, seen):
    """Add to seen[key], for the combinations of some columns: 0, 1, or 2 for more rows.

    `codes` is (column, distinct row); each stands for n_rows_of[i] rows, 1 or 2 for more.
    """
    keys = np.empty(_BLOCK, np.int32)
    for begin in range(0, codes.shape[1], _BLOCK):
        size = min(_BLOCK, codes.shape[1] - begin)
        for i in range(size):
            keys[i] = codes[columns[0], begin + i]
        for j in range(1, columns.size):
            column, n = columns[j], np.int32(n_values[j])
            for i in range(size):
                keys[i] = keys[i] * n + np.int32(codes[column, begin + i])
        for i in range(size):
            if seen[keys[i]] < 2:  # mostly not: reading is quicker than writing the same again
                seen[keys[i]] = min(seen[keys[i]] + n_rows_of[begin + i], 2)


@kernel
def find_minimal(codes, prefix, last, n_last, offset, seen, has_unique, given, known):
    """For rows that are unique on all columns: how often each set is a smallest one that singles a row out.

    `codes` is (row, column). `has_unique[s]` is false if no row is unique on set s; `known[given[s]]` says which rows
    are on one with no places. Returns (n_rows_of_set, size_of_row): the size of the smallest set, 0 if none is found.
    """
    n_sets = prefix.size
    masks = np.zeros(n_sets, np.uint64)
    sizes = np.zeros(n_sets, np.int32)
    for s in range(n_sets):
        masks[s] = np.uint64(1) << np.uint64(last[s])
        sizes[s] = 1
        if prefix[s] >= 0:
            masks[s] |= masks[prefix[s]]
            sizes[s] += sizes[prefix[s]]
    n_rows_of_set = np.zeros(n_sets, np.int64)
    size_of_row = np.zeros(codes.shape[0], np.int32)
    keys = np.zeros(n_sets, np.int64)
    found = np.zeros(n_sets, np.uint64)
    for i in range(codes.shape[0]):
        n_found = 0
        for s in range(n_sets):
            key = np.int64(codes[i, last[s]])
            if prefix[s] >= 0:
                key += keys[prefix[s]] * n_last[s]
            keys[s] = key
            if not has_unique[s]:
                continue
            if offset[s] < 0:
                if known[given[s], i] == 0:
                    continue
            elif seen[offset[s] + key] != 1:
                continue
            minimal = True
            for f in range(n_found):
                if found[f] & masks[s] == found[f]:
                    minimal = False
                    break
            if minimal:
                found[n_found] = masks[s]
                n_found += 1
                n_rows_of_set[s] += 1
                if size_of_row[i] == 0:
                    size_of_row[i] = sizes[s]
    return n_rows_of_set, size_of_row
