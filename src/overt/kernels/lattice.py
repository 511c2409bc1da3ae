# SPDX-License-Identifier: Apache-2.0
"""Loops over the nodes of a lattice, which lie in one array, the last column's level running fastest.

Bounds are floats. A node is open if its state is 0 and its bound leaves it a chance: below `best`, or at most `even`
and before `place` in the order of nodes that cost the same.
"""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def first_in_box(low, high, stride):
    """The flat position of the lower corner, and how many nodes lie from one corner to the other."""
    start, n = 0, 1
    for j in range(low.size):
        start += low[j] * stride[j]
        n *= high[j] - low[j] + 1
    return start, n


@kernel
def next_in_box(position, at, low, high, stride):
    """The flat position that follows in a box; `at`, the levels there, is changed."""
    j = low.size - 1
    while j >= 0 and at[j] == high[j]:
        position -= (high[j] - low[j]) * stride[j]
        at[j] = low[j]
        j -= 1
    if j >= 0:
        at[j] += 1
        position += stride[j]
    return position


@kernel
def raise_in_box(bounds, low, high, stride, bound):
    """Raise what is below a bound to it, in the box from one corner to the other."""
    position, n = first_in_box(low, high, stride)
    at = low.copy()
    for _ in range(n):
        bounds[position] = max(bounds[position], bound)
        position = next_in_box(position, at, low, high, stride)


@kernel
def strike_in_box(state, low, high, stride, struck):
    """Give the nodes of a box that have state 0 another."""
    position, n = first_in_box(low, high, stride)
    at = low.copy()
    for _ in range(n):
        if state[position] == 0:
            state[position] = struck
        position = next_in_box(position, at, low, high, stride)


@kernel
def is_open(node, state, base, excess, tie, best, even, place):
    """Whether a node may still be better than the best so far."""
    bound = base[node] + excess[node]
    return state[node] == 0 and (bound < best or (bound <= even and tie[node] < place))


@kernel
def least_open(state, base, excess, tie, best, even, place):
    """The open node with the least bound, or -1; and how many are open."""
    chosen, n_open, least = -1, 0, 0.0
    for node in range(state.size):
        if is_open(node, state, base, excess, tie, best, even, place):
            n_open += 1
            if chosen < 0 or base[node] + excess[node] < least:
                chosen, least = node, base[node] + excess[node]
    return chosen, n_open


@kernel
def chain_up(node, state, base, excess, tie, best, even, place, n_levels, stride, only_open, sign):
    """A chain of nodes, each one step above the last, by the step with the least bound times `sign`."""
    chain = np.empty(n_levels.sum() + 1, np.int64)
    chain[0] = node
    n = 1
    while True:
        step, least = -1, 0.0
        for j in range(n_levels.size):
            level = node // stride[j] % n_levels[j]
            if level + 1 < n_levels[j]:
                up = node + stride[j]
                bound = sign * (base[up] + excess[up])
                if step >= 0 and bound >= least:
                    continue
                if state[up] == 0 and (not only_open or is_open(up, state, base, excess, tie, best, even, place)):
                    step, least = up, bound
        if step < 0:
            return chain[:n]
        node = step
        chain[n] = node
        n += 1
