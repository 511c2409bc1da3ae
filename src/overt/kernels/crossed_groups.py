# SPDX-License-Identifier: Apache-2.0
"""Two partitions of the same rows: how groups and buckets cross, and what that lets one believe."""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.counting import sort_ascending

TOO_LARGE = 1 << 62


@kernel
def greatest_common_divisor(a, b):
    """The greatest whole number that divides both."""
    while b > 0:
        a, b = b, a % b
    return a


@kernel
def believed_of_groups(group_first, bucket_at, n_shared, bucket_sizes, value_first, value, count, n_values):
    """Sparse beliefs of groups: (first, value, weight, total), in lowest terms, and the first group beyond 64 bits.

    Group g shares `n_shared[i]` rows with bucket `bucket_at[i]` for i in `group_first[g]:group_first[g + 1]`.
    Bucket b holds `value[j]` `count[j]` times for j in `value_first[b]:value_first[b + 1]`. A member of g is in
    bucket b with n_gb / |g| and has a value there with c / |b|; weights are these beliefs times a total.
    """
    n_groups = group_first.size - 1
    most = 0
    for i in range(bucket_at.size):
        most += value_first[bucket_at[i] + 1] - value_first[bucket_at[i]]
    first = np.zeros(n_groups + 1, np.int64)
    believed, weight = np.empty(most, np.int32), np.empty(most, np.int64)
    total = np.empty(n_groups, np.int64)
    seen = np.zeros(n_values, np.int64)
    filled = 0
    for g in range(n_groups):
        size, multiple = 0, 1
        for i in range(group_first[g], group_first[g + 1]):
            size += n_shared[i]
            b_size = bucket_sizes[bucket_at[i]]
            factor = b_size // greatest_common_divisor(multiple, b_size)
            if multiple > TOO_LARGE // factor:
                return first, believed, weight, total, g
            multiple *= factor
        if multiple > TOO_LARGE // size:
            return first, believed, weight, total, g
        begin = filled
        for i in range(group_first[g], group_first[g + 1]):
            b = bucket_at[i]
            for j in range(value_first[b], value_first[b + 1]):
                if seen[value[j]] == 0:
                    believed[filled] = value[j]
                    filled += 1
                seen[value[j]] += n_shared[i] * count[j] * (multiple // bucket_sizes[b])
        sort_ascending(believed, begin, filled)
        common = size * multiple
        for j in range(begin, filled):
            weight[j] = seen[believed[j]]
            seen[believed[j]] = 0
            common = greatest_common_divisor(common, weight[j])
        weight[begin:filled] //= common
        total[g] = size * multiple // common
        first[g + 1] = filled
    return first, believed[:filled], weight[:filled], total, -1
