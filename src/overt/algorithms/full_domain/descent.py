# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/full_domain/test_method.py
"""Lattices with more nodes than can be listed: from the top down, the cheapest first, until time is up.

F. Prasser, R. Bild, J. Eicher, H. Spengler, K. Kuhn, "Lightning: Utility-Driven Anonymization of High-Dimensional Data",
TDP 2016, has the idea: always look at what lies below the cheapest node so far. A good node is found soon and a better one
later; that it is the best can only be said if everything came to its turn.
"""

import heapq
import time
from collections.abc import Callable
from math import inf

from overt.algorithms.full_domain.checking import Check, Checker
from overt.lattice import Node


def search_down(
    checker: Checker, *, watch: Callable[[int], None], deadline: float = inf
) -> tuple[Check | None, dict[Node, bool], bool]:
    """The best node found, which nodes were checked and whether they reach the goal, and whether that was all."""
    lattice = checker.rows.lattice
    best, checked = None, {}
    heap: list[tuple[int, Node]] = []
    waiting = [lattice.top]
    while True:
        for node in waiting:
            check = checker.check(node)
            checked[node] = check.reaches
            if check.reaches and (best is None or check.rank < best.rank):
                best = check
            if not check.fails_below:
                heapq.heappush(heap, (check.cost, node))
            if time.monotonic() > deadline:
                return best, checked, False
        watch(len(checked))
        if not heap:
            return best, checked, True
        _, node = heapq.heappop(heap)
        waiting = [step for step in lattice.steps_down(node) if step not in checked]
