# SPDX-License-Identifier: Apache-2.0
"""Relative risk: no group makes a value that matters many times likelier than the whole table does.

Paper: J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, whose basic beta-likeness
this is with `times` = 1 + beta, asked of some values only. With p the share of a value in a group and q its share in the table,
p <= times * q. Losses are not limited: learning that somebody does not have a value is not held to be a breach.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.kernels.counting import starts_of
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Limits, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.group_profiles import Kinds
from overt.privacy.shares import ANY, Bounds, greatest_gain


@dataclass(frozen=True)
class RelativeRisk(SensitiveProperty):
    """In no group is a value more than `times` as frequent as in the whole table: of all values, or of those in `positive`.

    Basic beta-likeness (J. Cao, P. Karras, PVLDB 2012) with beta = times - 1, for the values that matter. If 2 % of a table have
    HIV and times = 2, then at most 4 % of every group have it.

    Parameters
    ----------
    times
        How many times its share in the table a value may have in a group.
    positive
        The values that matter, as they are written in the data; without any, all values. They are part of the recipe, which is public:
        take them from a code book, not from the data.

    >>> from overt import Mondrian, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> RelativeRisk(2).holds(Mondrian(goal=RelativeRisk(2)).anonymize(table).groups)
    True

    """

    times: Number
    positive: tuple[str, ...] = ()

    name: ClassVar[str] = "relative-risk"
    parameter: ClassVar[str] = "times"
    best: ClassVar[str] = "smallest"
    monotone: ClassVar[bool] = True  # a share in a union lies between the shares in its parts

    def __post_init__(self) -> None:
        require_number("times", self.times, least=0)
        given: Any = self.positive
        if isinstance(given, str) or not all(isinstance(value, str) for value in given):
            raise InvalidInput('positive is a list of values in quotes, such as positive = ["yes"].')
        object.__setattr__(self, "positive", tuple(self.positive))

    def necessary(self, everyone: Groups) -> Property:
        if self.positive:
            return super().necessary(everyone)
        return self.needs_values(everyone, 1 / max(Fraction(1), exact(self.times)))

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        kinds = Kinds.of(self._of_positive(histogram), sizes)
        return kinds.breaks(most=kinds.limits(lambda q: exact(self.times)))

    @property
    def takes_bundles(self) -> bool:
        return True

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        if self.positive and value not in self.positive:
            return ANY
        return Fraction(0), min(Fraction(1), exact(self.times) * q)

    def measure_shares(self, histogram: Histogram, sizes: Counts) -> Fraction:
        chosen = self._of_positive(histogram)
        return greatest_gain(replace(chosen, sets=histogram.sets), sizes) if chosen.count.size else Fraction(0)

    def limits(self, sizes: Counts, of_table: Histogram | None = None) -> Limits | None:
        if of_table is None:
            return None
        kinds = Kinds.of(of_table, sizes)
        most = kinds.limits(lambda q: exact(self.times))[np.ix_(kinds.size_of_group, kinds.total_of_value)]
        if self.positive:
            most = np.where(self._matters(of_table), most, sizes[:, None])
        return Limits(sizes, most=most)

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Fraction:
        chosen = self._of_positive(histogram)
        return Kinds.of(chosen, sizes).greatest_gain() if chosen.count.size else Fraction(0)

    def names_unknown(self, groups: Groups) -> int:
        """How many of the values that were named nobody has: perhaps they are spelt in another way."""
        return sum(
            len(set(self.positive) - set(_texts(histogram).to_list()))
            for histogram in (self._histograms(groups) if self.positive else ())
        )

    def _of_positive(self, histogram: Histogram) -> Histogram:
        """The histogram with the values that matter alone."""
        if not self.positive:
            return histogram
        is_kept = self._matters(histogram)[histogram.value]
        group = np.repeat(np.arange(histogram.first.size - 1), np.diff(histogram.first))[is_kept]
        return Histogram(
            starts_of(np.bincount(group, minlength=histogram.first.size - 1)),
            histogram.value[is_kept],
            histogram.count[is_kept],
            histogram.total_of_value,
            out_of=histogram.out_of,
        )

    @property
    def in_words(self) -> str:
        return (
            f"In no group is {' or '.join(map(repr, self.positive)) or 'a sensitive value'}{self.where} more than {self.times} times as frequent as "
            "in the whole table."
        )

    def _matters(self, histogram: Histogram) -> NDArray[np.bool_]:
        """(value) -> whether it was named."""
        matters: NDArray[np.bool_] = _texts(histogram).is_in(list(self.positive)).fill_null(value=False).to_numpy()
        return matters

    def __str__(self) -> str:
        which = f" for {', '.join(map(repr, self.positive))}" if self.positive else ""
        return f"relative risk of at most {self.times}{self.where}{which}"


def _texts(histogram: Histogram) -> pl.Series:
    """(value) -> how it is written."""
    if histogram.labels is None:
        raise InvalidInput("These groups hold codes without labels; leave out `positive`, or count them from a table.")
    return texts_of(histogram.labels)
