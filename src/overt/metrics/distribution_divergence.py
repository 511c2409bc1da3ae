# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Divergence: how far the distributions that a release suggests are from the true ones.

The Kullback-Leibler divergence, in bits, of what a reader expects (`spread`) from what is: of single columns and of
pairs of columns. D. Kifer, J. Gehrke, "Injecting Utility into Anonymized Datasets", SIGMOD 2006. It is finite, because
the cell of a row allows the row's own value.
"""

import numpy as np
from numpy.typing import NDArray

from overt.kernels.expected_counts import count_pairs
from overt.metrics.expected_counts import Spread, spread_of
from overt.release import Release
from overt.table import Column

MOST_CELLS = 1 << 22  # of a pair of columns; a pair with more is left out, and said to be


def divergence(actual: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """KL(actual || expected) in bits, of counts with the same total.

    >>> divergence(np.array([2, 0]), np.array([1.0, 1.0]))
    1.0
    """
    there = actual > 0
    p, q = actual[there] / actual.sum(), expected[there] / expected.sum()
    return max(0.0, float(p @ np.log2(p / q)))


def marginal_divergence(release: Release, column: Column) -> float:
    """KL of a single column."""
    return divergence_of_spread(spread_of(release, column))


def divergence_of_spread(spread: Spread) -> float:
    """The same for a column that is laid out already."""
    return divergence(spread.column.total_of_value, spread.rows_of_value)


def pair_divergence(release: Release, column: Column, other: Column) -> float:
    """KL of the joint distribution of two columns, at least one of them not published exactly."""
    actual = count_pairs(column.codes, other.codes, column.n_values, other.n_values)
    return divergence(actual, spread_of(release, column).rows_of_pair(spread_of(release, other)))
