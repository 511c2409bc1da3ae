# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels.profiles import accumulate, add_outer, count_covered

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@given(sizes=SIZES, data=st.data())
def test_prefix_sums_count_what_is_below(sizes, data):
    n = int(np.prod(sizes))
    cells = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), np.int64)
    expected = cells.reshape(sizes)
    for axis in range(len(sizes)):
        expected = np.cumsum(expected, axis=axis)
    accumulate(cells, np.array(sizes))
    assert np.array_equal(cells, expected.ravel())


@given(sizes=SIZES, first=st.integers(0, 3))
def test_outer_sums(sizes, first):
    numbers = np.arange(len(sizes) * 4, dtype=float).reshape(len(sizes), 4) ** 2
    sums = add_outer(numbers, np.array(sizes), float(first))
    levels = itertools.product(*map(range, sizes))
    assert sums.tolist() == [first + sum(numbers[j, level] for j, level in enumerate(x)) for x in levels]


def test_profiles_are_covered_if_no_level_is_too_low():
    profiles = np.array([[0, 2], [1, 1], [2, 0]], np.int32)
    counts = np.array([1, 10, 100])
    assert [count_covered(profiles, counts, np.array(x)) for x in ((0, 0), (1, 1), (2, 1), (2, 2))] == [0, 10, 110, 111]
