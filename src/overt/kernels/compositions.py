# SPDX-License-Identifier: Apache-2.0
"""Compositions: what the buckets hold when values in a line are dealt round and round.

The i-th value has the places `first[i]:first[i + 1]` of a line, and place p goes to bucket p modulo the number of buckets.
So two buckets hold the same unless a value begins between them, and there are at most (values + 1) different ones.
"""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.counting import read_off


@kernel
def compositions_of_deal(first, bucket, n_buckets):
    """What some of the buckets hold, sparse: bucket[s] holds `item[j]` `count[j]` times for j in `start[s]:start[s + 1]`."""
    n_items, n_places = first.size - 1, first[-1]
    start = np.zeros(bucket.size + 1, np.int64)
    most = 0
    for s in range(bucket.size):
        most += min(n_items, (n_places - bucket[s] + n_buckets - 1) // n_buckets)
    item, count = np.empty(most, np.int32), np.empty(most, np.int64)
    filled = 0
    for s in range(bucket.size):
        if (n_places - bucket[s] + n_buckets - 1) // n_buckets > n_items:  # more places than items: ask every item
            for i in range(n_items):
                skipped = (bucket[s] - first[i]) % n_buckets
                n_here = (first[i + 1] - first[i] - skipped + n_buckets - 1) // n_buckets
                if n_here > 0:
                    item[filled], count[filled] = i, n_here
                    filled += 1
        else:  # ask every place
            place = bucket[s]
            while place < n_places:
                i = np.searchsorted(first, place, side="right") - 1
                n_here = (first[i + 1] - place + n_buckets - 1) // n_buckets
                item[filled], count[filled] = i, n_here
                filled += 1
                place += n_here * n_buckets
        start[s + 1] = filled
    return start, item[:filled], count[:filled]


@kernel
def count_codes_of_items(start, item, count, code_of_item, n_codes):
    """The same by the code of each item: (first, code, count), codes ascending in every composition."""
    seen = np.zeros(n_codes, np.int64)
    first = np.zeros(start.size, np.int64)
    code, total = np.empty(item.size, np.int32), np.empty(item.size, np.int64)
    filled = 0
    for s in range(start.size - 1):
        begin = filled
        for j in range(start[s], start[s + 1]):
            c = code_of_item[item[j]]
            if seen[c] == 0:
                code[filled] = c
                filled += 1
            seen[c] += count[j]
        read_off(seen, code, total, begin, filled)
        first[s + 1] = filled
    return first, code[:filled], total[:filled]


@kernel
def deal_rows(rows, first_row, n_buckets, bucket_of_row):
    """Rows of stratum s lie in `rows[first_row[s]:first_row[s + 1]]`; they go round its `n_buckets[s]` buckets."""
    first_bucket = 0
    for s in range(n_buckets.size):
        bucket = 0
        for place in range(first_row[s], first_row[s + 1]):
            bucket_of_row[rows[place]] = first_bucket + bucket
            bucket += 1
            if bucket == n_buckets[s]:
                bucket = 0
        first_bucket += n_buckets[s]
    return first_bucket
