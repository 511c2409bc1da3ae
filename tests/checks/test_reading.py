# SPDX-License-Identifier: Apache-2.0
"""Published texts are read as they were meant, and nothing else is read at all."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.tiny import cell, column
from overt.checks.reading import UNKNOWN, Texts, read_cells, read_values
from overt.errors import InvalidInput
from overt.hierarchy import Nested
from overt.table import Kind, Role

NASTY = [
    "",
    "*",
    "missing",
    "a",
    "a or missing",
    "a..b",
    "..",
    '"',
    '"a"',
    "{a, b}",
    "a, b",
    " a",
    "a ",
    "b\\",
    "é",
    "a\nb",
]


def codes_of(readings, text=0):
    runs = range(readings.first[text], readings.first[text + 1])
    return {code for run in runs for code in range(readings.least[run], readings.greatest[run] + 1)}


def read(text, of, form):
    return codes_of(read_cells(pl.Series([text], dtype=pl.String), of, form))


@given(st.sets(st.sampled_from(NASTY), min_size=2), st.booleans(), st.data())
def test_sets_and_ranges_of_any_category_are_read_back(names, with_missing, data):
    of = column("c", Role.QUASI_IDENTIFIER, [*names] + [None] * with_missing)
    codes = data.draw(st.sets(st.integers(0, of.n_values - 1), min_size=1))
    assert read(cell(of, codes, "set")[1], of, "set") == codes
    known = codes - {of.missing_code}
    between = set(range(min(known), max(known) + 1)) if known else set()
    assert read(cell(of, codes, "range")[1], of, "range") == between | (codes - known)


@given(st.sets(st.one_of(st.integers(-50, 50), st.floats(-1e9, 1e9)), min_size=2), st.booleans(), st.data())
def test_ranges_of_numbers_are_read_back(numbers, with_missing, data):
    numbers = {float(number) for number in numbers} if any(isinstance(n, float) for n in numbers) else numbers
    of = column("c", Role.QUASI_IDENTIFIER, [*numbers] + [None] * with_missing, Kind.NUMBER)
    codes = data.draw(st.sets(st.integers(0, of.n_values - 1), min_size=1))
    known = codes - {of.missing_code}
    between = set(range(min(known), max(known) + 1)) if known else set()
    assert read(cell(of, codes, "range")[1], of, "range") == between | (codes - known)


def test_labels_are_read_back():
    tree = Nested({"A": {"A1": ["x", "a..b"], "A2": "y"}, "B": ["*", "z"]})
    of = column("c", Role.QUASI_IDENTIFIER, ["x", "a..b", "y", "*", "z", None], hierarchy=tree)
    for text, leaves in {
        "A1": ["x", "a..b"],
        "A": ["x", "a..b", "y"],
        "A2": ["y"],
        "*": ["x", "a..b", "y", "*", "z", None],
        '"*"': ["*"],
        '"a..b"': ["a..b"],
        "y": ["y"],
        None: [None],
    }.items():
        assert {of.values[code] for code in read(text, of, "label")} == set(leaves)


AGES = [20, 25, 30, None]
NAMES = ["a", "b", "c", "d, e"]


@pytest.mark.parametrize(
    ("text", "values", "form"),
    [
        ("20..31", AGES, "range"),  # no such bound
        ("25..20", AGES, "range"),
        ("25..25", AGES, "range"),
        ("20 .. 25", AGES, "range"),
        ("20-25", AGES, "range"),
        ("20..25..30", AGES, "range"),
        ("{20, 25}", AGES, "range"),
        ("missing", AGES, "range"),
        (" or missing", AGES, "range"),
        ("20..25 or missing", AGES[:3], "range"),
        (None, AGES[:3], "range"),
        ("twenty", AGES, "range"),
        ("20.5", AGES, "range"),
        ("", AGES, "range"),
        ("a..b", NAMES, "set"),
        ("{b, a}", NAMES, "set"),
        ("{a, a}", NAMES, "set"),
        ("{a}", NAMES, "set"),
        ("{}", NAMES, "set"),
        ("{a, b", NAMES, "set"),
        ("{a,b}", NAMES, "set"),
        ("{a, b, }", NAMES, "set"),
        ("{a, b, missing}", NAMES, "set"),
        ("{a, z}", NAMES, "set"),
        ("d, e", NAMES, "set"),  # needs quotes
        ("{a, d, e}", NAMES, "set"),
        ('"d, e', NAMES, "set"),
        ('["a"]', NAMES, "set"),
        ("{a, b}", NAMES, "range"),
        ("North", NAMES, "label"),
    ],
)
def test_what_means_nothing_covers_nothing(text, values, form):
    kind = Kind.NUMBER if values[0] == 20 else Kind.CATEGORY
    assert read(text, column("c", Role.QUASI_IDENTIFIER, values, kind), form) == set()


def test_an_unknown_form_is_refused():
    with pytest.raises(
        InvalidInput, match="Column 'c' is claimed to be shown as 'box'; range, label, set, grid are known"
    ):
        read("a", column("c", Role.QUASI_IDENTIFIER, NAMES), "box")


@pytest.mark.parametrize(
    ("values", "dtype", "texts", "codes"),
    [
        ([1, 2, None], None, ["2", "1.0", "1.5", "x", None], [1, 0, UNKNOWN, UNKNOWN, 2]),
        ([0.1, 2.0], None, ["0.1", "2", "0.10", None], [0, 1, 0, UNKNOWN]),
        ([1, 2], pl.Float64, ["2.0", "1.0"], [1, 0]),
        (["a", '"b"'], None, ["a", '"b"', "b"], [0, 1, UNKNOWN]),
        (["", "a"], None, [None, "a"], [0, 1]),
        ([date(2024, 1, 5)], None, ["2024-01-05", "2024-01-06"], [0, UNKNOWN]),
        ([date(2024, 1, 5)], pl.Datetime("us"), ["2024-01-05T00:00:00.000000"], [0]),
        ([datetime(2024, 1, 5, 7)], None, ["2024-01-05T07:00:00.000000", "2024-01-05 07:00:00.000000"], [0, 0]),
        ([True, False], None, ["false", "true", "no"], [1, 0, UNKNOWN]),
    ],
)
def test_plain_values(values, dtype, texts, codes):
    assert read_values(pl.Series(texts, dtype=pl.String), pl.Series(values), dtype).tolist() == codes


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["z", "b", "a"])])
def test_texts_are_numbered_whatever_they_come_as(dtype):
    cells = pl.Series(["b", None, "a", "b"], dtype=dtype)
    texts = Texts.of(cells)
    assert [texts.distinct[text] for text in texts.text_of_line.tolist()] == ["b", None, "a", "b"]
    assert len(texts.distinct) == 3


def test_numbers_and_nothing_are_texts_too():
    assert Texts.of(pl.Series([3, 3])).distinct.to_list() == ["3"]
    assert Texts.of(pl.Series([], dtype=pl.String)).text_of_line.size == 0
    assert Texts.of(pl.Series([None, None], dtype=pl.String)).text_of_line.tolist() == [0, 0]
    assert np.array_equal(Texts.of(pl.Series(["a", "b"]).cast(pl.Categorical).tail(1)).text_of_line, [0])
