# SPDX-License-Identifier: Apache-2.0
# Tested through tests/kernels/test_failed_trials.py
"""FailedTrials: what must stay as it is for a method to give the same release.

Swap two values inside a released group: whatever whole groups hold stays the same. So only trials that failed can change
their verdict, and of these only such as divide the group. Trials that fail however the values lie are left out, by
bounds on what their parts can hold; so are parts that never break the goal. What is left falls into components
that have nothing to do with each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.adversary.replay.component_order import ComponentOrder, MovablePlaces
from overt.adversary.replay.goal_rules import GoalRules
from overt.adversary.replay.joint_values import JointValues
from overt.adversary.replay.open_trials import Counts, OpenParts, find_open
from overt.adversary.replay.time_limit import NotReplayed
from overt.kernels import component_listing as listing
from overt.kernels import places_missing as lacking
from overt.kernels import swapping
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
    values: JointValues

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
    def n_shown(self) -> int:
        """Values of all columns: what is added up of a cell."""
        return self.values.first_shown[-1]

    @property
    def size_of_component(self) -> Counts:
        return np.diff(self.first_place[self.first_group])

    @property
    def work_of_component(self) -> Counts:
        """How many swaps a sweep proposes."""
        work: Counts = self.layout.work
        return work

    @cached_property
    def resting(self) -> NDArray[np.int32]:
        """(part) -> the tally of those of its rows whose values do not move."""
        tally = np.zeros((self.starts.size - 1, lacking.COUNTS + self.n_values), np.int32)
        tally[:, lacking.CAP] = self.cap
        lacking.tally_parts(self.column.codes[self.rows_of_parts], self.starts, tally)
        listing.take_out_places(self.layout, self.column.codes[self.rows], tally)
        return tally

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
        values: JointValues | None = None,
    ) -> "FailedTrials":
        """Of the trials that failed before these groups were released.

        If suppressed rows are `hidden`, nothing is known of their values; otherwise which they have together. A `column` that
        stands for several comes with its `values`.
        """
        values = values or JointValues.of([column])
        rules = GoalRules(goal, values)
        everybody = with_suppressed(partition)
        is_free = np.zeros(everybody.n_groups, np.bool_)
        is_free[partition.n_groups :] = hidden
        if is_free.any() and rules.is_beside_table:
            raise NotReplayed(
                f"{goal} compares groups with the whole table, and the release hides what suppressed rows have: whether something "
                "failed cannot be told. Audit a table small enough for enumeration, or a release without suppressed rows."
            )
        several = list(find_open(trials, everybody, column, rules, is_free))
        fixed: NDArray[np.bool_] = np.equal(forbidden.sum(axis=1), column.n_values - 1) & (column.n_values > 1)
        return _lay_out(OpenParts.joined(several, rules), everybody, values, forbidden, is_free, fixed)


def with_suppressed(partition: Partition) -> Partition:
    """Suppressed rows as one more group, the last: they have in common that they are not shown."""
    if not partition.n_suppressed:
        return partition
    groups = np.where(partition.group_of_row < 0, partition.n_groups, partition.group_of_row).astype(np.int32)
    return Partition(groups, partition.n_groups + 1)


def _lay_out(
    parts: OpenParts,
    everybody: Partition,
    values: JointValues,
    forbidden: Facts,
    is_free: NDArray[np.bool_],
    fixed: NDArray[np.bool_],
) -> FailedTrials:
    """Everything in the order of components, groups and places."""
    has_facts = np.logical_or.reduce(forbidden, axis=1) & ~fixed
    order = ComponentOrder.of(parts, everybody, fixed=fixed, has_facts=has_facts, is_free=is_free)
    places = MovablePlaces.of(order, everybody, fixed=fixed, has_facts=has_facts, is_free=is_free)
    cell_of_place, group_of_cell = places.cells(order, has_facts)
    component_of_cell = order.component_of_group[group_of_cell]
    first_trial = order.first_of_component(order.component_of_trial)
    parts = order.parts
    layout = swapping.Layout(
        first_group=order.first_of_component(order.component_of_group),
        first_place=places.first,
        n_active=places.n_active,
        work=np.bincount(order.component_of_group, places.n_active, order.n_components).astype(np.int64),
        first_cell=order.first_of_component(component_of_cell),
        first_trial=first_trial,
        first_part=parts.first_part,
        first_in_trials=order.first_in_trials,
        most_trials=int(np.diff(order.first_in_trials).max(initial=0)),
        trials=order.trials,
        first_in_parts=places.first_in_parts,
        part_of=places.part_of,
        cell_of_place=cell_of_place,
        is_free=is_free[order.live],
        forbidden=forbidden[places.rows] if has_facts.any() else np.empty((0, 0), np.bool_),
        rules=parts.rules,
        kind=_kinds(parts, order.is_whole),
        weight=parts.weight,
        needed=parts.needed,
        unit=_units(parts),
        shown=values.shown,
    )
    return FailedTrials(
        layout=layout,
        rows=places.rows,
        first_group=layout.first_group,
        first_place=layout.first_place,
        first_cell=layout.first_cell,
        component_of_cell=component_of_cell,
        size_of_cell=np.bincount(cell_of_place, minlength=group_of_cell.size).astype(np.int64),
        starts=parts.starts,
        rows_of_parts=parts.rows,
        first_part=parts.first_part[first_trial],
        cap=parts.cap,
        words=parts.words,
        column=values.column,
        everybody=everybody,
        is_free=is_free,
        fixed=fixed,
        values=values,
    )


def _kinds(parts: OpenParts, is_whole: NDArray[np.bool_]) -> NDArray[np.int8]:
    """(trial) -> how its energy follows from its parts."""
    is_pair = (np.diff(parts.first_part) == 2) & is_whole
    kinds = np.where(parts.needed[:, 0] > 1, swapping.AMOUNT, np.where(is_pair, swapping.PAIR, swapping.ANY))
    return kinds.astype(np.int8)


def _units(parts: OpenParts) -> Counts:
    """(trial, 2) -> the rows and the weight of one of its parts, on the average."""
    of_trial = np.add.reduceat(np.append(parts.weight, [[0, 0]], axis=0), parts.first_part[:-1], axis=0)
    units: Counts = np.maximum(1, of_trial // np.maximum(1, np.diff(parts.first_part))[:, None])
    return units
