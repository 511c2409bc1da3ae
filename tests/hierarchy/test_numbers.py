# SPDX-License-Identifier: Apache-2.0
from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.hierarchy import between, decimal, interval, quantile_cuts
from overt.errors import InvalidInput
from overt.hierarchy import CutPoints, Intervals, Quantiles
from overt.table import Kind

tenths = st.integers(-300, 300).map(lambda n: n / 10)
whole_numbers = st.integers(-60, 60)


def column(tree, level):
    return tree.to_frame()[f"level {level}"].to_list()


def series(numbers, dtype=None):
    return pl.Series("x", sorted(set(numbers)), dtype=dtype)


@given(
    st.lists(whole_numbers | st.none(), min_size=1),
    st.sampled_from([(5, 10, 20), (1, 3), (7,), (2.5, 5), ("1/3", 2)]),
    st.integers(-20, 20),
)
def test_whole_numbers_fall_where_walking_from_the_origin_leads(numbers, widths, origin):
    known = sorted({number for number in numbers if number is not None})
    values = pl.Series(known + [None] * (None in numbers), dtype=pl.Int64)
    tree = Intervals(widths=widths, origin=origin).build(values, Kind.NUMBER)
    for level, width in enumerate(widths, start=1):
        expected = []
        for number in known:
            lower, upper = interval(number, width, origin)
            inside = [str(n) for n in range(ceil(lower), ceil(upper))]
            expected.append(inside[0] if len(inside) == 1 else f"{inside[0]}..{inside[-1]}")
        assert column(tree, level)[: len(known)] == expected
    assert tree.n_levels == len(widths) + 2


@given(st.lists(tenths, min_size=1), st.sampled_from([(0.1, 0.2), (0.3,), (0.7, 1.4), (1, 2)]), tenths)
def test_decimals_fall_where_walking_from_the_origin_leads(numbers, widths, origin):
    values = series(numbers)
    tree = Intervals(widths=widths, origin=origin).build(values, Kind.NUMBER)
    for level, width in enumerate(widths, start=1):
        bounds = [interval(number, width, origin) for number in values]
        assert column(tree, level) == [f"[{float(lower)}, {float(upper)})" for lower, upper in bounds]


def test_tenths_begin_their_interval():  # 0.3 / 0.1 is 2.9999999999999996 in binary
    numbers = [n / 10 for n in range(-100, 101)]
    for dtype in (pl.Float64, pl.Float32):
        tree = Intervals(widths=(0.1,)).build(series(numbers, dtype), Kind.NUMBER)
        assert tree.n_nodes == 2 * len(numbers) + 1
        assert column(tree, 1)[103] == "[0.3, 0.4)"


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_any_float_lies_between_the_bounds_of_its_label(numbers):
    values = series([number + 0.0 for number in numbers])
    tree = Intervals(widths=(0.1, 100)).build(values, Kind.NUMBER)
    for number, label in zip(values, column(tree, 1), strict=True):
        lower, upper = label[1:-1].split(", ")
        assert Fraction(lower) <= decimal(repr(number)) < Fraction(upper)


def test_bounds_that_are_no_decimals_are_written_as_fractions():
    tree = Intervals(widths=(Fraction(1, 3),)).build(series([0.3, 0.4]), Kind.NUMBER)
    assert column(tree, 1) == ["[0.0, 1/3)", "[1/3, 2/3)"]
    tree = Intervals(widths=(Decimal("0.12345678901234567891"),)).build(series([0.2]), Kind.NUMBER)
    assert column(tree, 1) == ["[0.12345678901234567891, 0.24691357802469135782)"]


def test_decimal_columns_are_exact():
    values = pl.Series([Decimal("0.10"), Decimal("0.29"), Decimal("0.30")])
    assert column(Intervals(widths=(0.1,)).build(values, Kind.NUMBER), 1) == ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)"]


def test_the_largest_whole_numbers_are_exact():
    top = 2**63 - 1
    tree = Intervals(widths=(2**10,)).build(series([-(2**63), 2**53, 2**53 + 1, top]), Kind.NUMBER)
    assert column(tree, 1)[0] == f"{-(2**63)}..{-(2**63) + 1023}"
    assert column(tree, 1)[-1] == f"{2**63 - 1024}..{top}"
    tree = Intervals(widths=(2,)).build(series([2**64 - 1], pl.UInt64), Kind.NUMBER)
    assert column(tree, 1) == [f"{2**64 - 2}..{2**64 - 1}"]
    tree = CutPoints(levels=((2**53 + 1,),)).build(series([2**53, 2**53 + 1]), Kind.NUMBER)
    assert column(tree, 1) == [f"<{2**53 + 1}", f">={2**53 + 1}"]
    assert CutPoints(levels=((-(10**30), 10**30),)).build(series([1], pl.Int8), Kind.NUMBER).n_nodes == 3


def test_an_interval_of_one_whole_number_is_that_number():
    tree = Intervals(widths=(1, 10)).build(pl.Series([3, 14, None]), Kind.NUMBER)
    assert column(tree, 1) == ["3", "14", None]
    assert tree.n_nodes == 3 + 2 + 1


def test_every_level_is_kept_even_if_one_label_covers_all():  # ARX stops there: arx issue 362
    tree = Intervals(widths=(5, 10, 20)).build(pl.Series([0, 2, 4]), Kind.NUMBER)
    assert tree.to_frame().row(0) == ("0", "0..4", "0..9", "0..19", "*")
    assert tree.labels[int(tree.common_ancestor(0, 2))] == "0..4"


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((), "at least one width"),
        ((0,), "widths above 0"),
        ((5, -10), "widths above 0"),
        ((5, 12), "width 12 do not nest: each width must be a multiple of the one before; use 10 or 15"),
        ((5, 5), "width 5 do not nest"),
        ((0.25, 0.6), "use 0.5 or 0.75"),
        (("x",), "finite numbers"),
        ((float("nan"),), "finite numbers"),
        ((float("inf"),), "finite numbers"),
        (5, "takes a list"),
    ],
)
def test_widths_that_do_not_nest_are_refused(widths, message):
    with pytest.raises(InvalidInput, match=message):
        Intervals(widths=widths)


def test_origin_must_be_a_number():
    with pytest.raises(InvalidInput, match="The origin of a hierarchy"):
        Intervals(widths=(5,), origin="here")


@given(st.lists(whole_numbers, min_size=1), st.lists(st.sets(whole_numbers, min_size=1), min_size=1, max_size=3))
def test_cut_points_part_values_as_counting_them_does(numbers, points):
    levels = [sorted(set().union(*points[i:])) for i in range(len(points))]
    values = series(numbers)
    tree = CutPoints(levels=levels).build(values, Kind.NUMBER)
    for level, cuts in enumerate(levels, start=1):
        nodes = tree.node_of_leaf[level].tolist()
        counts = [between(number, cuts) for number in values]
        assert [a == b for a in nodes for b in nodes] == [a == b for a in counts for b in counts]
        for number, label in zip(values, column(tree, level), strict=True):
            assert says(label, number)


def says(label, number):
    """Whether a label, read by its text alone, holds a whole number."""
    if label.startswith("<"):
        return number < int(label[1:])
    if label.startswith(">="):
        return number >= int(label[2:])
    lower, _, upper = label.partition("..")
    return int(lower) <= number <= int(upper or lower)


def test_cut_points_between_decimals():
    tree = CutPoints(levels=((0.1, 0.3, 0.7), (0.3,))).build(series([0.0, 0.1, 0.2, 0.3, 0.9]), Kind.NUMBER)
    assert column(tree, 1) == ["<0.1", "[0.1, 0.3)", "[0.1, 0.3)", "[0.3, 0.7)", ">=0.7"]
    assert column(tree, 2) == ["<0.3", "<0.3", "<0.3", ">=0.3", ">=0.3"]


def test_broken_cut_points_part_whole_numbers_honestly():
    tree = CutPoints(levels=((18.5, 19.5, 40.5),)).build(pl.Series([18, 19, 20, 41]), Kind.NUMBER)
    assert column(tree, 1) == ["<19", "19", "20..40", ">=41"]


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ((), "at least one level"),
        (((),), "at least one cut point"),
        ((18, 65), r"write levels=\(\(18, 65\),\)"),
        (((65, 18),), "must ascend"),
        (((18, 18),), "must ascend"),
        (((18, 65), (40,)), "intervals of level 2 do not nest: its cut point 40 is not one of level 1"),
        (((0.5, 1), (0.25,)), "its cut point 0.25"),
        (((None,),), "finite numbers"),
    ],
)
def test_cut_points_that_do_not_nest_are_refused(levels, message):
    with pytest.raises(InvalidInput, match=message):
        CutPoints(levels=levels)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.sampled_from([(10, 5, 2), (4, 2), (3,), (7, 3, 2), (2,)]),
    st.booleans(),
)
def test_quantiles_cut_where_trying_every_place_does(n_rows, counts, with_null):
    values = pl.Series([10 * i for i in range(len(n_rows))] + [None] * with_null, dtype=pl.Int64)
    tree = Quantiles(counts=counts).build(values, Kind.NUMBER, np.array(n_rows + [5] * with_null))
    for level, cuts in enumerate(quantile_cuts(n_rows, counts), start=1):
        nodes = tree.node_of_leaf[level][: len(n_rows)]
        assert (np.flatnonzero(np.diff(nodes)) + 1).tolist() == cuts


def test_quantiles_of_even_values_are_even_and_one_frequent_value_is_not_split():
    tree = Quantiles(counts=(10, 5, 2)).build(pl.Series(range(100)), Kind.NUMBER)
    sizes = [np.unique(nodes, return_counts=True)[1].tolist() for nodes in tree.node_of_leaf[1:-1]]
    assert sizes == [[10] * 10, [20] * 5, [40, 60]]
    tree = Quantiles(counts=(4,)).build(pl.Series([1, 2, 3]), Kind.NUMBER, np.array([1, 98, 1]))
    assert column(tree, 1) == ["<2", "2", ">=3"]


def test_quantiles_of_one_value():
    assert column(Quantiles(counts=(4,)).build(pl.Series([7, None]), Kind.NUMBER), 1) == ["7", None]


@pytest.mark.parametrize("counts", [(), (1,), (2, 5), (5, 5), (4, 0)])
def test_counts_of_quantiles_must_descend(counts):
    with pytest.raises(InvalidInput, match="descend, each at least 2"):
        Quantiles(counts=counts)


def test_quantiles_refuse_row_counts_of_other_values():
    with pytest.raises(InvalidInput, match="one row count per value of column 'x', none below 0"):
        Quantiles(counts=(2,)).build(series([1, 2]), Kind.NUMBER, np.array([1]))


@pytest.mark.parametrize("builder", [Intervals(widths=(5,)), CutPoints(levels=((5,),)), Quantiles(counts=(2,))])
def test_only_numbers_have_intervals(builder):
    with pytest.raises(InvalidInput, match="need numbers and column 'x' is a category column of type String"):
        builder.build(pl.Series("x", ["a"]), Kind.CATEGORY)
    with pytest.raises(InvalidInput, match="need numbers and column 'x' is a category column"):
        builder.build(series([1]), Kind.CATEGORY)
    with pytest.raises(InvalidInput, match="2 of the 3 values of column 'x' are NaN or infinite"):
        builder.build(pl.Series("x", [1.0, float("inf"), float("nan")]), Kind.NUMBER)
    assert builder.build(pl.Series("x", [None], dtype=pl.Int64), Kind.NUMBER).n_nodes == 2
    assert builder.build(pl.Series("x", [], dtype=pl.Float64), Kind.NUMBER).n_nodes == 1


def test_builders_are_values():
    assert Intervals([5, 10]) == Intervals(widths=(5, 10))
    assert repr(Intervals(widths=(5, 10))) == "Intervals(widths=(5, 10), origin=0)"
    assert len({CutPoints([[1, 2]]), CutPoints(((1, 2),)), Quantiles([2])}) == 2
