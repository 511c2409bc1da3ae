# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Non-uniform entropy: the bits that it takes to tell a value from the others its cell allows.

A. Gionis, T. Tassa, "k-Anonymization with Minimal Loss of Information", TKDE 2009; the form of F. Prasser, R. Bild,
K. A. Kuhn, "A Generic Method for Assessing the Quality of De-Identified Health Data", 2016. A cell that covers c rows
of the original column, of which f have the value that was there, loses log2(c / f) bits. The loss is relative to that
of publishing `*` everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from overt.metrics.expected_counts import CellForm, Spread, is_exact, spread_of
from overt.release import Release
from overt.table import Column


def non_uniform_entropy(release: Release) -> float:
    """The share of all bits that is lost, the mean over quasi-identifiers: 0 exact, 1 nothing left."""
    columns = release.table.quasi_identifiers
    return float(np.mean([entropy_of_column(release, column) for column in columns]))


def entropy_of_column(release: Release, column: Column, form: CellForm | None = None) -> float:
    """The share of a column's bits that is lost."""
    return 0.0 if is_exact(release, column) else entropy_of_spread(spread_of(release, column, form))


def entropy_of_spread(spread: Spread) -> float:
    """The same for a column that is laid out already."""
    return entropy_of_bits(spread.column, bits_covered(spread))


def bits_covered(spread: Spread) -> float:
    """The sum over rows of log2(c), c being how many rows of the original column their cell covers."""
    return float(spread.sizes @ np.log2(spread.n_covered))


def entropy_of_bits(column: Column, covered: float) -> float:
    """The share of a column's bits that is lost, from that sum over all rows of the table."""
    n_rows_of_value = column.total_of_value
    known = _bits(n_rows_of_value)  # the sum over rows of log2(f): the same whatever is published
    lost = covered - known
    most = n_rows_of_value.sum() * np.log2(max(1, n_rows_of_value.sum())) - known
    return max(0.0, lost / most) if most > 0 else 0.0


def _bits(counts: NDArray[np.int64]) -> float:
    some = counts[counts > 0]
    return float(some @ np.log2(some))
