# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_objective.py
"""Nodes, chains, needed levels: the join semilattice of a record's generalizations, in numbers.

An element is one node per attribute. Above a node lies its chain, level 0 the node itself and the last level the root, so
the generalizations of a record are vectors of levels. What level another record needs to be covered is the level of
the lowest common ancestor; the vector of needed levels is that record's profile.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy import Flat, Hierarchy
from overt.table import Column

NodeName = str | None  # the label of a node; None is the leaf that stands for "missing"
NodeLevels = tuple[int, ...]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]

_PACKED = 1 << 62


def tree_of(column: Column) -> Hierarchy:
    """The hierarchy of a column; without one there is a single step, from every value to `*`."""
    if column.hierarchy is not None:
        return column.hierarchy
    return Flat().build(column.values.cast(pl.String) if column.values.dtype == pl.Enum else column.values, column.kind)


def chain_above(tree: Hierarchy, node: int) -> list[int]:
    """The nodes from a node to the root, itself included."""
    chain, parent = [int(node)], tree.parent_of_node
    while chain[-1] != tree.root:
        chain.append(int(parent[chain[-1]]))
    return chain


def needed_levels(tree: Hierarchy, node: int) -> Nodes:
    """(other node) -> how many levels `node` must rise to cover it."""
    everyone = np.arange(tree.n_nodes, dtype=np.int32)
    depth = tree.depth_of_node
    needed: Nodes = depth[node] - depth[tree.join(np.full_like(everyone, node), everyone)]
    return needed


def nodes_of_labels(trees: Sequence[Hierarchy], records: Sequence[Sequence[NodeName]]) -> Nodes:
    """(record, attribute) -> node, from labels. Records may hold inner nodes: what is known only roughly."""
    wrong = next((len(record) for record in records if len(record) != len(trees)), None)
    if wrong is not None:
        raise InvalidInput(
            f"A record has {wrong} values and there are {len(trees)} hierarchies; give one value for each."
        )
    nodes = np.empty((len(records), len(trees)), np.int32)
    for j, tree in enumerate(trees):
        number = {label: node for node, label in enumerate(tree.labels)}
        for row, record in enumerate(records):
            if record[j] not in number:
                raise InvalidInput(
                    f"A record has a value of attribute {j + 1} that its hierarchy lacks; add it there or correct it."
                )
            nodes[row, j] = number[record[j]]
    return nodes


def tables_of_nodes(what: str, tables: Sequence[Mapping[NodeName, float]], trees: Sequence[Hierarchy]) -> list[Floats]:
    """Custom numbers of nodes, refused unless they are complete, non-negative and never grow upwards."""
    if len(tables) != len(trees):
        raise InvalidInput(f"There are {len(tables)} {what} tables for {len(trees)} attributes; give one for each.")
    return [check_monotone(what, _numbers(what, t, tree), tree) for t, tree in zip(tables, trees, strict=True)]


def check_monotone(what: str, numbers: Floats, tree: Hierarchy) -> Floats:
    """The numbers of a tree's nodes, if they are non-negative and no node has more than a child of it."""
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise InvalidInput(f"A {what} is negative or not finite; give numbers of at least 0.")
    if (numbers[tree.parent_of_node] > numbers).any():
        raise InvalidInput(
            f"A {what} grows upwards in its hierarchy; a node must not have more than any node below it."
        )
    return numbers


def _numbers(what: str, table: Mapping[NodeName, float], tree: Hierarchy) -> Floats:
    n_missing = sum(label not in table for label in tree.labels)
    if n_missing:
        raise InvalidInput(f"A {what} table lacks {n_missing} of {tree.n_nodes} nodes; give a number for each.")
    return np.array([float(table[label]) for label in tree.labels])


def number_rows(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """(row) -> a number that equal rows share, from 0 without gaps; and how many numbers there are."""
    key, n_keys = np.zeros(columns[0].size if columns else 0, np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if n_keys > _PACKED // max(size, 1):
            key, n_keys = _renumbered(key)
        key = key * max(size, 1) + column
        n_keys *= max(size, 1)
    return _renumbered(key)


def _renumbered(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    distinct, number = np.unique(key, return_inverse=True)
    return number.reshape(-1).astype(np.int64), int(distinct.size)


def n_elements(heights: Sequence[int]) -> int:
    """How many generalizations chains of these heights have together."""
    return math.prod(height + 1 for height in heights)
