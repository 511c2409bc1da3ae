# SPDX-License-Identifier: Apache-2.0
# Tested through tests/privacy/test_beta_likeness.py
"""Groups by size and values by total: what disclosure and likeness, which compare a group with the table, look at.

With p = c / n the share of a value in a group and q = C / N its share in the table, p / q = c N / (n C). There are
few different sizes n and totals C, so that a bound on p / q is worked out once for each pair, exactly, as a whole
number that bounds the count c; checking a group is then comparing integers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from overt.kernels.closeness import any_outside, extreme_counts
from overt.partition import Counts, Histogram
from overt.privacy.base import Broken
from overt.privacy.exactness import Integers, Irrational, floors_of_multiples, greatest_ratio, times

Bound = Fraction | Irrational


@dataclass(frozen=True, eq=False)
class Kinds:
    """The groups of a histogram numbered by size, the values numbered by total."""

    histogram: Histogram
    sizes: Counts  # the different sizes, ascending
    totals: Counts  # the different totals, ascending
    size_of_group: Counts  # (group) -> which of the sizes
    total_of_value: Counts  # (value) -> which of the totals

    @classmethod
    def of(cls, histogram: Histogram, sizes: Counts) -> "Kinds":
        different_sizes, size_of_group = np.unique(sizes, return_inverse=True)
        totals, total_of_value = np.unique(histogram.total_of_value, return_inverse=True)
        return cls(histogram, different_sizes, totals, size_of_group, total_of_value)

    @cached_property
    def n_rows(self) -> int:
        return int(self.histogram.total_of_value.sum())

    @cached_property
    def products(self) -> Integers:
        """(size, total) -> n * C."""
        return times(self.sizes[:, None], self.totals[None, :])

    def limits(self, bound: Callable[[Fraction], Bound]) -> Counts:
        """(size, total) -> the largest count for which p / q is at most `bound(q)`."""
        bounds = [bound(Fraction(int(total), self.n_rows)) if total else Fraction(0) for total in self.totals]
        return floors_of_multiples(bounds, self.products, self.n_rows)

    def breaks(self, most: Counts, least: Counts | None = None) -> Broken:
        """(group) -> whether a value that occurs in it does so more or less often than it may."""
        least = np.zeros_like(most) if least is None else least
        found = self.histogram
        broken: Broken = any_outside(
            found.first, found.value, found.count, self.size_of_group, self.total_of_value, least, most
        )
        return broken

    def greatest_gain(self) -> Fraction:
        """The greatest p / q of a value in a group."""
        _, most = self._extremes()
        return greatest_ratio(times(most, self.n_rows)[most > 0], self.products[most > 0])

    def greatest_drop(self) -> Fraction:
        """The greatest q / p of a value that occurs in a group."""
        least, _ = self._extremes()
        return greatest_ratio(self.products[least > 0], times(least, self.n_rows)[least > 0])

    def _extremes(self) -> tuple[Counts, Counts]:
        """(size, total) -> the least and the greatest count that occurs; both 0 if none does."""
        found = self.histogram
        least, most = extreme_counts(
            found.first,
            found.value,
            found.count,
            self.size_of_group,
            self.total_of_value,
            self.sizes.size,
            self.totals.size,
        )
        return least, most
