# SPDX-License-Identifier: Apache-2.0
"""Sets of rows, one row per value, divided into groups and into buckets that cross them.

Set after set lies in a row, value by value; a set of beta rows whose beta is a multiple of k has k blocks of
beta / k neighbouring places, any other set is one block.
"""

import numpy as np

from overt.kernels.compiler import kernel

LEAST_GAIN = 1e-9  # below this a gain is rounding


@kernel
def places_by_set(first, alpha):
    """Places of drawn rows (batch, value, set) in the order (batch, set, value); and the size of every set."""
    n_sets, n_places = alpha.sum(), 0
    for b in range(alpha.size):
        n_places += (first[b + 1] - first[b]) * alpha[b]
    places = np.empty(n_places, np.int64)
    beta_of_set = np.empty(n_sets, np.int64)
    filled, done, n_done = 0, 0, 0
    for b in range(alpha.size):
        beta = first[b + 1] - first[b]
        for i in range(alpha[b]):
            beta_of_set[n_done] = beta
            n_done += 1
            for s in range(beta):
                places[filled] = done + s * alpha[b] + i
                filled += 1
        done += beta * alpha[b]
    return places, beta_of_set


@kernel
def divide_sets(beta_of_set, k, rows):
    """(group_of_row, n_groups, bucket_of_row, n_buckets).

    With k blocks the r-th rows of all blocks are a group and a block is a bucket. Otherwise groups are runs of
    neighbouring places, their sizes as even as can be, and the whole set is one bucket.
    """
    group_of_row, bucket_of_row = np.empty(rows.size, np.int32), np.empty(rows.size, np.int32)
    place, n_groups, n_buckets = 0, 0, 0
    for i in range(beta_of_set.size):
        beta = beta_of_set[i]
        per_block = beta // k
        if beta % k == 0:
            for j in range(beta):
                group_of_row[rows[place + j]] = n_groups + j % per_block
                bucket_of_row[rows[place + j]] = n_buckets + j // per_block
            n_buckets += k
        else:
            base, longer = beta // per_block, beta % per_block
            j = 0
            for g in range(per_block):
                for _ in range(base + (1 if g < longer else 0)):
                    group_of_row[rows[place + j]] = n_groups + g
                    bucket_of_row[rows[place + j]] = n_buckets
                    j += 1
            n_buckets += 1
        n_groups += per_block
        place += beta
    return group_of_row, n_groups, bucket_of_row, n_buckets


@kernel
def change_of_swap(points, p, one, q, other, step, k, scale):
    """By how much the scaled widths of two boxes grow, in sum, if the points p and q change places.

    A box is around the k points `one`, `one + step`, ... (p is one of them), the other from `other` on (with q).
    """
    change = 0.0
    for a in range(points.shape[1]):
        mine, yours = points[p, a], points[q, a]
        if mine == yours:
            continue
        least, greatest = max(mine, yours), min(mine, yours)  # neutral: both boxes also hold mine or yours
        low, high = least, greatest
        for j in range(k):
            if one + j * step != p:
                least, greatest = min(least, points[one + j * step, a]), max(greatest, points[one + j * step, a])
            if other + j * step != q:
                low, high = min(low, points[other + j * step, a]), max(high, points[other + j * step, a])
        before = max(greatest, mine) - min(least, mine) + max(high, yours) - min(low, yours)
        after = max(greatest, yours) - min(least, yours) + max(high, mine) - min(low, mine)
        change += (after - before) * scale[a]
    return change


@kernel
def swap_alike(first, alpha, value, value_of_row, k, points, rows, scale, stride):
    """One pass of exchanges between sets of a batch that lie `stride` apart; returns how much smaller boxes became.

    Two sets exchange their rows of one value where that makes the boxes of the two groups smaller in sum. Values
    are taken in the order of the plan, which is random; nothing else is known of them. Sets of one block are left alone.
    """
    gained, done = 0.0, 0
    slot_of_value = np.zeros(value.max() + 1, np.int64)
    for b in range(alpha.size):
        beta = first[b + 1] - first[b]
        if beta % k == 0 and alpha[b] > stride:
            per_block = beta // k
            for s in range(beta):
                slot_of_value[value[first[b] + s]] = s
            place_of = np.empty((alpha[b], beta), np.int64)
            for i in range(alpha[b]):
                for p in range(done + i * beta, done + (i + 1) * beta):
                    place_of[i, slot_of_value[value_of_row[rows[p]]]] = p
            for i in range(alpha[b] - stride):
                for s in range(beta):
                    p, q = place_of[i, s], place_of[i + stride, s]
                    here, there = done + i * beta, done + (i + stride) * beta
                    one, other = here + (p - here) % per_block, there + (q - there) % per_block
                    change = change_of_swap(points, p, one, q, other, per_block, k, scale)
                    if change < -LEAST_GAIN:
                        gained -= change
                        rows[p], rows[q] = rows[q], rows[p]
                        for a in range(points.shape[1]):
                            points[p, a], points[q, a] = points[q, a], points[p, a]
        done += beta * alpha[b]
    return gained
