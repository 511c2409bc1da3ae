# SPDX-License-Identifier: Apache-2.0
"""Engine: sampling. Large real tables; an estimate between bounds that hold with a stated confidence.

Paper       Not in the two papers. Rejection sampling with posteriors per cell (Rao and Blackwell), and the union of rare
            events after R. Karp and M. Luby, "Monte-Carlo algorithms for enumeration and reliability problems", 1983.
Implements  Tables of the permutation set are drawn and kept if every earlier permutation set fails. Released groups that
            no uncertain group touches are left out: their posterior is their own distribution, exactly. Where almost
            no table is kept and there is one earlier function, nested in the released one, a failing group is drawn
            first, with its exact probability, and the table is kept with one chance in the number of its failing groups.
Departs     Steps that look back at disclosure sets draw tables outside and decide each by an exact engine inside.
Guarantee   Every posterior lies between its bounds at once with the stated confidence: a Chernoff bound in terms of
            relative entropy, which holds for shares of a cell as for coins, and a union bound over cells, values and looks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb, log, log10

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.frontier import distinct
from overt.algorithms.sequence.functions import Sequence, is_nested
from overt.algorithms.sequence.posterior import BoundedPosterior, Bounds, Knowledge
from overt.algorithms.sequence.properties import DistinctL, EntropyL, PossibleValues, RecursiveCL, RowProperty
from overt.algorithms.sequence.sets import PermutationSet
from overt.algorithms.sequence.strategy import Strategy
from overt.errors import TooLarge
from overt.kernels.shuffles import CAP, DISTINCT, ENTROPY, RECURSIVE, sample_tables
from overt.partition import Partition
from overt.table import Codes

Reaches = Callable[[Codes, int], bool]
FIRST_LOOK = 2_000  # tables before the first look; each look has four times as many
FEW = 50  # accepted tables below which there is nothing to estimate from
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
        tests = Trials.of(self.sequence, step, values, n_values)
        sampler: Rejection | KarpLuby = Rejection(tests)
        drawn = accepted = 0
        sums = np.zeros((tests.n_cells, n_values), np.int64)
        look, target = 1, FIRST_LOOK
        while True:
            fresh_accepted, fresh_sums = sampler.sample(min(target, self.max_tables) - drawn, self.rng)
            drawn, accepted, sums = min(target, self.max_tables), accepted + fresh_accepted, sums + fresh_sums
            if accepted < FEW and drawn >= FIRST_LOOK and isinstance(sampler, Rejection) and KarpLuby.suits(tests):
                sampler, drawn, accepted, sums = KarpLuby(tests), 0, 0, np.zeros_like(sums)
                look, target = look + 1, FIRST_LOOK
                continue
            known = None
            if accepted >= FEW:
                known = self._estimate(tests, sampler, drawn, accepted, sums, (1 - self.confidence) / 2**look)
                if self.sequence.goal.judge(known.posterior) is not None:
                    return known
            if drawn >= self.max_tables:
                if known is None:
                    raise TooLarge(f"Only {accepted} of {drawn} sampled tables reach step {step}; ask for more tables.")
                return known
            look, target = look + 1, target * 4

    def _estimate(
        self,
        tests: "Trials",
        sampler: "Rejection | KarpLuby",
        drawn: int,
        accepted: int,
        sums: NDArray[np.int64],
        risk: float,
    ) -> Knowledge:
        lower, upper = tests.exact_bounds()
        live = tests.live_cells
        share = sums[live] / (accepted * tests.size_of_cell[live, None])
        low, up = chernoff_bounds(share, accepted, risk / 2 / max(1, share.size))
        lower[live] = np.where(sums[live] > 0, np.maximum(low, np.nextafter(0, 1)), 0)
        upper[live] = np.where(tests.possible[live], up, 0)
        rate_low, rate_up = chernoff_bounds(np.array([accepted / drawn]), drawn, risk / 2)
        scale = tests.log10_permutations + sampler.log10_share
        count = Bounds(scale + log10(max(float(rate_low[0]), 1e-300)), scale + log10(float(rate_up[0])))
        posterior = BoundedPosterior(tests.cell_of_row, lower, upper)
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

    @classmethod
    def of(cls, sequence: Sequence, step: int, values: Codes, n_values: int) -> "Trials":
        """Find the groups that may or may not fail, and everything they touch."""
        goal, released = sequence.goal, sequence.functions[step - 1]
        assert isinstance(goal, RowProperty)
        histograms = released.histograms(values, n_values)
        group_of_row = released.partition.group_of_row.astype(np.int64)
        n_groups, sizes = released.partition.n_groups, released.partition.sizes
        uncertain_of_row: list[NDArray[np.int64]] = []
        tested_sizes: list[int] = []
        caps: list[int] = []
        functions: list[int] = []
        for function in distinct(sequence.before(step)):
            may_fail, must_fail = fate_of_groups(goal, function.partition, group_of_row, sizes, histograms)
            if must_fail.any():
                continue  # the function fails on every table of the set
            number = np.full(function.partition.n_groups, -1, np.int64)
            number[may_fail] = np.arange(int(may_fail.sum())) + len(tested_sizes)
            uncertain_of_row.append(number[function.partition.group_of_row])
            for size in function.partition.sizes[may_fail].tolist():
                tested_sizes.append(size)
                caps.append(goal.ratio_bound.largest_count(size) if goal.ratio_bound else 0)
                functions.append(len(uncertain_of_row) - 1)
        uncertain = np.array(uncertain_of_row, np.int64).reshape(len(uncertain_of_row), values.size)
        live_group = np.zeros(n_groups, np.bool_)
        live_group[group_of_row[(uncertain >= 0).any(axis=0)]] = True
        rows = np.flatnonzero(live_group[group_of_row])
        by_test = uncertain[0][rows] if len(uncertain) else rows
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


def fate_of_groups(
    goal: RowProperty,
    partition: Partition,
    group_of_row: NDArray[np.int64],
    sizes: NDArray[np.int64],
    histograms: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For every group of an earlier function: whether it may and whether it must fail in the permutation set."""
    n_groups = partition.n_groups
    if goal.ratio_bound is None:
        return np.ones(n_groups, np.bool_), np.zeros(n_groups, np.bool_)
    joint = partition.group_of_row.astype(np.int64) * len(sizes) + group_of_row
    pair, overlap = np.unique(joint, return_counts=True)
    group, released = pair // len(sizes), pair % len(sizes)
    most = np.minimum(overlap[:, None], histograms[released])
    least = np.maximum(0, overlap[:, None] - (sizes[released, None] - histograms[released]))
    caps = np.array([goal.ratio_bound.largest_count(size) for size in partition.sizes.tolist()])
    most_of_group = np.zeros((n_groups, histograms.shape[1]), np.int64)
    least_of_group = np.zeros_like(most_of_group)
    np.add.at(most_of_group, group, most)
    np.add.at(least_of_group, group, least)
    may_fail: NDArray[np.bool_] = np.any(most_of_group > caps[:, None], axis=1)
    must_fail: NDArray[np.bool_] = np.any(least_of_group > caps[:, None], axis=1)
    return may_fail, must_fail


class Rejection:
    """Uniform tables of the permutation set, kept if every earlier function fails."""

    name = "rejection"
    log10_share = 0.0

    def __init__(self, tests: Trials) -> None:
        self.tests = tests

    def sample(self, n_tables: int, rng: Generator) -> tuple[int, NDArray[np.int64]]:
        """Draw tables: how many were accepted, and over them the rows of each cell with each value."""
        batch = self.tests.batch
        nothing = np.full(batch, -1, np.int64)
        accepted, sums = 0, np.zeros((self.tests.n_cells, self.tests.n_values), np.int64)
        for first in range(0, n_tables, batch):
            size = min(batch, n_tables - first)
            more, more_sums = run_kernel(self.tests, rng, nothing[:size], np.zeros((1, 2), np.int64), None)
            accepted, sums = accepted + more, sums + more_sums
        return accepted, sums


class KarpLuby:
    """Uniform tables on which some group of the one earlier function fails, however rare they are."""

    name = "Karp-Luby"

    def __init__(self, tests: Trials) -> None:
        self.tests = tests
        released_of_place = tests.sequence.functions[tests.step - 1].partition.group_of_row[tests.rows]
        self.places: list[tuple[int, int]] = []
        self.tails: list[Tail] = []
        for tested, size in enumerate(tests.size_of_tested.tolist()):
            places = np.flatnonzero(tests.tested_of_place[0] == tested)
            self.places.append((int(places[0]), int(places[0]) + size))
            histogram = tests.histograms[released_of_place[places[0]]].tolist()
            self.tails.append(Tail(histogram, size, int(tests.cap_of_tested[tested])))
        chances = np.array([tail.chance for tail in self.tails])
        self.expected = float(chances.sum())
        self.chances = chances / self.expected

    @staticmethod
    def suits(tests: Trials) -> bool:
        """One earlier function, nested in the released one, under a bound on ratios, that can fail at all."""
        earlier = distinct(tests.sequence.before(tests.step))
        return (
            len(earlier) == 1
            and tests.n_functions == 1
            and tests.size_of_tested.size > 0
            and tests.property_code()[0] == CAP
            and is_nested(earlier[0], tests.sequence.functions[tests.step - 1])
        )

    @property
    def log10_share(self) -> float:
        """Of all tables, weighted by their failing groups, the share drawn from."""
        return log10(self.expected)

    def sample(self, n_tables: int, rng: Generator) -> tuple[int, NDArray[np.int64]]:
        """Draw a failing group, its values, then the rest of the table."""
        places, batch = np.array(self.places, np.int64), self.tests.batch
        accepted, sums = 0, np.zeros((self.tests.n_cells, self.tests.n_values), np.int64)
        for first in range(0, n_tables, batch):
            size = min(batch, n_tables - first)
            forced = rng.choice(len(self.tails), size, p=self.chances)
            counts = np.array([self.tails[tested].draw(rng) for tested in forced.tolist()], np.int64)
            more, more_sums = run_kernel(self.tests, rng, forced.astype(np.int64), places, counts)
            accepted, sums = accepted + more, sums + more_sums
        return accepted, sums


class Tail:
    """A group drawn without replacement from a released group: how likely it fails, and what it then looks like."""

    def __init__(self, histogram: list[int], size: int, cap: int) -> None:
        self.histogram, self.size, self.cap = histogram, size, cap
        # ways[k][r]: to take r rows from the values from k on; passing[k][r]: none of them more than `cap` times
        self.ways, self.passing = [[1] + [0] * size], [[1] + [0] * size]
        for count in reversed(histogram):
            choose = [comb(count, taken) for taken in range(min(count, size) + 1)]
            self.ways.append(convolve(self.ways[-1], choose, size))
            self.passing.append(convolve(self.passing[-1], choose[: cap + 1], size))
        self.ways.reverse()
        self.passing.reverse()
        total = self.ways[0][size]
        self.chance = (
            float((total - self.passing[0][size]) / total)
            if total < 10**300
            else ratio(total - self.passing[0][size], total)
        )

    def draw(self, rng: Generator) -> list[int]:
        """A failing histogram, with its exact chance up to the rounding of a float."""
        left, failed, drawn = self.size, False, []
        for value, count in enumerate(self.histogram):
            weights = []
            for taken in range(min(count, left) + 1):
                later = self.ways[value + 1][left - taken]
                if not failed and taken <= self.cap:
                    later -= self.passing[value + 1][left - taken]
                weights.append(comb(count, taken) * later)
            total = sum(weights)
            shares = np.array([ratio(weight, total) for weight in weights])
            taken = int(rng.choice(len(shares), p=shares / shares.sum()))
            failed = failed or taken > self.cap
            left -= taken
            drawn.append(taken)
        return drawn


def ratio(part: int, whole: int) -> float:
    """A quotient of integers of any size as a float."""
    shift = max(0, whole.bit_length() - 900)
    return float((part >> shift) / (whole >> shift))


def convolve(first: list[int], second: list[int], size: int) -> list[int]:
    """The product of two polynomials up to a degree."""
    product = [0] * (size + 1)
    for i, a in enumerate(first):
        if a:
            for j, b in enumerate(second[: size + 1 - i]):
                product[i + j] += a * b
    return product


def run_kernel(
    tests: Trials,
    rng: Generator,
    forced: NDArray[np.int64],
    places: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
) -> tuple[int, NDArray[np.int64]]:
    """One batch of tables through the compiled loop."""
    size = forced.size
    width = tests.rows.size + SPARE + tests.rows.size % 2  # even: a raw number holds two draws
    draws = rng.bit_generator.random_raw(size * width // 2).view(np.uint32).reshape(size, width)
    if counts is None:
        counts = np.zeros((1, tests.n_values), np.int64)
        coins = np.zeros(size)
    else:
        coins = rng.random(size)
    kind, numerator, denominator, l = tests.property_code()
    accepted, sums, _, ran_out = sample_tables(
        tests.values[tests.rows],
        tests.group_first,
        tests.tested_first,
        tests.tested_places,
        tests.size_of_tested,
        tests.cap_of_tested,
        tests.function_of_tested,
        tests.n_functions,
        tests.cell_of_row[tests.rows].astype(np.int64),
        tests.n_cells,
        tests.n_values,
        kind,
        numerator,
        denominator,
        l,
        draws,
        forced,
        places,
        counts,
        coins,
        0,
    )
    assert not ran_out, "64 spare draws were not enough, which has a chance of less than 2^-300"
    return int(accepted), sums


def chernoff_bounds(share: NDArray[np.float64], n: int, risk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of a mean in [0, 1] from n independent samples, each side wrong with a chance of at most `risk`.

    The bound p solves n KL(share, p) = log(1 / risk).
    """
    allowed = log(1 / risk) / n
    low, inner = np.zeros_like(share), share.copy()
    for _ in range(60):
        middle = (low + inner) / 2
        inside = relative_entropy(share, middle) <= allowed
        inner = np.where(inside, middle, inner)
        low = np.where(inside, low, middle)
    lower = low
    inner, high = share.copy(), np.ones_like(share)
    for _ in range(60):
        middle = (inner + high) / 2
        inside = relative_entropy(share, middle) <= allowed
        inner = np.where(inside, middle, inner)
        high = np.where(inside, high, middle)
    return lower, high


def relative_entropy(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL divergence of coins with these chances."""
    q = np.clip(q, 1e-300, 1 - 1e-16)
    first = np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0)
    second = np.where(p < 1, (1 - p) * np.log(np.where(p < 1, 1 - p, 1) / (1 - q)), 0)
    return first + second
