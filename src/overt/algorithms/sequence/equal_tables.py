# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""RowPosterior: what an adversary believes about every row, exactly or between bounds.

Rows that no function of a sequence tells apart share a distribution, so a posterior is kept per cell of rows
and not per row. An exact posterior holds integer weights; a bounded one holds a lower and an upper bound of
every probability.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.table import Codes

Weights = tuple[int, ...]  # (value) -> weight of the value, in any unit


@dataclass(frozen=True, eq=False)
class RowPosterior:
    """Every row's distribution over the sensitive values, in integers."""

    cell_of_row: Codes
    weights: tuple[Weights, ...]  # (cell) -> weights of the values; all 0 only in an empty set of tables

    @cached_property
    def totals(self) -> tuple[int, ...]:
        return tuple(sum(weights) for weights in self.weights)

    @cached_property
    def n_rows_of_cell(self) -> NDArray[np.int64]:
        return np.bincount(self.cell_of_row, minlength=len(self.weights))

    def ratio(self, row: int, value: int) -> Fraction:
        """How likely it is that a row has a value."""
        cell = int(self.cell_of_row[row])
        return Fraction(self.weights[cell][value], self.totals[cell])

    def of_row(self, row: int) -> dict[int, Fraction]:
        """The possible values of a row and how likely each is."""
        cell = int(self.cell_of_row[row])
        total = self.totals[cell]
        return {value: Fraction(weight, total) for value, weight in enumerate(self.weights[cell]) if weight}

    @cached_property
    def highest(self) -> Fraction:
        """The highest ratio of any value for any row."""
        return max(
            (Fraction(max(weights), total) for weights, total in zip(self.weights, self.totals, strict=True) if total),
            default=Fraction(0),
        )

    def bounded(self) -> "BoundedRowPosterior":
        """The same as floats, for plots and for comparison with an estimate."""
        shares = np.array(
            [[float(Fraction(w, t)) for w in ws] for ws, t in zip(self.weights, self.totals, strict=True)]
        )
        return BoundedRowPosterior(self.cell_of_row, np.nextafter(shares, 0), np.nextafter(shares, 2))


@dataclass(frozen=True, eq=False)
class BoundedRowPosterior:
    """Every row's distribution, each probability between two bounds."""

    cell_of_row: Codes
    lower: NDArray[np.float64]  # (cell, value)
    upper: NDArray[np.float64]

    @property
    def middle(self) -> NDArray[np.float64]:
        return (self.lower + self.upper) / 2

    @property
    def highest(self) -> float:
        """Upper bound of the highest ratio of any value for any row."""
        return float(self.upper.max(initial=0.0))

    @property
    def highest_at_least(self) -> float:
        """Lower bound of the highest ratio of any value for any row."""
        return float(self.lower.max(initial=0.0))


AnyPosterior = RowPosterior | BoundedRowPosterior


@dataclass(frozen=True)
class BoundedNumber:
    """A number known to lie between two bounds. `log10` because counts of tables overflow a float."""

    lower_log10: float
    upper_log10: float

    def __str__(self) -> str:
        if self.upper_log10 - self.lower_log10 < 1e-6:
            return f"about 10^{self.upper_log10:.2f}"
        return f"10^{self.lower_log10:.2f} to 10^{self.upper_log10:.2f}"


@dataclass(frozen=True, eq=False)
class EqualTables:
    """A set of equally likely tables, known by its size and by every row's posterior."""

    count: int | BoundedNumber
    posterior: AnyPosterior
    method: str  # which engine found it
    confidence: float | None = None  # of the bounds; None: they hold for certain
    holds: bool | None = None  # the property's verdict where an engine settled it itself

    @property
    def exact(self) -> bool:
        """Whether every number is exact."""
        return isinstance(self.posterior, RowPosterior)

    @property
    def accuracy(self) -> str:
        """How certain the numbers are, in words."""
        if isinstance(self.posterior, RowPosterior):
            return "exact"
        width = float((self.posterior.upper - self.posterior.lower).max(initial=0.0)) / 2
        certain = "for certain" if self.confidence is None else f"with confidence {self.confidence:g}"
        return f"within {width:.1e} {certain}"
