# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given

from algorithms.record.worlds import parents
from oracles.record import close, harmonic, utility_of_node
from overt.algorithms.record import CustomRisk, CustomUtility, Harmonic, ModelI, ModelII, risk_named, utility_named
from overt.errors import InvalidInput
from overt.hierarchy.parents import Parents

TREE = Parents({"p": "*", "q": "*", "p1": "p", "p2": "p"}).whole()
GOOD = {"*": 0, "p": 1, "q": 1, "p1": 2, "p2": 2}


@given(parent=parents("a", max_nodes=9))
def test_harmonic_weights_and_utilities_are_as_defined_and_never_grow_upwards(parent):
    tree = Parents(parent).whole()
    leaves = [leaf for leaf in parent if leaf not in parent.values()]
    given_weights = {leaf: (i * 7) % 5 / 3 for i, leaf in enumerate(leaves)}
    (weights,) = Harmonic((given_weights,)).of_nodes([tree])
    for node, label in enumerate(tree.labels):
        assert close(weights[node], harmonic(parent, label, given_weights))
        assert weights[tree.parent_of_node[node]] <= weights[node]
    for name in ("inverse-leaves", "log-leaves", "depth"):
        (numbers,) = utility_named(name).of_nodes([tree])
        for node, label in enumerate(tree.labels):
            assert close(numbers[node], utility_of_node(parent, label, name))
            assert numbers[tree.parent_of_node[node]] <= numbers[node]


def test_a_single_child_weighs_no_less_than_its_parent():
    tree = Parents({"a": "*", "b": "a"}).whole()
    (weights,) = Harmonic(({"b": 0.1},)).of_nodes([tree])
    assert weights.tolist() == [0.1, 0.1, 0.0]


def test_models_by_name():
    assert risk_named("I") == ModelI()
    assert risk_named("II", 0.5) == ModelII(0.5)
    assert [weights.tolist() for weights in ModelII().of_nodes([TREE, TREE])] == [[0.5] * 5] * 2
    with pytest.raises(InvalidInput, match="^There is no risk model 'III'; choose one of I, II, harmonic"):
        risk_named("III")
    with pytest.raises(
        InvalidInput, match="^There is no utility 'fun'; choose one of inverse-leaves, log-leaves, depth"
    ):
        utility_named("fun")


@pytest.mark.parametrize("kind", [CustomRisk, CustomUtility])
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({**GOOD, "p": 3}, "grows upwards in its hierarchy; a node must not have more than any node below it"),
        ({**GOOD, "*": -1}, "is negative or not finite; give numbers of at least 0"),
        ({"*": 0}, "table lacks 4 of 5 nodes; give a number for each"),
    ],
)
def test_tables_of_ones_own_are_checked(kind, table, sentence):
    assert kind((GOOD,)).of_nodes([TREE])[0].max() == 2
    with pytest.raises(InvalidInput, match=f"^A (weight|utility) {sentence}"):
        kind((table,)).of_nodes([TREE])
    with pytest.raises(InvalidInput, match="^There are 2 (weight|utility) tables for 1 attributes; give one for each"):
        kind((GOOD, GOOD)).of_nodes([TREE])


def test_missing_and_negative_weights_are_refused():
    with pytest.raises(InvalidInput, match="^A weight is negative or not finite; give numbers of at least 0"):
        ModelI((1, -1))
    with pytest.raises(InvalidInput, match="^There are 1 weights for 2 attributes; give one for each"):
        ModelI((1,)).of_nodes([TREE, TREE])
    with pytest.raises(InvalidInput, match="^A weight is missing for 2 of 3 leaves; give one for each"):
        Harmonic(({"q": 1},)).of_nodes([TREE])
    with pytest.raises(InvalidInput, match="^A weight is negative or not finite"):
        Harmonic(({"q": -1, "p1": 1, "p2": 1},)).of_nodes([TREE])
