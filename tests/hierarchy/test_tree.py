# SPDX-License-Identifier: Apache-2.0
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.hierarchy import ParentPointers
from overt.errors import InvalidInput
from overt.hierarchy import Flat, Hierarchy, Levels, Nested
from overt.table import Kind


@st.composite
def written_trees(draw, max_leaves=9):
    """Chains (value, label, ..., root) of a random tree: unbalanced, with only children, in any order of lines."""
    chains, n_labels = [], 0
    stack = [("*",)]
    while stack and len(chains) < max_leaves:
        above = stack.pop()
        for _ in range(draw(st.integers(1, 3))):
            n_labels += 1
            if len(above) < 5 and draw(st.booleans()):
                stack.append((f"group {n_labels}", *above))
            else:
                chains.append((f"value {n_labels}", *above))
    chains += [(f"last {i}", *above) for i, above in enumerate(stack)]
    return draw(st.permutations(chains))


@st.composite
def padded(draw, chains):
    """The same lines with labels repeated, as files do that want lines of one length."""
    rows = []
    for chain in chains:
        repeats = [draw(st.integers(1, 2)) for _ in chain]
        rows.append([label for label, times in zip(chain, repeats, strict=True) for _ in range(times)])
    return rows


def built(chains, *, with_null=False, rows=None):
    values = pl.Series("x", sorted(chain[0] for chain in chains) + [None] * with_null, dtype=pl.String)
    return Levels(rows or chains).build(values, Kind.CATEGORY)


def texts(tree, nodes):
    return tree.labels.gather(np.asarray(nodes).reshape(-1)).to_list()


@given(written_trees(), st.booleans(), st.data())
def test_tree_agrees_with_parent_pointers(chains, with_null, data):
    oracle = ParentPointers(chains)
    tree = built(chains, with_null=with_null, rows=data.draw(padded(chains)))
    values = tree.leaves.drop_nulls().to_list()
    assert sorted(values) == sorted(oracle.values)
    assert set(tree.labels.drop_nulls()) == oracle.labels()
    for code, value in enumerate(values):
        assert texts(tree, tree.chain(code)) == oracle.chain(value)
    for node, label in enumerate(tree.labels):
        if label is None:
            continue
        below = tree.leaves.slice(tree.first_leaf_of_node[node], tree.n_leaves_of_node[node])
        assert set(below.drop_nulls()) == oracle.leaves(label)
        assert tree.depth_of_node[node] == oracle.depth(label)
        assert tree.labels[int(tree.parent_of_node[node])] == oracle.parent.get(label, "*")


@given(written_trees(), st.booleans())
def test_common_ancestor_of_all_pairs_agrees_with_parent_pointers(chains, with_null):
    oracle, tree = ParentPointers(chains), built(chains, with_null=with_null)
    first, last = (grid.ravel() for grid in np.indices((tree.n_leaves, tree.n_leaves)))
    for one, other, label in zip(first, last, texts(tree, tree.common_ancestor(first, last)), strict=True):
        pair = tree.leaves[int(one)], tree.leaves[int(other)]
        if None in pair:
            assert label == ("*" if pair != (None, None) else None)
        else:
            assert label == oracle.common_ancestor(*pair)


@given(written_trees(), st.data())
def test_common_ancestor_of_a_set_is_that_of_its_least_and_greatest(chains, data):
    oracle, tree = ParentPointers(chains), built(chains)
    codes = data.draw(st.sets(st.integers(0, tree.n_leaves - 1), min_size=1))
    label = texts(tree, tree.common_ancestor(min(codes), max(codes)))[0]
    assert label == oracle.common_ancestor(*(tree.leaves[code] for code in codes))


@given(written_trees())
def test_join_of_all_pairs_of_nodes_is_the_least_upper_bound(chains):
    oracle, tree = ParentPointers(chains), built(chains)
    one, other = (grid.ravel() for grid in np.indices((tree.n_nodes, tree.n_nodes)))
    for a, b, label in zip(one, other, texts(tree, tree.join(one, other)), strict=True):
        assert label == oracle.common_ancestor(tree.labels[int(a)], tree.labels[int(b)])


@given(written_trees(), st.booleans())
def test_levels_grow_and_nodes_are_ranges_that_grow_upwards(chains, with_null):
    tree = built(chains, with_null=with_null)
    assert tree.n_levels == max(map(len, chains))
    assert (tree.node_of_leaf[0] == np.arange(tree.n_leaves)).all()
    assert (tree.node_of_leaf[-1] == tree.root).all()
    inner = np.arange(tree.n_nodes - 1)
    assert (tree.parent_of_node[inner] > inner).all()
    assert tree.parent_of_node[tree.root] == tree.root
    for level, nodes in enumerate(tree.node_of_leaf):
        assert (tree.level_of_node[nodes] <= level).all()
        codes = np.arange(tree.n_leaves)
        first = tree.first_leaf_of_node[nodes]
        assert ((first <= codes) & (codes < first + tree.n_leaves_of_node[nodes])).all()


@given(written_trees())
def test_a_tree_read_from_its_own_frame_is_the_same_tree(chains):
    tree = built(chains)
    again = Levels(tree.to_frame().rows()).build(tree.leaves.sort(), Kind.CATEGORY)
    assert again.to_frame().equals(tree.to_frame())
    assert (again.node_of_leaf == tree.node_of_leaf).all()


def test_leaves_are_in_the_order_of_the_lines_branch_by_branch():
    rows = [("b", "x", "*"), ("c", "y", "*"), ("a", "x", "*"), ("d", "*")]
    assert built(rows).leaves.to_list() == ["b", "a", "c", "d"]


def test_null_is_the_last_leaf_directly_below_the_root():
    tree = built([("a", "x", "y", "*"), ("b", "y", "*")], with_null=True)
    assert tree.leaves.to_list() == ["a", "b", None]
    assert tree.chain(2) == [2, tree.root]
    assert tree.labels[2] is None
    assert tree.node_of_leaf[:, 2].tolist() == [2, 2, 2, tree.root]


def test_a_column_of_nothing_but_null_and_an_empty_one():
    for values in ([None], []):
        tree = Flat().build(pl.Series("x", values, dtype=pl.String), Kind.CATEGORY)
        assert (tree.n_leaves, tree.n_nodes, tree.n_levels) == (len(values), len(values) + 1, 2)
        assert Levels([("a", "b", "*")]).build(tree.leaves, Kind.CATEGORY).n_levels == 3
        assert tree.n_leaves_of_node[tree.root] == len(values)


def test_a_value_called_like_the_root_is_told_apart_from_it():
    tree = Flat().build(pl.Series(["*", "a"]), Kind.CATEGORY)
    assert texts(tree, tree.chain(0)) == ["*", "*"] and tree.n_nodes == 3
    tree = Levels([("*", "*"), ("a", "b", "*")]).build(pl.Series(["*", "a"]), Kind.CATEGORY)
    assert texts(tree, tree.chain(0)) == ["*", "*"] and tree.chain(0) == [0, tree.root]


def test_common_ancestor_broadcasts_and_keeps_shapes():
    tree = Nested({"x": ["a", "b"], "y": ["c"]}).build(pl.Series(["a", "b", "c"]), Kind.CATEGORY)
    assert tree.common_ancestor(0, [[0, 1], [2, 0]]).shape == (2, 2)
    assert tree.common_ancestor(np.array([], np.int32), np.array([], np.int32)).shape == (0,)
    assert tree.labels[int(tree.common_ancestor(1, 0))] == "x"


def test_codes_outside_the_tree_are_refused():
    tree = Flat().build(pl.Series(["a", "b"]), Kind.CATEGORY)
    with pytest.raises(InvalidInput, match="outside 0 to 1"):
        tree.common_ancestor([0, 2], 1)
    with pytest.raises(InvalidInput, match="outside 0 to 1"):
        tree.common_ancestor(0, -1)
    with pytest.raises(InvalidInput, match="There is no leaf 2; the hierarchy has leaves 0 to 1"):
        tree.chain(2)


def test_arrays_of_a_tree_cannot_be_written():
    tree = Flat().build(pl.Series(["a", "b"]), Kind.CATEGORY)
    with pytest.raises(ValueError, match="read-only"):
        tree.node_of_leaf[0, 0] = 1


@pytest.mark.parametrize(
    ("labels", "nodes", "message"),
    [
        (["a", "b", "*"], [[0, 1], [2, 2], [2, 1]], "end with one root"),
        (["a", "b", "*"], [[1, 0], [2, 2]], "begin with one node per leaf"),
        (["a", "b"], [[0, 1]], "at least 2 levels"),
        (["a", "b", "x", "*"], [[0, 1], [2, 2]], "a label without a node"),
        (["a", "b", "c", "x", "y", "*"], [[0, 1, 2], [3, 4, 3], [5, 5, 5]], "not neighbours"),
        (["a", "b", "c", "x", "y", "z", "*"], [[0, 1, 2], [3, 3, 4], [5, 4, 4], [6, 6, 6]], "not nested"),
        (["a", "b", "x", "x", "*"], [[0, 1], [2, 3], [4, 4]], "'x' stands for two different sets"),
        (["a", "b", "a", "*"], [[0, 1], [2, 2], [3, 3]], "'a' stands for two different sets"),
        (["a", "b", "", "*"], [[0, 1], [2, 2], [3, 3]], "without a label"),
        (["a", "b", '"c"', "*"], [[0, 1], [2, 2], [3, 3]], "would be misread"),
        (["a", "b", "c or missing", "*"], [[0, 1], [2, 2], [3, 3]], "would be misread"),
    ],
)
def test_a_tree_that_is_none_is_refused(labels, nodes, message):
    leaves = pl.Series(labels[: len(nodes[0])])
    with pytest.raises(InvalidInput, match=message):
        Hierarchy(leaves, pl.Series(labels), np.array(nodes, np.int32))


def test_values_must_be_distinct_sorted_and_null_last():
    for values in ([1, 1], [2, 1], [None, 1]):
        with pytest.raises(InvalidInput, match=r"column 'age' are not: use `values.unique\(\).sort"):
            Flat().build(pl.Series("age", values), Kind.NUMBER)
