# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/together/test_audit_together.py
"""Cells: people who are in the same group of every release, and components of cells that share groups.

What a cell holds is known by counts alone: so many people, whose values every one of their groups shows together with those of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.kernels.failed_trials import join_groups
from overt.partition import Partition
from overt.table import Codes, Column

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedCells:
    """The groups of all releases, one after the other, and the cells in which they meet."""

    cell_of_row: Codes
    size_of_cell: Counts
    groups_of_cell: tuple[tuple[int, ...], ...]  # in no group of a release that left its people out
    counts: Counts  # (group, value) -> what its release shows
    component_of_cell: Codes

    @classmethod
    def of(cls, partitions: Sequence[Partition], column: Column) -> "SharedCells":
        """Of releases whose rows are the same people."""
        first = np.cumsum([0, *(partition.n_groups for partition in partitions)])
        group = np.stack(
            [
                np.where(one.group_of_row < 0, -1, one.group_of_row + begin)
                for one, begin in zip(partitions, first[:-1], strict=True)
            ],
            axis=1,
        )
        of_cell, cell_of_row = np.unique(group, axis=0, return_inverse=True)
        cell_of_row = cell_of_row.reshape(-1).astype(np.int32)
        counts = np.zeros((int(first[-1]), column.n_values), np.int64)
        for groups in group.T:
            shown = groups >= 0
            np.add.at(counts, (groups[shown], column.codes[shown]), 1)
        of_groups = tuple(tuple(one[one >= 0].tolist()) for one in of_cell)
        cells = np.repeat(np.arange(len(of_groups)), [len(one) for one in of_groups])
        joined = np.array([g for one in of_groups for g in one], np.int64)
        component_of_group = join_groups(cells, joined, len(of_groups), int(first[-1]))
        own = int(component_of_group.max(initial=-1)) + 1 + np.arange(len(of_groups))  # of cells without a group
        component = np.array(
            [component_of_group[one[0]] if one else own[i] for i, one in enumerate(of_groups)], np.int64
        )
        _, component = np.unique(component, return_inverse=True)
        size = np.bincount(cell_of_row, minlength=len(of_groups)).astype(np.int64)
        return cls(np.asarray(cell_of_row, np.int32), size, of_groups, counts, component.reshape(-1).astype(np.int32))

    @property
    def n_cells(self) -> int:
        return int(self.size_of_cell.size)

    @property
    def n_values(self) -> int:
        return int(self.counts.shape[1])
