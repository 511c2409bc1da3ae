# SPDX-License-Identifier: Apache-2.0
"""Grids: where blocks begin and end, worked out again in fractions; that they hold still; and what is published on them."""

from datetime import date, datetime
from fractions import Fraction
from math import floor

import numpy as np
import polars as pl
import pytest

import overt
from overt.errors import InvalidInput
from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.partition import Partition
from overt.release import GeneralizedRelease


def column_of(values, **how):
    return overt.read_frame(pl.DataFrame({"x": values}), quasi_identifiers=["x"], **how).column("x")


def written(values, **how):
    """(value) -> the text of its block."""
    column = column_of(values, **how)
    blocks = blocks_of(column)
    known = column.values.drop_nulls().to_list()
    return {
        value: f"{blocks.least[block]}..{blocks.greatest[block]}"
        for value, block in zip(known, blocks.block_of_code.tolist(), strict=True)
    }


def test_blocks_of_a_width_that_was_fixed():
    tree = {"x": overt.Intervals(widths=(5, 10))}
    assert written([17, 20, 24, 25, -1, None], hierarchies=tree) == {
        -1: "-5..-1",
        17: "15..19",
        20: "20..24",
        24: "20..24",
        25: "25..29",
    }
    assert written([7, 12], hierarchies={"x": overt.Intervals(widths=(10,), origin=2)}) == {7: "2..11", 12: "12..21"}


def test_blocks_of_fractions_hold_their_lower_end_only():
    tree = {"x": overt.Intervals(widths=(0.1,))}
    assert written([0.2, 0.29, 0.3, 0.7], hierarchies=tree) == {
        0.2: "0.2..0.3",
        0.29: "0.2..0.3",
        0.3: "0.3..0.4",
        0.7: "0.7..0.8",
    }


def test_blocks_of_dates():
    days = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29)]
    months = written(days, hierarchies={"x": overt.Dates(units=("month", "year"))})
    assert list(months.values()) == ["2023-12-01..2023-12-31", "2024-01-01..2024-01-31", "2024-02-01..2024-02-29"]
    assert blocks_of(column_of(days, hierarchies={"x": overt.Dates(units=("day", "month"))})) is None
    assert list(written([date(9999, 12, 31), date(1, 1, 1)]).values()) == [
        "0001-01-01..0009-12-31",
        "9990-01-01..9999-12-31",
    ]
    moments = written([datetime(2024, 1, 1, 5, 30), datetime(2024, 1, 2)])
    assert list(moments.values()) == ["2024-01-01..2024-01-01", "2024-01-02..2024-01-02"]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_without_a_hierarchy_hold_every_value_and_have_a_round_width(seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 7)
    values = sorted({round(float(x), 4) for x in rng.normal(0, scale, 60)})
    column = column_of(values)
    blocks = blocks_of(column)
    assert blocks is not None
    ends = [(Fraction(low), Fraction(high)) for low, high in zip(blocks.least, blocks.greatest, strict=True)]
    widths = {high - low for low, high in ends}
    assert len(widths) == 1
    width = widths.pop()
    digits = f"{float(width):e}"[0]
    assert digits in "125"
    for value, block in zip(values, blocks.block_of_code.tolist(), strict=True):
        low, high = ends[block]
        assert low <= Fraction(str(value)) < high
        assert low == floor(Fraction(str(value)) / width) * width
    middle = Fraction(str(values[-1 - len(values) // 20])) - Fraction(str(values[len(values) // 20]))
    assert width >= middle / 16 and all(width / step < middle / 16 for step in (Fraction(5, 2),))


def test_one_extreme_value_moves_no_block():
    ages = list(range(17, 91))
    usual = written(ages)
    assert {age: text for age, text in written([*ages, 4000]).items() if age < 100} == usual
    assert usual[17] == "15..19"


@pytest.mark.parametrize("values", [[0, 1], [1, 2, 3, 4], [7], [None, None, 3], [0.5], ["a", "b"], [None]])
def test_where_there_is_no_grid(values):
    column = column_of(values)
    assert blocks_of(column) is None
    assert form_on_grid(column) in ("range", "set")


def test_bounds_go_outward_and_missing_stays():
    column = column_of([17, 18, 23, 31, 90, None], hierarchies={"x": overt.Intervals(widths=(10,))})
    blocks = blocks_of(column)
    bounds = np.array([[0, 2], [1, 1], [2, 5], [5, 5]], np.int32)
    assert blocks.outward(bounds, 5).tolist() == [[0, 2], [0, 1], [2, 5], [5, 5]]


def test_cells_say_nothing_of_where_in_a_block_somebody_is():
    """Everybody moves to another value of their block that occurs: not a byte of the release changes."""
    rng = np.random.default_rng(0)
    ages = np.sort(rng.integers(20, 60, 200))
    born = np.array([date(1950 + int(n) // 28, 1 + int(n) % 12, 1 + int(n) % 28) for n in rng.integers(0, 900, 200)])
    groups = Partition(np.repeat(np.arange(40, dtype=np.int32), 5), 40)

    def published(ages, born):
        frame = pl.DataFrame(
            {"age": [*ages.tolist(), *range(20, 60)], "born": [*born.tolist(), *all_days], "v": ["a"] * (200 + n)}
        )
        table = overt.read_frame(
            frame,
            quasi_identifiers=["age", "born"],
            sensitive=["v"],
            hierarchies={"age": overt.Intervals(widths=(5,)), "born": overt.Dates(units=("year",))},
        )
        method = overt.Mondrian(goal=overt.KAnonymity(2), cells="grid")
        rest = Partition(np.append(groups.group_of_row, np.full(n, 40, np.int32)), 41)
        return overt.publish(GeneralizedRelease(table, rest, method)).write_csv()

    n = 40
    all_days = [date(1950 + i, 6, 15) for i in range(n)]
    inside = 5 * (ages // 5) + (ages + 2) % 5
    moved = np.array([date(day.year, 13 - day.month, 28 - day.day % 28) for day in born])
    assert (inside != ages).any()
    before, after = published(ages, born), published(inside, moved)
    assert before == after
    assert "20..24" in before and "1950-01-01.." in before
    assert published(ages + 5 * (np.arange(200) == 0), born) != before  # the test can fail


def test_cells_are_one_of_two_words():
    for method in (overt.BlindBuckets, overt.Mondrian, overt.BatchMatching):
        with pytest.raises(InvalidInput, match="cells is 'wide'; choose one of 'grid', 'tight'"):
            method(goal=overt.FrequencyLDiversity(2), cells="wide")
    with pytest.raises(InvalidInput, match="cells is 'wide'"):
        overt.CrossBucket(2, 2, cells="wide")
