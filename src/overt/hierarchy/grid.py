# SPDX-License-Identifier: Apache-2.0
"""Grid: where the ranges of a column of numbers or dates may end, so that their ends are nobody's values.

A range from the least to the greatest value of a group says for certain that somebody has each of its ends. On a grid it is rounded
outward to whole blocks: ages 23 to 41 are shown as 20..44 where blocks are 5 years wide.

The owner fixes a grid with a hierarchy: the finest width of `Intervals`, the finest unit of `Dates`. Without one the blocks of numbers are 1, 2 or
5 times a power of ten wide and those of dates a calendar unit, about a sixteenth of what the middle nine tenths of the column's different values
span. So one person's value moves no block, unless it is at the edge of these nine tenths and tips the choice of the width.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.dates import UNITS
from overt.hierarchy.numbers import Axis, occupied_intervals, plain
from overt.hierarchy.tree import DateGrid, NumberGrid, starts_of_runs
from overt.table import Codes, Column, Kind

BLOCKS = 16  # about how many the middle of a column has
EDGE = Fraction(1, 20)  # of the different values, at both ends
DAYS = {"decade": 3652, "year": 365, "quarter": 91, "month": 30}
FEWEST_DAYS_OF_MONTHS = 7  # a block narrower than a week is a day


@dataclass(frozen=True, eq=False)
class GridBlocks:
    """The blocks of a column's grid that hold a value, ascending."""

    block_of_code: Codes  # (code, but for missing) -> block
    first: Codes  # (block) -> its least code
    last: Codes
    least: pl.Series  # (block) -> where it begins, as text
    greatest: pl.Series  # (block) -> where it ends, as text

    def outward(self, bounds: NDArray[np.int32], missing: int | None) -> NDArray[np.int32]:
        """(group, 2) -> the least and greatest code of the blocks around them. Missing is in no block and stays."""
        known = bounds if missing is None else np.minimum(bounds, missing - 1)
        around = np.stack([self.first[self.block_of_code[known[:, 0]]], self.last[self.block_of_code[known[:, 1]]]], 1)
        return around if missing is None else np.where(bounds == missing, bounds, around).astype(np.int32)


def form_on_grid(column: Column) -> str:
    """What "grid" stands for: a grid where ranges can end on one, the lowest label of a hierarchy, or the form that is usual without."""
    if column.kind is not Kind.CATEGORY:
        return "range" if blocks_of(column) is None else "grid"
    return "set" if column.hierarchy is None else "label"


def blocks_of(column: Column) -> GridBlocks | None:
    """The blocks of a column of numbers or dates; None where a range can only end at values.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.census(1_000), quasi_identifiers=["Age"])
    >>> blocks = blocks_of(table.column("Age"))
    >>> blocks.least[0], blocks.greatest[0]
    ('15', '19')
    """
    known = column.values.head(len(column.values) - column.values.null_count())
    if column.kind is Kind.CATEGORY or not len(known):
        return None
    fixed = None if column.hierarchy is None else column.hierarchy.grid
    if column.kind is Kind.DATE:
        assert not isinstance(fixed, NumberGrid)
        return _of_dates(known, fixed or DateGrid(_usual_unit(known)))
    try:
        axis = Axis.of(known, column.kind, "Grids")
    except InvalidInput:  # infinite, or no number at all: in no block
        return None
    assert not isinstance(fixed, DateGrid)
    return _of_numbers(axis, fixed or NumberGrid(_usual_width(axis)))


def _of_numbers(axis: Axis, grid: NumberGrid) -> GridBlocks | None:
    whole = axis.whole or bool((axis.values == np.floor(axis.values.astype(np.float64))).all())
    if not grid.width or (whole and grid.width <= 1):
        return None
    starts, numbers = occupied_intervals(axis, grid.width, grid.origin)
    lower = [grid.origin + number * grid.width for number in numbers]
    upper = [bound + grid.width for bound in lower]
    if whole:
        least, greatest = [str(ceil(bound)) for bound in lower], [str(ceil(bound) - 1) for bound in upper]
    else:
        least, greatest = [plain(bound) for bound in lower], [plain(bound) for bound in upper]
    return _blocks(starts, axis.values.size, least, greatest)


def _of_dates(known: pl.Series, grid: DateGrid) -> GridBlocks | None:
    if grid.unit == "day" and known.dtype == pl.Date:
        return None
    numbers = UNITS[grid.unit].number(known).to_numpy()
    starts = starts_of_runs(numbers)
    first = [_first_day(grid.unit, number) for number in numbers[starts].tolist()]
    last = [_last_day(grid.unit, number) for number in numbers[starts].tolist()]
    return _blocks(starts, len(known), [day.isoformat() for day in first], [day.isoformat() for day in last])


def _blocks(starts: NDArray[np.int64], n_known: int, least: Sequence[str], greatest: Sequence[str]) -> GridBlocks:
    ends = np.append(starts[1:], n_known)
    block_of_code = np.repeat(np.arange(starts.size, dtype=np.int32), ends - starts)
    texts = (pl.Series(ends_of, dtype=pl.String) for ends_of in (least, greatest))
    return GridBlocks(block_of_code, starts.astype(np.int32), (ends - 1).astype(np.int32), *texts)


def _usual_width(axis: Axis) -> Fraction:
    """The least of 1, 2 and 5 times a power of ten that makes no more than so many blocks; 0 if all values are one."""
    low, high = _edges(axis.values.size)
    least = (axis.exact(high) - axis.exact(low)) / BLOCKS
    if not least:
        return Fraction(0)
    power = Fraction(10) ** (len(str(least.numerator)) - len(str(least.denominator)) - 1)
    return next(width for step in (1, 10, 100) for digit in (1, 2, 5) if (width := power * step * digit) >= least)


def _usual_unit(dates: pl.Series) -> str:
    low, high = _edges(len(dates))
    days = dates.dt.date()
    width = Fraction((days[high] - days[low]).days, BLOCKS)
    return next((u for u, n in DAYS.items() if width >= n), "month" if width >= FEWEST_DAYS_OF_MONTHS else "day")


def _edges(n: int) -> tuple[int, int]:
    """The least and the greatest of the middle of so many values in order."""
    aside = int(EDGE * n)
    return aside, n - 1 - aside


_FIRST: dict[str, Callable[[int], date]] = {
    "day": lambda day: date(1970, 1, 1) + timedelta(day),
    "month": lambda month: date(month // 12, month % 12 + 1, 1),
    "quarter": lambda quarter: date(quarter // 4, 3 * (quarter % 4) + 1, 1),
    "year": lambda year: date(year, 1, 1),
    "decade": lambda decade: date(max(1, 10 * decade), 1, 1),
}


def _first_day(unit: str, number: int) -> date:
    return _FIRST[unit](number)


def _last_day(unit: str, number: int) -> date:
    try:
        return _FIRST[unit](number + 1) - timedelta(1)
    except (ValueError, OverflowError):  # the calendar ends with the year 9999
        return date.max
