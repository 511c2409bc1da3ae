# SPDX-License-Identifier: Apache-2.0
"""Dictionary encoding: kinds, order, equal values, missing values, and back."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.hierarchy import Intervals, Nested
from overt.io.encoding import Coded, coded_from_series, codes_by_text, encode, values_as_came
from overt.table import Kind, Role


def encode_texts(texts, **settings):
    codes = np.arange(len(texts), dtype=np.int32)
    return encode("x", Role.QUASI_IDENTIFIER, Coded(pl.Series(texts, dtype=pl.String), codes, is_text=True), **settings)


def encode_series(values, dtype=None, **settings):
    return encode("x", Role.SENSITIVE, coded_from_series(pl.Series("x", values, dtype=dtype)), **settings)


def cells(column):
    return [column.values[code] for code in column.codes.tolist()]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["3", "-4", "0", ""], Kind.NUMBER),
        (["3.50", ".5", "1e-05", "2.5E+3"], Kind.NUMBER),
        (["01234", "12345"], Kind.CATEGORY),  # postcodes
        (["+3", "4"], Kind.CATEGORY),
        (["3E2", "4"], Kind.CATEGORY),
        (["nan", "1"], Kind.CATEGORY),
        (["inf"], Kind.CATEGORY),
        (["1,5", "2"], Kind.CATEGORY),
        (["12345678901234567890", "1"], Kind.CATEGORY),
        (["NA", "3"], Kind.CATEGORY),
        (["2024-02-29", "1999-12-31"], Kind.DATE),
        (["2023-02-29", "1999-12-31"], Kind.CATEGORY),
        (["1999-1-1"], Kind.CATEGORY),
        (["", ""], Kind.CATEGORY),
        (["\u0663\u0664", "3"], Kind.CATEGORY),  # digits of another script
        (["\uff12\uff10\uff12\uff14-02-29"], Kind.CATEGORY),
    ],
)
def test_kind_is_decided_from_the_distinct_texts(texts, kind):
    assert encode_texts(texts).kind is kind


def test_numbers_are_in_order_and_equal_ones_are_one_value():
    column = encode_texts(["10", "9", " 9 ", "", "10"])
    assert column.values.to_list() == [9, 10, None] and column.codes.tolist() == [1, 0, 0, 2, 1]
    column = encode_texts(["1.5", "1.50", "-0", "0.0", "1e-1"])
    assert column.values.to_list() == [0.0, 0.1, 1.5] and column.codes.tolist() == [2, 2, 0, 0, 1]
    assert encode_texts(["1.0", "2"]).values.dtype == pl.Int64


def test_only_listed_texts_are_missing():
    column = encode_texts(["NA", "?", "", " "])
    assert column.values.to_list() == ["?", "NA", None] and column.codes.tolist() == [1, 0, 2, 2]
    column = encode_texts(["NA", "?", "", "7"], missing_values=("NA", "?"))
    assert column.values.to_list() == ["", "7", None]
    column = encode_texts(["NA", "?", "", "7"], missing_values=("", "NA", "?"))
    assert column.kind is Kind.NUMBER and column.values.to_list() == [7, None] and column.missing_code == 1


def test_a_declared_kind_overrides():
    assert encode_texts(["3", "12"], kind=Kind.CATEGORY).values.to_list() == ["12", "3"]
    assert encode_texts(["+3", "012", "4E2"], kind=Kind.NUMBER).values.to_list() == [3, 12, 400]
    moments = encode_texts(["2024-01-02 10:00:00", "2024-01-02 09:00:00"], kind=Kind.DATE).values
    assert moments.to_list() == [datetime(2024, 1, 2, 9), datetime(2024, 1, 2, 10)]


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.DATE])
def test_a_kind_that_does_not_fit_is_refused_with_a_count_and_no_value(kind):
    with pytest.raises(InvalidInput, match=rf"declared a {kind}, and 2 cells are not one \(rows 1 and 2\)") as caught:
        encode_texts(["secret", "hidden", "3" if kind is Kind.NUMBER else "2020-01-01", ""], kind=kind)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(InvalidInput, match=r"1 cell is not one \(row 1\)"):
        encode_texts([text, "1"], kind=Kind.NUMBER)


TYPED = [
    (pl.Int8, [3, -100, None, 3, 100], Kind.NUMBER),
    (pl.UInt64, [3, 2**64 - 1, 2**64 - 2], Kind.NUMBER),
    (pl.UInt64, [3, 2**40, 7], Kind.NUMBER),
    (pl.Int64, [2**62, -(2**62), None], Kind.NUMBER),
    (pl.Int128, [2**62, 5], Kind.NUMBER),
    (pl.Float64, [1.5, -0.25, None, 1e300], Kind.NUMBER),
    (pl.Float32, [1.5, 0.25, None], Kind.NUMBER),
    (pl.Float64, [30.0, None, 20.0], Kind.NUMBER),
    (pl.Decimal(10, 2), [Decimal("1.25"), None, Decimal("-3.10")], Kind.NUMBER),
    (pl.Decimal(10, 0), [Decimal(7), Decimal(5)], Kind.NUMBER),
    (pl.Boolean, [True, None, False], Kind.CATEGORY),
    (pl.String, ["b", None, "a"], Kind.CATEGORY),
    (pl.Categorical, ["b", None, "a"], Kind.CATEGORY),
    (pl.Enum(["lo", "mid", "hi"]), ["hi", None, "lo"], Kind.CATEGORY),
    (pl.Date, [date(2024, 1, 2), None, date(1900, 1, 1)], Kind.DATE),
    (pl.Datetime("ms"), [datetime(2024, 1, 2, 3), None, datetime(1900, 1, 1)], Kind.DATE),
    (pl.Datetime("ns"), [datetime(2024, 1, 2), datetime(1900, 1, 1)], Kind.DATE),
    (pl.Datetime("us", "UTC"), [datetime(2024, 1, 2), datetime(1900, 1, 1)], Kind.DATE),
    (pl.Null, [None, None], Kind.CATEGORY),
]


@pytest.mark.parametrize(("dtype", "values", "kind"), TYPED)
def test_typed_columns_come_back_as_they_came(dtype, values, kind):
    series = pl.Series("x", values, dtype=dtype)
    column = encode_series(values, dtype)
    back = values_as_came(column).gather(column.codes)
    assert column.kind is kind
    assert back.to_list() == series.to_list()
    if dtype != pl.Enum and dtype != pl.Categorical:
        assert back.dtype == series.dtype
    known = column.values.drop_nulls()
    assert len(known.unique()) == len(known)
    assert (column.missing_code is not None) == (series.null_count() > 0)


@pytest.mark.parametrize(("dtype", "values", "kind"), TYPED)
def test_typed_columns_as_categories_come_back_as_they_came(dtype, values, kind):
    column = encode_series(values, dtype, kind=Kind.CATEGORY)
    assert column.values.dtype == pl.String
    back = values_as_came(column).gather(column.codes)
    assert back.to_list() == pl.Series(values, dtype=dtype).to_list()


def test_ordered_categories_keep_their_order_and_only_those_that_occur():
    column = encode_series(["hi", "lo", "hi"], pl.Enum(["lo", "mid", "hi"]))
    assert column.values.to_list() == ["lo", "hi"] and column.codes.tolist() == [1, 0, 1]


def test_nan_is_missing():
    column = encode_series([1.5, float("nan"), None])
    assert column.values.to_list() == [1.5, None] and column.codes.tolist() == [0, 1, 1]


def test_whole_floats_and_midnights_are_printed_as_people_do():
    assert encode_series([30.0, None, 20.0]).values.to_list() == [20, 30, None]
    assert encode_series([datetime(2020, 1, 2), datetime(2020, 1, 1)]).values.dtype == pl.Date


def test_strings_of_typed_sources_are_categories_unless_declared():
    assert encode_series(["3", "12"]).kind is Kind.CATEGORY
    assert encode_series(["3", "12"], kind=Kind.NUMBER).values.to_list() == [3, 12]


@pytest.mark.parametrize(
    ("values", "dtype", "name"),
    [
        ([[1], [2]], None, "List"),
        ([{"a": 1}], None, "Struct"),
        ([b"x"], None, "Binary"),
        ([object()], pl.Object, "Object"),
    ],
)
def test_types_without_an_order_are_refused_by_name(values, dtype, name):
    with pytest.raises(InvalidInput, match=f"Column 'x' is of type {name}"):
        encode_series(values, dtype)


def test_numbers_beyond_64_bits_are_refused():
    with pytest.raises(InvalidInput, match="1 distinct numbers with more digits"):
        encode_series([2**100, 1], pl.Int128)
    with pytest.raises(InvalidInput, match="1 distinct numbers with more digits"):
        encode_series([Decimal("12345678901234567.89"), Decimal(1)], pl.Decimal(30, 2))


def test_a_category_takes_the_order_of_its_hierarchy():
    tree = Nested({"north": ["b", "d"], "south": ["a", "c"]})
    column = encode_texts(["a", "b", "c", "d", ""], builder=tree)
    assert column.values.to_list() == column.hierarchy.leaves.to_list() == ["b", "d", "a", "c", None]
    assert cells(column) == ["a", "b", "c", "d", None]


def test_a_number_keeps_its_order_under_a_hierarchy():
    column = encode_texts(["7", "12", "3"], builder=Intervals(widths=(5, 10)))
    assert column.values.to_list() == [3, 7, 12] and column.hierarchy.n_leaves == 3


def test_codes_by_text_order_anything():
    assert codes_by_text(pl.Series([10, 9, None]))[0].tolist() == [0, 1, 2]
    assert codes_by_text(pl.Series([[2], [1], [2], None]))[0].tolist() == [1, 0, 1, 2]
    assert codes_by_text(pl.Series(["b", "a"], dtype=pl.Categorical))[0].tolist() == [1, 0]


def test_categories_of_ones_own_are_categories():
    series = pl.Series("x", ["b", "a", None, "b"], dtype=pl.Categorical(pl.Categories.random()))
    column = encode("x", Role.QUASI_IDENTIFIER, coded_from_series(series))
    assert (column.values.to_list(), column.codes.tolist()) == (["a", "b", None], [1, 0, 2, 1])
    assert codes_by_text(series)[0].tolist() == [1, 0, 2, 1]


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5))))
def test_integers_encode_and_decode(values):
    column = encode_series(values, pl.Int64)
    assert cells(column) == values
    assert column.values.drop_nulls().is_sorted()


@given(st.lists(st.one_of(st.none(), st.floats(allow_infinity=False))))
def test_floats_encode_and_decode(values):
    column = encode_series(values, pl.Float64)
    assert cells(column) == [None if value is None or value != value else value for value in values]


@given(st.lists(st.one_of(st.none(), st.text(st.sampled_from("abé *"), max_size=3))))
def test_texts_encode_and_decode(values):
    column = encode_series(values, pl.String)
    assert cells(column) == [(value or "").strip() or None for value in values]


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1))
def test_number_texts_are_ordered_by_value(numbers):
    column = encode_texts([f"{number:.2f}" for number in numbers])
    assert [column.values[code] for code in column.codes.tolist()] == [float(f"{number:.2f}") for number in numbers]
    assert column.values.is_sorted() and column.n_values == len({float(number) for number in numbers})
