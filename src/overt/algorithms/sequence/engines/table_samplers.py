# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_sampling.py
"""Samplers: uniform tables of a permutation set on which earlier functions fail, by rejection or failing groups first."""

from concurrent.futures import ThreadPoolExecutor
from math import log10

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.group_tails import tail_of
from overt.algorithms.sequence.engines.table_tests import TableTests
from overt.kernels.group_shuffles import CAP, Forced, Shuffled, Tested, sample_tables
from overt.table import Codes
from overt.threads import n_threads

STREAMS = 4  # parts of a sample that may run at the same time
SPARE = 64  # draws per table beyond one per place


class Rejection:
    """Uniform tables of the permutation set, kept if every earlier function fails."""

    name = "rejection"
    log10_share = 0.0

    def __init__(self, trials: TableTests) -> None:
        self.trials = trials

    def sample(self, n_tables: int, rng: Generator) -> tuple[int, NDArray[np.int64]]:
        """Draw tables: how many were accepted, and over them the rows of each cell with each value."""
        # always the same streams of random numbers, so that the result does not depend on the number of threads
        shares = [n_tables // STREAMS + (stream < n_tables % STREAMS) for stream in range(STREAMS)]
        with ThreadPoolExecutor(max_workers=min(n_threads(), STREAMS)) as pool:
            done = list(pool.map(self._sample, shares, rng.spawn(STREAMS)))
        return sum(accepted for accepted, _ in done), np.sum([sums for _, sums in done], axis=0)

    def draw(self, n_tables: int, rng: Generator) -> Codes:
        """The accepted ones of so many tables: (table, place) -> value."""
        forced = np.full(n_tables, -1, np.int64)
        accepted, _, kept = run_kernel(self.trials, rng, forced, np.zeros((1, 2), np.int64), None, keep=True)
        return kept[:accepted]

    def _sample(self, n_tables: int, rng: Generator) -> tuple[int, NDArray[np.int64]]:
        batch = self.trials.batch
        nothing = np.full(batch, -1, np.int64)
        accepted, sums = 0, np.zeros((self.trials.n_cells, self.trials.n_values), np.int64)
        for first in range(0, n_tables, batch):
            size = min(batch, n_tables - first)
            more, more_sums, _ = run_kernel(self.trials, rng, nothing[:size], np.zeros((1, 2), np.int64), None)
            accepted, sums = accepted + more, sums + more_sums
        return accepted, sums


class KarpLuby:
    """Uniform tables on which every earlier function fails, however rarely one of them does."""

    name = "Karp-Luby"

    def __init__(self, trials: TableTests) -> None:
        n_tested = np.bincount(trials.function_of_tested, minlength=trials.n_functions)
        inside = [function for function, nested in enumerate(trials.is_inside) if nested and n_tested[function]]
        self.rare = min(inside, key=lambda function: int(n_tested[function]))  # few groups, so few that fail
        self.trials = TableTests.of(trials.sequence, trials.step, trials.values, trials.n_values, together=self.rare)
        self.tested = np.flatnonzero(trials.function_of_tested == self.rare).tolist()
        self.tails = [
            tail_of(trials.histogram_around(one), int(trials.size_of_tested[one]), int(trials.cap_of_tested[one]))
            for one in self.tested
        ]
        self.expected = sum(
            tail.chance for tail in self.tails
        )  # failing groups of that function in a table, on average
        self.chances = np.array([tail.chance for tail in self.tails]) / self.expected
        first, places = self.trials.tested_first, self.trials.tested_places
        self.places = np.array(
            [(places[first[tested]], places[first[tested + 1] - 1] + 1) for tested in self.tested], np.int64
        )

    @staticmethod
    def suits(trials: TableTests) -> bool:
        """A bound on ratios, and a function nested in the released one that can fail at all."""
        inside = {function for function, nested in enumerate(trials.is_inside) if nested}
        return trials.property_code()[0] == CAP and bool(inside & set(trials.function_of_tested.tolist()))

    @property
    def log10_share(self) -> float:
        """Of all tables, weighted by their failing groups, the share drawn from."""
        return log10(self.expected)

    def sample(self, n_tables: int, rng: Generator) -> tuple[int, NDArray[np.int64]]:
        """Draw a failing group, its values, then the rest of the table."""
        batch = self.trials.batch
        accepted, sums = 0, np.zeros((self.trials.n_cells, self.trials.n_values), np.int64)
        for first in range(0, n_tables, batch):
            size = min(batch, n_tables - first)
            more, more_sums, _ = self._run(size, rng)
            accepted, sums = accepted + more, sums + more_sums
        return accepted, sums

    def draw(self, n_tables: int, rng: Generator) -> Codes:
        """The same, and the accepted tables themselves: (table, place) -> value."""
        accepted, _, kept = self._run(n_tables, rng, keep=True)
        return kept[:accepted]

    def _run(self, n_tables: int, rng: Generator, *, keep: bool = False) -> tuple[int, NDArray[np.int64], Codes]:
        forced = rng.choice(len(self.tails), n_tables, p=self.chances)
        counts = np.array([self.tails[number].draw(rng) for number in forced.tolist()], np.int64)
        return run_kernel(self.trials, rng, forced.astype(np.int64), self.places, counts, self.rare, keep=keep)


def run_kernel(
    trials: TableTests,
    rng: Generator,
    forced: NDArray[np.int64],
    places: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
    rare: int = -1,
    *,
    keep: bool = False,
) -> tuple[int, NDArray[np.int64], Codes]:
    """One batch of tables through the compiled loop."""
    size = forced.size
    width = trials.rows.size + SPARE + trials.rows.size % 2  # even: a raw number holds two draws
    draws = rng.bit_generator.random_raw(size * width // 2).view(np.uint32).reshape(size, width)
    if counts is None:
        counts = np.zeros((1, trials.n_values), np.int64)
        coins = np.zeros(size)
    else:
        coins = rng.random(size)
    kind, numerator, denominator, l = trials.property_code()
    shuffled = Shuffled(
        value_of_place=trials.values[trials.rows],
        group_first=trials.group_first,
        cell_of_place=trials.cell_of_row[trials.rows].astype(np.int64),
        n_cells=trials.n_cells,
        n_values=trials.n_values,
    )
    tested = Tested(
        first=trials.tested_first,
        places=trials.tested_places,
        size=trials.size_of_tested,
        cap=trials.cap_of_tested,
        function=trials.function_of_tested,
        n_functions=trials.n_functions,
        kind=kind,
        numerator=numerator,
        denominator=denominator,
        l=l,
    )
    force = Forced(chosen=forced, places=places, counts=counts, coins=coins, function=rare)
    accepted, sums, kept, ran_out = sample_tables(shuffled, tested, force, draws, size if keep else 0)
    assert not ran_out, "64 spare draws were not enough, which has a chance of less than 2^-300"
    return int(accepted), sums, kept
