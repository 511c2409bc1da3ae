# SPDX-License-Identifier: Apache-2.0
"""The exponential choice of Algorithm 3: among the t-frequent generalizations of a record, the better ones likelier.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 3.2, t-frequent elements; equation (9) and step 5 of Algorithm 3, for both models.
Departs     Chances are normalised over the elements that can be chosen; equation (9) prints all generalizations.
Guarantee   None: which elements are t-frequent depends on every single record (docs/research/published-dp.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.dp.conditions import require_frequency
from overt.algorithms.record.generalization_cube import Cube, LagrangianModel, ThresholdModel
from overt.algorithms.record.nodes import NodeLevels, Nodes, chain_above
from overt.algorithms.record.objective import SLACK, Counts, Floats, Objective
from overt.algorithms.record.prefix_sums import WholeTable
from overt.algorithms.record.risks import RiskModel
from overt.algorithms.record.utilities import NodeUtility
from overt.errors import InvalidInput, Unreachable
from overt.hierarchy import Hierarchy
from overt.kernels import coarsening as kernels


@dataclass(frozen=True)
class ExponentialChoice:
    """The model that scores elements, how frequent they must be, and how sharply the better ones are preferred.

    >>> ends = np.array([1.0, 0.0])
    >>> one = Objective((ends,), (ends + 1,), np.array([[0], [1]], np.int32), np.array([2, 1]))
    >>> [(levels, round(p, 3)) for levels, p in ExponentialChoice(LagrangianModel(1, 1), 2, 3.0).law(one, 3)]
    [((0,), 0.269), ((1,), 0.731)]
    """

    model: LagrangianModel | ThresholdModel
    t: int
    epsilon_prime: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.epsilon_prime) and self.epsilon_prime >= 0):
            raise InvalidInput(f"epsilon' is {self.epsilon_prime!r}; a finite number of at least 0 is expected.")

    def law(self, objective: Objective, size: int) -> list[tuple[NodeLevels, float]]:
        """With which chance one record is given which of its generalizations."""
        whole = WholeTable.of(objective)
        exponents = self.exponents(whole.support, whole.phi, whole.utility, size)
        places = np.flatnonzero(np.isfinite(exponents))
        if not places.size:
            raise nothing_to_choose(1)
        weights = np.exp(exponents[places] - exponents[places].max())
        return [(whole.levels_at(int(i)), float(p)) for i, p in zip(places, weights / weights.sum(), strict=True)]

    def exponents(self, support: Counts, phi: Floats, utility: Floats, size: int) -> Floats:
        """The logarithm of every element's weight: epsilon' f / |D| or -epsilon' r / |D|; -inf if it is no candidate."""
        candidate = support >= self.t
        if isinstance(self.model, ThresholdModel):
            candidate &= utility >= self.model.c - SLACK
            scores = -np.divide(phi, support, out=np.zeros(phi.size), where=support > 0)
        else:
            if (phi[candidate] == 0).any():
                raise no_weight()
            scores = utility**self.model.kappa
            scores += self.model.lam * np.divide(support, phi, out=np.zeros(phi.size), where=phi > 0)
        return np.where(candidate, self.epsilon_prime / size * scores, -np.inf)


def laws_of_records(
    choice: ExponentialChoice,
    beta: float,
    trees: Sequence[Hierarchy],
    records: Nodes,
    utility: NodeUtility,
    risks: RiskModel | Sequence[RiskModel],
) -> list[Mapping[tuple[Any, ...], float]]:
    """For every record (row of nodes): with which chance it is shown as which element, in labels; else it is dropped.

    Together these are Algorithm 3 without its constant extra element. Records may hold inner nodes.
    """
    if not 0 < beta < 1:
        raise InvalidInput(f"beta is {beta!r}; a number between 0 and 1 is expected.")
    models = list(risks) if isinstance(risks, Sequence) else [risks] * len(records)
    if len(models) != len(records):
        raise InvalidInput(f"There are {len(models)} risk models for {len(records)} records; give one for each.")
    if not len(records):
        return []
    require_frequency(choice.t, len(records), least=1)
    laws: list[Mapping[tuple[Any, ...], float]] = []
    known: dict[tuple[Any, ...], Mapping[tuple[Any, ...], float]] = {}
    for record, model in zip(records, models, strict=True):
        key = (*record.tolist(), id(model))
        if key not in known:
            chains = [chain_above(tree, int(node)) for tree, node in zip(trees, record, strict=True)]
            objective = Objective.of(trees, record, records, utility, model)
            known[key] = {
                tuple(t.labels[chain[level]] for t, chain, level in zip(trees, chains, levels, strict=True)): (1 - beta)
                * p
                for levels, p in choice.law(objective, len(records))
            }
        laws.append(known[key])
    return laws


@dataclass(frozen=True, eq=False)
class Vector:
    """One vector of levels: what every person's element there is worth."""

    place: int
    support: Counts
    phi: Floats
    utility: Floats
    is_named_first: NDArray[np.bool_]  # short branches are padded: an element may have several vectors


def walk_vectors(cube: Cube) -> Iterator[Vector]:
    """Every vector of levels in C order, with support, weight and utility of every person's element."""
    lowest = [_lowest_level(tree) for tree in cube.trees]
    own = cube.finest.rows[cube.group_of_person]

    def look(axis: int, rows: Nodes, counts: Counts, group: Nodes, levels: tuple[int, ...]) -> Iterator[Vector]:
        if axis == len(cube.trees):
            yield _vector(cube, rows, counts, group, levels, lowest, own)
            return
        yield from look(axis + 1, rows, counts, group, (*levels, 0))
        for level, step in enumerate(cube.steps[axis], start=1):
            rows, counts, became = kernels.merge_groups(rows, counts, axis, step)
            group = became[group]
            yield from look(axis + 1, rows, counts, group, (*levels, level))

    yield from look(0, cube.finest.rows, cube.finest.counts, cube.group_of_person, ())


def _vector(
    cube: Cube, rows: Nodes, counts: Counts, group: Nodes, levels: NodeLevels, lowest: Sequence[Nodes], own: Nodes
) -> Vector:
    utility = kernels.sum_over_nodes(rows, cube.utilities, 0.0)[group]
    if cube.factors is None:
        phi = kernels.sum_over_nodes(rows, cube.weights, cube.base)[group]
    else:
        phi = np.full(group.size, cube.base)
        for j in range(len(cube.trees)):
            phi += cube.weights[j, rows[group, j]] * cube.factors[:, j]
    first = np.ones(group.size, np.bool_)
    for j, level in enumerate(levels):
        first &= lowest[j][level, own[:, j]] == level
    place = sum(level * stride for level, stride in zip(levels, cube.strides, strict=True))
    return Vector(place, counts[group], phi, utility, first)


def _lowest_level(tree: Hierarchy) -> Nodes:
    """(level, leaf) -> the lowest level at which the leaf shows the same node."""
    lowest = np.zeros_like(tree.node_of_leaf)
    for level in range(1, tree.n_levels):
        same = tree.node_of_leaf[level] == tree.node_of_leaf[level - 1]
        lowest[level] = np.where(same, lowest[level - 1], level)
    return lowest


def nothing_to_choose(n_rows: int) -> Unreachable:
    """The error for records without a t-frequent element that is useful enough."""
    return Unreachable(
        f"For {n_rows:,} records no generalization is frequent and useful enough; lower t or the utility that is asked for."
    )


def no_weight() -> InvalidInput:
    """The error for a Lagrangian that divides by a weight of 0."""
    return InvalidInput(
        "An element that could be chosen has weight 0, where the Lagrangian of Algorithm 3 is infinite; use risk model II, or a base."
    )
