# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_breach.py
"""What the groups of a release show of each quasi-identifier, in codes: what a reader can match people against."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.hierarchy.grid import blocks_of
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.counting import count_values_in_ranges, starts_of
from overt.kernels.ordering import bounds_beside
from overt.kernels.shown_cells import bits_of_ranges, bits_of_sets
from overt.partition import Partition
from overt.release import CrossBucketRelease
from overt.table import Codes, Column, Kind

WORD = 64


@dataclass(frozen=True, eq=False)
class Shown:
    """Ranges of numbers and dates, labels of categories with a hierarchy, sets of other categories."""

    least: Codes  # (column, group)
    greatest: Codes
    or_missing: NDArray[np.bool_]  # (column, group) -> whether missing is shown beside a range
    missing: Codes  # (column) -> the code of missing, or -1
    first_word: NDArray[np.int64]  # (column + 1) -> where its words begin; a range has none
    words: NDArray[np.uint64]  # (word, group)

    @classmethod
    def of(cls, columns: Sequence[Column], groups: Partition, *, on_grid: bool = False) -> "Shown":
        """What groups show in the forms that are usual for the columns, or on their grids."""
        bounds, words = [], []
        for column in columns:
            if column.kind is Kind.CATEGORY:
                bounds.append(np.zeros((groups.n_groups, 3), np.int32))
                words.append(_category_words(column, groups))
            else:
                missing = -1 if column.missing_code is None else column.missing_code
                beside = bounds_beside(column.codes, groups.rows, groups.starts, missing)
                if on_grid and (blocks := blocks_of(column)) is not None:
                    beside[:, :2] = np.where(
                        beside[:, :1] < 0, beside[:, :2], blocks.outward(np.maximum(beside[:, :2], 0), None)
                    )
                beside[beside[:, 0] < 0, :2] = (1, 0)  # missing alone: a range that holds nothing
                bounds.append(beside)
                words.append(np.empty((0, groups.n_groups), np.uint64))
        stacked = np.stack(bounds)
        return cls(
            np.ascontiguousarray(stacked[..., 0]),
            np.ascontiguousarray(stacked[..., 1]),
            stacked[..., 2] > 0,
            np.array([-1 if column.missing_code is None else column.missing_code for column in columns], np.int32),
            starts_of(np.array([len(of_column) for of_column in words], np.int64)),
            np.concatenate(words),
        )

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """As the kernels want them."""
        return self.least, self.greatest, self.or_missing, self.missing, self.first_word, self.words


def _category_words(column: Column, groups: Partition) -> NDArray[np.uint64]:
    words: NDArray[np.uint64]
    n_words = -(-column.n_values // WORD)
    if column.hierarchy is None:
        words = bits_of_sets(column.codes, groups.rows, groups.starts, n_words)
        return words
    tree, box = column.hierarchy, bounds_of_groups(column.codes, groups.rows, groups.starts)
    node = tree.common_ancestor(box[:, 0], box[:, 1])
    first = tree.first_leaf_of_node[node].astype(np.int32)
    words = bits_of_ranges(first, first + tree.n_leaves_of_node[node].astype(np.int32) - 1, n_words)
    return words


def buckets_by_group(release: CrossBucketRelease) -> tuple[NDArray[np.int64], Codes, NDArray[np.int64]]:
    """(first, bucket, rows shared): the buckets that each group has rows in."""
    groups, buckets = release.partition, release.buckets
    of_group: tuple[NDArray[np.int64], Codes, NDArray[np.int64]] = count_values_in_ranges(
        buckets.group_of_row[groups.rows], groups.starts, buckets.n_groups
    )
    return of_group


def groups_by_bucket(release: CrossBucketRelease) -> tuple[NDArray[np.int64], Codes, NDArray[np.int64]]:
    """(first, group, rows shared): the groups that each bucket has rows of."""
    groups, buckets = release.partition, release.buckets
    of_bucket: tuple[NDArray[np.int64], Codes, NDArray[np.int64]] = count_values_in_ranges(
        groups.group_of_row[buckets.rows], buckets.starts, groups.n_groups
    )
    return of_bucket
