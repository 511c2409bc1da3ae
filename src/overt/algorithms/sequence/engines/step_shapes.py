# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_cell_histograms.py
"""Shapes: the cells of a step, the groups they lie in, and the ways to spread the rows of a value over them."""

from functools import cached_property
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.leaf_arrays import LARGEST_CODE
from overt.algorithms.sequence.functions import Sequence
from overt.errors import TooLarge
from overt.table import Codes

CellFilling = tuple[tuple[int, int], ...]  # (cell, rows there) of the cells that have some
LIMIT = "This sequence has too many tables to count by histograms of cells."


class Placement(NamedTuple):
    """One way to spread the rows that have a value over the cells."""

    cells: tuple[int, ...]  # (cell) -> rows with the value
    filled: CellFilling  # the same, only cells that have some
    orderings: int  # the product of the factorials of `cells`
    columns: tuple[int, ...]  # (earlier function) -> number of the column this makes there


class StepShape:
    """The cells of a step: their sizes, and the group of every function up to the step that each lies in."""

    def __init__(self, sequence: Sequence, step: int) -> None:
        self.cell_of_row = sequence.cells(step)
        self.sizes: list[int] = []
        first_row = []
        for row, cell in enumerate(self.cell_of_row.tolist()):
            if cell == len(self.sizes):  # cells are numbered as they appear
                self.sizes.append(1)
                first_row.append(row)
            else:
                self.sizes[cell] += 1
        functions = sequence.functions[:step]
        self.group_of_cell = [function.partition.group_of_row[first_row].tolist() for function in functions]
        self.n_groups = [function.partition.n_groups for function in functions]
        self.cells_of_group: list[list[int]] = [[] for _ in range(functions[-1].partition.n_groups)]
        for cell, group in enumerate(self.group_of_cell[-1]):
            self.cells_of_group[group].append(cell)
        self.orderings = prod(map(factorial, self.sizes))
        self.placements: dict[int, list[Placement]] = {}
        self._spreads: dict[tuple[int, int], list[CellFilling]] = {}
        self._functions = functions
        self._goal = sequence.goal

    def spreads(self, group: int, rows: int) -> list[CellFilling]:
        """Every way to put rows of one value into the cells of a released group."""
        key = (group, rows)
        if key not in self._spreads:
            self._spreads[key] = spread_rows(rows, self.cells_of_group[group], self.sizes)
        return self._spreads[key]

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


def spread_rows(rows: int, cells: list[int], sizes: list[int]) -> list[CellFilling]:
    """Every way to put a number of rows into some cells."""
    if rows == 1:
        return [((cell, 1),) for cell in cells]
    if not rows:
        return [()]
    if not cells:
        return []
    first, *others = cells
    found = spread_rows(rows, others, sizes)
    for here in range(1, min(rows, sizes[first]) + 1):
        found += [((first, here), *rest) for rest in spread_rows(rows - here, others, sizes)]
    return found
