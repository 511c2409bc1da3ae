# SPDX-License-Identifier: Apache-2.0
"""Numbering keys and merging counts, against dictionaries; compiled and not."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels import rolling

MANY = 2**62
keys_below = st.one_of(st.just(7), st.just(1000), st.just(MANY))


def python(kernel):
    return getattr(kernel, "py_func", kernel)


def number_by_hand(keys):
    known = {}
    return [known.setdefault(key, len(known)) for key in keys], len(known)


@given(data=st.data(), n_keys=keys_below)
def test_keys_are_numbered_in_the_order_in_which_they_are_met(data, n_keys):
    keys = data.draw(st.lists(st.integers(0, n_keys - 1), max_size=60))
    keys += data.draw(st.lists(st.sampled_from(keys or [0]), max_size=30))
    expected = number_by_hand(keys)
    for most_direct in (0, n_keys if n_keys < MANY else 0):  # by hashing, and by a table if it is not too large
        number, n = rolling.number_keys(np.array(keys, np.int64), n_keys, most_direct)
        assert (number.tolist(), n) == expected


@pytest.mark.parametrize("step", [1, 2**10, 2**31, 2**50 + 1])
def test_many_keys_at_equal_steps_are_told_apart(step):
    keys = np.random.default_rng(0).permutation(np.arange(4000) % 2000).astype(np.int64) * step
    number, n = rolling.number_keys(keys, MANY, 0)
    assert (number.tolist(), n) == number_by_hand(keys.tolist())
    with np.errstate(over="ignore"):
        same, n_same = python(rolling.number_keys)(keys, MANY, 0)
    assert np.array_equal(same, number) and n_same == n


@given(data=st.data(), n_values=st.sampled_from([3, 50]))
def test_histograms_are_merged_value_by_value(data, n_values):
    value = st.integers(0, n_values - 1)
    old = data.draw(
        st.lists(st.dictionaries(value, st.integers(1, 9), min_size=1, max_size=n_values), min_size=1, max_size=8)
    )
    number, n_groups = number_by_hand(data.draw(st.lists(st.integers(0, 3), min_size=len(old), max_size=len(old))))
    expected = defaultdict(Counter)
    for group, counts in zip(number, old, strict=True):
        expected[group].update(counts)
    first = np.cumsum([0, *map(len, old)])
    values = np.array([v for counts in old for v in sorted(counts)], np.int32)
    counts = np.array([counts[v] for counts in old for v in sorted(counts)], np.int64)
    for kernel in (rolling.merge_histograms, python(rolling.merge_histograms)):
        f, v, c = kernel(np.array(number, np.int32), n_groups, first, values, counts, n_values)
        found = [list(zip(v[a:b].tolist(), c[a:b].tolist(), strict=True)) for a, b in pairwise(f)]
        assert found == [sorted(expected[group].items()) for group in range(n_groups)]


def test_sizes_are_added_and_the_first_row_represents_a_group():
    number, rows = np.array([0, 1, 0, 2, 1], np.int32), np.array([7, 3, 9, 1, 4], np.int32)
    representative, sizes = rolling.merge_sizes(number, 3, rows, np.array([5, 1, 2, 4, 3], np.int64))
    assert (representative.tolist(), sizes.tolist()) == ([7, 3, 1], [7, 4, 4])
    _, ones = rolling.merge_sizes(number, 3, rows, np.empty(0, np.int64))
    assert ones.tolist() == [2, 2, 1]
