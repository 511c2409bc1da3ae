# SPDX-License-Identifier: Apache-2.0
"""Mondrian: cut the table in two, and each part again, for as long as both parts satisfy the goal.

Paper       K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
Implements  Top-down greedy partitioning, strict and relaxed, for any monotone property.
Departs     The column to cut is the one of whose values the group covers the largest share (the paper:
            the widest normalised range). A strict cut is the boundary between two values nearest to the
            middle of the rows (the paper: the median, which on skewed columns is often no cut at all). A
            relaxed cut lies at a multiple of the least group size, so that parts do not end up just below
            twice that size. `choose="gain"` is ours. Strict cuts never separate rows that agree on every column.
Guarantee   Exact, against an adversary who sees the release: every group satisfies the goal. None against
            one who also knows the algorithm if the goal looks at sensitive values: which cuts were not made
            depends on them. Strict cuts for k-anonymity alone: replaying adds nothing (Theorem D of docs/theory/safety.md).

Replaying it. Codes are in the order of the column's values; columns are in the order of the table. Of a
group with n rows, try the columns one after the other until a cut is accepted; if none is, the group is
final. Two groups are cut independently of each other.

- Order of columns. "widest": by the number of different codes in the group divided by the number of codes
  in the table, largest first. "gain": by what the two parts would lose, least first, the loss of a part being
  its rows times the sum over columns of (w - 1) / (codes in the table - 1), where w is the number of codes
  from its least to its greatest (numbers and dates) or of its different codes (categories). Ties: the column
  that comes first in the table. Columns with a single code in the group are passed over.
- Strict cut. Of all boundaries between two neighbouring codes present in the group, the one for which the
  left part is nearest to n / 2 rows; of two equally near, the lower.
- Relaxed cut. With u the goal's least group size, the left part gets max(u, u * floor(n / 2u)) rows, the first
  ones when the group is sorted by that column; ties lie as the group lay before. The table first lies in
  lexicographic order of its quasi-identifiers, ties in row order, and a cut leaves its parts as sorted.
- A cut is accepted if both parts satisfy the goal.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator

from overt.algorithms.repeated_cuts import (
    CountVerdict,
    CutLayout,
    cut_by_counts,
    cut_by_size,
    cut_by_verdict,
    join_traces,
    partition_of_ranges,
)
from overt.errors import InvalidInput, Unreachable
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, STRONG, Guarantee
from overt.method import CellEnds, Traceable, form_of_cells
from overt.partition import Groups
from overt.privacy.base import Property
from overt.privacy.k_anonymity import KAnonymity
from overt.progress import Progress, silent
from overt.release import GeneralizedRelease
from overt.table import Table
from overt.trace import StrictCuts, Trace


@dataclass(frozen=True, kw_only=True)
class Mondrian(Traceable):
    """Groups by repeated cuts.

    Parameters
    ----------
    goal
        What every group must satisfy. It must be monotone: then no rejected cut could have led to
        a finer release.
    relaxed
        Whether rows with the same value of the cut column may go to different sides.
    choose
        The column to cut: "widest" in the group, or the one that gains most ("gain", slower and often finer).
    cells
        "tight": ranges end at values of their rows. "grid": they are rounded outward to a public grid.

    """

    name: ClassVar[str] = "mondrian"

    goal: Property
    relaxed: bool = False
    choose: Literal["widest", "gain"] = "widest"
    cells: CellEnds = "tight"

    def __post_init__(self) -> None:
        form_of_cells(self.cells)
        if not self.goal.monotone:
            raise InvalidInput(f"Mondrian needs a monotone goal and {self.goal} is not; choose another goal or method.")
        if self.choose not in ("widest", "gain"):
            raise InvalidInput(f"Mondrian cannot choose columns by {self.choose!r}; use 'widest' or 'gain'.")

    @property
    def guarantee(self) -> Guarantee:
        """Theorem D of docs/theory/safety.md: which cuts were not made depends on what the goal looks at.

        A relaxed cut also parts people who are alike, by their order in the table, which may go with their values.
        """
        return RELEASE_ONLY if self.goal.looks_at_values or self.parts_the_alike else STRONG

    @property
    def parts_the_alike(self) -> bool:
        return self.relaxed

    @property
    def shows(self) -> str | None:
        return form_of_cells(self.cells)

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, cuts=not self.relaxed, tight=True)

    @property
    def strict_cuts(self) -> StrictCuts | None:
        is_strict = isinstance(self.goal, KAnonymity) and not self.relaxed and self.choose == "widest"
        return StrictCuts(self.goal.least_rows) if is_strict else None

    def anonymize(
        self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent
    ) -> GeneralizedRelease:
        """Cut the table into groups. Nothing is random here: `rng` is accepted and left alone."""
        require_whole_table_satisfies(self.goal, table)
        layout = layout_of(table, self)
        if isinstance(self.goal, KAnonymity):  # the size of the parts decides, so the loop can decide it all
            rows, starts = cut_by_size(layout, on_progress)
        elif counts := CountVerdict.of(self.goal, table):
            rows, starts = cut_by_counts(layout, counts, on_progress)
        else:
            rows, starts = cut_by_verdict(layout, table, self.goal, on_progress)
        return GeneralizedRelease(table, partition_of_ranges(rows, starts), made_by=self)

    def trace(self, table: Table, *, on_progress: Progress = silent) -> Trace:
        """Every cut that is tried on a table, made or not: what someone who replays the method looks at."""
        require_whole_table_satisfies(self.goal, table)
        tried: list[Trace] = []
        cut_by_verdict(layout_of(table, self), table, self.goal, on_progress, tried.append)
        return join_traces(tried)


def layout_of(table: Table, method: Mondrian) -> CutLayout:
    """The quasi-identifiers of a table, to be cut as a method says."""
    rows, least = np.arange(table.n_rows, dtype=np.int32), method.goal.least_rows
    return CutLayout.of_rows(table.quasi_identifiers, rows, least, relaxed=method.relaxed, choose=method.choose)


def require_whole_table_satisfies(goal: Property, table: Table) -> None:
    """A monotone goal that the whole table misses is missed by every partition of it."""
    everyone = Groups.of_ranges(
        table.sensitive, np.arange(table.n_rows, dtype=np.int32), np.array([0, table.n_rows], np.int64)
    )
    if not goal.holds(everyone):
        raise Unreachable(
            f"{goal} cannot be reached: even all {table.n_rows} rows in one group do not satisfy it "
            f"(they reach {goal.describe_measure(everyone)}). Ask for less, or leave out rows or columns."
        )
