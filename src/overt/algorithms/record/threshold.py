# SPDX-License-Identifier: Apache-2.0
"""Threshold model: the least risk among the generalizations of a record whose utility is at least c.

Paper       M. Fouad, G. Lebanon, E. Bertino, "ARUBA: A Risk-Utility-Based Algorithm for Data Disclosure", SDM 2008; as
            restated in sections 2.1 and 2.5 of M. Fouad, K. Elbassioni, E. Bertino, CERIAS 2012-1.
Implements  The exact search along the frontier, and an exact one by prefix sums over the whole lattice.
Departs     Prefix sums are ours. Of elements with the same risk the one with most utility is chosen, and of those the
            one with the lower level in the first attribute that differs. Where no record fits anything that is useful
            enough, all risks are infinite, and the least useful element is taken.
Guarantee   Exact. About the risk as modelled, against nobody who knows more than the external database.
"""

import math
from typing import Literal

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Objective, Optimum
from overt.algorithms.record.prefix_sums import MOST_ELEMENTS, WholeTable
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.progress import Progress, silent

STAGE = "Searching the frontier"
MOST_VISITED = 2_000_000

ExactSolver = Literal["auto", "prefix sums", "frontier search"]


def least_risk(
    objective: Objective, c: float, *, solver: ExactSolver = "auto", on_progress: Progress = silent
) -> Optimum:
    """The generalization of least risk with utility of at least c; `auto` takes prefix sums unless they are too large.

    >>> import numpy as np
    >>> ends = np.array([1.0, 0.0])
    >>> one = Objective((ends, ends), (ends, 2 * ends), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
    >>> least_risk(one, 1.0)
    Optimum(levels=(0, 1), risk=0.25, utility=1.0, support=4, value=0.25, solver='prefix sums', n_looked_at=4)
    """
    require_reachable(objective, c)
    if solver == "auto":
        solver = "prefix sums" if objective.n_elements <= MOST_ELEMENTS else "frontier search"
    if solver == "prefix sums":
        levels = WholeTable.of(objective).least_risk(c)
        assert levels is not None  # the record itself is feasible
        return objective.optimum(levels, solver, objective.n_elements)
    if solver != "frontier search":
        raise InvalidInput(f"There is no exact search {solver!r}; choose 'auto', 'prefix sums' or 'frontier search'.")
    frontier, n_visited = search_frontier(objective, c, on_progress)
    best = min(frontier, key=lambda levels: (*preference(objective.risk(levels), objective.utility(levels)), levels))
    return objective.optimum(best, solver, n_visited)


def preference(risk: float, utility: float) -> tuple[float, float]:
    """What is least for the best element: the risk, then the utility negated, unless the risk is infinite."""
    return risk, utility if math.isinf(risk) else -utility


def require_reachable(objective: Objective, c: float) -> None:
    """Refuse a threshold that not even the record as it is reaches."""
    if not objective.is_feasible(objective.bottom, c):
        raise Unreachable(
            f"A utility of {c:g} is out of reach: the record as it is has {objective.utility(objective.bottom):g}. "
            "Ask for less."
        )


def search_frontier(objective: Objective, c: float, on_progress: Progress = silent) -> tuple[list[NodeLevels], int]:
    """All frontier nodes, from the top down through infeasible nodes only; and how many nodes were met.

    A feasible node is not entered: whatever lies below it has feasible ancestors only, or is met another way.
    """
    require_reachable(objective, c)
    if objective.is_feasible(objective.top, c):
        return [objective.top], 1
    met, layer = {objective.top}, [objective.top]
    frontier: list[NodeLevels] = []
    while layer:
        on_progress(STAGE, len(met), min(objective.n_elements, MOST_VISITED))
        below: list[NodeLevels] = []
        for node in layer:
            for i, level in enumerate(node):
                child = (*node[:i], level - 1, *node[i + 1 :])
                if level == 0 or child in met:
                    continue
                met.add(child)
                (frontier if objective.is_feasible(child, c) else below).append(child)
        if len(met) > MOST_VISITED:
            raise TooLarge(
                f"The frontier search has met {len(met):,} generalizations of one record and is not done; use the "
                "genetic search, fewer attributes, or the Lagrangian model."
            )
        layer = below
    return frontier, len(met)
