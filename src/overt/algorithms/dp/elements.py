# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/dp/test_cube.py
"""Elements: what the records of a table become at public vectors of levels, and which of them each record is given.

The choice for a record looks at the record, at public rules, and at the support that its elements are given from outside:
counts of a public database, or noisy counts. It never looks at another record.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.generalization_cube import Model
from overt.algorithms.record.nodes import number_rows
from overt.hierarchy.value_rules import Floats, PublicColumn
from overt.kernels import coarsening as kernels
from overt.table import Codes

Counts = NDArray[np.int64]
LevelsVector = tuple[int, ...]  # a level for every attribute


@dataclass(frozen=True, eq=False)
class ElementCells:
    """What records look like at one vector of levels."""

    cell_of_record: Codes
    nodes: Codes  # (cell, attribute) -> node

    @property
    def n_cells(self) -> int:
        return int(self.nodes.shape[0])


@dataclass(frozen=True, eq=False)
class Worth:
    """What nodes weigh and are worth: (attribute, node), padded with zeros."""

    weights: Floats
    utilities: Floats
    base: float


# Of some cells: their support, and which of them a record may be given.
Support = Callable[[ElementCells], tuple[Counts, NDArray[np.bool_]]]


@dataclass(frozen=True, eq=False)
class Records:
    """The different records of a table, and which of them each row is."""

    columns: tuple[PublicColumn, ...]
    values: Codes = field(repr=False)  # (attribute, record) -> value
    record_of_row: Counts = field(repr=False)

    @classmethod
    def of(cls, columns: Sequence[PublicColumn], codes: Sequence[Codes]) -> "Records":
        """Rows with the same values are one record."""
        sizes = [column.node_of_value.shape[1] for column in columns]
        record_of_row, n_records = number_rows(list(codes), sizes)
        values = np.empty((len(columns), n_records), np.int32)
        for own, column_codes in zip(values, codes, strict=True):
            own[record_of_row] = column_codes
        return cls(tuple(columns), values, record_of_row)

    @property
    def n_records(self) -> int:
        return int(self.values.shape[1])

    @property
    def n_rows_of_record(self) -> Counts:
        return np.bincount(self.record_of_row, minlength=self.n_records).astype(np.int64)

    def at(self, vector: LevelsVector) -> ElementCells:
        """The cells of all records at a vector of levels."""
        nodes = [
            column.node_of_value[level][values]
            for column, level, values in zip(self.columns, vector, self.values, strict=True)
        ]
        return self._numbered(nodes)

    def choose(
        self, vectors: Sequence[LevelsVector], support: Sequence[Support], model: Model, worth: Worth
    ) -> tuple[ElementCells, NDArray[np.bool_]]:
        """The element that the model likes best of every record, and for which records there is one.

        Among equals the first vector counts.
        """
        n = self.n_records
        best = (np.zeros(n), np.zeros(n), np.full(n, -1, np.int64), np.zeros(n, np.int64))
        for place, (vector, supported) in enumerate(zip(vectors, support, strict=True)):
            cells = self.at(vector)
            counts, is_candidate = supported(cells)
            phi = kernels.sum_over_nodes(cells.nodes, worth.weights, worth.base)
            utility = kernels.sum_over_nodes(cells.nodes, worth.utilities, 0.0)
            scored = model.score(counts, phi, utility, place)
            scored[2][~is_candidate] = -1
            kernels.keep_better(*best, *scored, cells.cell_of_record)
        chosen = np.maximum(best[2], 0)
        levels = np.array(vectors, np.int64).reshape(len(vectors), len(self.columns))
        nodes = [
            column.node_of_value[levels[chosen, j], self.values[j]].astype(np.int32)
            for j, column in enumerate(self.columns)
        ]
        return self._numbered(nodes), best[2] >= 0

    def _numbered(self, nodes: Sequence[Codes]) -> ElementCells:
        number, n_cells = number_rows(list(nodes), [len(column.labels) for column in self.columns])
        rows = np.empty((n_cells, len(nodes)), np.int32)
        for j, own in enumerate(nodes):
            rows[number, j] = own
        return ElementCells(number.astype(np.int32), rows)


@dataclass(frozen=True, eq=False)
class CountedRecords(Records):
    """Different records of which only is known how often each occurs, and not which rows they are."""

    counts: Counts = field(repr=False)

    @classmethod
    def counted(cls, columns: Sequence[PublicColumn], values: Codes, counts: Counts) -> "CountedRecords":
        """(attribute, record) -> value, and (record) -> how many rows."""
        return cls(tuple(columns), values, np.empty(0, np.int64), counts)

    @property
    def n_rows_of_record(self) -> Counts:
        return self.counts


def padded(numbers: Sequence[Floats]) -> Floats:
    """Rows of different length as one array."""
    rows = np.zeros((len(numbers), max(row.size for row in numbers)))
    for row, given in zip(rows, numbers, strict=True):
        row[: given.size] = given
    return rows
