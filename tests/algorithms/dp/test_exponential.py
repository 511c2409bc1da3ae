# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms.record.worlds import model_of, worlds
from overt.algorithms.dp.exponential import ExponentialChoice, laws_of_records
from overt.algorithms.record import Depth, ModelI, ModelII, nodes_of_labels, utility_named
from overt.algorithms.record.generalization_cube import LagrangianModel, ThresholdModel
from overt.errors import InvalidInput, Unreachable
from overt.hierarchy.parents import Parents

TREE = {"a": "*", "b": "*"}
SHARP = 3.0


def laws(choice, data, *, beta=0.5, trees=(TREE,), utility=None, risk=None):
    built = [Parents(tree).whole() for tree in trees]
    records = nodes_of_labels(built, data)
    return laws_of_records(choice, beta, built, records, utility or Depth(), risk if risk is not None else ModelII())


@given(world=worlds(max_attributes=2, max_nodes=5, max_theta=5, positive=True), t=st.integers(1, 3))
def test_chances_are_those_of_equation_9_over_the_frequent_elements(world, t):
    """By the oracle: every generalization of the record, its support counted one by one."""
    data = [world.record, *world.theta]
    if t > len(data):
        return
    whole = type(world)(world.parents, world.record, data, world.utility_kind, world.risk_kind, world.base)
    weights = {}
    for _, x in whole.elements:
        if whole.support(x) >= t:
            f = whole.support(x) / whole.phi(x) + whole.utility(x) ** 2
            weights[tuple(x)] = math.exp(SHARP * f / len(data))
    total = sum(weights.values())
    trees = [Parents(parent).whole() for parent in world.parents]
    found = laws_of_records(
        ExponentialChoice(LagrangianModel(1, 2), t, SHARP),
        0.25,
        trees,
        nodes_of_labels(trees, data),
        utility_named(world.utility_kind),
        model_of(world),
    )[0]
    assert found.keys() == weights.keys()
    for element, weight in weights.items():
        assert found[element] == pytest.approx(0.75 * weight / total)


def test_the_threshold_model_draws_by_risk_among_the_useful():
    (one, *_) = laws(ExponentialChoice(ThresholdModel(1), 2, SHARP), [["a"], ["a"]], risk=ModelI())
    assert one == {("a",): 0.5}  # the root has no depth
    (one, *_) = laws(ExponentialChoice(ThresholdModel(0), 2, SHARP), [["a"], ["a"]], risk=ModelI())
    assert one[("*",)] / one[("a",)] == pytest.approx(math.exp(SHARP * (1 / 2) / 2))


def test_an_element_that_one_record_made_frequent_is_gone_without_it():
    with_it = laws(ExponentialChoice(LagrangianModel(1, 1), 2, SHARP), [["a"], ["a"], ["b"]])
    without = laws(ExponentialChoice(LagrangianModel(1, 1), 2, SHARP), [["a"], ["b"]])
    assert ("a",) in with_it[1]
    assert ("a",) not in without[0]


@pytest.mark.parametrize(
    ("choice", "how", "error", "words"),
    [
        (ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), {"risk": ModelI()}, InvalidInput, "has weight 0, where"),
        (ExponentialChoice(ThresholdModel(1), 2, 1.0), {}, Unreachable, "no generalization is frequent and useful"),
        (ExponentialChoice(ThresholdModel(2), 1, 1.0), {}, Unreachable, "no generalization is frequent and useful"),
        (ExponentialChoice(LagrangianModel(1, 1), 3, 1.0), {}, Unreachable, "t is 3, and no element"),
        (ExponentialChoice(LagrangianModel(1, 1), 0, 1.0), {}, InvalidInput, "t is 0; elements must.*at least 1"),
        (ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), {"beta": 1}, InvalidInput, "beta is 1"),
        (ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), {"beta": 0}, InvalidInput, "beta is 0"),
        (ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), {"risk": [ModelII()]}, InvalidInput, "1 risk models for 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(choice, how, error, words):
    with pytest.raises(error, match=words):
        laws(choice, [["a"], ["b"]], **how)


def test_other_refusals():
    with pytest.raises(InvalidInput, match="epsilon' is -1"):
        ExponentialChoice(LagrangianModel(1, 1), 1, -1)
    with pytest.raises(InvalidInput, match="that its hierarchy lacks"):
        laws(ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), [["c"]])
    with pytest.raises(InvalidInput, match="2 values and there are 1 hierarchies"):
        laws(ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), [["a", "b"]])
    with pytest.raises(InvalidInput):
        Parents({"a": "b", "b": "a"}).whole()
    with pytest.raises(InvalidInput):
        Parents({"a": "x", "b": "y"}, "x").whole()


def test_an_empty_database_shows_nothing():
    assert laws(ExponentialChoice(LagrangianModel(1, 1), 1, 1.0), np.empty((0, 1)).tolist()) == []
