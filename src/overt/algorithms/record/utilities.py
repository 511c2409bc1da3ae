# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_objective.py
"""Utilities: what a generalized value is still worth. The utility of an element is the sum over its attributes.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.1.2: one over the leaves, the logarithm of the leaves; section 4.1: the depth.
Departs     A table of one's own is accepted if it is non-negative and never grows upwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.nodes import NodeName, tables_of_nodes
from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy

Floats = NDArray[np.float64]
UtilityName = Literal["inverse-leaves", "log-leaves", "depth"]


class NodeUtility(Protocol):
    """What the nodes of hierarchies are worth: non-negative, and never more above than below."""

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        """(attribute)(node) -> its utility."""


@dataclass(frozen=True)
class InverseLeaves:
    """One over the number of leaves below: 1 for a leaf, and more than nothing for the root."""

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return [1.0 / tree.n_leaves_of_node for tree in trees]


@dataclass(frozen=True)
class LogLeaves:
    """The logarithm of the share of leaves that are left out: 0 for the root."""

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return [np.log(tree.n_leaves / tree.n_leaves_of_node) for tree in trees]


@dataclass(frozen=True)
class Depth:
    """Steps from the root: 0 for the root."""

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return [tree.depth_of_node.astype(np.float64) for tree in trees]


@dataclass(frozen=True, eq=False)
class CustomUtility:
    """A number for every node, by its label: one mapping per attribute.

    >>> from overt.hierarchy import Flat
    >>> from overt.table import Kind
    >>> import polars as pl
    >>> tree = Flat().build(pl.Series(["f", "m"]), Kind.CATEGORY)
    >>> CustomUtility(({"f": 2, "m": 1, "*": 0},)).of_nodes([tree])
    [array([2., 1., 0.])]
    """

    tables: tuple[Mapping[NodeName, float], ...] = field(repr=False)

    def of_nodes(self, trees: Sequence[Hierarchy]) -> list[Floats]:
        return tables_of_nodes("utility", self.tables, trees)


UTILITIES: dict[str, NodeUtility] = {"inverse-leaves": InverseLeaves(), "log-leaves": LogLeaves(), "depth": Depth()}


def utility_named(utility: "str | NodeUtility") -> NodeUtility:
    """A utility by its name in a recipe, or itself."""
    if not isinstance(utility, str):
        return utility
    if utility not in UTILITIES:
        raise InvalidInput(f"There is no utility {utility!r}; choose one of {', '.join(UTILITIES)}.")
    return UTILITIES[utility]
