# SPDX-License-Identifier: Apache-2.0
"""Hierarchies of numbers: intervals of fixed width, between cut points, or with about as many rows each.

Every interval contains its lower bound and not its upper bound. Bounds are exact: a number, in the data or
in a width, is the decimal that a person would write (0.3 is 3/10, not the nearest binary fraction), so 0.3
begins the interval [0.3, 0.4) of width 0.1.

Labels say exactly what is inside. In a column of whole numbers they are closed, `20..24`, and an interval
that holds one whole number is that number; elsewhere they are half-open, `[0.5, 1.0)`. Open ends are `<18`
and `>=65`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.arguments import require_list
from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.base import Counts, Level, column_name, known_values, plant
from overt.hierarchy.tree import Hierarchy, NumberGrid, starts_of_runs
from overt.table import Kind

Number = int | float | str | Decimal | Fraction


@dataclass(frozen=True)
class Intervals:
    """Intervals of fixed width, counted from `origin` in both directions; the finest width first.

    Each width is a multiple of the one before, so that the intervals nest.

    >>> tree = Intervals(widths=(5, 20)).build(pl.Series([-3, 0, 4, 5, 38]), Kind.NUMBER)
    >>> tree.to_frame().rows()[1:4]
    [('0', '0..4', '0..19', '*'), ('4', '0..4', '0..19', '*'), ('5', '5..9', '0..19', '*')]
    >>> Intervals(widths=(0.1,)).build(pl.Series([0.2, 0.3]), Kind.NUMBER).labels[3]
    '[0.3, 0.4)'
    """

    widths: tuple[Number, ...]
    origin: Number = 0

    def __post_init__(self) -> None:
        require_list("Intervals", self.widths, "(5, 10, 20)")
        widths = _exact_numbers(self.widths, "widths")
        _exact_numbers([self.origin], "origin")
        if not widths or min(widths) <= 0:
            raise InvalidInput(f"Intervals need at least one width, and widths above 0; given: {list(self.widths)}.")
        for finer, wider, given in zip(widths, widths[1:], self.widths[1:], strict=False):
            if wider <= finer or (wider / finer).denominator != 1:
                raise InvalidInput(
                    f"Intervals of width {given} do not nest: each width must be a multiple of the one before; "
                    f"use {plain(finer * 2)} or {plain(finer * 3)}, for example."
                )
        object.__setattr__(self, "widths", tuple(self.widths))

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        axis = Axis.of(values, kind, "Intervals")
        widths, (origin,) = _exact_numbers(self.widths, "widths"), _exact_numbers([self.origin], "origin")
        starts, numbers = occupied_intervals(axis, widths[0], origin)
        levels = []
        for width in widths:
            wide = np.array([number // (width // widths[0]) for number in numbers], object)
            first = starts_of_runs(wide)
            bounds = [origin + number * width for number in wide[first]]
            levels.append(Level(starts[first], [axis.label(lower, lower + width) for lower in bounds]))
        return replace(plant(values, levels), grid=NumberGrid(widths[0], origin))


@dataclass(frozen=True)
class CutPoints:
    """Intervals between cut points, one list of them per level, the finest first.

    A value equal to a cut point belongs to the interval above it. Each level drops some cut points of the
    one before.

    >>> tree = CutPoints(levels=((18, 40, 65), (18, 65))).build(pl.Series([17, 18, 39, 64, 65]), Kind.NUMBER)
    >>> tree.to_frame()["level 1"].to_list()
    ['<18', '18..39', '18..39', '40..64', '>=65']
    """

    levels: tuple[tuple[Number, ...], ...]

    def __post_init__(self) -> None:
        require_list("CutPoints", self.levels, "((18, 40, 65), (18, 65))")
        if any(isinstance(points, Number) for points in self.levels):
            raise InvalidInput("Cut points are one list per level: write levels=((18, 65),), not levels=(18, 65).")
        if not self.levels or not all(self.levels):
            raise InvalidInput("CutPoints need at least one level, and every level at least one cut point.")
        levels = [_exact_numbers(points, "cut points") for points in self.levels]
        for points in levels:
            if sorted(set(points)) != points:
                raise InvalidInput("The cut points of a level must ascend, each once.")
        for number, (finer, coarser) in enumerate(pairwise(levels), start=2):
            if strange := [point for point in coarser if point not in set(finer)]:
                raise InvalidInput(
                    f"The intervals of level {number} do not nest: its cut point {plain(strange[0])} is "
                    f"not one of level {number - 1}; add it there."
                )
        object.__setattr__(self, "levels", tuple(tuple(points) for points in self.levels))

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        axis = Axis.of(values, kind, "CutPoints")
        levels = [axis.cut_at(_exact_numbers(points, "cut points")) for points in self.levels]
        return plant(values, levels)


@dataclass(frozen=True)
class Quantiles:
    """Intervals with about as many rows each: 10 of them, joined to 5, joined to 2.

    Each bound is where the number of rows below it is nearest to the quantile's (the lower one of two equally
    near); a coarser level joins neighbouring intervals of the one before, again as evenly as it can. A value is
    never split, so a frequent one can leave fewer intervals than asked for. Without row counts, each value
    counts once. The bounds are values of the data and become public with the labels.

    >>> ages = pl.Series([20, 30, 31, 40, 50, 60, 61, 90])
    >>> Quantiles(counts=(4, 2)).build(ages, Kind.NUMBER).to_frame()["level 1"].unique(maintain_order=True).to_list()
    ['<31', '31..49', '50..60', '>=61']
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        require_list("Quantiles", self.counts, "(10, 5, 2)")
        object.__setattr__(self, "counts", tuple(self.counts))
        descending = sorted(set(self.counts), reverse=True)
        if not self.counts or list(self.counts) != descending or self.counts[-1] < 2:
            raise InvalidInput(
                f"Quantiles need numbers of intervals that descend, each at least 2, as in (10, 5, 2); given: {self.counts}."
            )

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        axis = Axis.of(values, kind, "Quantiles")
        n_known = axis.values.size
        n_rows = np.ones(n_known, np.int64) if n_rows_of_value is None else np.asarray(n_rows_of_value, np.int64)
        if n_rows_of_value is not None and (n_rows.size != len(values) or (n_rows < 0).any()):
            raise InvalidInput(f"Quantiles need one row count per value of {column_name(values)}, none below 0.")
        n_rows_below = np.append(0, n_rows[:n_known].cumsum())  # (leaf) -> rows whose value is less
        cuts = np.arange(1, n_known)
        levels = []
        for count in self.counts:
            cuts = _nearest_cuts(cuts, n_rows_below, count)
            levels.append(axis.cut_at([axis.exact(cut) for cut in cuts.tolist()]))
        return plant(values, levels)


@dataclass(frozen=True, eq=False)
class Axis:
    """The numbers of a column in ascending order, compared with exact bounds."""

    values: NDArray[Any]  # integers, floats, or (for decimals) fractions
    whole: bool

    @classmethod
    def of(cls, values: pl.Series, kind: Kind, asked_by: str) -> "Axis":
        """The axis of a column's values without the null, if they are numbers."""
        if kind is not Kind.NUMBER or not values.dtype.is_numeric():
            raise InvalidInput(
                f"{asked_by} need numbers and {column_name(values)} is a {kind} column of type {values.dtype}; "
                "declare it a number, or use another hierarchy."
            )
        known = known_values(values, kind)
        if known.dtype.is_float() and (n_strange := int((~known.is_finite()).sum())):
            raise InvalidData(
                f"{n_strange} of the {len(known)} values of {column_name(values)} are NaN or infinite and lie in no "
                "interval; make them missing values first."
            )
        exact = np.array([Fraction(value) for value in known], object) if known.dtype.is_decimal() else known.to_numpy()
        return cls(exact, known.dtype.is_integer())

    def fits(self, *bounds: Fraction) -> bool:
        """Whether sums of two of these bounds and numbers of the column can be made in 64 bits."""
        ends = self.values[[0, -1]].tolist() if self.values.size else []
        numbers = [*bounds, *map(Fraction, ends)]
        return all(-(2**62) < number < 2**62 for number in numbers)

    def exact(self, leaf: int) -> Fraction:
        """The number of a leaf as a person would write it."""
        return Fraction(str(self.values[leaf]))

    def first_not_below(self, bound: Fraction) -> int:
        """The first leaf whose number is at least the bound; the number of leaves if there is none."""
        leaf = int(np.searchsorted(self.values, self._near(bound)))
        while leaf < self.values.size and self.exact(leaf) < bound:
            leaf += 1
        while leaf > 0 and self.exact(leaf - 1) >= bound:
            leaf -= 1
        return leaf

    def cut_at(self, points: Sequence[Fraction]) -> Level:
        """The level of intervals between cut points, leaving out those without a leaf."""
        bounds = [None, *points, None]
        places = [0, *(self.first_not_below(point) for point in points), self.values.size]
        occupied = [i for i in range(len(points) + 1) if places[i] < places[i + 1]]
        labels = [self.label(bounds[i], bounds[i + 1]) for i in occupied]
        return Level(np.array([places[i] for i in occupied], np.int64), labels)

    def label(self, lower: Fraction | None, upper: Fraction | None) -> str | None:
        """The text of the numbers from `lower` to below `upper`; None stands for an open end."""
        if lower is None:
            return None if upper is None else f"<{_text(upper, whole=self.whole)}"
        if upper is None:
            return f">={_text(lower, whole=self.whole)}"
        if not self.whole:
            return f"[{_text(lower, whole=False)}, {_text(upper, whole=False)})"
        least, greatest = ceil(lower), ceil(upper) - 1
        return str(least) if least == greatest else f"{least}..{greatest}"

    def _near(self, bound: Fraction) -> Any:
        """The bound, or what is nearest to it among the numbers that this column could hold."""
        if self.values.dtype == object:
            return bound
        if self.whole:
            limits = np.iinfo(self.values.dtype)
            return self.values.dtype.type(min(max(ceil(bound), limits.min), limits.max))
        greatest = Fraction(float(np.finfo(self.values.dtype).max))
        return self.values.dtype.type(float(min(max(bound, -greatest), greatest)))


def exact(number: Number) -> Fraction:
    """The number that a person wrote: 0.1 is 1/10, not the nearest binary fraction."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _exact_numbers(numbers: Iterable[Number], what: str) -> list[Fraction]:
    try:
        return [exact(number) for number in numbers]
    except (TypeError, ValueError, ArithmeticError):
        raise InvalidInput(f"The {what} of a hierarchy must be a list of finite numbers; given: {numbers!r}.") from None


def occupied_intervals(axis: Axis, width: Fraction, origin: Fraction) -> tuple[NDArray[np.int64], list[int]]:
    """First leaf and number of every interval [origin + number * width, ... + width) that holds a leaf."""
    if axis.whole and width.denominator == origin.denominator == 1 and axis.fits(origin, width):
        number_of_leaf = (axis.values.astype(np.int64) - int(origin)) // int(width)
        first = starts_of_runs(number_of_leaf)
        return first, number_of_leaf[first].tolist()
    starts: list[int] = []
    numbers: list[int] = []
    leaf = 0
    while leaf < axis.values.size:
        starts.append(leaf)
        numbers.append(floor((axis.exact(leaf) - origin) / width))
        leaf = axis.first_not_below(origin + (numbers[-1] + 1) * width)
    return np.array(starts, np.int64), numbers


def _nearest_cuts(cuts: NDArray[np.int64], n_rows_below: Counts, count: int) -> NDArray[np.int64]:
    """Of the possible cuts, those nearest to equal parts: each a leaf that begins an interval, each once."""
    if not cuts.size:
        return cuts
    below = n_rows_below[cuts] * count
    targets = n_rows_below[-1] * np.arange(1, count)
    after = np.searchsorted(below, targets).clip(0, cuts.size - 1)
    before = np.searchsorted(below, below[(after - 1).clip(0)])  # the first of equals: a value may have no rows
    chosen: NDArray[np.int64] = np.unique(
        np.where(abs(below[before] - targets) <= abs(below[after] - targets), before, after)
    )
    return cuts[chosen]


def _text(number: Fraction, *, whole: bool) -> str:
    """A bound as text: the least whole number that it lets in, or the bound itself as a decimal, 1/3 if need be."""
    if whole:
        return str(ceil(number))
    decimal = Decimal(number.numerator) / Decimal(number.denominator)
    if Fraction(decimal) != number:
        return str(number)
    return repr(float(decimal)) if Fraction(repr(float(decimal))) == number else str(decimal)


def plain(number: Fraction) -> str:
    """A number as a person writes it: 20, 0.5."""
    return _text(number, whole=number.denominator == 1)
