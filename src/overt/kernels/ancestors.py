# SPDX-License-Identifier: Apache-2.0
"""Walks up a tree, for many leaves at once."""

import numpy as np
from numpy.typing import NDArray

from overt.kernels.compiler import kernel


@kernel
def first_shared_node(
    node_of_leaf: NDArray[np.int32], first: NDArray[np.int32], last: NDArray[np.int32]
) -> NDArray[np.int32]:
    """ancestor[i]: the node of the lowest level at which leaves first[i] and last[i] have the same one.

    `node_of_leaf` is (level, leaf) -> node, and all leaves share the node of its last level.
    """
    ancestor = np.empty(first.size, np.int32)
    for i in range(first.size):
        level = 0
        while node_of_leaf[level, first[i]] != node_of_leaf[level, last[i]]:
            level += 1
        ancestor[i] = node_of_leaf[level, first[i]]
    return ancestor
