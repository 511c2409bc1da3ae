# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_mondrian.py
"""Repeated cuts: rows in groups, each cut in two for as long as both parts are good enough, decided by sizes, counts or a goal.

`overt.algorithms.mondrian` says how a cut is chosen; Mondrian cuts a table in this way, and blind buckets make their boxes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overt.kernels import mondrian as kernels
from overt.partition import Groups, Partition
from overt.privacy.base import Property, SensitiveProperty
from overt.progress import Progress
from overt.table import Codes, Column, Kind, Table
from overt.threads import n_threads, run_watched
from overt.trace import Trace

CodeBounds = NDArray[np.int64]

STAGE = "Cutting the table into groups"
SMALL = 50_000  # rows below which threads and progress cost more than they give


@dataclass(frozen=True, eq=False)
class CutLayout:
    """The quasi-identifiers as the loops want them, and the parameters of a cut."""

    codes: NDArray[Any]  # (column, place), in as few bytes as the codes need
    rows: Codes  # (place)
    n_codes: CodeBounds  # (column)
    is_range: NDArray[np.bool_]  # (column) -> whether it is published as a range
    unit: int
    kind: int
    choice: int

    @property
    def rule(self) -> kernels.Rule:
        """What a cut is, for the loops."""
        return kernels.Rule(self.n_codes, self.is_range, self.unit, self.kind, self.choice)

    @classmethod
    def of_rows(
        cls, columns: Sequence[Column], rows: Codes, unit: int, *, relaxed: bool, choose: Literal["widest", "gain"]
    ) -> "CutLayout":
        """The layout of some rows, to be cut into groups of at least `unit`; ties of a relaxed cut lie as given."""
        n_codes = np.array([column.n_values for column in columns], np.int64)
        codes = in_few_bytes(np.stack([column.codes[rows] for column in columns]), n_codes)
        if relaxed:
            order = np.lexsort(codes[::-1])
            rows, codes = rows[order], np.ascontiguousarray(codes[:, order])
        return cls(
            codes,
            rows,
            n_codes,
            np.array([column.kind is not Kind.CATEGORY for column in columns]),
            unit,
            kernels.RELAXED if relaxed else kernels.STRICT,
            kernels.GAIN if choose == "gain" else kernels.WIDEST,
        )


def in_few_bytes(codes: NDArray[Any], n_codes: CodeBounds) -> NDArray[Any]:
    """The same codes in two bytes each, if there are few enough."""
    return codes.astype(np.uint16) if n_codes.max() <= np.iinfo(np.uint16).max else codes


@dataclass(frozen=True, eq=False)
class CountVerdict:
    """A goal that is decided by the most frequent value of a part and by its number of different values."""

    values: NDArray[Any]  # (sensitive column, row), in as few bytes as they need
    rule: kernels.ValueLimits

    @classmethod
    def none(cls) -> "CountVerdict":
        """Nothing is asked of values."""
        cap, nothing = np.empty((0, 1), np.int32), np.empty(0, np.int64)
        return cls(np.empty((0, 0), np.uint16), kernels.ValueLimits(cap, nothing, nothing))

    def of_rows(self, rows: Codes) -> NDArray[Any]:
        """(sensitive column, place) -> the value of the row there."""
        return self.values[:, rows] if len(self.values) else np.empty((0, rows.size), self.values.dtype)

    @classmethod
    def of(cls, goal: Property, table: Table) -> "CountVerdict | None":
        """The goal in such numbers; None if it looks at anything else."""
        sizes = np.arange(table.n_rows + 1)
        columns = table.sensitive
        if not columns or any(column.bundles is not None for column in columns):
            return None
        limits = [
            (part.column if isinstance(part, SensitiveProperty) else None, part.limits(sizes)) for part in goal.parts
        ]
        cap = np.empty((len(columns), sizes.size), np.int32)
        least = np.ones(len(columns), np.int64)
        for j, column in enumerate(columns):
            cap[j] = sizes
            for name, limit in limits:
                if limit is None or not limit.is_counted:
                    return None
                if name in (None, column.name):
                    cap[j], least[j] = np.minimum(cap[j], limit.cap), max(least[j], limit.least)
        n_values = np.array([column.n_values for column in columns], np.int64)
        values = np.stack([column.codes for column in columns])
        return cls(in_few_bytes(values, n_values), kernels.ValueLimits(cap, least, n_values))


def cut_by_size(layout: CutLayout, on_progress: Progress) -> tuple[Codes, CodeBounds]:
    """Cut until no part can be cut into two of at least `unit` rows."""
    return cut_by_counts(layout, CountVerdict.none(), on_progress)


def cut_by_counts(layout: CutLayout, verdict: CountVerdict, on_progress: Progress) -> tuple[Codes, CodeBounds]:
    """Cut until no part can be cut into two that satisfy the goal; in threads, the result the same."""
    n_rows = layout.rows.size
    values = verdict.of_rows(layout.rows)
    found = kernels.Found(np.empty_like(layout.rows), np.zeros(n_rows, np.bool_))
    stop = np.zeros(1, np.bool_)
    sides = (
        kernels.Side(layout.codes, values, layout.rows),
        # a column with one code is never moved, and both sides must have it
        kernels.Side(layout.codes.copy(), np.empty_like(values), np.empty_like(layout.rows)),
    )
    most = 0 if n_rows < SMALL or n_threads() == 1 else 1024
    pieces = kernels.Pieces(np.empty((most, 3), np.int64), np.empty((most, layout.n_codes.size), np.int64))
    done = np.zeros((most + 1, 1), np.int64)

    def cut(begin: int, end: int, side: int, distinct: CodeBounds, counter: CodeBounds, piece_size: int) -> int:
        here, there = sides[side], sides[1 - side]
        return kernels.split(
            here, there, begin, end, distinct, layout.rule, verdict.rule, found, counter, stop, piece_size, pieces
        )

    def watch() -> None:
        on_progress(STAGE, int(done.sum()), n_rows)

    top: Callable[[], Any] = partial(cut, 0, n_rows, 0, layout.n_codes, done[-1], n_rows // (8 * n_threads()))
    if n_rows < SMALL:
        top()
    else:
        n_pieces = run_watched([top], stop, watch)[0]
        rest = sorted(range(n_pieces), key=lambda i: pieces.place[i, 0] - pieces.place[i, 1])  # the longest first
        tasks = [
            partial(cut, int(begin), int(end), int(side), pieces.distinct[i], done[i], 0)
            for i in rest
            for begin, end, side in [pieces.place[i]]
        ]
        run_watched(tasks, stop, watch)
    on_progress(STAGE, n_rows, n_rows)
    return found.rows, np.append(np.flatnonzero(found.is_start), n_rows)


def cut_by_verdict(
    layout: CutLayout,
    table: Table,
    goal: Property,
    on_progress: Progress,
    on_round: Callable[[Trace], None] | None = None,
) -> tuple[Codes, CodeBounds]:
    """Cut in rounds: every open group proposes its next cut, the goal judges all parts at once.

    `on_round` is told what was tried in a round.
    """
    n_rows = layout.rows.size
    codes, rows = layout.codes, layout.rows.copy()
    begins, ends = np.array([0], np.int64), np.array([n_rows], np.int64)
    distinct, tried = layout.n_codes[None, :].copy(), np.zeros((1, layout.n_codes.size), np.bool_)
    is_start = np.zeros(n_rows, np.bool_)
    while True:
        cuts = np.empty((begins.size, 3), np.int64)
        kernels.propose_cuts(codes, begins, ends, distinct, tried, layout.rule, cuts)
        is_open = cuts[:, 0] >= 0
        is_start[begins[~is_open]] = True
        begins, ends, cuts = begins[is_open], ends[is_open], cuts[is_open]
        distinct, tried = distinct[is_open], tried[is_open]
        on_progress(STAGE, n_rows - int((ends - begins).sum()), n_rows)
        if not begins.size:
            return rows, np.append(np.flatnonzero(is_start), n_rows)

        sizes, n_left = ends - begins, cuts[:, 2]
        starts = np.append(0, np.cumsum(sizes))
        order = np.empty(starts[-1], np.int32)
        kernels.order_by_cuts(codes, begins, ends, cuts, layout.n_codes, layout.kind, starts, order)
        starts_of_parts = np.append(np.stack([starts[:-1], starts[:-1] + n_left], axis=1).ravel(), starts[-1])
        parts = Groups.of_ranges(table.sensitive, rows[order], starts_of_parts)
        accepted: NDArray[np.bool_] = np.logical_not(goal.breaks(parts).reshape(-1, 2).any(axis=1))
        if on_round is not None:
            on_round(Trace(rows[order], starts_of_parts, cuts[:, 0].astype(np.int32), accepted))

        is_moved = np.repeat(accepted, sizes)
        places = np.arange(order.size) + np.repeat(begins - starts[:-1], sizes)
        put, taken = places[is_moved], order[is_moved]
        for array in (*codes, rows):
            array[put] = array[taken]

        again = ~accepted  # these try their next column; the parts of the others begin afresh
        middles = begins + n_left
        begins = np.concatenate([begins[again], begins[accepted], middles[accepted]])
        ends = np.concatenate([ends[again], middles[accepted], ends[accepted]])
        distinct = np.concatenate([distinct[again], distinct[accepted], distinct[accepted]])
        tried = np.concatenate([tried[again], np.zeros((2 * int(accepted.sum()), tried.shape[1]), np.bool_)])


def join_traces(rounds: Sequence[Trace]) -> Trace:
    """The cuts of all rounds, one round after the other."""
    sizes = [np.diff(tried.starts) for tried in rounds]
    return Trace(
        np.concatenate([np.empty(0, np.int32), *(tried.rows for tried in rounds)]),
        np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]))),
        np.concatenate([np.empty(0, np.int32), *(tried.column_of_cut for tried in rounds)]),
        np.concatenate([np.empty(0, np.bool_), *(tried.is_made for tried in rounds)]),
    )


def partition_of_ranges(rows: Codes, starts: CodeBounds) -> Partition:
    """The partition whose group g is `rows[starts[g]:starts[g + 1]]`."""
    group_of_row = np.empty(rows.size, np.int32)
    group_of_row[rows] = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
    return Partition(group_of_row, starts.size - 1)
