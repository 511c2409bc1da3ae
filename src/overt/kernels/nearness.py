# SPDX-License-Identifier: Apache-2.0
"""Numbers that lie close together."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def most_within(first, numbers, weight, width):
    """most[i]: the greatest weight of the ascending `numbers[first[i]:first[i + 1]]` that some interval of a width holds."""
    most = np.zeros(first.size - 1, np.int64)
    for i in range(first.size - 1):
        low, held = first[i], 0
        for high in range(first[i], first[i + 1]):
            held += weight[high]
            while numbers[high] - numbers[low] > width:
                held -= weight[low]
                low += 1
            most[i] = max(most[i], held)
    return most
