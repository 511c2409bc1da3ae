# SPDX-License-Identifier: Apache-2.0
from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.hierarchy import Dates
from overt.table import Kind

WRITTEN = {
    "day": lambda d: d.isoformat()[:10],
    "month": lambda d: d.isoformat()[:7],
    "quarter": lambda d: f"{d.isoformat()[:4]}-Q{(d.month + 2) // 3}",
    "year": lambda d: d.isoformat()[:4],
    "decade": lambda d: d.isoformat()[:3] + "0s",
}


@given(st.lists(st.dates() | st.none(), min_size=1), st.sets(st.sampled_from(list(WRITTEN)), min_size=1))
def test_dates_are_written_by_their_units(days, chosen):
    units = [unit for unit in WRITTEN if unit in chosen]
    values = pl.Series(days, dtype=pl.Date).unique().sort(nulls_last=True)
    tree = Dates(units=units).build(values, Kind.DATE)
    for level, unit in enumerate(units, start=1):
        expected = [None if day is None else WRITTEN[unit](day) for day in values]
        assert tree.to_frame()[f"level {level}"].to_list() == expected
    assert tree.n_levels == len(units) + 2


@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_times_of_one_day_share_the_day(zone):
    times = [datetime(1999, 12, 31, 23, 59), datetime(2000, 1, 1), datetime(2000, 1, 1, 12)]
    values = pl.Series(times).dt.replace_time_zone(zone)
    tree = Dates(units=("day", "decade")).build(values, Kind.DATE)
    assert tree.to_frame()["level 1"].to_list() == ["1999-12-31", "2000-01-01", "2000-01-01"]
    assert tree.to_frame()["level 2"].to_list() == ["1990s", "2000s", "2000s"]
    assert tree.labels[1].startswith("2000-01-01T00:00:00")


def test_a_day_of_a_date_is_the_date_itself():
    tree = Dates(units=("day", "year")).build(pl.Series([date(2024, 2, 29)]), Kind.DATE)
    assert tree.n_nodes == 3


@pytest.mark.parametrize("units", [(), ("week",), ("year", "month"), ("year", "year")])
def test_units_must_be_known_and_in_order(units):
    with pytest.raises(InvalidInput, match="units among day, month, quarter, year, decade"):
        Dates(units=units)


def test_only_dates_have_units():
    with pytest.raises(InvalidInput, match="Dates need dates and column 'born' is a date column of type String"):
        Dates().build(pl.Series("born", ["2024-01-01"]), Kind.DATE)
