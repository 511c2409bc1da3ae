# SPDX-License-Identifier: Apache-2.0
# Tested through tests/kernels/test_failed_trials.py
"""ComponentOrder: groups and trials that have to do with each other stand together, and so do the places of their rows.

A trial divides a group if some of the group's rows, whose values may move, are in one of its parts and others are not. Groups and
trials that are linked so, directly or through others, are a component. Nothing that happens in one matters in another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.adversary.replay.open_trials import Counts, OpenParts, take_ragged
from overt.kernels import failed_trials as kernels
from overt.partition import Partition
from overt.table import Codes

Marked = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ComponentOrder:
    """The groups that matter and the trials that can change, in the order of their components."""

    live: Counts  # (group) -> its number among all groups
    component_of_group: Counts
    component_of_trial: Counts
    n_components: int
    parts: OpenParts  # of these trials
    is_whole: Marked  # (trial) -> whether every row that may move is in a part, in all groups that it divides
    trials: Counts  # those that divide each group, group by group
    first_in_trials: Counts  # (group + 1)

    @classmethod
    def of(
        cls, parts: OpenParts, everybody: Partition, *, fixed: Marked, has_facts: Marked, is_free: Marked
    ) -> "ComponentOrder":
        """Of groups that a trial divides, or that hold somebody of whom facts are known. Trials that divide nothing cannot change."""
        n_trials = parts.first_part.size - 1
        movable = np.bincount(everybody.group_of_row[~fixed], minlength=everybody.n_groups).astype(np.int64)
        divided, groups, wholly = _divide(parts, everybody.group_of_row, movable, fixed, is_free)
        is_live = np.zeros(everybody.n_groups, np.bool_)
        is_live[groups] = True
        is_live[everybody.group_of_row[has_facts]] = True

        component = kernels.join_groups(divided, groups, n_trials, everybody.n_groups)
        live = np.flatnonzero(is_live)
        live = live[np.argsort(component[live], kind="stable")]
        _, component_of_group = np.unique(component[live], return_inverse=True)
        number_of_group = _numbers(live, everybody.n_groups)

        component_of_trial = np.full(n_trials, -1, np.int64)
        component_of_trial[divided] = component_of_group[number_of_group[groups]]
        is_whole = np.ones(n_trials, np.bool_)
        np.logical_and.at(is_whole, divided, wholly)
        chosen = np.argsort(component_of_trial, kind="stable")
        chosen = chosen[component_of_trial[chosen] >= 0]

        trial, group = _numbers(chosen, n_trials)[divided], number_of_group[groups]
        by_group = np.lexsort([trial, group])
        return cls(
            live=live,
            component_of_group=component_of_group,
            component_of_trial=component_of_trial[chosen],
            n_components=int(component_of_group.max(initial=-1)) + 1,
            parts=parts.take(chosen),
            is_whole=is_whole[chosen],
            trials=trial[by_group],
            first_in_trials=np.searchsorted(group[by_group], np.arange(live.size + 1)).astype(np.int64),
        )

    def first_of_component(self, component_of: Counts) -> Counts:
        """(component + 1) -> the first of something that stands in the order of its components."""
        return np.searchsorted(component_of, np.arange(self.n_components + 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class MovablePlaces:
    """The rows whose values may move, group by group: first the active ones, which a swap can change something for."""

    rows: Codes  # (place)
    group: Counts  # (place)
    first: Counts  # (group + 1)
    n_active: Counts  # (group)
    first_in_parts: Counts  # (group + 1), of `part_of`
    part_of: NDArray[
        np.int32
    ]  # group by group, place by place: the part it is in of each of the group's trials, -1 if in none

    @classmethod
    def of(
        cls, order: ComponentOrder, everybody: Partition, *, fixed: Marked, has_facts: Marked, is_free: Marked
    ) -> "MovablePlaces":
        members, _ = take_ragged(everybody.starts, order.live)
        rows = everybody.rows[members]
        rows = rows[~fixed[rows]]
        sizes = np.bincount(everybody.group_of_row[rows], minlength=everybody.n_groups)[order.live]
        first = np.append(0, np.cumsum(sizes)).astype(np.int64)
        group = np.repeat(np.arange(order.live.size), sizes)
        n_trials = np.diff(order.first_in_trials)
        first_in_parts = np.append(0, np.cumsum(sizes * n_trials))

        part_of = _parts_of(rows, order, group, first, first_in_parts)
        entries = np.append(0, np.cumsum(n_trials[group]))
        is_in_parts = np.diff(np.append(0, np.cumsum(part_of >= 0))[entries]) > 0
        is_active = has_facts[rows] | is_free[order.live][group] | is_in_parts
        rows = rows[np.lexsort((~is_active, group))]
        return cls(
            rows=rows,
            group=group,
            first=first,
            n_active=np.bincount(group[is_active], minlength=order.live.size).astype(np.int64),
            first_in_parts=first_in_parts,
            part_of=_parts_of(rows, order, group, first, first_in_parts),
        )

    def cells(self, order: ComponentOrder, has_facts: Marked) -> tuple[Counts, Counts]:
        """(place) -> its cell, and (cell) -> its group. A cell is rows of a group that no trial tells apart."""
        fact = np.where(
            has_facts[self.rows], self.rows.astype(np.int64) + 1, 0
        )  # whoever has facts is like nobody else
        names = kernels.name_places(
            self.group, self.first, order.first_in_trials, self.first_in_parts, self.part_of, fact
        )
        keys = np.column_stack([self.group.astype(np.uint64), names])
        of_cell, cell_of_place = np.unique(keys, axis=0, return_inverse=True)
        return cell_of_place.astype(np.int64), of_cell[:, 0].astype(np.int64)


def _parts_of(
    rows: Codes, order: ComponentOrder, group: Counts, first: Counts, first_in_parts: Counts
) -> NDArray[np.int32]:
    """The part that every place is in, of each trial of its group."""
    parts = order.parts
    part_of = np.full(first_in_parts[-1], -1, np.int32)
    n_rows = int(max(rows.max(initial=-1), parts.rows.max(initial=-1))) + 1
    kernels.fill_parts(
        _numbers(rows, n_rows)[parts.rows],
        parts.starts,
        parts.first_part,
        group,
        first,
        order.first_in_trials,
        order.trials,
        first_in_parts,
        part_of,
    )
    return part_of


def _numbers(chosen: NDArray[np.integer], n: int) -> Counts:
    """(old number) -> new number, -1 if it is not chosen."""
    number = np.full(n, -1, np.int64)
    number[chosen] = np.arange(chosen.size)
    return number


def _divide(
    parts: OpenParts,
    group_of_row: Codes,
    movable: Counts,
    fixed: Marked,
    is_free: Marked,
) -> tuple[Counts, Counts, Marked]:
    """Trials and the groups whose movable rows they divide, and whether all these rows are in a part."""
    rows, starts = parts.rows, parts.starts
    if fixed.any():
        kept = ~fixed[rows]
        rows, starts = rows[kept], np.append(0, np.cumsum(kept))[starts]
    trials, groups, wholly = kernels.find_divided(group_of_row[rows], parts.first_part, starts, movable, is_free)
    return trials, groups, wholly
