# SPDX-License-Identifier: Apache-2.0
"""Property: something that holds, or not, of groups of people.

Every property answers three questions about `Groups`: does it hold, which groups break it, and what is the
best parameter that would hold. Verdicts are made in integers and fractions. A property says whether it is
monotone (whatever holds of two groups holds of their union), which is what lets a search stop early.

Of no groups at all every property holds, since nothing is published; there is then nothing to measure, and
`measure` refuses.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import wraps
from numbers import Integral, Rational
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.arguments import WORDS, refusal
from overt.errors import InvalidInput
from overt.partition import Groups, Histogram
from overt.privacy.shares import Bounds, ShareLimits, breaks_shares
from overt.table import unknown_column

if TYPE_CHECKING:
    from overt.privacy.all_of import AllOf

Broken = NDArray[np.bool_]  # (group) -> whether the group breaks the property
Measure = int | float | Fraction  # infinite where no parameter holds
Number = int | float | str | Decimal | Fraction


def exact(number: Number) -> Fraction:
    """The number a person wrote: 0.2 is 1/5, not the nearest binary fraction; "1/3" is 1/3."""
    if isinstance(number, Rational) and not isinstance(number, bool):
        return Fraction(int(number.numerator), int(number.denominator))
    try:
        return Fraction(str(number))
    except (ValueError, ArithmeticError):
        raise InvalidInput(f"{number!r} is not a finite number; write one as 3, 0.2 or '1/3'.") from None


def require_whole(name: str, number: int, *, least: int = 1) -> None:
    """Refuse a parameter that is not a whole number."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise InvalidInput(f"{name} is {number!r}; a whole number of at least {least} is expected.")


def require_number(
    name: str, number: Number, *, above: int | None = None, least: int | None = None, most: int | None = None
) -> None:
    """Refuse a parameter that is not a number, or not between its bounds."""
    expected = [
        f"{words} {bound}"
        for words, bound in (("above", above), ("of at least", least), ("of at most", most))
        if bound is not None
    ]
    refusal = InvalidInput(f"{name} is {number!r}; a number {' and '.join(expected)} is expected.")
    try:
        value = exact(number)
    except InvalidInput:
        raise refusal from None
    if (
        (above is not None and value <= above)
        or (least is not None and value < least)
        or (most is not None and value > most)
    ):
        raise refusal


@dataclass(frozen=True, eq=False)
class Distance:
    """How far the values of a group may be from those of the table: at most `t`, as (numerator, denominator).

    Values are moved in a tree, whose `node` is (level, value), from the values up to just below the root; or, if `is_ordered`,
    along their ranks, (1, value), -1 where the table does not have the value. `total` are the table's rows: of each node; of ranks
    those up to it.
    """

    t: tuple[int, int]
    node: NDArray[np.int32]
    total: NDArray[np.int64]  # (level, node)
    n_levels: int  # or ranks
    is_ordered: bool


@dataclass(frozen=True, eq=False)
class Limits:
    """What breaks a property, by numbers: how often a value may stand in a group, and what the values of a group must be.

    Groups may have at most `cap` rows of one value (-1: they are broken whatever they hold), and must have `least` different values.
    `recursive` is (numerator of c, denominator of c, l), and `entropy` the least entropy. Beside the whole table: `most` and
    `fewest` rows of each value, and `distance` from its values.
    """

    cap: NDArray[np.int64]  # (group)
    least: int = 1
    recursive: tuple[int, int, int] | None = None
    entropy: float | None = None
    most: NDArray[np.int64] | None = None  # (group, value)
    fewest: NDArray[np.int64] | None = None  # (group, value)
    distance: Distance | None = None

    @property
    def is_counted(self) -> bool:
        """Whether the most frequent value and the number of different ones decide."""
        return self.recursive is None and self.entropy is None and not self.is_beside_table

    @property
    def is_beside_table(self) -> bool:
        """Whether groups are compared with the whole table."""
        return not (self.most is None and self.fewest is None and self.distance is None)


class Property(ABC):
    """What "safe" means for a set of groups."""

    name: ClassVar[str]  # as in a recipe: "k-anonymity"
    parameter: ClassVar[str]  # the parameter that `measure` finds the best of
    best: ClassVar[str]  # "largest" or "smallest": which direction of the parameter is more private
    strict: ClassVar[bool] = False  # whether only what is beyond the measure holds, and not the measure itself

    @property
    @abstractmethod
    def monotone(self) -> bool:
        """Whether it survives every merge of groups."""

    @abstractmethod
    def breaks(self, groups: Groups) -> Broken:
        """For every group, whether it breaks this property."""

    @abstractmethod
    def measure(self, groups: Groups) -> Measure | tuple[Measure, ...]:
        """The best parameter that holds of these groups, the other parameters as they are.

        A whole number or a fraction, exactly; where it is neither, the best float that holds. Infinite where
        no parameter would hold. A combination of properties measures each of its parts.
        """

    @abstractmethod
    def __str__(self) -> str:
        """A short sentence for reports: "5-anonymity"."""

    @property
    def in_words(self) -> str:
        """What it promises, as a sentence for somebody who decides and is no specialist."""
        return f"{self}."

    @property
    def parts(self) -> tuple["Property", ...]:
        """The properties this one is a combination of: itself, if it is none."""
        return (self,)

    @property
    def column(self) -> str | None:
        """The sensitive column that it looks at; None if that is none, or each."""
        return None

    def belief_bound(self, column: str) -> Fraction | None:
        """The most that someone who only sees the release may believe of a value of this column; None if no bound is promised."""
        return None

    def at_l(self, l: int) -> "Property | None":
        """The same with another l (or alpha = 1/l); None if it has none."""
        return None

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> "Limits | None":
        """What groups of these sizes may hold, in numbers that swaps can follow; None if they cannot.

        `of_table` has the values of the whole table, for properties that compare groups with it.
        """
        return None

    @property
    def looks_at_values(self) -> bool:
        """Whether it depends on sensitive values, and not only on who is in which group."""
        return True

    @property
    def takes_bundles(self) -> bool:
        """Whether it is defined where a person may have several values; if it looks at values, `share_bounds` says how."""
        return not self.looks_at_values

    @property
    def has_own_bounds(self) -> bool:
        """Whether single values have bounds of their own."""
        return False

    @property
    def least_rows(self) -> int:
        """No group with fewer rows can satisfy this; what a search need not try."""
        return 1

    def necessary(self, everyone: Groups) -> "Property":
        """A property that this one implies, and that a group which satisfies it keeps whatever rows are added.

        Adding rows to a good group can make it bad, so that with suppression a search may not conclude from one node
        to those above; from what is necessary it may. Where this is the property itself, nothing is ever lost.
        `everyone` is the whole table as one group.
        """
        from overt.privacy.k_anonymity import KAnonymity

        return KAnonymity(self.least_rows)

    @property
    def caution(self) -> str:
        """What a reader of the release must be told about this property; mostly nothing."""
        return ""

    def holds(self, groups: Groups) -> bool:
        """Whether every group satisfies this property."""
        return not self.breaks(groups).any()

    def describe_measure(self, groups: Groups) -> str:
        """The measure for reports, rounded towards "not safe": "k = 5", or "no t" where none holds."""
        measured = self.measure(groups)
        assert not isinstance(measured, tuple)  # combinations describe their parts
        return self.describe(measured)

    def describe(self, measured: Measure) -> str:
        """The same of a measure that is known."""
        if math.isinf(measured):
            return f"no {self.parameter}"
        down = Context(prec=4, rounding=ROUND_FLOOR if self.best == "largest" else ROUND_CEILING)
        rounded = down.divide(Decimal(exact(measured).numerator), Decimal(exact(measured).denominator))
        shown = measured if isinstance(measured, int) else f"{rounded.normalize():f}"
        return f"{self.parameter} {'>' if self.strict else '='} {shown}"

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        for name in ("holds", "breaks", "measure"):
            if name in vars(cls):
                setattr(cls, name, _of_groups(vars(cls)[name]))

    def __and__(self, other: "Property") -> "AllOf":
        """Both: `KAnonymity(5) & TCloseness(0.2)`."""
        from overt.privacy.all_of import AllOf

        if not isinstance(other, Property):
            raise InvalidInput(
                refusal(f"What is joined to {self} with &", other, "another property, such as KAnonymity(5)")
            )
        return AllOf((*self.parts, *other.parts))


def _of_groups(measured: Any) -> Any:
    """What is asked of something else than groups says so."""

    @wraps(measured)
    def asked(self: Property, groups: Groups, *given: Any, **how: Any) -> Any:
        try:
            return measured(self, groups, *given, **how)
        except AttributeError:
            if isinstance(groups, Groups):
                raise
        what = f"What {type(self).__name__}.{measured.__name__} is asked of"
        raise InvalidInput(refusal(what, groups, WORDS["Groups"]))

    return asked


def require_groups(groups: Groups) -> None:
    """Refuse to measure nothing."""
    if not groups.n_groups:
        raise InvalidInput("There are no groups to measure; give a release with at least one row.")


@dataclass(frozen=True, kw_only=True)
class SensitiveProperty(Property):
    """A property of the sensitive values in a group: of one column, or of each if none is named."""

    column: str | None = None

    @abstractmethod
    def breaks_histogram(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Broken:
        """For every group, whether this column's values break the property."""

    @abstractmethod
    def measure_histogram(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Measure:
        """The best parameter that holds of this column's values, of at least one group."""

    def breaks(self, groups: Groups) -> Broken:
        broken = np.zeros(groups.n_groups, np.bool_)
        for histogram in self._histograms(groups):
            if groups.n_groups:
                broken |= self._breaks(histogram, _out_of(histogram, groups))
        return broken

    def _breaks(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Broken:
        if histogram.sets is None:
            return self.breaks_histogram(histogram, sizes)
        return breaks_shares(self.share_limits(histogram), histogram, sizes)

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        """The least and the greatest share of a group's persons who may have a value in any row, if q of the count stratum have it."""
        raise InvalidInput(
            f"{self} is defined for one value per person, and here a person may have several. Ask for l-diversity, "
            "(alpha,k)-anonymity, beta-likeness or t-closeness with the equal distance, or keep one row per person."
        )

    def share_limits(self, histogram: Histogram) -> ShareLimits:
        """What it allows of every value in every count stratum, where a person may have several."""
        assert histogram.sets is not None and histogram.labels is not None
        return ShareLimits.of(self.share_bounds, histogram.sets, histogram.labels)

    def measure(self, groups: Groups) -> Measure:
        require_groups(groups)
        histograms = self._histograms(groups)
        measured = [self._measure(histogram, _out_of(histogram, groups)) for histogram in histograms]
        return min(measured) if self.best == "largest" else max(measured)

    def _measure(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Measure:
        if histogram.sets is not None:
            self.share_bounds(Fraction(1, 2), None)  # refuses what is not defined for several values
            return self.measure_shares(histogram, sizes)
        return self.measure_histogram(histogram, sizes)

    def measure_shares(self, histogram: Histogram, sizes: NDArray[np.int64]) -> Measure:
        """The best parameter that holds of this column's values where a person may have several."""
        return self.measure_histogram(histogram, sizes)

    def needs_values(self, everyone: Groups, share: Fraction) -> Property:
        """As many different values as the most frequent ones that have this share of the table, in each column."""
        from overt.privacy.all_of import AllOf
        from overt.privacy.l_diversity import DistinctLDiversity

        needs = []
        for name, histogram in everyone.histograms.items():
            if self.column in (None, name):
                rows = np.append(0, np.cumsum(np.sort(histogram.total_of_value)[::-1]))
                least = int(np.searchsorted(rows, math.ceil(share * int(rows[-1]))))
                needs.append(DistinctLDiversity(max(1, least), column=name))
        return AllOf(tuple(needs))

    @property
    def where(self) -> str:
        """Which column is meant, to follow the property's name in a sentence."""
        return "" if self.column is None else f" of {self.column!r}"

    def _histograms(self, groups: Groups) -> Iterable[Histogram]:
        if not groups.histograms:
            raise InvalidInput(f"{self} looks at sensitive values and the table has no sensitive column; name one.")
        if self.column is None:
            return groups.histograms.values()
        if self.column not in groups.histograms:
            raise unknown_column(self.column, groups.histograms)
        return [groups.histograms[self.column]]


def _out_of(histogram: Histogram, groups: Groups) -> NDArray[np.int64]:
    """(group) -> what the counts of a histogram are out of: the rows of the group, unless it says otherwise."""
    return groups.sizes if histogram.out_of is None else histogram.out_of
