# SPDX-License-Identifier: Apache-2.0
"""Query workload error: how far COUNT queries answered from a release are from the truth.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, section 4.2; the estimate from boxes is that of
            K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian", ICDE 2006.
Implements  Random queries per predicate type, the uniform-in-box estimate, and the error
            |actual - estimate| / max(actual, 0.5 % of n), averaged. `even_in_cells` is the same estimate for cells as they are published.
Departs     The paper does not say how queries are drawn, nor whether they ask for a sensitive value. Here a range is
            uniform among all ranges of a column but the one that covers everything; a query also asks for a
            random set of sensitive values unless `sensitive=False`, because without one every method looks good.
            A box is a range of codes in every column, also of categories, which readers are shown as sets or labels: `uniform_in_box` takes
            it as that range, and so spreads rows over values that the set does not name. `query_workload_error` does not.
Guarantee   `actual_counts` is exact; `uniform_in_box` agrees with `uniform_in_box_exactly` up to rounding.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.query_workload import answer_from_items, answer_from_shapes, collect_by_shape, count_in_ranges
from overt.metrics.expected_counts import Spread, spreads_of
from overt.partition import Histogram
from overt.release import GeneralizedRelease, Release
from overt.table import Codes, Column, Table, unknown_column

Estimate = NDArray[np.float64]

MOST_CELLS = 8_000_000  # of (box, value) numbers that are collected before queries are answered
LEAST_SHARE = Fraction(1, 200)  # errors of rare answers are taken relative to this share of all rows


@dataclass(frozen=True)
class CountQuery:
    """A question: how many rows are in these ranges of codes (both ends included) and have one of these values."""

    ranges: Mapping[str, tuple[int, int]]
    sensitive: frozenset[int] | None = None  # codes of the sensitive column; None asks for any


@dataclass(frozen=True, eq=False)
class Workload:
    """Many count queries on the same columns of one table."""

    columns: tuple[str, ...]
    least: Codes  # (query, column) -> first code of the range
    greatest: Codes  # (query, column) -> last code of the range
    wanted: NDArray[np.bool_]  # (query, value) -> whether the query asks for this sensitive value
    about: str | None = None  # the sensitive column that is asked for; None: the only one

    def __len__(self) -> int:
        return len(self.least)

    @classmethod
    def of(cls, table: Table, queries: Sequence[CountQuery]) -> "Workload":
        """The workload of these queries."""
        known = {column.name: column for column in table.quasi_identifiers}
        for name in {name for query in queries for name in query.ranges}:
            if name not in known:
                raise unknown_column(name, known)
        names = tuple(name for name in known if any(name in query.ranges for query in queries))
        bounds = [[query.ranges.get(name, (0, known[name].n_values - 1)) for name in names] for query in queries]
        ranges = np.array(bounds, np.int32).reshape(len(queries), len(names), 2)
        wanted = np.ones((len(queries), the_sensitive(table).n_values), np.bool_)
        for q, query in enumerate(queries):
            if query.sensitive is not None:
                wanted[q] = np.isin(np.arange(wanted.shape[1]), list(query.sensitive))
        return cls(names, ranges[..., 0].copy(), ranges[..., 1].copy(), wanted)

    @classmethod
    def draw(
        cls,
        table: Table,
        columns: Collection[str],
        n_queries: int,
        rng: Generator,
        *,
        sensitive: bool = True,
        about: str | None = None,
    ) -> "Workload":
        """Random queries with a range on each of these columns and, if asked, a random set of sensitive values."""
        chosen = [column for column in table.quasi_identifiers if column.name in columns]
        if len(chosen) < len(columns):
            raise unknown_column(
                next(name for name in columns if name not in [column.name for column in chosen]),
                [column.name for column in table.quasi_identifiers],
            )
        ranges = [draw_ranges(column, n_queries, rng) for column in chosen]
        n_values = the_sensitive(table, about).n_values
        wanted = np.ones((n_queries, n_values), np.bool_)
        if sensitive and n_values > 1:
            n_wanted = rng.integers(1, n_values, n_queries)  # at least one value, never all of them
            wanted = rng.random((n_queries, n_values)).argsort(axis=1) < n_wanted[:, None]
        least, greatest = (np.stack([bounds[end] for bounds in ranges], axis=1).astype(np.int32) for end in (0, 1))
        return cls(tuple(column.name for column in chosen), least, greatest, wanted, about)


def draw_ranges(column: Column, n_queries: int, rng: Generator) -> tuple[Codes, Codes]:
    """First and last code of random ranges: uniform among all of them except the one that covers everything."""
    n = column.n_values
    starts, ends = np.triu_indices(n)
    narrower = np.flatnonzero((starts > 0) | (ends < n - 1)) if n > 1 else np.zeros(1, np.int64)
    drawn = narrower[rng.integers(narrower.size, size=n_queries)]
    return starts[drawn].astype(np.int32), ends[drawn].astype(np.int32)


def predicate_types(table: Table) -> list[tuple[str, ...]]:
    """The columns of every predicate type: each alone, every pair, and all of them."""
    names = [column.name for column in table.quasi_identifiers]
    sizes = dict.fromkeys((1, 2, len(names)))
    return [chosen for size in sizes for chosen in combinations(names, size)]


def the_sensitive(table: Table, about: str | None = None) -> Column:
    """The sensitive column that queries may ask for: the only one, if none is named."""
    return table.the_sensitive("A query workload") if about is None else table.column(about)


def actual_counts(table: Table, workload: Workload) -> NDArray[np.int64]:
    """The true answers: rows are first counted by the columns that the workload asks about."""
    sensitive = the_sensitive(table, workload.about)
    cells = np.stack([*(table.column(name).codes for name in workload.columns), sensitive.codes], axis=1)
    shape = [table.column(name).n_values for name in workload.columns] + [sensitive.n_values]
    if np.prod(shape, dtype=np.float64) < 2**62:
        numbers, weight = np.unique(np.ravel_multi_index(tuple(cells.T), shape), return_counts=True)
        cells = np.stack(np.unravel_index(numbers, shape), axis=1).astype(np.int32)
    else:
        weight = np.ones(len(cells), np.int64)
    points, values = np.ascontiguousarray(cells[:, :-1]), np.ascontiguousarray(cells[:, -1])
    counts: NDArray[np.int64] = count_in_ranges(
        points, weight, workload.least, workload.greatest, workload.wanted, values
    )
    return counts


@dataclass(frozen=True, eq=False)
class Answers:
    """What the groups of a release say about queries, by stratum and value."""

    hits: Estimate  # (query, stratum, value): the sum over groups of hits times the value's count
    shares: Estimate  # (query, stratum, value): the same, with the value's share of the group for its count


@dataclass(frozen=True, eq=False)
class Reading:
    """A release as a reader of it sees it: per group a box or exact rows, and the sensitive values."""

    release: Release
    strata: tuple[str, ...] = ()
    about: str | None = None

    @cached_property
    def histogram(self) -> Histogram:
        """How often each value occurs in a group; where groups and buckets cross, how often it can be expected to."""
        histogram = self.release.groups.histograms[the_sensitive(self.release.table, self.about).name]
        if histogram.out_of is None:
            return histogram
        rows_of_weight = np.repeat(self.release.partition.sizes / histogram.out_of, np.diff(histogram.first))
        expected: Any = histogram.count * rows_of_weight  # no longer whole numbers
        return replace(histogram, count=expected)

    @cached_property
    def stratum_of_group(self) -> Codes:
        """Groups of one stratum agree on its columns, so any row of a group tells."""
        first_rows = self.release.partition.rows[self.release.partition.starts[:-1]]
        combined = np.zeros(first_rows.size, np.int64)
        for name in self.strata:
            column = self.release.table.column(name)
            combined = np.unique(combined * column.n_values + column.codes[first_rows], return_inverse=True)[1]
        return combined.astype(np.int32)

    @property
    def n_strata(self) -> int:
        return int(self.stratum_of_group.max()) + 1

    def answer(self, workload: Workload) -> Answers:
        """Answer all queries from boxes, or from rows where they are shown: those are boxes of one point."""
        histogram, n_slots = self.histogram, self.n_strata * self.histogram.n_values
        stratum_of_place = np.repeat(self.stratum_of_group, np.diff(histogram.first))
        slot = stratum_of_place * np.int32(histogram.n_values) + histogram.value
        by_slot = (histogram.first, slot, histogram.count)
        box_least, box_greatest, group, hits, shares = self._items(workload.columns)
        shape_of_item, first_item = self._shapes(workload.columns, box_least, box_greatest)
        ranges = (workload.least, workload.greatest)
        if first_item.size * n_slots <= MOST_CELLS and 2 * first_item.size < group.size:
            plain, shared = (np.zeros((first_item.size, n_slots)) for _ in range(2))
            collect_by_shape(shape_of_item, group, hits, shares, *by_slot, plain, shared)
            found = answer_from_shapes(*ranges, box_least[first_item], box_greatest[first_item], plain, shared)
        else:
            found = answer_from_items(*ranges, box_least, box_greatest, group, hits, shares, *by_slot, n_slots)
        return Answers(*(array.reshape(-1, self.n_strata, histogram.n_values) for array in found))

    def _items(self, names: Sequence[str]) -> tuple[Codes, Codes, Codes, Estimate, Estimate]:
        """What can be inside a range: (item, column) -> its box, its group, how many rows it is, and their share."""
        table, partition = self.release.table, self.release.partition
        if self.release.has_boxes:
            known = [column.name for column in table.quasi_identifiers]
            boxes = self.release.boxes[[known.index(name) for name in names]]  # (column, group, end)
            least, greatest = (np.ascontiguousarray(boxes[..., end].T) for end in (0, 1))
            groups = np.arange(partition.n_groups, dtype=np.int32)
            return least, greatest, groups, partition.sizes.astype(np.float64), np.ones(partition.n_groups)
        if self.release.shows_exactly:
            points = np.stack([table.column(name).codes for name in names], axis=1)
            groups = partition.group_of_row
            return points, points, groups, np.ones(groups.size), 1 / partition.sizes[groups]
        raise InvalidInput("Queries can be answered from boxes or from buckets; this release has neither.")

    def _shapes(self, names: Sequence[str], least: Codes, greatest: Codes) -> tuple[Codes, NDArray[np.int64]]:
        """Number the different boxes: the shape of every item, and the first item of every shape."""
        sizes = [self.release.table.column(name).n_values for name in names] * 2
        if np.prod(sizes, dtype=np.float64) >= 2**62:
            return np.zeros(0, np.int32), np.arange(len(least))
        number = np.ravel_multi_index((*least.T, *greatest.T), sizes)
        _, first_item, shape_of_item = np.unique(number, return_index=True, return_inverse=True)
        return shape_of_item.astype(np.int32), first_item


def uniform_in_box(release: Release, workload: Workload) -> Estimate:
    """Answers as if rows were spread evenly over their box, and values evenly over the rows of their group.

    In a bucketized release rows are known exactly and only the second assumption remains.
    """
    shares = Reading(release, about=workload.about).answer(workload).shares[:, 0]
    estimate: Estimate = (shares * workload.wanted).sum(axis=1)
    return estimate


def uniform_in_box_exactly(release: GeneralizedRelease, query: CountQuery) -> Fraction:
    """One answer in fractions, for small releases."""
    table = release.table
    values = the_sensitive(table).codes
    total = Fraction(0)
    for g in range(release.n_groups):
        rows = release.partition.rows[release.partition.starts[g] : release.partition.starts[g + 1]]
        share = Fraction(1)
        for a, column in enumerate(table.quasi_identifiers):
            low, high = (int(end) for end in release.boxes[a, g])
            first, last = query.ranges.get(column.name, (low, high))
            share *= Fraction(max(0, min(last, high) - max(first, low) + 1), high - low + 1)
        wanted = sum(query.sensitive is None or int(values[row]) in query.sensitive for row in rows)
        total += share * wanted
    return total


def even_in_cells(release: Release, workload: Workload) -> Estimate:
    """Answers of a reader who takes every value that a published cell allows to be equally likely, and values to be spread evenly over a group.

    Of suppressed rows nothing is known. Where rows are shown exactly only the second assumption remains.
    """
    if release.shows_exactly or not release.has_boxes:
        return uniform_in_box(release, workload)
    spreads = spreads_of(release)
    asked = spreads[the_sensitive(release.table, workload.about).name]
    shares = shares_of_groups([spreads[name] for name in workload.columns], workload)
    n_wanted = np.zeros((len(workload), asked.column.n_values + 1))  # of the values below each
    np.cumsum(workload.wanted, axis=1, out=n_wanted[:, 1:])
    answers = np.empty(len(workload))
    for q, share in enumerate(shares):
        of_run = (n_wanted[q, asked.greatest + 1] - n_wanted[q, asked.least]) * asked.weight
        answers[q] = share @ np.add.reduceat(of_run, asked.first[:-1])
    return answers


def shares_of_groups(spreads: Sequence[Spread], workload: Workload) -> Iterator[Estimate]:
    """Of every query, (group) -> the share of its rows that is expected in the ranges, columns being independent inside a group."""
    for least, greatest in zip(workload.least, workload.greatest, strict=True):
        share = np.ones(spreads[0].sizes.size)
        for spread, low, high in zip(spreads, least, greatest, strict=True):
            n_inside = np.minimum(spread.greatest, high) - np.maximum(spread.least, low) + 1
            share *= np.add.reduceat(np.maximum(n_inside, 0) * spread.weight, spread.first[:-1]) / spread.sizes
        yield share


def relative_error(actual: int, estimate: Fraction, n_rows: int) -> Fraction:
    """|actual - estimate| relative to the actual answer, or to 0.5 % of all rows if that is more."""
    return abs(actual - estimate) / max(Fraction(actual), LEAST_SHARE * n_rows)


def relative_errors(actual: NDArray[np.int64], estimate: Estimate, n_rows: int) -> Estimate:
    """The same for many queries at once."""
    return np.abs(actual - estimate) / np.maximum(actual, float(LEAST_SHARE) * n_rows)


def query_workload_error(release: Release, workload: Workload) -> float:
    """QWE: the mean relative error of a workload, answered from cells as they are published."""
    actual = actual_counts(release.table, workload)
    return float(relative_errors(actual, even_in_cells(release, workload), release.table.n_rows).mean())
