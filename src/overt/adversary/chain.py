# SPDX-License-Identifier: Apache-2.0
"""Markov chains on the tables that an adversary who replays a method cannot exclude.

Paper       Not in a paper. Metropolis et al., "Equation of State Calculations by Fast Computing Machines", 1953; replica
            exchange after C. Geyer, "Markov Chain Monte Carlo Maximum Likelihood", 1991; batch means; R-hat of split
            chains after A. Gelman, D. Rubin, "Inference from Iterative Simulation Using Multiple Sequences", 1992.
Implements  Two values inside a released group swap places. A table after which something that failed would not fail is not
            turned down but has a price; the same table is kept at many prices at once, neighbours are exchanged, and
            only tables that give the release are counted. These are equally likely at every price: the adversary's belief.
Departs     Components that share no failed trial are independent, so that each has its own prices, is counted when it alone
            gives the release, and gets the more sweeps the less surely it is known. Rows that are alike are counted together.
Guarantee   Every table counted gives the release, so that none is invented. At finite prices any table can be reached from
            any other, so that none is missed for good; in finite time some may be. One chain starts at the true table,
            the others at random ones that need not give the release, unless a component is so large that it would not
            get from there to the release in time; R-hat shows where they disagree.
"""

import time
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.failed_trials import FailedTrials
from overt.adversary.listing import Listed, assemble, list_components
from overt.adversary.open_parts import Counts
from overt.adversary.posterior import Chances, Posterior, Sampled
from overt.adversary.slots import Ladders, Slots, build_ladders
from overt.errors import InvalidInput
from overt.progress import Progress, silent
from overt.threads import run_watched

STAGE = "Sampling tables that give the same release"
N_BATCHES = 20  # of each chain; an even number, since halves are compared
PILOT_BATCHES = 8
FEWEST_BATCHES = 4
STEEP = 1.5  # 1 makes the sum of squared errors least, 2 makes all errors alike
SHORT = 48  # places; components with fewer have several sweeps for one of others, which cost as much
LADDERS = 0.1  # of the time, at most
SHARES = (0.15, 0.22, 0.3)  # of the time or the sweeps: where warming up ends, the first pilot, and the second
AT_LEAST = 0.25  # of the seconds is for sampling, however long it took to find out what was tried
FEWEST = 8  # sweeps of a component in a pilot or in a batch, if there is no limit on time


def sample_posterior(
    failed: FailedTrials,
    *,
    rng: Generator,
    seconds: float = 10.0,
    sweeps: int | None = None,
    n_chains: int = 4,
    knows_truth: bool = True,
    lists: bool = True,
    on_progress: Progress = silent,
) -> Posterior:
    """The posterior of everybody, for so many seconds; or for so many sweeps of each chain, which can be repeated.

    A sweep proposes as many swaps as there are rows in groups about which a failed trial says something, at every price.
    Without the truth, the first chain starts wherever the values were put. `lists`: components with few tables are not
    sampled but listed.
    """
    if n_chains < 2:
        raise InvalidInput(f"n_chains is {n_chains}; at least 2 are needed to see whether they agree.")
    if sweeps is not None and sweeps < N_BATCHES:
        raise InvalidInput(f"sweeps is {sweeps}; at least {N_BATCHES} are needed to estimate an error.")
    watch = Watch(seconds, sweeps, on_progress)
    if knows_truth:
        require_truth(failed)
    first, *others = rng.spawn(n_chains + 1)
    listed = list_components(failed) if lists else Listed.nothing(failed)
    if listed.is_listed.all():
        return assemble(failed, listed.chance, np.zeros_like(listed.chance), "listing", n_tables=listed.count(failed))
    deadline = np.inf if sweeps is not None else watch.began + LADDERS * seconds
    ladders = build_ladders(failed, first, watch.stop, skipped=listed.is_listed, deadline=deadline)
    chains = [Chain.begin(failed, ladders, one, scattered=i > 0) for i, one in enumerate(others)]
    stretch = np.maximum(1, SHORT // np.maximum(1, failed.size_of_component)) * ~listed.is_listed
    watch.find_pace(chains)
    watch.run(chains, stretch, until=SHARES[0], n_batches=FEWEST_BATCHES)
    for share in SHARES[1:]:
        stretch = allot(failed, chains, watch.run(chains, stretch, until=share, n_batches=PILOT_BATCHES))
    before = _proposals(chains)
    watch.run(chains, stretch, until=1.0, n_batches=N_BATCHES)
    n_proposed, n_taken = (int(n) for n in np.subtract(_proposals(chains), before))
    posterior = _posterior_of(failed, listed, chains, n_proposed, n_taken, time.perf_counter() - watch.began)
    assert posterior.sampled is not None
    near_truth = int(failed.size_of_component[ladders.is_dense].sum())
    return replace(posterior, sampled=replace(posterior.sampled, n_near_truth=near_truth))


def require_truth(failed: FailedTrials) -> None:
    """The table as it was handed over must give the release."""
    once = Ladders.of([[1.0]] * failed.n_components)
    if Slots.at(failed, once, np.random.default_rng(0), scattered=False).state.energy_of_slot.any():
        raise InvalidInput(
            "The true table does not lead to this release by the method as it was described; it was made in another way."
        )


def _proposals(chains: "list[Chain]") -> tuple[int, int]:
    return sum(chain.slots.n_proposed for chain in chains), sum(chain.slots.n_taken for chain in chains)


@dataclass(eq=False)
class Watch:
    """How long chains run: for a time, or for so many sweeps."""

    seconds: float
    sweeps: int | None
    on_progress: Progress
    began: float = field(default_factory=time.perf_counter)
    stop: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, np.bool_))
    pace: float = 0.0  # proposals in a second, of all chains together
    used: float = 0.0  # the share of the sweeps

    def run(self, chains: "list[Chain]", stretch: Counts, *, until: float, n_batches: int) -> Counts:
        """Run batches, all of the same number of sweeps for each component, until a share of the time or sweeps is used.

        `stretch` says how these numbers relate to each other. With a time limit there can be fewer or more batches than
        asked for, if the machine is slower or faster than it was. Returns the sweeps of a batch.
        """
        cost = sum(chain.cost for chain in chains)
        deadline = np.inf
        if self.sweeps is None:
            deadline = self.began + self.seconds * until
            budget = self.pace * (deadline - time.perf_counter()) / n_batches
            stretch = scale(stretch, budget / max(1.0, float(stretch @ cost)))
        else:
            budget = max(FEWEST, self.sweeps * (until - self.used) / n_batches)
            stretch = scale(stretch, budget / max(1.0, float(stretch[stretch > 0].mean())))
        self.used = until
        for chain in chains:
            chain.begin_batches()
        began, number, before = time.perf_counter(), 0, _proposals(chains)[0]
        while number < (n_batches if deadline == np.inf else FEWEST_BATCHES) or not self._is_over(
            began, deadline, number
        ):
            half = min(1, 2 * number // n_batches)
            run_watched(
                [partial(chain.run_batch, stretch, half, self.stop) for chain in chains], self.stop, self._watch
            )
            number += 1
            if deadline == np.inf and number == n_batches:
                break
        took = max(1e-9, time.perf_counter() - began)
        self.pace = (_proposals(chains)[0] - before) / took
        return stretch

    def find_pace(self, chains: "list[Chain]") -> None:
        """Two sweeps of every chain show how many fit into a second."""
        if self.sweeps is None:
            began, two = time.perf_counter(), np.full(chains[0].slots.failed.n_components, 2)
            run_watched([partial(chain.slots.run, two, self.stop) for chain in chains], self.stop, self._watch)
            self.pace = _proposals(chains)[0] / max(1e-9, time.perf_counter() - began)

    def _is_over(self, began: float, deadline: float, number: int) -> bool:
        """Whether less than half of another batch would fit."""
        now = time.perf_counter()
        return now + (now - began) / max(1, number) / 2 > deadline

    def _watch(self) -> None:
        share = self.used if self.sweeps is not None else (time.perf_counter() - self.began) / self.seconds
        self.on_progress(STAGE, min(99, int(100 * share)), 100)


def scale(stretch: Counts, factor: float) -> Counts:
    """So many times the sweeps, at least one of each component that has any."""
    scaled: Counts = np.maximum(1, np.rint(stretch * factor)).astype(np.int64)
    scaled[stretch == 0] = 0
    return scaled


@dataclass(eq=False)
class Chain:
    """One chain: its slots, and the batches that it noted."""

    slots: Slots
    halves: NDArray[np.int64] = field(init=False, repr=False)  # (half, cell, value) -> places that had the value
    n_seen: Counts = field(init=False, repr=False)  # (half, component) -> tables that give the release
    squares: Counts = field(init=False, repr=False)  # (cell, value) -> of the number of places
    batches: Chances = field(init=False, repr=False)  # (cell, value) -> squares of shares, summed over batches
    crossed: Chances = field(init=False, repr=False)  # (cell, value) -> shares times tables seen
    seen_squared: Chances = field(init=False, repr=False)  # (component)
    n_batches: int = 0

    @classmethod
    def begin(cls, failed: FailedTrials, ladders: Ladders, rng: Generator, *, scattered: bool) -> "Chain":
        """A chain at the table as it was handed over, or at random ones."""
        return cls(Slots.at(failed, ladders, rng, scattered=scattered))

    @property
    def cost(self) -> Counts:
        """(component) -> proposals of a sweep."""
        return self.slots.failed.work_of_component * np.diff(self.slots.state.first_slot)

    def begin_batches(self) -> None:
        """Forget what was noted."""
        shape, n_components = self.slots.seen.total.shape, self.slots.failed.n_components
        self.halves, self.squares = np.zeros((2, *shape), np.int64), np.zeros(shape, np.int64)
        self.n_seen, self.seen_squared = np.zeros((2, n_components), np.int64), np.zeros(n_components)
        self.batches, self.crossed = np.zeros(shape), np.zeros(shape)
        self.n_batches = 0

    def run_batch(self, sweeps: Counts, half: int, stop: NDArray[np.bool_]) -> None:
        """Run, and keep what the error, R-hat and the effective size are made of."""
        failed, seen = self.slots.failed, self.slots.seen
        self.slots.forget()
        self.slots.run(sweeps, stop)
        total, n_seen = seen.total / failed.size_of_cell[:, None], seen.n_seen.astype(np.float64)
        self.halves[half] += seen.total
        self.squares += seen.square
        self.n_seen[half] += seen.n_seen
        self.batches += total**2
        self.crossed += total * n_seen[failed.component_of_cell, None]
        self.seen_squared += n_seen**2
        self.n_batches += 1


@dataclass(frozen=True, eq=False)
class Estimate:
    """What several chains say together. Arrays are (cell, value) unless said otherwise."""

    mean: Chances
    error: Chances
    r_hat: Chances
    effective_size: Chances
    is_still: NDArray[np.bool_]  # (cell)
    parts: Chances  # (2, cell, value) -> the mean by one half of the chains, and by the other

    @classmethod
    def of(cls, failed: FailedTrials, chains: list[Chain]) -> "Estimate":
        """Ratios: how many places have a value in tables that give the release, over how many such tables there were."""
        of, size = failed.component_of_cell, failed.size_of_cell[:, None]
        halves = np.stack([chain.halves for chain in chains]) / size  # (chain, half, cell, value)
        n_seen = np.stack([chain.n_seen for chain in chains])[:, :, of, None].astype(np.float64)
        n = n_seen.sum(axis=(0, 1))
        n_batches, n_chains = sum(chain.n_batches for chain in chains), len(chains)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = halves.sum(axis=(0, 1)) / n
            squares, crossed = (
                np.sum([getattr(one, name) for one in chains], axis=0) for name in ("batches", "crossed")
            )
            seen_squared = np.sum([chain.seen_squared for chain in chains], axis=0)[of, None]
            deviation = squares - 2 * mean * crossed + mean**2 * seen_squared
            by_batches = np.maximum(0, deviation) / n**2 * (n_batches / max(1, n_batches - 1))
            of_chain = halves.sum(axis=1) / n_seen.sum(axis=1)
            by_chains = np.nan_to_num(of_chain.var(axis=0, ddof=1) / n_chains, nan=0.25)
            error = np.sqrt(np.maximum(by_batches, by_chains))
            error[error < NOTHING] = 0  # what rounding leaves where nothing moved
            within = np.sum([chain.squares for chain in chains], axis=0) / (size * size) / n - mean**2
            within[within < NOTHING] = 0
            between = (halves / n_seen).reshape(2 * n_chains, *mean.shape).var(axis=0, ddof=1)
            between[between < NOTHING] = 0
            r_hat = np.where(between == 0, 1.0, np.sqrt(1 + between / within))
            effective = np.where(error == 0, np.inf, within / error**2)
        unseen = (n_seen == 0).any(axis=(0, 1))[:, 0]  # half a chain long the release did not come up
        r_hat[unseen] = np.inf
        with np.errstate(invalid="ignore"):  # nothing is told by chains that did not come to the release
            parts = np.stack([halves[i::2].sum(axis=(0, 1)) / n_seen[i::2].sum(axis=(0, 1)) for i in (0, 1)])
        return cls(mean, error, r_hat, effective, (within == 0).all(axis=1), parts)


NOTHING = 1e-10


def allot(failed: FailedTrials, chains: list[Chain], stretch: Counts) -> Counts:
    """(component) -> how many sweeps it should have beside the others, from how well it was known after `stretch`."""
    estimate = Estimate.of(failed, chains)
    belief = estimate.mean.argmax(axis=1)
    error = np.nan_to_num(estimate.error[np.arange(belief.size), belief], nan=0.5, posinf=0.5)
    error[np.isinf(estimate.r_hat).any(axis=1)] = 0.5
    spread = np.zeros(failed.n_components)  # of a belief in a single sweep, as it were
    np.maximum.at(spread, failed.component_of_cell, error * np.sqrt(stretch[failed.component_of_cell]))
    runs = stretch > 0
    spread = np.maximum(spread, np.median(spread[runs]) if runs.any() else 0.0) + NOTHING
    n_rungs = np.diff(chains[0].slots.state.first_slot)
    share = spread**STEEP / np.sqrt(n_rungs)
    return runs * np.maximum(1, np.rint(1000 * share / share[runs].max(initial=NOTHING))).astype(np.int64)


def _posterior_of(
    failed: FailedTrials, listed: Listed, chains: list[Chain], n_proposed: int, n_taken: int, seconds: float
) -> Posterior:
    """What the chains say together, and what was listed."""
    estimate = Estimate.of(failed, chains)
    is_exact = listed.is_listed[failed.component_of_cell]
    estimate.mean[is_exact], estimate.error[is_exact] = listed.chance[is_exact], 0.0
    estimate.r_hat[is_exact], estimate.effective_size[is_exact] = 1.0, np.inf
    estimate.parts[:, is_exact] = listed.chance[is_exact]
    if np.isnan(estimate.mean).any():
        raise InvalidInput(
            f"In {seconds:.0f} seconds no table was found that gives this release everywhere; allow more time, or see "
            "whether the method is the one that made it."
        )
    sampled = Sampled(
        n_chains=len(chains),
        n_sweeps=n_proposed // max(1, sum(int(chain.cost.sum()) for chain in chains)),
        n_proposed=n_proposed,
        accepted=n_taken / max(1, n_proposed),
        seconds=seconds,
        r_hat=estimate.r_hat.max(axis=1, initial=1.0),
        effective_size=estimate.effective_size.min(axis=1, initial=np.inf),
        n_still=int(failed.size_of_cell[estimate.is_still & ~is_exact].sum()),
    )
    return assemble(failed, estimate.mean, estimate.error, "chain", sampled=sampled, parts=estimate.parts)
