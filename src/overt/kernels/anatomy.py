# SPDX-License-Identifier: Apache-2.0
"""Buckets of l rows with different values, always from the l values with most rows left."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def create_buckets(values, rows, values_in_random_order, l):
    """While l values have rows left, put one row of each of the l fullest values into a new bucket.

    `rows` lists the rows by value. Returns (bucket_of_row, n_buckets, residue), the residue being the rows
    that are in no bucket. Counts are kept in descending order without sorting again: the values taken are
    the first l, but of those that tie with the l-th the last ones of their block, so that after the count of
    each goes down by one the order still stands. Ties are broken by the order given, then as rounds go.
    """
    n_values = values_in_random_order.size
    counts = np.zeros(n_values, np.int64)
    for row in rows:
        counts[values[row]] += 1
    next_of_value = np.zeros(n_values, np.int64)
    end = 0
    for v in range(n_values):
        next_of_value[v] = end
        end += counts[v]
    by_count = values_in_random_order[np.argsort(-counts[values_in_random_order], kind="mergesort")]
    left = counts[by_count]  # descending
    bucket_of_row = np.full(rows.size, -1, np.int32)
    n_buckets = 0
    while l <= n_values and left[l - 1] > 0:
        tied = left[l - 1]
        block_begin = l - 1
        while block_begin > 0 and left[block_begin - 1] == tied:
            block_begin -= 1
        block_end = l
        while block_end < n_values and left[block_end] == tied:
            block_end += 1
        n_tied = l - block_begin
        for i in range(l):
            place = i if i < block_begin else block_end - n_tied + (i - block_begin)
            value = by_count[place]
            bucket_of_row[rows[next_of_value[value]]] = n_buckets
            next_of_value[value] += 1
            left[place] -= 1
        n_buckets += 1
    n_left = 0
    for row in rows:
        n_left += bucket_of_row[row] < 0
    residue = np.empty(n_left, np.int32)
    filled = 0
    for row in rows:
        if bucket_of_row[row] < 0:
            residue[filled] = row
            filled += 1
    return bucket_of_row, n_buckets, residue


@kernel
def values_in_buckets(bucket_of_row, values, wanted, n_buckets):
    """holds[i, bucket]: whether the bucket holds the value wanted[i]."""
    holds = np.zeros((wanted.size, n_buckets), np.bool_)
    for row in range(values.size):
        bucket = bucket_of_row[row]
        if bucket >= 0:
            for i in range(wanted.size):
                if values[row] == wanted[i]:
                    holds[i, bucket] = True
    return holds
