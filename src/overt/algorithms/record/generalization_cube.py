# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_methods.py
"""Cube: the best generalization of every record of a table at once, when the vectors of levels are not too many.

At each vector of levels, records that look alike are a group, whose size in the external database is its support. LevelGroups
only merge as an attribute rises, so they are never counted afresh: those at one vector come from those at a vector
below. What is best above a group, over all vectors that remain, is computed once for the group and taken over by
everything that merges into it; so the work follows the number of groups, not of records. With personal weights
the groups still merge, and people are looked at one by one at every vector.

Short branches are padded with their root, so a vector may name an element twice; the first name counts. Vectors are
looked at in C order, the last attribute fastest: the order in which ties are broken everywhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import Nodes, number_rows
from overt.algorithms.record.objective import SLACK, Counts, Floats, risk_of
from overt.algorithms.record.risks import RiskModel, require_weights
from overt.algorithms.record.utilities import NodeUtility
from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy
from overt.kernels import coarsening as kernels
from overt.progress import Progress, silent
from overt.threads import run_watched

STAGE = "Weighing risk and utility"

BestVectors = tuple[
    Floats, Floats, Counts, Counts
]  # what is minimised first, and second; the vector, -1: none; the support


class Model(Protocol):
    """How elements are scored: least first, then least second."""

    def score(self, support: Counts, phi: Floats, utility: Floats, place: int) -> BestVectors:
        """The scores of elements at the vector of levels number `place`."""


@dataclass(frozen=True)
class ThresholdModel:
    """Least risk among elements with utility of at least c."""

    c: float

    def score(self, support: Counts, phi: Floats, utility: Floats, place: int) -> BestVectors:
        found: BestVectors = kernels.score_risk(support, phi, utility, self.c - SLACK, place)
        return found


@dataclass(frozen=True)
class LagrangianModel:
    """Greatest lam / risk + utility ** kappa among elements with a weight above 0."""

    lam: float
    kappa: float

    def score(self, support: Counts, phi: Floats, utility: Floats, place: int) -> BestVectors:
        found: BestVectors = kernels.score_balance(support, phi, utility, float(self.lam), float(self.kappa), place)
        return found


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen for every record."""

    node_of_record: Nodes = field(repr=False)  # (attribute, record)
    support: Counts = field(repr=False)
    risk: Floats = field(repr=False)
    utility: Floats = field(repr=False)
    is_found: NDArray[np.bool_] = field(repr=False)  # where nothing is feasible, or nothing has a weight, nothing is


@dataclass(frozen=True, eq=False)
class LevelGroups:
    """The groups at a vector of levels."""

    rows: Nodes  # (group, attribute) -> node
    counts: Counts  # (group) -> records of the external database


@dataclass(frozen=True, eq=False)
class Cube:
    """Records and external records in common groups, ready to be merged."""

    trees: tuple[Hierarchy, ...]
    finest: LevelGroups
    group_of_person: Nodes  # into the finest groups
    person_of_record: NDArray[np.int64]
    weights: Floats  # (attribute, node), padded
    utilities: Floats
    base: float
    factors: Floats | None = None  # (person, attribute)

    @classmethod
    def of(
        cls,
        trees: Sequence[Hierarchy],
        records: Nodes,
        external: Nodes | None,
        utility: NodeUtility,
        risk: RiskModel,
        personal: Floats | None = None,
    ) -> "Cube":
        """Records (and external ones, if they are others) are leaves: (attribute, record)."""
        n_records = records.shape[1]
        both = records if external is None else np.concatenate([records, external], axis=1)
        if not (both.shape[1] if external is None else external.shape[1]):
            raise InvalidInput(
                "The external database is empty, so there is no risk to speak of; give at least one record."
            )
        alike, n_groups = number_rows(list(both), [tree.n_nodes for tree in trees])
        rows = np.empty((n_groups, len(trees)), np.int32)
        rows[alike] = both.T
        counts = np.bincount(alike if external is None else alike[n_records:], minlength=n_groups).astype(np.int64)
        factors = None
        person_of_record, n_people = alike[:n_records], n_groups
        if personal is not None:
            require_weights(personal.ravel())
            numbers = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in personal.T]
            person_of_record, n_people = number_rows(
                [person_of_record, *numbers], [n_groups, *(int(column.max(initial=0)) + 1 for column in numbers)]
            )
            factors = np.empty((n_people, len(trees)))
            factors[person_of_record] = personal
        group_of_person = np.arange(n_people, dtype=np.int32)
        if personal is not None:
            group_of_person[person_of_record] = alike[:n_records]
        return cls(
            tuple(trees),
            LevelGroups(rows, counts),
            group_of_person,
            person_of_record,
            _padded(risk.of_nodes(trees)),
            _padded(utility.of_nodes(trees)),
            float(risk.base),
            factors,
        )

    @property
    def n_vectors(self) -> int:
        return math.prod(tree.n_levels for tree in self.trees)

    @cached_property
    def steps(self) -> list[list[Nodes]]:
        """(attribute)(level) -> (node) -> the node one level up."""
        return [[_step(tree, level) for level in range(tree.n_levels - 1)] for tree in self.trees]

    @cached_property
    def strides(self) -> list[int]:
        """(attribute) -> how many vectors further a level more is."""
        return [math.prod(tree.n_levels for tree in self.trees[i + 1 :]) for i in range(len(self.trees))]

    def solve(self, models: Sequence[Model], *, on_progress: Progress = silent) -> list[Chosen]:
        """The best element of every record, for each model."""
        watch = _Watch(on_progress, self.n_vectors)
        groups, group_of_person = self.finest, self.group_of_person
        tasks = []  # the first attribute's levels are apart from one another: one task each
        for level in range(self.trees[0].n_levels):
            if level:
                groups, became = _merge(groups, 0, self.steps[0][level - 1])
                group_of_person = became[group_of_person]
            tasks.append((groups, group_of_person, level * self.strides[0]))
        everyone = np.arange(self.group_of_person.size, dtype=np.int32)
        found = _none_found(len(models), everyone.size)
        parts = run_watched([partial(self._solve_task, *task, models, watch) for task in tasks], watch.stop, watch.tell)
        for part, (_, group, _) in zip(parts, tasks, strict=True):
            _keep_better(found, part, group if self.factors is None else everyone)
        on_progress(STAGE, self.n_vectors, self.n_vectors)
        return [self._chosen(one) for one in found]

    def _solve_task(
        self, groups: LevelGroups, group_of_person: Nodes, place: int, models: Sequence[Model], watch: "_Watch"
    ) -> list[BestVectors]:
        if self.factors is None:
            return self._best_above(1, groups, place, models, watch)
        return self._best_of_people(groups, group_of_person, place, models, watch)

    def _best_above(
        self, axis: int, groups: LevelGroups, place: int, models: Sequence[Model], watch: "_Watch"
    ) -> list[BestVectors]:
        """What is best for each group over all levels of the attributes from `axis` on."""
        if axis == len(self.trees):
            phi = kernels.sum_over_nodes(groups.rows, self.weights, self.base)
            utility = kernels.sum_over_nodes(groups.rows, self.utilities, 0.0)
            watch.one_more()
            return [model.score(groups.counts, phi, utility, place) for model in models]
        found = self._best_above(axis + 1, groups, place, models, watch)
        became = np.arange(groups.counts.size, dtype=np.int32)
        for step in self.steps[axis]:
            groups, merged = _merge(groups, axis, step)
            became = merged[became]
            place += self.strides[axis]
            _keep_better(found, self._best_above(axis + 1, groups, place, models, watch), became)
        return found

    def _best_of_people(
        self, groups: LevelGroups, group_of_person: Nodes, place: int, models: Sequence[Model], watch: "_Watch"
    ) -> list[BestVectors]:
        """What is best for each person over all levels of the attributes but the first: weights are their own."""
        found = _none_found(len(models), group_of_person.size)
        everyone = np.arange(group_of_person.size, dtype=np.int32)

        def look(axis: int, groups: LevelGroups, group_of_person: Nodes, place: int) -> None:
            if axis == len(self.trees):
                utility = kernels.sum_over_nodes(groups.rows, self.utilities, 0.0)
                support, phi, worth = kernels.spread_to_people(
                    group_of_person, groups.counts, groups.rows, utility, self.weights, self.factors, self.base
                )
                _keep_better(found, [model.score(support, phi, worth, place) for model in models], everyone)
                watch.one_more()
                return
            look(axis + 1, groups, group_of_person, place)
            for step in self.steps[axis]:
                groups, became = _merge(groups, axis, step)
                group_of_person = became[group_of_person]
                place += self.strides[axis]
                look(axis + 1, groups, group_of_person, place)

        look(1, groups, group_of_person, place)
        return found

    def _chosen(self, found: BestVectors) -> Chosen:
        """The chosen elements, with risk and utility computed plainly at their nodes."""
        person = self.person_of_record
        place, support = found[2][person], found[3][person]
        levels = np.unravel_index(np.maximum(place, 0), [tree.n_levels for tree in self.trees])
        own = self.finest.rows[self.group_of_person[person]]
        nodes = np.stack([tree.node_of_leaf[levels[j], own[:, j]] for j, tree in enumerate(self.trees)])
        phi, utility = np.full(person.size, self.base), np.zeros(person.size)
        for j in range(len(self.trees)):
            phi += self.weights[j, nodes[j]] * (1.0 if self.factors is None else self.factors[person, j])
            utility += self.utilities[j, nodes[j]]
        return Chosen(nodes.astype(np.int32), support, risk_of(phi, support), utility, place >= 0)


class _Watch:
    """Counts vectors in any thread, and ends the work if it is to stop."""

    def __init__(self, on_progress: Progress, total: int) -> None:
        self.on_progress, self.total, self.done = on_progress, total, 0
        self.stop = np.zeros(1, np.bool_)

    def one_more(self) -> None:
        self.done += 1
        if self.stop[0]:
            raise InterruptedError("The work was stopped.")

    def tell(self) -> None:
        self.on_progress(STAGE, self.done, self.total)


def _merge(groups: LevelGroups, axis: int, step: Nodes) -> tuple[LevelGroups, Nodes]:
    rows, counts, became = kernels.merge_groups(groups.rows, groups.counts, axis, step)
    return LevelGroups(rows, counts), became


def _keep_better(found: Sequence[BestVectors], new: Sequence[BestVectors], group: Nodes) -> None:
    for known, other in zip(found, new, strict=True):
        kernels.keep_better(*known, *other, group)


def _none_found(n_models: int, n: int) -> list[BestVectors]:
    return [(np.zeros(n), np.zeros(n), np.full(n, -1, np.int64), np.zeros(n, np.int64)) for _ in range(n_models)]


def _step(tree: Hierarchy, level: int) -> Nodes:
    step = np.arange(tree.n_nodes, dtype=np.int32)
    step[tree.node_of_leaf[level]] = tree.node_of_leaf[level + 1]
    return step


def _padded(numbers: Sequence[Floats]) -> Floats:
    padded = np.zeros((len(numbers), max(one.size for one in numbers)))
    for row, one in zip(padded, numbers, strict=True):
        row[: one.size] = one
    return padded
