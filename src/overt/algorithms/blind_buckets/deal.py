# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/blind_buckets/test_plan.py
"""Deal: how the values of a stratum go to its buckets, and what these then hold.

A *value* is a combination of the sensitive columns' values, or the value of the one sensitive column. The values of a stratum lie
in a line, each as often as it occurs, and go round and round the buckets. A bucket's *composition* is how often it holds
each value: of every value floor(n / G) or ceil(n / G) copies, and buckets differ in size by at most one row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from overt.kernels.compositions import compositions_of_deal, count_codes_of_items, deal_rows
from overt.kernels.counting import order_by_code, starts_of
from overt.partition import Counts, Groups, Histogram, Partition
from overt.table import Codes, Column


@dataclass(frozen=True, eq=False)
class Values:
    """The sensitive values of all rows: which value each row has, and what a value is in each sensitive column."""

    columns: tuple[Column, ...]
    value_of_row: Codes
    code_of_value: Codes  # (column, value)

    @classmethod
    def of(cls, columns: tuple[Column, ...]) -> "Values":
        if len(columns) == 1:
            return cls(columns, columns[0].codes, np.arange(columns[0].n_values, dtype=np.int32)[None, :])
        together = Partition.of_columns(columns)
        some_row = together.rows[together.starts[:-1]]
        return cls(columns, together.group_of_row, np.stack([column.codes[some_row] for column in columns]))

    @property
    def n_values(self) -> int:
        return self.code_of_value.shape[1]

    def count(self, strata: Partition) -> Counts:
        """(stratum, value) -> how many rows."""
        kept = strata.group_of_row >= 0
        at = strata.group_of_row[kept].astype(np.int64) * self.n_values + self.value_of_row[kept]
        return np.bincount(at, minlength=strata.n_groups * self.n_values).reshape(strata.n_groups, self.n_values)


@dataclass(frozen=True, eq=False)
class Deal:
    """The values of one stratum in the order in which they are dealt, how often each occurs, and over how many buckets."""

    value: Codes
    count: Counts
    n_buckets: int

    @property
    def n_rows(self) -> int:
        return int(self.count.sum())

    @cached_property
    def first_buckets(self) -> Counts:
        """One bucket of every composition: where a value begins."""
        return np.unique(starts_of(self.count) % self.n_buckets)

    def compositions(self, values: Values, box_size: int, bucket: Counts | None = None) -> Groups:
        """What buckets hold, as what is believed of the people of boxes of this size; without `bucket` of every composition."""
        first = starts_of(self.count)
        bucket = self.first_buckets if bucket is None else bucket
        start, item, count = compositions_of_deal(first, bucket, self.n_buckets)
        size = (self.n_rows - bucket + self.n_buckets - 1) // self.n_buckets
        histograms = {}
        for column, code_of_value in zip(values.columns, values.code_of_value, strict=True):
            first_code, code, n_copies = count_codes_of_items(
                start, item, count, code_of_value[self.value], column.n_values
            )
            nodes = None if column.hierarchy is None else column.hierarchy.node_of_leaf
            histograms[column.name] = Histogram(
                first_code, code, n_copies, column.total_of_value, nodes, size, column.values
            )
        return Groups(np.full(bucket.size, box_size, np.int64), histograms)


def deal_blind(values: Values, strata: Partition, deals: Sequence[Deal], rng: Generator) -> Partition:
    """The bucket of every row that is in a stratum: who of a value goes to which bucket is uniform."""
    place_of_value = np.zeros((strata.n_groups, values.n_values), np.int32)  # in the line of the stratum
    for places, deal in zip(place_of_value, deals, strict=True):
        places[deal.value] = np.arange(deal.value.size)
    kept = strata.rows
    stratum, value = strata.group_of_row[kept], values.value_of_row[kept]
    order = rng.permutation(kept.size).astype(np.int32)  # the one secret shuffle
    order = order_by_code(place_of_value[stratum, value], values.n_values, order)
    order = order_by_code(stratum, strata.n_groups, order)
    bucket_of_row = np.full(strata.group_of_row.size, -1, np.int32)
    n_buckets = np.array([deal.n_buckets for deal in deals], np.int64)
    deal_rows(kept[order], strata.starts, n_buckets, bucket_of_row)
    return Partition(bucket_of_row, int(n_buckets.sum()))


def hand_out(buckets: Partition, rng: Generator) -> Codes:
    """(row) -> the row whose values it shows: each bucket's rows hand their values to each other at random."""
    handed = rng.permutation(buckets.rows.size).astype(np.int32)
    handed = order_by_code(buckets.group_of_row[buckets.rows], buckets.n_groups, handed)
    shown = np.arange(buckets.group_of_row.size, dtype=np.int32)
    shown[buckets.rows] = buckets.rows[handed]
    return shown
