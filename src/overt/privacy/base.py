# SPDX-License-Identifier: Apache-2.0
"""Property: something that holds, or not, of groups of people.

Every property answers three questions about `Groups`: does it hold, which groups break it, and what is the
best parameter that would hold. Verdicts are made in integers and fractions. A property says whether it is
monotone (whatever holds of two groups holds of their union), which is what lets a search stop early.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.partition import Groups, Histogram
from overt.table import unknown_column

Broken = NDArray[np.bool_]  # (group) -> whether the group breaks the property
Measure = int | float | Fraction
Number = int | float | str | Decimal | Fraction


def exact(number: Number) -> Fraction:
    """The number a person wrote: 0.2 is 1/5, not the nearest binary fraction; "1/3" is 1/3."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


class Property(ABC):
    """What "safe" means for a set of groups."""

    name: ClassVar[str]  # as in a recipe: "k-anonymity"
    parameter: ClassVar[str]  # the parameter that `measure` finds the best of
    monotone: ClassVar[bool]  # whether it survives every merge of groups
    best: ClassVar[str]  # "largest" or "smallest": which direction of the parameter is more private

    @abstractmethod
    def breaks(self, groups: Groups) -> Broken:
        """For every group, whether it breaks this property."""

    @abstractmethod
    def measure(self, groups: Groups) -> Measure:
        """The best parameter that holds of these groups, the other parameters as they are."""

    @property
    def least_rows(self) -> int:
        """No group with fewer rows can satisfy this; what a search need not try."""
        return 1

    def describe_measure(self, groups: Groups) -> str:
        """What `measure` found, for people: "k = 7"."""
        measured = self.measure(groups)
        return f"{self.parameter} = {measured if isinstance(measured, int) else format(float(measured), '.6g')}"

    @abstractmethod
    def __str__(self) -> str:
        """A short sentence for reports: "5-anonymity"."""

    def holds(self, groups: Groups) -> bool:
        """Whether every group satisfies this property."""
        return not self.breaks(groups).any()


@dataclass(frozen=True, kw_only=True)
class SensitiveProperty(Property):
    """A property of the sensitive values in a group: of one column, or of each if none is named."""

    column: str | None = None

    @abstractmethod
    def breaks_histogram(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Broken:
        """For every group, whether this column's values break the property."""

    @abstractmethod
    def measure_histogram(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Measure:
        """The best parameter that holds of this column's values."""

    def breaks(self, groups: Groups) -> Broken:
        broken = np.zeros(groups.n_groups, np.bool_)
        for histogram in self._histograms(groups):
            broken |= self.breaks_histogram(histogram, groups.sizes)
        return broken

    def measure(self, groups: Groups) -> Measure:
        measured = [self.measure_histogram(histogram, groups.sizes) for histogram in self._histograms(groups)]
        return min(measured) if self.best == "largest" else max(measured)

    def _histograms(self, groups: Groups) -> Iterable[Histogram]:
        if not groups.histograms:
            raise InvalidInput(f"{self} looks at sensitive values and the table has no sensitive column; name one.")
        if self.column is None:
            return groups.histograms.values()
        if self.column not in groups.histograms:
            raise unknown_column(self.column, groups.histograms)
        return [groups.histograms[self.column]]
