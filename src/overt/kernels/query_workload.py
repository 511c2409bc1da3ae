# SPDX-License-Identifier: Apache-2.0
"""Many range queries over groups or cells at once."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def count_in_ranges(cells, weight, least, greatest, wanted, value_of_cell):
    """For every query the weight of the cells inside its ranges whose value it wants."""
    n_queries, n_columns = least.shape
    counts = np.zeros(n_queries, np.int64)
    for q in range(n_queries):
        total = 0
        for i in range(weight.size):
            if not wanted[q, value_of_cell[i]]:
                continue
            inside = True
            for a in range(n_columns):
                code = cells[i, a]
                if code < least[q, a] or code > greatest[q, a]:
                    inside = False
                    break
            if inside:
                total += weight[i]
        counts[q] = total
    return counts


@kernel
def collect_by_shape(shape_of_item, group_of_item, hits, shares, first, slot, count, plain, shared):
    """Add to the shape of every item what its group has: per slot hits times count, and shares times count."""
    for i in range(shape_of_item.size):
        shape, g = shape_of_item[i], group_of_item[i]
        for j in range(first[g], first[g + 1]):
            plain[shape, slot[j]] += hits[i] * count[j]
            shared[shape, slot[j]] += shares[i] * count[j]


@kernel
def share_in_ranges(least, greatest, box_least, box_greatest):
    """The share of a box that is inside ranges."""
    share = 1.0
    for a in range(least.size):
        low, high = max(least[a], box_least[a]), min(greatest[a], box_greatest[a])
        if high < low:
            return 0.0
        share *= (high - low + 1) / (box_greatest[a] - box_least[a] + 1)
    return share


@kernel
def answer_from_shapes(least, greatest, box_least, box_greatest, plain, shared):
    """(query, slot): sums over boxes of the share inside the query's ranges times what the box has."""
    n_slots = plain.shape[1]
    hits, shares = np.zeros((least.shape[0], n_slots)), np.zeros((least.shape[0], n_slots))
    for q in range(least.shape[0]):
        for i in range(box_least.shape[0]):
            share = share_in_ranges(least[q], greatest[q], box_least[i], box_greatest[i])
            if share > 0:
                for slot in range(n_slots):
                    hits[q, slot] += share * plain[i, slot]
                    shares[q, slot] += share * shared[i, slot]
    return hits, shares


@kernel
def answer_from_items(
    least, greatest, box_least, box_greatest, group_of_item, item_hits, item_shares, first, slot, count, n_slots
):
    """The same without collecting first, for boxes that are nearly all different."""
    hits, shares = np.zeros((least.shape[0], n_slots)), np.zeros((least.shape[0], n_slots))
    for q in range(least.shape[0]):
        for i in range(box_least.shape[0]):
            share = share_in_ranges(least[q], greatest[q], box_least[i], box_greatest[i])
            if share > 0:
                g = group_of_item[i]
                for j in range(first[g], first[g + 1]):
                    hits[q, slot[j]] += share * item_hits[i] * count[j]
                    shares[q, slot[j]] += share * item_shares[i] * count[j]
    return hits, shares
