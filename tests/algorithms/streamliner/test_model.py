# SPDX-License-Identifier: Apache-2.0
"""Eligibility, safe sets, candidates, self-contained partitions and cover, against their definitions."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import streamliner as oracle
from overt.algorithms.streamliner import (
    are_candidates,
    are_l_candidate,
    arrangements,
    family_set,
    has_l_cover,
    is_candidate_of_colour,
    is_eligible,
    is_self_contained,
    is_strongly_globally_safe,
    locally_safe_set,
    minimal_self_contained,
    partition_of,
    require_eligible,
    satisfies_theorem_2,
)
from overt.errors import InvalidInput, TooLarge, Unreachable

VALUES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6)


@given(values=VALUES, l=st.integers(2, 4))
def test_locally_safe_set_agrees_with_all_partitions(values, l):
    expected = {
        partition_of(groups)
        for groups in oracle.set_partitions(list(range(len(values))))
        if all(oracle.is_diverse([values[row] for row in group], l) for group in groups)
    }
    assert locally_safe_set(values, Fraction(1, l)) == expected
    assert bool(expected) == is_eligible([values.count(value) for value in set(values)], l)


@given(values=VALUES)
def test_arrangements_are_all_tables_once(values):
    found = list(arrangements(values))
    assert sorted(found) == oracle.tables_like(values)


@given(values=st.lists(st.sampled_from("abc"), min_size=2, max_size=7), data=st.data())
def test_candidates_agree_with_all_bijections(values, data):
    """Lemma 4 is also necessary; Lemma 3 is a special case."""
    rows = st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=4, unique=True)
    first, second = data.draw(rows), data.draw(rows)
    assert are_candidates(first, second, values) == oracle.are_candidates(first, second, values)
    colour = [row for row, value in enumerate(values) if value == values[0]]
    if is_candidate_of_colour(colour, second):
        assert are_candidates(colour, second, values)


@given(values=st.lists(st.sampled_from("abcd"), min_size=3, max_size=7), data=st.data())
def test_theorem_2_is_sufficient(values, data):
    colour = [row for row, value in enumerate(values) if value == values[0]]
    others = [row for row in range(len(values)) if row not in colour]
    sets = [list(data.draw(st.permutations(others)))[: len(colour)] for _ in range(2)] if others else []
    if satisfies_theorem_2(colour, sets, values):
        assert are_l_candidate([colour, *sets], values)


@given(st.integers(2, 6), st.data())
def test_minimal_self_contained_is_the_components(n, data):
    chosen = {row: [data.draw(st.integers(0, n - 1))] for row in range(n)}
    minimal = minimal_self_contained(chosen)
    assert sorted(sorted(group) for group in minimal) == oracle.components(chosen)
    family = {
        partition_of(groups)
        for groups in oracle.set_partitions(list(range(n)))
        if is_self_contained(partition_of(groups), chosen)
    }
    assert set(family_set(chosen)) == family  # Lemma 2: every one of them is a coarsening
    assert min(map(len, family)) == 1


@settings(max_examples=25)
@given(values=st.sampled_from(["aabb", "aabc", "abcd", "aabbc"]), data=st.data())
def test_l_cover_implies_strongly_globally_safe(values, data):
    """Theorem 1's second step, from the paper it cites; the converse is false."""
    safe = sorted(locally_safe_set(values, Fraction(1, 2)), key=lambda p: sorted(map(sorted, p)))
    chosen = data.draw(st.lists(st.sampled_from(safe), min_size=1, max_size=3, unique=True))
    if has_l_cover(chosen, values, 2):
        assert is_strongly_globally_safe(chosen, values, Fraction(1, 2))


def test_a_strongly_globally_safe_set_need_not_have_l_cover():
    chosen = [partition_of(groups) for groups in ([[0, 1], [2, 3]], [[0, 2], [1, 3]])]
    assert is_strongly_globally_safe(chosen, "abcd", Fraction(1, 2))
    assert not has_l_cover(chosen, "abcd", 2)


@pytest.mark.parametrize("size", [1, 2])
def test_every_family_set_has_l_cover(size):
    """Theorem 1, for candidates of two colours of two rows."""
    chosen = {0: [2], 1: [3], 2: [0], 3: [1]}
    for partitions in combinations(family_set(chosen), size):
        assert has_l_cover(partitions, "aabb", 2)


def test_enumeration_says_when_it_is_too_large():
    with pytest.raises(TooLarge, match="13 rows"):
        locally_safe_set("a" * 13, Fraction(1, 2))
    with pytest.raises(TooLarge, match="at most 1000000 can be enumerated"):
        arrangements("abcdefghijk")
    with pytest.raises(TooLarge, match="family set"):
        family_set({row: [row] for row in range(11)})
    with pytest.raises(TooLarge, match="bijections"):
        has_l_cover([partition_of([range(20)])], "a" * 10 + "b" * 10, 2)


def test_refusals_say_count_and_limit():
    with pytest.raises(Unreachable, match=r"fills 3 of 5 rows, and l=2 allows 2. Suppress rows"):
        require_eligible([3, 1, 1], 2)
    with pytest.raises(Unreachable, match=r"one value of 'disease' fills 4 of 10 rows, and l=3 allows 3. Use l <= 2"):
        require_eligible([4, 3, 3], 3, column="disease")
    with pytest.raises(Unreachable, match="there are 2 rows and a group needs 3"):
        require_eligible([1, 1], 3)
    with pytest.raises(InvalidInput, match="from 2 on"):
        require_eligible([1, 1], 1)


def test_candidates_must_be_complete():
    with pytest.raises(InvalidInput, match="every row"):
        minimal_self_contained({0: [1]} | {2: [0]})
    with pytest.raises(InvalidInput, match="not one of the 2 rows"):
        minimal_self_contained({0: [1], 1: [5]})


@pytest.mark.parametrize("l", [5, 1 << 62, (1 << 63) - 1, 10**30])
def test_no_table_is_eligible_for_an_l_beyond_its_rows_however_large(l):
    """Products of 64 bits would turn round, and a verdict with them."""
    assert not is_eligible([2, 2], l) and not is_eligible([1, 1, 1, 1], l)
    with pytest.raises(Unreachable, match="there are 4 rows"):
        require_eligible([1, 1, 1, 1], l)
