# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_broken_releases.py
"""Check of a bucket release: exact quasi-identifiers in one table, sensitive values in another, joined by bucket."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from overt.checks.bucket_truth import Members, count_contradictions, rows_are_members
from overt.checks.findings import find_cells, find_columns, find_goal, find_order, find_rows, find_truth, not_checked
from overt.checks.published_lines import Key, Shared, are_in_order, group_alike, join_shared
from overt.checks.reading import Texts
from overt.checks.verdict import Claim, Finding, Verdict, counted
from overt.kernels.counting import order_by_code
from overt.kernels.witness import are_lists_in_order
from overt.partition import Counts, Partition
from overt.table import Codes, Table

BUCKET = "bucket"
ORDER = "their buckets, numbered by what these hold, and of what they show"


@dataclass(frozen=True, eq=False)
class BucketNumbers:
    """The bucket of every line of both tables, as positions among all bucket numbers that occur."""

    of_person: Codes
    of_value: Codes
    numbers: Counts  # those that occur, ascending; what cannot be read counts as 0

    @classmethod
    def of(cls, people: pl.Series, values: pl.Series) -> "BucketNumbers":
        """Read the bucket columns of the two tables."""
        read = [_whole_numbers(cells) for cells in (people, values)]
        numbers, code = np.unique(np.concatenate(read), return_inverse=True)
        of_person, of_value = np.split(code.astype(np.int32), [read[0].size])
        return cls(of_person, of_value, numbers)

    @property
    def n_unreadable(self) -> int:
        return sum(int((self.numbers[code] < 1).sum()) for code in (self.of_person, self.of_value))

    def find(self) -> Finding:
        """Both tables have the same buckets, of the same sizes, numbered 1, 2, 3, ..."""
        n = self.numbers.size
        n_people, n_values = np.bincount(self.of_person, minlength=n), np.bincount(self.of_value, minlength=n)
        n_different = int((n_people != n_values).sum())
        if n_different:
            return Finding(
                "buckets",
                False,
                f"{counted(n_different, 'bucket')} of {n:,} differ in size between the two tables. Check that both "
                "files are of the same release; if they are, make it again.",
            )
        if (self.numbers != np.arange(1, n + 1)).any():
            return Finding("buckets", False, f"The buckets are not numbered from 1 to {n:,}. Make the release again.")
        return Finding("buckets", True, f"Both tables have the same {counted(n, 'bucket')}, of the same sizes.")


def find_two_tables(
    table: Table, people: pl.DataFrame, values: pl.DataFrame, claim: Claim
) -> tuple[Finding, Finding, bool]:
    """Whether both tables have the right columns and as many rows as claimed; and whether no column is missing."""
    wanted = [BUCKET, *(column.name for column in table.quasi_identifiers), *claim.others]
    wanted_values = [BUCKET, *(column.name for column in table.sensitive)]
    layouts = [find_columns(table, people, wanted), find_columns(table, values, wanted_values)]
    counts = [find_rows(table, frame.height, claim) for frame in (people, values)]
    return (
        next((finding for finding in layouts if not finding.ok), layouts[0]),
        next((finding for finding in counts if not finding.ok), counts[0]),
        set(wanted) <= set(people.columns) and set(wanted_values) <= set(values.columns),
    )


def check_buckets(
    table: Table, people: pl.DataFrame, values: pl.DataFrame, claim: Claim, witness: Partition | None
) -> Verdict:
    """Everything that can be said of a bucket release and the table it is said to come from."""
    columns, sensitive = table.quasi_identifiers, table.sensitive
    layout, rows, is_whole = find_two_tables(table, people, values, claim)
    if not is_whole:
        names = ("buckets", "cells", "order", "goal", "truth")
        return Verdict((layout, rows, *not_checked(names, "columns are missing")))

    buckets = BucketNumbers.of(people.get_column(BUCKET), values.get_column(BUCKET))
    of_people = {column.name: Shared.of_column(column, people.get_column(column.name)) for column in columns}
    of_people |= {n: Shared.of_other(table.others.get_column(n), people.get_column(n)) for n in claim.others}
    of_values = {column.name: Shared.of_column(column, values.get_column(column.name)) for column in sensitive}
    shared = of_people | of_values
    n_unreadable = {BUCKET: buckets.n_unreadable} | {name: column.n_unknown for name, column in shared.items()}
    n = max(1, buckets.numbers.size)
    keys = [column.key for column in of_people.values()], [column.key for column in of_values.values()]
    is_sorted = are_in_order([Key(buckets.of_person, n), *keys[0]]) and are_in_order(
        [Key(buckets.of_value, n), *keys[1]]
    )
    codes = {name: column.code_of_line for name, column in of_values.items()}
    groups = group_alike([Key(buckets.of_value, n)])
    person_of_row, person_of_line, n_people = join_shared(list(of_people.values()), table.n_rows, people.height)
    value_of_row, value_of_line, n_values = join_shared(list(of_values.values()), table.n_rows, values.height)
    members = Members(
        person_of_row, person_of_line, n_people, value_of_row, value_of_line, n_values, buckets.of_person,
        buckets.of_value, n,
    )  # fmt: skip
    return Verdict(
        (
            layout,
            rows,
            buckets.find(),
            find_cells(n_unreadable, len(shared) + 1),
            find_order(is_sorted and are_numbered_by_content(members), ORDER),
            find_goal(claim, sensitive, codes, groups, BUCKET),
            _find_truth(claim, members, witness),
        )
    )


def are_numbered_by_content(members: Members) -> bool:
    """Whether buckets are in the order of their people, then of their values, each ascending."""
    lines = [
        (members.bucket_of_person, members.person_of_line, 0),
        (members.bucket_of_value, members.value_of_line, members.n_people),
    ]
    bucket = np.concatenate([bucket for bucket, _, _ in lines])
    content = np.concatenate([content.astype(np.int64) + offset for _, content, offset in lines])
    order = np.arange(bucket.size, dtype=np.int32)
    order = order[np.argsort(content, kind="stable")]
    order = order_by_code(bucket, members.n_buckets, order)
    first = np.append(0, np.cumsum(np.bincount(bucket, minlength=members.n_buckets)))
    return bool(are_lists_in_order(first, content[order]))


def _find_truth(claim: Claim, members: Members, witness: Partition | None) -> Finding:
    n_rows, n_lines = members.person_of_row.size, members.person_of_line.size
    if witness is not None and rows_are_members(members, witness):
        return find_truth(claim, n_rows, n_lines, n_lines, "the owner's buckets of rows show it")
    found = count_contradictions(members)
    how = (
        f"{counted(found.n_certain, 'row')} can be in one bucket only and {'is' if found.n_certain == 1 else 'are'} "
        f"found there; for {counted(found.n_open, 'row')} whose like are in several buckets, people and values of "
        "every bucket agree in number with the original"
    )
    return find_truth(claim, n_rows, n_lines, n_lines - found.n_wrong, how)


def _whole_numbers(cells: pl.Series) -> Counts:
    texts = Texts.of(cells)
    numbers = texts.distinct.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return np.maximum(numbers, 0)[texts.text_of_line]
