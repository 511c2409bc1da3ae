# SPDX-License-Identifier: Apache-2.0
"""Particles: copies of every component, each with values of its own, that go together from the prior to the release.

Paper       P. Del Moral, A. Doucet, A. Jasra, "Sequential Monte Carlo samplers", Journal of the Royal Statistical Society B 68, 2006.
Implements  Particles begin at tables drawn from the prior (uniform over those that have the values of the released groups). The
            price of energy rises in steps, each as long as leaves an effective number of particles of EFFECTIVE (section 3.4.2);
            particles are drawn again by their weights, then move by sweeps of swaps that keep their law (section 3.3.2).
            The product of the mean weights, and at last of the share of energy 0, is the chance that a table drawn from the
            prior gives the release (section 3.2.1).
Departs     Components are independent, and each has prices of its own. A component stops at the lowest price at which a share
            ENOUGH of its particles has energy 0, and its tables of energy 0 are added up there.
Guarantee   Every table that is added up gives the release. Chances and means are right as the number of particles grows, and
            how far several runs differ says how near they are.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.open_trials import Counts
from overt.kernels import particles as kernels
from overt.kernels import places_missing as lacking
from overt.kernels import swapping

EFFECTIVE = 0.6
ENOUGH = 0.4
HIGHEST = 40.0  # price
MOST_STEPS = 400
N_SWEEPS = 2  # after each step
AT_ONCE = 1 << 18  # random numbers drawn together
Floats = NDArray[np.float64]


@dataclass(eq=False)
class Particles:
    """Where all particles are, and what they have shown."""

    failed: FailedTrials
    rng: Generator
    component_of: Counts  # (particle)
    state: swapping.State
    bases: swapping.Bases
    seen: swapping.Seen
    n_proposed: int = 0
    n_taken: int = 0

    @classmethod
    def begin(
        cls, failed: FailedTrials, n_particles: Counts, rng: Generator, stop: NDArray[np.bool_], *, scattered: bool
    ) -> "Particles":
        """So many particles of each component, at tables drawn from the prior; or all at the table as it was handed over."""
        layout, sizes = failed.layout, failed.size_of_component
        n_parts, n_trials = np.diff(failed.first_part), np.diff(layout.first_trial)
        first = np.append(0, np.cumsum(n_particles)).astype(np.int64)
        component = np.repeat(np.arange(failed.n_components), n_particles)
        number = np.arange(component.size) - first[component]

        def bases(size: Counts, begin: Counts) -> Counts:
            before = np.append(0, np.cumsum(n_particles * size))
            base: Counts = before[component] + number * size[component] - begin[component]
            return base.astype(np.int64)

        kinds, n_all_trials = set(layout.kind.tolist()), int((n_particles * n_trials).sum())
        n_all_parts = int((n_particles * n_parts).sum())
        state = swapping.State(
            first,
            np.zeros(failed.n_components),
            np.empty(int((n_particles * sizes).sum()), np.int32),
            np.zeros((n_all_parts, lacking.COUNTS + failed.n_values), np.int32),
            np.zeros(n_all_trials, np.int64),
            np.zeros((n_all_trials if swapping.AMOUNT in kinds else 0, 2), np.int64),
            np.zeros(2 * n_all_parts if swapping.ANY in kinds else 0, np.int64),
            np.zeros(component.size, np.int64),
        )
        shape = failed.size_of_cell.size, failed.n_shown
        n = failed.n_components
        seen = swapping.Seen(
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(n, np.int64),
            np.zeros(n),
            np.zeros(n, np.int64),
        )
        of = swapping.Bases(
            bases(sizes, failed.first_place[failed.first_group]),
            bases(n_parts, failed.first_part),
            bases(n_trials, layout.first_trial),
        )
        particles = cls(failed, rng, component, state, of, seen)
        given = failed.column.codes[failed.rows]
        for some in pieces(sizes[component]):
            if stop[0]:
                break
            n_draws = int(sizes[component[some[0] : some[1]]].sum()) if scattered else 0
            draws = rng.integers(0, 2**64, n_draws, np.uint64)
            kernels.lay_particles(draws, some, scattered, given, failed.resting, component, layout, state, of)
        return particles

    def sweep(self, sweeps: Counts, stop: NDArray[np.bool_], *, is_seen: bool = False) -> None:
        """So many sweeps of every component's particles."""
        cost = (self.failed.work_of_component * sweeps)[self.component_of]
        for some in pieces(cost):
            n_draws = int(cost[some[0] : some[1]].sum())
            if stop[0] or not (n_draws or is_seen):
                continue
            draws = self.rng.integers(0, 2**64, n_draws, np.uint64)
            coins = self.rng.standard_exponential(n_draws)
            n_proposed, n_taken = swapping.sweep_particles(
                draws,
                coins,
                some,
                sweeps,
                self.component_of,
                self.failed.layout,
                self.state,
                self.bases,
                self.seen,
                is_seen,
                stop,
            )
            self.n_proposed += n_proposed
            self.n_taken += n_taken

    def anneal(self, stop: NDArray[np.bool_]) -> tuple[Floats, Counts]:
        """(component) -> the logarithm of the chance of its tables of energy 0 in the prior, and how many steps it took.

        Afterwards the particles are at the price at which these are added up.
        """
        n = self.failed.n_components
        running = np.diff(self.state.first_particle) > 0
        log_z, n_steps, source = np.zeros(n), np.zeros(n, np.int64), np.empty(self.component_of.size, np.int64)
        log_z[~running] = np.nan
        for _ in range(MOST_STEPS):
            kernels.raise_prices(
                running,
                self.state.first_particle,
                self.state.energy_of,
                self.state.price,
                log_z,
                self.rng.random(n),
                source,
                ENOUGH,
                EFFECTIVE,
                HIGHEST,
            )
            if stop[0] or not running.any():
                break
            n_steps += running
            kernels.copy_particles(source, self.component_of, self.failed.layout, self.state, self.bases)
            self.sweep(running * N_SWEEPS, stop)
        log_z[running] = -np.inf
        return log_z, n_steps


def pieces(cost: Counts) -> list[tuple[int, int]]:
    """Ranges that cost about AT_ONCE each."""
    number = (np.cumsum(cost) - cost) // AT_ONCE
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    return list(pairwise([*starts.tolist(), cost.size]))
