# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Mondrian at scale: strict cuts, the identical partition as on one machine.

The first cuts are found from counts (`cut_tree`), the others by the loops of one machine inside each fragment. A fragment's columns have
the code counts and totals of the whole table, with which cuts and properties compare. So the groups are those of
`overt.algorithms.mondrian`, one for one, and what is promised of them there holds here.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from overt.algorithms.repeated_cuts import (
    CountVerdict,
    CutLayout,
    cut_by_counts,
    cut_by_size,
    cut_by_verdict,
    partition_of_ranges,
)
from overt.engine.scale.cut_tree import CutRule, everyone, grow_cut_tree
from overt.engine.scale.fragment_lines import ShownLines, as_lines, order_lines
from overt.engine.scale.made_tables import MadeGroups, MadeTables, release_of_groups
from overt.engine.scale.scaled_methods import CutsRows
from overt.engine.scale.seam import RowBatch, codes_of
from overt.engine.scale.staging import Staged, with_codes
from overt.errors import InvalidInput, Unreachable
from overt.method import Method
from overt.partition import Partition
from overt.privacy.base import Property
from overt.progress import Progress
from overt.release import Release
from overt.table import Column, Table


@dataclass(frozen=True, eq=False)
class CutFragment:
    """The groups of one fragment."""

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    unit: int
    choose: Literal["widest", "gain"]
    goal: Property | None  # None: size alone decides
    relaxed: bool = False  # then people who are alike are parted by the order in which they lie

    def columns(self, rows: RowBatch) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
        """The columns with the codes of these rows."""
        quasi = with_codes(self.quasi, codes_of(rows, [f"q{i}" for i in range(len(self.quasi))]))
        if not self.sensitive:
            return quasi, ()
        return quasi, with_codes(self.sensitive, codes_of(rows, [f"s{i}" for i in range(len(self.sensitive))]))

    def groups(self, quasi: tuple[Column, ...], sensitive: tuple[Column, ...]) -> Partition:
        """The group of every row."""
        everyone = np.arange(quasi[0].codes.size, dtype=np.int32)
        layout = CutLayout.of_rows(quasi, everyone, self.unit, relaxed=self.relaxed, choose=self.choose)
        if self.goal is None:
            return partition_of_ranges(*cut_by_size(layout, _silent))
        table = Table((*quasi, *sensitive), pl.DataFrame())
        if counts := CountVerdict.of(self.goal, table):
            return partition_of_ranges(*cut_by_counts(layout, counts, _silent))
        return partition_of_ranges(*cut_by_verdict(layout, table, self.goal, _silent))


@dataclass(frozen=True, eq=False)
class PublishGroups:
    """The lines of one fragment: boxes, each with its own row's sensitive values, in the order of what they show."""

    cut: CutFragment
    lines: ShownLines

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        quasi, sensitive = self.cut.columns(rows)
        return lines_of_groups(self.lines, quasi, sensitive, self.cut.groups(quasi, sensitive))

    def release(self, fragment: int, rows: RowBatch, made_by: Method) -> Release:
        """The fragment as a release of its own."""
        quasi, sensitive = self.cut.columns(rows)
        return release_of_groups(quasi, self.cut.groups(quasi, sensitive), made_by)


@dataclass(frozen=True, eq=False)
class NumberGroups:
    """The group of every row, and its coin, by which tests know the row."""

    cut: CutFragment

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        groups = self.cut.groups(*self.cut.columns(rows))
        return rows.select("second_coin").with_columns(
            pl.lit(fragment, pl.Int32).alias("fragment"), pl.Series("group", groups.group_of_row)
        )


def lines_of_groups(
    lines: ShownLines, quasi: tuple[Column, ...], sensitive: tuple[Column, ...], groups: Partition
) -> RowBatch:
    """The lines of a fragment in which rows are in these groups."""
    cells = lines.boxes(quasi, groups)
    keys = [cell.cell_of_group[groups.group_of_row] for cell in cells] + [column.codes for column in sensitive]
    order = order_lines(keys)
    shown = as_lines(cells, quasi, groups.group_of_row[order])
    shown |= {column.name: lines.values(column, column.codes[order]) for column in sensitive}
    return lines.frame(shown)


def make_groups_by_cuts(staged: Staged, method: CutsRows, lines: ShownLines, on_progress: Progress) -> MadeTables:
    """The release of Mondrian."""
    if method.relaxed:
        raise InvalidInput(
            "Relaxed cuts of mondrian are made on one machine in memory only; leave relaxed out, or choose no engine."
        )
    looks = method.goal.looks_at_values
    if method.choose == "gain" and looks:
        raise InvalidInput(
            'mondrian with choose = "gain" and a goal that looks at values works on one machine in memory only; leave choose out, or choose '
            "no engine."
        )
    goal = method.goal if looks else None
    unit = method.goal.least_rows
    if staged.n_rows < unit:
        raise Unreachable(f"{method.goal} cannot be reached: the table has {staged.n_rows} rows. Ask for less.")
    if goal is not None:
        require_reachable(staged, goal)
    on_progress("Cutting the table into fragments", 0, 0)
    rule = CutRule(unit, method.choose, goal)
    tree = grow_cut_tree(staged.engine, staged.data, staged.quasi_identifiers, staged.sensitive, rule)
    cut = CutFragment(staged.quasi_identifiers, staged.sensitive, unit, method.choose, goal)
    publish = PublishGroups(cut, lines)
    return MadeTables(
        {"release": staged.engine.apply(staged.data, tree, publish, like_of(lines))},
        tree.n_fragments,
        groups=MadeGroups(staged.data, tree, publish.release),
    )


def require_reachable(staged: Staged, goal: Property) -> None:
    """A monotone goal that the whole table misses is missed by every partition of it."""
    whole = everyone(staged.sensitive)
    if not goal.holds(whole):
        raise Unreachable(
            f"{goal} cannot be reached: even all {staged.n_rows} rows in one group do not satisfy it "
            f"(they reach {goal.describe_measure(whole)}). Ask for less, or leave out rows or columns."
        )


def like_of(lines: ShownLines, *, has_buckets: bool = False) -> RowBatch:
    """A frame without lines of the published columns."""
    columns: dict[str, pl.Series] = {column.name: pl.Series([], dtype=pl.String) for column in lines.quasi}
    columns |= {column.name: lines.values(column, np.empty(0, np.int32)) for column in lines.sensitive}
    columns |= {"bucket": pl.Series([], dtype=pl.Int64)} if has_buckets else {}
    return lines.frame(columns)


def _silent(_: str, __: int, ___: int) -> None:
    """Fragments are counted, not watched."""
