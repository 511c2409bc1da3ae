# SPDX-License-Identifier: Apache-2.0
"""FullDomain against an oracle that tries every node, for every property, cost and share of suppressed rows."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.full_domain.worlds import GOALS, World, shares, worlds
from oracles import full_domain as oracle
from overt.algorithms.full_domain import FullDomain
from overt.algorithms.full_domain import method as under_test
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.lattice import NodeState
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity, TCloseness
from tables import table_of

COSTS = sorted(oracle.COSTS)


def anonymize(method, table):
    try:
        return method.anonymize(table)
    except Unreachable:
        return None


def assert_is_best(world, method):
    found = anonymize(method, world.table)
    goal, share = method.goal, Fraction(str(method.max_suppressed))
    expected = oracle.best_node(world.rows, world.hierarchies, world.is_good(goal), share, method.optimise)
    assert (found is None) == (expected is None)
    if found is None:
        return
    tried, cost = expected
    assert found.node == tried.node
    assert math.isclose(found.search.cost, cost)
    groups = [tuple(np.flatnonzero(found.partition.group_of_row == g).tolist()) for g in range(found.n_groups)]
    assert tuple(sorted(groups)) == tried.kept
    assert tuple(np.flatnonzero(found.partition.group_of_row < 0).tolist()) == tried.suppressed
    assert goal.holds(found.groups)


@pytest.mark.parametrize("name", GOALS)
@settings(max_examples=50, deadline=None)
@given(world=worlds(), share=shares, optimise=st.sampled_from(COSTS), data=st.data())
def test_pruning_finds_what_trying_every_node_finds(name, world, share, optimise, data):
    goal = data.draw(GOALS[name])
    assert_is_best(world, FullDomain(goal=goal, max_suppressed=share, optimise=optimise))


@pytest.mark.slow
@pytest.mark.parametrize("optimise", COSTS)
@pytest.mark.parametrize("name", GOALS)
@settings(max_examples=150, deadline=None)
@given(world=worlds(max_rows=24), share=shares, data=st.data())
def test_pruning_finds_what_trying_every_node_finds_in_larger_worlds(name, optimise, world, share, data):
    goal = data.draw(GOALS[name])
    assert_is_best(world, FullDomain(goal=goal, max_suppressed=share, optimise=optimise))


@settings(max_examples=60, deadline=None)
@given(world=worlds(), share=shares, optimise=st.sampled_from(COSTS))
def test_costs_beyond_whole_floats_are_still_compared_exactly(world, share, optimise):
    from overt.algorithms.full_domain import search

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "WHOLE_FLOATS", 0)
        assert_is_best(world, FullDomain(goal=KAnonymity(2), max_suppressed=share, optimise=optimise))


@settings(max_examples=60, deadline=None)
@given(world=worlds(), share=shares, name=st.sampled_from(sorted(GOALS)), data=st.data())
def test_keys_that_need_several_passes_give_the_same_groups(world, share, name, data):
    from overt.algorithms.full_domain import rolling

    goal = data.draw(GOALS[name])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rolling, "LARGEST_KEY", 1)
        patch.setattr(rolling, "PACKED", 3)
        assert_is_best(world, FullDomain(goal=goal, max_suppressed=share))


@settings(max_examples=60, deadline=None)
@given(world=worlds(), share=shares, name=st.sampled_from(sorted(GOALS)), data=st.data())
def test_every_node_is_accounted_for(world, share, name, data):
    release = anonymize(FullDomain(goal=data.draw(GOALS[name]), max_suppressed=share), world.table)
    if release is None:
        return
    search = release.search
    assert search.is_complete
    assert search.n_checked + search.n_pruned == search.lattice.n_nodes == search.state_of_node.size
    assert search.n_checked == np.isin(search.state_of_node, [NodeState.REACHES, NodeState.FAILS]).sum()
    assert search.state_of_node[release.node] == NodeState.REACHES
    assert search.cost == search.least_cost


@settings(max_examples=60, deadline=None)
@given(world=worlds(), share=shares, name=st.sampled_from(sorted(GOALS)), data=st.data())
def test_what_is_struck_out_below_a_failing_node_fails(world, share, name, data):
    goal = data.draw(GOALS[name])
    release = anonymize(FullDomain(goal=goal, max_suppressed=share), world.table)
    if release is None:
        return
    for tried in oracle.try_every_node(world.rows, world.hierarchies, world.is_good(goal)):
        state = release.search.state_of_node[tried.node]
        reaches = oracle.reaches(tried, share)
        assert (state != NodeState.REACHES or reaches) and (
            state not in (NodeState.FAILS, NodeState.FAILS_BELOW) or not reaches
        )


def test_suppression_costs_a_diverse_group_its_monotony():
    # Going up from exact values, the good group {a, a, b} takes in five more of a and turns bad as a whole.
    world = World(
        [(0,)] * 3 + [(1,)] * 5 + [(2,)] * 4, [[[0, 1, 2], [0, 0, 1], [0, 0, 0]]], [0, 0, 1] + [0] * 5 + [0, 1] * 2
    )
    goal = FrequencyLDiversity(Fraction(3, 2))
    tried = {
        t.node: len(t.suppressed) for t in oracle.try_every_node(world.rows, world.hierarchies, world.is_good(goal))
    }
    assert tried == {(0,): 5, (1,): 8, (2,): 12}
    assert FullDomain(goal=goal, max_suppressed="1/2").anonymize(world.table).node == (0,)


def test_the_reference_of_t_closeness_is_the_whole_table_with_its_suppressed_rows():
    # Groups 0 and 1 mirror the table only if the table is taken with group 2, which is all of one value.
    world = World([(0,)] * 4 + [(1,)] * 4 + [(2,)] * 2, [[[0, 1, 2], [0, 0, 0]]], [0, 1, 0, 1] * 2 + [1, 1])
    release = FullDomain(goal=TCloseness("1/10"), max_suppressed="2/10").anonymize(world.table)
    assert (release.node, release.n_suppressed) == ((0,), 2)
    assert TCloseness("1/10").measure(release.groups) == Fraction(1, 10)


@settings(max_examples=60, deadline=None)
@given(
    world=worlds(), share=shares, optimise=st.sampled_from(COSTS), name=st.sampled_from(sorted(GOALS)), data=st.data()
)
def test_a_time_limit_that_is_not_reached_changes_nothing(world, share, optimise, name, data):
    goal = data.draw(GOALS[name])
    assert_is_best(world, FullDomain(goal=goal, max_suppressed=share, optimise=optimise, seconds=1000))


@pytest.mark.parametrize("optimise", COSTS)
@settings(max_examples=25, deadline=None)
@given(world=worlds(), share=shares)
def test_from_the_top_down_finds_the_best_too_if_time_allows(optimise, world, share):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "MOST_NODES", 1)
        assert_is_best(world, FullDomain(goal=KAnonymity(3), max_suppressed=share, optimise=optimise, seconds=1000))


def wide_table(n_rows=40, n_columns=4):
    rng = np.random.default_rng(3)
    return table_of(
        [rng.integers(0, 5, n_rows).tolist() for _ in range(n_columns)], rng.integers(0, 3, n_rows).tolist()
    )


@pytest.mark.parametrize("optimise", COSTS)
def test_a_search_cut_short_says_how_far_it_came(optimise):
    method = FullDomain(goal=KAnonymity(2), max_suppressed=1, optimise=optimise, seconds=1e-9)
    release, best = method.anonymize(wide_table()), replace(method, seconds=None).anonymize(wide_table())
    search = release.search
    assert not search.is_complete
    assert (search.n_checked, release.node) == (
        1,
        search.lattice.top,
    )  # the top comes first: something is found, if at all
    assert search.least_cost <= best.search.cost <= search.cost
    assert "not looked at: the best found has " in release.remarks["Search"]
    assert release.remarks["Levels"] == "q0 1 of 1, q1 1 of 1, q2 1 of 1, q3 1 of 1"


def test_a_lattice_too_large_to_list_needs_a_time_limit(monkeypatch):
    monkeypatch.setattr(under_test, "MOST_NODES", 10)
    with pytest.raises(
        TooLarge, match=r"^The hierarchies make a lattice of 16 nodes and the best of at most 10 can be"
    ):
        FullDomain(goal=KAnonymity(2)).anonymize(wide_table())
    release = FullDomain(goal=KAnonymity(2), seconds=1000).anonymize(wide_table())
    assert release.search.is_complete and release.search.state_of_node is None


def test_what_cannot_be_reached_is_said_with_what_it_would_take():
    table = table_of([[0, 0, 1, 1]], [0, 0, 0, 1])
    with pytest.raises(
        Unreachable,
        match=r"^5-anonymity cannot be reached with at most 0 of 4 rows suppressed: even with `\*` in every column it "
        r"would take 4\. Ask for less, or allow more suppressed rows\.$",
    ):
        FullDomain(goal=KAnonymity(5)).anonymize(table)
    with pytest.raises(Unreachable, match="with at most 4 of 4 rows suppressed"):  # nothing would be left to publish
        FullDomain(goal=KAnonymity(5), max_suppressed=1).anonymize(table)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"max_suppressed": "3/2"}, "max_suppressed is '3/2'; a number of at least 0 and of at most 1 is expected."),
        ({"max_suppressed": -1}, "max_suppressed is -1; a number of at least 0 and of at most 1 is expected."),
        ({"seconds": 0}, "seconds is 0; a number above 0 is expected."),
        (
            {"optimise": "beauty"},
            "FullDomain cannot optimise 'beauty'; choose one of 'loss', 'discernibility', 'average group size', 'precision'.",
        ),
    ],
)
def test_parameters_are_checked(given_, message):
    with pytest.raises(InvalidInput) as error:
        FullDomain(goal=KAnonymity(2), **given_)
    assert str(error.value) == message


def test_a_table_without_rows_is_refused():
    with pytest.raises(InvalidInput, match=r"^The table has no rows"):
        FullDomain(goal=KAnonymity(2)).anonymize(table_of([[]], [], n_codes=[2]))


def test_progress_ends_at_the_end():
    heard = []
    FullDomain(goal=KAnonymity(2)).anonymize(wide_table(), on_progress=lambda *said: heard.append(said))
    assert heard[-1] == ("Searching the lattice", 16, 16)
    assert all(done <= total for _, done, total in heard)


def test_replaying_the_method_gives_the_two_neighbours_away():
    # docs/reference/methods.md: who knows the streets and the program is left with 6 of 60 worlds, and in all of them both have HIV.
    def published(diseases):
        release = FullDomain(goal=DistinctLDiversity(2)).anonymize(table_of([[0, 0, 1, 1, 1]], list(diseases)))
        groups = release.partition.group_of_row
        return release.node, sorted(zip(groups.tolist(), diseases, strict=True))

    secret = (0, 0, 1, 2, 3)
    worlds = set(permutations(secret))
    possible = [world for world in worlds if published(world) == published(secret)]
    assert published(secret)[0] == (1,)
    assert (len(worlds), len(possible)) == (60, 6)
    assert all(world[:2] == (0, 0) for world in possible)
