# SPDX-License-Identifier: Apache-2.0
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels.min_tree import least_if, replace_leaf

ABOVE_ALL = 1 << 30


@given(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=13), base=st.integers(0, 3), data=st.data())
def test_the_least_of_a_tree_is_that_of_its_leaves_also_if_two_change(numbers, base, data):
    n, tree = len(numbers), np.full(base + 2 * len(numbers), ABOVE_ALL)
    for leaf, number in enumerate(numbers):
        replace_leaf(tree, base, n, leaf, number)
    leaf, number = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, 9))
    replace_leaf(tree, base, n, leaf, number)
    numbers[leaf] = number
    assert tree[base + 1] == min(numbers)
    one, other = data.draw(st.integers(-1, n - 1)), data.draw(st.integers(-1, n - 1))
    if one == other:
        other = -1
    of_one, of_other = (data.draw(st.integers(0, 9)) if leaf >= 0 else ABOVE_ALL for leaf in (one, other))
    for leaf, number in ((one, of_one), (other, of_other)):
        if leaf >= 0:
            numbers[leaf] = number
    if one >= 0 or other >= 0:
        assert least_if(tree, base, n, one, of_one, other, of_other) == min(numbers)
