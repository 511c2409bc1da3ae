# SPDX-License-Identifier: Apache-2.0
"""Risk models: how much the nodes of an element weigh. Risk is the sum of weights over the records that fit.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.1.2: Model I (a weight, nothing at the root) and Model II (1/k everywhere); section 4.1: the
            harmonic weights of the experiments.
Departs     `base` is ours: it is added to the sum of weights, and keeps it above zero at the root. A harmonic parent
            never weighs more than its lightest child, not even by a rounding error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeName, tables_of_nodes
from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy

Floats = NDArray[np.float64]
RiskName = Literal["I", "II", "harmonic"]


class RiskModel(Protocol):
    """Weights of nodes: non-negative, and never more above than below."""

    @property
    def base(self) -> float:
        """What is added to the sum of weights."""

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        """(attribute)(node) -> its weight."""


@dataclass(frozen=True)
class ModelI:
    """A weight for every attribute that is not suppressed; all 1 if none are given."""

    weights: tuple[float, ...] | None = None
    base: float = 0.0

    def __post_init__(self) -> None:
        require_weights(self.weights or ())
        require_weights((self.base,))

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        weights = (1.0,) * len(trees) if self.weights is None else self.weights
        require_one_for_each(weights, trees)
        return [_not_at_the_root(tree, weight) for tree, weight in zip(trees, weights, strict=True)]


@dataclass(frozen=True)
class ModelII:
    """1/k for each of k attributes, suppressed or not: risk is one over the number of records that fit."""

    base: float = 0.0

    def __post_init__(self) -> None:
        require_weights((self.base,))

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return [np.full(tree.n_nodes, 1 / len(trees)) for tree in trees]


@dataclass(frozen=True, eq=False)
class Harmonic:
    """Weights of leaves are given; a parent weighs one over the sum of one over its children, the root nothing.

    `leaf_weights` has one mapping per attribute, from the label of a leaf to its weight; without it every leaf weighs 1.
    """

    leaf_weights: tuple[Mapping[NodeName, float], ...] | None = field(default=None, repr=False)
    base: float = 0.0

    def __post_init__(self) -> None:
        require_weights((self.base,))

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        if self.leaf_weights is None:
            return [harmonic_weights(tree, np.ones(tree.n_leaves)) for tree in trees]
        require_one_for_each(self.leaf_weights, trees)
        return [harmonic_weights(t, _of_leaves(t, given)) for t, given in zip(trees, self.leaf_weights, strict=True)]


@dataclass(frozen=True, eq=False)
class CustomRisk:
    """A weight for every node, by its label: one mapping per attribute."""

    tables: tuple[Mapping[NodeName, float], ...] = field(repr=False)
    base: float = 0.0

    def __post_init__(self) -> None:
        require_weights((self.base,))

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return tables_of_nodes("weight", self.tables, trees)


def risk_named(risk: "str | RiskModel", base: float = 0.0) -> RiskModel:
    """A risk model by its name in a recipe, or itself."""
    if not isinstance(risk, str):
        return risk
    models: dict[str, RiskModel] = {"I": ModelI(base=base), "II": ModelII(base), "harmonic": Harmonic(base=base)}
    if risk not in models:
        raise InvalidInput(f"There is no risk model {risk!r}; choose one of {', '.join(models)}.")
    return models[risk]


def harmonic_weights(tree: Hierarchy, weight_of_leaf: Floats) -> Floats:
    """(node) -> weight: the harmonic sum of its children's, 0 above a child of 0 and at the root."""
    require_weights(weight_of_leaf)
    weight = np.zeros(tree.n_nodes)
    weight[: tree.n_leaves] = weight_of_leaf
    children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for node, parent in enumerate(tree.parent_of_node[:-1]):
        children[parent].append(node)
    for node in range(tree.n_leaves, tree.root):  # numbers grow upwards: children come first
        below = weight[children[node]]
        if below.all():
            weight[node] = min(1 / math.fsum(1 / below), below.min())
    weight[tree.root] = 0
    return weight


def require_weights(weights: Sequence[float] | Floats) -> None:
    """Refuse weights that are negative or no numbers."""
    array = np.asarray(weights, np.float64)
    if not np.isfinite(array).all() or (array < 0).any():
        raise InvalidInput("A weight is negative or not finite; give numbers of at least 0.")


def require_one_for_each(given: Sequence[object], trees: Sequence[Hierarchy]) -> None:
    """Refuse another number of weights than there are attributes."""
    if len(given) != len(trees):
        raise InvalidInput(f"There are {len(given)} weights for {len(trees)} attributes; give one for each.")


def _not_at_the_root(tree: Hierarchy, weight: float) -> Floats:
    weights = np.full(tree.n_nodes, float(weight))
    weights[tree.root] = 0
    return weights


def _of_leaves(tree: Hierarchy, given: Mapping[NodeName, float]) -> Floats:
    leaves = tree.labels[: tree.n_leaves]
    n_missing = sum(leaf not in given for leaf in leaves)
    if n_missing:
        raise InvalidInput(f"A weight is missing for {n_missing} of {tree.n_leaves} leaves; give one for each.")
    return np.array([float(given[leaf]) for leaf in leaves])
