# SPDX-License-Identifier: Apache-2.0
"""FullDomain: each column generalized to one level of its hierarchy, the best combination of levels there is.

Paper       K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: Efficient Full-Domain K-Anonymity", SIGMOD 2005;
            K. El Emam et al., "A Globally Optimal k-Anonymity Method for the De-Identification of Health Data" (OLA),
            JAMIA 2009; F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. Kuhn, "Flash: Efficient, Stable and Optimal
            K-Anonymity", PASSAT 2012.
Implements  The optimum over the lattice of hierarchies with a limit on suppressed rows: predictive tagging both ways,
            chains bisected as in Flash, counts rolled up from finer nodes as in Incognito.
Departs     For any combination of properties, also where suppression makes them lose their monotonicity (`checking`). Costs
            bound the nodes above and below them (`costs`), which none of the papers does with suppression. Rows are
            suppressed group by group: those of groups that break the goal, and no others.
Guarantee   Exact, against an adversary who sees the release: every group satisfies the goal. None against one who replays
            the method if the goal looks at sensitive values: that a finer node was not chosen, and which rows are missing,
            depends on them. With k-anonymity alone replaying adds nothing (Theorem D of docs/theory/safety.md).

Ties: of nodes that cost the same the one with fewer suppressed rows, then with the lower sum of levels, then
the one whose levels come first in the order of the columns.
"""

import time
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, get_args

import numpy as np
from numpy.random import Generator

from overt.algorithms.full_domain.checking import Check, Checker
from overt.algorithms.full_domain.costs import Optimise, cost_of
from overt.algorithms.full_domain.descent import search_down
from overt.algorithms.full_domain.rolling import RolledRows
from overt.algorithms.full_domain.search import MOST_NODES, search_all
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, STRONG, Guarantee
from overt.lattice import Search
from overt.method import Searching
from overt.partition import Partition
from overt.privacy.base import Number, Property, exact, require_number
from overt.progress import Progress, silent
from overt.release import FullDomainRelease
from overt.table import Table
from overt.trace import BestNode

STAGE = "Searching the lattice"


@dataclass(frozen=True, kw_only=True)
class FullDomain(Searching):
    """Each column generalized to one level of its hierarchy, with the combination of levels that costs least.

    A quasi-identifier without a hierarchy is published exactly or as `*`.

    Parameters
    ----------
    goal
        What every group must satisfy; any property or combination of them.
    max_suppressed
        The share of the rows that may be left out, from 0 to 1: the rows of groups that break the goal.
    optimise
        What the chosen node minimises. "loss": the share of the column's other values that a published cell leaves
        possible, 1 if it is suppressed. "discernibility": the squared sizes of groups, and all rows for each suppressed
        one. "average group size": rows per kept group. "precision": levels climbed, of those there are.
    seconds
        Stop searching after this time and use the best node found. If left out, the search ends when the best node is known.

    """

    name: ClassVar[str] = "full-domain"

    goal: Property
    max_suppressed: Number = 0
    optimise: Optimise = "loss"
    seconds: Number | None = None

    def __post_init__(self) -> None:
        require_number("max_suppressed", self.max_suppressed, least=0, most=1)
        if self.optimise not in get_args(Optimise):
            known = ", ".join(map(repr, get_args(Optimise)))
            raise InvalidInput(f"FullDomain cannot optimise {self.optimise!r}; choose one of {known}.")
        if self.seconds is not None:
            require_number("seconds", self.seconds, above=0)

    @property
    def shows(self) -> str:
        return "label"

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, one_level=True)

    @property
    def guarantee(self) -> Guarantee:
        """Which node was not chosen, and which rows are missing, depends on what the goal looks at: Theorem D of docs/theory/safety.md."""
        return RELEASE_ONLY if self.goal.looks_at_values else STRONG

    def anonymize(
        self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent
    ) -> FullDomainRelease:
        """Find the best node and generalize to it. Nothing is random here: `rng` is accepted and left alone."""
        begin = time.monotonic()
        rows = RolledRows(table, counts_sensitive=self.goal.looks_at_values)
        best, search = self.search(rows, begin, on_progress)
        return FullDomainRelease(table, keep_good_groups(rows, best), made_by=self, node=best.node, search=search)

    def search(self, rows: RolledRows, begin: float, on_progress: Progress) -> tuple[Check, Search]:
        """The best node for rows that are counted, in the time that is left since `begin`."""
        deadline = inf if self.seconds is None else begin + float(exact(self.seconds))
        most_suppressed = int(exact(self.max_suppressed) * rows.n_rows)
        checker = Checker(rows, self.goal, most_suppressed, cost_of(self.optimise, rows, self.goal.least_rows))
        return self._search(checker, deadline, on_progress)

    def best_node(self, table: Table) -> BestNode:
        """How the node is chosen, for someone who replays the search."""
        most_suppressed = min(int(exact(self.max_suppressed) * table.n_rows), table.n_rows - 1)
        return BestNode(self.optimise, most_suppressed, hides_suppressed=True, knows_ties=True)

    def _search(self, checker: Checker, deadline: float, on_progress: Progress) -> tuple[Check, Search]:
        lattice, cost = checker.rows.lattice, checker.cost
        n_nodes, states = lattice.n_nodes, None
        if n_nodes <= MOST_NODES:
            board = search_all(
                checker, watch=lambda n_open: on_progress(STAGE, n_nodes - n_open, n_nodes), deadline=deadline
            )
            best, n_checked, n_open = board.best, board.n_checked, int(np.count_nonzero(board.state == 0))
            states, least_bound = board.state.reshape(lattice.n_levels), board.least_bound()
        elif deadline == inf:
            raise TooLarge(
                f"The hierarchies make a lattice of {n_nodes:,} nodes and the best of at most {MOST_NODES:,} can be found; "
                "give `seconds` to take the best found in that time, or use fewer levels or quasi-identifiers."
            )
        else:
            best, checked, is_all = search_down(
                checker, watch=lambda n: on_progress(STAGE, n, n_nodes), deadline=deadline
            )
            n_checked, n_open = len(checked), 0 if is_all else n_nodes - len(checked)
            least_bound = float(cost.least_base(lattice.bottom))
        if best is None:
            raise self._unreachable(checker, n_open)
        least_cost = min(float(best.cost), least_bound) if n_open else best.cost
        return best, Search(
            lattice,
            cost.name,
            best.node,
            cost.describe(best.cost),
            cost.describe(least_cost),
            n_checked,
            n_nodes - n_checked - n_open,
            states,
        )

    def _unreachable(self, checker: Checker, n_open: int) -> Unreachable:
        n_rows = checker.rows.n_rows
        allowed = f"{checker.most_suppressed:,} of {n_rows:,} rows suppressed"
        if n_open:
            return Unreachable(
                f"{self.goal} with at most {allowed} was not reached in {self.seconds} seconds, and {n_open:,} nodes were "
                "not looked at; allow more time or more suppressed rows."
            )
        top = checker.check(checker.rows.lattice.top)
        return Unreachable(
            f"{self.goal} cannot be reached with at most {allowed}: even with `*` in every column it would take "
            f"{top.n_suppressed:,}. Ask for less, or allow more suppressed rows."
        )


def keep_good_groups(rows: RolledRows, best: Check) -> Partition:
    """The groups of the chosen node that satisfy the goal; the rows of the others are in none."""
    # Groups are numbered by their first row, whichever finer node they were counted from.
    number = np.where(best.broken, -1, np.cumsum(~best.broken) - 1).astype(np.int32)
    group_of_distinct = number[rows.group_of_distinct(best.node)]
    return Partition(group_of_distinct[rows.distinct_of_row], int(np.count_nonzero(~best.broken)))
