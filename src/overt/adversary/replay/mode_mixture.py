# SPDX-License-Identifier: Apache-2.0
"""Components whose tables lie in several places far from each other: the places are searched for, sampled one by one, and mixed.

Implements  The best reasons of a search (`reason_search`) are kept for the trials for which they are dear. For each choice of them particles go
            from the prior to the release (`cell_particles`), which gives its beliefs and its Z; beliefs are mixed by Z. A table
            that has several of the choices counts once. Runs are repeated, and compared as runs of particles are.
Guarantee   None that no place was missed. Nothing is said where starts of the search do not agree, where the choices that are
            sampled hold less than MOST_HELD of the mass that was seen, or where the sum of Z differs from run to run.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.posterior import Chances
from overt.adversary.replay.cell_particles import CellComponent, CellParticles, can_count
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.reason_search import Modes, can_search, search_reasons
from overt.adversary.replay.run_sums import RunSums
from overt.adversary.replay.time_limit import Watch
from overt.threads import n_threads, run_watched

N_PARTICLES = 192  # of all modes in a run
FEWEST_PARTICLES = 32  # of a mode
N_RUNS = 6
FEWEST_RUNS = 4
RECORDED = 12  # sweeps
MOST_MODES = 12
MOST_HELD = 0.99


@dataclass(frozen=True, eq=False)
class ModeRun:
    """One run of one mode."""

    log_z: float  # of its tables, each as one over how many of the modes it is in
    mean: Chances  # (cell, value)
    variance: Chances  # of the mean, among particles
    n_reached: int


def mix_modes(
    failed: FailedTrials, component: int, runs: RunSums, rng: Generator, watch: Watch, *, repeats: bool
) -> tuple[bool, int, int]:
    """Replace what runs said of a component, if its modes can be told; returns whether, and how many moves were proposed and taken.

    `repeats`: the number of runs does not depend on the time.
    """
    of = CellComponent.of(failed, component)
    (searched,) = run_watched([partial(search_reasons, of, rng, watch.stop)], watch.stop, watch.look)
    watch.look()
    if searched is None or not searched.is_agreed or watch.stop[0]:
        return False, 0, 0
    modes = searched.modes(MOST_MODES)
    if modes.share < MOST_HELD:
        return False, 0, 0
    chosen = np.zeros(failed.n_components, np.bool_)
    chosen[component] = True
    done, took, proposed, taken = 0, 0.0, 0, 0
    together = max(1, n_threads())
    several: list[list[ModeRun]] = []
    while done < N_RUNS and not watch.stop[0] and (repeats or done < FEWEST_RUNS or took < watch.left):
        began, n = watch.used, min(together, N_RUNS - done)
        tasks = [partial(_run_all, of, modes, one, watch.stop) for one in rng.spawn(n)]
        for found in run_watched(tasks, watch.stop, watch.look):
            if found is not None:
                several.append(found[0])
                proposed, taken = proposed + found[1], taken + found[2]
        done, took = done + n, watch.used - began
    if len(several) >= FEWEST_RUNS:
        runs.forget(chosen)
        for one in several:
            _note(failed, component, of, one, modes, runs)
    return len(several) >= FEWEST_RUNS, proposed, taken


def can_mix(failed: FailedTrials) -> NDArray[np.bool_]:
    """(component) -> whether its reasons can be searched for."""
    found = can_count(failed) & (failed.n_shown == failed.n_values)
    for component in np.flatnonzero(found).tolist():
        found[component] = can_search(failed, component)
    return found


def _run_all(
    of: CellComponent, modes: Modes, rng: Generator, stop: NDArray[np.bool_]
) -> tuple[list[ModeRun], int, int] | None:
    """One run of every mode; nothing if it was stopped."""
    found, proposed, taken = [], 0, 0
    n = max(FEWEST_PARTICLES, N_PARTICLES // len(modes.reasons))
    sizes = np.bincount(of.cells.cell_of_place, minlength=of.n_cells)[:, None]
    for reason in modes.reasons:
        particles = CellParticles.begin(of.for_reasons(reason), n, rng)
        log_z, _ = particles.anneal(stop)
        if not np.isfinite(log_z):
            if stop[0]:
                return None
            found.append(ModeRun(-np.inf, np.zeros((of.n_cells, of.n_values)), np.zeros((of.n_cells, of.n_values)), 0))
            continue
        seen = particles.record(RECORDED, modes.reasons, stop)
        if stop[0] or not seen.n_zero:
            return None
        mean = seen.total / (seen.weight * sizes)
        variance = seen.square / sizes**2 - 2 * mean * seen.crossed / sizes + mean**2 * seen.weight_squared
        variance = np.maximum(0, variance) / seen.weight**2 * (n / (n - 1))
        log_z += float(np.log(seen.weight / seen.n_zero))
        found.append(ModeRun(log_z, mean, variance, seen.n_reached))
        proposed, taken = proposed + particles.n_proposed, taken + particles.n_taken
    return found, proposed, taken


def _note(
    failed: FailedTrials, component: int, of: CellComponent, several: list[ModeRun], modes: Modes, runs: RunSums
) -> None:
    """One run of all modes as one run of the component."""
    log_z = np.array([one.log_z for one in several])
    total = np.logaddexp.reduce(log_z)
    weight = np.exp(log_z - total) if np.isfinite(total) else np.zeros(log_z.size)
    shape = failed.size_of_cell.size, failed.n_values
    mean, variance = np.zeros(shape), np.zeros(shape)
    cells = slice(of.first_cell, of.first_cell + of.n_cells)
    mean[cells] = np.einsum("m,mcv->cv", weight, np.stack([one.mean for one in several]))
    variance[cells] = np.einsum("m,mcv->cv", weight**2, np.stack([one.variance for one in several]))
    variance[cells] += (1 - modes.share) ** 2 * N_RUNS  # what other reasons may hold
    every, n_reached = np.full(failed.n_components, np.nan), np.zeros(failed.n_components, np.int64)
    every[component] = total
    n_reached[component] = sum(one.n_reached for one in several)
    told = failed.values.told(mean)
    runs.note(every, told, failed.values.told(variance), n_reached)
