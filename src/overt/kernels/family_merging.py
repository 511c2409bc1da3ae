# SPDX-License-Identifier: Apache-2.0
"""Merging small groups with their neighbours."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def merge_to_size(centres, sizes, k, scale):
    """merged_of_group: groups that lie near each other together, at least k rows in each, and how many there are.

    All groups are cut in two along the column in which their centres are widest apart, where the sizes of both
    sides are most nearly equal, as long as both sides have k rows. A table of fewer than k rows stays whole.
    """
    n_groups, n_columns = centres.shape
    order = np.arange(n_groups)
    merged_of_group = np.empty(n_groups, np.int32)
    stack = np.empty((2 * n_groups + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n_groups
    top, n_merged = 1, 0
    while top > 0:
        top -= 1
        begin, end = stack[top, 0], stack[top, 1]
        total = 0
        for i in range(begin, end):
            total += sizes[order[i]]
        cut = -1
        if total >= 2 * k:
            widest, width = -1, 0.0
            for a in range(n_columns):
                least = greatest = centres[order[begin], a]
                for i in range(begin, end):
                    least = min(least, centres[order[i], a])
                    greatest = max(greatest, centres[order[i], a])
                if (greatest - least) * scale[a] > width:
                    widest, width = a, (greatest - least) * scale[a]
            if widest >= 0:
                members = order[begin:end].copy()
                keys = np.empty(end - begin, np.int64)
                for i in range(end - begin):
                    keys[i] = centres[members[i], widest]
                order[begin:end] = members[np.argsort(keys, kind="mergesort")]
            before, best = 0, total + 1
            for i in range(begin, end - 1):
                before += sizes[order[i]]
                if before >= k and total - before >= k and abs(total - 2 * before) < best:
                    cut, best = i + 1, abs(total - 2 * before)
        if cut < 0:
            for i in range(begin, end):
                merged_of_group[order[i]] = n_merged
            n_merged += 1
        else:
            stack[top, 0], stack[top, 1] = begin, cut
            stack[top + 1, 0], stack[top + 1, 1] = cut, end
            top += 2
    return merged_of_group, n_merged
