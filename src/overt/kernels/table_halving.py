# SPDX-License-Identifier: Apache-2.0
"""Rows picked one set at a time by halving a table for as long as one half still has every value of the set."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def spans_of_columns(codes, position, is_range, scale, rows, n_rows, seen, spans):
    """spans[a]: the range of the positions of column a, or its number of different codes less one; times its scale."""
    for a in range(codes.shape[0]):
        least = greatest = codes[a, rows[0]]
        n_distinct = 0
        for i in range(n_rows):
            code = codes[a, rows[i]]
            least, greatest = min(least, code), max(greatest, code)
            if not is_range[a] and not seen[code]:
                seen[code] = True
                n_distinct += 1
        if is_range[a]:
            spans[a] = (position[a, greatest] - position[a, least]) * scale[a]
        else:
            seen[least : greatest + 1] = False
            spans[a] = (n_distinct - 1) * scale[a]


@kernel
def lower_median(codes, rows, n_rows, counts):
    """The code in the middle of the rows, of two the lesser."""
    greatest = 0
    for i in range(n_rows):
        counts[codes[rows[i]]] += 1
        greatest = max(greatest, codes[rows[i]])
    median, reached = -1, 0
    for code in range(greatest + 1):
        reached += counts[code]
        counts[code] = 0
        if median < 0 and 2 * reached >= n_rows:
            median = code
    return median


@kernel
def has_all(codes, median, left, value_of_row, rows, n_rows, wanted, n_wanted, mark, stamp):
    """Whether the rows on one side of a cut have all the wanted values."""
    n_found = 0
    for i in range(n_rows):
        if (codes[rows[i]] <= median) == left:
            v = value_of_row[rows[i]]
            if wanted[v] and mark[v] != stamp:
                mark[v] = stamp
                n_found += 1
    return n_found == n_wanted


@kernel
def pick_sets(codes, position, is_range, scale, value_of_row, first, value, alpha, draws):
    """Rows set after set, one for every value of the batch, in the order of its values.

    Each set begins with all rows that are left. The widest column is cut at its lower median, and the lower half
    kept if it has every value, else the upper half, else the column is dropped; a new half begins with all
    columns. When none is left, one row of each value is taken, which is decided by `draws`.
    """
    n_columns, n_rows = codes.shape
    n_codes = position.shape[1]
    left_over = np.arange(n_rows)
    n_left = n_rows
    work = np.empty(n_rows, np.int64)
    spans, dropped = np.empty(n_columns), np.empty(n_columns, np.bool_)
    seen, counts = np.zeros(n_codes, np.bool_), np.zeros(n_codes, np.int64)
    n_values = value_of_row.max() + 1
    wanted, mark = np.zeros(n_values, np.bool_), np.zeros(n_values, np.int64)
    slot_of_value, n_of_value = np.zeros(n_values, np.int64), np.zeros(n_values, np.int64)
    picked = np.empty(draws.size, np.int64)
    n_picked, stamp = 0, 0
    for b in range(alpha.size):
        n_wanted = first[b + 1] - first[b]
        for s in range(n_wanted):
            wanted[value[first[b] + s]] = True
            slot_of_value[value[first[b] + s]] = s
        for _ in range(alpha[b]):
            work[:n_left] = left_over[:n_left]
            size = n_left
            halved = True
            while halved:
                halved = False
                spans_of_columns(codes, position, is_range, scale, work, size, seen, spans)
                dropped[:] = False
                for _ in range(n_columns):
                    a = -1
                    for c in range(n_columns):
                        if not dropped[c] and (a < 0 or spans[c] > spans[a]):
                            a = c
                    dropped[a] = True
                    if spans[a] <= 0:
                        continue  # one side would be empty
                    median = lower_median(codes[a], work, size, counts)
                    side = -1
                    for left in (1, 0):
                        stamp += 1
                        if side < 0 and has_all(
                            codes[a], median, left == 1, value_of_row, work, size, wanted, n_wanted, mark, stamp
                        ):
                            side = left
                    if side < 0:
                        continue
                    kept = 0
                    for i in range(size):
                        if (codes[a, work[i]] <= median) == (side == 1):
                            work[kept] = work[i]
                            kept += 1
                    halved = kept < size  # all rows on one side: the cut was none
                    size = kept
                    if halved:
                        break
            for i in range(size):
                if wanted[value_of_row[work[i]]]:
                    n_of_value[value_of_row[work[i]]] += 1
            for s in range(n_wanted):
                v = value[first[b] + s]
                n_of_value[v] = np.int64(draws[n_picked + s] * n_of_value[v])  # so many are passed over
            for i in range(size):
                v = value_of_row[work[i]]
                if wanted[v]:
                    if n_of_value[v] == 0:
                        picked[n_picked + slot_of_value[v]] = work[i]
                    n_of_value[v] -= 1
            for s in range(n_wanted):
                n_of_value[value[first[b] + s]] = 0
            n_left = remove_rows(left_over, n_left, picked, n_picked, value_of_row, wanted, slot_of_value)
            n_picked += n_wanted
        for s in range(n_wanted):
            wanted[value[first[b] + s]] = False
    return picked[:n_picked]


@kernel
def remove_rows(rows, n_rows, picked, begin, value_of_row, wanted, slot_of_value):
    """Take the rows of a set out; returns how many are left."""
    kept = 0
    for i in range(n_rows):
        v = value_of_row[rows[i]]
        if not wanted[v] or picked[begin + slot_of_value[v]] != rows[i]:
            rows[kept] = rows[i]
            kept += 1
    return kept


@kernel
def comes_before(codes, order, one, other):
    """Whether a row comes before another by the columns in this order."""
    for i in range(order.size):
        difference = np.int64(codes[order[i], one]) - np.int64(codes[order[i], other])
        if difference != 0:
            return difference < 0
    return False


@kernel
def deal_sets(codes, position, is_range, scale, picked, beta_of_set, k, draws):
    """(group_of_row, bucket_of_row): every set sorted by its widest column, cut into runs, dealt inside each run.

    Runs have the sizes of Algorithm 4. In a run rows are shuffled (by `draws`); the place in the set modulo k is
    the bucket.
    """
    n_columns, n_rows = codes.shape
    group_of_row, bucket_of_row = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    spans, seen = np.empty(n_columns), np.zeros(position.shape[1], np.bool_)
    begin, n_groups, n_buckets = 0, 0, 0
    for i in range(beta_of_set.size):
        beta = beta_of_set[i]
        rows, keys = picked[begin : begin + beta], draws[begin : begin + beta]
        spans_of_columns(codes, position, is_range, scale, rows, beta, seen, spans)
        order = np.argsort(-spans)
        for p in range(1, beta):
            row, q = rows[p], p
            while q > 0 and comes_before(codes, order, row, rows[q - 1]):
                rows[q] = rows[q - 1]
                q -= 1
            rows[q] = row
        per_set = beta // k
        base, longer = beta // per_set, beta % per_set
        place = 0
        for g in range(per_set):
            size = base + (1 if g < longer else 0)
            run = rows[place : place + size][np.argsort(keys[place : place + size])]
            for j in range(size):
                group_of_row[run[j]] = n_groups
                bucket_of_row[run[j]] = n_buckets + (place + j) % k
            n_groups += 1
            place += size
        n_buckets += k
        begin += beta
    return group_of_row, n_groups, bucket_of_row, n_buckets
