# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/full_domain/test_method.py
"""The search for the best node: check nodes one by one, and after each strike out all that it decides.

A node that fails because of rows that no node below could keep decides that all nodes below fail (see `checking`); what
a node costs bounds what the nodes above and below cost (see `costs`). Everything that is neither checked nor struck out
could be better than the best so far, so at the end the best so far is the best. Which node comes next only matters
for time.

Without suppression chains of nodes are bisected, from the open node with the least bound to the top, as in Flash:
the nodes of a chain fail up to one of them and reach the goal from there on. With suppression there is more to gain at
the upper end of what is still open, because of the bound that its excess sets to all below. Where the base of nodes
is not known before they are counted (discernibility, average group size), the middle of the open chain is the best place
to learn about both sides. With a time limit a dive from the top comes first.
"""

import time
from collections.abc import Callable, Iterator
from math import inf

import numpy as np

from overt.algorithms.full_domain.checking import Check, Checker
from overt.algorithms.full_domain.costs import CellCost, Cost, least_bases
from overt.kernels.lattice import chain_up, least_open, raise_in_box, strike_in_box
from overt.lattice import Lattice, Node, NodeState
from overt.partition import Counts

WHOLE_FLOATS = 2**53  # up to here a float holds every whole number
ROUNDING = 2.0**-46  # far more than sums of a few rounded floats can be off
OPEN, REACHES = (
    int(NodeState.OPEN),
    int(NodeState.REACHES),
)  # asked for often, and a member of an enumeration is slow to find
MOST_NODES = 5_000_000  # each takes 25 bytes here, and a moment every time the next chain is chosen


class Board:
    """The state of every node, and bounds on what it costs. Nodes lie in one array, the last level running fastest."""

    def __init__(self, lattice: Lattice, cost: Cost) -> None:
        self.lattice = lattice
        self.n_levels = np.array(lattice.n_levels, np.int64)
        self.stride = np.append(np.cumprod(self.n_levels[:0:-1])[::-1], 1).astype(np.int64)
        self.bottom, self.top = np.zeros_like(self.n_levels), self.n_levels - 1
        self.state = np.zeros(lattice.n_nodes, np.uint8)
        self.base = least_bases(cost, lattice).reshape(-1)
        self.excess = np.zeros(lattice.n_nodes)
        self.order = np.empty(lattice.n_nodes, np.int64)  # of nodes that cost the same: the lower, then by levels
        self.order[np.argsort(lattice.heights, axis=None, kind="stable")] = np.arange(lattice.n_nodes)
        self.margin = 0.0 if cost.most < WHOLE_FLOATS else ROUNDING * float(cost.most)
        self.best: Check | None = None
        self.n_checked = 0
        self.n_open = lattice.n_nodes

    def note(self, check: Check) -> None:
        """Draw all conclusions from a check."""
        node = np.array(check.node, np.int64)
        position = node @ self.stride
        self.n_checked += 1
        self.state[position] = NodeState.REACHES if check.reaches else NodeState.FAILS
        if check.fails_below:
            strike_in_box(self.state, self.bottom, node, self.stride, np.uint8(NodeState.FAILS_BELOW))
        elif check.excess_below:
            raise_in_box(self.excess, self.bottom, node, self.stride, float(check.excess_below))
        if check.base > self.base[position]:
            raise_in_box(self.base, node, self.top, self.stride, float(check.base))
        if check.reaches and (self.best is None or check.rank < self.best.rank):
            self.best = check

    def find_chain(self, *, through_open: bool, steepest: bool) -> Counts:
        """From the open node with the least bound upwards: through open nodes, or through all that are not decided."""
        lowest, self.n_open = least_open(self.state, self.base, self.excess, self.order, *self._limits())
        if lowest < 0:
            return np.empty(0, np.int64)
        chain: Counts = chain_up(
            lowest,
            self.state,
            self.base,
            self.excess,
            self.order,
            *self._limits(),
            self.n_levels,
            self.stride,
            through_open,
            -1.0 if steepest else 1.0,
        )
        return chain

    def node_at(self, position: int) -> Node:
        """The levels of the node at a place of the array."""
        levels = []
        for n in reversed(self.lattice.n_levels):
            position, level = divmod(position, n)
            levels.append(level)
        return tuple(reversed(levels))

    def least_bound(self) -> float:
        """No open node costs less."""
        is_open = self.state == OPEN
        return float((self.base + self.excess)[is_open].min(initial=inf)) - self.margin

    def strike_costly(self) -> None:
        """At the end: what was never decided and is not open costs more than the best."""
        best, even, place = self._limits()
        bounds = self.base + self.excess
        is_open = (bounds < best) | ((bounds <= even) & (self.order < place))
        self.state[(self.state == OPEN) & ~is_open] = NodeState.COSTS_MORE

    def _limits(self) -> tuple[float, float, int]:
        """An open node is bounded by less than the first, or by at most the second and comes before the third in order."""
        if self.best is None:
            return inf, inf, self.state.size
        cost = float(self.best.cost)
        if self.margin:
            return cost + self.margin, -inf, 0
        place = self.order[np.array(self.best.node) @ self.stride]
        return cost, cost, self.state.size if self.best.n_suppressed else int(place)


def search_all(checker: Checker, *, watch: Callable[[int], None], deadline: float = inf) -> Board:
    """Check or strike out every node; until the deadline, if there is one."""
    board = Board(checker.rows.lattice, checker.cost)
    if deadline < inf:
        dive(board, checker, deadline)
    suppresses, knows_bases = checker.most_suppressed > 0, isinstance(checker.cost, CellCost)
    while True:
        chain = board.find_chain(through_open=suppresses, steepest=suppresses and knows_bases)
        watch(board.n_open)
        if not chain.size or time.monotonic() > deadline:
            break
        descends = suppresses and knows_bases and board.best is not None
        for position in descend(board, chain) if descends else bisect(board, chain):
            board.note(checker.check(board.node_at(position)))
            if time.monotonic() > deadline:
                break
    board.strike_costly()
    return board


def dive(board: Board, checker: Checker, deadline: float) -> None:
    """From the top to the best node right below, and so on while it gets better: if time is short, something good first."""
    node = None
    waiting = [board.lattice.top]
    while True:
        for step in waiting:
            if board.state[np.array(step) @ board.stride] == OPEN:
                board.note(checker.check(step))
                if time.monotonic() > deadline:
                    return
        if board.best is None or board.best.node == node:
            return
        node = board.best.node
        waiting = list(board.lattice.steps_down(node))


def bisect(board: Board, chain: Counts) -> Iterator[int]:
    """The nodes of a chain to check: below one that reaches the goal, above one that does not."""
    low, high = 0, chain.size
    while low < high:
        middle = (low + high) // 2
        position = int(chain[middle])
        if board.state[position] == OPEN:
            yield position
        if board.state[position] == REACHES:
            high = middle
        else:
            low = middle + 1


def descend(board: Board, chain: Counts) -> Iterator[int]:
    """The nodes of a chain to check: from its upper end down, as long as they reach the goal."""
    for position in chain[::-1].tolist():
        if board.state[position] == OPEN:
            yield position
        if board.state[position] != REACHES:
            return
