# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Normalised certainty penalty: how much of each column's range a group still covers.

J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-Based Anonymization Using Local Recoding", KDD 2006.
The penalty of a cell is (greatest - least) / (range of the column) for numbers and dates and
(different values - 1) / (values of the column - 1) for categories; of a release, the mean over all cells. It is
taken of the smallest box around the rows of a group, so it scores the grouping, not how it is printed.
"""

import numpy as np
from numpy.typing import NDArray

from overt.kernels.counting import count_values_in_ranges
from overt.release import GeneralizedRelease, Release
from overt.table import Column, Kind


def certainty_penalty(release: GeneralizedRelease) -> float:
    """The mean penalty over all cells: 0 if every value is exact, 1 if every group covers everything.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"])
    >>> certainty_penalty(Mondrian(goal=KAnonymity(table.n_rows)).anonymize(table))
    1.0
    """
    sizes = release.partition.sizes
    columns = release.table.quasi_identifiers
    penalties = [
        penalty_of_groups(column, release, boxes) @ sizes for column, boxes in zip(columns, release.boxes, strict=True)
    ]
    return float(sum(penalties)) / (len(columns) * max(1, release.table.n_rows))


def penalty_of_groups(column: Column, release: Release, boxes: NDArray[np.int32]) -> NDArray[np.float64]:
    """(group) -> the penalty of one column."""
    if column.n_values < 2:
        return np.zeros(release.n_groups)
    if column.kind is Kind.CATEGORY or column.missing_code is not None:  # a missing value lies at no distance
        first, _, _ = count_values_in_ranges(
            column.codes[release.partition.rows], release.partition.starts, column.n_values
        )
        return (np.diff(first) - 1) / (column.n_values - 1)
    position = column.values.to_physical().cast(float).to_numpy()
    return (position[boxes[:, 1]] - position[boxes[:, 0]]) / (position[-1] - position[0])
