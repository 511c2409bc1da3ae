# SPDX-License-Identifier: Apache-2.0
"""Partition: which row is in which group. Groups: what a privacy property looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.counting import count_codes, count_values_in_ranges, order_by_code, starts_of
from overt.table import Codes, Column, Table

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Every row in exactly one of `n_groups` groups, none of them empty."""

    group_of_row: Codes
    n_groups: int

    def __post_init__(self) -> None:
        if self.group_of_row.size and (self.sizes.min() < 1):
            raise InvalidInput("A partition has an empty group; number the groups 0, 1, 2, ... without gaps.")
        self.group_of_row.flags.writeable = False

    @classmethod
    def from_groups(cls, groups: Sequence[Sequence[int]]) -> "Partition":
        """From lists of row positions: `Partition.from_groups([[0, 2], [1]])`."""
        n_rows = sum(map(len, groups))
        group_of_row = np.full(n_rows, -1, np.int32)
        for group, rows in enumerate(groups):
            group_of_row[list(rows)] = group
        if (group_of_row < 0).any():
            raise InvalidInput("The groups of a partition must hold every row once.")
        return cls(group_of_row, len(groups))

    @cached_property
    def sizes(self) -> Counts:
        return count_codes(self.group_of_row, self.n_groups)

    @cached_property
    def starts(self) -> Counts:
        """Where each group begins in `rows`; the last entry is the number of rows."""
        return starts_of(self.sizes)

    @cached_property
    def rows(self) -> Codes:
        """Row positions, group by group, ascending inside a group."""
        return order_by_code(self.group_of_row, self.n_groups, np.arange(self.group_of_row.size, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of one sensitive column occurs in each group (sparse).

    Group g has the values `value[first[g]:first[g + 1]]`, ascending, each `count[...]` times.
    """

    first: Counts  # (group + 1)
    value: Codes
    count: Counts
    total_of_value: Counts  # (value) -> count in the whole table: what t-closeness and its kin compare with
    node_of_value: NDArray[np.int32] | None = None  # (level, value) -> node of the column's hierarchy

    @property
    def n_values(self) -> int:
        return int(self.total_of_value.size)


@dataclass(frozen=True, eq=False)
class Groups:
    """Group sizes, and a histogram of every sensitive column by its name."""

    sizes: Counts
    histograms: Mapping[str, Histogram]

    @property
    def n_groups(self) -> int:
        return int(self.sizes.size)

    @classmethod
    def of(cls, table: Table, partition: Partition) -> "Groups":
        """Count the sensitive values of a table in the groups of a partition of its rows."""
        return cls.of_ranges(table.sensitive, partition.rows, partition.starts)

    @classmethod
    def of_ranges(cls, sensitive: Sequence[Column], rows: Codes, starts: Counts) -> "Groups":
        """The same for groups that are ranges of `rows`: group g is `rows[starts[g]:starts[g + 1]]`."""
        histograms = {}
        for column in sensitive:
            first, value, count = count_values_in_ranges(column.codes[rows], starts, column.n_values)
            nodes = column.hierarchy.node_of_leaf if column.hierarchy is not None else None
            histograms[column.name] = Histogram(first, value, count, column.total_of_value, nodes)
        return cls(np.diff(starts), histograms)
