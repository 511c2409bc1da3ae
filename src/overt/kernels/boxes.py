# SPDX-License-Identifier: Apache-2.0
"""Smallest boxes around groups of rows."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def bounds_of_groups(codes, rows, starts):
    """(group, 2): the least and the greatest code among the rows of each group."""
    n_groups = starts.size - 1
    bounds = np.empty((n_groups, 2), np.int32)
    for g in range(n_groups):
        least = greatest = codes[rows[starts[g]]]
        for i in range(starts[g] + 1, starts[g + 1]):
            code = codes[rows[i]]
            least = min(least, code)
            greatest = max(greatest, code)
        bounds[g, 0] = least
        bounds[g, 1] = greatest
    return bounds
