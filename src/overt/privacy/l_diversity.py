# SPDX-License-Identifier: Apache-2.0
"""l-diversity by counting: frequency (what l-diversity means in Overt), distinct, and recursive (c,l).

The entropy form, which needs logarithms, is in `entropy_l_diversity`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.kernels.diversity import largest_counts, sort_counts, tails
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
from overt.privacy.shares import Bounds


@dataclass(frozen=True)
class FrequencyLDiversity(SensitiveProperty):
    """In no group does a sensitive value have more than 1/l of the rows.

    The reading of l-diversity in X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB
    2006, and in most papers since; a fractional l is allowed. A value that is too frequent for 1/l can have a separate bound:
    `bounds={"I10": "1/2"}`.
    """

    l: int | float | Fraction
    bounds: Mapping[str, Number] = field(
        default_factory=dict, hash=False
    )  # value -> what stands for 1/l for this value

    name: ClassVar[str] = "l-diversity"
    parameter: ClassVar[str] = "l"
    best: ClassVar[str] = "largest"
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("l", self.l, least=1)
        given: Any = self.bounds
        if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given):
            raise InvalidInput('bounds needs values with the greatest share of each, such as {"I10": "1/2"}.')
        for bound in self.bounds.values():
            require_number("a bound", bound, above=0, most=1)
        object.__setattr__(self, "bounds", dict(self.bounds))

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        if self.bounds:
            return self._breaks_bounds(histogram, sizes)
        l, largest = exact(self.l), largest_counts(histogram.first, histogram.count)
        too_frequent: Broken = times(largest, l.numerator) > times(sizes, l.denominator)
        return too_frequent

    @property
    def takes_bundles(self) -> bool:
        return True

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        bound = self.bounds.get(value) if value is not None else None
        return Fraction(0), min(Fraction(1), 1 / exact(self.l) if bound is None else exact(bound))

    def _breaks_bounds(self, histogram: Histogram, sizes: Counts) -> Broken:
        """Each value by its own bound."""
        if histogram.labels is None:
            raise InvalidInput(
                f"{self} needs to know what values are called, and this method does not say; leave out bounds."
            )
        group = np.repeat(np.arange(sizes.size), np.diff(histogram.first))
        broken = np.zeros(sizes.size, np.bool_)
        for code, value in enumerate(texts_of(histogram.labels).to_list()):
            bound, at = self.share_bounds(Fraction(0), value)[1], histogram.value == code
            broken[
                group[at][times(histogram.count[at], bound.denominator) > times(sizes[group[at]], bound.numerator)]
            ] = True
        return broken

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Measure:
        if self.bounds and histogram.labels is not None:  # of the values without a bound of their own
            own = np.array([value in self.bounds for value in texts_of(histogram.labels).to_list()], np.bool_)
            group = np.repeat(np.arange(sizes.size), np.diff(histogram.first))
            count = np.where(own[histogram.value], 0, histogram.count)
            return whole_if_whole(1 / greatest_ratio(count, sizes[group])) if count.any() else math.inf
        return whole_if_whole(1 / greatest_ratio(largest_counts(histogram.first, histogram.count), sizes))

    def belief_bound(self, column: str) -> Fraction | None:
        if self.column not in (None, column):
            return None
        return max([min(Fraction(1), 1 / exact(self.l)), *map(exact, self.bounds.values())])

    def at_l(self, l: int) -> Property:
        return replace(self, l=l)

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits | None:
        if not self.bounds:
            return Limits(most_of(sizes, 1 / exact(self.l)))
        if of_table is None or of_table.labels is None:
            return None
        bounds = [self.share_bounds(Fraction(0), value)[1] for value in texts_of(of_table.labels).to_list()]
        return Limits(sizes, most=np.stack([most_of(sizes, bound) for bound in bounds], axis=1))

    @property
    def has_own_bounds(self) -> bool:
        return bool(self.bounds)

    @property
    def least_rows(self) -> int:
        return 1 if self.bounds else math.ceil(exact(self.l))

    def necessary(self, everyone: Groups) -> Property:
        return DistinctLDiversity(self.least_rows, column=self.column)

    @property
    def in_words(self) -> str:
        if self.bounds:
            own = ", ".join(f"{value!r} at most {bound} of it" for value, bound in self.bounds.items())
            return (
                f"Of the sensitive values{self.where} these have a bound of their own in every group: {own}. No other is that of more than one in {self.l} of any "
                f"group: a reader concludes nobody's value with more than {self.belief_bound(self.column or '')}."
            )
        return f"No sensitive value{self.where} is that of more than one in {self.l} of any group: a reader concludes nobody's with more than 1/{self.l}."

    def describe(self, measured: Measure) -> str:
        """The measure, which says nothing of values with a bound of their own."""
        if not self.bounds:
            return super().describe(measured)
        if math.isinf(measured):
            return "every value within a bound of its own"
        return f"{super().describe(measured)} for the values without a bound of their own"

    def __str__(self) -> str:
        own = ", ".join(f"{value} at most {bound}" for value, bound in self.bounds.items())
        return f"{self.l}-diversity (frequency){self.where}{f' ({own})' if own else ''}"


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

    def at_l(self, l: int) -> Property:
        return replace(self, l=l)

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits:
        return Limits(sizes, least=int(self.l))

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

    @property
    def in_words(self) -> str:
        return f"Every group has at least {self.l} different sensitive values{self.where}; how often each occurs is not limited."

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

    def at_l(self, l: int) -> Property:
        return replace(self, l=l)

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits:
        c = exact(self.c)
        return Limits(sizes, least=int(self.l), recursive=(c.numerator, c.denominator, int(self.l)))

    @property
    def least_rows(self) -> int:
        return int(self.l) + math.floor(1 / exact(self.c))  # with one row per value, 1 < c (n - l + 1)

    def _largest_and_tail(self, histogram: Histogram) -> tuple[Counts, Counts]:
        ordered = sort_counts(histogram.first, histogram.count)
        return ordered[histogram.first[1:] - 1], tails(histogram.first, ordered, min(self.l, histogram.n_values + 1))

    def necessary(self, everyone: Groups) -> Property:
        return DistinctLDiversity(int(self.l), column=self.column)  # fewer leave no tail

    @property
    def in_words(self) -> str:
        return f"In every group the most frequent sensitive value{self.where} has fewer than {self.c} times the rows of all those from the {self.l}th on."

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diversity{self.where}"


def whole_if_whole(fraction: Fraction) -> int | Fraction:
    """A fraction without denominator as a plain number."""
    return fraction.numerator if fraction.denominator == 1 else fraction
