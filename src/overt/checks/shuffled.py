# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_altered_releases.py
"""Check of a release whose rows show values that were shuffled in their bucket: it is a cross-bucket release in one table.

Which of a bucket's values stands in which of its rows says nothing of the people, so boxes and values are judged apart, bucket by
bucket. The column of bucket numbers bears the words that tell a reader so; a release without it is not taken for one.
"""

from dataclasses import replace

import polars as pl

from overt.checks.crossed import GROUPS_AND_BUCKETS, check_crossed
from overt.checks.findings import AGAIN
from overt.checks.flat import BUCKET, SHUFFLED
from overt.checks.published_lines import Key, Shared, are_in_order
from overt.checks.verdict import Claim, Finding, Verdict
from overt.table import Table


def check_shuffled(table: Table, shuffled: pl.DataFrame, claim: Claim, witness: GROUPS_AND_BUCKETS | None) -> Verdict:
    """Everything that can be said of such a release and the table it is said to come from."""
    if SHUFFLED not in shuffled.columns:
        sentence = f"The release lacks column {SHUFFLED!r}, which tells readers that the values in a row need not be that person's. {AGAIN}"
        return Verdict((Finding("columns", False, sentence),))
    names = [column.name for column in table.sensitive if column.name in shuffled.columns]
    boxes = shuffled.drop(names).rename({SHUFFLED: BUCKET})
    values = shuffled.select(pl.col(SHUFFLED).alias(BUCKET), *names)
    if len(names) == len(table.sensitive):
        values = in_canonical_order(table, values)
    verdict = check_crossed(table, boxes, values, claim, witness)
    found = verdict.findings[0]
    shown = replace(found, sentence=found.sentence.replace(repr(BUCKET), repr(SHUFFLED)))
    verdict = Verdict((shown, *verdict.findings[1:]))
    if len(names) < len(table.sensitive) or not (set(claim.others) <= set(boxes.columns)):
        return verdict
    return Verdict((*verdict.findings, find_ties(table, boxes, shuffled)))


def in_canonical_order(table: Table, values: pl.DataFrame) -> pl.DataFrame:
    """The values of every bucket in the order that a table of values has; buckets stay where they are."""
    codes = [Shared.of_column(column, values.get_column(column.name)).code_of_line for column in table.sensitive]
    keyed = values.with_columns(
        pl.col(BUCKET).rle_id().alias("_bucket"), *(pl.Series(f"_{i}", code) for i, code in enumerate(codes))
    )
    return keyed.sort("_bucket", *(f"_{i}" for i in range(len(codes))), maintain_order=True).select(values.columns)


def find_ties(table: Table, boxes: pl.DataFrame, shuffled: pl.DataFrame) -> Finding:
    """Rows of a bucket that show the same box are in the order of the values they were handed."""
    runs = boxes.select(pl.struct(pl.all()).rle_id()).to_series().to_numpy()
    values = [Shared.of_column(column, shuffled.get_column(column.name)).key for column in table.sensitive]
    is_sorted = are_in_order([Key(runs, int(runs.max(initial=0)) + 1), *values])
    if is_sorted:
        return Finding("ties", True, "Rows of a bucket that look alike are in the order of the values they show.")
    return Finding(
        "ties", False, f"Rows of a bucket that look alike are not in the order of the values they show. {AGAIN}"
    )
