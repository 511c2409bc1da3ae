# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_mode_mixture.py
"""Reasons: for what the trials of a component failed, and which of them hold most of the tables; found by search.

A cut can fail because of one value on one side, or because of another value on the other side. Tables with the same reasons are near each
other; tables with other reasons may be so far that no chain and no particle gets there. How many tables there are for given
reasons can be estimated without drawing any (`tilted_counts`), so that the best reasons can be searched for.

Implements  Simulated annealing over reasons from several starts. A step takes away the reasons of a few trials, or of all with one
            value, and gives each the reason that takes least beside those that are left; or two values exchange their roles.
Guarantee   None: a search may miss reasons. Starts that do not agree on the best reasons say so.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.posterior import Chances
from overt.adversary.replay.cell_particles import CellComponent
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.open_trials import Counts
from overt.kernels.places_missing import CAP, COUNTS, goes_beyond
from overt.kernels.tilted_counts import log_chance

MOST_STARTS = 10
N_CYCLES = 60
STEPS_OF_TRIAL = 20  # of a start
HOTTEST, COLDEST = 6.0, 0.7
LOOSE = 1.0  # nats by which the reason that is given may be dearer than the one that takes least, about
WITHIN = 7.0  # nats below the best, from which on reasons are left out
MOST_TRIALS, MOST_CELLS = 40, 1_000
AGREES = 1.0  # nats that the best of three starts may differ by
ENOUGH = 3  # starts that agree
DEAR = 0.05  # the price of a reason that is kept: nats for every row that is missing

Reasons = tuple[int, ...]  # (trial) -> the number of a part and a value


@dataclass(eq=False)
class ReasonSearch:
    """What is known of reasons so far."""

    of: CellComponent
    rng: Generator
    stop: NDArray[np.bool_]
    seen: dict[Reasons, float] = field(default_factory=dict)
    binds: dict[Reasons, NDArray[np.bool_]] = field(default_factory=dict)
    best_of_start: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        cells, resting = self.of.cells, self.of.resting
        n_values, n_cells = self.of.n_values, self.of.n_cells
        self.size_of_cell = np.bincount(cells.cell_of_place, minlength=n_cells).astype(np.float64)
        first_place = np.unique(cells.cell_of_place, return_index=True)[1]
        self.group_of_cell = cells.group_of_place[first_place]
        in_group = np.zeros((cells.first_place.size - 1, n_values), np.float64)
        np.add.at(in_group, (cells.group_of_place, cells.given), 1)
        self.in_group = in_group
        self.cells_of_part: list[Counts] = [np.empty(0, np.int64) for _ in range(len(resting))]
        inside: list[list[int]] = [[] for _ in range(len(resting))]
        n_trials = np.diff(cells.first_in_trials)[self.group_of_cell]
        for cell in range(n_cells):
            for part in cells.part_of[cells.first_in_parts[cell] :][: n_trials[cell]].tolist():
                inside[part].append(cell)
        self.cells_of_part = [np.array(one, np.int64) for one in inside]
        self.needed = (resting[:, CAP, None] + 1 - resting[:, COUNTS:]).astype(np.float64)  # (part, value)
        self.is_in = np.zeros((len(resting), n_cells))  # (part, cell)
        for part, one in enumerate(self.cells_of_part):
            self.is_in[part, one] = 1
        has_value = (in_group > 0).any(axis=0)
        most = np.stack([np.minimum(self.size_of_cell[one].sum(), in_group.sum(axis=0)) for one in self.cells_of_part])
        self.is_candidate = (self.needed <= most) & (has_value | (self.needed <= 0))
        self.parts = self.of.cells.parts
        self._weight = np.empty((n_cells, n_values))

    @property
    def can(self) -> bool:
        """Whether every trial has a reason that it can fail for."""
        return bool(self.is_candidate[self.parts].any(axis=(1, 2)).all())

    def log_chance(self, reasons: Reasons) -> float:
        """About the logarithm of the chance of these reasons."""
        if reasons not in self.seen:
            self.seen[reasons], prices = self._solve(np.array(reasons, np.int64))
            self.binds[reasons] = prices > DEAR
        return self.seen[reasons]

    def _solve(self, chosen: Counts) -> tuple[float, Chances]:
        """The same for some of the trials, and how much each reason binds; `_weight` is left as the law that was found."""
        part, value = np.divmod(chosen, self.of.n_values)
        several = [self.cells_of_part[i] for i in part.tolist()]
        prices = np.zeros(chosen.size)
        found = log_chance(
            self.size_of_cell,
            self.group_of_cell,
            self.in_group,
            np.append(0, np.cumsum([one.size for one in several])).astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *several]),
            value,
            self.needed[part, value],
            N_CYCLES,
            prices,
            self._weight,
        )
        return float(found), prices

    def _filled(self, reasons: list[int], missing: Counts) -> Reasons:
        """Give the missing trials, one after the other, the reason that takes least, about; some none if there is no time."""
        chosen = np.array(reasons, np.int64)
        for i, trial in enumerate(missing.tolist()):
            if self.stop[0]:
                break
            left = np.ones(chosen.size, np.bool_)
            left[missing[i:]] = False
            self._solve(chosen[left])
            share = self._weight / self._weight.sum(axis=1, keepdims=True)
            part = self.parts[trial]
            mean = self.is_in[part] @ (self.size_of_cell[:, None] * share)
            variance = self.is_in[part] @ (self.size_of_cell[:, None] * share * (1 - share))
            gap = np.maximum(0, self.needed[part] - mean)
            cost = gap**2 / (2 * np.maximum(variance, 0.1)) + LOOSE * self.rng.standard_exponential(gap.shape)
            cost = np.where(self.is_candidate[part], cost, np.inf)
            side, value = np.divmod(int(np.argmin(cost)), self.of.n_values)
            chosen[trial] = part[side] * self.of.n_values + value
        return tuple(chosen.tolist())

    def run(self, start: Reasons) -> None:
        """One start: cool down."""
        now, here = start, self.log_chance(start)
        top, n_steps = here, STEPS_OF_TRIAL * len(start)
        for step in range(n_steps):
            if self.stop[0]:
                return
            heat = HOTTEST * (COLDEST / HOTTEST) ** (step / n_steps)
            other = self._exchanged(now) if self.rng.random() < 0.2 else self._changed(now)
            there = self.log_chance(other)
            if there - here > -heat * self.rng.standard_exponential():
                now, here = other, there
            top = max(top, here)
        self.best_of_start.append(top)

    def _changed(self, reasons: Reasons) -> Reasons:
        n, value = len(reasons), np.array(reasons) % self.of.n_values
        is_alike = self.rng.random() < 0.3
        missing = np.flatnonzero(value == value[self.rng.integers(n)]) if is_alike else np.arange(n)
        missing = self.rng.permutation(missing)[: 1 + int(self.rng.integers(min(6, missing.size)))]
        return self._filled(list(reasons), missing)

    def _exchanged(self, reasons: Reasons) -> Reasons:
        n = self.of.n_values
        present = sorted({one % n for one in reasons})
        v, w = present[int(self.rng.integers(len(present)))], int(self.rng.integers(n))
        turned = {v: w, w: v}
        other = [one - one % n + turned.get(one % n, one % n) for one in reasons]
        can = self.is_candidate.ravel()[other].all()
        return tuple(other) if can else reasons

    def random_start(self) -> Reasons:
        """Reasons that are given to all trials in a random order."""
        return self._filled([0] * len(self.parts), self.rng.permutation(len(self.parts)))

    @property
    def is_agreed(self) -> bool:
        """Whether at least three starts found reasons that are about as good as the best."""
        top = sorted(self.best_of_start, reverse=True)
        return len(top) >= ENOUGH and top[ENOUGH - 1] >= top[0] - AGREES

    def modes(self, most: int) -> "Modes":
        """The best reasons, of the trials for which they are dear; other trials may fail as they like."""
        order = sorted(self.seen, key=lambda one: -self.seen[one])
        top = self.seen[order[0]]
        order = [one for one in order if self.seen[one] > top - WITHIN]
        is_fixed = self.binds[order[0]]
        best: dict[Reasons, float] = {}
        for one in order:
            key = tuple(reason if fixed else -1 for reason, fixed in zip(one, is_fixed.tolist(), strict=True))
            best[key] = max(best.get(key, -np.inf), self.seen[one])
        kept = list(best)[:most]
        weight = np.exp(np.array(list(best.values())) - top)
        n = self.of.n_values
        reasons = np.array([[(one // n, one % n) if one >= 0 else (-1, -1) for one in key] for key in kept], np.int64)
        return Modes(reasons, np.array([best[key] for key in kept]), float(weight[: len(kept)].sum() / weight.sum()))


@dataclass(frozen=True, eq=False)
class Modes:
    """Reasons that hold most of the tables."""

    reasons: Counts  # (mode, trial, 2)
    log_chance: Chances  # (mode), about
    share: float  # of the mass of all reasons that were seen


def can_search(failed: FailedTrials, component: int) -> bool:
    """Whether a component is small enough, and its goal one whose reasons are a part and a value."""
    layout, rules = failed.layout, failed.layout.rules
    n_trials = int(layout.first_trial[component + 1] - layout.first_trial[component])
    n_cells = int(failed.first_cell[component + 1] - failed.first_cell[component])
    return rules.least <= 1 and not goes_beyond(rules) and 0 < n_trials <= MOST_TRIALS and n_cells <= MOST_CELLS


def search_reasons(of: CellComponent, rng: Generator, stop: NDArray[np.bool_]) -> ReasonSearch | None:
    """Search from several starts; None if a trial has no reason that it can fail for."""
    search = ReasonSearch(of, rng, stop)
    if not search.can:
        return None
    while not (search.is_agreed or stop[0] or len(search.best_of_start) == MOST_STARTS):
        search.run(search.random_start())
    return search
