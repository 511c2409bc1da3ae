# SPDX-License-Identifier: Apache-2.0
from datetime import date

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.hierarchy import Flat, Nested
from overt.table import Kind


def rows(mapping, values, kind=Kind.CATEGORY, **options):
    return Nested(mapping, **options).build(pl.Series("x", values), kind).to_frame().rows()


def test_mappings_lists_and_values_side_by_side():
    mapping = {"Europe": {"West": ["FR", "DE"], "East": "PL"}, "Asia": ["JP", {"South": ["IN"]}], "?": "?"}
    assert rows(mapping, ["?", "DE", "FR", "IN", "JP", "PL"]) == [
        ("FR", "West", "Europe", "*"),
        ("DE", "West", "Europe", "*"),
        ("PL", "East", "Europe", "*"),
        ("JP", "JP", "Asia", "*"),
        ("IN", "South", "Asia", "*"),
        ("?", "?", "?", "*"),
    ]


def test_a_list_at_the_top_and_another_root():
    assert rows(["unknown", {"known": ["f", "m"]}], ["f", "unknown"], root="anyone") == [
        ("unknown", "unknown", "anyone"),
        ("f", "known", "anyone"),
    ]


def test_numbers_and_dates():
    assert rows({"young": range(18), "old": [65, 66]}, [3, 65], Kind.NUMBER) == [
        ("3", "young", "*"),
        ("65", "old", "*"),
    ]
    day = date(2024, 5, 1)
    assert rows({"holiday": [day]}, [day], Kind.DATE) == [("2024-05-01", "holiday", "*")]


def test_the_mapping_may_hold_more_than_the_data():
    assert rows({"a": ["x", "y"], "b": {"c": ["z"]}}, ["y"]) == [("y", "a", "a", "*")]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"a": ["x"], "b": []}, "The group 'b' of the nested hierarchy has no values"),
        ({"a": {}}, "The group 'a' of the nested hierarchy has no values"),
        ({}, r"The group '\*' of the nested hierarchy has no values"),
        (
            {"a": ["x"], "b": ["x"]},
            "The nested hierarchy is not nested: a value has two different generalizations, 'a' at value 1 and 'b' at value 2",
        ),
        ({"a": {"c": ["x"]}, "b": {"c": ["y"]}}, "'c' .* has two parents, 'a' at value 1 and 'b' at value 2"),
        ({"a": ["x"], "b": ["a"]}, "one text as a value at value 2 and as a label of other values at value 1"),
        ({"*": ["x"], "b": {"*": ["y"]}}, r"root label '\*' before the end of value 2"),
        ({"": ["x"]}, "empty label"),
    ],
)
def test_what_is_no_tree_is_refused_at_once(mapping, message):
    with pytest.raises(InvalidInput, match=message):
        Nested(mapping)


def test_missing_values_are_counted_not_shown():
    nested = Nested({"a": ["x"]})
    with pytest.raises(
        InvalidInput, match="1 of the 2 values of column 'x' are missing from the nested hierarchy"
    ) as refusal:
        nested.build(pl.Series("x", ["secret", "x"]), Kind.CATEGORY)
    assert "secret" not in str(refusal.value)
    assert nested.missing(pl.Series(["secret", "x", None])).to_list() == ["secret"]


def test_flat_keeps_the_order_of_the_values():
    tree = Flat(root="any").build(pl.Series([1, 2, None]), Kind.NUMBER)
    assert tree.to_frame().rows() == [("1", "any"), ("2", "any"), (None, "any")]
    assert (tree.n_levels, tree.n_nodes) == (2, 4)
