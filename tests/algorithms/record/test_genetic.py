# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.record.worlds import objective_of, worlds
from overt.algorithms.record import Genetic, Objective, least_risk, walk
from overt.algorithms.record.genetic import cross, mutate
from overt.errors import InvalidInput, Unreachable

SMALL = Genetic(population=6, generations=6, patience=3, immigrants=2)
ENDS = np.array([1.0, 0.0])
ONE = Objective((ENDS, ENDS), (ENDS, 2 * ENDS), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))


@settings(max_examples=40)
@given(
    world=worlds(),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
    probing=st.booleans(),
    rank_by=st.sampled_from(["risk", "utility"]),
)
def test_it_ends_at_a_frontier_node_and_never_below_the_least_risk(world, share, seed, probing, rank_by):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    method = Genetic(population=6, generations=4, patience=2, immigrants=2, probing=probing, rank_by=rank_by)
    one, two = (method.least_risk(objective, c, rng=np.random.default_rng(seed)) for _ in range(2))
    assert one == two  # seeded
    assert one.levels in world.frontier(c)
    assert one.risk >= least_risk(objective, c).risk
    assert one.risk == objective.risk(one.levels)


@given(world=worlds(), share=st.floats(0, 1), path=st.lists(st.integers(0, 2), max_size=8))
def test_a_walk_stops_at_the_first_feasible_node(world, share, path):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    path = [gene % objective.n_attributes for gene in path]
    levels, used, complete = walk(objective, c, path)
    at = list(objective.top)
    for gene in used:
        assert not objective.is_feasible(at, c)
        at[gene] -= 1
    assert tuple(at) == levels
    assert complete == objective.is_feasible(levels, c)
    if not complete:
        assert ([gene for gene in path if path.count(gene)] and len(used) <= len(path)) or not path


def test_it_finds_the_best_of_a_small_lattice():
    assert SMALL.least_risk(ONE, 1.0, rng=np.random.default_rng(1)).levels == least_risk(ONE, 1.0).levels


def test_halves_are_exchanged_and_the_middle_changes():
    assert cross([0, 1, 2, 3], [4, 5]) == ([0, 1, 5], [4, 2, 3])
    rng = np.random.default_rng(0)
    mutants = [mutate([0, 0, 0], 3, rng) for _ in range(40)]
    assert {tuple(path) for path in mutants} == {(0, 1, 0), (0, 2, 0)}
    assert mutate([0, 0], 1, rng) == [0, 0]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"population": 0}, "population is 0; a whole number of at least 1"),
        ({"immigrants": -1}, "immigrants is -1; a whole number of at least 0"),
        ({"rank_by": "luck"}, "Paths cannot be ranked by 'luck'; choose 'risk' or 'utility'"),
    ],
)
def test_parameters_are_refused(parameters, sentence):
    with pytest.raises(InvalidInput, match=f"^{sentence}"):
        Genetic(**parameters)


def test_what_cannot_be_reached_or_walked_is_refused():
    with pytest.raises(Unreachable, match="^A utility of 9 is out of reach"):
        Genetic().least_risk(ONE, 9.0, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="^A path names attribute 5; there are 2"):
        walk(ONE, 1.0, [4])
