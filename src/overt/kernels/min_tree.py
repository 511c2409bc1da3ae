# SPDX-License-Identifier: Apache-2.0
"""Trees of numbers whose minimum is at the root: a change takes as many steps as the logarithm of how many there are.

A tree of n leaves lies in 2n numbers from `base` on: its leaves are the last n, and node i is the lesser of nodes 2i and 2i + 1.
"""

from overt.kernels.compiler import kernel


@kernel
def replace_leaf(tree, base, n, leaf, number):
    """Give a leaf another number."""
    node = n + leaf
    tree[base + node] = number
    while node > 1:
        node //= 2
        tree[base + node] = min(tree[base + 2 * node], tree[base + 2 * node + 1])


@kernel
def least_if(tree, base, n, one, of_one, other, of_other):
    """The least number if two leaves had others; a negative leaf is none, and its number above all."""
    changed = min(of_one, of_other)
    if n == 1 or changed <= tree[base + 1]:
        return changed
    i, j = n + one if one >= 0 else 1, n + other if other >= 0 else 1
    if tree[base + i] > tree[base + 1] and tree[base + j] > tree[base + 1]:
        return tree[base + 1]  # some third leaf has the least, and keeps it
    while i != j:
        if i ^ 1 == j:
            of_one = min(of_one, of_other)
            i //= 2
            j = i
        elif i > j:
            of_one = min(of_one, tree[base + (i ^ 1)])
            i //= 2
        else:
            of_other = min(of_other, tree[base + (j ^ 1)])
            j //= 2
        if i == j:
            of_one = min(of_one, of_other)
    while i > 1:
        of_one = min(of_one, tree[base + (i ^ 1)])
        i //= 2
    return of_one
