# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_risk.py
"""Rows that are alike: the groups of a table before anything is done to it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overt.kernels.rolling import number_keys
from overt.metrics.expected_counts import spreads_of
from overt.partition import Partition
from overt.release import Release
from overt.table import Column, Table

_MOST_KEYS = 1 << 62  # of a key in 64 bits
_MOST_DIRECT = 1 << 22  # keys that are looked up in an array


def rows_alike(table: Table) -> Partition:
    """The rows of a table in groups that agree on every quasi-identifier.

    >>> from overt import read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Sex"])
    >>> rows_alike(table).n_groups
    2
    """
    number, n_groups = number_combinations(table.quasi_identifiers)
    return Partition(number, n_groups)


def first_rows(alike: Partition) -> NDArray[np.int64]:
    """(group) -> its first row, for groups that are numbered in the order in which they are met."""
    greatest = np.maximum.accumulate(alike.group_of_row)
    is_first = np.ones(greatest.size, np.bool_)
    is_first[1:] = greatest[1:] > greatest[:-1]
    return np.flatnonzero(is_first)


def groups_as_seen(release: Release) -> Partition:
    """The groups of a release as its reader sees them: groups of a method that show the same cells are one."""
    if not release.has_boxes:
        return release.partition
    columns = release.table.quasi_identifiers
    keys, n_keys = np.zeros(release.n_groups, np.int64), 1
    for column in columns:
        cells, n_cells = spreads_of(release)[column.name].cells
        keys, n_keys = number_keys(
            keys[: release.n_groups] * n_cells + cells[: release.n_groups], n_keys * n_cells, _MOST_DIRECT
        )
        keys = keys.astype(np.int64)
    if n_keys == release.n_groups:
        return release.partition
    number = np.append(keys, -1).astype(np.int32)  # a suppressed row, in group -1, finds the last entry
    return Partition(number[release.partition.group_of_row], int(n_keys))


def number_combinations(columns: Sequence[Column]) -> tuple[NDArray[np.int32], int]:
    """(row) -> the number of its combination of values, in the order in which they are met; and how many there are."""
    keys, n_keys = np.zeros(columns[0].codes.size, np.int64), 1
    for column in columns:
        if n_keys * column.n_values >= _MOST_KEYS:  # too many to fit: number what there is and go on from that
            keys, n_keys = number_keys(keys, n_keys, _MOST_DIRECT)
            keys = keys.astype(np.int64)
        keys *= column.n_values
        keys += column.codes
        n_keys *= column.n_values
    number, n_numbers = number_keys(keys, n_keys, _MOST_DIRECT)
    return number, int(n_numbers)
