# SPDX-License-Identifier: Apache-2.0
"""Laws that every privacy property obeys."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.privacy import (
    PROPERTIES,
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeRisk,
    TCloseness,
    exact,
)
from privacy.groups import World, fractions, groups_of, worlds

whole = st.integers(1, 5)
at_least_one = fractions.map(lambda f: f + 1)
positive = fractions.filter(bool)
share = st.fractions(0, 1, max_denominator=12)
GOALS = {
    "k-anonymity": st.builds(KAnonymity, whole),
    "alpha-k-anonymity": st.builds(AlphaKAnonymity, share.filter(bool), whole),
    "l-diversity": st.builds(FrequencyLDiversity, at_least_one),
    "distinct-l-diversity": st.builds(DistinctLDiversity, whole),
    "entropy-l-diversity": st.builds(EntropyLDiversity, at_least_one),
    "recursive-c-l-diversity": st.builds(RecursiveCLDiversity, positive, whole),
    "t-closeness": st.builds(TCloseness, share, st.sampled_from(["equal", "ordered", "hierarchical"])),
    "delta-disclosure": st.builds(DeltaDisclosure, positive),
    "basic-beta-likeness": st.builds(BasicBetaLikeness, fractions),
    "enhanced-beta-likeness": st.builds(EnhancedBetaLikeness, fractions),
    "relative-risk": st.builds(RelativeRisk, positive, st.sampled_from([(), ("0",), ("1", "2")])),
}
every_property = pytest.mark.parametrize("name", PROPERTIES)


@every_property
@given(data=st.data())
def test_a_property_says_whether_it_is_defined_for_several_values_of_a_person(name, data):
    goal = data.draw(GOALS[name])
    try:
        is_defined = not goal.looks_at_values or goal.share_bounds(Fraction(1, 2), None) is not None
    except InvalidInput:
        is_defined = False
    assert goal.takes_bundles == is_defined == (goal & KAnonymity(2)).takes_bundles


def at(goal, parameter):
    """The same goal with another parameter; None if there is no such goal."""
    try:
        return replace(goal, **{goal.parameter: parameter})
    except InvalidInput:
        return None


def step_of(goal):
    """How much less or more still matters."""
    return 1 if isinstance(goal, (KAnonymity, DistinctLDiversity)) else Fraction(1, 10**40)


def test_every_property_is_known_by_its_name():
    assert set(PROPERTIES) == set(GOALS)
    assert all(kind.name == name for name, kind in PROPERTIES.items())
    assert all(kind.best in ("largest", "smallest") for kind in PROPERTIES.values())
    assert all(re.search(r"\b(19|20)\d\d\b", kind.__doc__) for kind in PROPERTIES.values())  # each cites its paper


@every_property
@given(world=worlds(), data=st.data())
def test_a_monotone_property_survives_every_merge(name, world, data):
    goal = data.draw(GOALS[name])
    assert goal.monotone
    assume(len(world.lists) > 1)
    one, other, *rest = world.lists
    unused = [code for group in [*rest, world.unused] for code in group]
    apart = World([one, other], unused, world.chains)
    merged = World([one + other], unused, world.chains)
    if goal.holds(apart.groups):
        assert goal.holds(merged.groups)
    better = min if goal.best == "smallest" else max
    assert better(goal.measure(apart.groups), goal.measure(merged.groups)) == goal.measure(merged.groups)


@every_property
@given(world=worlds(), data=st.data())
def test_what_is_necessary_is_implied_and_survives_any_rows_that_are_added(name, world, data):
    goal = data.draw(GOALS[name])
    everyone = World([[code for group in [*world.lists, world.unused] for code in group]], [], world.chains).groups
    necessary = goal.necessary(everyone)
    assert not (necessary.breaks(world.groups) & ~goal.breaks(world.groups)).any()
    assert necessary.necessary(everyone) == necessary
    assume(len(world.lists) > 1)
    one, other, *rest = world.lists
    unused = [code for group in [*rest, world.unused] for code in group]
    if necessary.holds(World([one], other + unused, world.chains).groups):
        assert necessary.holds(World([one + other], unused, world.chains).groups)


@every_property
@given(world=worlds(), data=st.data())
def test_the_measure_is_the_best_that_holds(name, world, data):
    goal, groups = data.draw(GOALS[name]), world.groups
    measured = goal.measure(groups)
    if math.isinf(measured):
        assert not at(goal, 1).holds(groups)
        return
    toward_safe = step_of(goal) * (1 if goal.best == "largest" else -1)
    if isinstance(measured, float):
        toward_safe = exact(math.nextafter(measured, math.inf * toward_safe)) - exact(measured)
    beyond = at(goal, exact(measured) + toward_safe if step_of(goal) != 1 else measured + 1)
    assert beyond is None or not beyond.holds(groups)
    if goal.strict:
        assert at(goal, exact(measured) + Fraction(1, 10**40)).holds(groups)
        assert isinstance(measured, float) or not at(goal, measured).holds(groups)
    else:
        assert at(goal, measured).holds(groups)
    fails = goal.best == "largest" and exact(getattr(goal, goal.parameter)) > exact(measured)
    fails |= goal.best == "smallest" and exact(getattr(goal, goal.parameter)) < exact(measured)
    assert not (fails and goal.holds(groups))


@every_property
@given(world=worlds(), data=st.data())
def test_a_group_is_judged_alone(name, world, data):
    goal = data.draw(GOALS[name])
    broken = goal.breaks(world.groups).tolist()
    for g, group in enumerate(world.lists):
        others = [code for other in [*world.lists[:g], *world.lists[g + 1 :], world.unused] for code in other]
        assert goal.holds(World([group], others, world.chains).groups) == (not broken[g])
    assert goal.holds(world.groups) == (not any(broken))


@every_property
@given(world=worlds(), data=st.data())
def test_no_smaller_group_than_declared_can_hold(name, world, data):
    goal = data.draw(GOALS[name])
    for group, broken in zip(world.lists, goal.breaks(world.groups), strict=True):
        assert broken or len(group) >= goal.least_rows


@every_property
def test_no_groups_break_nothing_and_measure_nothing(name):
    none = groups_of([], unused=[0, 1], chains=[[0, 2], [1, 2]])
    goal = _plain(name)
    assert goal.holds(none)
    assert goal.breaks(none).shape == (0,)
    with pytest.raises(InvalidInput, match=r"^There are no groups to measure; give a release with at least one row\.$"):
        goal.measure(none)


@every_property
def test_properties_are_values(name):
    assert _plain(name) == _plain(name)
    assert hash(_plain(name)) == hash(_plain(name))
    assert 0 < len(str(_plain(name))) < 60
    with pytest.raises(AttributeError):
        _plain(name).k = 3


def _plain(name):
    kind = PROPERTIES[name]
    return kind(1, 2) if kind in (AlphaKAnonymity, RecursiveCLDiversity) else kind(1)
