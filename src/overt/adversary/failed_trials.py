# SPDX-License-Identifier: Apache-2.0
"""FailedTrials: what must stay as it is for a method to give the same release.

Swap two values inside a released group: whatever whole groups hold stays the same. So only trials that failed can change
their verdict, and of these only such as divide the group. Trials that fail however the values lie are left out, by
bounds on what their parts can hold; so are parts that never break the goal. What is left falls into components
that have nothing to do with each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.adversary.open_parts import Counts, OpenParts, find_open, take_ragged
from overt.kernels import swapping
from overt.kernels import trials as kernels
from overt.partition import Partition
from overt.privacy.base import Property
from overt.table import Codes, Column
from overt.trace import Trials

Facts = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FailedTrials:
    """The groups that failed trials say something about, and these trials, as loops want them."""

    layout: swapping.Layout
    rows: Codes  # (place)
    first_group: Counts  # (component + 1)
    first_place: Counts  # (group + 1)
    first_cell: Counts  # (component + 1)
    component_of_cell: Counts
    size_of_cell: Counts
    starts: Counts  # (part + 1), of `rows_of_parts`
    rows_of_parts: Codes
    first_part: Counts  # (component + 1)
    cap: Counts  # (part)
    words: list[str]  # (trial) -> what it was
    column: Column
    everybody: Partition  # suppressed rows are a group of their own, the last
    is_free: NDArray[np.bool_]  # (group of everybody)
    fixed: NDArray[np.bool_]  # (row) -> whether its value is known from facts

    @property
    def n_places(self) -> int:
        return int(self.rows.size)

    @property
    def n_groups(self) -> int:
        return int(self.first_place.size - 1)

    @property
    def n_components(self) -> int:
        return int(self.first_group.size - 1)

    @property
    def n_values(self) -> int:
        return self.column.n_values

    @property
    def size_of_component(self) -> Counts:
        return np.diff(self.first_place[self.first_group])

    @property
    def work_of_component(self) -> Counts:
        """How many swaps a sweep proposes."""
        work: Counts = self.layout.work
        return work

    @classmethod
    def of(
        cls,
        trials: Iterable[Trials],
        partition: Partition,
        column: Column,
        goal: Property | None,
        forbidden: Facts,
        *,
        hidden: bool = False,
    ) -> "FailedTrials":
        """Of the trials that failed before these groups were released.

        If suppressed rows are `hidden`, nothing is known of their values; otherwise which they have together.
        """
        everybody = with_suppressed(partition)
        is_free = np.zeros(everybody.n_groups, np.bool_)
        is_free[partition.n_groups :] = hidden
        several = list(find_open(trials, everybody, column, goal, is_free))
        fixed: NDArray[np.bool_] = np.equal(forbidden.sum(axis=1), column.n_values - 1) & (column.n_values > 1)
        return _lay_out(OpenParts.joined(several, goal), everybody, column, forbidden, is_free, fixed)


def with_suppressed(partition: Partition) -> Partition:
    """Suppressed rows as one more group, the last: they have in common that they are not shown."""
    if not partition.n_suppressed:
        return partition
    groups = np.where(partition.group_of_row < 0, partition.n_groups, partition.group_of_row).astype(np.int32)
    return Partition(groups, partition.n_groups + 1)


def _lay_out(
    parts: OpenParts,
    everybody: Partition,
    column: Column,
    forbidden: Facts,
    is_free: NDArray[np.bool_],
    fixed: NDArray[np.bool_],
) -> FailedTrials:
    """Everything in the order of components, groups and places."""
    movable = np.bincount(everybody.group_of_row[~fixed], minlength=everybody.n_groups).astype(np.int64)
    divided, groups, wholly = _divide(parts, everybody.group_of_row, movable, fixed, is_free)
    has_facts = np.logical_or.reduce(forbidden, axis=1) & ~fixed
    is_live = np.zeros(everybody.n_groups, np.bool_)
    is_live[groups] = True
    is_live[everybody.group_of_row[has_facts]] = True

    component = kernels.join_groups(divided, groups, parts.first_part.size - 1, everybody.n_groups)
    live = np.flatnonzero(is_live)
    live = live[np.argsort(component[live], kind="stable")]
    _, component_of_group = np.unique(component[live], return_inverse=True)
    n_components = int(component_of_group.max(initial=-1)) + 1
    number = np.full(everybody.n_groups, -1, np.int64)
    number[live] = np.arange(live.size)

    # trials in the order of components; those that divide nothing cannot change
    component_of_trial = np.full(parts.first_part.size - 1, -1, np.int64)
    component_of_trial[divided] = component_of_group[number[groups]]
    is_whole = np.ones(component_of_trial.size, np.bool_)
    np.logical_and.at(is_whole, divided, wholly)
    chosen = np.argsort(component_of_trial, kind="stable")
    chosen = chosen[component_of_trial[chosen] >= 0]
    number_of_trial = np.full(component_of_trial.size, -1, np.int64)
    number_of_trial[chosen] = np.arange(chosen.size)
    component_of_trial, is_whole = component_of_trial[chosen], is_whole[chosen]
    parts = parts.take(chosen)

    order = np.lexsort([number_of_trial[divided], number[groups]])
    trials_of_groups, groups_of_trials = number_of_trial[divided][order], number[groups][order]
    first_in_trials = np.searchsorted(groups_of_trials, np.arange(live.size + 1))

    members, first_place = take_ragged(everybody.starts, live)
    rows = everybody.rows[members]
    first_place = np.append(0, np.cumsum(movable[live]))
    rows = rows[~fixed[rows]]
    group_of_place = np.repeat(np.arange(live.size), np.diff(first_place))
    first_in_parts = np.append(0, np.cumsum(np.diff(first_place) * np.diff(first_in_trials)))
    part_of = np.empty(first_in_parts[-1], np.int32)

    def fill(rows: Codes) -> None:
        part_of[:] = -1
        place_of_row = np.full(column.codes.size, -1, np.int64)
        place_of_row[rows] = np.arange(rows.size)
        kernels.fill_parts(
            place_of_row[parts.rows],
            parts.starts,
            parts.first_part,
            group_of_place,
            first_place,
            first_in_trials,
            trials_of_groups,
            first_in_parts,
            part_of,
        )

    fill(rows)
    n_trials = np.diff(first_in_trials)[group_of_place]
    is_active = has_facts[rows] | is_free[live][group_of_place]
    entries = np.append(0, np.cumsum(n_trials))
    is_active |= np.diff(np.append(0, np.cumsum(part_of >= 0))[entries]) > 0
    rows = rows[np.lexsort((~is_active, group_of_place))]
    fill(rows)
    n_active = np.bincount(group_of_place[is_active], minlength=live.size).astype(np.int64)
    fact = np.where(has_facts[rows], rows.astype(np.int64) + 1, 0)  # whoever has facts is like nobody else
    names = kernels.name_places(group_of_place, first_place, first_in_trials, first_in_parts, part_of, fact)
    keys = np.column_stack([group_of_place.astype(np.uint64), names])
    of_cell, cell_of_place = np.unique(keys, axis=0, return_inverse=True)
    component_of_cell = component_of_group[of_cell[:, 0].astype(np.int64)]

    def firsts(of: Counts) -> Counts:
        return np.searchsorted(of, np.arange(n_components + 1)).astype(np.int64)

    n_parts = np.diff(parts.first_part)
    kind = np.where(
        parts.needed[:, 0] > 1, swapping.AMOUNT, np.where((n_parts == 2) & is_whole, swapping.PAIR, swapping.ANY)
    )
    weight_of_trial = np.add.reduceat(np.append(parts.weight, [[0, 0]], axis=0), parts.first_part[:-1], axis=0)
    first_group, first_cell, first_trial = (
        firsts(component_of_group),
        firsts(component_of_cell),
        firsts(component_of_trial),
    )
    layout = swapping.Layout(
        first_group,
        first_place,
        n_active,
        np.bincount(component_of_group, weights=n_active, minlength=n_components).astype(np.int64),
        first_cell,
        first_trial,
        parts.first_part,
        first_in_trials.astype(np.int64),
        int(np.diff(first_in_trials).max(initial=0)),
        trials_of_groups,
        first_in_parts,
        part_of,
        cell_of_place.astype(np.int64),
        is_free[live],
        forbidden[rows] if has_facts.any() else np.empty((0, 0), np.bool_),
        parts.rules,
        kind.astype(np.int8),
        parts.weight,
        parts.needed,
        np.maximum(1, weight_of_trial[:, 1] // np.maximum(1, weight_of_trial[:, 0])),
    )
    return FailedTrials(
        layout,
        rows,
        first_group,
        first_place,
        first_cell,
        component_of_cell,
        np.bincount(cell_of_place, minlength=len(of_cell)).astype(np.int64),
        parts.starts,
        parts.rows,
        parts.first_part[first_trial],
        parts.cap,
        parts.words,
        column,
        everybody,
        is_free,
        fixed,
    )


def _divide(
    parts: OpenParts,
    group_of_row: Codes,
    movable: Counts,
    fixed: NDArray[np.bool_],
    is_free: NDArray[np.bool_],
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Trials and the groups whose movable rows they divide, and whether all these rows are in a part."""
    rows, starts = parts.rows, parts.starts
    if fixed.any():
        kept = ~fixed[rows]
        rows, starts = rows[kept], np.append(0, np.cumsum(kept))[starts]
    trials, groups, wholly = kernels.find_divided(group_of_row[rows], parts.first_part, starts, movable, is_free)
    return trials, groups, wholly
