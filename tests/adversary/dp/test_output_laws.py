# SPDX-License-Identifier: Apache-2.0
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.adversary.dp import output_laws as laws_module
from overt.adversary.dp.neighbour_divergence import hockey_stick, hockey_stick_of_cells
from overt.adversary.dp.output_laws import count_laws, law_of_runs, multiset_law
from overt.errors import InvalidInput, TooLarge

ELEMENTS = "ab*"


@st.composite
def record_laws(draw, max_records=4):
    n = draw(st.integers(0, max_records))
    laws = []
    for _ in range(n):
        shares = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any))
        laws.append({e: Fraction(share, sum(shares)) for e, share in zip(ELEMENTS, shares, strict=False)})
    return laws


def by_definition(laws, suppress):
    """Every way the records can draw, one after another."""
    found = Counter()
    for drawn in itertools.product(*([*law, None] for law in laws)):
        chance = Fraction(1)
        for element, law in zip(drawn, laws, strict=True):
            chance *= 1 - sum(law.values()) if element is None else law[element]
        counts = Counter(element for element in drawn if element is not None)
        if chance:
            found[frozenset((e, c) for e, c in counts.items() if c >= suppress)] += chance
    return dict(found)


@given(laws=record_laws(), suppress=st.integers(1, 3))
def test_the_law_of_a_multiset_is_that_of_all_ways_to_draw(laws, suppress):
    assert multiset_law(laws, suppress=suppress) == by_definition(laws, suppress)


@settings(max_examples=20)
@given(laws=record_laws(max_records=3))
def test_running_through_all_coins_gives_the_same_law(laws):
    def run(rng):
        shown = Counter()
        for law in laws:
            rest = 1 - sum(law.values())
            element = rng.choice([*law, None], p=[*law.values(), rest])
            if element is not None:
                shown[str(element)] += 1
        return frozenset(shown.items())

    assert law_of_runs(run) == by_definition(laws, 1)


@given(laws=record_laws(), more=record_laws(max_records=1), epsilon=st.floats(0, 2))
def test_laws_of_counts_in_floats_agree_with_the_exact_ones(laws, more, epsilon):
    cells, other = count_laws(laws, laws + more)
    exact = hockey_stick(multiset_law(laws), multiset_law(laws + more), epsilon)
    assert hockey_stick_of_cells(cells, other, epsilon) == pytest.approx(float(exact), abs=1e-12)


def test_chances_that_are_none_are_refused():
    with pytest.raises(InvalidInput, match="sum to 1.5; they must be at least 0 and at most 1 together"):
        multiset_law([{"a": 0.75, "b": 0.75}])
    with pytest.raises(InvalidInput, match="suppress is 0"):
        multiset_law([], suppress=0)


def test_what_is_too_large_says_so(monkeypatch):
    with pytest.raises(TooLarge, match="more than 100 ways; use fewer records"):
        law_of_runs(lambda rng: int(rng.binomial(1, 0.5, size=10).sum()), max_runs=100)
    with pytest.raises(TooLarge, match="cells; use fewer records or elements"):
        count_laws([dict.fromkeys(range(30), 0.01)] * 3)
    monkeypatch.setattr(laws_module, "MAX_OUTPUTS", 50)
    with pytest.raises(TooLarge, match="more than 50 possible outputs; use fewer records"):
        multiset_law([{e: Fraction(1, 20) for e in range(i, i + 10)} for i in range(3)])


def test_floats_that_sum_to_one_but_for_rounding_are_taken_as_such():
    law = multiset_law([{"a": 0.1, "b": 0.2, "c": 0.7000000000000001}])
    assert sum(law.values()) == 1
    assert np.isclose(float(law[frozenset({("c", 1)})]), 0.7)


@given(laws=record_laws(), more=record_laws(max_records=1), most=st.integers(1, 2))
def test_looking_at_some_outputs_only_gives_a_lower_bound(laws, more, most):
    every = hockey_stick_of_cells(*count_laws(laws, laws + more), 0.5)
    some = hockey_stick_of_cells(*count_laws(laws, laws + more, elements="a*", most=most), 0.5)
    assert some <= every + 1e-12
