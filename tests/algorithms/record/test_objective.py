# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given

from algorithms.record.worlds import objective_of, worlds
from oracles.record import chain, close
from overt.algorithms.record import Depth, ModelI, Objective, WholeTable, chain_above, needed_levels, nodes_of_labels
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy.parents import Parents

ENDS = np.array([1.0, 0.0])
PROFILE = np.zeros((1, 1), np.int32)


@given(world=worlds())
def test_every_generalization_is_valued_as_defined(world):
    objective = objective_of(world)
    whole = WholeTable.of(objective)
    assert objective.n_elements == len(list(world.elements)) == whole.n_elements
    for place, (levels, element) in enumerate(world.elements):
        assert whole.levels_at(place) == levels == tuple(whole.levels[place])
        assert objective.support(levels) == whole.support[place] == world.support(element)
        assert objective.phi(levels) == whole.phi[place]
        assert objective.utility(levels) == whole.utility[place]
        assert objective.risk(levels) == whole.risk[place]
        assert close(objective.phi(levels), world.phi(element))
        assert close(objective.utility(levels), world.utility(element))
        assert close(objective.risk(levels), world.risk(element))


@given(world=worlds())
def test_chains_and_needed_levels(world):
    for parent, value in zip(world.parents, world.record, strict=True):
        tree = Parents(parent).whole()
        labels = tree.labels.to_list()
        node = labels.index(value)
        assert [labels[n] for n in chain_above(tree, node)] == chain(parent, value)
        for other, needed in enumerate(needed_levels(tree, node)):
            above = chain(parent, labels[other])
            assert chain(parent, value)[needed] == next(x for x in chain(parent, value) if x in above)


def test_no_weight_is_no_risk_and_no_support_an_infinite_one():
    objective = Objective((ENDS,), (ENDS,), np.array([[1]], np.int32), np.array([4]))
    assert objective.risk((0,)) == math.inf
    assert objective.risk((1,)) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (((ENDS,), (ENDS,), PROFILE[:0], np.empty(0, np.int64)), "The external database is empty, so"),
        (((ENDS,), (ENDS, ENDS), PROFILE, np.array([1])), "Utilities and weights must be given for the same chains"),
        (((ENDS,), (ENDS,), np.zeros((1, 2), np.int32), np.array([1])), r"Profiles of shape \(1, 2\) do not fit"),
        (((-ENDS,), (ENDS,), PROFILE, np.array([1])), "A utility is negative or not finite"),
        (((ENDS[::-1],), (ENDS,), PROFILE, np.array([1])), "A utility grows upwards"),
        (((ENDS,), (ENDS[::-1],), PROFILE, np.array([1])), "A weight grows upwards"),
        (((ENDS,), (ENDS,), PROFILE, np.array([1]), -1.0), "A weight is negative or not finite"),
    ],
)
def test_what_is_no_objective_is_refused(arguments, sentence):
    with pytest.raises(InvalidInput, match=f"^{sentence}"):
        Objective(*arguments)


def test_records_of_wrong_length_or_unknown_values_are_refused():
    trees = [Parents({"f": "*", "m": "*"}).whole()]
    with pytest.raises(
        InvalidInput, match="^A record has 2 values and there are 1 hierarchies; give one value for each.$"
    ):
        nodes_of_labels(trees, [["f", "m"]])
    with pytest.raises(
        InvalidInput, match="^A record has a value of attribute 1 that its hierarchy lacks; add it there"
    ):
        nodes_of_labels(trees, [["x"]])
    with pytest.raises(
        InvalidInput, match="^A record and the external records need one node for each of 1 hierarchies"
    ):
        Objective.of(trees, [0, 0], np.zeros((1, 1), np.int32), Depth(), ModelI())


def test_too_many_generalizations_say_what_to_use_instead():
    chains = (np.linspace(1, 0, 11),) * 9
    objective = Objective(chains, chains, np.zeros((1, 9), np.int32), np.array([1]))
    with pytest.raises(
        TooLarge, match="^The record has 2,357,947,691 generalizations .* use cuts or the minimum-norm point"
    ):
        WholeTable.of(objective)
