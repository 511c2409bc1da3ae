# SPDX-License-Identifier: Apache-2.0
"""Engine: cells with histograms and value orbits. Any strategy, any property, any functions; about 24 rows.

Paper       The recursion of Table 13 in the k-jump paper, with tables lumped together.
Implements  Rows that no function tells apart are a cell, and only the histogram of a cell matters: a matrix
            (cell, value) stands for a product of multinomials of tables. Values that occur equally often in every
            group of the released function are interchangeable, so only multisets of placements are visited.
            Verdicts are remembered by generalization, its values in canonical order.
Departs     Renaming values is left out for a property that looks at their names.
Guarantee   Exact.
"""

from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.cell_matrices import CanonicalSet, ColumnsKey, TooSlow, visit_matrices
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from overt.algorithms.sequence.engines.leaf_arrays import Leaves, fill_all, fill_group
from overt.algorithms.sequence.engines.orbits import different_rows, share_in_orbits
from overt.algorithms.sequence.engines.step_shapes import LIMIT, CellFilling, Placement, StepShape
from overt.algorithms.sequence.equal_tables import EqualTables, RowPosterior, Weights
from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.properties import RowProperty
from overt.algorithms.sequence.sets import count_orderings
from overt.algorithms.sequence.strategies.base import RELEASE, Strategy
from overt.errors import TooLarge
from overt.table import Codes

ColumnCounts = tuple[int, ...]  # (group) -> how often a value occurs there


PATIENCE = 3_000  # placements tried one by one before whole arrays of them are tried


class CellHistograms:
    """Disclosure sets by histograms of cells. Remembers every generalization it has decided."""

    name = "cells"

    def __init__(self, sequence: Sequence, strategy: Strategy, *, max_placements: int = 20_000_000) -> None:
        self.sequence, self.strategy, self.goal = sequence, strategy, sequence.goal
        self.left = max_placements  # matrices that may still be visited
        self._sweep = FrontierSweep(sequence, strategy)
        self._slow: set[int] = set()  # steps that proved too slow one by one
        self._number_of_code: list[dict[int, int]] = [{} for _ in sequence.functions]
        self._number_of_column: list[dict[ColumnCounts, int]] = [{} for _ in sequence.functions]
        self._columns: list[list[ColumnCounts]] = [[] for _ in sequence.functions]
        self._n_steps = sequence.n_steps
        self._row_goal = self.goal if isinstance(self.goal, RowProperty) else None
        self._moves: list[dict[ColumnsKey, int]] = [{} for _ in sequence.functions]
        self._permutation_holds: dict[tuple[int, ColumnsKey], bool] = {}
        self._found: dict[tuple[int, ColumnsKey], CanonicalSet | None] = {}
        self._disclosure_holds: dict[tuple[int, ColumnsKey], bool] = {}
        self._good: dict[Weights, bool] = {}
        self._shapes: dict[int, StepShape] = {}

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """The tables with the generalization of this one at a step whose run reaches the step."""
        columns = [tuple(column) for column in self._histograms(values, n_values, step).T.tolist()]
        key, order = self._key(step, columns)
        found = self._disclosure(step, key)
        shape = self._shape(step)
        if found is None:
            nothing = (0,) * n_values
            return EqualTables(
                0, RowPosterior(shape.cell_of_row, (nothing,) * len(shape.sizes)), self.name, holds=False
            )
        weights = []
        for canonical in found.weights:
            of_value = [0] * n_values
            for position, value in enumerate(order):
                of_value[value] = canonical[position]
            weights.append(tuple(of_value))
        return EqualTables(found.count, RowPosterior(shape.cell_of_row, tuple(weights)), self.name)

    def reaches(self, values: Codes, n_values: int, step: int) -> bool:
        """Whether the run of a table comes to a step."""
        keys: dict[int, ColumnsKey] = {}

        def key(at: int) -> ColumnsKey:
            if at not in keys:
                columns = [tuple(column) for column in self._histograms(values, n_values, at).T.tolist()]
                keys[at] = self._key(at, columns)[0]
            return keys[at]

        at = 1
        while at < step:
            at = self._move(at, key(at))
            if at == RELEASE:
                return False
        return at == step

    def _shape(self, step: int) -> StepShape:
        shape = self._shapes.get(step)
        if shape is None:
            shape = self._shapes[step] = StepShape(self.sequence, step)
        return shape

    def _histograms(self, values: Codes, n_values: int, step: int) -> NDArray[np.int64]:
        return self.sequence.functions[step - 1].histograms(values, n_values)

    def _key(self, step: int, columns: list[ColumnCounts]) -> tuple[ColumnsKey, list[int]]:
        """The generalization's key, and which value stands at each place of it."""
        numbers = [self._number(step, column) for column in columns]
        order = list(range(len(numbers)))
        if self.goal.blind:
            order.sort(key=numbers.__getitem__)
        return tuple(numbers[value] for value in order), order

    def _number(self, step: int, column: ColumnCounts) -> int:
        numbers = self._number_of_column[step - 1]
        number = numbers.get(column)
        if number is None:
            number = numbers[column] = len(numbers)
            self._columns[step - 1].append(column)
        return number

    def _permutation_is_private(self, step: int, key: ColumnsKey) -> bool:
        known = self._permutation_holds.get((step, key))
        if known is None:
            columns = self._columns[step - 1]
            histograms = list(zip(*map(columns.__getitem__, key), strict=True))
            if self._row_goal is not None:
                known = all(map(self._is_good, histograms))
            else:
                shape = self._shape(step)
                weights = tuple(histograms[group] for group in shape.group_of_own_cell)
                known = self.goal.holds(RowPosterior(shape.own_cell_of_row, weights))
            self._permutation_holds[step, key] = known
        return known

    def _is_good(self, weights: Weights) -> bool:
        known = self._good.get(weights)
        if known is None:
            assert self._row_goal is not None
            known = self._good[weights] = self._row_goal.good(weights)
        return known

    def _disclosure_is_private(self, step: int, key: ColumnsKey) -> bool:
        if step == 1:
            return self._permutation_is_private(1, key)
        known = self._disclosure_holds.get((step, key))
        if known is None:
            found = self._disclosure(step, key)
            # asked of a table that reached the step, so the set holds at least that table
            assert found is not None
            posterior = RowPosterior(self._shape(step).cell_of_row, found.weights)
            known = self._disclosure_holds[step, key] = self.goal.holds(posterior)
        return known

    def _disclosure(self, step: int, key: ColumnsKey) -> CanonicalSet | None:
        if (step, key) not in self._found:
            self._found[step, key] = self._count(step, key)
        return self._found[step, key]

    def _count(self, step: int, key: ColumnsKey) -> CanonicalSet | None:
        if step not in self._slow:
            try:
                return self._count_one_by_one(step, key)
            except TooSlow:
                self._slow.add(step)
        if self._sweep.suits(step):
            return self._count_by_sweep(step, key)
        return self._count_in_arrays(step, key)

    def _count_by_sweep(self, step: int, key: ColumnsKey) -> CanonicalSet | None:
        """Steps that look back at permutation sets only have a faster engine."""
        histograms = np.array([self._columns[step - 1][number] for number in key], np.int64).T
        if prod(map(count_orderings, histograms.tolist())).bit_length() > 62:
            return self._count_in_arrays(step, key)
        count, weights = self._sweep.count_in_words(step, histograms)
        return CanonicalSet(count, tuple(map(tuple, weights.tolist()))) if count else None

    def _count_in_arrays(self, step: int, key: ColumnsKey) -> CanonicalSet | None:
        """The same as one by one, many matrices at a time."""
        shape, columns = self._shape(step), [self._columns[step - 1][number] for number in key]
        if prod(count_orderings(list(histogram)) for histogram in zip(*columns, strict=True)).bit_length() > 56:
            raise TooLarge(LIMIT)
        radix = shape.column_radix
        fillings = [
            fill_group([column[group] for column in columns], [shape.sizes[c] for c in cells], radix[:, cells])
            for group, cells in enumerate(shape.cells_of_group)
        ]
        numbers = np.array(key)
        same_as_next = (numbers[1:] == numbers[:-1]) & self.goal.blind
        tables_of = [np.zeros(filling.tables.size, np.int64) for filling in fillings]
        count = 0
        for leaves in fill_all(fillings, same_as_next, step - 1):
            self._spend(leaves.tables.size)
            reached = self._which_reach(step, leaves)
            tables = leaves.tables[reached]
            count += int(tables.sum())
            for group, chosen in enumerate(leaves.choice[reached].T):
                np.add.at(tables_of[group], chosen, tables)
        if not count:
            return None
        rows = np.zeros((len(shape.sizes), len(key)), np.int64)
        for group, cells in enumerate(shape.cells_of_group):
            rows[cells] = np.einsum("f,fcv->cv", tables_of[group], fillings[group].matrices)
        return CanonicalSet(count, share_in_orbits(rows, same_as_next))

    def _which_reach(self, step: int, leaves: Leaves) -> NDArray[np.bool_]:
        """Run all leaves at once: per step, every different generalization is decided once."""
        at = np.ones(leaves.tables.size, np.int64)
        for here in range(1, step):
            running = np.flatnonzero(at == here)
            if not running.size:
                continue
            codes = leaves.codes[here - 1][running]
            if self.goal.blind:
                codes = np.sort(codes, axis=1)
            first, which = different_rows(codes)
            moves = np.array([self._move(here, self._key_of_codes(here, row)) for row in codes[first].tolist()])
            at[running] = moves[which]
        return at == step

    def _move(self, step: int, key: ColumnsKey) -> int:
        moves = self._moves[step - 1]
        move = moves.get(key)
        if move is None:
            move = moves[key] = self.strategy.move(
                step,
                self._n_steps,
                lambda: self._permutation_is_private(step, key),
                lambda: self._disclosure_is_private(step, key),
            )
        return move

    def _key_of_codes(self, step: int, codes: list[int]) -> ColumnsKey:
        known, sizes = self._number_of_code[step - 1], self.sequence.functions[step - 1].partition.sizes
        numbers = []
        for code in codes:
            if code not in known:
                column, rest = [], code
                for size in sizes.tolist():
                    rest, rows = divmod(rest, size + 1)
                    column.append(rows)
                known[code] = self._number(step, tuple(column))
            numbers.append(known[code])
        return tuple(sorted(numbers)) if self.goal.blind else tuple(numbers)

    def _spend(self, n_matrices: int) -> None:
        self.left -= n_matrices
        if self.left < 0:
            raise TooLarge(LIMIT)

    def _count_one_by_one(self, step: int, key: ColumnsKey) -> CanonicalSet | None:
        """Visit every matrix (cell, value) of a generalization, up to the names of interchangeable values."""
        blind = self.goal.blind
        orbits: list[tuple[int, int]] = []  # (column, how many values have it)
        for number in key:
            if blind and orbits and orbits[-1][0] == number:
                orbits[-1] = (number, orbits[-1][1] + 1)
            else:
                orbits.append((number, 1))
        placements = [self._placements(step, number) for number, _ in orbits]

        def reaches(keys: list[ColumnsKey]) -> bool:
            self._spend(1)
            return self._run_reaches(step, keys)

        return visit_matrices(orbits, placements, self._shape(step), blind=blind, reaches=reaches, patience=PATIENCE)

    def _run_reaches(self, step: int, keys: list[ColumnsKey]) -> bool:
        at = 1
        while at < step:
            at = self._move(at, keys[at - 1])
            if at == RELEASE:
                return False
        return at == step

    def _placements(self, step: int, number: int) -> list[Placement]:
        """Every way to spread the rows of a column over the cells."""
        shape = self._shape(step)
        if number not in shape.placements:
            column = self._columns[step - 1][number]
            if prod(min(rows, 9) + 1 for rows in column if rows) > PATIENCE:
                raise TooSlow
            found: list[CellFilling] = [()]
            for group, rows in enumerate(column):
                if rows:
                    spreads = shape.spreads(group, rows)
                    found = [(*before, *spread) for before in found for spread in spreads]
            shape.placements[number] = [self._placement(step, filled) for filled in found]
        return shape.placements[number]

    def _placement(self, step: int, filled: CellFilling) -> Placement:
        shape = self._shape(step)
        cells = [0] * len(shape.sizes)
        for cell, rows in filled:
            cells[cell] = rows
        numbers, orderings = [], 1
        for earlier in range(1, step):
            column, group_of_cell = [0] * shape.n_groups[earlier - 1], shape.group_of_cell[earlier - 1]
            for cell, rows in filled:
                column[group_of_cell[cell]] += rows
            numbers.append(self._number(earlier, tuple(column)))
        for _, rows in filled:
            if rows > 1:
                orderings *= factorial(rows)
        return Placement(tuple(cells), filled, orderings, tuple(numbers))
