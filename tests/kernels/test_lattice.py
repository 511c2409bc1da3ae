# SPDX-License-Identifier: Apache-2.0
"""Boxes and chains in a lattice, against slices of arrays."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels import lattice as loops
from overt.lattice import Lattice, above, below


@st.composite
def boards(draw):
    """The levels of a small lattice, a node of it, and a number for every node."""
    n_levels = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    node = tuple(draw(st.integers(0, n - 1)) for n in n_levels)
    size = int(np.prod(n_levels))
    numbers = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return n_levels, node, np.array(numbers).reshape(n_levels)


def stride_of(n_levels):
    return np.append(np.cumprod(n_levels[:0:-1])[::-1], 1).astype(np.int64)


@given(board=boards(), bound=st.integers(0, 3))
def test_bounds_are_raised_in_a_box_and_nowhere_else(board, bound):
    n_levels, node, numbers = board
    bottom, top, at = np.zeros(len(n_levels), np.int64), np.array(n_levels) - 1, np.array(node)
    for low, high, box in ((bottom, at, below(node)), (at, top, above(node))):
        expected = numbers.astype(float)
        expected[box] = np.maximum(expected[box], bound)
        found = numbers.astype(float).reshape(-1)
        loops.raise_in_box(found, low, high, stride_of(n_levels), float(bound))
        assert np.array_equal(found.reshape(n_levels), expected)


@given(board=boards())
def test_only_what_has_no_state_is_struck_out(board):
    n_levels, node, numbers = board
    state = numbers.astype(np.uint8).reshape(-1)
    expected = numbers.astype(np.uint8)
    expected[below(node)] = np.where(expected[below(node)] == 0, 7, expected[below(node)])
    bottom = np.zeros(len(n_levels), np.int64)
    loops.strike_in_box(state, bottom, np.array(node), stride_of(n_levels), np.uint8(7))
    assert np.array_equal(state.reshape(n_levels), expected)


@given(board=boards(), best=st.integers(0, 4), even=st.integers(0, 4), place=st.integers(0, 40))
def test_the_least_open_node_and_a_chain_of_open_ones_above_it(board, best, even, place):
    n_levels, _, numbers = board
    state = (numbers.reshape(-1) == 3).astype(np.uint8)
    base, excess, tie = numbers.reshape(-1).astype(float), np.zeros(numbers.size), np.arange(numbers.size)
    limits = float(best), float(even), place
    is_open = (state == 0) & ((base < best) | ((base <= even) & (tie < place)))
    node, n_open = loops.least_open(state, base, excess, tie, *limits)
    assert n_open == is_open.sum()
    if not n_open:
        assert node == -1
        return
    assert is_open[node] and base[node] == base[is_open].min()
    chain = loops.chain_up(
        node, state, base, excess, tie, *limits, np.array(n_levels), stride_of(n_levels), True, 1.0
    ).tolist()
    lattice = Lattice(tuple("abcd"[: len(n_levels)]), n_levels)
    nodes = [tuple(int(level) for level in np.unravel_index(position, n_levels)) for position in chain]
    for lower, upper in pairwise(nodes):
        steps = [step for step in lattice.steps_up(lower) if is_open[np.ravel_multi_index(step, n_levels)]]
        assert upper in steps
        assert numbers[upper] == min(numbers[step] for step in steps)
    assert not any(is_open[np.ravel_multi_index(step, n_levels)] for step in lattice.steps_up(nodes[-1]))
