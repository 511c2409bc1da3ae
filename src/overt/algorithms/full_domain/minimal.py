# SPDX-License-Identifier: Apache-2.0
"""All minimal nodes: those that reach the goal while no node below them does. Incognito's output, and Samarati's set.

Below a minimal node nothing reaches the goal, so whatever somebody's idea of cost is, as long as it grows with
generalization, without suppression one of these is best. A node that reaches the goal rules out all above it, one that
fails for good all below it; chains between them are bisected.
"""

from dataclasses import dataclass

import numpy as np

from overt.algorithms.full_domain.checking import Checker
from overt.algorithms.full_domain.costs import precision
from overt.algorithms.full_domain.rolling import RolledRows
from overt.algorithms.full_domain.search import MOST_NODES, Board, bisect
from overt.errors import TooLarge
from overt.kernels.lattice import strike_in_box
from overt.lattice import Node, NodeState, Search
from overt.privacy.base import Number, Property, exact, require_number
from overt.table import Table


@dataclass(frozen=True, eq=False)
class MinimalNodes:
    """The minimal nodes in order of height, and how they were found."""

    nodes: tuple[Node, ...]
    search: Search


def find_minimal_nodes(table: Table, goal: Property, *, max_suppressed: Number = 0) -> MinimalNodes:
    """All nodes that reach a goal with at most a share of the rows suppressed, while no node below them does.

    >>> from overt import KAnonymity, Prefixes, read_frame, samples
    >>> hierarchies = {"Postcode": Prefixes(lengths=(4, 3, 2))}
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], hierarchies=hierarchies)
    >>> find_minimal_nodes(table, KAnonymity(5)).nodes
    ((1, 1), (3, 0))
    """
    require_number("max_suppressed", max_suppressed, least=0, most=1)
    rows = RolledRows(table)
    lattice, cost = rows.lattice, precision(rows)
    if lattice.n_nodes > MOST_NODES:
        raise TooLarge(
            f"The hierarchies make a lattice of {lattice.n_nodes:,} nodes and at most {MOST_NODES:,} can be searched for "
            "minimal ones; use hierarchies with fewer levels or fewer quasi-identifiers."
        )
    checker = Checker(rows, goal, int(exact(max_suppressed) * table.n_rows), cost)
    board = Board(lattice, cost)
    reaching = []
    while (chain := board.find_chain(through_open=True, steepest=False)).size:
        for position in bisect(board, chain):
            check = checker.check(board.node_at(position))
            board.note(check)
            board.best = None  # here no node is better than another
            if check.reaches:
                reaching.append(check.node)
                node = np.array(check.node, np.int64)
                strike_in_box(board.state, node, board.top, board.stride, np.uint8(NodeState.ABOVE_MINIMAL))
    nodes = [node for node in reaching if not any(is_below(other, node) for other in reaching)]
    search = Search(
        lattice,
        "levels",
        None,
        0.0,
        0.0,
        board.n_checked,
        lattice.n_nodes - board.n_checked,
        board.state.reshape(lattice.n_levels),
    )
    return MinimalNodes(tuple(sorted(nodes, key=lambda node: (sum(node), node))), search)


def is_below(node: Node, other: Node) -> bool:
    """Whether a node is another one and no level of it is higher."""
    return node != other and all(level <= above for level, above in zip(node, other, strict=True))
