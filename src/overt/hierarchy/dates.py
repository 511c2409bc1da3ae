# SPDX-License-Identifier: Apache-2.0
"""Hierarchies of dates: day, month, quarter, year, decade."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from overt.arguments import require_list
from overt.errors import InvalidInput
from overt.hierarchy.base import Counts, Level, column_name, known_values, plant
from overt.hierarchy.tree import DateGrid, Hierarchy, starts_of_runs
from overt.table import Kind


class Unit(NamedTuple):
    """A stretch of the calendar: its number, ascending in time, and its text."""

    number: Callable[[pl.Series], pl.Series]
    text: Callable[[int], str]


def _months(dates: pl.Series) -> pl.Series:
    return dates.dt.year().cast(pl.Int64) * 12 + dates.dt.month() - 1


def _day_text(day: int) -> str:
    return str(pl.Series([day]).cast(pl.Int32).cast(pl.Date).cast(pl.String)[0])


UNITS = {
    "day": Unit(lambda dates: dates.dt.date().cast(pl.Int32).cast(pl.Int64), _day_text),
    "month": Unit(_months, lambda month: f"{month // 12:04d}-{month % 12 + 1:02d}"),
    "quarter": Unit(lambda dates: _months(dates) // 3, lambda quarter: f"{quarter // 4:04d}-Q{quarter % 4 + 1}"),
    "year": Unit(lambda dates: dates.dt.year().cast(pl.Int64), lambda year: f"{year:04d}"),
    "decade": Unit(lambda dates: dates.dt.year().cast(pl.Int64) // 10, lambda decade: f"{decade * 10:04d}s"),
}


@dataclass(frozen=True)
class Dates:
    """Calendar units, the finest first: any of day, month, quarter, year, decade, in this order.

    >>> from datetime import date
    >>> days = pl.Series([date(2023, 12, 31), date(2024, 1, 1), date(2024, 3, 5)])
    >>> Dates(units=("quarter", "year")).build(days, Kind.DATE).to_frame().row(2)
    ('2024-03-05', '2024-Q1', '2024', '*')
    """

    units: tuple[str, ...] = ("month", "quarter", "year", "decade")

    def __post_init__(self) -> None:
        require_list("Dates", self.units, '("month", "year")')
        object.__setattr__(self, "units", tuple(self.units))
        if not self.units or list(self.units) != [unit for unit in UNITS if unit in self.units]:
            raise InvalidInput(
                f"Dates need units among {', '.join(UNITS)}, each once and in this order; given: {self.units}."
            )

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        if kind is not Kind.DATE or not isinstance(values.dtype, pl.Date | pl.Datetime):
            raise InvalidInput(
                f"Dates need dates and {column_name(values)} is a {kind} column of type {values.dtype}; "
                "declare it a date, or use another hierarchy."
            )
        known = known_values(values, kind)
        levels = [unit_level(UNITS[unit], known) for unit in self.units]
        return replace(plant(values, levels), grid=DateGrid(self.units[0]))


def unit_level(unit: Unit, dates: pl.Series) -> Level:
    """The level of one calendar unit; dates ascend, so each unit is a run of them."""
    numbers = unit.number(dates).to_numpy()
    starts = starts_of_runs(numbers)
    return Level(starts, [unit.text(number) for number in numbers[starts].tolist()])
