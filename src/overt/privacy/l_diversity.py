# SPDX-License-Identifier: Apache-2.0
"""l-diversity by counting: frequency (what l-diversity means in Overt), distinct, and recursive (c,l).

The entropy form, which needs logarithms, is in `entropy_l_diversity`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from overt.kernels.diversity import largest_counts, sort_counts, tails
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import (
    Broken,
    Measure,
    Number,
    Property,
    SensitiveProperty,
    exact,
    require_number,
    require_whole,
)
from overt.privacy.exactness import greatest_ratio, times


@dataclass(frozen=True)
class FrequencyLDiversity(SensitiveProperty):
    """In no group does a sensitive value have more than one row in l: nobody's is known with more than 1/l.

    The reading of l-diversity in X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB
    2006, and in most papers since; a fractional l is allowed.
    """

    l: int | float | Fraction

    name: ClassVar[str] = "l-diversity"
    parameter: ClassVar[str] = "l"
    best: ClassVar[str] = "largest"
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("l", self.l, least=1)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        l, largest = exact(self.l), largest_counts(histogram.first, histogram.count)
        too_frequent: Broken = times(largest, l.numerator) > times(sizes, l.denominator)
        return too_frequent

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        return whole_if_whole(1 / greatest_ratio(largest_counts(histogram.first, histogram.count), sizes))

    @property
    def least_rows(self) -> int:
        return math.ceil(exact(self.l))

    def necessary(self, everyone: Groups) -> Property:
        return DistinctLDiversity(self.least_rows, column=self.column)

    def __str__(self) -> str:
        return f"{self.l}-diversity (frequency){self.where}"


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveProperty):
    """Every group has at least l different sensitive values, however rare all but one of them are.

    A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity",
    ICDE 2006, which names it as the weakest form.
    """

    l: int

    name: ClassVar[str] = "distinct-l-diversity"
    parameter: ClassVar[str] = "l"
    best: ClassVar[str] = "largest"
    monotone: ClassVar[bool] = True  # a union has every value of its parts

    def __post_init__(self) -> None:
        require_whole("l", self.l)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        return np.diff(histogram.first) < self.l

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> int:
        return int(np.diff(histogram.first).min())

    @property
    def least_rows(self) -> int:
        return int(self.l)

    @property
    def caution(self) -> str:
        return (
            f"{self} counts different values and bounds nobody's belief: one value may still have almost all rows of "
            "a group. Ask for l-diversity (the frequency form) to keep every belief at or below 1/l."
        )

    def necessary(self, everyone: Groups) -> Property:
        return self

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity{self.where}"


@dataclass(frozen=True)
class RecursiveCLDiversity(SensitiveProperty):
    """In every group r1 < c (rl + ... + rm), where r1, r2, ..., rm are its counts from the most frequent value down.

    A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity",
    ICDE 2006. A group with fewer than l values breaks it for every c. `measure` finds the bound on c with l as
    it is: the property holds for every c above it.
    """

    c: Number
    l: int

    name: ClassVar[str] = "recursive-c-l-diversity"
    parameter: ClassVar[str] = "c"
    best: ClassVar[str] = "smallest"
    strict: ClassVar[bool] = True
    # The l - 1 most frequent values of a union have at most the rows of those of its parts together, so that
    # what is left is at least the sum of the parts; and its r1 is at most the sum of theirs.
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number("c", self.c, above=0)
        require_whole("l", self.l)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        c, (largest, tail) = exact(self.c), self._largest_and_tail(histogram)
        broken: Broken = times(largest, c.denominator) >= times(tail, c.numerator)
        return broken

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        largest, tail = self._largest_and_tail(histogram)
        return whole_if_whole(greatest_ratio(largest, tail)) if tail.min() else math.inf

    @property
    def least_rows(self) -> int:
        return int(self.l) + math.floor(1 / exact(self.c))  # with one row per value, 1 < c (n - l + 1)

    def _largest_and_tail(self, histogram: Histogram) -> tuple[Counts, Counts]:
        ordered = sort_counts(histogram.first, histogram.count)
        return ordered[histogram.first[1:] - 1], tails(histogram.first, ordered, min(self.l, histogram.n_values + 1))

    def necessary(self, everyone: Groups) -> Property:
        return DistinctLDiversity(int(self.l), column=self.column)  # fewer leave no tail

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diversity{self.where}"


def whole_if_whole(fraction: Fraction) -> int | Fraction:
    """A fraction without denominator as a plain number."""
    return fraction.numerator if fraction.denominator == 1 else fraction
