# SPDX-License-Identifier: Apache-2.0
import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.hierarchy.parents import Parents
from overt.table import Kind


def test_branches_of_different_length_and_only_children():
    tree = Parents({"c1": "*", "c2": "c1", "c3": "c2", "o": "*"}).whole()
    depth = dict(zip(tree.labels, tree.depth_of_node.tolist(), strict=True))
    assert depth == {"c3": 3, "c2": 2, "c1": 1, "o": 1, "*": 0}
    assert tree.labels[int(tree.join(tree.labels.to_list().index("c2"), tree.labels.to_list().index("c3")))] == "c2"


def test_a_column_may_have_fewer_values_than_the_hierarchy():
    parents = Parents({"p": "top", "p1": "p", "p2": "p", "q": "top"}, root="top")
    tree = parents.build(pl.Series(["p1", "q"]), Kind.CATEGORY)
    assert tree.n_leaves == 2
    assert parents.missing(pl.Series(["p1", "x"])).to_list() == ["x"]


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({}, "A hierarchy of parents is empty"),
        ({"x": "zz"}, "The parent 'zz' of 'x' has no parent itself and is not the root"),
        ({"x": "y", "y": "x"}, "A hierarchy runs in a circle through 'x'"),
        ({"*": "x", "x": "*"}, "The root '\\*' of a hierarchy has a parent"),
    ],
)
def test_what_is_no_tree_is_refused(mapping, sentence):
    with pytest.raises(InvalidInput, match=f"^{sentence}"):
        Parents(mapping)
