# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""What somebody who also knows how many rows everybody has believes of a release that was made for those who do not.

They know in which bucket each person is, which is more than the release shows, and that only a bundle of the right length can be theirs.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from overt.release import Release


@dataclass(frozen=True)
class KnownCounts:
    """Of how many persons their number of rows tells how much."""

    column: str
    n_persons: int
    n_alone: int  # nobody else of their bucket has as many rows: all of their rows are known
    n_above: int  # some value is theirs with more than the release says of anybody
    highest: Fraction


def find_known_counts(release: Release) -> tuple[KnownCounts, ...]:
    """For every sensitive column; nothing where the number of rows counts as known."""
    found = []
    for column in release.table.judged:
        bundles = column.bundles
        if bundles is None or bundles.by_length:
            continue
        bucket = release.value_groups.group_of_row.astype(np.int64)
        alike = bucket * (int(bundles.lengths.max()) + 1) + bundles.lengths[column.codes]
        _, same, n_same = np.unique(alike, return_inverse=True, return_counts=True)
        greatest = []
        for group, of_person in ((same, n_same), (bucket, np.bincount(bucket))):
            first, code = bundles.members(column.codes)
            at = np.repeat(group.astype(np.int64), np.diff(first)) * bundles.n_values + code
            pairs, n_have = np.unique(at, return_counts=True)
            most = np.zeros(of_person.size, np.int64)
            np.maximum.at(most, pairs // bundles.n_values, n_have)
            greatest.append((most, of_person))
        (most, size), (usual, of_bucket) = greatest
        bound = max(Fraction(int(a), int(b)) for a, b in zip(usual.tolist(), of_bucket.tolist(), strict=True))
        is_above = np.array(
            [Fraction(int(a), int(b)) > bound for a, b in zip(most.tolist(), size.tolist(), strict=True)]
        )
        found.append(
            KnownCounts(
                column.name,
                release.table.n_rows,
                int((n_same[same] == 1).sum()),
                int(is_above[same].sum()),
                max(Fraction(int(a), int(b)) for a, b in zip(most.tolist(), size.tolist(), strict=True)),
            )
        )
    return tuple(found)
