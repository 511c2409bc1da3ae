# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.hierarchy import Nested
from overt.privacy import TCloseness
from overt.table import Kind
from privacy.groups import groups_of, groups_of_counts, worlds

DISTANCES = ["equal", "ordered", "hierarchical"]


def cost(distance, world):
    return {
        "equal": oracle.equal_cost,
        "ordered": oracle.ordered_cost(world.table),
        "hierarchical": oracle.hierarchical_cost(world.chains),
    }[distance]


@pytest.mark.parametrize("distance", DISTANCES)
@given(world=worlds(), t=st.fractions(0, 1, max_denominator=12))
def test_agrees_with_moving_earth(distance, world, t):
    distances = [oracle.earth_movers_distance(group, world.table, cost(distance, world)) for group in world.counters]
    assert TCloseness(t, distance).breaks(world.groups).tolist() == [d > t for d in distances]
    assert TCloseness(t, distance).measure(world.groups) == max(distances)
    assert TCloseness(max(distances), distance).holds(world.groups)


@pytest.mark.parametrize("distance", DISTANCES)
@given(world=worlds(max_groups=2, max_values=4), scale=st.integers(10**9, 10**12))
def test_counts_beyond_64_bits_give_the_same_distance(distance, world, scale):
    small = np.array([[group[v] for v in range(len(world.chains))] for group in world.counters])
    table = np.array([world.table[v] for v in range(len(world.chains))])
    goal = TCloseness(1, distance)
    large = groups_of_counts(small * scale, table * scale, chains=world.chains)
    mixed = groups_of_counts(np.concatenate([small * scale, small]), table * scale, chains=world.chains)
    assert goal.measure(large) == goal.measure(mixed) == goal.measure(world.groups)
    t = goal.measure(large)
    assert TCloseness(t, distance).holds(large)
    if t > 0:
        assert not TCloseness(t - Fraction(1, 10**60), distance).holds(mixed)


def test_paper_salaries_ordered():
    # Li, Li, Venkatasubramanian, ICDE 2007: from 3k, ..., 11k the group 3k, 4k, 5k is at 0.375 and 6k, 8k, 11k at 0.167.
    groups = groups_of([[0, 1, 2], [3, 5, 8]], unused=[4, 6, 7])
    assert TCloseness(0.375, "ordered").holds(groups)
    assert TCloseness(0.374, "ordered").breaks(groups).tolist() == [True, False]
    assert TCloseness("1/6", "ordered").breaks(groups).tolist() == [True, False]
    assert TCloseness(0.1666, "ordered").breaks(groups).tolist() == [True, True]


def test_t_is_not_ignored():
    # anonypy 0.2.1 overwrites its threshold: every t gives the same answer.
    groups = groups_of([[0, 0, 0, 1], [0, 1, 1, 1]])
    verdicts = [TCloseness(t).holds(groups) for t in (0.01, 0.24, 0.25, 0.9)]
    assert verdicts == [False, False, True, True]


def test_ordered_distance_ranks_only_values_that_somebody_has():
    groups = groups_of([[0, 0], [9, 9]], n_values=12)
    assert TCloseness(1, "ordered").measure(groups) == Fraction(1, 2)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_table_with_one_value_is_at_distance_zero(distance):
    groups = groups_of([[0, 0], [0]], chains=[[0]])
    assert TCloseness(0, distance).holds(groups)
    assert TCloseness(0, distance).measure(groups) == 0


def test_in_an_unbalanced_tree_a_value_below_the_root_is_far_from_all_others():
    chains = [[0, 3, 5], [1, 3, 5], [2, 2, 5]]  # 0 and 1 have a parent, 2 hangs below the root
    groups = groups_of([[0, 0], [1, 1], [2, 2]], chains=chains)
    table = Counter({0: 2, 1: 2, 2: 2})
    distances = [
        oracle.earth_movers_distance(Counter({v: 2}), table, oracle.hierarchical_cost(chains)) for v in range(3)
    ]
    assert distances == [Fraction(1, 2), Fraction(1, 2), Fraction(2, 3)]
    assert TCloseness(0.5, "hierarchical").breaks(groups).tolist() == [False, False, True]


def test_hierarchical_distance_of_a_column_with_a_hierarchy_and_a_missing_value():
    nested = Nested(
        {"lung": {"infection": ["flu", "pneumonia"], "other": ["asthma"]}, "stomach": ["gastritis", "ulcer"]}
    )
    names = ["asthma", "flu", "gastritis", "pneumonia", "ulcer", None]
    hierarchy = nested.build(pl.Series(names), Kind.CATEGORY)
    codes = {name: code for code, name in enumerate(hierarchy.leaves)}
    lists = [
        [codes[name] for name in group] for group in (["flu", "pneumonia", "asthma"], ["ulcer", None, None], names)
    ]
    chains = hierarchy.node_of_leaf.T.tolist()
    groups, table = groups_of(lists, chains=chains), Counter(code for group in lists for code in group)
    cost = oracle.hierarchical_cost(chains)
    assert cost(codes["flu"], codes["pneumonia"]) == Fraction(1, 3)
    assert cost(codes["flu"], codes["asthma"]) == Fraction(2, 3)
    assert cost(codes["flu"], codes[None]) == 1  # a missing value hangs directly below the root
    distances = [oracle.earth_movers_distance(Counter(group), table, cost) for group in lists]
    assert TCloseness(1, "hierarchical").measure(groups) == max(distances)
    assert TCloseness(min(distances), "hierarchical").breaks(groups).tolist() == [d > min(distances) for d in distances]


def test_hierarchical_distance_needs_a_hierarchy():
    with pytest.raises(
        InvalidInput, match=r"needs a hierarchy of the sensitive column; give it one, or use another distance\.$"
    ):
        TCloseness(0.2, "hierarchical").breaks(groups_of([[0, 1]]))


@pytest.mark.parametrize("t", [-0.1, 1.1, "t"])
def test_refuses_a_t_that_is_no_distance(t):
    with pytest.raises(InvalidInput, match=r"^t is .*; a number of at least 0 and of at most 1 is expected\.$"):
        TCloseness(t)


def test_refuses_an_unknown_distance():
    with pytest.raises(
        InvalidInput, match=r"^distance is 'euclidean'; 'equal', 'ordered' or 'hierarchical' is expected\.$"
    ):
        TCloseness(0.2, "euclidean")


def test_str():
    assert str(TCloseness(0.2)) == "0.2-closeness (equal distance)"
    assert str(TCloseness(0.2, "ordered", column="income")) == "0.2-closeness (ordered distance) of 'income'"
