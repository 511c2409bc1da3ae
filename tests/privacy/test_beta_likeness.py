# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import pytest
from hypothesis import given

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.privacy import BasicBetaLikeness, EnhancedBetaLikeness
from privacy.groups import fractions, groups_of_counts, worlds


def greatest_gain(world):
    q = oracle.shares(world.table)
    return max(share / q[value] - 1 for group in world.counters for value, share in oracle.shares(group).items())


@given(worlds(), fractions)
def test_basic_agrees_with_the_definition(world, beta):
    expected = [not oracle.is_basic_beta_like(group, world.table, beta) for group in world.counters]
    assert BasicBetaLikeness(beta).breaks(world.groups).tolist() == expected
    assert BasicBetaLikeness(beta).measure(world.groups) == greatest_gain(world)
    assert BasicBetaLikeness(greatest_gain(world)).holds(world.groups)


@given(worlds(), fractions)
def test_enhanced_agrees_with_the_definition(world, beta):
    expected = [not oracle.is_enhanced_beta_like(group, world.table, beta) for group in world.counters]
    assert EnhancedBetaLikeness(beta).breaks(world.groups).tolist() == expected
    can_hold = all(oracle.is_enhanced_beta_like(group, world.table, Fraction(10**6)) for group in world.counters)
    assert EnhancedBetaLikeness(beta).measure(world.groups) == (greatest_gain(world) if can_hold else math.inf)


def test_frequent_values_may_gain_less_in_the_enhanced_form():
    # A value of every second row may gain at most ln 2: 0.846 of a group and not 0.85.
    assert EnhancedBetaLikeness(5).holds(groups_of_counts([[846, 154]], table=[1000, 1000]))
    groups = groups_of_counts([[847, 153]], table=[1000, 1000])
    assert BasicBetaLikeness(0.7).holds(groups)
    assert not EnhancedBetaLikeness(5).holds(groups)


def test_counts_beyond_64_bits_are_compared_exactly():
    n = 10**15
    groups = groups_of_counts([[3 * n, n], [3 * n + 1, n - 1]], table=[2 * n, 2 * n])
    assert BasicBetaLikeness(0.5).breaks(groups).tolist() == [False, True]
    assert BasicBetaLikeness(1).measure(groups) == Fraction(3 * n + 1, 2 * n) - 1
    assert EnhancedBetaLikeness(0.5).breaks(groups).tolist() == [False, True]


def test_groups_that_mirror_the_table_are_0_like():
    groups = groups_of_counts([[2, 4], [1, 2]])
    assert BasicBetaLikeness(0).holds(groups)
    assert EnhancedBetaLikeness(0).measure(groups) == 0


@pytest.mark.parametrize("kind", [BasicBetaLikeness, EnhancedBetaLikeness])
def test_refuses_a_negative_beta(kind):
    with pytest.raises(InvalidInput, match=r"^beta is -1; a number of at least 0 is expected\.$"):
        kind(-1)


def test_str():
    assert str(BasicBetaLikeness(2)) == "basic 2-likeness"
    assert str(EnhancedBetaLikeness(2, column="income")) == "enhanced 2-likeness of 'income'"
