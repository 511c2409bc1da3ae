# SPDX-License-Identifier: Apache-2.0
"""(alpha,k)-anonymity: a crowd of k, and no sensitive value too frequent in it."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.kernels.diversity import largest_counts
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import (
    Broken,
    Limits,
    Measure,
    Number,
    Property,
    SensitiveProperty,
    exact,
    require_number,
    require_whole,
)
from overt.privacy.exactness import greatest_ratio, most_of, times
from overt.privacy.k_anonymity import KAnonymity
from overt.privacy.l_diversity import DistinctLDiversity
from overt.privacy.shares import Bounds


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveProperty):
    """Every group has at least k rows, and no sensitive value has more than the share alpha of them.

    R. Wong, J. Li, A. Fu, K. Wang, "(α, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data
    Publishing", KDD 2006; here for every value of the column. `measure` finds the least alpha with k as it is.
    """

    alpha: Number
    k: int

    name: ClassVar[str] = "alpha-k-anonymity"
    parameter: ClassVar[str] = "alpha"
    best: ClassVar[str] = "smallest"
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("alpha", self.alpha, above=0, most=1)
        require_whole("k", self.k)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        alpha, largest = exact(self.alpha), largest_counts(histogram.first, histogram.count)
        too_frequent: Broken = times(largest, alpha.denominator) > times(sizes, alpha.numerator)
        return too_frequent

    def breaks(self, groups: Groups) -> Broken:
        return super().breaks(groups) | (groups.sizes < self.k)

    @property
    def takes_bundles(self) -> bool:
        return True

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        return Fraction(0), exact(self.alpha)

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        return greatest_ratio(largest_counts(histogram.first, histogram.count), sizes)

    def measure(self, groups: Groups) -> Measure:
        measured = super().measure(groups)
        return math.inf if groups.sizes.min() < self.k else measured

    def belief_bound(self, column: str) -> Fraction | None:
        return exact(self.alpha) if self.column in (None, column) else None

    def at_l(self, l: int) -> Property:
        return replace(self, alpha=Fraction(1, l))

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits:
        return Limits(np.where(sizes < self.k, -1, most_of(sizes, exact(self.alpha))))

    @property
    def least_rows(self) -> int:
        return max(int(self.k), math.ceil(1 / exact(self.alpha)))

    def necessary(self, everyone: Groups) -> Property:
        return KAnonymity(self.k) & DistinctLDiversity(math.ceil(1 / exact(self.alpha)), column=self.column)

    @property
    def in_words(self) -> str:
        return f"Everybody is one of at least {self.k} people who look alike, and no sensitive value{self.where} has more than {self.alpha} of a group."

    def __str__(self) -> str:
        return f"({self.alpha}, {self.k})-anonymity{self.where}"
