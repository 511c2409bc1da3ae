# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.privacy import DeltaDisclosure, exact
from privacy.groups import groups_of, groups_of_counts, worlds

deltas = st.fractions(Fraction(1, 12), 3, max_denominator=12)


@given(worlds(max_values=3), deltas)
def test_agrees_with_the_definition(world, delta):
    expected = [not oracle.keeps_delta_disclosure(group, world.table, delta) for group in world.counters]
    assert DeltaDisclosure(delta).breaks(world.groups).tolist() == expected


@given(worlds(max_values=2))
def test_measure_is_the_least_float_that_holds(world):
    measured = DeltaDisclosure(1).measure(world.groups)
    if math.isinf(measured):
        assert not DeltaDisclosure(10**6).holds(world.groups)
        return
    if measured == 0:
        assert DeltaDisclosure(Fraction(1, 10**50)).holds(world.groups)
        return
    below = math.nextafter(measured, 0)
    assert all(oracle.keeps_delta_disclosure(group, world.table, exact(measured)) for group in world.counters)
    assert not all(oracle.keeps_delta_disclosure(group, world.table, exact(below)) for group in world.counters)
    assert DeltaDisclosure(measured).holds(world.groups)
    assert not DeltaDisclosure(below).holds(world.groups)


def test_a_value_that_a_group_lacks_breaks_every_delta():
    # ARX and pycanon pass over it, and would call both groups as good as the table.
    groups = groups_of([[0, 1], [0, 1, 2, 2]])
    assert DeltaDisclosure(1000).breaks(groups).tolist() == [True, False]
    assert DeltaDisclosure(1).measure(groups) == math.inf


def test_logarithms_are_natural():
    # p / q is 3/2 and 1/2: ln 2 = 0.6931... decides.
    groups = groups_of_counts([[3, 1]], table=[2, 2])
    assert DeltaDisclosure(1).measure(groups) == pytest.approx(math.log(2), abs=1e-15)
    assert DeltaDisclosure("0.6931471805599453094172321215").holds(groups)
    assert not DeltaDisclosure("0.6931471805599453094172321214").holds(groups)


def test_counts_beyond_64_bits_are_compared_exactly():
    n = 10**15
    groups = groups_of_counts([[3 * n, n]], table=[2 * n, 2 * n])
    assert DeltaDisclosure("0.6931471805599453094172321215").holds(groups)
    assert not DeltaDisclosure("0.6931471805599453094172321214").holds(groups)


def test_refuses_a_delta_that_nothing_satisfies():
    with pytest.raises(InvalidInput, match=r"^delta is 0; a number above 0 is expected\.$"):
        DeltaDisclosure(0)


def test_str():
    assert str(DeltaDisclosure(1.5)) == "1.5-disclosure privacy"
