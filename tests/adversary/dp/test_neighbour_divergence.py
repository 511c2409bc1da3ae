# SPDX-License-Identifier: Apache-2.0
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.adversary.dp.neighbour_divergence import delta_between, growth, hockey_stick, worst_delta
from overt.adversary.dp.output_laws import multiset_law
from overt.errors import InvalidInput


@st.composite
def pairs_of_laws(draw):
    n = draw(st.integers(1, 5))
    shares = [draw(st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)) for _ in range(2)]
    return [{i: Fraction(share, sum(one)) for i, share in enumerate(one) if share} for one in shares]


@given(laws=pairs_of_laws(), epsilon=st.sampled_from([0, 0.1, 1, 2.5]))
def test_the_hockey_stick_is_the_greatest_excess_over_all_sets_of_outputs(laws, epsilon):
    one, other = laws
    outputs = sorted({*one, *other})
    greatest = max(
        sum(one.get(o, 0) for o in chosen) - growth(epsilon) * sum(other.get(o, 0) for o in chosen)
        for size in range(len(outputs) + 1)
        for chosen in itertools.combinations(outputs, size)
    )
    assert hockey_stick(one, other, epsilon) == greatest


def test_e_to_the_epsilon_is_rounded_down_and_hardly():
    for epsilon in (Fraction(1, 10), Fraction(1, 3), Fraction(5, 2)):
        assert 0 < 1 - growth(epsilon) / growth(epsilon + Fraction(1, 10**30)) < Fraction(1, 10**29)
        assert float(growth(epsilon)) == pytest.approx(math.exp(epsilon), rel=1e-15)
    assert growth(1) < Fraction("2.71828182845904523536028747135266249775724709369995")
    assert growth(0) == 1


def randomised_response(records):
    """Every record is told truly with a chance of 3/4: epsilon = ln 3 for a record changed, none for one removed."""
    three_quarters = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
    other = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
    return multiset_law([three_quarters if record else other for record in records])


def test_a_record_that_always_shows_tells_its_neighbours_apart():
    found = delta_between(randomised_response, [True, False], 0, 1.0)
    assert (found.remove, found.add, found.worst) == (1, 1, 1)


def sampled(records):
    """Each record is shown with a chance of 1/2."""
    return multiset_law([{record: Fraction(1, 2)} for record in records])


def test_sampling_alone_is_not_dp_because_of_the_record_that_is_alone():
    # one copy: shown with chance 1/2 by the database that has it, never by the other; removal is paid by 1 / (1 - s) = 2
    found = worst_delta(sampled, ["a", "a", "b"], math.log(2), universe=["c"])
    assert found.remove == pytest.approx(Fraction(1, 2))
    assert float(found.add) == pytest.approx(0, abs=1e-15)
    only = worst_delta(sampled, ["a"], 1.0)
    assert only.remove == Fraction(1, 2)


@pytest.mark.parametrize("removed", [-1, 2])
def test_what_is_no_record_is_refused(removed):
    with pytest.raises(InvalidInput, match=f"There is no record {removed} among 2 records"):
        delta_between(sampled, ["a", "b"], removed, 1.0)


def test_other_refusals():
    with pytest.raises(InvalidInput, match="epsilon is -1; a finite number of at least 0"):
        hockey_stick({}, {}, -1)
    with pytest.raises(InvalidInput, match="give a universe of records to add"):
        worst_delta(sampled, [], 1.0)
    assert worst_delta(sampled, [], 1.0, universe=["a"]).remove == Fraction(1, 2)
