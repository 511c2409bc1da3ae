# SPDX-License-Identifier: Apache-2.0
"""Truth of generalized lines: whether an original row can be behind every line, each row behind one only.

A row can be behind a line if every cell covers the row's value and the values shown as they are agree. Nothing
says which row it was, so the question is a matching of rows to lines. It is decided exactly: lines of one group
with the same value are as many seats, and a maximum matching leaves nobody standing if the release is true.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overt.checks.published_lines import Key, counts_by_group, first_of_each, group_alike
from overt.checks.reading import Readings
from overt.kernels.matching import seat_points
from overt.partition import Counts, Partition
from overt.table import Codes, Table
from overt.threads import n_threads


@dataclass(frozen=True, eq=False)
class Boxes:
    """What each group of lines covers: one reading per column, all columns' readings in one list of runs."""

    reading_of_box: Codes  # (group, column)
    first: Counts
    least: Codes
    greatest: Codes

    @classmethod
    def of(cls, readings: Sequence[Readings], text_of_group: Sequence[Codes]) -> "Boxes":
        """From the readings of every column and the text that each group shows there."""
        n_texts = np.cumsum([0, *(reading.n_texts for reading in readings)])
        n_runs = np.cumsum([0, *(reading.least.size for reading in readings)])
        firsts = [reading.first[:-1] + runs for reading, runs in zip(readings, n_runs, strict=False)]
        return cls(
            np.stack([texts + base for texts, base in zip(text_of_group, n_texts, strict=False)], 1).astype(np.int32),
            np.concatenate([*firsts, n_runs[-1:]]),
            np.concatenate([reading.least for reading in readings]),
            np.concatenate([reading.greatest for reading in readings]),
        )

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """As the kernel wants them: hulls of boxes, which of them have no gaps, readings, runs."""
        least, greatest = Readings(self.first, self.least, self.greatest).hulls
        has_gaps = np.diff(self.first) > 1
        hulls = least[self.reading_of_box], greatest[self.reading_of_box]
        is_full = np.asarray(~has_gaps[self.reading_of_box].any(axis=1))
        return *hulls, is_full, self.reading_of_box, self.first, self.least, self.greatest


@dataclass(frozen=True)
class Match:
    """A maximum matching of rows to lines: how many pairs, and how many rows had more than one group to go to."""

    n_matched: int
    n_with_choice: int


def match_rows(
    table: Table, value_of_row: Codes, groups: Partition, boxes: Boxes, value_of_line: Codes, n_values: int
) -> Match:
    """Match as many rows as can be to lines that cover them and show their value."""
    columns = table.quasi_identifiers
    points = group_alike([Key(value_of_row, n_values), *(Key(c.codes, max(1, c.n_values)) for c in columns)])
    some_row = first_of_each(points)
    codes = np.stack([column.codes[some_row] for column in columns], 1)
    first_point = np.searchsorted(value_of_row[some_row], np.arange(n_values + 1))
    group_of_seat, _, capacity, first_seat = counts_by_group(groups, value_of_line, n_values)
    standing, arrays = points.sizes.copy(), boxes.arrays()

    def seat(values: tuple[int, int]) -> int:
        these = slice(values[0], values[1] + 1)
        return int(seat_points(codes, standing, first_point[these], group_of_seat, capacity, first_seat[these], arrays))

    with ThreadPoolExecutor(max_workers=n_threads()) as pool:  # values do not meet, so threads do not either
        n_with_choice = sum(pool.map(seat, share_out(first_point, 4 * n_threads())))
    return Match(table.n_rows - int(standing.sum()), n_with_choice)


def share_out(first_point: Counts, n_shares: int) -> list[tuple[int, int]]:
    """Ranges of values with about equally many points: at most `n_shares`, none of them empty."""
    ends = np.searchsorted(first_point[1:], np.linspace(0, first_point[-1], n_shares + 1)[1:]) + 1
    bounds = np.unique(np.concatenate([[0], ends.clip(max=first_point.size - 1)]))
    return list(pairwise(bounds.tolist()))
