# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Spread: what a reader of a release expects to be where, when nothing is known beyond what is published.

Inside the cell of a group every value that the cell allows is taken to be equally likely, and columns to be
independent of each other: the estimate of greatest entropy (D. Kifer, J. Gehrke, "Injecting Utility into Anonymized
Datasets", SIGMOD 2006), and what K. LeFevre et al. ("Mondrian", ICDE 2006) answer queries with. Where a column is
published exactly, by row or as the list of a group's values, the counts themselves are known. Of suppressed rows
nothing is known: they are laid out over all values, as one more group after the others.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from overt.hierarchy.grid import blocks_of
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.counting import count_values_in_ranges, starts_of
from overt.kernels.expected_counts import lay_out, lay_out_pairs, rows_in_runs, runs_beside, runs_of_sets
from overt.kernels.ordering import bounds_beside, number_lists
from overt.partition import judged
from overt.release import Release
from overt.table import Codes, Column, Kind, Role
from overt.threads import n_threads

Expected = NDArray[np.float64]
CellForm = Literal["range", "label", "set", "grid"]


@dataclass(frozen=True, eq=False)
class Spread:
    """The codes that each group covers in a column, in runs, and how many rows are expected at each of them."""

    column: Column
    sizes: NDArray[np.int64]  # (group) -> rows; suppressed rows, if any, come last
    first: NDArray[np.int64]  # (group + 1) -> where its runs begin
    least: Codes
    greatest: Codes
    weight: Expected

    @cached_property
    def rows_of_value(self) -> Expected:
        """(value) -> how many rows are expected to have it."""
        return lay_out(self.least, self.greatest, self.weight, self.column.n_values)

    def rows_of_pair(self, other: "Spread") -> Expected:
        """(value, value of the other column) -> how many rows are expected to have both."""
        mine = (self.first, self.least, self.greatest, self.weight)
        its = (other.first, other.least, other.greatest, other.weight)
        pairs: Expected = lay_out_pairs(*mine, *its, self.sizes, self.column.n_values, other.column.n_values)
        return np.maximum(pairs, 0)  # what rounding left below nothing

    @cached_property
    def cells(self) -> tuple[NDArray[np.int64], int]:
        """(group) -> a number for its cell, the same for the same cell; and how many numbers there may be."""
        if self.first.size == self.least.size + 1:  # one run in every group
            n_values = self.column.n_values
            return self.least.astype(np.int64) * n_values + self.greatest, n_values**2
        ends = np.stack([self.least, self.greatest], axis=1).ravel()
        number, representatives = number_lists(2 * self.first, ends)
        return number.astype(np.int64), len(representatives)

    @cached_property
    def n_values_covered(self) -> NDArray[np.int64]:
        """(group) -> how many different values its cell allows."""
        width = (self.greatest - self.least + 1).astype(np.int64)
        return np.add.reduceat(width, self.first[:-1]) if self.first.size > 1 else width

    @cached_property
    def n_covered(self) -> NDArray[np.int64]:
        """(group) -> how many rows of the original column lie in its cell."""
        below = starts_of(self.column.total_of_value)
        return rows_in_runs(self.first, self.least, self.greatest, below)


def is_exact(release: Release, column: Column) -> bool:
    """Whether the column is published row by row as it was."""
    return release.shows_exactly and column.role is Role.QUASI_IDENTIFIER


def usual_form(column: Column) -> CellForm:
    """How a quasi-identifier is shown unless something else is asked for."""
    if column.kind is not Kind.CATEGORY:
        return "range"
    return "set" if column.hierarchy is None else "label"


def spread_of(release: Release, column: Column, form: CellForm | None = None) -> Spread:
    """Lay the groups of a release out over the values of one of its columns."""
    runs = _runs_of(release, column, form or cast(CellForm | None, release.form_of(column)) or usual_form(column))
    sizes = release.partition.sizes
    if release.n_suppressed:
        everything: tuple[Any, ...] = (
            [runs[0][-1] + 1],
            [0],
            [column.n_values - 1],
            [release.n_suppressed / column.n_values],
        )
        runs = tuple(np.append(known, more).astype(known.dtype) for known, more in zip(runs, everything, strict=True))
        sizes = np.append(sizes, release.n_suppressed)
    first, least, greatest, weight = runs
    return Spread(column, sizes, first, least, greatest, weight)


_KNOWN: "WeakKeyDictionary[Release, dict[str, Spread]]" = WeakKeyDictionary()


def spreads_of(release: Release) -> Mapping[str, Spread]:
    """All columns of a release laid out, by name; kept as long as the release is, since every metric asks for them."""
    if release not in _KNOWN:
        columns = judged(release.table.columns)
        with ThreadPoolExecutor(max_workers=n_threads()) as pool:  # the loops release the interpreter lock
            spreads = pool.map(lambda column: spread_of(release, column), columns)
            _KNOWN[release] = {column.name: spread for column, spread in zip(columns, spreads, strict=True)}
    return _KNOWN[release]


def _runs_of(release: Release, column: Column, form: CellForm) -> tuple[NDArray[Any], ...]:
    """(first, least, greatest, weight) of the groups."""
    sizes, rows, starts = release.partition.sizes, release.partition.rows, release.partition.starts
    if column.role is Role.SENSITIVE:
        histogram = release.groups.histograms[column.name]
        weight = histogram.count.astype(np.float64)
        if histogram.out_of is not None:
            weight *= np.repeat(sizes / histogram.out_of, np.diff(histogram.first))
        return histogram.first, histogram.value, histogram.value, weight
    if (bounds := release.chosen_bounds(column)) is not None:
        return _one_run(bounds[:, 0], bounds[:, 1], sizes)
    if is_exact(release, column) or form == "set":
        first, value, count = count_values_in_ranges(column.codes[rows], starts, column.n_values)
        if is_exact(release, column):
            return first, value, value, count.astype(np.float64)
        return runs_of_sets(first, value, sizes)
    blocks = blocks_of(column) if form == "grid" else None
    if form in ("range", "grid") and column.missing_code is not None:
        least, greatest, or_missing = bounds_beside(column.codes, rows, starts, column.missing_code).T
        if blocks is not None:
            around = blocks.outward(np.maximum(np.stack([least, greatest], 1), 0), None)
            least, greatest = (np.where(least < 0, least, end).astype(np.int32) for end in around.T)
        return runs_beside(least, greatest, or_missing, column.missing_code, sizes)
    bounds = bounds_of_groups(column.codes, rows, starts)
    least, greatest = (bounds if blocks is None else blocks.outward(bounds, None)).T
    if form == "label" and column.hierarchy is not None:
        node = column.hierarchy.common_ancestor(least, greatest)
        least = column.hierarchy.first_leaf_of_node[node]
        greatest = least + column.hierarchy.n_leaves_of_node[node] - 1
    return _one_run(least, greatest, sizes)


def _one_run(least: Codes, greatest: Codes, sizes: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    least, greatest = (np.ascontiguousarray(bound, np.int32) for bound in (least, greatest))
    return np.arange(sizes.size + 1), least, greatest, sizes / (greatest - least + 1)
