# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/learner/test_log_linear.py
"""Indicators: which level of each quasi-identifier a row has, and which pair of levels of every two.

Only quasi-identifiers are looked at, which the adversary knows of everybody: what comes out says nothing about values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.table import Codes, Column, Kind

MOST_LEVELS = 32  # of a category: its most frequent values, the others together
MOST_INTERVALS = 16  # of a number or a date, with about the same number of rows
LEAST_ROWS = 3  # a pair of levels that fewer rows have teaches nothing
MOST_PAIRS = 190  # of columns: those of the first 20

EVERYBODY, LEVEL, PAIR = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Indicators:
    """What a log-linear model looks at: row i has the features `active[i]`, -1 where it has none."""

    active: Codes  # (row, everybody and columns and pairs)
    kind: NDArray[np.int8]  # (feature) -> EVERYBODY, LEVEL or PAIR

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "Indicators":
        """The indicators of all rows of some columns.

        >>> import overt
        >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex", "Postcode"])
        >>> Indicators.of(table.quasi_identifiers).active.shape[1]  # everybody, two columns, one pair
        4
        """
        levels = [levels_of(column) for column in columns]
        kinds = [EVERYBODY]
        active: list[NDArray[np.integer[Any]]] = [np.zeros(columns[0].codes.size, np.int64)]
        for level, n_levels in levels:
            active.append(level + len(kinds))
            kinds += [LEVEL] * n_levels
        for (one, _), (other, n_levels) in list(combinations(levels, 2))[:MOST_PAIRS]:
            pair = one.astype(np.int64) * n_levels + other
            _, place, count = np.unique(pair, return_inverse=True, return_counts=True)
            is_kept = count >= LEAST_ROWS
            number = np.where(is_kept, np.cumsum(is_kept) - 1 + len(kinds), -1)
            active.append(number[place])
            kinds += [PAIR] * int(is_kept.sum())
        return cls(np.stack(active, axis=1).astype(np.int32), np.array(kinds, np.int8))

    @property
    def n_features(self) -> int:
        return int(self.kind.size)


def levels_of(column: Column) -> tuple[Codes, int]:
    """(row) -> its level of a column, and how many levels there are."""
    level_of_value, n_levels = levels_of_values(column, MOST_LEVELS, MOST_INTERVALS)
    return level_of_value[column.codes], n_levels


def levels_of_values(column: Column, most: int, most_intervals: int) -> tuple[Codes, int]:
    """(value) -> a level: itself if there are few; else intervals of values in order, or frequent categories and the others.

    Numbers, dates and categories with a hierarchy are in order: neighbours are alike.
    """
    if column.n_values <= most:
        return np.arange(column.n_values, dtype=np.int32), column.n_values
    total = column.total_of_value
    if column.kind is Kind.CATEGORY and column.hierarchy is None:
        rank = np.empty(column.n_values, np.int32)
        rank[np.argsort(-total, kind="stable")] = np.arange(column.n_values)
        return np.minimum(rank, most - 1).astype(np.int32), most
    middle = np.cumsum(total) - total / 2
    interval = np.minimum(middle / max(total.sum(), 1) * most_intervals, most_intervals - 1).astype(np.int64)
    present, level = np.unique(interval, return_inverse=True)
    return level.astype(np.int32), present.size
