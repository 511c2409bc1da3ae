# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_lagrangian.py
"""Ring family: the paper's own way to the Lagrangian optimum, as the reference that faster ways are compared with.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.3.3: a function of levels as a function of sets, extended to all sets of join-irreducible elements;
            Theorem 2: bisection on alpha.
Departs     Misprints are mended: S(x) holds the levels at or below those of x, and N_v is the largest set of the family
            without v. Subsets are enumerated, where the paper would call a general method for submodular functions.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from overt.algorithms.record.lagrangian import regions_with_weight, require_parameters
from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Objective, Optimum
from overt.errors import TooLarge

MOST_MEMBERS = 16

Member = tuple[int, int]  # (attribute, level), a level from 1 on


@dataclass(frozen=True, eq=False)
class RingFamily:
    """A function g of the vectors of levels up to `heights`, as a function of sets of (attribute, level)."""

    heights: NodeLevels
    g: Callable[[NodeLevels], float]

    @property
    def members(self) -> list[Member]:
        """J: every level but 0 of every attribute."""
        return [(i, s) for i, height in enumerate(self.heights) for s in range(1, height + 1)]

    def closure(self, subset: frozenset[Member]) -> NodeLevels:
        """The levels of the smallest set of the family that holds a subset."""
        return tuple(max((s for j, s in subset if j == i), default=0) for i in range(len(self.heights)))

    def without(self, member: Member) -> NodeLevels:
        """N_v: the levels of the largest set of the family without a member."""
        return tuple(member[1] - 1 if i == member[0] else height for i, height in enumerate(self.heights))

    def fine(self, member: Member) -> float:
        """c(v): what v adds to the largest set without it, if that is anything."""
        without = self.without(member)
        joined = tuple(max(level, member[1]) if i == member[0] else level for i, level in enumerate(without))
        return max(0, self.g(joined) - self.g(without))

    def fines(self) -> dict[Member, float]:
        """C of every member."""
        return {member: self.fine(member) for member in self.members}

    def extended(self, subset: frozenset[Member], fines: Mapping[Member, float]) -> float:
        """gbar: g of the closure, less the fines of what the closure adds."""
        levels = self.closure(subset)
        added = [(i, s) for i, level in enumerate(levels) for s in range(1, level + 1) if (i, s) not in subset]
        return self.g(levels) - sum(fines[member] for member in added)

    def subsets(self) -> Iterator[frozenset[Member]]:
        """Every subset of J, the smaller ones first."""
        members = self.members
        if len(members) > MOST_MEMBERS:
            raise TooLarge(
                f"The record has {len(members)} levels and the reference enumerates subsets of at most {MOST_MEMBERS}; "
                "use cuts, prefix sums or the minimum-norm point."
            )
        for size in range(len(members) + 1):
            yield from map(frozenset, itertools.combinations(members, size))

    def is_supermodular(self) -> bool:
        """Whether gbar is supermodular: no two members help each other less together than apart."""
        fines = self.fines()
        value = {subset: self.extended(subset, fines) for subset in self.subsets()}
        for subset, here in value.items():
            rest = [member for member in self.members if member not in subset]
            for one, other in itertools.combinations(rest, 2):
                both = value[subset | {one, other}] + here
                if both < value[subset | {one}] + value[subset | {other}] - 1e-9 * max(1.0, abs(both)):
                    return False
        return True

    def maximise(self) -> NodeLevels:
        """The closure of a greatest subset, which is greatest itself."""
        fines = self.fines()
        return self.closure(max(self.subsets(), key=lambda subset: self.extended(subset, fines)))


def bisect(objective: Objective, lam: float, kappa: float, *, precision: float = 1e-12) -> Optimum:
    """Theorem 2: halve an interval around the greatest balance until it is as small as `precision` asks, relatively."""
    require_parameters(lam, kappa)
    regions = regions_with_weight(objective)
    best = max(regions, key=lambda levels: objective.balance(levels, lam, kappa))
    low = objective.balance(best, lam, kappa)
    least_phi = min(objective.phi(caps) for caps in regions)
    high = lam * objective.support(objective.top) / least_phi + objective.utility(objective.bottom) ** kappa
    n_solved = 0
    while high - low > precision * max(1.0, abs(high)):
        alpha = (low + high) / 2
        if not low < alpha < high:
            break
        found = max(
            (_maximise(objective, lam, kappa, alpha, caps) for caps in regions),
            key=lambda levels: objective.difference(levels, lam, kappa, alpha),
        )
        n_solved += len(regions)
        value = objective.balance(found, lam, kappa)
        if value > low:
            best, low = found, value
        if objective.difference(found, lam, kappa, alpha) < 0:
            high = alpha
    return objective.optimum(best, "bisection", n_solved, objective.balance(best, lam, kappa))


def _maximise(objective: Objective, lam: float, kappa: float, alpha: float, caps: NodeLevels) -> NodeLevels:
    return RingFamily(caps, lambda levels: objective.difference(levels, lam, kappa, alpha)).maximise()
