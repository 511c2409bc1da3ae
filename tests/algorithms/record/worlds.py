# SPDX-License-Identifier: Apache-2.0
"""Random small records with unbalanced hierarchies, and the objective of each as the package sees it."""

from hypothesis import strategies as st

from oracles.record import World
from overt.algorithms.record import Harmonic, ModelI, ModelII, Objective, nodes_of_labels, utility_named
from overt.hierarchy.parents import Parents

WEIGHTS = st.sampled_from([0, 0.25, 0.5, 1, 2, 3])


@st.composite
def parents(draw, name, max_nodes=6):
    """Parent pointers of a tree: node j hangs below an earlier one, or the root."""
    n = draw(st.integers(1, max_nodes))
    nodes = [f"{name}{j}" for j in range(n)]
    return {node: draw(st.sampled_from(["*", *nodes[:j]])) for j, node in enumerate(nodes)}


@st.composite
def worlds(draw, max_attributes=3, max_nodes=6, max_theta=10, positive=False):
    k = draw(st.integers(1, max_attributes))
    trees = [draw(parents("abcdef"[i], max_nodes)) for i in range(k)]
    nodes = [st.sampled_from([*tree, "*"]) for tree in trees]
    record = draw(st.tuples(*nodes))
    theta = draw(st.lists(st.tuples(*nodes), min_size=1, max_size=max_theta))
    utility = draw(st.sampled_from(["inverse-leaves", "log-leaves", "depth"]))
    model = draw(st.sampled_from(["I", "II", "harmonic"]))
    numbers = None
    if model == "I":
        numbers = [draw(WEIGHTS) for _ in trees]
    elif model == "harmonic":
        numbers = [{leaf: draw(WEIGHTS) for leaf in tree if leaf not in tree.values()} for tree in trees]
    base = draw(st.sampled_from([0, 0, 0.5])) if not positive else 0.5
    return World(trees, record, theta, utility, (model, numbers), base)


def objective_of(world):
    """The same world in the package's own terms."""
    trees = [Parents(parent).whole() for parent in world.parents]
    record = nodes_of_labels(trees, [world.record])[0]
    external = nodes_of_labels(trees, world.theta)
    return Objective.of(trees, record, external, utility_named(world.utility_kind), model_of(world))


def model_of(world):
    model, numbers = world.risk_kind
    base = float(world.base)
    if model == "II":
        return ModelII(base)
    return ModelI(tuple(numbers), base) if model == "I" else Harmonic(tuple(numbers), base)
