# SPDX-License-Identifier: Apache-2.0
"""Exact posteriors from failed trials: list every table of a small component, and count those that agree with the release.

No method is run: whether a table gives the release is read from the trials. Components are independent, so that each
is listed by itself, however many there are.
"""

from dataclasses import dataclass
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from overt.adversary.failed_trials import FailedTrials
from overt.adversary.open_parts import Counts, count_values
from overt.adversary.posterior import Chances, Posterior, Sampled
from overt.adversary.slots import Ladders, Slots
from overt.errors import InvalidInput
from overt.kernels import listing as kernels

MOST_TABLES = 20_000  # of a component
MOST_COUNTED = 10**12
MOST_WORK = 60_000_000  # of all, in steps of a loop


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
        chance = np.zeros((failed.size_of_cell.size, failed.n_values))
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


def list_components(failed: FailedTrials, *, most_tables: int = MOST_TABLES) -> Listed:
    """List the components that have few tables, the smallest first, as long as that is quick."""
    n = failed.n_components
    n_tables = [min(most_tables + 1, _count(failed, component)) for component in range(n)]
    entries = np.diff(failed.layout.first_in_parts[failed.first_group]) + np.diff(failed.first_part) * failed.n_values
    work = np.array(n_tables, np.float64) * (entries + 10)
    order = np.argsort(work, kind="stable")
    is_listed = np.zeros(n, np.bool_)
    is_listed[order[np.cumsum(work[order]) <= MOST_WORK]] = True
    is_listed &= np.array(n_tables, np.int64) <= most_tables
    found, total = np.zeros(n, np.int64), np.zeros((failed.size_of_cell.size, failed.n_values), np.int64)
    if is_listed.any():
        _list(failed, np.flatnonzero(is_listed), found, total)
    if not found[is_listed].all():
        raise InvalidInput(
            "No table leads to this release by the method as it was described; it was made in another way."
        )
    of, size = failed.component_of_cell, failed.size_of_cell
    return Listed(is_listed, found, total / np.maximum(1, found[of] * size)[:, None])


def _list(failed: FailedTrials, chosen: Counts, found: Counts, total: Counts) -> None:
    """Fill in what is found in these components."""
    rng = np.random.default_rng(0)  # nothing is drawn
    slots = Slots.at(failed, Ladders.of([[1.0]] * failed.n_components), rng, scattered=False)
    state, base = slots.state, slots.state.tally.copy()
    kernels.take_out_places(failed.layout, state.value, base)
    groups = np.repeat(np.arange(failed.n_groups), np.diff(failed.first_place))
    state.value[:] = np.where(failed.layout.is_free[groups], 0, state.value[np.lexsort([state.value, groups])])
    for component in chosen:
        places = failed.first_place[failed.first_group[component : component + 2]]
        place_at, part_at, trial_at = (int(added[component]) for added in slots.bases)
        found[component] = kernels.list_component(
            component, failed.layout, state, base, (int(places[0]), int(places[1])), place_at, part_at, trial_at, total
        )


def _count(failed: FailedTrials, component: int) -> int:
    """How many ways there are to lay the values of a component's groups."""
    ways = 1
    for g in range(failed.first_group[component], failed.first_group[component + 1]):
        rows = failed.rows[failed.first_place[g] : failed.first_place[g + 1]]
        if ways > MOST_TABLES or rows.size > 60:
            return MOST_TABLES + 1
        if failed.layout.is_free[g]:
            ways *= failed.n_values**rows.size
        else:
            counts = np.bincount(failed.column.codes[rows])
            ways *= factorial(rows.size) // prod(factorial(n) for n in counts.tolist() if n > 1)
    return ways


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
    told = np.concatenate([counts / n_left, known])
    chance = np.concatenate([mean, told])
    errors = np.concatenate([error, np.zeros((len(counts) + fixed.size, failed.n_values))])
    if parts is not None:
        parts = np.stack([np.concatenate([part, told]) for part in parts])
    return Posterior(cell_of_row.astype(np.int32), chance, errors, how, n_tables, sampled, parts)
