# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_lagrangian.py
"""Minimum-norm point: the inner problem of the Lagrangian model for any real kappa from 1 on.

Paper       S. Fujishige, S. Isotani, "A Submodular Function Minimization Algorithm Based on the Minimum-Norm Base",
            Pacific Journal of Optimization 2011; P. Wolfe, "Finding the Nearest Point in a Polytope", 1976.
Implements  Wolfe's method on the base polytope of the function that `ring` extends to all subsets of levels.
Departs     The point is only as exact as floats are, so every set that it suggests, from the least coordinate up, is
            evaluated plainly and the best is taken.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Floats, Objective
from overt.errors import InvalidInput

MOST_STEPS = 5_000
PRECISION = 1e-10


@dataclass(frozen=True, eq=False)
class MinimumNorm:
    """The inner problem of one objective, by the minimum-norm point."""

    objective: Objective
    lam: float
    kappa: float

    @classmethod
    def of(cls, objective: Objective, lam: float, kappa: float) -> "MinimumNorm":
        """Refuse exponents for which the function is not supermodular."""
        if 0 < kappa < 1:
            raise InvalidInput(
                f"kappa is {kappa!r}; the minimum-norm point needs 0 or a number from 1 on, because below 1 the function "
                "is not supermodular. Use prefix sums."
            )
        return cls(objective, lam, kappa)

    def maximise(self, alpha: float, caps: NodeLevels) -> NodeLevels:
        """The element of the greatest inner value at no level above `caps`."""
        chains = LevelChains.of(self.objective, self.lam, self.kappa, alpha, caps)
        if not chains.attribute.size:
            return (0,) * len(caps)
        point = nearest_point(chains)
        levels, values = chains.values_along(np.argsort(point, kind="stable"))
        return tuple(int(level) for level in levels[int(np.argmax(values))])


@dataclass(frozen=True, eq=False)
class LevelChains:
    """The levels of all attributes as one set J, and the inner value as a function of its subsets.

    A subset stands for the highest level it has in every attribute, less a fine for each level below that it lacks. So
    extended the function stays supermodular, and what is greatest is a subset that lacks none.
    """

    objective: Objective
    lam: float
    kappa: float
    alpha: float
    attribute: NDArray[np.int64]  # (member of J)
    level: NDArray[np.int64]
    fine: Floats

    @classmethod
    def of(cls, objective: Objective, lam: float, kappa: float, alpha: float, caps: NodeLevels) -> "LevelChains":
        attribute = np.repeat(np.arange(len(caps)), caps)
        level = np.concatenate([np.arange(1, cap + 1) for cap in caps]).astype(np.int64)
        chains = cls(objective, lam, kappa, alpha, attribute, level, np.zeros(level.size))
        top = np.asarray(caps, np.int64)
        around = np.repeat(top[None, :], 2 * level.size, axis=0)  # (N_v, N_v + v) for every v
        around[0::2][np.arange(level.size), attribute] = level - 1
        around[1::2][np.arange(level.size), attribute] = level
        values = chains.values(around)
        fine = np.maximum(0, values[1::2] - values[0::2])
        return cls(objective, lam, kappa, alpha, attribute, level, fine)

    def values(self, levels: NDArray[np.int64]) -> Floats:
        """The inner value at each of some vectors of levels."""
        support = np.array([self.objective.support(row) for row in levels], np.float64)
        return self._value(levels, support)

    def values_along(self, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        """The levels and inner values as J is joined member by member, from nothing on."""
        n, k = order.size, self.objective.n_attributes
        levels = np.zeros((n + 1, k), np.int64)
        levels[np.arange(1, n + 1), self.attribute[order]] = self.level[order]
        levels = np.maximum.accumulate(levels, axis=0)
        # a profile is covered from the step on at which its last needed level is reached
        profiles, counts = self.objective.profiles, self.objective.counts
        since = np.zeros(counts.size, np.int64)
        for i in range(k):
            reached = np.searchsorted(levels[:, i], np.arange(int(profiles[:, i].max(initial=0)) + 1))
            np.maximum(since, reached[profiles[:, i]], out=since)
        support: Floats = np.cumsum(np.bincount(since, counts, minlength=n + 2)[: n + 1].astype(np.float64))
        return levels, self._value(levels, support)

    def vertex(self, order: NDArray[np.int64]) -> Floats:
        """Edmonds' greedy vertex of the base polytope of the negated, extended function."""
        levels, values = self.values_along(order)
        total_fine = np.zeros((self.objective.n_attributes, int(self.level.max()) + 1))
        total_fine[self.attribute, self.level] = self.fine
        total_fine = np.cumsum(total_fine, axis=1)
        due = total_fine[np.arange(levels.shape[1]), levels].sum(axis=1)  # fines of everything below the levels
        paid = np.append(0, np.cumsum(self.fine[order]))
        extended = values - (due - paid)
        vertex = np.empty(order.size)
        vertex[order] = -np.diff(extended)
        return vertex

    def _value(self, levels: NDArray[np.int64], support: Floats) -> Floats:
        one = self.objective
        phi, utility = np.full(len(levels), one.base), np.zeros(len(levels))
        for i in range(one.n_attributes):
            phi += one.weight_of_level[i][levels[:, i]]
            utility += one.utility_of_level[i][levels[:, i]]
        return self.lam * support + phi * utility**self.kappa - self.alpha * phi


def nearest_point(chains: LevelChains) -> Floats:
    """The point of least norm of the base polytope."""
    corners = [chains.vertex(np.arange(chains.level.size))]
    shares = np.ones(1)
    point = corners[0]
    for _ in range(MOST_STEPS):
        corner = chains.vertex(np.argsort(point, kind="stable"))
        scale = max(1.0, max(float(c @ c) for c in (*corners, corner)))
        if point @ point - point @ corner <= PRECISION * scale:
            return point
        corners.append(corner)
        shares = np.append(shares, 0.0)
        corners, shares = _into_the_hull(corners, shares)
        point = np.stack(corners, axis=1) @ shares
    return point


def _into_the_hull(corners: list[Floats], shares: Floats) -> tuple[list[Floats], Floats]:
    """Wolfe's minor cycle: the nearest point of the affine hull, or of a face if that lies outside."""
    while True:
        affine = _affine_minimiser(np.stack(corners, axis=1))
        if (affine > PRECISION).all() or len(corners) == 1:
            return corners, affine
        shrinking = affine <= PRECISION
        steps = shares[shrinking] / np.maximum(shares[shrinking] - affine[shrinking], 1e-300)
        step = min(1.0, float(steps.min()))
        shares = (1 - step) * shares + step * affine
        keep = shares > PRECISION
        if keep.all():
            keep[int(np.argmin(shares))] = False
        corners = [corner for corner, kept in zip(corners, keep, strict=True) if kept]
        shares = shares[keep] / shares[keep].sum()


def _affine_minimiser(points: Floats) -> Floats:
    """The factors, of sum 1, whose combination of the columns has least norm."""
    n = points.shape[1]
    scale = max(1.0, float(np.abs(points).max()))
    system = np.ones((n + 1, n + 1))
    system[0, 0] = 0
    system[1:, 1:] = (points / scale).T @ (points / scale)
    right = np.zeros(n + 1)
    right[0] = 1
    factors: Floats = np.linalg.lstsq(system, right, rcond=None)[0][1:]
    return factors
