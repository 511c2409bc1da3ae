# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1: a threshold optimum by linear programmes and randomised rounding, for records with many attributes.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.4, Algorithm 1: layers of weight, the Lovasz extension, randomised rounding.
Departs     The extension of the support is written out, so that problem (5) is a linear programme (OR-Tools, the extra
            `flow`). Records that no feasible element covers are left out first, and every level set of a solution is
            looked at, which no random rounding can better; `as_published` does neither, and limits its tries.
Guarantee   A utility of at least sigma1 times what was asked for. None about the risk: Theorem 3 takes an expectation
            over roundings that its loop then rejects, and is false (a test has the counterexample).
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import SLACK, Floats, Objective, Optimum
from overt.algorithms.record.threshold import require_reachable
from overt.errors import InvalidInput, MissingExtra
from overt.progress import Progress, silent

STAGE = "Solving linear programmes"
MOST_TRIES = 200

Point = Sequence[Floats]  # (attribute)(level - 1): falling from at most 1 to at least 0


@dataclass(frozen=True)
class Approximation:
    """The parameters of Algorithm 1.

    Parameters
    ----------
    epsilon
        The ratio between two layers of weight is 1 + epsilon.
    sigma1, sigma2
        A rounded element may have sigma1 times the utility that was asked for, and sigma2 times the layer's weight;
        without sigma2, twice the least that the condition of the paper allows.
    as_published
        Leave out what is ours: dropping hopeless records, and looking at every level set.

    """

    epsilon: float = 0.1
    sigma1: float = 0.9
    sigma2: float | None = None
    as_published: bool = False

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InvalidInput(f"epsilon is {self.epsilon!r}; a number above 0 is expected.")
        if not 0 < self.sigma1 < 1:
            raise InvalidInput(f"sigma1 is {self.sigma1!r}; a number between 0 and 1 is expected.")
        if self.sigma2 is not None and not self.sigma2 > 1:
            raise InvalidInput(f"sigma2 is {self.sigma2!r}; a number above 1 is expected.")

    def least_risk(self, objective: Objective, c: float, *, rng: Generator, on_progress: Progress = silent) -> Optimum:
        """An element of low risk whose utility is at least sigma1 * c."""
        require_reachable(objective, c)
        name = "approximation"
        if objective.is_feasible(objective.top, c):
            return objective.optimum(objective.top, name, 1)
        sigma2 = self.sigma2_for(c / objective.utility(objective.bottom))
        if objective.phi(objective.bottom) == 0:
            return objective.optimum(objective.bottom, name, 1)
        programme = _Programme(objective, c, keep_all=self.as_published)
        tried: dict[NodeLevels, float] = {}
        layers = self.layers(objective)
        for done, tau in enumerate(layers):
            on_progress(STAGE, done, len(layers))
            point = programme.solve(tau)
            if point is None:
                continue
            for levels in self.roundings(point, rng):
                if self.accepts(objective, levels, c, sigma2 * tau):
                    tried.setdefault(levels, objective.risk(levels))
                    if self.as_published:
                        break
        best = min(tried or {objective.bottom: 0.0}, key=lambda levels: (tried.get(levels, 0.0), levels))
        return objective.optimum(best, name, max(1, len(tried)))

    def sigma2_for(self, theta: float) -> float:
        """sigma2, if with it a rounding is accepted with a probability above zero; theta is the share of utility kept."""
        share = theta * (1 - self.sigma1) / (1 - theta * self.sigma1)  # 1 - (1 - theta) / (1 - theta sigma1)
        if self.sigma2 is None:
            return 2 / share
        if not 1 / self.sigma2 < share:
            raise InvalidInput(
                f"sigma1 = {self.sigma1:g} and sigma2 = {self.sigma2:g} are too strict for a threshold of {theta:.3g} of the "
                "record's utility: (1 - theta) / (1 - theta sigma1) + 1 / sigma2 must be below 1. Lower sigma1 or raise sigma2."
            )
        return self.sigma2

    def layers(self, objective: Objective) -> list[float]:
        """tau_j: from the least weight above zero, each 1 + epsilon times the one before, to the greatest."""
        least, greatest = least_positive_phi(objective), objective.phi(objective.bottom)
        n_layers = math.ceil(math.log(greatest / least) / math.log1p(self.epsilon) - 1e-9)
        return [least * (1 + self.epsilon) ** j for j in range(n_layers + 1)]

    def roundings(self, point: Point, rng: Generator) -> Iterator[NodeLevels]:
        """Random level sets as the paper draws them, or (ours) every level set there is: then none is missed."""
        if self.as_published:
            yield from (round_at(point, theta) for theta in rng.random(MOST_TRIES))
        else:
            yield from (levels for levels, _ in rounding_law(point))

    def accepts(self, objective: Objective, levels: NodeLevels, c: float, most: float) -> bool:
        """Whether a rounded element keeps enough utility and little enough weight."""
        return objective.is_feasible(levels, self.sigma1 * c) and objective.phi(levels) <= most + SLACK


def least_positive_phi(objective: Objective) -> float:
    """The least weight above zero of any element."""
    at_top = objective.phi(objective.top)
    if at_top > 0:
        return at_top
    return min(float(weights[weights > 0].min()) for weights in objective.weight_of_level if weights[0] > 0)


def round_at(point: Point, theta: float) -> NodeLevels:
    """The level set {chi > theta} of a point, as levels."""
    return tuple(int((chain > theta).sum()) for chain in point)


def rounding_law(point: Point) -> list[tuple[NodeLevels, float]]:
    """The law of the randomly rounded levels, theta being uniform in [0, 1).

    >>> rounding_law([np.array([0.652, 0.061])])
    [((0,), 0.348), ((1,), 0.591), ((2,), 0.061)]
    """
    require_point(point)
    cuts = np.unique(np.concatenate([*point, [0.0, 1.0]]))
    law = [(round_at(point, low), float(high - low)) for low, high in itertools.pairwise(cuts)]
    return sorted((levels, round(p, 15)) for levels, p in law)


def extended_support(point: Point, profiles: NDArray[np.integer], counts: NDArray[np.integer]) -> float:
    """The Lovasz extension of the support: every profile counts as much as the least level it needs is chosen."""
    require_point(point)
    total = 0.0
    for profile, count in zip(profiles, counts, strict=True):
        total += int(count) * min((float(point[i][p - 1]) for i, p in enumerate(profile) if p > 0), default=1.0)
    return total


def require_point(point: Point) -> None:
    """Refuse what is no point of the order polytope."""
    for chain in point:
        around = np.concatenate([[1.0], chain, [0.0]])
        if not np.isfinite(around).all() or (np.diff(around) > SLACK).any():
            raise InvalidInput("A point to round must fall from at most 1 to at least 0 along every chain.")


class _Programme:
    """Problem (5) for one objective: only the bound on the weight changes from layer to layer."""

    def __init__(self, objective: Objective, c: float, *, keep_all: bool) -> None:
        self.objective = objective
        self.solver = linear_solver()
        infinity = self.solver.infinity()
        self.chi = [
            [self.solver.NumVar(0, 1, "") for _ in range(height)] for height in objective.heights
        ]  # (attribute)(level - 1)
        for chain in self.chi:
            for below, above in itertools.pairwise(chain):
                self.solver.Add(above <= below)
        self.bound = self._affine(objective.weight_of_level, -infinity, 0)
        least = c - objective.utility(objective.bottom)
        self._affine(objective.utility_of_level, least, infinity)
        gain = self.solver.Objective()
        gain.SetMaximization()
        for profile, count in zip(objective.profiles, objective.counts, strict=True):
            if keep_all or objective.is_feasible(profile, c):  # else no feasible element covers it
                self._add_profile(profile, int(count), gain)

    def solve(self, tau: float) -> list[Floats] | None:
        """An optimal point with a weight of at most tau; None if there is none."""
        self.bound.SetUb(tau - self.objective.phi(self.objective.bottom))
        if self.solver.Solve() != self.solver.OPTIMAL:
            return None
        return [
            np.minimum.accumulate(np.clip([v.solution_value() for v in chain], 0, 1)) if chain else np.empty(0)
            for chain in self.chi
        ]

    def _affine(self, chains: tuple[Floats, ...], least: float, most: float) -> Any:
        """Least <= change of a modular function from the bottom <= most."""
        row = self.solver.Constraint(least, most)
        for variables, numbers in zip(self.chi, chains, strict=True):
            for variable, step in zip(variables, np.diff(numbers), strict=True):
                row.SetCoefficient(variable, float(step))
        return row

    def _add_profile(self, profile: NDArray[np.integer], count: int, gain: Any) -> None:
        covered = self.solver.NumVar(0, 1, "")
        gain.SetCoefficient(covered, float(count))
        for i, level in enumerate(profile):
            if level > 0:
                self.solver.Add(covered <= self.chi[i][level - 1])


def linear_solver() -> Any:
    """An empty linear programme, or the error that says what to install."""
    try:
        from ortools.linear_solver import pywraplp
    except ImportError:
        raise MissingExtra("Linear programmes need OR-Tools; install it with `pip install overt[flow]`.") from None
    return pywraplp.Solver.CreateSolver("GLOP")
