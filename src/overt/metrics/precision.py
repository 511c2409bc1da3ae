# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Precision: how far up the hierarchies the cells of a release are.

L. Sweeney, "Achieving k-Anonymity Privacy Protection Using Generalization and Suppression", 2002 (Definition 6): one
minus the mean over all cells of level / height. The level of a cell is that of the lowest node which covers the
group, in a full-domain release that of its node. A column without a hierarchy has two levels, exact or not. Suppressed
rows have no precision.
"""

import numpy as np

from overt.metrics.expected_counts import is_exact, spreads_of
from overt.release import Release
from overt.table import Column


def precision(release: Release) -> float:
    """The mean precision over all cells of the quasi-identifiers: 1 if every value is exact, 0 if every cell is `*`."""
    columns = release.table.quasi_identifiers
    return float(np.mean([precision_of_column(release, column) for column in columns]))


def precision_of_column(release: Release, column: Column) -> float:
    """The mean precision over the cells of one column."""
    if is_exact(release, column) or not release.table.n_rows:
        return 1.0
    n_rows = release.table.n_rows
    if (level := release.level_of(column)) is not None:
        n_levels = 2 if column.hierarchy is None else column.hierarchy.n_levels
        return (1 - level / (n_levels - 1)) * (n_rows - release.n_suppressed) / n_rows
    spread = spreads_of(release)[column.name]
    first, last = spread.least[spread.first[:-1]], spread.greatest[spread.first[1:] - 1]
    if column.hierarchy is None:
        heights = (spread.n_values_covered > 1).astype(np.float64)
    else:
        nodes = column.hierarchy.common_ancestor(first, last)
        heights = column.hierarchy.level_of_node[nodes] / (column.hierarchy.n_levels - 1)
    return 1 - float(heights @ spread.sizes) / n_rows
