# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.privacy import AlphaKAnonymity
from privacy.groups import groups_of, groups_of_counts, worlds


@given(worlds(), st.fractions(Fraction(1, 12), 1, max_denominator=12), st.integers(1, 6))
def test_agrees_with_the_definition(world, alpha, k):
    goal = AlphaKAnonymity(alpha, k)
    expected = [not oracle.is_alpha_k_anonymous(group, alpha, k) for group in world.counters]
    assert goal.breaks(world.groups).tolist() == expected
    largest = max(max(oracle.shares(group).values()) for group in world.counters)
    assert goal.measure(world.groups) == (largest if min(map(len, world.lists)) >= k else math.inf)


def test_a_decimal_means_what_it_says():
    assert AlphaKAnonymity(0.1, 2).holds(groups_of([range(10)]))  # 0.1 as binary is above 1/10
    assert AlphaKAnonymity(0.3, 2).holds(groups_of([[0, 0, 0, 1, 1, 1, 2, 2, 3, 4]]))  # 0.3 as binary is below 3/10


def test_counts_beyond_64_bits_are_compared_exactly():
    third = 10**17
    groups = groups_of_counts([[third, third, third], [third, third, third - 1], [third + 1, third, third]])
    assert AlphaKAnonymity(Fraction(1, 3), 1).breaks(groups).tolist() == [False, True, True]
    assert AlphaKAnonymity(Fraction(third + 1, 3 * third + 1), 1).holds(groups)
    assert AlphaKAnonymity(1, 1).measure(groups) == Fraction(third + 1, 3 * third + 1)


@pytest.mark.parametrize("alpha", [0, -0.5, 1.5, "many", float("nan"), None, True])
def test_refuses_an_alpha_that_is_no_share(alpha):
    with pytest.raises(InvalidInput, match=r"^alpha is .*; a number above 0 and of at most 1 is expected\.$"):
        AlphaKAnonymity(alpha, 2)


def test_str():
    assert str(AlphaKAnonymity(0.5, 3)) == "(0.5, 3)-anonymity"
    assert str(AlphaKAnonymity("1/3", 3, column="disease")) == "(1/3, 3)-anonymity of 'disease'"
