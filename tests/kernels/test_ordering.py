# SPDX-License-Identifier: Apache-2.0
"""Loops over groups and lists, compared with Python's own sorting and sets."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels.ordering import (
    bounds_beside,
    masks_of_groups,
    number_lists,
    order_of_lists,
    sets_of_groups,
)

lists = st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30)
groups = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=60), min_size=1, max_size=8)


def flat(parts):
    first = np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)
    return first, np.array([item for part in parts for item in part], np.int32)


def grouped(parts, seed):
    """Codes with their rows shuffled, so that a group's rows lie anywhere."""
    starts, codes_in_order = flat(parts)
    rows = np.random.default_rng(seed).permutation(codes_in_order.size).astype(np.int32)
    codes = np.empty_like(codes_in_order)
    codes[rows] = codes_in_order
    return codes, rows, starts


@given(lists)
def test_order_of_lists_is_that_of_a_dictionary(parts):
    order = order_of_lists(*flat(parts)).tolist()
    assert order == sorted(range(len(parts)), key=lambda i: (parts[i], i))


@given(lists)
def test_equal_lists_have_one_number(parts):
    number, representatives = number_lists(*flat(parts))
    assert [parts[representatives[k]] for k in number] == parts
    assert len(representatives) == len({tuple(part) for part in parts})


@given(groups, st.integers(0, 5))
def test_sets_of_groups(parts, seed):
    codes, rows, starts = grouped(parts, seed)
    first, code = sets_of_groups(codes, rows, starts)
    assert [code[a:b].tolist() for a, b in pairwise(first)] == [sorted(set(part)) for part in parts]
    masks = masks_of_groups(codes, rows, starts)
    assert [int(mask) for mask in masks] == [sum(1 << (63 - c) for c in set(part)) for part in parts]


@given(groups, st.integers(0, 5))
def test_bounds_beside_a_missing_value(parts, seed):
    bounds = bounds_beside(*grouped(parts, seed), 9).tolist()
    for (least, greatest, has_missing), part in zip(bounds, parts, strict=True):
        known = [code for code in part if code != 9]
        assert (least, greatest) == ((min(known), max(known)) if known else (-1, -1))
        assert has_missing == (9 in part)
