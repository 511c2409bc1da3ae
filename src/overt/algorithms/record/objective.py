# SPDX-License-Identifier: Apache-2.0
"""Objective: what every generalization of one record risks and is worth. Optimum: the one that was chosen.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.1.2: utility, and risk against an external database; section 2.3.2: the Lagrangian.
Departs     No weight is no risk, and weight without a single fitting record is an infinite one: the paper leaves both
            open. An element of weight 0 has no Lagrangian and is left out of that model.

Numbers are floats and records are counted in integers; a value that is reported is computed plainly at its element.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeLevels, Nodes, chain_above, n_elements, needed_levels, number_rows
from overt.algorithms.record.risks import RiskModel, require_weights
from overt.algorithms.record.utilities import NodeUtility
from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy
from overt.kernels.profiles import count_covered

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

SLACK = 1e-12  # a utility this little below what is required is enough: sums of floats are not exact


@dataclass(frozen=True)
class Optimum:
    """The generalization that was chosen, and what it comes to."""

    levels: NodeLevels  # (attribute) -> steps up from the record's own value
    risk: float
    utility: float
    support: int  # how many records of the external database fit
    value: float  # of what was optimised: the risk, or the Lagrangian
    solver: str  # how it was found
    n_looked_at: int  # elements evaluated, or cuts made


@dataclass(frozen=True, eq=False)
class Objective:
    """Utilities and weights along the chains of one record, and the profiles of the external database.

    >>> ends = np.array([1.0, 0.0])
    >>> one = Objective((ends, ends), (ends, ends), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
    >>> one.support((0, 1)), one.risk((0, 1)), one.utility((0, 1))
    (4, 0.25, 1.0)
    """

    utility_of_level: tuple[Floats, ...]  # (attribute)(level)
    weight_of_level: tuple[Floats, ...]
    profiles: Nodes = field(repr=False)  # (profile, attribute) -> needed level
    counts: Counts = field(repr=False)  # (profile) -> records
    base: float = 0.0

    def __post_init__(self) -> None:
        if not self.counts.sum() > 0:
            raise InvalidInput(
                "The external database is empty, so there is no risk to speak of; give at least one record."
            )
        sizes = [numbers.size for numbers in self.utility_of_level]
        if not sizes or sizes != [numbers.size for numbers in self.weight_of_level]:
            raise InvalidInput("Utilities and weights must be given for the same chains, at least one.")
        if self.profiles.shape != (self.counts.size, len(sizes)):
            raise InvalidInput(f"Profiles of shape {self.profiles.shape} do not fit {len(sizes)} attributes.")
        for what, chains in (("utility", self.utility_of_level), ("weight", self.weight_of_level)):
            for numbers in chains:
                if not np.isfinite(numbers).all() or (numbers < 0).any():
                    raise InvalidInput(f"A {what} is negative or not finite; give numbers of at least 0.")
                if (np.diff(numbers) > 0).any():
                    raise InvalidInput(
                        f"A {what} grows upwards; a generalization must not have more than what it covers."
                    )
        require_weights((self.base,))

    @classmethod
    def of(
        cls,
        trees: Sequence[Hierarchy],
        record: Sequence[int] | Nodes,
        external: Nodes,
        utility: NodeUtility,
        risk: RiskModel,
        personal: Sequence[float] | Floats | None = None,
    ) -> "Objective":
        """The objective of one record: its nodes, those of the external records, and its personal factors."""
        if len(record) != len(trees) or external.ndim != 2 or external.shape[1] != len(trees):
            raise InvalidInput(f"A record and the external records need one node for each of {len(trees)} hierarchies.")
        factors = np.ones(len(trees)) if personal is None else np.asarray(personal, np.float64)
        require_weights(factors)
        chains = [chain_above(tree, int(node)) for tree, node in zip(trees, record, strict=True)]
        worth, weight = utility.of_nodes(trees), risk.of_nodes(trees)
        needed = [needed_levels(t, int(a))[external[:, j]] for j, (t, a) in enumerate(zip(trees, record, strict=True))]
        profiles, counts = distinct_profiles(needed, [len(chain) for chain in chains])
        return cls(
            tuple(numbers[chain] for numbers, chain in zip(worth, chains, strict=True)),
            tuple(numbers[chain] * factor for numbers, chain, factor in zip(weight, chains, factors, strict=True)),
            profiles,
            counts,
            risk.base,
        )

    @property
    def n_attributes(self) -> int:
        return len(self.utility_of_level)

    @cached_property
    def heights(self) -> NodeLevels:
        """(attribute) -> steps from the record's value to the root."""
        return tuple(numbers.size - 1 for numbers in self.utility_of_level)

    @cached_property
    def n_elements(self) -> int:
        return n_elements(self.heights)

    @property
    def bottom(self) -> NodeLevels:
        return (0,) * self.n_attributes

    @property
    def top(self) -> NodeLevels:
        return self.heights

    @cached_property
    def sizes(self) -> Counts:
        return np.array([height + 1 for height in self.heights], np.int64)

    def support(self, levels: Sequence[int]) -> int:
        """How many external records fit."""
        return int(count_covered(self.profiles, self.counts, np.asarray(levels, np.int64)))

    def utility(self, levels: Sequence[int]) -> float:
        """The sum of utilities, attribute after attribute."""
        total = 0.0
        for numbers, level in zip(self.utility_of_level, levels, strict=True):
            total += float(numbers[level])
        return total

    def phi(self, levels: Sequence[int]) -> float:
        """The sum of weights, attribute after attribute, from the base on."""
        total = self.base
        for numbers, level in zip(self.weight_of_level, levels, strict=True):
            total += float(numbers[level])
        return total

    def risk(self, levels: Sequence[int]) -> float:
        """Phi over the number of records that fit."""
        phi, support = self.phi(levels), self.support(levels)
        if phi == 0:
            return 0.0
        return phi / support if support else math.inf

    def balance(self, levels: Sequence[int], lam: float, kappa: float) -> float:
        """The Lagrangian lam / risk + utility ** kappa of an element whose weight is not 0."""
        return lam * (self.support(levels) / self.phi(levels)) + power(self.utility(levels), kappa)

    def difference(self, levels: Sequence[int], lam: float, kappa: float, alpha: float) -> float:
        """Lam * support + phi * utility ** kappa - alpha * phi: at least 0 where the Lagrangian is at least alpha."""
        phi = self.phi(levels)
        return lam * self.support(levels) + phi * power(self.utility(levels), kappa) - alpha * phi

    def is_feasible(self, levels: Sequence[int], c: float) -> bool:
        """Whether the utility is at least c."""
        return self.utility(levels) >= c - SLACK

    def optimum(self, levels: Sequence[int], solver: str, n_looked_at: int, value: float | None = None) -> Optimum:
        """What was chosen, with its numbers computed afresh."""
        chosen = tuple(int(level) for level in levels)
        risk = self.risk(chosen)
        support, value = self.support(chosen), risk if value is None else value
        return Optimum(chosen, risk, self.utility(chosen), support, value, solver, n_looked_at)


def power(utility: float, kappa: float) -> float:
    """NodeUtility ** kappa, with 0 ** 0 = 1."""
    return float(utility**kappa)


def risk_of(phi: Floats, support: Counts) -> Floats:
    """Phi over support; nothing where phi is 0, infinite where only support is."""
    risk = np.full(phi.size, np.inf)
    np.divide(phi, support, out=risk, where=support > 0)
    risk[phi == 0] = 0
    return risk


def distinct_profiles(needed: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> tuple[Nodes, Counts]:
    """The different rows of needed levels (one array per attribute), and how often each occurs."""
    number, n_profiles = number_rows(needed, sizes)
    some_row = np.empty(n_profiles, np.int64)
    some_row[number] = np.arange(number.size)
    profiles = np.stack([column[some_row] for column in needed], axis=1).astype(np.int32)
    return np.ascontiguousarray(profiles), np.bincount(number, minlength=n_profiles).astype(np.int64)
