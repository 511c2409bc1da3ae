# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Anatomy at scale: the buckets are planned from counts, and who of a value goes where is decided by rank among its coins.

The plan is that of one machine (`overt.algorithms.anatomy`): which values a bucket holds follows from how often each occurs and from draws that nobody's row has a say
in, and so does the bucket of each row that is left over. The rows of a value take its places in the order of their coins, which is uniform (`rank_intervals`). Buckets
are numbered as they are planned, so that a number tells nothing that the values of the bucket do not. The plan lists all places, which bounds the
rows of a table.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.anatomy import assign_residue, require_eligible
from overt.engine.scale.fragment_lines import BUCKET, ShownLines, order_lines
from overt.engine.scale.groups_by_draw import MOST_LISTED, ValueInStratum
from overt.engine.scale.made_tables import MadeTables
from overt.engine.scale.rank_intervals import Ranked, RankIntervals, rank_by_coins
from overt.engine.scale.row_strata import OneStratum
from overt.engine.scale.scaled_methods import PlansBuckets
from overt.engine.scale.seam import RowBatch, column_of, n_fragments_of
from overt.engine.scale.staging import TWO_COINS, Staged
from overt.errors import TooLarge
from overt.kernels.anatomy import create_buckets
from overt.kernels.counting import starts_of
from overt.privacy.base import exact
from overt.progress import Progress
from overt.table import Codes, Column


@dataclass(frozen=True, eq=False)
class PublishExactly:
    """The lines of some buckets: some columns as they are, beside the number of the bucket."""

    ranked: Ranked
    first_of_value: NDArray[np.int64]
    bucket_of_place: Codes
    columns: tuple[Column, ...]
    names: tuple[str, ...]  # what their codes are called
    lines: ShownLines

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        value, rank, _ = self.ranked.ranks(rows)
        bucket = self.bucket_of_place[self.first_of_value[value] + rank].astype(np.int64)
        codes = [column_of(rows, name) for name in self.names]
        order = order_lines([bucket, *codes])
        shown = {c.name: self.lines.values(c, of[order]) for c, of in zip(self.columns, codes, strict=True)}
        return self.lines.frame({BUCKET: pl.Series(bucket[order] + 1), **shown})


def make_buckets_by_plan(
    staged: Staged, method: PlansBuckets, lines: ShownLines, on_progress: Progress, rng: Generator
) -> MadeTables:
    """The release of Anatomy."""
    column, l = staged.table().the_sensitive("Anatomy"), int(exact(method.goal.l))
    if staged.n_rows > MOST_LISTED:
        raise TooLarge(
            f"anatomy lists its buckets one by one, and the table has {staged.n_rows:,} rows; up to {MOST_LISTED:,} can be listed. Use "
            "blind-buckets, which needs no list."
        )
    require_eligible(column, l)
    on_progress("Planning buckets", 0, 0)
    value_of_place = np.repeat(np.arange(column.n_values, dtype=np.int32), column.total_of_value)
    places = np.arange(staged.n_rows, dtype=np.int32)
    bucket_of_place, n_buckets, left = create_buckets(value_of_place, places, rng.permutation(column.n_values), l)
    assign_residue(bucket_of_place, left, value_of_place, n_buckets, rng)
    n_fragments = min(n_fragments_of(staged.engine, staged.n_rows), n_buckets)
    begin = np.arange(n_fragments + 1, dtype=np.int64) * n_buckets // n_fragments
    fragment = np.searchsorted(begin, bucket_of_place, side="right") - 1
    first = starts_of(column.total_of_value)
    begins: list[list[tuple[int, int]]] = [[] for _ in range(column.n_values)]
    is_new = np.ones(places.size, np.bool_)
    is_new[1:] = (fragment[1:] != fragment[:-1]) | (value_of_place[1:] != value_of_place[:-1])
    for place in np.flatnonzero(is_new).tolist():
        v = int(value_of_place[place])
        begins[v].append((place - int(first[v]), int(fragment[place])))
    value_of = ValueInStratum(OneStratum(), column.n_values)
    ranked = rank_by_coins(staged, value_of, column.n_values, RankIntervals.of(begins))
    tables = {}
    for name, columns, names in (
        ("quasi-identifiers", staged.quasi_identifiers, staged.quasi_names),
        ("sensitive", staged.sensitive, staged.sensitive_names),
    ):
        publish = PublishExactly(ranked, first[:-1], bucket_of_place, columns, names, lines)
        needed = staged.engine.only(staged.data, list(dict.fromkeys((*names, *staged.sensitive_names, *TWO_COINS))))
        tables[name] = staged.engine.apply(needed, ranked, publish, exact_like(lines, columns))
    return MadeTables(tables, n_fragments)


def exact_like(lines: ShownLines, columns: tuple[Column, ...]) -> RowBatch:
    """A frame without lines of the number of a bucket and of columns as they are."""
    empty = {column.name: lines.values(column, np.empty(0, np.int32)) for column in columns}
    return lines.frame({BUCKET: pl.Series([], dtype=pl.Int64), **empty})
