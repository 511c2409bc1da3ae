# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_sampling.py
"""TableTests: what a drawn table is tested for, and which rows have to be drawn at all."""

from dataclasses import dataclass
from functools import cached_property
from math import log10

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.caps import fate_of_groups
from overt.algorithms.sequence.functions import Sequence, deciding, is_nested
from overt.algorithms.sequence.properties import DistinctL, EntropyL, PossibleValues, RecursiveCL, RowProperty
from overt.algorithms.sequence.sets import PermutationSet
from overt.errors import TooLarge
from overt.kernels.group_shuffles import CAP, DISTINCT, ENTROPY, RECURSIVE
from overt.table import Codes


@dataclass(frozen=True, eq=False)
class TableTests:
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
    def of(cls, sequence: Sequence, step: int, values: Codes, n_values: int, together: int = 0) -> "TableTests":
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
