# SPDX-License-Identifier: Apache-2.0
"""The posterior of everybody, from what failed: components with few tables are listed, the others estimated by runs of particles.

The time is planned: how many particles a run has follows from how far random tables are from the release, and from how many runs
are to fit. Components that would take more than there is are not begun; of those nothing is said but what the release says.
"""

import time
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.posterior import Chances, Posterior, Sampled
from overt.adversary.replay.component_listing import Listed, assemble, count_movable, list_components
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.mode_mixture import can_mix, mix_modes
from overt.adversary.replay.open_trials import Counts
from overt.adversary.replay.particles import ENOUGH, N_SWEEPS, Particles
from overt.adversary.replay.run_sums import FEWEST_RUNS, RunEstimate, RunSums
from overt.adversary.replay.time_limit import Watch
from overt.errors import InvalidInput
from overt.partition import Partition
from overt.privacy.l_diversity import DistinctLDiversity
from overt.progress import Progress, silent
from overt.table import Column, Kind, Role
from overt.threads import n_threads, run_watched
from overt.trace import Trace, Trials

N_RUNS = 8
FEWEST, MOST = 32, 256  # particles of a component in a run
LEAST = 12  # particles, below which a run says nothing
PER_STEP = 4  # particles for every step that is expected; half as many where sweeps are counted and not seconds
SURVEYED = 8  # random tables that show how far it is
STEPS = 1.4  # steps for each standard deviation of the energy between random tables and the release
RECORDED = (8, 100)  # sweeps that are added up, fewest and most; in between twice the steps
PLANNED = 0.8  # of the time; machines are not always as fast
CHEAP = 0.5  # of the time goes to components that need no cuts at most
MEMORY = 1 << 30  # bytes, of all particles together
AT_LEAST = 0.15  # of the seconds is for sampling, however long it took to find out what was tried
FEWEST_SWEEPS = 8
LEAST_SHARE = 0.1  # of a core; less is not planned with
LONG_ENOUGH = 0.2  # seconds that must have passed to tell the share of a core


def sample_posterior(
    failed: FailedTrials,
    *,
    rng: Generator,
    seconds: float = 10.0,
    sweeps: int | None = None,
    knows_truth: bool = True,
    lists: bool = True,
    on_progress: Progress = silent,
) -> Posterior:
    """The posterior of everybody, for so many seconds; or with so many sweeps added up in each run, which can be repeated.

    A sweep proposes as many swaps as there are rows in groups about which a failed trial says something. `lists`: components
    with few tables are not sampled but listed.
    """
    if sweeps is not None and sweeps < FEWEST_SWEEPS:
        raise InvalidInput(f"sweeps is {sweeps}; at least {FEWEST_SWEEPS} are needed to see tables change.")
    watch = Watch(seconds if sweeps is None else np.inf, on_progress)
    if knows_truth:
        require_truth(failed)
    listed = list_components(failed, seconds=0.0 if sweeps else seconds) if lists else Listed.nothing(failed)
    if listed.is_listed.all():
        return assemble(failed, listed.chance, np.zeros_like(listed.chance), "listing", n_tables=listed.count(failed))
    look_around = partial(Survey.of, failed, ~listed.is_listed, rng, watch)
    (survey,) = run_watched([look_around], watch.stop, watch.look)  # of a large component one sweep takes seconds
    work = Work(failed, rng, survey, watch, sweeps)
    work.do()
    return _posterior_of(failed, listed, work)


@lru_cache(maxsize=1)
def compile_loops() -> None:
    """Sample a table of five people, so that loops are compiled or loaded before anybody looks at the clock."""
    codes = np.array([0, 0, 1, 2, 3], np.int32)
    column = Column("s", Role.SENSITIVE, Kind.CATEGORY, codes, pl.Series(["a", "b", "c", "d"]))
    rows, starts = np.arange(5, dtype=np.int32), np.array([0, 2, 5], np.int64)
    trace = Trace(rows, starts, np.zeros(1, np.int32), np.zeros(1, np.bool_))
    everybody, facts = Partition(np.zeros(5, np.int32), 1), np.zeros((5, 4), np.bool_)
    failed = FailedTrials.of([Trials.of_cuts(trace)], everybody, column, DistinctLDiversity(2), facts)
    for lists in (False, True):
        sample_posterior(failed, rng=np.random.default_rng(0), sweeps=FEWEST_SWEEPS, lists=lists)


def require_truth(failed: FailedTrials) -> None:
    """The table as it was handed over must give the release."""
    once = np.ones(failed.n_components, np.int64)
    no_rng, go = np.random.default_rng(0), np.zeros(1, np.bool_)
    if Particles.begin(failed, once, no_rng, go, scattered=False).state.energy_of.any():
        raise InvalidInput(
            "The true table does not lead to this release by the method as it was described; it was made in another way."
        )


@dataclass(frozen=True, eq=False)
class Survey:
    """What components would take, from a few random tables. Costs are seconds of processor time, of one thread.

    They are not taken by the clock: on a busy machine it says how long others took, and an audit would give up with its time unused.
    """

    is_open: NDArray[np.bool_]  # (component) -> whether it is to be sampled
    n_steps: Counts  # (component) -> expected
    cost_of_sweep: Chances  # (component) -> of a particle
    cost_of_table: Chances  # (component) -> of a particle that is drawn from the prior
    share: float = 1.0  # of a core that this process got meanwhile

    @classmethod
    def of(cls, failed: FailedTrials, is_open: NDArray[np.bool_], rng: Generator, watch: Watch) -> "Survey":
        """By looking how far random tables are from the release, and how fast they change."""
        n_parts, entries = np.diff(failed.first_part), np.diff(failed.layout.first_in_parts[failed.first_group])
        cost_of_sweep = failed.work_of_component + entries.astype(np.float64)  # as they are to each other
        cost_of_table = failed.size_of_component + entries + n_parts * float(failed.resting.shape[1])
        is_open = is_open & (bytes_of(failed) * LEAST <= MEMORY)
        clock, busy = time.perf_counter(), time.thread_time()
        began, n = busy, np.minimum(SURVEYED, MEMORY // bytes_of(failed)) * is_open
        some = Particles.begin(failed, n, rng, watch.stop, scattered=True)
        cost_of_table *= (time.thread_time() - began) / max(1.0, float(n @ cost_of_table))
        once = Particles.begin(failed, np.minimum(n, 1), rng, watch.stop, scattered=True)
        began = time.thread_time()
        once.sweep(is_open.astype(np.int64), watch.stop)
        cost_of_sweep *= (time.thread_time() - began) / max(1.0, float(is_open @ cost_of_sweep))
        energy, first = some.state.energy_of.astype(np.float64), some.state.first_particle[:-1][is_open]
        n_steps = np.zeros(failed.n_components, np.int64)
        if first.size:
            of = n[is_open]
            mean, square = (np.add.reduceat(one, first) / of for one in (energy, energy**2))
            at_zero = np.add.reduceat(energy == 0, first) / of
            far = STEPS * mean / np.sqrt(np.maximum(1, square - mean**2))
            n_steps[is_open] = np.where(at_zero >= ENOUGH, 0, np.ceil(1 + far)).astype(np.int64)
        clock, busy = time.perf_counter() - clock, time.thread_time() - busy
        share = float(np.clip(busy / clock, LEAST_SHARE, 1.0)) if clock > LONG_ENOUGH else 1.0
        return cls(is_open, n_steps, cost_of_sweep, cost_of_table, share)


def bytes_of(failed: FailedTrials) -> Counts:
    """(component) -> how much a particle of it takes."""
    per_part = 4 * failed.resting.shape[1] + 16
    n_bytes: Counts = np.diff(failed.first_part) * per_part + 4 * failed.size_of_component
    return np.maximum(1, n_bytes + 24 * np.diff(failed.layout.first_trial))


@dataclass(eq=False)
class Work:
    """Runs of the components, planned to fit into the time."""

    failed: FailedTrials
    rng: Generator
    survey: Survey
    watch: Watch
    sweeps: int | None
    runs: RunSums = field(init=False)
    is_mixed: NDArray[np.bool_] = field(init=False)  # (component) -> whether its modes were sampled one by one
    needed: float = 0.0  # seconds that all runs would take as they should be
    n_proposed: int = 0
    n_taken: int = 0

    def __post_init__(self) -> None:
        self.runs = RunSums(self.failed)
        self.is_mixed = np.zeros(self.failed.n_components, np.bool_)

    def do(self) -> None:
        """All of it."""
        per_step = PER_STEP if self.sweeps is None else PER_STEP // 2
        wanted = np.clip(per_step * self.survey.n_steps, FEWEST, MOST) * self.survey.is_open
        wanted = np.minimum(wanted, MEMORY // n_threads() // np.maximum(1, bytes_of(self.failed)))
        if self.sweeps is not None:
            for _ in range(N_RUNS // 2):
                self.pair(wanted)
            self.mix(self.is_wide)
            return
        cost = self.cost_of_particle()
        speed = n_threads() * self.survey.share  # seconds of a thread in a second
        full = N_RUNS * cost * wanted
        self.needed = float(full.sum()) / speed / PLANNED
        budget = speed * self.watch.left * PLANNED
        order = np.argsort(full, kind="stable")
        is_cheap = np.zeros(full.size, np.bool_)
        is_cheap[order] = np.cumsum(full[order]) <= (budget if full.sum() <= budget else CHEAP * budget)
        self.rounds(wanted * is_cheap, N_RUNS)
        dear = wanted * ~is_cheap
        if dear.any():
            self.rounds(self.fitted(dear, cost, speed * self.watch.left * PLANNED), N_RUNS)
            self.mix((dear > 0) & (self.runs.n_runs == 0))
        wanted = self.with_more(wanted, cost, PLANNED * speed)
        self.mix(self.is_wide)
        while self.watch.left > 0 and not self.watch.stop[0]:
            chosen = wanted * self.least_known() * ~self.is_mixed
            if not chosen.any() or float((chosen * cost).sum()) > PLANNED * self.survey.share * self.watch.left:
                break
            self.pair(chosen)

    @property
    def is_wide(self) -> NDArray[np.bool_]:
        """(component) -> whether its runs do not agree."""
        found: NDArray[np.bool_] = (self.runs.n_runs > 0) & ~self.runs.estimate().is_known
        return found

    def mix(self, components: NDArray[np.bool_]) -> None:
        """Search for the modes of components, the smallest first, as long as there is time."""
        chosen = np.flatnonzero(components & can_mix(self.failed) & ~self.is_mixed)
        for component in chosen[np.argsort(self.failed.size_of_component[chosen], kind="stable")].tolist():
            if self.watch.left <= 0 or self.watch.stop[0]:
                break
            self.is_mixed[component], n_proposed, n_taken = mix_modes(
                self.failed, component, self.runs, self.rng, self.watch, repeats=self.sweeps is not None
            )
            self.n_proposed += n_proposed
            self.n_taken += n_taken

    def with_more(self, n_particles: Counts, cost: Chances, speed: float) -> Counts:
        """Twice the particles, and again, where runs do not agree and the time allows it; what they said before is forgotten."""
        most = MEMORY // n_threads() // bytes_of(self.failed)
        while not self.watch.stop[0]:
            is_wide = self.is_wide & ~self.is_mixed & (2 * n_particles <= most)
            n = 2 * n_particles * is_wide
            order = np.flatnonzero(is_wide)[np.argsort((n * cost)[is_wide], kind="stable")]
            n[order[np.cumsum((n * cost)[order]) * N_RUNS > speed * self.watch.left]] = 0
            if not n.any():
                break
            self.runs.forget(n > 0)
            self.rounds(n, N_RUNS)
            n_particles = np.where(n > 0, n, n_particles)
        return n_particles

    def cost_of_particle(self) -> Chances:
        """(component) -> the seconds that a particle takes in a run, as far as can be told before."""
        survey = self.survey
        n_sweeps = N_SWEEPS * survey.n_steps + self.recorded(survey.n_steps)
        return survey.cost_of_table + n_sweeps * survey.cost_of_sweep

    def recorded(self, n_steps: Counts) -> Counts:
        """(component) -> sweeps that are added up; none where particles as they are drawn give the release."""
        least, most = (self.sweeps, self.sweeps) if self.sweeps is not None else RECORDED
        return np.where(n_steps > 0, np.clip(2 * n_steps, least, most), 0)

    @property
    def fewest(self) -> Counts:
        """(component) -> particles, with fewer of which runs would hardly agree."""
        return np.maximum(LEAST, PER_STEP * self.survey.n_steps // 3)

    def fitted(self, wanted: Counts, cost: Chances, budget: float) -> Counts:
        """As many particles as fit into so many seconds of a thread, fewer of each; components that do not fit at all have none."""
        order = np.argsort(cost, kind="stable")
        order = order[wanted[order] > 0]
        fits = np.cumsum(cost[order] * self.fewest[order] * N_RUNS) <= budget
        chosen = np.zeros_like(wanted)
        chosen[order[fits]] = wanted[order[fits]]
        share = budget / max(1e-9, float((N_RUNS * cost * chosen).sum()))
        return np.where(
            chosen > 0, np.clip((chosen * share).astype(np.int64), self.fewest, np.maximum(self.fewest, wanted)), 0
        )

    def rounds(self, n_particles: Counts, n_runs: int) -> None:
        """So many runs; with fewer particles when the first took longer than it should have."""
        done = 0
        while n_particles.any() and done < n_runs and not self.watch.stop[0]:
            began = time.perf_counter()
            self.pair(n_particles)
            took, done = time.perf_counter() - began, done + n_threads_of(n_runs - done)
            later = took * (n_runs - done) / n_threads_of(n_runs)
            if later > max(0.0, PLANNED * self.watch.left):
                fewer = n_particles * (PLANNED * max(0.0, self.watch.left) / later)
                n_particles = np.where(n_particles > 0, np.maximum(self.fewest, fewer), 0).astype(np.int64)
                if done >= FEWEST_RUNS and took > self.watch.left:
                    break

    def pair(self, n_particles: Counts) -> None:
        """As many runs at once as there are threads."""
        tasks = [
            partial(self.run, n_particles, rng) for rng in self.rng.spawn(2 if self.sweeps else n_threads_of(N_RUNS))
        ]
        for found in run_watched(tasks, self.watch.stop, self.watch.look):
            if found is None:
                continue
            particles, log_z = found
            self.runs.add(particles, log_z)
            self.n_proposed += particles.n_proposed
            self.n_taken += particles.n_taken

    def run(self, n_particles: Counts, rng: Generator) -> tuple[Particles, Chances] | None:
        """One run; nothing if it was stopped."""
        stop = self.watch.stop
        particles = Particles.begin(self.failed, n_particles, rng, stop, scattered=True)
        log_z, n_steps = particles.anneal(stop)
        particles.sweep(self.recorded(n_steps) * np.isfinite(log_z), stop, is_seen=True)
        return None if stop[0] else (particles, log_z)

    def least_known(self) -> NDArray[np.bool_]:
        """(component) -> whether its beliefs are among those with large errors, of those that were sampled before."""
        estimate = self.runs.estimate()
        best = np.nan_to_num(estimate.mean).argmax(axis=1)
        error = np.nan_to_num(estimate.error[np.arange(best.size), best], nan=0.5)
        worst = np.zeros(self.failed.n_components)
        np.maximum.at(worst, self.failed.component_of_cell, error)
        worst[self.runs.n_runs == 0] = 0
        found: NDArray[np.bool_] = (worst > 0) & (worst >= worst.max(initial=0) / 2)
        return found


def n_threads_of(n_runs: int) -> int:
    """How many runs go at once."""
    return max(1, min(n_threads(), n_runs))


def _posterior_of(failed: FailedTrials, listed: Listed, work: Work) -> Posterior:
    """What runs say together, what was listed, and of components of which nothing is known what the release says."""
    estimate: RunEstimate = work.runs.estimate()
    of = failed.component_of_cell
    is_listed, is_known = listed.is_listed[of], estimate.is_known[of]
    counts = count_movable(failed).astype(np.float64)
    counts[failed.is_free] = 1
    group_of_cell = np.zeros(of.size, np.int64)
    group_of_cell[failed.layout.cell_of_place] = failed.everybody.group_of_row[failed.rows]
    share = failed.values.told(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))[group_of_cell]
    mean = np.where(np.isnan(estimate.mean), share, estimate.mean)
    error = np.where(is_known[:, None], estimate.error, 0.5)
    spread = estimate.spread[of]
    parts = np.where(is_known[:, None], estimate.halves, np.nan)
    mean[is_listed], error[is_listed], spread[is_listed] = listed.chance[is_listed], 0.0, 0.0
    parts[:, is_listed] = listed.chance[is_listed]
    is_known |= is_listed
    sampled = Sampled(
        n_runs=int(work.runs.n_runs.max(initial=0)),
        n_proposed=work.n_proposed,
        accepted=work.n_taken / max(1, work.n_proposed),
        seconds=work.watch.used,
        spread=spread,
        needed=None if is_known.all() else max(2 * work.watch.used, work.needed),
    )
    return assemble(failed, mean, error, "sampling", sampled=sampled, parts=parts, is_known=is_known)
