# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms.record.worlds import objective_of, worlds
from oracles.record import close
from overt.algorithms.record import Objective, WholeTable, least_risk, search_frontier
from overt.errors import InvalidInput, TooLarge, Unreachable

SHARE = st.floats(0, 1)


@given(world=worlds(), share=SHARE)
def test_prefix_sums_frontier_search_and_enumeration_agree(world, share):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    least, where = world.least_risk(c)
    for solver in ("auto", "prefix sums", "frontier search"):
        found = least_risk(objective, c, solver=solver)
        assert close(found.risk, least)
        assert found.levels in where
        assert found.utility >= c - 1e-12
        assert (found.value, found.risk) == (objective.risk(found.levels),) * 2
        assert found.support == objective.support(found.levels)


@given(world=worlds(), share=SHARE)
def test_the_frontier_is_found_whole(world, share):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    frontier, _ = search_frontier(objective, c)
    assert len(frontier) == len(set(frontier))
    assert set(frontier) == world.frontier(c)
    whole = WholeTable.of(objective)
    assert {whole.levels_at(i) for i in np.flatnonzero(whole.is_frontier(c))} == set(frontier)


@given(world=worlds(), share=SHARE)
def test_of_equal_risks_the_most_useful_is_taken_but_of_infinite_ones_the_least(world, share):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    found = least_risk(objective, c)
    tied = [objective.utility(x) for x in world.feasible(c) if objective.risk(x) == found.risk]
    assert found.utility == (min(tied) if math.isinf(found.risk) else max(tied))


def test_what_is_out_of_reach_is_refused():
    ends = np.array([1.0, 0.0])
    objective = Objective((ends, ends), (ends, ends), np.zeros((1, 2), np.int32), np.array([1]))
    sentence = r"^A utility of 3 is out of reach: the record as it is has 2\. Ask for less\.$"
    with pytest.raises(Unreachable, match=sentence):
        least_risk(objective, 3)
    with pytest.raises(Unreachable, match=sentence):
        search_frontier(objective, 3)
    with pytest.raises(InvalidInput, match="^There is no exact search 'magic'; choose 'auto'"):
        least_risk(objective, 1, solver="magic")


def test_a_search_that_grows_too_large_says_so(monkeypatch):
    monkeypatch.setitem(search_frontier.__globals__, "MOST_VISITED", 10)
    chains = (np.linspace(1, 0, 5),) * 3
    objective = Objective(chains, chains, np.zeros((1, 3), np.int32), np.array([1]))
    with pytest.raises(TooLarge, match="^The frontier search has met .* use the genetic search, fewer attributes"):
        least_risk(objective, 2.0, solver="frontier search")
