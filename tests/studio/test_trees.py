# SPDX-License-Identifier: Apache-2.0
"""Edits of a tree keep every value once, and what they write is what the library builds."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.hierarchy import Levels, Nested
from overt.studio.trees import (
    TreeNode,
    dissolve,
    find,
    flat_tree,
    merge,
    move,
    nested_of,
    rename,
    rows_of,
    tree_of,
    tree_of_nested,
    wrap,
)
from overt.table import Kind

VALUES = ["DE", "FR", "PL", "US"]


def europe() -> TreeNode:
    tree = wrap(wrap(flat_tree(VALUES), ("DE",), "West", is_value=True), ("PL",), "East", is_value=True)
    return move(tree, ("FR",), ("West",), is_value=True)


def test_moves_build_groups_and_a_value_may_stay_alone():
    assert nested_of(europe()) == {"West": ["DE", "FR"], "East": ["PL"], "US": ["US"]}
    assert tree_of_nested(nested_of(europe())) == europe()


def test_what_is_written_is_what_the_library_builds():
    tree = wrap(europe(), ("West",), "Europe", is_value=False)
    tree = move(tree, ("East",), ("Europe",), is_value=False)
    nested = Nested(nested_of(tree)).build(pl.Series(VALUES), Kind.CATEGORY)
    lines = Levels(rows_of(tree)).build(pl.Series(VALUES), Kind.CATEGORY)
    assert sorted(nested.to_frame().rows()) == sorted(lines.to_frame().rows())
    assert ("DE", "West", "Europe", "*") in nested.to_frame().rows()
    assert sorted(tree_of(nested).values) == VALUES


def test_rename_merge_and_dissolve():
    tree = rename(europe(), ("West",), "Western Europe")
    assert [one.name for one in find(tree, ("Western Europe",), is_value=False).below] == ["DE", "FR"]
    merged = merge(europe(), ("East",), ("West",))
    assert nested_of(merged) == {"West": ["DE", "FR", "PL"], "US": ["US"]}
    assert nested_of(dissolve(merged, ("West",))) == {value: [value] for value in ["DE", "FR", "PL", "US"]}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda tree: wrap(tree, ("US",), "West", is_value=True), "already"),
        (lambda tree: wrap(tree, ("US",), "DE", is_value=True), "already"),
        (lambda tree: wrap(tree, ("US",), "*", is_value=True), "name other than"),
        (lambda tree: rename(tree, ("East",), "West"), "already"),
        (lambda tree: move(tree, ("West",), ("West",), is_value=False), "below itself"),
        (lambda tree: merge(tree, ("West",), ("West",)), "itself"),
        (lambda tree: dissolve(tree, ()), "whole tree"),
        (lambda tree: move(tree, ("Nowhere",), ("West",), is_value=False), "has changed"),
    ],
)
def test_what_would_make_no_tree_is_refused(edit, words):
    with pytest.raises(InvalidInput, match=words):
        edit(europe())


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["move", "merge", "dissolve", "add"]))))
def test_any_edits_keep_every_value_once(edits):
    tree = europe()
    for first, second, kind in edits:
        labels = [()] + [path for path, is_value in places(tree) if not is_value]
        anything = list(places(tree))
        path, is_value = anything[first % len(anything)]
        try:
            if kind == "move":
                tree = move(tree, path, labels[second % len(labels)], is_value=is_value)
            elif kind == "merge":
                tree = merge(tree, labels[first % len(labels)], labels[second % len(labels)])
            elif kind == "dissolve":
                tree = dissolve(tree, labels[first % len(labels)])
            elif kind == "add":
                tree = wrap(tree, path, f"label {first}{second}", is_value=is_value)
        except InvalidInput:
            continue
        assert sorted(tree.values) == VALUES
        built = Nested(nested_of(tree)).build(pl.Series(VALUES), Kind.CATEGORY)
        assert sorted(built.leaves) == VALUES


def places(node, above=()):
    for child in node.below or ():
        yield (*above, child.name), child.is_value
        if not child.is_value:
            yield from places(child, (*above, child.name))
