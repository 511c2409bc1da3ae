# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_forward_pass.py
"""Orbits and kinds: values that are interchangeable share alike, and rows of an array that are equal count once."""

from math import lcm

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.equal_tables import Weights


def share_in_orbits(rows: NDArray[np.int64], same_as_next: NDArray[np.bool_]) -> tuple[Weights, ...]:
    """Give every value the mean of its orbit, in a unit that keeps integers."""
    orbit_of_value = np.concatenate([[0], np.cumsum(~same_as_next)])
    sizes = np.bincount(orbit_of_value).tolist()
    scale = lcm(*sizes)
    weights = []
    for of_value in rows.tolist():
        totals = [0] * len(sizes)
        for orbit, n in zip(orbit_of_value.tolist(), of_value, strict=True):
            totals[orbit] += n
        weights.append(tuple(totals[orbit] * (scale // sizes[orbit]) for orbit in orbit_of_value.tolist()))
    return tuple(weights)


def different_rows(
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which rows of an array differ: where each kind first occurs, and the kind of every row."""
    kind = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, number = np.unique(column, return_inverse=True)
        _, kind = np.unique(kind * (int(number.max(initial=0)) + 1) + number.reshape(-1), return_inverse=True)
        kind = kind.reshape(-1)
    return np.unique(kind, return_index=True)[1], kind
