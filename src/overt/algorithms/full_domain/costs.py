# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/full_domain/test_method.py
"""What a node costs, in whole numbers, and what a search may conclude from one node about others.

Every cost here has two parts. The *base* is what a node would cost if nothing were suppressed; it never falls on the way
up, because generalizing a row, or merging its group, never makes it cheaper. The *excess* is what suppressed rows add to
that, each of them costing as much as can be. A row that must be suppressed at a node must be so at every node below,
where it was cheaper; so the excess due to such rows never falls on the way down. Both serve as bounds:

    cost(node) >= base(any node below it) + excess(any node above it)

where the excess counts the rows of groups that break the part of the goal that no added row can mend
(`Property.necessary`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.full_domain.rolling import Rolled, RolledRows
from overt.kernels.rolling import sum_weights
from overt.lattice import Lattice, Node
from overt.privacy.base import Broken

Optimise = Literal["loss", "discernibility", "average group size", "precision"]


class Cost(ABC):
    """A way to compare nodes: the less the better. Whole numbers, so that ties are ties."""

    name: str  # of what it measures, for people

    @abstractmethod
    def base(self, rolled: Rolled) -> int:
        """What a node would cost if nothing were suppressed."""

    @abstractmethod
    def excess(self, rolled: Rolled, broken: Broken) -> int:
        """What suppressing these groups adds."""

    @abstractmethod
    def least_base(self, node: Node) -> int:
        """A bound on the base of a node before it is counted; never falls on the way up."""

    @property
    @abstractmethod
    def most(self) -> int:
        """No base and no excess is greater, whatever its sign."""

    @abstractmethod
    def describe(self, cost: float) -> float:
        """The cost in the unit that people know."""


@dataclass(frozen=True, eq=False)
class CellCost(Cost):
    """Every cell has a penalty from 0 (exact) to 1 (`*`, or suppressed); the cost of a node is their mean."""

    name: str
    rows: RolledRows
    weight: NDArray[np.int64]  # as `Ranks.rank`: the penalty of a cell in units of its column
    most_of_column: tuple[int, ...]  # the penalty of `*`; 0 if the column has one value only
    base_of_level: tuple[tuple[int, ...], ...]  # (column, level) -> summed over all rows, in the common unit
    unit: int  # what one cell can cost at most: a multiple of every column's `most`

    @classmethod
    def of(cls, name: str, rows: RolledRows, weight: NDArray[np.int64], most: tuple[int, ...]) -> "CellCost":
        unit = lcm(*(m for m in most if m))
        base_of_level = []
        for j, begins in enumerate(rows.ranks.begin):
            total_of_code = rows.table.quasi_identifiers[j].total_of_value
            sums = [int(total_of_code @ weight[begin : begin + total_of_code.size]) for begin in begins]
            base_of_level.append(tuple(unit // most[j] * total if most[j] else 0 for total in sums))
        return cls(name, rows, weight, most, tuple(base_of_level), unit)

    def base(self, rolled: Rolled) -> int:
        return self.least_base(rolled.node)

    def least_base(self, node: Node) -> int:
        return sum(base[level] for base, level in zip(self.base_of_level, node, strict=True))

    def excess(self, rolled: Rolled, broken: Broken) -> int:
        begin = np.array([begins[level] for begins, level in zip(self.rows.ranks.begin, rolled.node, strict=True)])
        sums = sum_weights(self.rows.codes, rolled.representative, rolled.sizes, broken, self.weight, begin)
        n_suppressed = int(rolled.sizes[broken].sum())
        return sum(
            self.unit * n_suppressed - self.unit // most * int(total)
            for most, total in zip(self.most_of_column, sums, strict=True)
            if most
        )

    @property
    def most(self) -> int:
        return self.unit * self.rows.n_rows * len(self.most_of_column)

    def describe(self, cost: float) -> float:
        n_cells = self.rows.n_rows * sum(most > 0 for most in self.most_of_column)
        return float(Fraction(cost) / (self.unit * n_cells)) if n_cells else 0.0


def loss(rows: RolledRows) -> Cost:
    """Normalised certainty penalty: the share of its column's other values that a cell leaves possible.

    J. Xu et al., "Utility-Based Anonymization Using Local Recoding", KDD 2006, on the published labels.
    """
    return CellCost.of("loss", rows, rows.ranks.penalty, rows.ranks.most)


def precision(rows: RolledRows) -> Cost:
    """One minus Prec: the level of a cell over the highest level of its column.

    L. Sweeney, "Achieving k-Anonymity Privacy Protection Using Generalization and Suppression", IJUFKS 2002.
    """
    weight = np.zeros(rows.ranks.rank.size, np.int64)
    for begins, column in zip(rows.ranks.begin, rows.table.quasi_identifiers, strict=True):
        for level, begin in enumerate(begins):
            weight[begin : begin + column.n_values] = level
    return CellCost.of("lost precision", rows, weight, rows.lattice.top)


@dataclass(frozen=True, eq=False)
class Discernibility(Cost):
    """The sum of squared sizes of kept groups, and for every suppressed row all rows of the table.

    R. J. Bayardo, R. Agrawal, "Data Privacy through Optimal k-Anonymization", ICDE 2005, and so in ARX. A row costs the
    size of its group, which is at least the least size that the goal allows.
    """

    n_rows: int
    least_rows: int
    name: str = "discernibility"

    def base(self, rolled: Rolled) -> int:
        return int(rolled.sizes @ self._cost_of_row(rolled))

    def excess(self, rolled: Rolled, broken: Broken) -> int:
        return int((rolled.sizes * (self.n_rows - self._cost_of_row(rolled)))[broken].sum())

    def least_base(self, node: Node) -> int:
        return self.n_rows * min(self.least_rows, self.n_rows)

    @property
    def most(self) -> int:
        return self.n_rows**2

    def describe(self, cost: float) -> float:
        return float(cost)

    def _cost_of_row(self, rolled: Rolled) -> NDArray[np.int64]:
        return np.maximum(rolled.sizes, min(self.least_rows, self.n_rows))


@dataclass(frozen=True, eq=False)
class AverageGroupSize(Cost):
    """All rows of the table, suppressed ones included, over the number of kept groups: least with the most groups.

    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006, without its factor k.
    With k the least size that the goal allows, every kept group counts -k, and a group of s < k rows, of which k / s could
    still become one that is kept, -s.
    """

    n_rows: int
    least_rows: int
    name: str = "average group size"

    def base(self, rolled: Rolled) -> int:
        return -int(np.minimum(rolled.sizes, self.least_rows).sum())

    def excess(self, rolled: Rolled, broken: Broken) -> int:
        return int(np.minimum(rolled.sizes[broken], self.least_rows).sum())

    def least_base(self, node: Node) -> int:
        return -self.n_rows

    @property
    def most(self) -> int:
        return self.n_rows

    def describe(self, cost: float) -> float:
        return self.least_rows * self.n_rows / -cost if cost else float("inf")


def cost_of(optimise: Optimise, rows: RolledRows, least_rows: int) -> Cost:
    """What "optimise" means for these rows."""
    if optimise == "loss":
        return loss(rows)
    if optimise == "precision":
        return precision(rows)
    if optimise == "discernibility":
        return Discernibility(rows.n_rows, least_rows)
    return AverageGroupSize(rows.n_rows, least_rows)


def least_bases(cost: Cost, lattice: Lattice) -> NDArray[np.float64]:
    """The bound on every node's base, in an array with one axis per column."""
    if not isinstance(cost, CellCost):
        return np.full(lattice.n_levels, float(cost.least_base(lattice.bottom)))
    bases = np.zeros((1,) * len(lattice.n_levels))
    for axis, base in enumerate(cost.base_of_level):
        shape = [len(base) if a == axis else 1 for a in range(len(lattice.n_levels))]
        bases = bases + np.array([float(total) for total in base]).reshape(shape)
    return bases
