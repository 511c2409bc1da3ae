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
from functools import lru_cache
from typing import ClassVar

import numpy as np

from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Limits, Measure, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.exactness import Irrational, logarithm
from overt.privacy.group_profiles import Bound, Kinds
from overt.privacy.shares import ANY, Bounds, breaks_shares, greatest_gain


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

    @property
    def takes_bundles(self) -> bool:
        return True

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        if not q:
            return ANY
        ratio = self.largest_ratio(q)
        if isinstance(ratio, Irrational):
            ratio = ratio.enclose(30)[0]  # rounded towards "not safe"
        return Fraction(0), min(Fraction(1), q * ratio)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        kinds = Kinds.of(histogram, sizes)
        return kinds.breaks(most=kinds.limits(self.largest_ratio))

    def limits(self, sizes: Counts, of_table: Histogram | None = None) -> Limits | None:
        if of_table is None:
            return None
        kinds = Kinds.of(of_table, sizes)
        return Limits(sizes, most=kinds.limits(self.largest_ratio)[np.ix_(kinds.size_of_group, kinds.total_of_value)])


@dataclass(frozen=True)
class BasicBetaLikeness(BetaLikeness):
    """In every group the gain of every sensitive value is at most beta: p <= (1 + beta) q.

    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 2012. With beta = 0 every
    group must have the same distribution as the table.
    """

    name: ClassVar[str] = "basic-beta-likeness"

    def largest_ratio(self, q: Fraction) -> Fraction:
        return 1 + exact(self.beta)

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Fraction:
        return Kinds.of(histogram, sizes).greatest_gain() - 1

    def measure_shares(self, histogram: Histogram, sizes: Counts) -> Measure:
        return greatest_gain(histogram, sizes) - 1

    @property
    def in_words(self) -> str:
        return f"In no group is a sensitive value{self.where} more than {1 + exact(self.beta)} times as likely as in the whole table."

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
        return least_ceiling(exact(self.beta), q)

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        kinds = Kinds.of(histogram, sizes)
        if kinds.breaks(most=kinds.limits(largest_ratio_of_frequent)).any():
            return math.inf
        return kinds.greatest_gain() - 1

    def measure_shares(self, histogram: Histogram, sizes: Counts) -> Measure:
        loosest = EnhancedBetaLikeness(sum(map(int, histogram.total_of_value)) + 1)
        if breaks_shares(loosest.share_limits(histogram), histogram, sizes).any():
            return math.inf
        return greatest_gain(histogram, sizes) - 1

    @property
    def in_words(self) -> str:
        return f"In no group is a sensitive value{self.where} more than {1 + exact(self.beta)} times as likely as in the whole table; frequent ones gain less."

    def __str__(self) -> str:
        return f"enhanced {self.beta}-likeness{self.where}"


@lru_cache(maxsize=1 << 14)
def least_ceiling(beta: Fraction, q: Fraction) -> Bound:
    """1 + beta or 1 - ln q, whichever is less."""
    ceiling = largest_ratio_of_frequent(q)
    # Below q = 1 the ceiling is irrational, and so never equal to 1 + beta or to p / q.
    return ceiling if isinstance(ceiling, Fraction) or not ceiling > 1 + beta else 1 + beta


def largest_ratio_of_frequent(q: Fraction) -> Bound:
    """1 - ln q: what enhanced beta-likeness allows p / q at most, whatever beta is."""
    return Fraction(1) if q == 1 else logarithm(1 / q) + 1
