# SPDX-License-Identifier: Apache-2.0
"""Rows that are alike: the groups of a table before anything is done to it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overt.kernels.rolling import number_keys
from overt.partition import Partition
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
