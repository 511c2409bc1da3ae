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

from dataclasses import dataclass
from functools import cached_property
from math import factorial, lcm, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.leaves import LARGEST_CODE, Leaves, fill_all, fill_group
from overt.algorithms.sequence.orbits import different_rows, share_in_orbits
from overt.algorithms.sequence.posterior import Knowledge, Posterior, Weights
from overt.algorithms.sequence.properties import RowProperty
from overt.algorithms.sequence.sets import count_orderings
from overt.algorithms.sequence.strategy import RELEASE, Strategy
from overt.algorithms.sequence.sweep import Sweep
from overt.errors import TooLarge
from overt.table import Codes

Column = tuple[int, ...]  # (group) -> how often a value occurs there
Key = tuple[int, ...]  # the columns of a generalization, by number; in canonical order if the goal is blind


PATIENCE = 3_000  # placements tried one by one before whole arrays of them are tried
LIMIT = "This sequence has too many tables to count by histograms of cells."


class TooSlow(Exception):
    """One by one takes too long."""


class Placement(NamedTuple):
    """One way to spread the rows that have a value over the cells."""

    cells: tuple[int, ...]  # (cell) -> rows with the value
    filled: tuple[tuple[int, int], ...]  # the same, only cells that have some: (cell, rows)
    orderings: int  # the product of the factorials of `cells`
    columns: tuple[int, ...]  # (earlier function) -> number of the column this makes there


@dataclass(frozen=True)
class Found:
    """A disclosure set in canonical order: how many tables, and per cell the weights of the columns of its key."""

    count: int
    weights: tuple[Weights, ...]  # (cell) -> weight of every column of the key


class Cells:
    """Disclosure sets by histograms of cells. Remembers every generalization it has decided."""

    name = "cells"

    def __init__(self, sequence: Sequence, strategy: Strategy, *, max_placements: int = 20_000_000) -> None:
        self.sequence, self.strategy, self.goal = sequence, strategy, sequence.goal
        self.left = max_placements  # matrices that may still be visited
        self._sweep = Sweep(sequence, strategy)
        self._slow: set[int] = set()  # steps that proved too slow one by one
        self._number_of_code: list[dict[int, int]] = [{} for _ in sequence.functions]
        self._number_of_column: list[dict[Column, int]] = [{} for _ in sequence.functions]
        self._columns: list[list[Column]] = [[] for _ in sequence.functions]
        self._permutation_holds: dict[tuple[int, Key], bool] = {}
        self._found: dict[tuple[int, Key], Found | None] = {}
        self._disclosure_holds: dict[tuple[int, Key], bool] = {}
        self._good: dict[Weights, bool] = {}
        self._shapes = [Shape(sequence, step) for step in range(1, sequence.n_steps + 1)]

    def disclosure(self, values: Codes, n_values: int, step: int) -> Knowledge:
        """The tables with the generalization of this one at a step whose run reaches the step."""
        columns = [tuple(column) for column in self._histograms(values, n_values, step).T.tolist()]
        key, order = self._key(step, columns)
        found = self._disclosure(step, key)
        shape = self._shapes[step - 1]
        if found is None:
            nothing = (0,) * n_values
            return Knowledge(0, Posterior(shape.cell_of_row, (nothing,) * len(shape.sizes)), self.name, holds=False)
        weights = []
        for canonical in found.weights:
            of_value = [0] * n_values
            for position, value in enumerate(order):
                of_value[value] = canonical[position]
            weights.append(tuple(of_value))
        return Knowledge(found.count, Posterior(shape.cell_of_row, tuple(weights)), self.name)

    def reaches(self, values: Codes, n_values: int, step: int) -> bool:
        """Whether the run of a table comes to a step."""
        keys: dict[int, Key] = {}

        def key(at: int) -> Key:
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

    def _histograms(self, values: Codes, n_values: int, step: int) -> NDArray[np.int64]:
        return self.sequence.functions[step - 1].histograms(values, n_values)

    def _key(self, step: int, columns: list[Column]) -> tuple[Key, list[int]]:
        """The generalization's key, and which value stands at each place of it."""
        numbers = [self._number(step, column) for column in columns]
        order = list(range(len(numbers)))
        if self.goal.blind:
            order.sort(key=numbers.__getitem__)
        return tuple(numbers[value] for value in order), order

    def _number(self, step: int, column: Column) -> int:
        numbers = self._number_of_column[step - 1]
        if column not in numbers:
            numbers[column] = len(numbers)
            self._columns[step - 1].append(column)
        return numbers[column]

    def _permutation_is_private(self, step: int, key: Key) -> bool:
        known = self._permutation_holds.get((step, key))
        if known is None:
            columns = self._columns[step - 1]
            histograms = list(zip(*[columns[number] for number in key], strict=True))
            if isinstance(self.goal, RowProperty):
                known = all(map(self._is_good, histograms))
            else:
                shape = self._shapes[step - 1]
                weights = tuple(histograms[group] for group in shape.group_of_own_cell)
                known = self.goal.holds(Posterior(shape.own_cell_of_row, weights))
            self._permutation_holds[step, key] = known
        return known

    def _is_good(self, weights: Weights) -> bool:
        ordered = tuple(sorted(weights))
        known = self._good.get(ordered)
        if known is None:
            assert isinstance(self.goal, RowProperty)
            known = self._good[ordered] = self.goal.good(ordered)
        return known

    def _disclosure_is_private(self, step: int, key: Key) -> bool:
        if step == 1:
            return self._permutation_is_private(1, key)
        known = self._disclosure_holds.get((step, key))
        if known is None:
            found = self._disclosure(step, key)
            # asked of a table that reached the step, so the set holds at least that table
            assert found is not None
            posterior = Posterior(self._shapes[step - 1].cell_of_row, found.weights)
            known = self._disclosure_holds[step, key] = self.goal.holds(posterior)
        return known

    def _disclosure(self, step: int, key: Key) -> Found | None:
        if (step, key) not in self._found:
            self._found[step, key] = self._count(step, key)
        return self._found[step, key]

    def _count(self, step: int, key: Key) -> Found | None:
        if step not in self._slow:
            try:
                return self._count_one_by_one(step, key)
            except TooSlow:
                self._slow.add(step)
        if self._sweep.suits(step):
            return self._count_by_sweep(step, key)
        return self._count_in_arrays(step, key)

    def _count_by_sweep(self, step: int, key: Key) -> Found | None:
        """Steps that look back at permutation sets only have a faster engine."""
        histograms = np.array([self._columns[step - 1][number] for number in key], np.int64).T
        if prod(map(count_orderings, histograms.tolist())).bit_length() > 62:
            return self._count_in_arrays(step, key)
        count, weights = self._sweep.count_in_words(step, histograms)
        return Found(count, tuple(map(tuple, weights.tolist()))) if count else None

    def _count_in_arrays(self, step: int, key: Key) -> Found | None:
        """The same as one by one, many matrices at a time."""
        shape, columns = self._shapes[step - 1], [self._columns[step - 1][number] for number in key]
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
        return Found(count, share_in_orbits(rows, same_as_next))

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

    def _move(self, step: int, key: Key) -> int:
        return self.strategy.move(
            step,
            self.sequence.n_steps,
            lambda: self._permutation_is_private(step, key),
            lambda: self._disclosure_is_private(step, key),
        )

    def _key_of_codes(self, step: int, codes: list[int]) -> Key:
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

    def _count_one_by_one(self, step: int, key: Key) -> Found | None:
        """Visit every matrix (cell, value) of a generalization, up to the names of interchangeable values."""
        shape, blind = self._shapes[step - 1], self.goal.blind
        orbits: list[tuple[int, int]] = []  # (column, how many values have it)
        for number in key:
            if blind and orbits and orbits[-1][0] == number:
                orbits[-1] = (number, orbits[-1][1] + 1)
            else:
                orbits.append((number, 1))
        placements = [self._placements(step, number) for number, _ in orbits]
        free, base, n_earlier = list(shape.sizes), shape.orderings, step - 1
        tables_of = [[0] * len(options) for options in placements]  # (orbit, placement) -> tables, by multiplicity
        chosen: list[tuple[int, int, int]] = []  # (orbit, placement, multiplicity)
        count, patience = 0, PATIENCE

        def visit(orbit: int, first: int, left: int, divisor: int, namings: int) -> None:
            nonlocal count, patience
            if not left:
                orbit += 1
                if orbit == len(orbits):
                    count += leaf(divisor, namings)
                    return
                first, left = 0, orbits[orbit][1]
                namings *= factorial(left)
            options = placements[orbit]
            patience -= len(options) - first
            if patience < 0:
                raise TooSlow
            for at in range(first, len(options)):
                _, filled, orderings, _ = options[at]
                fits = left
                for cell, need in filled:
                    room = free[cell]
                    if room < need * fits:
                        fits = room // need
                        if not fits:
                            break
                for times in range(1, fits + 1):
                    for cell, need in filled:
                        free[cell] -= need
                    divisor_here = divisor * orderings**times * factorial(times)
                    chosen.append((orbit, at, times))
                    visit(orbit, at + 1, left - times, divisor_here, namings)
                    chosen.pop()
                for cell, need in filled:
                    free[cell] += need * fits

        def leaf(divisor: int, namings: int) -> int:
            self._spend(1)
            keys = []
            for earlier in range(n_earlier):
                numbers: list[int] = []
                for orbit, at, times in chosen:
                    numbers += [placements[orbit][at].columns[earlier]] * times
                keys.append(tuple(sorted(numbers)) if blind else tuple(numbers))
            if not self._run_reaches(step, keys):
                return 0
            tables = base * namings // divisor
            for orbit, at, times in chosen:
                tables_of[orbit][at] += tables * times
            return tables

        visit(-1, 0, 0, 1, 1)
        return Found(count, self._weights(orbits, placements, tables_of)) if count else None

    def _weights(
        self, orbits: list[tuple[int, int]], placements: list[list[Placement]], tables_of: list[list[int]]
    ) -> tuple[Weights, ...]:
        """Per cell the weight of every column: the rows with its value, summed over tables, shared in the orbit."""
        scale = lcm(*(times for _, times in orbits))
        n_cells = len(placements[0][0].cells)
        weights: list[list[int]] = [[] for _ in range(n_cells)]
        for (_, times), options, tables in zip(orbits, placements, tables_of, strict=True):
            for cell in range(n_cells):
                rows = sum(n * option.cells[cell] for n, option in zip(tables, options, strict=True) if n)
                weights[cell] += [rows * (scale // times)] * times
        return tuple(map(tuple, weights))

    def _run_reaches(self, step: int, keys: list[Key]) -> bool:
        at = 1
        while at < step:
            at = self._move(at, keys[at - 1])
            if at == RELEASE:
                return False
        return at == step

    def _placements(self, step: int, number: int) -> list[Placement]:
        """Every way to spread the rows of a column over the cells."""
        shape = self._shapes[step - 1]
        if number not in shape.placements:
            column = self._columns[step - 1][number]
            if prod(min(rows, 9) + 1 for rows in column if rows) > PATIENCE:
                raise TooSlow
            found: list[list[int]] = [[0] * len(shape.sizes)]
            for group, rows in enumerate(column):
                if rows:
                    found = [
                        spread
                        for cells in found
                        for spread in spreads(cells, rows, shape.cells_of_group[group], shape.sizes)
                    ]
            shape.placements[number] = [self._placement(step, cells) for cells in found]
        return shape.placements[number]

    def _placement(self, step: int, cells: list[int]) -> Placement:
        shape = self._shapes[step - 1]
        orderings = prod(map(factorial, cells))
        numbers = []
        for earlier in range(1, step):
            column = [0] * self.sequence.functions[earlier - 1].partition.n_groups
            for cell, rows in enumerate(cells):
                column[shape.group_of_cell[earlier - 1][cell]] += rows
            numbers.append(self._number(earlier, tuple(column)))
        filled = tuple((cell, rows) for cell, rows in enumerate(cells) if rows)
        return Placement(tuple(cells), filled, orderings, tuple(numbers))


class Shape:
    """The cells of a step: their sizes, and the group of every function up to the step that each lies in."""

    def __init__(self, sequence: Sequence, step: int) -> None:
        self.cell_of_row = sequence.cells(step)
        self.sizes: list[int] = np.bincount(self.cell_of_row).tolist()
        first_row = np.unique(self.cell_of_row, return_index=True)[1]
        functions = sequence.functions[:step]
        self.group_of_cell = [function.partition.group_of_row[first_row].tolist() for function in functions]
        self.cells_of_group: list[list[int]] = [[] for _ in range(functions[-1].partition.n_groups)]
        for cell, group in enumerate(self.group_of_cell[-1]):
            self.cells_of_group[group].append(cell)
        self.orderings = 1
        for size in self.sizes:
            self.orderings *= factorial(size)
        self.placements: dict[int, list[Placement]] = {}
        self._functions = functions
        self._goal = sequence.goal

    @cached_property
    def own_cell_of_row(self) -> Codes:
        """The cells of this step's function alone: the groups, divided by what the goal tells apart."""
        return Sequence((self._functions[-1],), self._goal).cells(1)

    @cached_property
    def group_of_own_cell(self) -> list[int]:
        first_row = np.unique(self.own_cell_of_row, return_index=True)[1]
        groups: list[int] = self._functions[-1].partition.group_of_row[first_row].tolist()
        return groups

    @cached_property
    def column_radix(self) -> NDArray[np.int64]:
        """(earlier function, cell) -> what a row in the cell adds to the code of its value's column."""
        weights = np.zeros((len(self._functions) - 1, len(self.sizes)), np.int64)
        for number, function in enumerate(self._functions[:-1]):
            radix = [1]
            for size in function.partition.sizes.tolist():
                radix.append(radix[-1] * (size + 1))
            if radix[-1] >= LARGEST_CODE:
                raise TooLarge(LIMIT)
            weights[number] = np.array(radix)[self.group_of_cell[number]]
        return weights


def spreads(cells: list[int], rows: int, among: list[int], sizes: list[int]) -> list[list[int]]:
    """Every way to put a number of rows into some of the cells."""
    if len(among) == 1:
        if rows > sizes[among[0]]:
            return []
        filled = cells.copy()
        filled[among[0]] = rows
        return [filled]
    found = []
    for here in range(min(rows, sizes[among[0]]) + 1):
        filled = cells.copy()
        filled[among[0]] = here
        found += spreads(filled, rows - here, among[1:], sizes)
    return found
