# SPDX-License-Identifier: Apache-2.0
"""delta-disclosure privacy: no group says much about any sensitive value, neither for it nor against it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Limits, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.exactness import exponential, logarithm
from overt.privacy.group_profiles import Kinds

# e to this exceeds every ratio of two shares that 64-bit counts can have, so that no larger delta asks for less.
LARGEST_DELTA = Fraction(200)


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveProperty):
    """In every group, |ln(p / q)| < delta for every sensitive value of the table; p in the group, q in the table.

    J. Brickell, V. Shmatikov, "The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data
    Publishing", KDD 2008. As defined there, it speaks of every value of the table: one that a group lacks has
    ln 0 and breaks it for every delta, since the group then says of everyone in it that they do not have it. ARX
    and pycanon look only at values that a group has, and ARX takes logarithms to base 2: their deltas are not ours.

    `measure` finds the bound on delta: the property holds for every delta above it.
    """

    delta: Number

    name: ClassVar[str] = "delta-disclosure"
    parameter: ClassVar[str] = "delta"
    best: ClassVar[str] = "smallest"
    strict: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("delta", self.delta, above=0)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        kinds = Kinds.of(histogram, sizes)
        most, least = self._most_and_least(kinds)
        return lacks_a_value(histogram) | kinds.breaks(most, least)

    def _most_and_least(self, kinds: Kinds) -> tuple[Counts, Counts]:
        """(size, total) -> how often a value may and must occur."""
        delta = min(exact(self.delta), LARGEST_DELTA)
        above, below = exponential(delta), exponential(-delta)  # irrational: p / q is never equal to one of them
        return kinds.limits(lambda _: above), kinds.limits(lambda _: below) + 1

    def limits(self, sizes: Counts, of_table: Histogram | None = None) -> Limits | None:
        if of_table is None:
            return None
        kinds = Kinds.of(of_table, sizes)
        of_pair = np.ix_(kinds.size_of_group, kinds.total_of_value)
        most, least = self._most_and_least(kinds)
        return Limits(sizes, most=most[of_pair], fewest=np.where(of_table.total_of_value > 0, least[of_pair], 0))

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> float:
        if lacks_a_value(histogram).any():
            return math.inf
        kinds = Kinds.of(histogram, sizes)
        return float_above_log(max(kinds.greatest_gain(), kinds.greatest_drop()))

    def necessary(self, everyone: Groups) -> Property:
        return self.needs_values(everyone, Fraction(1))

    @property
    def in_words(self) -> str:
        return f"In no group is a sensitive value{self.where} more or less likely than in the whole table by the factor e^{self.delta} or more."

    def __str__(self) -> str:
        return f"{self.delta}-disclosure privacy{self.where}"


def lacks_a_value(histogram: Histogram) -> Broken:
    """(group) -> whether a value of the table does not occur in it."""
    lacks: Broken = np.diff(histogram.first) < np.count_nonzero(histogram.total_of_value)
    return lacks


def float_above_log(ratio: Fraction) -> float:
    """The least float that is, read as `exact` reads it, no less than the logarithm of a ratio of at least 1."""
    if ratio == 1:
        return 0.0
    log = logarithm(ratio)
    number = float(log)
    while log > exact(number):
        number = math.nextafter(number, math.inf)
    while not log > exact(below := math.nextafter(number, 0)):
        number = below
    return number
