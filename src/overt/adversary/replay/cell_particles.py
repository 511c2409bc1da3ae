# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_mode_mixture.py
"""Particles of one component as counts of its cells: the same sequential Monte Carlo, with moves of several rows at a time.

Paper       P. Del Moral, A. Doucet, A. Jasra, "Sequential Monte Carlo samplers", Journal of the Royal Statistical Society B 68, 2006.
Implements  As `particles`; a table is known by how often each cell has each value. A component can be sampled for given
            *reasons*: some trials then fail by too many rows of a certain part with a certain value.
Departs     If several choices of reasons are sampled, a table counts as one over how many of them it has, so that it counts once
            when they are added up.
Guarantee   As `particles`. Components of Mondrian's cuts only: two parts that hold whole groups together, and no facts.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.posterior import Chances
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.open_trials import Counts
from overt.adversary.replay.particles import EFFECTIVE, ENOUGH, HIGHEST, MOST_STEPS
from overt.kernels import cell_counts as kernels
from overt.kernels import places_missing as lacking
from overt.kernels import swapping
from overt.kernels.particles import raise_prices

N_SWEEPS = 1  # after each step: a move is several swaps
MOST_ENTRIES = 1 << 27  # counts of all particles together


@dataclass(frozen=True, eq=False)
class CellComponent:
    """A component whose tables are known by the counts of its cells."""

    cells: kernels.ComponentCells
    resting: NDArray[np.int32]  # (part) -> the tally of those of its rows whose values do not move
    first_cell: int
    n_cells: int
    n_moves: int  # of a sweep

    @classmethod
    def of(cls, failed: FailedTrials, component: int) -> "CellComponent":
        """One component of what failed."""
        layout = failed.layout
        groups = slice(failed.first_group[component], failed.first_group[component + 1])
        trials = slice(layout.first_trial[component], layout.first_trial[component + 1])
        first_place = failed.first_place[groups.start : groups.stop + 1]
        begin, end = int(first_place[0]), int(first_place[-1])
        first_cell, first_part = int(failed.first_cell[component]), int(layout.first_part[trials.start])
        cell_of_place = layout.cell_of_place[begin:end] - first_cell
        n_cells = int(failed.first_cell[component + 1]) - first_cell
        sizes = np.diff(first_place)
        group_of_place = np.repeat(np.arange(sizes.size), sizes)
        first_in_trials = layout.first_in_trials[groups.start : groups.stop + 1]
        n_trials = np.diff(first_in_trials)
        _, place_of_cell = np.unique(cell_of_place, return_index=True)
        of_cell = group_of_place[place_of_cell]
        entry = (
            layout.first_in_parts[groups][of_cell]
            + (place_of_cell - (first_place[of_cell] - begin)) * n_trials[of_cell]
        )
        pieces = [
            layout.part_of[at : at + n] - first_part
            for at, n in zip(entry.tolist(), n_trials[of_cell].tolist(), strict=True)
        ]
        parts = layout.first_part[trials.start : trials.stop] - first_part
        n = trials.stop - trials.start
        cells = kernels.ComponentCells(
            (first_place - begin).astype(np.int64),
            group_of_place.astype(np.int64),
            failed.column.codes[failed.rows[begin:end]].astype(np.int64),
            cell_of_place.astype(np.int64),
            (first_in_trials - first_in_trials[0]).astype(np.int64),
            (layout.trials[first_in_trials[0] : first_in_trials[-1]] - trials.start).astype(np.int64),
            np.append(0, np.cumsum(n_trials[of_cell]))[:-1].astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *pieces]).astype(np.int64),
            np.column_stack([parts, parts + 1]).astype(np.int64),
            np.full((n, 2), -1, np.int64),
            layout.rules,
        )
        n_parts = 2 * n
        return cls(
            cells,
            failed.resting[first_part : first_part + n_parts],
            first_cell,
            n_cells,
            max(16, min(end - begin, n_cells * failed.n_values)),
        )

    @property
    def n_trials(self) -> int:
        return len(self.cells.parts)

    @property
    def n_values(self) -> int:
        return self.resting.shape[1] - lacking.COUNTS

    def for_reasons(self, reason: Counts) -> "CellComponent":
        """The same, with a reason for some trials: (trial, 2), a part and a value or -1."""
        cells = self.cells._replace(reason=np.ascontiguousarray(reason, np.int64))
        return CellComponent(cells, self.resting, self.first_cell, self.n_cells, self.n_moves)


def can_count(failed: FailedTrials) -> NDArray[np.bool_]:
    """(component) -> whether its tables are known by the counts of its cells, and fail as these loops take it."""
    layout = failed.layout
    if layout.forbidden.size:
        return np.zeros(failed.n_components, np.bool_)
    is_other = np.append(0, np.cumsum(layout.kind != swapping.PAIR))
    free = np.append(0, np.cumsum(layout.is_free))
    of_trials = is_other[layout.first_trial[1:]] - is_other[layout.first_trial[:-1]]
    of_groups = free[failed.first_group[1:]] - free[failed.first_group[:-1]]
    found: NDArray[np.bool_] = (of_trials == 0) & (of_groups == 0)
    return found


@dataclass(eq=False)
class CellParticles:
    """Where all particles of one component are, and what they have shown."""

    of: CellComponent
    rng: Generator
    count: NDArray[np.int32]  # (particle, cell, value)
    tally: NDArray[np.int32]  # (particle, part, ...)
    energy: Counts  # (particle, trial)
    energy_of: Counts  # (particle)
    price: float = 0.0
    n_proposed: int = 0
    n_taken: int = 0

    @classmethod
    def begin(cls, of: CellComponent, n: int, rng: Generator) -> "CellParticles":
        """So many particles, at tables drawn from the prior."""
        count = np.empty((n, of.n_cells, of.n_values), np.int32)
        tally = np.repeat(of.resting[None], n, axis=0)
        energy, energy_of = np.zeros((n, of.n_trials), np.int64), np.zeros(n, np.int64)
        first = of.cells.first_place
        for i in range(n):
            values = of.cells.given.copy()
            for begin, end in pairwise(first.tolist()):
                rng.shuffle(values[begin:end])
            kernels.lay_counts(values, of.cells, count[i], tally[i])
            energy_of[i] = kernels.judge_counts(of.cells, tally[i], energy[i])
        return cls(of, rng, count, tally, energy, energy_of)

    @property
    def n(self) -> int:
        return self.energy_of.size

    def sweep(self, particle: int) -> None:
        """One sweep of one particle."""
        n = self.of.n_moves
        self.energy_of[particle], n_taken = kernels.sweep_counts(
            self.rng.integers(0, 2**64, 2 * n, np.uint64),
            self.rng.random(2 * n),
            self.rng.standard_exponential(n),
            self.price,
            self.of.cells,
            self.count[particle],
            self.tally[particle],
            self.energy[particle],
            self.energy_of[particle],
        )
        self.n_proposed += n
        self.n_taken += n_taken

    def anneal(self, stop: NDArray[np.bool_]) -> tuple[float, int]:
        """The logarithm of the chance of energy 0 in the prior, and how many steps it took."""
        running, first, price, log_z = np.ones(1, np.bool_), np.array([0, self.n]), np.zeros(1), np.zeros(1)
        source, n_steps = np.empty(self.n, np.int64), 0
        for _ in range(MOST_STEPS):
            raise_prices(
                running, first, self.energy_of, price, log_z, self.rng.random(1), source, ENOUGH, EFFECTIVE, HIGHEST
            )
            self.price = float(price[0])
            if stop[0] or not running[0]:
                break
            n_steps += 1
            moved = np.flatnonzero(source != np.arange(self.n))
            for array in (self.count, self.tally, self.energy, self.energy_of):
                array[moved] = array[source[moved]]
            for particle in range(self.n):
                if stop[0]:
                    break
                for _ in range(N_SWEEPS):
                    self.sweep(particle)
        return (-np.inf if running[0] else float(log_z[0])), n_steps

    def record(self, n_sweeps: int, modes: Counts, stop: NDArray[np.bool_]) -> "Recorded":
        """Sweep so often, and add up the tables of energy 0; each as one over how many of these choices of reasons it has."""
        shape = self.of.n_cells, self.of.n_values
        found = Recorded(np.zeros(shape), np.zeros(shape), np.zeros(shape))
        for particle in range(self.n):
            own, weight = np.zeros(shape), 0.0
            for number in range(n_sweeps + 1):
                if stop[0]:
                    return found
                if number:
                    self.sweep(particle)
                if self.energy_of[particle] == 0:
                    one = kernels.weight_of_table(self.tally[particle], modes)
                    own += one * self.count[particle]
                    weight += one
                    found.n_zero += 1
                found.n_tables += 1
            found.add(own, weight)
        return found


@dataclass(eq=False)
class Recorded:
    """Sums over tables of energy 0, by their weights, and over squares of the sums of one particle."""

    total: Chances  # (cell, value)
    square: Chances
    crossed: Chances  # the sum of a particle times its weight
    weight: float = 0.0
    weight_squared: float = 0.0
    n_reached: int = 0
    n_zero: int = 0
    n_tables: int = 0

    def add(self, own: Chances, weight: float) -> None:
        """What one particle showed."""
        self.total += own
        self.square += own**2
        self.crossed += own * weight
        self.weight += weight
        self.weight_squared += weight**2
        self.n_reached += weight > 0
