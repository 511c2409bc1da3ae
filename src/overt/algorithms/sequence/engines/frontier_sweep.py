# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""Engine: frontier sweep. Steps that depend on permutation sets only; thousands of rows, linear time.

Paper       Section 4.2.1 of the k-jump paper: up to step k + 1, and always under the naive and the exclusive
            strategy, a table reaches a step exactly when every earlier permutation set fails.
Implements  Rows are given values one after the other; partial tables are merged that agree in what is left of the
            open released groups, in the open groups of functions that have not failed yet, and in which functions
            have failed. A backward pass gives every posterior. There is no inclusion and exclusion, so nothing cancels.
Departs     nothing.
Guarantee   Counts and verdicts are exact. Posteriors are exact up to `EXACT_BITS` bits of tables; beyond, they are
            floats with a proven relative error, and a verdict that this error leaves open is settled in integers.
"""

from math import log2

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.frontier_graph import MAX_STATES, FrontierPaths, SweepPlan
from overt.algorithms.sequence.engines.partial_verdicts import LARGEST_GROUP
from overt.algorithms.sequence.equal_tables import BoundedRowPosterior, EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Sequence, deciding
from overt.algorithms.sequence.properties import RowProperty
from overt.algorithms.sequence.sets import PermutationSet
from overt.algorithms.sequence.strategies.base import Strategy
from overt.errors import TooLarge
from overt.kernels.frontier_sweep import count_paths, weigh_paths
from overt.table import Codes

EXACT_BITS = 1024  # up to 2^1024 tables, posteriors are computed in integers
LIMB_MEMORY = 1 << 28  # bytes of exact counts kept at a time


class FrontierSweep:
    """Disclosure sets of steps that look back at permutation sets only."""

    name = "sweep"

    def __init__(self, sequence: Sequence, strategy: Strategy) -> None:
        self.sequence, self.strategy = sequence, strategy
        self._plans: dict[tuple[int, int], SweepPlan] = {}
        self._places: dict[int, NDArray[np.int64]] = {}

    def suits(self, step: int) -> bool:
        """Whether a step can be swept at all."""
        if self.strategy.looks_back(step, self.sequence.n_steps) or not isinstance(self.sequence.goal, RowProperty):
            return False
        return all(function.partition.sizes.max() <= LARGEST_GROUP for function in self.sequence.before(step))

    def disclosure(self, values: Codes, n_values: int, step: int, *, exact_bits: int = EXACT_BITS) -> EqualTables:
        """The tables of the permutation set on which every earlier function fails."""
        released = self.sequence.functions[step - 1]
        require_narrow(released.histograms(values, n_values))
        paths = self.plan(step, n_values).explore(released.histograms(values, n_values))
        cell_of_row, place_of_cell = self.sequence.cells(step), self._places[step]
        bits = PermutationSet(released, values, n_values).count.bit_length()
        if bits <= 62:
            return self._in_words(paths, cell_of_row, place_of_cell)
        if bits <= exact_bits:
            return self._in_integers(paths, cell_of_row, place_of_cell, bits)
        return self._in_floats(paths, cell_of_row, place_of_cell, bits)

    def plan(self, step: int, n_values: int) -> SweepPlan:
        """The plan of a step, made once."""
        if (step, n_values) not in self._plans:
            goal = self.sequence.goal
            assert isinstance(goal, RowProperty)
            earlier = deciding(self.sequence, step)
            plan = SweepPlan(goal, self.sequence.functions[step - 1], earlier, n_values)
            cell_of_row = self.sequence.cells(step)
            places = np.full(int(cell_of_row.max(initial=-1)) + 1, plan.order.size, np.int64)
            np.minimum.at(places, cell_of_row[plan.order], np.arange(plan.order.size))
            self._plans[step, n_values], self._places[step] = plan, places
        return self._plans[step, n_values]

    def count_in_words(self, step: int, histograms: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
        """For sets that surely have less than 2^62 tables: how many, and per cell and value the rows that have it."""
        paths = self.plan(step, histograms.shape[1]).explore(histograms)
        return self._count_in_words(paths, self._places[step])

    def _count_in_words(self, paths: FrontierPaths, place_of_cell: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
        order = np.argsort(place_of_cell)
        total, counts = count_paths(*paths.graph, paths.n_values, place_of_cell[order])
        of_cell = np.empty_like(counts)
        of_cell[order] = counts
        return int(total), of_cell

    def _in_words(self, paths: FrontierPaths, cell_of_row: Codes, place_of_cell: NDArray[np.int64]) -> EqualTables:
        total, of_cell = self._count_in_words(paths, place_of_cell)
        return self._known(total, RowPosterior(cell_of_row, tuple(map(tuple, of_cell.tolist()))))

    def _in_integers(
        self, paths: FrontierPaths, cell_of_row: Codes, place_of_cell: NDArray[np.int64], bits: int
    ) -> EqualTables:
        count = paths.exact_count(bits)
        nothing = ((0,) * paths.n_values,) * place_of_cell.size
        return self._known(
            count, RowPosterior(cell_of_row, paths.exact_weights(place_of_cell, bits) if count else nothing)
        )

    def _known(self, count: int, posterior: RowPosterior) -> EqualTables:
        return EqualTables(count, posterior, self.name, holds=None if count else False)

    def _in_floats(
        self, paths: FrontierPaths, cell_of_row: Codes, place_of_cell: NDArray[np.int64], bits: int
    ) -> EqualTables:
        order = np.argsort(place_of_cell)
        shares, _, overlap, fan_in = weigh_paths(*paths.graph, paths.n_values, place_of_cell[order])
        count = paths.exact_count(bits)
        if count == 0 or overlap < 1e-200:
            return self._in_integers(paths, cell_of_row, place_of_cell, bits)
        of_cell = np.empty_like(shares)
        of_cell[order] = shares
        # each layer adds the error of its sums and of one division; numerator and total have both passes in them
        error = 2.3e-16 * (paths.n_places * (fan_in + paths.n_values + 6) + 2 * int(paths.graph.n_states.max()) + 20)
        posterior = BoundedRowPosterior(cell_of_row, of_cell * (1 - error), np.minimum(of_cell * (1 + error), 1.0))
        return EqualTables(count, posterior, self.name, holds=self._settle(paths, posterior, place_of_cell, bits))

    def _settle(
        self, paths: FrontierPaths, posterior: BoundedRowPosterior, place_of_cell: NDArray[np.int64], bits: int
    ) -> bool:
        """The verdict: from the bounds where they decide, from integers where they do not."""
        goal = self.sequence.goal
        assert isinstance(goal, RowProperty)
        open_cells = []
        for cell, (low, up) in enumerate(zip(posterior.lower, posterior.upper, strict=True)):
            verdict = goal.surely_good(low, up)
            if verdict is False:
                return False
            if verdict is None:
                open_cells.append(cell)
        batch = max(1, LIMB_MEMORY // (int(paths.graph.n_states.max()) * (bits // 8 + 8) * 2))
        for first in range(0, len(open_cells), batch):
            weights = paths.exact_weights(place_of_cell[open_cells[first : first + batch]], bits)
            if not all(map(goal.good, weights)):
                return False
        return True


def require_narrow(histograms: NDArray[np.int64]) -> None:
    """What can be left of a released group must be few enough to keep side by side."""
    widest = float(np.log2(histograms + 1).sum(axis=1).max(initial=0))
    if widest > log2(MAX_STATES) + 4:
        raise TooLarge(
            f"A released group can be used up in about 2^{widest:.0f} ways; a sweep keeps {MAX_STATES} at a time."
        )
