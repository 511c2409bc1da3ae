# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_plane.py
"""Prefix sums: support, weight and utility at every generalization of a record at once.

Counting the profiles into an array with one axis per attribute and summing along each axis gives, at every vector of
levels, how many records need no more anywhere: the support. Both models are then read off, for any kappa.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import SLACK, Counts, Floats, Objective, risk_of
from overt.errors import TooLarge
from overt.kernels import profiles as kernels

MOST_ELEMENTS = 20_000_000


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Every generalization of a record, in C order of its levels."""

    objective: Objective
    support: Counts = field(repr=False)
    phi: Floats = field(repr=False)
    utility: Floats = field(repr=False)

    @classmethod
    def of(cls, objective: Objective) -> "WholeTable":
        """Compute all of them, or refuse if they are too many."""
        if objective.n_elements > MOST_ELEMENTS:
            raise TooLarge(
                f"The record has {objective.n_elements:,} generalizations and at most {MOST_ELEMENTS:,} are enumerated; "
                "use cuts or the minimum-norm point for the Lagrangian model, and the genetic search for a threshold."
            )
        sizes = objective.sizes
        strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        support = np.zeros(objective.n_elements, np.int64)
        support[objective.profiles @ strides] = objective.counts  # profiles are distinct
        kernels.accumulate(support, sizes)
        weights, utilities = _padded(objective.weight_of_level), _padded(objective.utility_of_level)
        phi = kernels.add_outer(weights, sizes, objective.base)
        return cls(objective, support, phi, kernels.add_outer(utilities, sizes, 0.0))

    @property
    def n_elements(self) -> int:
        return self.support.size

    @property
    def risk(self) -> Floats:
        return risk_of(self.phi, self.support)

    @property
    def levels(self) -> NDArray[np.int64]:
        """(element, attribute) -> level."""
        return np.stack(np.unravel_index(np.arange(self.n_elements), tuple(self.objective.sizes)), axis=1)

    def levels_at(self, place: int) -> NodeLevels:
        """The levels of one element."""
        return tuple(int(level) for level in np.unravel_index(place, tuple(self.objective.sizes)))

    def is_feasible(self, c: float) -> NDArray[np.bool_]:
        """(element) -> whether its utility is at least c."""
        return self.utility >= c - SLACK

    def is_frontier(self, c: float) -> NDArray[np.bool_]:
        """(element) -> whether it is feasible and an immediate generalization of it is not; or the feasible top."""
        feasible = self.is_feasible(c).reshape(self.objective.sizes)
        frontier = np.zeros_like(feasible)
        for axis in range(feasible.ndim):
            lower = tuple(slice(0, -1) if a == axis else slice(None) for a in range(feasible.ndim))
            upper = tuple(slice(1, None) if a == axis else slice(None) for a in range(feasible.ndim))
            frontier[lower] |= feasible[lower] & ~feasible[upper]
        frontier.reshape(-1)[-1] |= feasible.reshape(-1)[-1]
        return frontier.reshape(-1)

    def least_risk(self, c: float) -> NodeLevels | None:
        """The feasible element of least risk; of equals that of most utility, of those the first. None: none feasible."""
        place = kernels.least_risk(self.support, self.phi, self.utility, c - SLACK)
        return None if place < 0 else self.levels_at(place)

    def best_balance(self, lam: float, kappa: float) -> NodeLevels | None:
        """The element of the greatest Lagrangian, of equals that of least risk. None: every weight is zero."""
        place = kernels.best_balance(self.support, self.phi, self.utility, float(lam), float(kappa))
        return None if place < 0 else self.levels_at(place)

    def best_difference(self, lam: float, kappa: float, alpha: float) -> NodeLevels | None:
        """The element of the greatest lam * support + phi * utility ** kappa - alpha * phi with phi > 0."""
        args = float(lam), float(kappa), float(alpha)
        place = kernels.best_difference(self.support, self.phi, self.utility, *args)
        return None if place < 0 else self.levels_at(place)


def _padded(chains: tuple[Floats, ...]) -> Floats:
    padded = np.zeros((len(chains), max(numbers.size for numbers in chains)))
    for row, numbers in zip(padded, chains, strict=True):
        row[: numbers.size] = numbers
    return padded
