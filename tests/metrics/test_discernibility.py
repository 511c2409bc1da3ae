# SPDX-License-Identifier: Apache-2.0
"""Discernibility and its optimum, against trying every partition."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from oracles import streamliner as oracle
from overt.metrics.discernibility import discernibility, discernibility_ratio, optimal_discernibility
from overt.partition import Partition


@given(values=st.lists(st.sampled_from("abcde"), min_size=2, max_size=7), l=st.integers(2, 3))
def test_optimum_agrees_with_trying_every_partition(values, l):
    least = oracle.least_discernibility(values, l)
    if least is not None:
        assert optimal_discernibility(len(values), l) == least


def test_ratio_is_one_for_even_groups():
    even, uneven = Partition.from_groups([[0, 1], [2, 3]]), Partition.from_groups([[0, 1, 2, 3]])
    assert discernibility(even) == 8
    assert discernibility_ratio(even, 2) == 1
    assert discernibility_ratio(uneven, 2) == Fraction(16, 8)
