# SPDX-License-Identifier: Apache-2.0
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.report.bins import MOST_STEPS, MOST_VALUES, bins_of
from overt.table import Column, Kind, Role


def column_of(values, kind):
    series = pl.Series("c", values)
    distinct = series.drop_nulls().unique().sort()
    domain = distinct.extend_constant(None, 1) if series.null_count() else distinct
    place = {value: code for code, value in enumerate(domain)}
    codes = np.array([place[value] for value in values], np.int32)
    return Column("c", Role.QUASI_IDENTIFIER, kind, codes, domain)


numbers = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-200, 5000)), min_size=1, max_size=150),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=150),
    st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), min_size=1, max_size=150),
    st.lists(st.one_of(st.none(), st.sampled_from("abcdefghijklmnopqrstuvwxyz")), min_size=1, max_size=150),
)


@given(numbers, st.integers(1, 30))
def test_every_bin_has_enough_rows_or_is_alone(values, least_rows):
    if all(value is None for value in values):
        return
    known = next(value for value in values if value is not None)
    kind = Kind.CATEGORY if isinstance(known, str) else Kind.DATE if isinstance(known, date) else Kind.NUMBER
    column = column_of(values, kind)
    bins = bins_of(column, least_rows)
    count = bins.count(column.total_of_value)
    assert count.sum() == len(values)
    assert len(set(bins.labels)) == len(bins.labels)
    if len(bins.labels) > 1:
        assert count.min() >= least_rows
    assert len(bins.labels) <= max(MOST_VALUES + 1, 2 * MOST_STEPS + 4)


def test_numbers_are_cut_at_round_ones_and_open_at_the_ends():
    column = column_of(list(range(17, 91)) * 3, Kind.NUMBER)
    labels = bins_of(column, 10).labels
    assert labels[:3] == ("under 25", "25–29", "30–34")  # only 9 rows are under 20
    assert labels[-1] == "85 and over"


def test_dates_are_cut_where_years_begin():
    column = column_of([date(1990, 1, 1) + timedelta(days=40 * i) for i in range(200)], Kind.DATE)
    labels = bins_of(column, 5).labels
    assert labels[0].startswith("before 19") and all(label.startswith("from ") for label in labels[1:])


def test_rare_values_are_others_and_others_are_never_few():
    column = column_of(["a"] * 50 + ["b"] * 30 + ["c"] * 12 + ["d"], Kind.CATEGORY)
    bins = bins_of(column, 10)
    assert bins.labels == ("a", "b", "other values")
    assert bins.count(column.total_of_value).tolist() == [50, 30, 13]  # c joined d, which alone was too few


@pytest.mark.parametrize("values", [[5] * 30, [5] * 29 + [None]])
def test_one_number_that_everyone_has_is_not_spelled_out(values):
    assert "5" not in bins_of(column_of(values, Kind.NUMBER), 10).labels
