# SPDX-License-Identifier: Apache-2.0
"""Numbers that lie close together."""

import numpy as np

from overt.kernels.compiling import kernel


@kernel
def most_within(first, numbers, width):
    """most[i]: how many of the ascending `numbers[first[i]:first[i + 1]]` some interval of this width holds."""
    most = np.zeros(first.size - 1, np.int64)
    for i in range(first.size - 1):
        low = first[i]
        for high in range(first[i], first[i + 1]):
            while numbers[high] - numbers[low] > width:
                low += 1
            most[i] = max(most[i], high - low + 1)
    return most
