# SPDX-License-Identifier: Apache-2.0
"""Engine: one forward pass over all tables. Any strategy, any property; decides every table at once.

Paper       The definitions of the k-jump paper, read forward: at step i all tables are known that reach it, and they fall
            into disclosure sets by their generalization.
Implements  Every table with the given multiset of values is listed once, as a row of an array. Each step groups the
            tables that reach it by generalization, judges every group once, and moves its tables on. With n functions
            that is n passes over the tables, whatever the strategy.
Departs     nothing.
Guarantee   Exact.
"""

from functools import cached_property
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.orbits import different_rows
from overt.algorithms.sequence.equal_tables import EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.sets import PermutationSet
from overt.algorithms.sequence.strategies.base import RELEASE, Strategy
from overt.errors import TooLarge
from overt.table import Codes

MAX_CELLS = 200_000_000  # tables times rows that fit


class ForwardPass:
    """All tables with the values of one, and what a strategy does with each."""

    name = "forward pass"

    def __init__(self, sequence: Sequence, strategy: Strategy, values: Codes, n_values: int) -> None:
        self.sequence, self.strategy, self.n_values = sequence, strategy, n_values
        counts = np.bincount(values, minlength=n_values).tolist()
        n_tables = factorial(len(values)) // prod(map(factorial, counts))
        if n_tables * len(values) > MAX_CELLS:
            raise TooLarge(
                f"A forward pass would list {n_tables} tables of {len(values)} rows; {MAX_CELLS // len(values)} tables fit."
            )
        self.tables = all_tables(counts)
        self.reached = np.zeros((sequence.n_steps, n_tables), np.bool_)  # (step - 1, table)
        self.released = np.zeros(n_tables, np.int64)  # (table) -> step, or 0 for nothing
        self._decide()

    def _decide(self) -> None:
        n_steps, at = self.sequence.n_steps, np.ones(len(self.tables), np.int64)
        for step in range(1, n_steps + 1):
            self.reached[step - 1] = here = at == step
            running = np.flatnonzero(here)
            if not running.size:
                continue
            first, which = different_rows(self._codes(self.sequence.functions[step - 1])[running])
            rows = self._rows_with_values(running, which, first.size, step)
            moves = np.array([self._move(step, running[first[kind]], rows[kind]) for kind in range(first.size)])
            at[running] = moves[which]
            self.released[running[at[running] == RELEASE]] = step

    def _move(self, step: int, table: int, rows: NDArray[np.int64]) -> int:
        goal, function = self.sequence.goal, self.sequence.functions[step - 1]
        values = self.tables[table].astype(np.int32)
        return self.strategy.move(
            step,
            self.sequence.n_steps,
            lambda: goal.holds(PermutationSet(function, values, self.n_values).posterior),
            lambda: goal.holds(RowPosterior(self.sequence.cells(step), tuple(map(tuple, rows.tolist())))),
        )

    def _rows_with_values(
        self, tables: NDArray[np.int64], kind: NDArray[np.int64], n_kinds: int, step: int
    ) -> NDArray[np.int64]:
        """(kind, cell, value) -> rows of the cell with the value, over the tables of the kind."""
        cell_of_row = self.sequence.cells(step)
        n_cells = int(cell_of_row.max()) + 1
        found = np.zeros((n_kinds, n_cells, self.n_values), np.int64)
        for row, cell in enumerate(cell_of_row.tolist()):
            code = kind * self.n_values + self.tables[tables, row]
            found[:, cell] += np.bincount(code, minlength=n_kinds * self.n_values).reshape(n_kinds, self.n_values)
        return found

    def _codes(self, function: Function) -> NDArray[np.int64]:
        """(table, group) -> a number for the group's multiset of values."""
        base = int(function.partition.sizes.max()) + 1
        if base**self.n_values >= 1 << 62:
            raise TooLarge(
                f"A forward pass cannot number the multisets of {base - 1} rows with {self.n_values} values."
            )
        weight = base ** np.arange(self.n_values, dtype=np.int64)
        codes = np.zeros((len(self.tables), function.partition.n_groups), np.int64)
        for row, group in enumerate(function.partition.group_of_row.tolist()):
            codes[:, group] += weight[self.tables[:, row]]
        return codes

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """The tables with the generalization of this one that reach a step."""
        codes = self._codes(self.sequence.functions[step - 1])
        own = codes[self.find(values)]
        members = np.flatnonzero(self.reached[step - 1] & (codes == own).all(axis=1))
        rows = self._rows_with_values(members, np.zeros(members.size, np.int64), 1, step)[0]
        posterior = RowPosterior(self.sequence.cells(step), tuple(map(tuple, rows.tolist())))
        return EqualTables(int(members.size), posterior, self.name, holds=None if members.size else False)

    def find(self, values: Codes) -> int:
        """The number of a table."""
        return int(np.flatnonzero((self.tables == values).all(axis=1))[0])

    @cached_property
    def n_released(self) -> dict[int, int]:
        """How many tables are released at each step; 0 stands for nothing."""
        return dict(enumerate(np.bincount(self.released, minlength=self.sequence.n_steps + 1).tolist()))


def all_tables(counts: list[int]) -> NDArray[np.uint8]:
    """Every table with so many rows of each value, as rows of an array."""
    tables, left = np.zeros((1, 0), np.uint8), np.array([counts], np.int64)
    for _ in range(sum(counts)):
        table, value = np.nonzero(left)
        tables = np.column_stack([tables[table], value.astype(np.uint8)])
        left = left[table]
        left[np.arange(table.size), value] -= 1
    return tables
