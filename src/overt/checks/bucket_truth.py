# SPDX-License-Identifier: Apache-2.0
"""Truth of buckets: whether the rows of the original can be spread over the buckets as published.

With the owner's grouping as a witness the answer is exact and takes linear time. From the tables alone the question
is NP-hard where people who look alike are in several buckets (it asks for a table of three dimensions with given
sums of two: R. W. Irving, M. R. Jerrum, SIAM J. Computing 23(1), 1994). So it is decided exactly for rows that can
be in one bucket only, and for the others every pair of person, value and bucket is counted: a release that fails is
certainly wrong, and the finding says how many rows were followed to the end.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.kernels.counting import order_by_code, starts_of
from overt.kernels.witness import count_unpaired
from overt.partition import Partition
from overt.table import Codes


@dataclass(frozen=True, eq=False)
class Members:
    """Who and what is in which bucket. A person is a combination of quasi-identifiers, shared by all who look alike."""

    person_of_row: Codes
    person_of_line: Codes
    n_people: int
    value_of_row: Codes
    value_of_line: Codes
    n_values: int
    bucket_of_person: Codes  # lines of the table of quasi-identifiers
    bucket_of_value: Codes  # lines of the table of sensitive values
    n_buckets: int


@dataclass(frozen=True)
class Contradictions:
    """How many rows cannot be where the release has them, at least; how many were certain, how many open."""

    n_wrong: int
    n_certain: int
    n_open: int


def rows_are_members(members: Members, witness: Partition) -> bool:
    """Whether the witness, its groups matched to buckets by content, shows that the buckets hold the rows."""
    n_rows = members.person_of_row.size
    if not n_rows == witness.group_of_row.size == members.person_of_line.size == members.value_of_line.size:
        return False
    if witness.n_groups != members.n_buckets:
        return False
    # a sum of random numbers suggests which bucket a group became; equal sums are equal content, almost surely
    draws = np.random.default_rng(0).integers(0, 2**64, members.n_people + members.n_values, dtype=np.uint64)
    of_person, of_value = draws[: members.n_people], draws[members.n_people :]
    sum_of_group = _sums(witness.group_of_row, of_person[members.person_of_row], witness.n_groups)
    sum_of_group += _sums(witness.group_of_row, of_value[members.value_of_row], witness.n_groups)
    sum_of_bucket = _sums(members.bucket_of_person, of_person[members.person_of_line], members.n_buckets)
    sum_of_bucket += _sums(members.bucket_of_value, of_value[members.value_of_line], members.n_buckets)
    bucket_of_group = np.empty(witness.n_groups, np.int32)
    bucket_of_group[np.argsort(sum_of_group)] = np.argsort(sum_of_bucket)
    bucket_of_row = bucket_of_group[witness.group_of_row]
    return _is_same_content(
        bucket_of_row, members.person_of_row, members.bucket_of_person, members.person_of_line, members.n_people
    ) and _is_same_content(
        bucket_of_row, members.value_of_row, members.bucket_of_value, members.value_of_line, members.n_values
    )


def count_contradictions(members: Members) -> Contradictions:
    """What the counts of people, values and buckets rule out."""
    rows = _count(person=members.person_of_row, value=members.value_of_row)
    lines = _count(person=members.person_of_line, bucket=members.bucket_of_person)
    seats = _count(bucket=members.bucket_of_value, value=members.value_of_line)
    n_lost = max(_lost(rows, lines, "person"), _lost(rows, seats, "value"))

    n_values_of_person = rows.group_by("person").agg(values=pl.len(), rows=pl.col("n").sum())
    n_buckets_of_person = lines.group_by("person").agg(buckets=pl.len())
    people = n_values_of_person.join(n_buckets_of_person, on="person")
    in_one_bucket = people.filter(pl.col("buckets") == 1)
    with_one_value = people.filter((pl.col("buckets") > 1) & (pl.col("values") == 1))
    open_people = people.filter((pl.col("buckets") > 1) & (pl.col("values") > 1))
    taken = pl.concat(
        [
            rows.join(in_one_bucket, on="person").join(lines.drop("n"), on="person").select("bucket", "value", "n"),
            lines.join(with_one_value, on="person").join(rows.drop("n"), on="person").select("bucket", "value", "n"),
        ]
    )
    taken = taken.group_by("bucket", "value").agg(taken=pl.col("n").sum())
    balance = seats.join(taken, on=["bucket", "value"], how="full", coalesce=True).fill_null(0)
    n_crowded = int(balance.select((pl.col("taken") - pl.col("n")).clip(0).sum()).item())
    left = balance.select("bucket", "value", n_seats=pl.col("n") - pl.col("taken")).filter(pl.col("n_seats") > 0)
    n_open = int(open_people.get_column("rows").sum())
    open_rows, open_lines = (frame.join(open_people, on="person", how="semi") for frame in (rows, lines))
    short_rows, short_lines, short_seats = _shortfalls(open_rows, open_lines, left)
    n_wrong = max(n_lost, n_crowded + short_rows, n_crowded + short_lines, short_seats)
    return Contradictions(n_wrong, members.person_of_row.size - n_open, n_open)


def _shortfalls(rows: pl.DataFrame, lines: pl.DataFrame, seats: pl.DataFrame) -> list[int]:
    """How many rows, lines and values of buckets are more than could go together with the other two."""
    rows = rows.select("person", "value", n_rows="n")
    lines = lines.select("person", "bucket", n_lines="n")
    places = lines.join(seats, on="bucket").join(rows, on=["person", "value"])
    places = places.with_columns(n=pl.min_horizontal("n_rows", "n_lines", "n_seats"))
    shortfalls = []
    for needed, (*by, count) in ((frame, frame.columns) for frame in (rows, lines, seats)):
        possible = places.group_by(by).agg(possible=pl.col("n").sum())
        short = needed.join(possible, on=by, how="left").fill_null(0)
        shortfalls.append(int(short.select((pl.col(count) - pl.col("possible")).clip(0).sum()).item()))
    return shortfalls


def _lost(rows: pl.DataFrame, lines: pl.DataFrame, by: str) -> int:
    """How many lines have no row with the same person, or value."""
    one, other = (frame.group_by(by).agg(pl.col("n").sum()) for frame in (lines, rows))
    both = one.join(other, on=by, how="left").fill_null(0)
    return int(both.select((pl.col("n") - pl.col("n_right")).clip(0).sum()).item())


def _count(**codes: Codes) -> pl.DataFrame:
    """How often each combination of codes occurs."""
    frame = pl.DataFrame(codes)
    return frame.group_by(frame.columns).agg(n=pl.len().cast(pl.Int64))


def _sums(group_of_row: Codes, numbers: NDArray[np.uint64], n_groups: int) -> NDArray[np.uint64]:
    sums = np.zeros(n_groups, np.uint64)
    np.add.at(sums, group_of_row, numbers)
    return sums


def _is_same_content(bucket_of_row: Codes, of_row: Codes, bucket_of_line: Codes, of_line: Codes, n: int) -> bool:
    """Whether every bucket has the same codes among its rows as among its lines."""
    n_buckets = int(max(bucket_of_row.max(initial=-1), bucket_of_line.max(initial=-1))) + 1
    arrays = []
    for bucket in (bucket_of_row, bucket_of_line):
        arrays.append(order_by_code(bucket, n_buckets, np.arange(bucket.size, dtype=np.int32)))
        arrays.append(starts_of(np.bincount(bucket, minlength=n_buckets)))
    unpaired = count_unpaired(arrays[0], arrays[1], of_row, arrays[2], arrays[3], of_line, n)
    return sum(unpaired) == 0
