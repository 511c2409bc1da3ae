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
from math import log10

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.confidence import chernoff_bounds
from overt.algorithms.sequence.engines.table_samplers import KarpLuby, Rejection
from overt.algorithms.sequence.engines.table_tests import TableTests
from overt.algorithms.sequence.equal_tables import BoundedNumber, BoundedRowPosterior, EqualTables
from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.properties import RowProperty
from overt.algorithms.sequence.sets import PermutationSet
from overt.algorithms.sequence.strategies.base import Strategy
from overt.errors import TooLarge
from overt.table import Codes

Reaches = Callable[[Codes, int], bool]
FIRST_LOOK = 2_000  # tables before the first look; each look has four times as many
FEW = 50  # accepted tables below which there is nothing to estimate from
SELDOM = 0.2  # share of accepted tables below which failing groups are drawn first


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

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """Sample, look, and go on until the verdict is clear or the tables are used up."""
        if self.strategy.looks_back(step, self.sequence.n_steps):
            return self._by_runs(values, n_values, step)
        trials = TableTests.of(self.sequence, step, values, n_values)
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
                risk = (1 - self.confidence) / 2**look
                known = estimate(sampler, drawn, accepted, sums, risk, name=self.name, confidence=self.confidence)
                if self.sequence.goal.judge(known.posterior) is not None:
                    return known
            if drawn >= self.max_tables:
                if known is None:
                    raise TooLarge(f"Only {accepted} of {drawn} sampled tables reach step {step}; ask for more tables.")
                return known
            look, target = look + 1, target * 4

    def _by_runs(self, values: Codes, n_values: int, step: int) -> EqualTables:
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
        count = BoundedNumber(scale + log10(max(float(rate_low[0]), 1e-300)), scale + log10(float(rate_up[0])))
        posterior = BoundedRowPosterior(
            cell_of_row, np.where(sums > 0, np.maximum(lower, np.nextafter(0, 1)), 0), upper
        )
        return EqualTables(count, posterior, f"{self.name} (exact inside)", confidence=self.confidence)


def estimate(
    sampler: Rejection | KarpLuby,
    drawn: int,
    accepted: int,
    sums: NDArray[np.int64],
    risk: float,
    *,
    name: str,
    confidence: float,
) -> EqualTables:
    """What accepted tables tell, between bounds that fail with at most this risk; (cell, value) -> `sums` of their rows."""
    trials = sampler.trials
    lower, upper = trials.exact_bounds()
    live = trials.live_cells
    share = sums[live] / (accepted * trials.size_of_cell[live, None])
    low, up = chernoff_bounds(share, accepted, risk / 2 / max(1, share.size))
    lower[live] = np.where(sums[live] > 0, np.maximum(low, np.nextafter(0, 1)), 0)
    upper[live] = np.where(trials.possible[live], up, 0)
    rate_low, rate_up = chernoff_bounds(np.array([accepted / drawn]), drawn, risk / 2)
    scale = trials.log10_permutations + sampler.log10_share
    count = BoundedNumber(scale + log10(max(float(rate_low[0]), 1e-300)), scale + log10(float(rate_up[0])))
    posterior = BoundedRowPosterior(trials.cell_of_row, lower, upper)
    return EqualTables(count, posterior, f"{name} ({sampler.name})", confidence=confidence)
