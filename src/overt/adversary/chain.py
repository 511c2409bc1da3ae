# SPDX-License-Identifier: Apache-2.0
"""A Markov chain on the tables that an adversary who replays a method of cuts cannot exclude.

Paper       Not in a paper. Metropolis et al., "Equation of State Calculations by Fast Computing Machines", 1953; batch
            means; R-hat of split chains after A. Gelman, D. Rubin, "Inference from Iterative Simulation Using
            Multiple Sequences", 1992.
Implements  Two values inside a released group swap places if every failed cut still fails, which a few counters tell.
            Now and then three swaps at once, or groups shuffled as a whole, are judged at the end. Proposals are
            symmetric, so that the stationary law is uniform on the tables that can be reached: the adversary's belief.
Departs     Groups are taken in turn, and what they hold is recorded after every sweep. Rows that lie on the same side
            of every cut that matters are alike and counted together.
Guarantee   Every table counted gives the release, so that none is invented. Tables that no sequence of such moves
            reaches are missed, and a belief can then be overstated or understated; up to 64 uncertain rows none is.
            One chain starts at the true table, the others where many shuffles lead; R-hat shows where they disagree.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.failed_cuts import Counts, FailedCuts
from overt.adversary.posterior import Chances, Posterior, Sampled
from overt.errors import InvalidInput
from overt.kernels import swapping
from overt.partition import Partition
from overt.progress import Progress, silent
from overt.table import Codes, Column
from overt.threads import run_watched

STAGE = "Sampling tables that give the same release"
DRAWS = 1 << 18  # proposals between two looks at the clock
N_BATCHES = 20  # of each chain; an even number, since halves are compared
WARM_UP = 0.25  # the share of the time or the sweeps that is thrown away
SCATTER = 64  # how often every group is shuffled before a dispersed chain begins
PILOT = 20  # sweeps that show how many fit into the time there is


def sample_posterior(
    failed: FailedCuts,
    partition: Partition,
    column: Column,
    *,
    rng: Generator,
    seconds: float = 10.0,
    sweeps: int | None = None,
    n_chains: int = 4,
    on_progress: Progress = silent,
) -> Posterior:
    """The posterior of everybody, for so many seconds; or for so many sweeps of each chain, which can be repeated.

    A sweep proposes as many swaps as there are rows in groups about which a failed cut says something.
    """
    if n_chains < 2:
        raise InvalidInput(f"n_chains is {n_chains}; at least 2 are needed to see whether they agree.")
    if sweeps is not None and sweeps < N_BATCHES:
        raise InvalidInput(f"sweeps is {sweeps}; at least {N_BATCHES} are needed to estimate an error.")
    chains = [Chain.at_truth(failed, column.codes, one) for one in rng.spawn(n_chains)]
    stop, done = np.zeros(1, np.bool_), np.zeros(n_chains, np.int64)

    def run(total: int, work: Callable[[Chain, Callable[[int], None]], None]) -> None:
        def count(i: int, n: int) -> None:
            done[i] += n

        done[:] = 0
        tasks = [partial(work, chain, partial(count, i)) for i, chain in enumerate(chains)]
        run_watched(tasks, stop, lambda: on_progress(STAGE, int(done.sum()), total))

    run(0, lambda chain, count: chain.scatter() if chain is not chains[0] else chain.sweep(np.ones(1, np.int64)))
    began = time.perf_counter()
    if sweeps is not None:
        warm = max(PILOT, int(sweeps * WARM_UP))
    else:
        run(0, lambda chain, count: chain.run(PILOT, stop, count))
        warm = max(1, int(PILOT * (seconds * WARM_UP / (time.perf_counter() - began) - 1)))
    run(n_chains * warm, lambda chain, count: chain.warm_up(warm, stop, count))
    if sweeps is None:
        pace = (PILOT + warm) / (time.perf_counter() - began)
        sweeps = int(pace * (began + seconds - time.perf_counter()))
    length = max(1, sweeps // N_BATCHES)
    run(n_chains * length * N_BATCHES, lambda chain, count: chain.record(length, stop, count))
    took = time.perf_counter() - began
    return _posterior_of(failed, partition, column, chains, length * N_BATCHES, took)


@dataclass(eq=False)
class Chain:
    """One chain: where it is, and what it has seen."""

    failed: FailedCuts
    rng: Generator
    value: Codes
    tally: NDArray[np.int32]
    is_sound: NDArray[np.bool_]  # (cut), False throughout
    held: NDArray[np.int32]  # (cell, value), scratch
    total: Counts  # (cell, value) -> sum over sweeps of the places that have it
    square: Counts
    n_done: int = 0  # sweeps
    n_swapped: int = 0
    n_shuffled: int = 0
    halves: Chances = field(init=False, repr=False)  # (half, cell, value) -> mean share
    squares_of_batches: Chances = field(init=False, repr=False)  # (cell, value) -> mean of squares of batch means
    squares: Chances = field(init=False, repr=False)  # (cell, value) -> mean of squares

    @classmethod
    def at_truth(cls, failed: FailedCuts, true_values: Codes, rng: Generator) -> "Chain":
        """A chain that begins at the true table."""
        shape = failed.size_of_cell.size, failed.n_values
        tally, is_sound = failed.tally(failed.values, true_values), np.zeros(failed.starts.size // 2, np.bool_)
        held, total, square = np.zeros(shape, np.int32), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        return cls(failed, rng, failed.values.copy(), tally, is_sound, held, total, square)

    def sweep(self, numbers: Counts) -> None:
        """Propose swaps in all groups, once for each number."""
        failed = self.failed
        draws = self.rng.integers(0, 2**64, numbers.size * failed.n_places, np.uint64)
        n_swapped, n_shuffled = swapping.swap_inside_groups(
            draws,
            numbers,
            failed.first,
            self.value,
            failed.forbidden,
            failed.cuts,
            failed.sides,
            self.tally,
            failed.least,
            self.is_sound,
            failed.cell_of_place,
            self.held,
            self.total,
            self.square,
        )
        self.n_swapped += n_swapped
        self.n_shuffled += n_shuffled

    def run(self, n_sweeps: int, stop: NDArray[np.bool_], count: Callable[[int], None]) -> None:
        """Sweeps in steps, so that they can be stopped and watched."""
        at_once = max(1, DRAWS // max(1, self.failed.n_places))
        while n_sweeps > 0 and not stop[0]:
            n = min(at_once, n_sweeps)
            self.sweep(np.arange(self.n_done + 1, self.n_done + n + 1))
            self.n_done += n
            n_sweeps -= n
            count(n)

    def scatter(self) -> None:
        """Go far from where the chain is: let every group shuffle all its values, many times."""
        self.sweep(np.zeros(SCATTER, np.int64))

    def warm_up(self, n_sweeps: int, stop: NDArray[np.bool_], count: Callable[[int], None]) -> None:
        """Forget where the chain began."""
        self.run(n_sweeps, stop, count)
        self.total[:], self.square[:] = 0, 0
        self.n_done = self.n_swapped = 0

    def record(self, length: int, stop: NDArray[np.bool_], count: Callable[[int], None]) -> None:
        """Run all batches, and keep what the error, R-hat and the effective size are made of."""
        shape, size = self.total.shape, self.failed.size_of_cell[:, None]
        halves = np.zeros((2, *shape), np.int64)
        self.squares_of_batches, self.squares = np.zeros(shape), np.zeros(shape)
        for batch in range(N_BATCHES):
            self.run(length, stop, count)
            halves[2 * batch // N_BATCHES] += self.total
            self.squares_of_batches += (self.total / (size * length)) ** 2 / N_BATCHES
            self.squares += self.square / (size * size * (length * N_BATCHES))
            self.total[:], self.square[:] = 0, 0
        self.halves = halves / (size * (length * N_BATCHES // 2))


def _posterior_of(
    failed: FailedCuts, partition: Partition, column: Column, chains: list[Chain], n_sweeps: int, seconds: float
) -> Posterior:
    """What the chains say together, and the shares of groups that no failed cut says anything about."""
    halves = np.concatenate([chain.halves for chain in chains])  # (half, cell, value)
    of_chain = np.stack([chain.halves.mean(axis=0) for chain in chains])
    mean = of_chain.mean(axis=0)
    n_batches = N_BATCHES * len(chains)
    batches = np.maximum(0, sum(chain.squares_of_batches for chain in chains) / len(chains) - mean**2)
    error = np.sqrt(np.maximum(batches / (n_batches - 1), of_chain.var(axis=0, ddof=1) / len(chains)))
    error[error < 1e-9] = 0  # what rounding leaves where nothing moved
    within = np.maximum(0, sum(chain.squares for chain in chains) / len(chains) - (halves**2).mean(axis=0))
    within[within < 1e-12] = 0
    between = halves.var(axis=0, ddof=1)
    between[between < 1e-12] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.where(between == 0, 1.0, np.sqrt(1 + between / within))
        effective = np.where(error == 0, np.inf, within / error**2)
    n_proposed = n_sweeps * len(chains) * failed.n_places
    still = (within == 0).all(axis=1)
    sampled = Sampled(
        n_chains=len(chains),
        n_sweeps=n_sweeps,
        n_proposed=n_proposed,
        accepted=sum(chain.n_swapped for chain in chains) / max(1, n_proposed),
        seconds=seconds,
        r_hat=r_hat.max(axis=1, initial=1.0),
        effective_size=effective.min(axis=1, initial=np.inf),
        n_still=int(failed.size_of_cell[still].sum()),
    )
    counts = np.zeros((partition.n_groups, column.n_values), np.int64)
    np.add.at(counts, (partition.group_of_row, column.codes), 1)
    n_cells = failed.size_of_cell.size
    cell_of_row = partition.group_of_row.astype(np.int64) + n_cells
    cell_of_row[failed.rows] = failed.cell_of_place
    chance = np.concatenate([mean, counts / partition.sizes[:, None]])
    errors = np.concatenate([error, np.zeros_like(counts, np.float64)])
    return Posterior(cell_of_row.astype(np.int32), chance, errors, "chain", sampled=sampled)
