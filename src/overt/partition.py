# SPDX-License-Identifier: Apache-2.0
"""Partition: which row is in which group. Groups: what a privacy property looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput, TooLarge
from overt.kernels.counting import count_codes, count_values_in_ranges, order_by_code, starts_of
from overt.kernels.crossed_groups import believed_of_groups
from overt.table import Codes, Column, Table

if TYPE_CHECKING:
    import polars as pl

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Every row in one of `n_groups` groups, none of them empty; or in none (-1), which is to say suppressed."""

    group_of_row: Codes
    n_groups: int

    def __post_init__(self) -> None:
        if self.group_of_row.dtype != np.int32:
            raise InvalidInput(f"A partition has groups of type {self.group_of_row.dtype}; int32 is expected.")
        if self.group_of_row.size and not -1 <= self.group_of_row.min() <= self.group_of_row.max() < self.n_groups:
            raise InvalidInput(
                f"A partition has rows in groups other than 0 to {self.n_groups - 1}; number them from 0 "
                "(-1 stands for a suppressed row)."
            )
        if self.n_groups and self.sizes.min() < 1:
            raise InvalidInput("A partition has an empty group; number the groups 0, 1, 2, ... without gaps.")
        self.group_of_row.flags.writeable = False

    @classmethod
    def from_groups(cls, groups: Sequence[Sequence[int]]) -> "Partition":
        """From lists of row positions: `Partition.from_groups([[0, 2], [1]])`."""
        rows = [row for group in groups for row in group]
        if sorted(rows) != list(range(len(rows))):
            raise InvalidInput("The groups of a partition must hold every row once.")
        group_of_row = np.empty(len(rows), np.int32)
        group_of_row[rows] = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        return cls(group_of_row, len(groups))

    @cached_property
    def kept(self) -> Codes | None:
        """The positions of the rows that are in a group, ascending; None if all are."""
        if not self.group_of_row.size or self.group_of_row.min() >= 0:
            return None
        return np.flatnonzero(self.group_of_row >= 0).astype(np.int32)

    @property
    def n_kept(self) -> int:
        """How many rows are in a group."""
        return self.group_of_row.size if self.kept is None else self.kept.size

    @property
    def n_suppressed(self) -> int:
        """How many rows are in none."""
        return self.group_of_row.size - self.n_kept

    @classmethod
    def of_columns(cls, columns: Sequence[Column]) -> "Partition":
        """Rows that agree on all of these columns, groups in the order of their codes."""
        codes = np.stack([column.codes for column in columns])
        order = np.lexsort(codes[::-1])
        is_new = np.ones(order.size, np.bool_)
        is_new[1:] = (np.diff(codes[:, order], axis=1) != 0).any(axis=0)
        number = np.empty(order.size, np.int32)
        number[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
        return cls(number, int(is_new.sum()))

    @cached_property
    def sizes(self) -> Counts:
        kept = self.group_of_row if self.kept is None else _read_only(self.group_of_row[self.kept])
        sizes: Counts = count_codes(kept, self.n_groups)
        return sizes

    @cached_property
    def starts(self) -> Counts:
        """Where each group begins in `rows`; the last entry is the number of rows that are in a group."""
        starts: Counts = starts_of(self.sizes)
        return starts

    @cached_property
    def rows(self) -> Codes:
        """Row positions, group by group, ascending inside a group; without suppressed rows."""
        if self.kept is not None:
            groups = _read_only(self.group_of_row[self.kept])
            order = order_by_code(groups, self.n_groups, np.arange(groups.size, dtype=np.int32))
            return self.kept[order]
        as_given = np.arange(self.group_of_row.size, dtype=np.int32)
        rows: Codes = order_by_code(self.group_of_row, self.n_groups, as_given)
        return rows


def _read_only(codes: Codes) -> Codes:
    """As the codes of a column and the groups of a partition are, so that loops are compiled for one kind."""
    codes.flags.writeable = False
    return codes


@dataclass(frozen=True, eq=False)
class ShownPartition(Partition):
    """A partition whose groups show ranges of codes that were chosen, and can be wider than their rows."""

    shown: NDArray[np.int32]  # (quasi-identifier, group, 2) -> least and greatest code


@dataclass(frozen=True, eq=False)
class Sets:
    """What shares are compared with where a person may have several values: the persons of the same count stratum."""

    stratum_of_group: Codes
    n_persons: Counts  # (stratum)
    total: Counts  # (stratum, value) -> persons who have it in any row

    def select(self, chosen: NDArray[np.bool_]) -> "Sets":
        """The same for some of the groups."""
        return Sets(self.stratum_of_group[chosen], self.n_persons, self.total)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of one sensitive column occurs in each group (sparse).

    Group g has the values `value[first[g]:first[g + 1]]`, ascending, each `count[...]` times.
    """

    first: Counts  # (group + 1)
    value: Codes
    count: Counts
    total_of_value: Counts  # (value) -> count in the whole table: what t-closeness and its kin compare with
    node_of_value: NDArray[np.int32] | None = None  # (level, value) -> node of the column's hierarchy
    out_of: Counts | None = None  # (group) -> what the counts are out of; None: the rows of the group
    labels: "pl.Series | None" = field(
        default=None, repr=False
    )  # (value) -> what is written; None: codes without labels
    sets: Sets | None = None  # a person may have several values, so that counts may add up to more than the persons

    @classmethod
    def of_counts(cls, column: Column, counts: Counts, out_of: Counts | None = None) -> "Histogram":
        """From (group, value) -> count of a column."""
        group, value = np.nonzero(counts)
        first = starts_of(np.bincount(group, minlength=len(counts)))
        nodes = None if column.hierarchy is None else column.hierarchy.node_of_leaf
        found = value.astype(np.int32), counts[group, value]
        return cls(first, *found, column.total_of_value, nodes, out_of, column.values)

    @property
    def n_values(self) -> int:
        return int(self.total_of_value.size)

    def select(self, chosen: NDArray[np.bool_]) -> "Histogram":
        """The histogram of some of the groups, of the same table."""
        lengths = np.diff(self.first)
        is_kept = np.repeat(chosen, lengths)
        first = starts_of(lengths[chosen])
        out_of = None if self.out_of is None else self.out_of[chosen]
        kept = self.value[is_kept], self.count[is_kept]
        sets = None if self.sets is None else self.sets.select(chosen)
        return Histogram(first, *kept, self.total_of_value, self.node_of_value, out_of, self.labels, sets)


@dataclass(frozen=True, eq=False)
class Groups:
    """Group sizes, and a histogram of every sensitive column by its name."""

    sizes: Counts
    histograms: Mapping[str, Histogram]

    def __post_init__(self) -> None:
        if self.n_groups and self.sizes.min() < 1:
            raise InvalidInput("A group has no rows; leave it out, or give a table that has rows.")

    @property
    def n_groups(self) -> int:
        return int(self.sizes.size)

    @classmethod
    def of(cls, table: Table, partition: Partition) -> "Groups":
        """Count the sensitive values of a table in the groups of a partition of its rows."""
        return cls.of_ranges(table.sensitive, partition.rows, partition.starts)

    @classmethod
    def of_ranges(cls, sensitive: Sequence[Column], rows: Codes, starts: Counts) -> "Groups":
        """The same for groups that are ranges of `rows`: group g is `rows[starts[g]:starts[g + 1]]`."""
        histograms = {}
        for column in judged(sensitive):
            first, value, count = count_in_ranges(column, rows, starts)
            nodes = column.hierarchy.node_of_leaf if column.hierarchy is not None else None
            sets = sets_of(column, rows, starts)
            histograms[column.name] = Histogram(
                first, value, count, column.total_of_member, nodes, None, names_of(column), sets
            )
        return cls(np.diff(starts), histograms)

    @classmethod
    def of_crossed(cls, sensitive: Sequence[Column], groups: Partition, buckets: Partition) -> "Groups":
        """What can be believed of the members of a group when values are shown by bucket.

        A member of group G is in bucket B with probability |G and B| / |G|, and has a value there with its share of
        B. Every histogram holds these beliefs as whole numbers, `out_of` a total of its own.
        """
        in_group = count_values_in_ranges(buckets.group_of_row[groups.rows], groups.starts, buckets.n_groups)
        histograms = {}
        for column in judged(sensitive):
            in_bucket = count_in_ranges(column, buckets.rows, buckets.starts)
            first, value, count, out_of, beyond = believed_of_groups(
                in_group[0],
                in_group[1],
                in_group[2],
                buckets.sizes,
                in_bucket[0],
                in_bucket[1],
                in_bucket[2],
                n_members(column),
            )
            if beyond >= 0:
                raise TooLarge(
                    f"What is believed of one group needs more than 64 bits: its {groups.sizes[beyond]} rows lie in "
                    "buckets of too many different sizes."
                )
            nodes = column.hierarchy.node_of_leaf if column.hierarchy is not None else None
            sets = sets_of(column, groups.rows, groups.starts)
            histograms[column.name] = Histogram(
                first, value, count, column.total_of_member, nodes, out_of, names_of(column), sets
            )
        return cls(groups.sizes, histograms)


def judged(sensitive: Sequence[Column]) -> list[Column]:
    """The columns that goals speak of: not those that bundles only carry."""
    return [column for column in sensitive if column.bundles is None or not column.bundles.carried]


def count_in_ranges(column: Column, rows: Codes, starts: Counts) -> tuple[Counts, Codes, Counts]:
    """Sparse counts of values in groups that are ranges of `rows`; of bundles, of the persons who have a value in any row."""
    codes, n_values = column.codes[rows], column.n_values
    if column.bundles is not None:
        first, codes = column.bundles.members(codes)
        starts, n_values = first[starts], column.bundles.n_values
    counted: tuple[Counts, Codes, Counts] = count_values_in_ranges(codes, starts, n_values)
    return counted


def sets_of(column: Column, rows: Codes, starts: Counts) -> Sets | None:
    """What the bundles of groups are compared with; None if everybody has one value."""
    bundles = column.bundles
    if bundles is None:
        return None
    stratum_of_bundle = bundles.stratum_of_bundle
    n_strata = int(stratum_of_bundle.max(initial=0)) + 1
    stratum = stratum_of_bundle[column.codes]
    first, member = bundles.members(column.codes)
    at = np.repeat(stratum.astype(np.int64), np.diff(first)) * bundles.n_values + member
    total = np.bincount(at, minlength=n_strata * bundles.n_values).reshape(n_strata, bundles.n_values)
    return Sets(stratum_of_bundle[column.codes[rows[starts[:-1]]]], np.bincount(stratum, minlength=n_strata), total)


def n_members(column: Column) -> int:
    """How many single values a column has."""
    return column.n_values if column.bundles is None else column.bundles.n_values


def names_of(column: Column) -> "pl.Series":
    """What its single values are called."""
    return column.values if column.bundles is None else column.bundles.values
