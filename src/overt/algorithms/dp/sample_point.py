# SPDX-License-Identifier: Apache-2.0
"""Algorithm 4, Sample-Point: a random generalization of a record that has too many of them to list.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 3.4: layers of weight, a log-concave density on the convex body of a layer, randomised rounding until
            the element is frequent enough.
Departs     Layers are counted from the least weight phi_l, which the print forgets, and one is chosen among those whose
            body is not empty. The paper cites samplers with polynomial bounds; here a hit-and-run walk of a fixed length
            starts in the middle of the body, and along its chord a slice is sampled, in which the bound on the support
            needs no search of its own. A body without an inside is replaced by its middle. The published bound on the
            number of roundings, (1 - theta sigma) / (1 - theta), is wrong; it is (1 - theta sigma) / (theta (1 - sigma)).
Guarantee   None. What comes out does not follow the exponential law, is sigma t-frequent only, and depends on every
            single record of the database as that of Algorithm 3 does (docs/research/published-dp.md).
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.record.approx import linear_solver, round_at, rounding_law
from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Floats, Objective
from overt.errors import InvalidInput, Unreachable

_SLACK = 1e-9
_N_STEPS = 100  # of the walk, for each point
_N_POINTS = 10_000  # for a law


@dataclass(frozen=True, kw_only=True)
class SamplePoint:
    """The parameters of Algorithm 4.

    Parameters
    ----------
    lam, kappa
        Of the Lagrangian.
    size
        Records of the database; the profiles of an objective are theirs.
    epsilon_prime, epsilon_second
        The sharpness of the choice, and the ratio between two layers of weight less 1.
    phi_l
        The least weight of any element.
    t, sigma
        The body holds points that are t-frequent in the mean; a rounded element is sigma t-frequent.

    """

    lam: float
    kappa: float
    size: int
    epsilon_prime: float
    epsilon_second: float
    phi_l: float
    t: float
    sigma: float

    def __post_init__(self) -> None:
        for name, number in (("lambda", self.lam), ("kappa", self.kappa), ("epsilon'", self.epsilon_prime)):
            if not (math.isfinite(number) and number >= 0):
                raise InvalidInput(f"{name} is {number!r}; a finite number of at least 0 is expected.")
        if 0 < self.kappa < 1:
            raise InvalidInput(f"kappa is {self.kappa!r}; the density is log-concave for 0 and from 1 on.")
        for name, number in (("epsilon''", self.epsilon_second), ("sigma", self.sigma)):
            if not 0 < number < 1:
                raise InvalidInput(f"{name} is {number!r}; a number between 0 and 1 is expected.")
        if not (math.isfinite(self.phi_l) and self.phi_l > 0):
            raise InvalidInput(
                f"The least weight of an element is {self.phi_l!r}, and layers begin there; use risk model II, or a base."
            )
        if not 0 < self.t <= self.size:
            raise InvalidInput(f"t is {self.t!r}; a number above 0 and up to the {self.size:,} records is expected.")

    def n_layers(self, phi_u: float) -> int:
        """U + 1, for a greatest weight of phi_u."""
        return math.ceil(math.log(max(1.0, phi_u / self.phi_l)) / math.log1p(self.epsilon_second) - _SLACK) + 1

    def draw(self, objective: Objective, n: int, *, rng: Generator) -> list[NodeLevels]:
        """Draw n generalizations of a record, each with a layer of its own."""
        bodies = self.bodies(objective)
        chosen = rng.integers(0, len(bodies), n)
        drawn: list[NodeLevels] = [()] * n
        for b, body in enumerate(bodies):
            rows = np.flatnonzero(chosen == b)
            if rows.size:
                for row, point in zip(rows, body.walk(rows.size, rng), strict=True):
                    drawn[row] = self.rounded(objective, body.chains(point), rng)
        return drawn

    def law(
        self, objective: Objective, layer: int, *, rng: Generator, n_points: int = _N_POINTS
    ) -> list[tuple[NodeLevels, float]] | None:
        """The law of the element that is returned, given its layer; None if the body of the layer is empty.

        The points of the body are sampled. What comes of a point by rounding is computed.
        """
        body = Body.of(self, objective, layer)
        if body is None:
            return None
        law: dict[NodeLevels, float] = defaultdict(float)
        for point in body.walk(n_points, rng):
            accepted = [one for one in rounding_law(body.chains(point)) if self.accepts(objective, one[0])]
            total = math.fsum(p for _, p in accepted)
            for levels, p in accepted:
                law[levels] += p / total / n_points
        return sorted(law.items())

    def bodies(self, objective: Objective) -> list["Body"]:
        """The bodies of all layers that are not empty."""
        n_layers = self.n_layers(objective.phi(objective.bottom))
        found = [body for layer in range(n_layers) if (body := Body.of(self, objective, layer)) is not None]
        if not found:
            raise Unreachable("No layer of a record holds anything frequent enough; lower t.")
        return found

    def rounded(self, objective: Objective, chains: list[Floats], rng: Generator) -> NodeLevels:
        """Round at random until the element is frequent enough."""
        while True:
            levels = round_at(chains, rng.random())
            if self.accepts(objective, levels):
                return levels

    def accepts(self, objective: Objective, levels: NodeLevels) -> bool:
        """Whether an element is sigma t-frequent."""
        return objective.support(levels) >= self.sigma * self.t - _SLACK


@dataclass(frozen=True, eq=False)
class Body:
    """The points of the order polytope in a layer of weight whose extended support is at least t."""

    sampler: SamplePoint
    objective: Objective
    least: float  # of the extended weight
    most: float
    middle: Floats
    has_inside: bool

    @classmethod
    def of(cls, sampler: SamplePoint, objective: Objective, layer: int) -> "Body | None":
        """The body of a layer; None if it is empty."""
        least = sampler.phi_l * (1 + sampler.epsilon_second) ** layer
        most = least * (1 + sampler.epsilon_second)
        found = _middle(objective, least, most, sampler.t)
        return None if found is None else cls(sampler, objective, least, most, *found)

    @cached_property
    def attribute(self) -> NDArray[np.int64]:
        """(coordinate) -> attribute; the coordinates of a chain are levels 1 to its height."""
        return np.repeat(np.arange(self.objective.n_attributes), self.objective.heights)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        return np.append(0, np.cumsum(self.objective.heights))

    @cached_property
    def weight_steps(self) -> Floats:
        """(coordinate) -> how much weight is lost by rising to its level."""
        return -np.concatenate([np.diff(chain) for chain in self.objective.weight_of_level])

    @cached_property
    def utility_steps(self) -> Floats:
        return -np.concatenate([np.diff(chain) for chain in self.objective.utility_of_level])

    @cached_property
    def needed(self) -> NDArray[np.int64]:
        """(profile, attribute) -> the coordinate a profile needs, or one beyond the last, which is always 1."""
        profiles = self.objective.profiles
        beyond = self.middle.size
        return np.where(profiles > 0, self.starts[:-1] + profiles - 1, beyond)

    def chains(self, point: Floats) -> list[Floats]:
        """A point as one falling chain per attribute."""
        return [np.minimum.accumulate(np.clip(one, 0, 1)) if one.size else one for one in self._split(point)]

    def _split(self, point: Floats) -> list[Floats]:
        return [point[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def support(self, points: Floats) -> Floats:
        """(point) -> the Lovasz extension of the support."""
        padded = np.concatenate([points, np.ones((len(points), 1))], axis=1)
        return padded[:, self.needed].min(axis=2) @ self.objective.counts.astype(np.float64)

    def exponent(self, points: Floats) -> Floats:
        """(point) -> the Lovasz extension of Psi, or -inf outside the body."""
        order = np.argsort(-points, axis=1, kind="stable")
        chi = np.take_along_axis(points, order, axis=1)
        edges = np.concatenate([np.ones((len(points), 1)), chi, np.zeros((len(points), 1))], axis=1)
        lengths = -np.diff(edges, axis=1)  # of theta, for each level set from the lowest element on
        phi = self.objective.phi(self.objective.bottom) - _prefix_sums(self.weight_steps[order])
        utility = self.objective.utility(self.objective.bottom) - _prefix_sums(self.utility_steps[order])
        support = self.support(points)
        values = self.sampler.lam * support + (lengths * phi * np.maximum(utility, 0) ** self.sampler.kappa).sum(axis=1)
        inside = support >= self.sampler.t - _SLACK
        scale = self.sampler.epsilon_prime / (self.sampler.size * self.least)
        return np.where(inside, scale * values, -np.inf)

    def walk(self, n: int, rng: Generator, n_steps: int = _N_STEPS) -> Floats:
        """The ends of n hit-and-run walks from the middle of the body: (walk, coordinate)."""
        points = np.tile(self.middle, (n, 1))
        if not self.has_inside:
            return points
        for _ in range(n_steps):
            directions = rng.normal(size=points.shape)
            low, high = self._chord(points, directions)
            level = self.exponent(points) + np.log1p(-rng.random(n))  # a slice under the density
            waiting = np.arange(n)
            while waiting.size:
                step = low[waiting] + (high[waiting] - low[waiting]) * rng.random(waiting.size)
                tried = points[waiting] + step[:, None] * directions[waiting]
                fits = self.exponent(tried) >= level[waiting]
                points[waiting[fits]] = tried[fits]
                waiting, step = waiting[~fits], step[~fits]
                low[waiting] = np.where(step < 0, step, low[waiting])
                high[waiting] = np.where(step > 0, step, high[waiting])
        return points

    def _chord(self, points: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """How far each point may go backwards and forwards within the chains and the layer."""
        low, high = np.full(len(points), -np.inf), np.full(len(points), np.inf)
        for room, slope in self._rooms(points, directions):
            reach = np.divide(room, slope, out=np.full_like(room, np.inf), where=slope != 0)
            high = np.where(slope > 0, np.minimum(high, reach), high)
            low = np.where(slope < 0, np.maximum(low, reach), low)
        return np.minimum(low, 0), np.maximum(high, 0)

    def _rooms(self, points: Floats, directions: Floats) -> Iterator[tuple[Floats, Floats]]:
        """For every linear constraint: the room that is left, and how fast a direction uses it up."""
        for a, b in zip(self.starts[:-1], self.starts[1:], strict=True):
            if a == b:
                continue
            yield 1 - points[:, a], directions[:, a]
            yield points[:, b - 1], -directions[:, b - 1]
            for j in range(a, b - 1):
                yield points[:, j] - points[:, j + 1], directions[:, j + 1] - directions[:, j]
        phi = self.objective.phi(self.objective.bottom) - points @ self.weight_steps
        slope = directions @ self.weight_steps
        yield phi - self.least, slope
        yield self.most - phi, -slope


def _prefix_sums(numbers: Floats) -> Floats:
    return np.concatenate([np.zeros((len(numbers), 1)), np.cumsum(numbers, axis=1)], axis=1)


def _middle(objective: Objective, least: float, most: float, t: float) -> tuple[Floats, bool] | None:
    """The point of a body that is farthest from all of its sides, and whether that is any distance; None: it is empty."""
    solver = linear_solver()
    infinity = solver.infinity()
    margin = solver.NumVar(0, 1, "")
    chi = [[solver.NumVar(0, 1, "") for _ in range(height)] for height in objective.heights]
    for chain in chi:
        for below, above in zip([1.0, *chain], [*chain, 0.0], strict=True):
            solver.Add(above + margin <= below)
    bottom = objective.phi(objective.bottom)
    spread = max(most - least, _SLACK)
    for low, high, side in ((least - bottom, infinity, -1), (-infinity, most - bottom, 1)):
        row = solver.Constraint(low, high)
        row.SetCoefficient(margin, side * spread / 2)
        for variables, numbers in zip(chi, objective.weight_of_level, strict=True):
            for variable, step in zip(variables, np.diff(numbers), strict=True):
                row.SetCoefficient(variable, float(step))
    covered = solver.Constraint(t, infinity)
    covered.SetCoefficient(margin, -float(objective.counts.sum()) / 2)
    for profile, count in zip(objective.profiles, objective.counts, strict=True):
        share = solver.NumVar(0, 1, "")
        covered.SetCoefficient(share, float(count))
        for i, level in enumerate(profile):
            if level > 0:
                solver.Add(share <= chi[i][level - 1])
    solver.Maximize(margin)
    if solver.Solve() != solver.OPTIMAL:
        return None
    middle = np.array([variable.solution_value() for chain in chi for variable in chain])
    return np.clip(middle, 0, 1), bool(margin.solution_value() > _SLACK)
