# SPDX-License-Identifier: Apache-2.0
"""beta-likeness, basic and enhanced: no group makes a sensitive value much likelier than the table does.

Paper: J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012. With p the share
of a value in a group and q its share in the table (the paper writes them the other way round), the gain
is (p - q) / q. Losses are not limited: learning that something is unlikely is not held to be a breach.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Measure, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.exactness import logarithm
from overt.privacy.kinds import Bound, Kinds


@dataclass(frozen=True)
class BetaLikeness(SensitiveProperty):
    """What basic and enhanced beta-likeness share: a limit on the gain of every value."""

    beta: Number

    parameter: ClassVar[str] = "beta"
    best: ClassVar[str] = "smallest"
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("beta", self.beta, least=0)

    @abstractmethod
    def largest_ratio(self, q: Fraction) -> Bound:
        """What p / q may be at most."""

    def necessary(self, everyone: Groups) -> Property:
        return self.needs_values(
            everyone, 1 / (1 + exact(self.beta))
        )  # all p together are 1, and none exceeds (1 + beta) q

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        kinds = Kinds.of(histogram, sizes)
        return kinds.breaks(most=kinds.limits(self.largest_ratio))


@dataclass(frozen=True)
class BasicBetaLikeness(BetaLikeness):
    """In every group the gain of every sensitive value is at most beta: p <= (1 + beta) q.

    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 2012. beta = 0 asks that every
    group mirrors the table.
    """

    name: ClassVar[str] = "basic-beta-likeness"

    def largest_ratio(self, q: Fraction) -> Fraction:
        return 1 + exact(self.beta)

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Fraction:
        return Kinds.of(histogram, sizes).greatest_gain() - 1

    def __str__(self) -> str:
        return f"basic {self.beta}-likeness{self.where}"


@dataclass(frozen=True)
class EnhancedBetaLikeness(BetaLikeness):
    """In every group the gain of every sensitive value is at most beta and at most -ln q, so that frequent values gain less.

    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 2012. Where a value gains more
    than -ln q, no beta holds and the measure is infinite.
    """

    name: ClassVar[str] = "enhanced-beta-likeness"

    def largest_ratio(self, q: Fraction) -> Bound:
        beta, ceiling = exact(self.beta), largest_ratio_of_frequent(q)
        # Below q = 1 the ceiling is irrational, and so never equal to 1 + beta or to p / q.
        return ceiling if isinstance(ceiling, Fraction) or not ceiling > 1 + beta else 1 + beta

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        kinds = Kinds.of(histogram, sizes)
        if kinds.breaks(most=kinds.limits(largest_ratio_of_frequent)).any():
            return math.inf
        return kinds.greatest_gain() - 1

    def __str__(self) -> str:
        return f"enhanced {self.beta}-likeness{self.where}"


def largest_ratio_of_frequent(q: Fraction) -> Bound:
    """1 - ln q: what enhanced beta-likeness allows p / q at most, whatever beta is."""
    return Fraction(1) if q == 1 else logarithm(1 / q) + 1
