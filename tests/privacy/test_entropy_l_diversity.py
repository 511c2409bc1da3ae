# SPDX-License-Identifier: Apache-2.0
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.privacy import EntropyLDiversity, exact
from overt.privacy.entropy_l_diversity import prime_factors, reaches
from privacy.groups import groups_of_counts, worlds

EVEN = [2, 3, 4, 6, 7, 8, 10]  # the numbers for which pycanon 1.3.5 reports one less


@given(worlds(), st.fractions(1, 5, max_denominator=6))
def test_agrees_with_the_definition(world, l):
    expected = [not oracle.is_entropy_diverse(group, l) for group in world.counters]
    assert EntropyLDiversity(l).breaks(world.groups).tolist() == expected


@given(worlds())
def test_measure_is_the_largest_float_that_holds(world):
    measured = EntropyLDiversity(1).measure(world.groups)
    above = math.nextafter(measured, math.inf)
    assert all(oracle.is_entropy_diverse(group, exact(measured)) for group in world.counters)
    assert not all(oracle.is_entropy_diverse(group, exact(above)) for group in world.counters)
    assert EntropyLDiversity(measured).holds(world.groups)
    assert not EntropyLDiversity(above).holds(world.groups)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(30, 130))
def test_decides_within_the_error_of_a_float(counts, digits):
    # l is the exact bound to many digits, rounded down and up: no float can tell them apart.
    assume(len(set(counts)) > 1)
    n = sum(counts)
    power = Fraction(n**n, math.prod(c**c for c in counts)) * 10 ** (digits * n)
    low, high = 1, 10**digits * n
    while high - low > 1:  # the whole number below the n-th root
        middle = (low + high) // 2
        low, high = (middle, high) if middle**n <= power else (low, middle)
    groups = groups_of_counts([counts])
    assert EntropyLDiversity(Fraction(low, 10**digits)).holds(groups)
    assert not EntropyLDiversity(Fraction(low + 1, 10**digits)).holds(groups)


@pytest.mark.parametrize("n_values", EVEN)
@pytest.mark.parametrize("count", [1, 7, 600_000])
def test_even_groups_reach_the_number_of_their_values(n_values, count):
    groups = groups_of_counts([[count] * n_values])
    assert EntropyLDiversity(n_values).holds(groups)
    assert not EntropyLDiversity(n_values + 1e-12).holds(groups)
    assert EntropyLDiversity(1).measure(groups) == n_values
    assert EntropyLDiversity(1).describe_measure(groups) == f"l = {n_values}"


@pytest.mark.parametrize("factor", [1, 1000, 123_457])
def test_uneven_groups_can_reach_a_whole_number_exactly(factor):
    # Shares 1/2 and four times 1/8: an entropy of 2 bits.
    groups = groups_of_counts([[4 * factor, factor, factor, factor, factor]])
    assert oracle.is_entropy_diverse(Counter({0: 4, 1: 1, 2: 1, 3: 1, 4: 1}), Fraction(4))
    assert EntropyLDiversity(4).holds(groups)
    assert not EntropyLDiversity(4 + Fraction(1, 10**900)).holds(groups)
    assert EntropyLDiversity(1).measure(groups) == 4


def test_groups_at_the_very_bound_are_decided_once_for_each_spread(monkeypatch):
    groups = groups_of_counts(np.tile([4, 1, 1, 1, 1], (50_000, 1)))
    decided = []
    monkeypatch.setattr(
        "overt.privacy.entropy_l_diversity.reaches", lambda spread, l: decided.append(spread) or reaches(spread, l)
    )
    assert EntropyLDiversity(4).holds(groups)
    assert len(decided) == 1


def test_prime_factors():
    assert prime_factors(1) == ()
    assert prime_factors(360) == (2, 2, 2, 3, 3, 5)
    assert prime_factors(999_983) == (999_983,)


@pytest.mark.parametrize("l", [0, 0.99, "half", float("inf")])
def test_refuses_an_l_below_one(l):
    with pytest.raises(InvalidInput, match=r"^l is .*; a number of at least 1 is expected\.$"):
        EntropyLDiversity(l)


def test_str():
    assert str(EntropyLDiversity(2.5)) == "entropy 2.5-diversity"
