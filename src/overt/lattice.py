# SPDX-License-Identifier: Apache-2.0
# Tested through tests/kernels/test_lattice.py
"""Lattice: every way to generalize each column of a table to one level of its hierarchy. Search: how far one was looked through.

A node is a level for every quasi-identifier. One node lies above another if none of its levels is lower; going up merges
groups and never splits them. The bottom node publishes exact values, the top node stars.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.table import Column

Node = tuple[int, ...]  # (quasi-identifier) -> level


class NodeState(IntEnum):
    """What a search knows of a node."""

    OPEN = 0  # not looked at: the search ended before its turn came
    REACHES = 1  # checked: it reaches the goal within the limit on suppressed rows
    FAILS = 2  # checked: it does not
    FAILS_BELOW = 3  # not checked: a node above it fails in a way that no node below can mend
    COSTS_MORE = 4  # not checked: it cannot cost less than the node that was chosen
    ABOVE_MINIMAL = 5  # not checked: it lies above a node that reaches the goal, and so is not minimal

    @property
    def words(self) -> str:
        """The state in words, for pictures and reports."""
        return _WORDS[self]


_WORDS = {
    NodeState.OPEN: "not looked at",
    NodeState.REACHES: "checked, reaches the goal",
    NodeState.FAILS: "checked, does not reach it",
    NodeState.FAILS_BELOW: "pruned, below one that fails",
    NodeState.COSTS_MORE: "pruned, cannot cost less",
    NodeState.ABOVE_MINIMAL: "pruned, above one that reaches it",
}


@dataclass(frozen=True)
class Lattice:
    """The levels of every quasi-identifier. A column without a hierarchy has two: its values, and `*`."""

    columns: tuple[str, ...]
    n_levels: tuple[int, ...]

    @classmethod
    def of(cls, columns: tuple[Column, ...]) -> "Lattice":
        """The lattice of the columns of a table."""
        return cls(
            tuple(column.name for column in columns),
            tuple(2 if column.hierarchy is None else column.hierarchy.n_levels for column in columns),
        )

    @property
    def n_nodes(self) -> int:
        return math.prod(self.n_levels)

    @property
    def top(self) -> Node:
        return tuple(n - 1 for n in self.n_levels)

    @property
    def bottom(self) -> Node:
        return (0,) * len(self.n_levels)

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """An array with one axis per column: the sum of the levels of every node."""
        heights = np.zeros((1,) * len(self.n_levels), np.int64)
        for axis, n in enumerate(self.n_levels):
            heights = heights + np.arange(n).reshape([n if a == axis else 1 for a in range(len(self.n_levels))])
        return heights

    def steps_up(self, node: Node) -> Iterator[Node]:
        """The nodes right above: one level more in one column."""
        for j, level in enumerate(node):
            if level + 1 < self.n_levels[j]:
                yield (*node[:j], level + 1, *node[j + 1 :])

    def steps_down(self, node: Node) -> Iterator[Node]:
        """The nodes right below: one level less in one column."""
        for j, level in enumerate(node):
            if level:
                yield (*node[:j], level - 1, *node[j + 1 :])


def below(node: Node) -> tuple[slice, ...]:
    """Where the node itself and all below it lie in an array with one axis per column."""
    return tuple(slice(0, level + 1) for level in node)


def above(node: Node) -> tuple[slice, ...]:
    """Where the node itself and all above it lie in an array with one axis per column."""
    return tuple(slice(level, None) for level in node)


@dataclass(frozen=True, eq=False)
class Search:
    """How far a lattice was looked through, and what for."""

    lattice: Lattice
    optimised: str  # what the chosen node has the least of
    chosen: Node | None
    cost: float  # of the chosen node
    least_cost: float  # no node costs less: the same as `cost` if the search came to its end
    n_checked: int
    n_pruned: int
    state_of_node: NDArray[np.uint8] | None = field(repr=False)  # one axis per column; None if there are too many nodes

    @property
    def is_complete(self) -> bool:
        """Whether every node was checked or pruned, so that the chosen one is the best there is."""
        return self.n_checked + self.n_pruned == self.lattice.n_nodes

    def __str__(self) -> str:
        n_nodes = self.lattice.n_nodes
        how_far = f"{self.n_checked:,} of {n_nodes:,} nodes checked, {self.n_pruned:,} pruned"
        if self.chosen is None:
            return how_far
        if self.is_complete:
            return f"{how_far}: no node has less {self.optimised}"
        return (
            f"{how_far}, {n_nodes - self.n_checked - self.n_pruned:,} not looked at: the best found has "
            f"{self.optimised} {self.cost:.4g}, and no node can have less than {self.least_cost:.4g}"
        )


def nodes_of_levels(column: Column) -> NDArray[np.int32]:
    """(level, code) -> node of the hierarchy; without one, the values and then all of them together."""
    if column.hierarchy is not None:
        return column.hierarchy.node_of_leaf
    codes = np.arange(column.n_values, dtype=np.int32)
    return np.stack([codes, np.full_like(codes, column.n_values)])
