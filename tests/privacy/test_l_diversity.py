# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.partition import Groups, Partition
from overt.privacy import PROPERTIES, DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from privacy.groups import fractions, groups_of, groups_of_counts, worlds
from tables import table_of

ls = st.integers(1, 6)


@given(worlds(), st.fractions(1, 6, max_denominator=6))
def test_frequency_agrees_with_the_definition(world, l):
    expected = [not oracle.is_frequency_diverse(group, l) for group in world.counters]
    assert FrequencyLDiversity(l).breaks(world.groups).tolist() == expected
    measured = FrequencyLDiversity(1).measure(world.groups)
    assert measured == 1 / max(max(oracle.shares(group).values()) for group in world.counters)
    assert isinstance(measured, int) or measured.denominator > 1


@given(worlds(), ls)
def test_distinct_agrees_with_the_definition(world, l):
    expected = [not oracle.is_distinct_diverse(group, l) for group in world.counters]
    assert DistinctLDiversity(l).breaks(world.groups).tolist() == expected
    assert DistinctLDiversity(1).measure(world.groups) == min(map(len, world.counters))


@given(worlds(), fractions.filter(bool), ls)
def test_recursive_agrees_with_the_definition(world, c, l):
    goal = RecursiveCLDiversity(c, l)
    expected = [not oracle.is_recursively_diverse(group, c, l) for group in world.counters]
    assert goal.breaks(world.groups).tolist() == expected
    assert goal.measure(world.groups) == max(oracle.least_c(group, l) for group in world.counters)


def test_recursive_compares_the_most_frequent_value():
    # pycanon 1.3.5 and anjana sort the counts upwards and report c = 1 for this group.
    groups = groups_of_counts([[5, 90, 5]])
    assert RecursiveCLDiversity(1, 3).measure(groups) == 18
    assert RecursiveCLDiversity(18, 3).breaks(groups).all()
    assert RecursiveCLDiversity(18.001, 3).holds(groups)


def test_recursive_is_broken_by_fewer_than_l_values_for_every_c():
    groups = groups_of([[0, 1], [0, 1, 2]])
    assert RecursiveCLDiversity(10**40, 3).breaks(groups).tolist() == [True, False]
    assert RecursiveCLDiversity(1, 3).measure(groups) == math.inf
    assert RecursiveCLDiversity(1, 3).describe_measure(groups) == "no c"
    assert RecursiveCLDiversity(1, 10**30).breaks(groups).all()


def test_a_missing_value_counts_as_a_value():
    # Nulls that vanish would leave a group of two rows with one value each, and l = 2 for both groups.
    table = table_of([[0] * 6], [0, 2, 2, 2, 0, 1])  # the code 2 is "missing"
    groups = Groups.of(table, Partition.from_groups([[0, 1, 2, 3], [4, 5]]))
    assert DistinctLDiversity(2).measure(groups) == 2
    assert FrequencyLDiversity(2).breaks(groups).tolist() == [True, False]
    assert FrequencyLDiversity(2).measure(groups) == Fraction(4, 3)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_does_not_matter(seed):
    # pycanon 1.3.5 reports l = 1 for this table in order and 2 after shuffling its rows.
    quasi, sensitive = np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), np.array([0, 0, 0, 1, 1, 0, 2, 1], np.int32)
    order = np.random.default_rng(seed).permutation(8)
    table = table_of([quasi[order]], sensitive[order])
    groups = Groups.of(table, Partition(quasi[order], 4))
    assert DistinctLDiversity(1).measure(groups) == 1
    assert DistinctLDiversity(2).breaks(groups).tolist() == [True, False, False, False]


def test_the_plain_name_means_the_frequency_form():
    assert PROPERTIES["l-diversity"] is FrequencyLDiversity


def test_distinct_diversity_says_that_it_bounds_no_belief():
    groups = groups_of_counts([[90, 1, 1, 1, 1]])
    assert DistinctLDiversity(5).holds(groups)
    assert not FrequencyLDiversity(2).holds(groups)
    assert DistinctLDiversity(5).caution.startswith(
        "distinct 5-diversity counts different values and bounds nobody's belief"
    )
    assert not FrequencyLDiversity(5).caution


def test_frequency_counts_beyond_64_bits():
    half = 2**62
    groups = groups_of_counts([[half - 1, half - 1], [half // 2, half // 2 - 1]])
    assert FrequencyLDiversity(2).breaks(groups).tolist() == [False, True]
    assert FrequencyLDiversity(10**30).breaks(groups).all()
    assert FrequencyLDiversity(1).measure(groups) == Fraction(half - 1, half // 2)


@pytest.mark.parametrize("kind", [DistinctLDiversity, lambda l: RecursiveCLDiversity(1, l)])
@pytest.mark.parametrize("l", [0, 1.5, "3", None])
def test_refuses_an_l_that_is_not_whole(kind, l):
    with pytest.raises(InvalidInput, match=r"^l is .*; a whole number of at least 1 is expected\.$"):
        kind(l)


def test_refuses_what_asks_for_nothing():
    with pytest.raises(InvalidInput, match=r"^l is 0\.5; a number of at least 1 is expected\.$"):
        FrequencyLDiversity(0.5)
    with pytest.raises(InvalidInput, match=r"^c is 0; a number above 0 is expected\.$"):
        RecursiveCLDiversity(0, 2)


def test_str():
    assert str(FrequencyLDiversity(3)) == "3-diversity (frequency)"
    assert str(DistinctLDiversity(3, column="disease")) == "distinct 3-diversity of 'disease'"
    assert str(RecursiveCLDiversity(4, 3)) == "recursive (4, 3)-diversity"


def test_bounds_of_their_own_are_said_in_words_and_beside_the_measure():
    goal = FrequencyLDiversity(3, bounds={"a": "1/2", "b": "0.7"})
    assert "'a' at most 1/2 of it, 'b' at most 0.7 of it" in goal.in_words
    assert "nobody's value with more than 7/10" in goal.in_words and "nobody's with more than 1/3" not in goal.in_words
    assert goal.describe(Fraction(9, 2)) == "l = 4.5 for the values without a bound of their own"
    assert goal.describe(math.inf) == "every value within a bound of its own"
    assert FrequencyLDiversity(3).describe(Fraction(9, 2)) == "l = 4.5"
