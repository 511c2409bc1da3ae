# SPDX-License-Identifier: Apache-2.0
"""Algorithm 2: a genetic search along the frontier of a record's generalizations.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.5, Algorithm 2: probing, selection, mutation in the middle, crossover of second halves, repair,
            new immigrants.
Departs     A gene whose attribute is already at the record's own value is skipped. Selection ranks by risk; the paper
            says by utility, which on the frontier is nearly the same for all (`rank_by="utility"` does that). The best
            path ever met is kept. "While accuracy is low" is undefined there: the search ends after `generations`, or
            after `patience` of them without progress.
Guarantee   Heuristic. What it returns is always a frontier node, so its utility suffices; its risk may be above the
            least (the paper saw at most 7 % more).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import SLACK, Objective, Optimum
from overt.algorithms.record.threshold import require_reachable
from overt.errors import InvalidInput
from overt.progress import Progress, silent

STAGE = "Breeding paths"

NodePath = list[int]  # attributes, in the order in which they are specialised from the all-root element


@dataclass(frozen=True)
class Genetic:
    """The parameters of Algorithm 2.

    Parameters
    ----------
    population
        How many paths live at a time.
    immigrants
        How many fresh random paths join in every generation.
    probing
        Begin with random paths; else with one path per attribute that specialises attributes in turn.

    """

    population: int = 40
    generations: int = 80
    patience: int = 15
    immigrants: int = 8
    rank_by: Literal["risk", "utility"] = "risk"
    probing: bool = True

    def __post_init__(self) -> None:
        for name in ("population", "generations", "patience"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; a whole number of at least 1 is expected.")
        if self.immigrants < 0:
            raise InvalidInput(f"immigrants is {self.immigrants!r}; a whole number of at least 0 is expected.")
        if self.rank_by not in ("risk", "utility"):
            raise InvalidInput(f"Paths cannot be ranked by {self.rank_by!r}; choose 'risk' or 'utility'.")

    def least_risk(self, objective: Objective, c: float, *, rng: Generator, on_progress: Progress = silent) -> Optimum:
        """A frontier node of low risk."""
        require_reachable(objective, c)
        walks = _Walks(objective, c, rng)
        if objective.is_feasible(objective.top, c):
            return objective.optimum(objective.top, "genetic", 1)
        people = [walks.repair(path) for path in self.first_paths(objective)]
        best = min(people, key=walks.fitness)
        idle = 0
        for generation in range(self.generations):
            on_progress(STAGE, generation, self.generations)
            chosen = self.select(people, walks, rng)
            mutants = [walks.repair(mutate(path, objective.n_attributes, rng)) for path in chosen]
            children = [
                walks.repair(child)
                for one, other in zip(chosen[0::2], chosen[1::2], strict=False)
                for child in cross(one, other)
            ]
            newcomers = [walks.repair([]) for _ in range(self.immigrants)]
            everyone = sorted([best, *chosen, *mutants, *children, *newcomers], key=walks.fitness)
            people = [*everyone[: self.population - self.immigrants], *newcomers][: self.population]
            found = everyone[0]
            idle = 0 if walks.fitness(found) < walks.fitness(best) else idle + 1
            best = min(best, found, key=walks.fitness)
            if idle >= self.patience:
                break
        return objective.optimum(walks.end(best), "genetic", len(walks.risk_of_node))

    def first_paths(self, objective: Objective) -> list[NodePath]:
        """What the first population is repaired from: nothing, or the attributes in turn."""
        if self.probing:
            return [[] for _ in range(self.population)]
        attributes = list(range(objective.n_attributes))
        turns = [attributes[i:] + attributes[:i] for i in attributes]
        return [[i for i in turn for _ in range(objective.heights[i])] for turn in turns]

    def select(self, people: list[NodePath], walks: "_Walks", rng: Generator) -> list[NodePath]:
        """Draw a population, the better half more often: with a chance in proportion to the rank."""
        key = walks.fitness if self.rank_by == "risk" else walks.poverty
        ranked = sorted(people, key=key, reverse=True)  # the best is last and has the highest rank
        chances = np.arange(1, len(ranked) + 1, dtype=np.float64)
        drawn = rng.choice(len(ranked), size=self.population, p=chances / chances.sum())
        return [ranked[i] for i in drawn]


def mutate(path: NodePath, n_attributes: int, rng: Generator) -> NodePath:
    """Another attribute in the middle of the path."""
    if n_attributes < 2 or not path:
        return path
    middle = len(path) // 2
    other = (path[middle] + 1 + int(rng.integers(n_attributes - 1))) % n_attributes
    return [*path[:middle], other, *path[middle + 1 :]]


def cross(one: NodePath, other: NodePath) -> tuple[NodePath, NodePath]:
    """Two paths with their second halves exchanged."""
    i, j = len(one) // 2, len(other) // 2
    return [*one[:i], *other[j:]], [*other[:j], *one[i:]]


def walk(objective: Objective, c: float, path: Sequence[int]) -> tuple[NodeLevels, NodePath, bool]:
    """Follow a path from the all-root element: where it ends, the genes used, and whether it ends at a feasible node."""
    levels, used = list(objective.top), []
    utility = objective.utility(levels)
    for gene in path:
        if utility >= c - SLACK:
            break
        if not 0 <= gene < len(levels):
            raise InvalidInput(f"A path names attribute {gene + 1}; there are {len(levels)}.")
        if levels[gene]:
            levels[gene] -= 1
            used.append(gene)
            utility = objective.utility(levels)
    return tuple(levels), used, utility >= c - SLACK


class _Walks:
    """Paths of one objective, repaired, with the risk of every node met so far."""

    def __init__(self, objective: Objective, c: float, rng: Generator) -> None:
        self.objective, self.c, self.rng = objective, c, rng
        self.steps = [
            [float(numbers[level - 1] - numbers[level]) if level else 0.0 for level in range(numbers.size)]
            for numbers in objective.utility_of_level
        ]
        self.at_top = objective.utility(objective.top)
        self.risk_of_node: dict[NodeLevels, float] = {}
        self.end_of_path: dict[tuple[int, ...], NodeLevels] = {}

    def repair(self, path: NodePath) -> NodePath:
        """The genes that do something, up to the first feasible node; random ones are added if it is never reached."""
        levels, kept, utility = list(self.objective.top), [], self.at_top
        enough = self.c - SLACK
        genes = iter(path)
        while utility < enough or not self.objective.is_feasible(levels, self.c):
            gene = next(genes, None)
            if gene is None:
                left = [i for i, level in enumerate(levels) if level]
                gene = left[int(self.rng.random() * len(left))]
            if levels[gene]:
                utility += self.steps[gene][levels[gene]]
                levels[gene] -= 1
                kept.append(gene)
                if utility < enough and utility > enough - 1e-9:  # running sums drift: decide plainly
                    utility = self.objective.utility(levels)
        self.end_of_path[tuple(kept)] = tuple(levels)
        return kept

    def end(self, path: NodePath) -> NodeLevels:
        """Where a repaired path ends."""
        return self.end_of_path[tuple(path)]

    def fitness(self, path: NodePath) -> float:
        """The risk of the node where a path ends: less is fitter."""
        node = self.end(path)
        if node not in self.risk_of_node:
            self.risk_of_node[node] = self.objective.risk(node)
        return self.risk_of_node[node]

    def poverty(self, path: NodePath) -> float:
        """The utility of the node where a path ends, negated."""
        return -self.objective.utility(self.end(path))
