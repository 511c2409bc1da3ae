# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_monte_carlo.py
"""Runs: what independent runs of particles say together, and how far they differ.

A run gives each component an unbiased estimate of Z, the chance that a table drawn from the prior gives the release, and the
means of the tables it ended with. Runs are weighted by their Z. How far log Z differs is the sign of whether particles found
where the tables are: runs that ended in different places disagree about how many tables there are.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import Chances
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.open_trials import Counts
from overt.adversary.replay.particles import Particles

WIDE = 1.0  # the standard deviation of log Z over runs, from which on nothing is said of a component
FEWEST_RUNS = 4
FEWEST_EFFECTIVE = 2.5  # runs, by their weights
TAILS = 3.2  # few runs: three standard errors are to mean what they mean for many (quantiles of Student's t)


@dataclass(frozen=True, eq=False)
class RunEstimate:
    """What several runs say. Arrays are (cell, value) unless said otherwise."""

    mean: Chances
    error: Chances
    spread: Chances  # (component) -> standard deviation of log Z
    is_known: NDArray[np.bool_]  # (component)
    n_tables: Chances  # (component) -> how many were seen that do not repeat each other
    halves: Chances  # (2, cell, value)


@dataclass(eq=False)
class RunSums:
    """Sums over runs, weighted by Z over the highest Z so far; odd runs and even ones apart."""

    failed: FailedTrials
    n_runs: Counts = field(init=False)  # (component)
    top: Chances = field(init=False)  # (component) -> the highest log Z
    logs: Chances = field(init=False)  # (2, component) -> sums of log Z and of its squares
    n_lost: Counts = field(init=False)  # (component) -> runs that did not get to the release
    n_reached: Counts = field(init=False)  # (component) -> particles that did
    z: Chances = field(init=False)  # (half, component)
    z_squared: Chances = field(init=False)  # (component)
    held: Chances = field(init=False)  # (half, cell, value) -> Z times the mean
    crossed: Chances = field(init=False)  # (cell, value) -> squared Z times the mean
    squared: Chances = field(init=False)  # (cell, value) -> squared Z times the squared mean
    inside: Chances = field(init=False)  # (cell, value) -> squared Z times the variance of the mean among particles

    def __post_init__(self) -> None:
        n, shape = self.failed.n_components, (self.failed.size_of_cell.size, self.failed.n_shown)
        self.n_runs, self.n_lost, self.n_reached = (np.zeros(n, np.int64) for _ in range(3))
        self.top, self.logs = np.full(n, -np.inf), np.zeros((2, n))
        self.z, self.z_squared = np.zeros((2, n)), np.zeros(n)
        self.held = np.zeros((2, *shape))
        self.crossed, self.squared, self.inside = (np.zeros(shape) for _ in range(3))

    def add(self, particles: Particles, log_z: Chances) -> None:
        """One more run of the components whose log Z is a number."""
        of, size, seen = self.failed.component_of_cell, self.failed.size_of_cell[:, None], particles.seen
        n_seen = np.maximum(1, seen.n_seen)[of, None]
        mean = seen.total / (n_seen * size)
        n_particles = np.maximum(2, np.diff(particles.state.first_particle))[of, None]
        variance = seen.square / size**2 - 2 * mean * seen.crossed / size + mean**2 * seen.n_squared[of, None]
        variance = np.maximum(0, variance) / n_seen**2 * (n_particles / (n_particles - 1))
        told = np.where(seen.n_seen > 0, log_z, -np.inf)
        self.note(np.where(np.isnan(log_z), np.nan, told), mean, variance, seen.n_reached)

    def note(self, log_z: Chances, mean: Chances, variance: Chances, n_reached: Counts) -> None:
        """What one run found of the components whose log Z is a number: means (cell, value), and their variance among particles."""
        of = self.failed.component_of_cell
        takes_part = ~np.isnan(log_z)
        log_z = np.where(takes_part, log_z, -np.inf)
        is_told = np.isfinite(log_z)
        self.n_lost += takes_part & ~is_told
        finite = np.where(is_told, log_z, 0.0)
        self.logs += finite, finite**2
        self.n_reached += n_reached
        top = np.maximum(self.top, log_z)
        had = np.isfinite(self.top)
        rescale = np.exp(np.where(had, self.top, 0.0) - np.where(had, top, 0.0))
        weight = np.where(is_told, np.exp(log_z - np.where(np.isfinite(top), top, 0.0)), 0.0)
        self.top = top
        one, two = weight[of, None], (weight**2)[of, None]
        half = self.n_runs % 2
        self.z *= rescale
        self.z[half, np.arange(half.size)] += weight
        self.z_squared = self.z_squared * rescale**2 + weight**2
        self.held *= rescale[of, None]
        self.held[half[of], np.arange(of.size)] += one * mean
        again = (rescale**2)[of, None]
        self.crossed = self.crossed * again + two * mean
        self.squared = self.squared * again + two * mean**2
        self.inside = self.inside * again + two * variance
        self.n_runs += takes_part

    def forget(self, components: NDArray[np.bool_]) -> None:
        """Begin anew with some components."""
        cells = components[self.failed.component_of_cell]
        self.n_runs[components] = self.n_lost[components] = self.n_reached[components] = 0
        self.top[components], self.z_squared[components] = -np.inf, 0
        self.logs[:, components], self.z[:, components], self.held[:, cells] = 0, 0, 0
        self.crossed[cells], self.squared[cells], self.inside[cells] = 0, 0, 0

    def estimate(self) -> RunEstimate:
        """What they say together; components that no run got to the release have no number."""
        of = self.failed.component_of_cell
        n_told = self.n_runs - self.n_lost
        with np.errstate(divide="ignore", invalid="ignore"):
            z = self.z.sum(axis=0)
            effective = np.nan_to_num(z**2 / self.z_squared)
            mean = self.held.sum(axis=0) / z[of, None]
            between = self.squared - 2 * mean * self.crossed + mean**2 * self.z_squared[of, None]
            freedom = np.maximum(effective - 1, 0.1)
            tails = (effective / freedom) * (1 + TAILS / np.maximum(freedom, 1)) ** 2
            variance = np.maximum(np.maximum(0, between) * tails[of, None], self.inside) / (z**2)[of, None]
            n_tables = effective * self.n_reached / np.maximum(1, n_told)
            error = np.maximum(np.sqrt(variance), 1 / n_tables[of, None])
            spread = np.sqrt(
                np.maximum(0, self.logs[1] / n_told - (self.logs[0] / n_told) ** 2) * n_told / (n_told - 1)
            )
            halves = self.held / self.z[:, of, None]
        spread[(n_told < 2) | (self.n_lost > 0)] = np.inf
        is_known = (n_told >= FEWEST_RUNS) & (spread <= WIDE) & (effective >= FEWEST_EFFECTIVE)
        return RunEstimate(mean, np.minimum(error, 0.5), spread, is_known, n_tables, halves)
