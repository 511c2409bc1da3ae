# SPDX-License-Identifier: Apache-2.0
"""Breach probability: how surely a release tells somebody's sensitive value, and which record is whose.

Paper       B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization", TKDE 2018, Section 2.2 (a person whose
            group is known) and Section 4.1 (people matched by their quasi-identifiers; boxes may overlap).
Implements  Both forms for groups and buckets; releases without buckets count a group as one, and those without boxes
            take rows that are alike for a group.
Departs     The paper looks at a person's own value; here every value of every group is looked at, because what
            bounds one bounds the other only if it bounds all.
Guarantee   Exact fractions. The second form is a mean of the first over the groups that match, so a release whose
            `largest_breach` is at most 1/l never shows more than 1/l in either.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.counting import count_values_in_ranges
from overt.kernels.diversity import largest_counts
from overt.kernels.shown_cells import matching_weights
from overt.metrics.shown_cells import Shown, buckets_by_group
from overt.partition import Counts, Histogram, Partition
from overt.privacy.exactness import greatest_ratio
from overt.release import Release
from overt.table import Column


def breach_of_group(release: Release, group: int, column: str | None = None) -> dict[int, Fraction]:
    """What is believed of a member of a group: value (its code) -> probability.

    >>> from overt.release import CrossBucketRelease
    >>> from overt.partition import Partition
    >>> import overt, polars as pl
    >>> frame = pl.DataFrame({"Age": [16, 22, 24, 26], "Disease": ["flu", "gout", "cold", "asthma"]})
    >>> table = overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["Disease"])
    >>> groups, buckets = Partition.from_groups([[0, 2], [1, 3]]), Partition.from_groups([[0, 1], [2, 3]])
    >>> breach_of_group(CrossBucketRelease(table, groups, None, buckets), 0)
    {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 4), 3: Fraction(1, 4)}
    """
    beliefs = _beliefs(release, column)
    here = slice(beliefs.first[group], beliefs.first[group + 1])
    assert beliefs.out_of is not None
    total = int(beliefs.out_of[group])
    weighted = zip(beliefs.value[here].tolist(), beliefs.count[here].tolist(), strict=True)
    return {value: Fraction(weight, total) for value, weight in weighted}


def largest_breach(release: Release, column: str | None = None) -> Fraction:
    """The largest probability of any value for a member of any group: at most 1/l in an l-diverse release."""
    beliefs = _beliefs(release, column)
    assert beliefs.out_of is not None
    return greatest_ratio(largest_counts(beliefs.first, beliefs.count), beliefs.out_of)


def identity_disclosure(release: Release) -> Fraction:
    """The largest probability that a record is somebody's, for someone who can place people in groups."""
    return Fraction(1, int(release.crossed().partition.sizes.min()))


@dataclass(frozen=True, eq=False)
class MatchedBreach:
    """For every row: its own value's probability, when people are matched by their quasi-identifiers.

    The probability of row r is the sum over sizes of `weight[r, i] / size[i]`, divided by `n_matches[r]`. Nothing matches
    a suppressed row that is like no other; nothing is believed of it.
    """

    size: Counts
    weight: Counts
    n_matches: Counts

    def __len__(self) -> int:
        return int(self.n_matches.size)

    def __getitem__(self, row: int) -> Fraction:
        parts = zip(self.weight[row].tolist(), self.size.tolist(), strict=True)
        return sum((Fraction(weight, size) for weight, size in parts), Fraction(0)) / max(int(self.n_matches[row]), 1)

    def largest(self) -> Fraction:
        """The largest of them, found among those that are largest to the precision of a float."""
        floats = self.floats()
        return max(self[int(row)] for row in np.flatnonzero(floats >= floats.max() * (1 - 1e-9)))

    def floats(self) -> NDArray[np.float64]:
        """All of them, rounded: for plots."""
        probability: NDArray[np.float64] = (self.weight / self.size).sum(axis=1) / np.maximum(self.n_matches, 1)
        return probability


def matched_breach(release: Release, column: str | None = None) -> MatchedBreach:
    """The probability of every row's own value, over all published records that match the row's quasi-identifiers.

    The time grows with people times groups: tens of thousands of rows, not millions.
    """
    crossed = release.crossed()
    sensitive = _sensitive(release, column)
    columns, buckets = release.table.quasi_identifiers, crossed.buckets
    people = Partition.of_columns(columns)
    rows, some = people.rows, people.rows[people.starts[:-1]]
    persons = np.stack([c.codes[some] for c in columns], axis=1)
    held = count_values_in_ranges(sensitive.codes[buckets.rows], buckets.starts, sensitive.n_values)
    size, class_of_bucket = np.unique(buckets.sizes, return_inverse=True)
    weight, n_matches = matching_weights(
        persons, people.starts, sensitive.codes[rows], Shown.of(columns, crossed.partition, on_grid=release.shows_on_grid).arrays(),
        buckets_by_group(crossed), held, class_of_bucket, size.size, sensitive.n_values,
    )  # fmt: skip
    by_row = np.argsort(rows)
    return MatchedBreach(size, weight[by_row], n_matches[by_row])


def _beliefs(release: Release, column: str | None) -> Histogram:
    return release.crossed().groups.histograms[_sensitive(release, column).name]


def _sensitive(release: Release, column: str | None) -> Column:
    if column is None:
        return release.table.the_sensitive("A breach probability")
    found = release.table.column(column)
    if found not in release.table.sensitive:
        raise InvalidInput(f"A breach probability is asked for {column!r}, which is no sensitive column.")
    return found
