# SPDX-License-Identifier: Apache-2.0
# Tested through tests/analysis/test_estimates.py
"""Strata as a reader finds them: which buckets were dealt together, from what their lines show.

No box and no bucket is in two strata, so buckets with a box in common are in one. But two boxes can look alike: a label of a hierarchy, or a block
of a grid, may lie on both sides of the border of two strata, and then different strata hang together. What parts them is the border itself: a place
in a column of numbers or dates such that every bucket lies on one side of it, but for the block that it runs through. Buckets dealt from both sides
would hardly ever all do that; a border is believed in only where chance would make it less often than once in 2 ** `EVIDENCE`.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from overt.analysis.read_columns import ReadColumn

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
EVIDENCE = 40.0  # bits
MOST_IN_DOUBT = 0.01  # of the buckets that a border parts: those whose lines all lie in the block that it runs through


def find_strata(
    bucket_of_row: Counts, box_of_row: Counts, columns: Sequence[ReadColumn], n_strata: int
) -> Counts | None:
    """(bucket) -> its stratum, if there are so many strata; None if not so many are found."""
    stratum = components(bucket_of_row, box_of_row)
    n_found, left = int(stratum.max(initial=-1)) + 1, list(range(int(stratum.max(initial=-1)) + 1))
    while n_found < n_strata and left:
        part = left.pop(0)
        goes = _beyond_a_border(stratum == part, bucket_of_row, box_of_row, columns)
        if goes is not None:
            stratum[goes] = n_found
            left += [part, n_found]
            n_found += 1
    return stratum if n_found == n_strata else None


def components(bucket_of_row: Counts, box_of_row: Counts) -> Counts:
    """(bucket) -> the number of the buckets that are linked to it by boxes in common, over any number of steps."""
    n_buckets, n_boxes = (int(of_row.max(initial=-1)) + 1 for of_row in (bucket_of_row, box_of_row))
    label = np.arange(n_buckets)
    while True:
        of_box = np.full(n_boxes, n_buckets)
        np.minimum.at(of_box, box_of_row, label[bucket_of_row])
        lower = label.copy()
        np.minimum.at(lower, bucket_of_row, of_box[box_of_row])
        lower = lower[lower]
        if (lower == label).all():
            return np.unique(label, return_inverse=True)[1].reshape(-1)
        label = lower


def _beyond_a_border(
    in_part: Flags, bucket_of_row: Counts, box_of_row: Counts, columns: Sequence[ReadColumn]
) -> Counts | None:
    """The buckets of a part that lie beyond the border for which there is the most evidence; None if there is none."""
    rows = np.flatnonzero(in_part[bucket_of_row])
    buckets, bucket = np.unique(bucket_of_row[rows], return_inverse=True)
    best, found = EVIDENCE, None
    for column in columns:
        if column.scale == "categories":
            continue  # its sets are exact: boxes on different sides never look alike
        for before, beyond in _borders(column, column.cell_of_row[rows], bucket, buckets.size):
            evidence, sides = _weigh(bucket, buckets.size, before, beyond)
            if evidence > best:
                best, found = evidence, sides
    if found is None:
        return None
    return buckets[_settled(found, bucket, box_of_row[rows])]


def _borders(column: ReadColumn, cell: Counts, bucket: Counts, n_buckets: int) -> Iterator[tuple[Flags, Flags]]:
    """For every place where a border could be, because no bucket is on both sides, which rows are surely before it, and which beyond."""
    # missing values come after all others
    may_miss = np.array([one.may_be_missing for one in column.cells])
    least = np.array([np.inf if one.is_missing else one.least for one in column.cells])[cell]
    greatest = np.where(may_miss, np.inf, [one.greatest for one in column.cells])[cell]
    lowest, highest = np.full(n_buckets, np.inf), np.full(n_buckets, -np.inf)
    np.minimum.at(lowest, bucket, least)
    np.maximum.at(highest, bucket, greatest)
    begins = np.unique(least)
    for end in np.unique(greatest[np.isfinite(greatest)]):
        earlier = begins[begins < end]
        if earlier.size and end < greatest.max() and not ((lowest < earlier[-1]) & (highest > end)).any():
            yield least < earlier[-1], greatest > end  # between them is the block that the border may run through


def _weigh(bucket: Counts, n_buckets: int, before: Flags, beyond: Flags) -> tuple[float, NDArray[np.int8]]:
    """How hard it is for chance to put every bucket on one side, in bits; and the sides: -1, 1, or 0 if in doubt."""
    none = -np.inf, np.empty(0, np.int8)
    n_before, n_beyond = (np.bincount(bucket[of], minlength=n_buckets) for of in (before, beyond))
    if not n_before.any() or not n_beyond.any():
        return none
    sides = (n_beyond > 0).astype(np.int8) - (n_before > 0)
    if np.count_nonzero(sides == 0) > MOST_IN_DOUBT * n_buckets:
        return none
    n_sure = n_before + n_beyond
    share = n_before.sum() / n_sure.sum()
    alike = share ** n_sure[n_sure > 0].astype(np.float64) + (1 - share) ** n_sure[n_sure > 0].astype(np.float64)
    return float(-np.log2(np.maximum(alike, 1e-300)).sum()), sides


def _settled(sides: NDArray[np.int8], bucket: Counts, box: Counts) -> Flags:
    """(bucket) -> whether it is beyond: of the few in doubt, where boxes like theirs are more usual."""
    box = np.unique(box, return_inverse=True)[1]
    usual = []
    for side in (-1, 1):
        here = sides[bucket] == side
        n_of_box = np.bincount(box[here], minlength=int(box.max()) + 1) + 0.5
        usual.append(np.log(n_of_box / n_of_box.sum()))
    leans = np.bincount(bucket, (usual[1] - usual[0])[box], sides.size)
    settled: Flags = np.where(sides == 0, leans > 0, sides > 0)
    return settled
