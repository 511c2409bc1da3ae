# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_engines.py
"""Exact posteriors from failed trials: list every table of a small component, and count those that agree with the release.

No method is run: whether a table gives the release is read from the trials. Components are independent, so that each
is listed by itself, however many there are.
"""

import time
from dataclasses import dataclass
from math import factorial, inf, prod

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import Chances, Posterior, Sampled
from overt.adversary.replay.cell_particles import CellComponent, can_count
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.open_trials import Counts, count_values
from overt.adversary.replay.particles import Particles
from overt.errors import InvalidInput
from overt.kernels import component_listing as kernels
from overt.kernels.count_listing import list_counts

MOST_TABLES = 20_000  # of a component, at least
MANY_TABLES = 5_000_000  # and of any, however much time there is
MOST_COUNTED = 10**12
MOST_WORK = 60_000_000  # of all, in steps of a loop, that go unnoticed
WORK_A_SECOND = 5_000_000  # of the time that there is
MOST_CELLS = 40  # of a component whose counts are listed
MOST_COUNTS = 100_000  # ways to fill them
ALL_COUNTS, COUNTS_A_SECOND = 500_000, 100_000  # of all components: if there is no limit on time, and in it
LONGEST = 0.15  # of that time, on a slow machine


@dataclass(frozen=True, eq=False)
class Listed:
    """What was found in components that were small enough."""

    is_listed: NDArray[np.bool_]  # (component)
    n_tables: Counts  # (component) -> how many give the release
    chance: Chances  # (cell, value)

    @classmethod
    def nothing(cls, failed: FailedTrials) -> "Listed":
        """No component."""
        n = failed.n_components
        chance = np.zeros((failed.size_of_cell.size, failed.n_shown))
        return cls(np.zeros(n, np.bool_), np.zeros(n, np.int64), chance)

    def count(self, failed: FailedTrials) -> int | None:
        """How many tables agree with the release, if all components were listed; None if a number tells nothing any more."""
        rest = np.ones(failed.everybody.n_groups, np.bool_)
        rest[failed.everybody.group_of_row[failed.rows]] = False
        total = prod(self.n_tables.tolist())
        movable = count_movable(failed)
        for group in np.flatnonzero(rest):
            n = int(movable[group].sum())
            if total > MOST_COUNTED or n > 1_000:
                return None
            if failed.is_free[group]:
                total *= failed.n_values ** int((failed.everybody.group_of_row[~failed.fixed] == group).sum())
            else:
                total *= factorial(n) // prod(factorial(int(count)) for count in movable[group] if count > 1)
        return total if total <= MOST_COUNTED else None


def list_components(failed: FailedTrials, *, seconds: float = 0.0) -> Listed:
    """List the components that have few tables, the smallest first, as long as that takes a small part of the seconds."""
    n = failed.n_components
    most_work, deadline = MOST_WORK + seconds * WORK_A_SECOND, time.perf_counter() + LONGEST * seconds
    most_tables = int(min(MANY_TABLES, MOST_TABLES * (1 + seconds)))
    n_tables = [_count(failed, component, most_tables) for component in range(n)]
    entries = np.diff(failed.layout.first_in_parts[failed.first_group]) + np.diff(failed.first_part) * failed.n_values
    work = np.array(n_tables, np.float64) * (entries + 10)
    order = np.argsort(work, kind="stable")
    is_listed = np.zeros(n, np.bool_)
    is_listed[order[np.cumsum(work[order]) <= most_work]] = True
    is_listed &= np.array(n_tables, np.int64) <= most_tables
    found, total = np.zeros(n, np.int64), np.zeros((failed.size_of_cell.size, failed.n_values), np.int64)
    if is_listed.any():
        chosen = order[is_listed[order]]
        n_done = _list(failed, chosen, found, total, deadline if seconds else inf)
        is_listed[chosen[n_done:]] = False
    if not found[is_listed].all():
        raise InvalidInput(
            "No table leads to this release by the method as it was described; it was made in another way."
        )
    of, size = failed.component_of_cell, failed.size_of_cell
    chance = total / np.maximum(1, found[of] * size)[:, None]
    n_cells, left = np.diff(failed.first_cell), int(LONGEST * seconds * COUNTS_A_SECOND) if seconds else ALL_COUNTS
    countable = np.flatnonzero(~is_listed & can_count(failed) & (n_cells <= MOST_CELLS))
    for component in countable[np.argsort(n_cells[countable], kind="stable")].tolist():
        if left <= 0 or (seconds and time.perf_counter() > deadline):
            break
        counted, n_counts = count_component(failed, component, min(left, MOST_COUNTS))
        left -= n_counts
        if counted is not None:
            is_listed[component], found[component] = True, MOST_COUNTED + 1
            chance[of == component] = counted
    return Listed(is_listed, found, failed.values.told(chance))


def count_component(failed: FailedTrials, component: int, most: int) -> tuple[Chances | None, int]:
    """(cell, value) -> its chance, by listing how often the cells of a component have each value; None if there are too many ways. And how many."""
    of = CellComponent.of(failed, component)
    room = np.bincount(of.cells.cell_of_place, minlength=of.n_cells).astype(np.int64)
    group_of_cell = of.cells.group_of_place[np.unique(of.cells.cell_of_place, return_index=True)[1]]
    n_groups = of.cells.first_place.size - 1
    in_group = np.zeros((n_groups, of.n_values), np.int64)
    np.add.at(in_group, (of.cells.group_of_place, of.cells.given), 1)
    held = np.zeros((of.n_cells, of.n_values))
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, room.sum() + 1))))
    first_cell = np.searchsorted(group_of_cell, np.arange(n_groups + 1)).astype(np.int64)
    tally, energy = of.resting.copy(), np.zeros(of.n_trials, np.int64)
    total, n_counts = list_counts(of.cells, first_cell, room, in_group, logs, tally, energy, most, held)
    if total < 0:
        return None, n_counts
    if total == 0:
        raise InvalidInput(
            "No table leads to this release by the method as it was described; it was made in another way."
        )
    chance: Chances = held / (total * room[:, None])
    return chance, n_counts


def _list(failed: FailedTrials, chosen: Counts, found: Counts, total: Counts, deadline: float) -> int:
    """Fill in what is found in these components, in their order; returns how many were done by the deadline."""
    one = Particles.begin(
        failed, np.ones(failed.n_components, np.int64), np.random.default_rng(0), np.zeros(1, np.bool_), scattered=False
    )
    state, bases = one.state, one.bases
    groups = np.repeat(np.arange(failed.n_groups), np.diff(failed.first_place))
    state.value[:] = np.where(failed.layout.is_free[groups], 0, state.value[np.lexsort([state.value, groups])])
    for number, component in enumerate(chosen):
        if time.perf_counter() > deadline:
            return number
        places = failed.first_place[failed.first_group[component : component + 2]]
        found[component] = kernels.list_component(
            component,
            failed.layout,
            state,
            failed.resting,
            (int(places[0]), int(places[1])),
            int(bases.place[component]),
            int(bases.part[component]),
            int(bases.trial[component]),
            total,
        )
    return chosen.size


def _count(failed: FailedTrials, component: int, most: int) -> int:
    """How many ways there are to lay the values of a component's groups, up to one more than the most that count."""
    ways = 1
    for g in range(failed.first_group[component], failed.first_group[component + 1]):
        rows = failed.rows[failed.first_place[g] : failed.first_place[g + 1]]
        if ways > most or rows.size > 60:
            return most + 1
        if failed.layout.is_free[g]:
            ways *= failed.n_values**rows.size
        else:
            counts = np.bincount(failed.column.codes[rows])
            ways *= factorial(rows.size) // prod(factorial(n) for n in counts.tolist() if n > 1)
    return min(ways, most + 1)


def count_movable(failed: FailedTrials) -> Counts:
    """(group, value) -> how many rows have it whose value is not known as a fact."""
    fixed = np.flatnonzero(failed.fixed)
    counts = count_values(failed.everybody, failed.column)
    np.add.at(counts, (failed.everybody.group_of_row[fixed], failed.column.codes[fixed]), -1)
    return counts


def assemble(
    failed: FailedTrials,
    mean: Chances,
    error: Chances,
    how: str,
    *,
    n_tables: int | None = None,
    sampled: Sampled | None = None,
    parts: Chances | None = None,
    is_known: NDArray[np.bool_] | None = None,
) -> Posterior:
    """What was found of cells; shares in groups that no failed trial says anything about; and what facts say."""
    everybody, codes, fixed = failed.everybody, failed.column.codes, np.flatnonzero(failed.fixed)
    counts = count_movable(failed)
    counts[failed.is_free] = 1
    n_left = np.maximum(1, counts.sum(axis=1, keepdims=True))
    known = np.zeros((fixed.size, failed.n_values))
    known[np.arange(fixed.size), codes[fixed]] = 1
    n_cells = failed.size_of_cell.size
    cell_of_row = everybody.group_of_row.astype(np.int64) + n_cells
    cell_of_row[failed.rows] = failed.layout.cell_of_place
    cell_of_row[fixed] = n_cells + everybody.n_groups + np.arange(fixed.size)
    told = failed.values.told(np.concatenate([counts / n_left, known]))
    chance = np.concatenate([mean, told])
    errors = np.concatenate([error, np.zeros_like(told)])
    if parts is not None:
        parts = np.stack([np.concatenate([part, told]) for part in parts])
    if is_known is not None:
        is_known = np.append(is_known, np.ones(len(counts) + fixed.size, np.bool_))
    return Posterior(cell_of_row.astype(np.int32), chance, errors, how, n_tables, sampled, parts, is_known)
