# SPDX-License-Identifier: Apache-2.0
"""Engine: sampling. Large real tables; an estimate between bounds that hold with a stated confidence.

Paper       Not in the two papers. Rejection sampling with posteriors per cell (Rao and Blackwell), and the union of rare
            events after R. Karp and M. Luby, "Monte-Carlo algorithms for enumeration and reliability problems", 1983.
Implements  Tables of the permutation set are drawn and kept if every earlier permutation set fails. Released groups that
            no uncertain group touches are left out: their posterior is their own distribution, exactly. Where almost
            no table is kept, a failing group of the function that fails most rarely is drawn first, with its exact
            probability, and the table is kept with one chance in the number of that function's failing groups.
Departs     Steps that look back at disclosure sets draw tables outside and decide each by an exact engine inside.
Guarantee   Every posterior lies between its bounds at once with the stated confidence: a Chernoff bound in terms of
            relative entropy, which holds for shares of a cell as for coins, and a union bound over cells, values and looks.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import log10

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.caps import fate_of_groups
from overt.algorithms.sequence.confidence import chernoff_bounds
from overt.algorithms.sequence.functions import Sequence, deciding, is_nested
from overt.algorithms.sequence.posterior import BoundedPosterior, Bounds, Knowledge
from overt.algorithms.sequence.properties import DistinctL, EntropyL, PossibleValues, RecursiveCL, RowProperty
from overt.algorithms.sequence.sets import PermutationSet
from overt.algorithms.sequence.strategy import Strategy
from overt.algorithms.sequence.tails import tail_of
from overt.errors import TooLarge
from overt.kernels.shuffles import CAP, DISTINCT, ENTROPY, RECURSIVE, sample_tables
from overt.table import Codes
from overt.threads import n_threads

Reaches = Callable[[Codes, int], bool]
FIRST_LOOK = 2_000  # tables before the first look; each look has four times as many
FEW = 50  # accepted tables below which there is nothing to estimate from
SELDOM = 0.2  # share of accepted tables below which failing groups are drawn first
STREAMS = 4  # parts of a sample that may run at the same time
SPARE = 64  # draws per table beyond one per place


class Sampling:
    """Disclosure sets of any size, estimated."""

    name = "sampling"

    def __init__(
        self,
        sequence: Sequence,
        strategy: Strategy,
        rng: Generator,
        *,
        confidence: float = 0.999,
        max_tables: int = 200_000,
        reaches: Reaches | None = None,
    ) -> None:
        self.sequence, self.strategy, self.rng = sequence, strategy, rng
        self.confidence, self.max_tables, self.reaches = confidence, max_tables, reaches

    def suits(self, step: int) -> bool:
        """Whether tables can be decided one by one."""
        looks_back = self.strategy.looks_back(step, self.sequence.n_steps)
        return isinstance(self.sequence.goal, RowProperty) and (not looks_back or self.reaches is not None)

    def disclosure(self, values: Codes, n_values: int, step: int) -> Knowledge:
        """Sample, look, and go on until the verdict is clear or the tables are used up."""
        if self.strategy.looks_back(step, self.sequence.n_steps):
            return self._by_runs(values, n_values, step)
        trials = Trials.of(self.sequence, step, values, n_values)
        sampler: Rejection | KarpLuby = Rejection(trials)
        drawn = accepted = 0
        sums = np.zeros((trials.n_cells, n_values), np.int64)
        look, target = 1, FIRST_LOOK
        while True:
            fresh_accepted, fresh_sums = sampler.sample(min(target, self.max_tables) - drawn, self.rng)
            drawn, accepted, sums = min(target, self.max_tables), accepted + fresh_accepted, sums + fresh_sums
            if accepted < SELDOM * drawn and isinstance(sampler, Rejection) and KarpLuby.suits(trials):
                sampler, drawn, accepted, sums = KarpLuby(trials), 0, 0, np.zeros_like(sums)
                look, target = look + 1, FIRST_LOOK
                continue
            known = None
            if accepted >= FEW:
                known = self._estimate(trials, sampler, drawn, accepted, sums, (1 - self.confidence) / 2**look)
                if self.sequence.goal.judge(known.posterior) is not None:
                    return known
            if drawn >= self.max_tables:
                if known is None:
                    raise TooLarge(f"Only {accepted} of {drawn} sampled tables reach step {step}; ask for more tables.")
                return known
            look, target = look + 1, target * 4

    def _estimate(
        self,
        trials: "Trials",
        sampler: "Rejection | KarpLuby",
        drawn: int,
        accepted: int,
        sums: NDArray[np.int64],
        risk: float,
    ) -> Knowledge:
        lower, upper = trials.exact_bounds()
        live = trials.live_cells
        share = sums[live] / (accepted * trials.size_of_cell[live, None])
        low, up = chernoff_bounds(share, accepted, risk / 2 / max(1, share.size))
        lower[live] = np.where(sums[live] > 0, np.maximum(low, np.nextafter(0, 1)), 0)
        upper[live] = np.where(trials.possible[live], up, 0)
        rate_low, rate_up = chernoff_bounds(np.array([accepted / drawn]), drawn, risk / 2)
        scale = trials.log10_permutations + sampler.log10_share
        count = Bounds(scale + log10(max(float(rate_low[0]), 1e-300)), scale + log10(float(rate_up[0])))
        posterior = BoundedPosterior(trials.cell_of_row, lower, upper)
        return Knowledge(count, posterior, f"{self.name} ({sampler.name})", confidence=self.confidence)

    def _by_runs(self, values: Codes, n_values: int, step: int) -> Knowledge:
        """Draw outside, decide inside: the run of every drawn table is followed by exact engines."""
        assert self.reaches is not None
        permutation = PermutationSet(self.sequence.functions[step - 1], values, n_values)
        cell_of_row = self.sequence.cells(step)
        size_of_cell = np.bincount(cell_of_row)
        drawn = min(self.max_tables, FIRST_LOOK)
        accepted, sums = 0, np.zeros((size_of_cell.size, n_values), np.int64)
        for _ in range(drawn):
            table = permutation.sample(self.rng)
            if self.reaches(table, step):
                accepted += 1
                sums += np.bincount(cell_of_row.astype(np.int64) * n_values + table, minlength=sums.size).reshape(
                    sums.shape
                )
        if accepted < FEW:
            raise TooLarge(f"Only {accepted} of {drawn} sampled tables reach step {step}; ask for more tables.")
        risk = 1 - self.confidence
        lower, upper = chernoff_bounds(sums / (accepted * size_of_cell[:, None]), accepted, risk / 2 / sums.size)
        histograms = permutation.function.histograms(values, n_values)
        group_of_cell = np.zeros(size_of_cell.size, np.int64)
        group_of_cell[cell_of_row] = permutation.function.partition.group_of_row
        upper = np.where(histograms[group_of_cell] > 0, upper, 0)
        rate_low, rate_up = chernoff_bounds(np.array([accepted / drawn]), drawn, risk / 2)
        scale = log10(permutation.count)
        count = Bounds(scale + log10(max(float(rate_low[0]), 1e-300)), scale + log10(float(rate_up[0])))
        posterior = BoundedPosterior(cell_of_row, np.where(sums > 0, np.maximum(lower, np.nextafter(0, 1)), 0), upper)
        return Knowledge(count, posterior, f"{self.name} (exact inside)", confidence=self.confidence)


@dataclass(frozen=True, eq=False)
class Trials:
    """What a sampled table is tested for: the earlier groups whose fate is uncertain, and the rows that decide it."""

    sequence: Sequence
    step: int
    values: Codes
    n_values: int
    cell_of_row: Codes
    size_of_cell: NDArray[np.int64]
    histograms: NDArray[np.int64]  # (released group, value)
    group_of_cell: NDArray[np.int64]
    live_cells: NDArray[np.int64]
    rows: NDArray[np.int64]  # (place) -> row, by released group, then by first tested group
    group_first: NDArray[np.int64]
    tested_of_place: NDArray[np.int64]  # (function, place) -> number of the uncertain group, or -1
    size_of_tested: NDArray[np.int64]
    cap_of_tested: NDArray[np.int64]
    function_of_tested: NDArray[np.int64]
    is_inside: list[bool]  # (tested function) -> whether it is nested in the released one

    @classmethod
    def of(cls, sequence: Sequence, step: int, values: Codes, n_values: int, together: int = 0) -> "Trials":
        """Find the groups that may or may not fail, and everything they touch.

        The places of a group of the tested function `together` lie side by side.
        """
        goal, released = sequence.goal, sequence.functions[step - 1]
        assert isinstance(goal, RowProperty)
        histograms = released.histograms(values, n_values)
        group_of_row = released.partition.group_of_row.astype(np.int64)
        n_groups = released.partition.n_groups
        uncertain_of_row: list[NDArray[np.int64]] = []
        tested_sizes: list[int] = []
        caps: list[int] = []
        functions: list[int] = []
        is_inside: list[bool] = []
        for function in deciding(sequence, step):
            may_fail, must_fail = np.ones(function.partition.n_groups, np.bool_), np.zeros(1, np.bool_)
            if goal.ratio_bound is not None:
                may_fail, must_fail = fate_of_groups(goal.ratio_bound, function, released, histograms)
            if must_fail.any():
                continue  # the function fails on every table of the set
            number = np.full(function.partition.n_groups, -1, np.int64)
            number[may_fail] = np.arange(int(may_fail.sum())) + len(tested_sizes)
            uncertain_of_row.append(number[function.partition.group_of_row])
            is_inside.append(is_nested(function, released))
            for size in function.partition.sizes[may_fail].tolist():
                tested_sizes.append(size)
                caps.append(goal.ratio_bound.largest_count(size) if goal.ratio_bound else 0)
                functions.append(len(uncertain_of_row) - 1)
        uncertain = np.array(uncertain_of_row, np.int64).reshape(len(uncertain_of_row), values.size)
        live_group = np.zeros(n_groups, np.bool_)
        live_group[group_of_row[(uncertain >= 0).any(axis=0)]] = True
        rows = np.flatnonzero(live_group[group_of_row])
        by_test = uncertain[together][rows] if len(uncertain) else rows
        rows = rows[np.lexsort((by_test, group_of_row[rows]))]
        counts = np.unique(group_of_row[rows], return_counts=True)[1]
        cell_of_row = sequence.cells(step)
        size_of_cell = np.bincount(cell_of_row)
        group_of_cell = np.zeros(size_of_cell.size, np.int64)
        group_of_cell[cell_of_row] = group_of_row
        return cls(
            sequence,
            step,
            values,
            n_values,
            cell_of_row,
            size_of_cell,
            histograms,
            group_of_cell,
            np.unique(cell_of_row[rows]).astype(np.int64),
            rows,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            uncertain[:, rows],
            np.array(tested_sizes, np.int64),
            np.array(caps, np.int64),
            np.array(functions, np.int64),
            is_inside,
        )

    @cached_property
    def tested_places(self) -> NDArray[np.int64]:
        """Places of the tested groups, one group after the other."""
        places = [
            np.flatnonzero(of_place >= 0)[np.argsort(of_place[of_place >= 0], kind="stable")]
            for of_place in self.tested_of_place
        ]
        return np.concatenate([np.zeros(0, np.int64), *places])

    @cached_property
    def tested_first(self) -> NDArray[np.int64]:
        """Where each tested group begins in `tested_places`."""
        return np.concatenate([[0], np.cumsum(self.size_of_tested)]).astype(np.int64)

    def cell_histograms(self, table: Codes) -> NDArray[np.int64]:
        """(cell, value) -> rows, of a table given by its values at the places."""
        flat = self.cell_of_row[self.rows].astype(np.int64) * self.n_values + table
        return self._settled_histograms + np.bincount(flat, minlength=self.n_cells * self.n_values).reshape(
            self.n_cells, self.n_values
        )

    @cached_property
    def _settled_histograms(self) -> NDArray[np.int64]:
        """The rows that have no place, in the order they are in: nothing depends on them."""
        outside = np.ones(self.values.size, np.bool_)
        outside[self.rows] = False
        flat = self.cell_of_row[outside].astype(np.int64) * self.n_values + self.values[outside]
        return np.bincount(flat, minlength=self.n_cells * self.n_values).reshape(self.n_cells, self.n_values)

    def histogram_around(self, tested: int) -> list[int]:
        """The histogram of the released group around a tested group that is nested in it."""
        row = self.rows[self.tested_places[self.tested_first[tested]]]
        histogram: list[int] = self.histograms[
            self.sequence.functions[self.step - 1].partition.group_of_row[row]
        ].tolist()
        return histogram

    @property
    def batch(self) -> int:
        """Tables at a time: as many as keep their draws in the processor's cache."""
        return max(1, min(256, (1 << 19) // (self.rows.size + 1)))

    @property
    def n_cells(self) -> int:
        return int(self.size_of_cell.size)

    @property
    def n_functions(self) -> int:
        return len(self.tested_of_place)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """(cell, value) -> whether the released group of the cell has the value at all."""
        return self.histograms[self.group_of_cell] > 0

    @property
    def log10_permutations(self) -> float:
        """How many tables the permutation set has."""
        count = PermutationSet(self.sequence.functions[self.step - 1], self.values, self.n_values).count
        return log10(count)

    def exact_bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds for the cells that nothing touches: the distribution of their released group."""
        shares = self.histograms[self.group_of_cell] / self.histograms.sum(axis=1)[self.group_of_cell, None]
        return np.nextafter(shares, 0), np.where(shares > 0, np.nextafter(shares, 2), 0)

    def property_code(self) -> tuple[int, int, int, int]:
        """The goal as numbers for a kernel."""
        goal = self.sequence.goal
        if isinstance(goal, RowProperty) and goal.ratio_bound is not None:
            return CAP, 0, 1, 0
        if isinstance(goal, PossibleValues | DistinctL):
            return DISTINCT, 0, 1, goal.k
        if isinstance(goal, RecursiveCL):
            return RECURSIVE, goal.c.numerator, goal.c.denominator, goal.l
        if isinstance(goal, EntropyL):
            return ENTROPY, goal.l.numerator, goal.l.denominator, 0
        raise TooLarge(f"Sampling has no test for {goal}.")


class Rejection:
    """Uniform tables of the permutation set, kept if every earlier function fails."""

    name = "rejection"
    log10_share = 0.0

    def __init__(self, trials: Trials) -> None:
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

    def __init__(self, trials: Trials) -> None:
        n_tested = np.bincount(trials.function_of_tested, minlength=trials.n_functions)
        inside = [function for function, nested in enumerate(trials.is_inside) if nested and n_tested[function]]
        self.rare = min(inside, key=lambda function: int(n_tested[function]))  # few groups, so few that fail
        self.trials = Trials.of(trials.sequence, trials.step, trials.values, trials.n_values, together=self.rare)
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
    def suits(trials: Trials) -> bool:
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
    trials: Trials,
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
    accepted, sums, kept, ran_out = sample_tables(
        trials.values[trials.rows],
        trials.group_first,
        trials.tested_first,
        trials.tested_places,
        trials.size_of_tested,
        trials.cap_of_tested,
        trials.function_of_tested,
        trials.n_functions,
        trials.cell_of_row[trials.rows].astype(np.int64),
        trials.n_cells,
        trials.n_values,
        kind,
        numerator,
        denominator,
        l,
        draws,
        forced,
        places,
        counts,
        coins,
        rare,
        size if keep else 0,
    )
    assert not ran_out, "64 spare draws were not enough, which has a chance of less than 2^-300"
    return int(accepted), sums, kept
