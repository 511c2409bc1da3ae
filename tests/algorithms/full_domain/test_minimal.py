# SPDX-License-Identifier: Apache-2.0
"""All minimal nodes, against an oracle that tries every node."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.full_domain.worlds import GOALS, shares, worlds
from oracles import full_domain as oracle
from overt.algorithms.full_domain import find_minimal_nodes, minimal
from overt.errors import InvalidInput, TooLarge
from overt.privacy import KAnonymity
from tables import table_of


@pytest.mark.parametrize("name", GOALS)
@settings(max_examples=25, deadline=None)
@given(world=worlds(), share=shares, data=st.data())
def test_minimal_nodes_are_those_that_trying_every_node_finds(name, world, share, data):
    goal = data.draw(GOALS[name])
    found = find_minimal_nodes(world.table, goal, max_suppressed=share)
    assert set(found.nodes) == oracle.minimal_nodes(world.rows, world.hierarchies, world.is_good(goal), share)
    assert list(found.nodes) == sorted(found.nodes, key=lambda node: (sum(node), node))
    assert found.search.is_complete
    assert str(found.search).endswith(" pruned")
    assert (found.search.state_of_node > 0).all()


def test_what_is_out_of_reach_has_no_minimal_node():
    assert find_minimal_nodes(table_of([[0, 1]], [0, 0]), KAnonymity(3)).nodes == ()


def test_a_share_above_one_and_a_lattice_too_large_are_refused(monkeypatch):
    table = table_of([[0, 1], [0, 1]], [0, 0])
    with pytest.raises(InvalidInput, match=r"^max_suppressed is 2;"):
        find_minimal_nodes(table, KAnonymity(2), max_suppressed=2)
    monkeypatch.setattr(minimal, "MOST_NODES", 3)
    with pytest.raises(TooLarge, match=r"^The hierarchies make a lattice of 4 nodes"):
        find_minimal_nodes(table, KAnonymity(2))
