# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_altered_releases.py
"""A flat release read back as two tables: every line of a bucket must show the same list of values."""

import json
from collections.abc import Sequence

import polars as pl

from overt.checks.verdict import Finding, counted
from overt.table import Column, Kind

BUCKET = "bucket"
SHUFFLED = "values shuffled in bucket"  # the same of a release whose rows show values that are not their persons'
_MEMBER = r'"(?:[^"\\]|\\.)*"|[^\s",{}][^",{}]*'


def unfold(flat: pl.DataFrame, sensitive: Sequence[Column]) -> tuple[pl.DataFrame, pl.DataFrame, Finding]:
    """The people and the values of a flat release, and whether its lines agree on them."""
    names = [column.name for column in sensitive if column.name in flat.columns]
    people = flat.drop(names)
    if BUCKET not in flat.columns or len(names) < len(sensitive):
        return people, flat.select(pl.col(names)), Finding("lists", False, "Not checked: columns are missing.")
    lists = flat.group_by(BUCKET, maintain_order=True).agg(
        *(pl.col(name).first() for name in names),
        differs=pl.any_horizontal(pl.col(name).cast(pl.String).n_unique() > 1 for name in names),
        n=pl.len(),
    )
    n_wrong = int(lists.get_column("differs").sum())
    members = {column.name: list_members(lists.get_column(column.name), column) for column in sensitive}
    lengths = [of_column.list.len() for of_column in members.values()]
    n_wrong += sum(int((length != lists.get_column("n")).sum()) for length in lengths)
    if n_wrong or any((length != lengths[0]).any() for length in lengths):
        sentence = f"{counted(n_wrong, 'bucket')} show lists of values that differ from line to line or in length."
        finding = Finding("lists", False, f"{sentence} Make the release again.")
    else:
        finding = Finding("lists", True, "Every line of a bucket shows the same list of values, as long as the bucket.")
    values = [
        pl.DataFrame({BUCKET: lists.get_column(BUCKET), name: of_column}).explode(name)
        for name, of_column in members.items()
    ]
    if any(frame.height != values[0].height for frame in values):
        return people, values[0], finding
    return people, pl.concat([values[0], *(frame.drop(BUCKET) for frame in values[1:])], how="horizontal"), finding


def list_members(cells: pl.Series, column: Column) -> pl.Series:
    """The texts in every list, quotes taken off; a cell without braces is a list of one."""
    text, member = pl.col("text"), pl.col("member")
    found = pl.when(text.str.starts_with("{")).then(text.str.slice(1).str.strip_suffix("}").str.extract_all(_MEMBER))
    listed = pl.DataFrame({"text": cells.cast(pl.String)}).with_row_index("cell")
    listed = listed.with_columns(member=found.otherwise(pl.concat_list("text"))).explode("member")
    listed = listed.with_columns(
        pl.when(text.str.starts_with("{") & (member == "missing")).then(None).otherwise(member).alias("member")
    )
    if column.kind is Kind.CATEGORY:
        quoted = listed.get_column("member").drop_nulls().unique()
        quoted = quoted.filter(quoted.str.starts_with('"'))
        listed = listed.with_columns(member.replace(quoted, pl.Series([_unquoted(q) for q in quoted], dtype=pl.String)))
    return listed.group_by("cell", maintain_order=True).agg("member").get_column("member").alias(column.name)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text
