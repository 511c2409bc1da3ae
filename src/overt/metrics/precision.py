# SPDX-License-Identifier: Apache-2.0
"""Precision: how far up the hierarchies the cells of a release are.

L. Sweeney, "Achieving k-Anonymity Privacy Protection Using Generalization and Suppression", 2002 (Definition 6): one
minus the mean over all cells of level / height. The level of a cell is that of the lowest node which covers the
group, in a full-domain release that of its node. A column without a hierarchy has two levels, exact or not. Suppressed
rows have no precision.
"""

import numpy as np
from numpy.typing import NDArray

from overt.metrics.spread import is_exact
from overt.release import FullDomainRelease, Release
from overt.table import Column


def precision(release: Release) -> float:
    """The mean precision over all cells of the quasi-identifiers: 1 if every value is exact, 0 if every cell is `*`."""
    columns = release.table.quasi_identifiers
    return float(np.mean([precision_of_column(release, column) for column in columns]))


def precision_of_column(release: Release, column: Column) -> float:
    """The mean precision over the cells of one column."""
    if is_exact(release, column) or not release.table.n_rows:
        return 1.0
    n_suppressed, n_rows = release.n_suppressed, release.table.n_rows
    if isinstance(release, FullDomainRelease):
        level, n_levels = (
            release.level_of_column[column.name],
            2 if column.hierarchy is None else column.hierarchy.n_levels,
        )
        return (1 - level / (n_levels - 1)) * (n_rows - n_suppressed) / n_rows
    position = [known.name for known in release.table.quasi_identifiers].index(column.name)
    heights = _share_of_height(column, release.boxes[position])
    return 1 - (float(heights @ release.partition.sizes) + n_suppressed) / n_rows


def _share_of_height(column: Column, boxes: NDArray[np.int32]) -> NDArray[np.float64]:
    """(group) -> the level of its cell as a share of the height of the hierarchy."""
    least, greatest = boxes.T
    if column.hierarchy is None:
        return (least != greatest).astype(np.float64)
    nodes = column.hierarchy.common_ancestor(least, greatest)
    return column.hierarchy.level_of_node[nodes] / (column.hierarchy.n_levels - 1)
