# SPDX-License-Identifier: Apache-2.0
"""How many rows lie in each of some boxes, counted up to two: enough to see whether one stands alone."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def count_boxed_rows(codes, low, high):
    """n_rows[b]: rows whose codes (column, row) lie in box b, from `low` to `high` (column, box); 2 stands for more."""
    n_columns, n_rows = codes.shape
    found = np.zeros(low.shape[1], np.int64)
    for b in range(low.shape[1]):
        for row in range(n_rows):
            inside = True
            for j in range(n_columns):
                if codes[j, row] < low[j, b] or codes[j, row] > high[j, b]:
                    inside = False
                    break
            if inside:
                found[b] += 1
                if found[b] == 2:
                    break
    return found
