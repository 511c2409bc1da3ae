# SPDX-License-Identifier: Apache-2.0
"""Hierarchy: a value generalization hierarchy (VGH), a tree whose leaves are the values of a column.

The tree is kept level by level. Level 0 is the leaves, the last level is the root, and every level groups
the nodes of the one below. Branches may be of different length: a node that has no parent of its own at
some level stands for itself there, so a level always covers all leaves.

Leaves are numbered so that every node is a range of leaf codes. Node numbers begin with the leaves (node c is
leaf c) and grow upwards: a parent's number is greater than its child's, the root's is the greatest.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from overt.errors import InvalidInput
from overt.kernels.ancestors import first_shared_node

if TYPE_CHECKING:
    from collections.abc import Iterator

Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class NumberGrid:
    """Blocks of one width, counted from `origin` in both directions; each holds its lower end and not its upper one."""

    width: Fraction
    origin: Fraction = Fraction(0)


@dataclass(frozen=True)
class DateGrid:
    """Blocks that are days, months, quarters, years or decades."""

    unit: str


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over the values of a column. Builders make it; `Levels`, `Intervals` and `Nested` are three.

    >>> from overt.hierarchy import Intervals
    >>> from overt.table import Kind
    >>> tree = Intervals(widths=(5, 10)).build(pl.Series("age", [21, 24, 27, 33, None]), Kind.NUMBER)
    >>> [tree.labels[node] for node in tree.chain(0)]
    ['21', '20..24', '20..29', '*']
    >>> tree.labels[int(tree.common_ancestor(0, 2))]
    '20..29'
    """

    leaves: pl.Series  # the values, in code order; a null, if any, is last and hangs directly below the root
    labels: pl.Series = field(repr=False)  # (node) -> text; null for the leaf that stands for "missing"
    node_of_leaf: Nodes = field(repr=False)  # (level, leaf) -> node
    grid: NumberGrid | DateGrid | None = None  # where ranges may end, if that was fixed with the finest level

    def __post_init__(self) -> None:
        nodes = self.node_of_leaf
        if nodes.dtype != np.int32 or nodes.ndim != 2 or nodes.shape[0] < 2 or nodes.shape[1] != self.n_leaves:
            raise InvalidInput("The nodes of a hierarchy must be an int32 array of at least 2 levels by leaves.")
        if self.n_leaves and not 0 <= nodes.min() <= nodes.max() == self.n_nodes - 1:
            raise InvalidInput("A hierarchy has a node without a label, or a label without a node.")
        if (nodes[0] != np.arange(self.n_leaves)).any() or (nodes[-1] != self.root).any():
            raise InvalidInput("A hierarchy must begin with one node per leaf and end with one root.")
        _require_nested(nodes)
        _require_publishable(self.labels, self.n_leaves)
        nodes.flags.writeable = False

    @property
    def n_leaves(self) -> int:
        return len(self.leaves)

    @property
    def n_nodes(self) -> int:
        return len(self.labels)

    @property
    def n_levels(self) -> int:
        """Levels including the leaves and the root: at least 2."""
        return int(self.node_of_leaf.shape[0])

    @property
    def root(self) -> int:
        return self.n_nodes - 1

    @cached_property
    def parent_of_node(self) -> Nodes:
        """(node) -> its parent; the root is its own."""
        parent = np.full(self.n_nodes, self.root, np.int32)
        for _, below, above, _, _ in self._steps():
            parent[below] = above
        return parent

    @cached_property
    def first_leaf_of_node(self) -> Nodes:
        """(node) -> the least leaf code below it."""
        first = np.zeros(self.n_nodes, np.int32)
        for _, below, _, starts, _ in self._steps():
            first[below] = starts
        return first

    @cached_property
    def n_leaves_of_node(self) -> Nodes:
        """(node) -> how many leaves are below it; 1 for a leaf."""
        n_leaves = np.full(self.n_nodes, self.n_leaves, np.int32)
        for _, below, _, starts, ends in self._steps():
            n_leaves[below] = ends - starts
        return n_leaves

    @cached_property
    def level_of_node(self) -> Nodes:
        """(node) -> the lowest level at which it stands."""
        level_of_node = np.full(self.n_nodes, self.n_levels - 1, np.int32)
        for level in range(self.n_levels - 2, -1, -1):
            level_of_node[self.node_of_leaf[level]] = level
        return level_of_node

    @cached_property
    def depth_of_node(self) -> Nodes:
        """(node) -> steps from the root; 0 for the root."""
        depth = np.zeros(self.n_nodes, np.int32)
        for _, below, above, _, _ in reversed(list(self._steps())):
            depth[below] = depth[above] + 1
        return depth

    def chain(self, leaf: int) -> list[int]:
        """The nodes from a leaf to the root, each once."""
        if not 0 <= leaf < self.n_leaves:
            raise InvalidInput(f"There is no leaf {leaf}; the hierarchy has leaves 0 to {self.n_leaves - 1}.")
        nodes = self.node_of_leaf[:, leaf]
        return [int(node) for node in nodes[np.append(True, nodes[1:] != nodes[:-1])]]

    def common_ancestor(self, first: ArrayLike, last: ArrayLike) -> Nodes:
        """The lowest node above (or at) two leaves, for arrays of leaf codes.

        A node is a range of codes, so this is also the lowest common ancestor of all leaves from `first` to
        `last`, and of any set of leaves whose least and greatest they are.
        """
        first, last = self._leaf_codes(first), self._leaf_codes(last)
        shape = np.broadcast_shapes(first.shape, last.shape)
        return first_shared_node(self.node_of_leaf, _spread(first, shape), _spread(last, shape)).reshape(shape)

    def join(self, one: ArrayLike, other: ArrayLike) -> Nodes:
        """The lowest node above (or at) two nodes, for arrays of nodes."""
        one, other = np.asarray(one, np.int32), np.asarray(other, np.int32)
        first, last = self.first_leaf_of_node, self.first_leaf_of_node + self.n_leaves_of_node - 1
        ancestor = self.common_ancestor(np.minimum(first[one], first[other]), np.maximum(last[one], last[other]))
        # above an only child the leaves do not tell the nodes apart; the numbers do, they grow upwards
        joined: Nodes = np.maximum(ancestor, np.maximum(one, other))
        return joined

    def to_frame(self) -> pl.DataFrame:
        """One line per value with its generalizations, as an ARX-style file has it: to review, edit, exchange."""
        return pl.DataFrame(
            [self.labels.gather(nodes).alias(f"level {level}") for level, nodes in enumerate(self.node_of_leaf)]
        )

    def _leaf_codes(self, codes: ArrayLike) -> Nodes:
        array = np.asarray(codes)
        if array.size and not 0 <= array.min() <= array.max() < self.n_leaves:
            raise InvalidInput(f"Some leaf codes are outside 0 to {self.n_leaves - 1}, the leaves of the hierarchy.")
        return array.astype(np.int32, copy=False)

    def _steps(self) -> "Iterator[tuple[int, Nodes, Nodes, NDArray[np.int64], NDArray[np.int64]]]":
        """For every level but the root: nodes whose parent is one level up, the parents, their first leaves, ends."""
        for level, (nodes, above) in enumerate(zip(self.node_of_leaf[:-1], self.node_of_leaf[1:], strict=True)):
            starts = starts_of_runs(nodes)
            ends = np.append(starts[1:], nodes.size)
            last = nodes[starts] != above[starts]
            yield level, nodes[starts][last], above[starts][last], starts[last], ends[last]


def starts_of_runs(keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Where each run of equal neighbours begins: [7, 7, 3, 3, 3] -> [0, 2]."""
    return np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if keys.size else np.empty(0, np.int64)


def _spread(codes: Nodes, shape: tuple[int, ...]) -> Nodes:
    """The codes one after the other, as many as the shape holds; always read-only, so that one kernel fits all."""
    flat = np.ascontiguousarray(np.broadcast_to(codes, shape)).reshape(-1)
    flat.flags.writeable = False
    return flat


def _require_nested(node_of_leaf: Nodes) -> None:
    parted = node_of_leaf[:, 1:] != node_of_leaf[:, :-1]  # (level, gap between two leaves)
    if (parted[1:] & ~parted[:-1]).any():
        raise InvalidInput("A hierarchy is not nested: a level parts leaves that a lower level has joined.")
    for nodes, gaps in zip(node_of_leaf, parted, strict=True):
        if np.count_nonzero(np.bincount(nodes)) != gaps.sum() + (nodes.size > 0):
            raise InvalidInput(
                "A hierarchy has a node whose leaves are not neighbours; order the leaves by their branches."
            )


def _require_publishable(labels: pl.Series, n_leaves: int) -> None:
    """Every label means one node, and cannot be mistaken for something else that a cell may hold."""
    inner = labels.slice(n_leaves)
    if inner.null_count() or (inner == "").any():
        raise InvalidInput(
            "A hierarchy has an inner node without a label; an empty cell means that the value is missing."
        )
    for label in inner.filter(inner.str.starts_with('"') | inner.str.ends_with(" or missing")).head(1):
        raise InvalidInput(
            f"The label {label!r} would be misread in a release: one that begins with a double quote or ends "
            "with ' or missing' has a meaning of its own there; rename it."
        )
    # a value `*` is published in quotes, so that it differs from the root `*`
    told_apart = labels.filter((labels != "*") | (pl.Series(np.arange(len(labels))) >= n_leaves))
    for label in told_apart.filter(told_apart.is_duplicated()).sort().head(1):
        raise InvalidInput(
            f"The label {label!r} stands for two different sets of values, so a reader could not tell which is "
            "meant; give one of them another label."
        )
