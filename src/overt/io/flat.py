# SPDX-License-Identifier: Apache-2.0
"""One flat file of a release in buckets: every line shows all values of its bucket, since none of them is its own.

Putting the sorted values of a bucket beside its sorted people, one to a line, would look like microdata and be wrong
in a systematic way: young people would seem to earn the least. A line here shows the bucket's values as a list
in braces, `{4100, 5200}`, each as often as it occurs; a single value stands alone.
"""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from overt.errors import InvalidInput
from overt.io.cells import texts_of_values
from overt.io.encoding import values_as_came
from overt.io.frames import to_native
from overt.io.publication import published_tables
from overt.release import Release
from overt.table import Column, Table

BUCKET = "bucket"


def publish_flat(release: Release, *, show: Mapping[str, str] | None = None, others: Collection[str] = ()) -> Any:
    """A release in buckets as one frame, of the kind that came in."""
    flat = flatten(release.table, published_tables(release, show=show, others=others))
    return to_native(flat.with_columns(pl.col(pl.Enum).cast(pl.String)), release.table.frame_kind)


def flatten(table: Table, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The two tables of a release in buckets as one."""
    if "sensitive" not in tables:
        raise InvalidInput("Only a release in buckets has a flat form of its own; this one is a single table already.")
    people = next(frame for name, frame in tables.items() if name != "sensitive")
    sensitive = tables["sensitive"].with_columns(
        _texts(column, tables["sensitive"].get_column(column.name)) for column in table.sensitive
    )
    names = [column.name for column in table.sensitive]
    lists = sensitive.group_by(BUCKET, maintain_order=True).agg(_as_list(name) for name in names)
    lists = lists.with_columns(
        pl.col(name).cast(pl.Enum(lists.get_column(name).drop_nulls().unique().sort())) for name in names
    )
    return people.join(lists, on=BUCKET, how="left", maintain_order="left")


def _texts(column: Column, shown: pl.Series) -> pl.Series:
    """Values as the texts that cells show, in quotes where they could be taken for something else."""
    written = pl.DataFrame({"value": values_as_came(column), "text": texts_of_values(column)}).drop_nulls("value")
    if shown.dtype == pl.Enum:
        shown, written = shown.cast(pl.String), written.cast(pl.String)
    shown = shown.cast(
        written.get_column("value").dtype
    )  # what is released can all be whole, or days, where the column is not
    found = pl.DataFrame({"value": shown}).join(written, on="value", how="left", maintain_order="left")
    return found.get_column("text").alias(column.name)


def _as_list(name: str) -> pl.Expr:
    members = pl.col(name).fill_null("missing").str.join(", ")
    several = pl.concat_str(pl.lit("{"), members, pl.lit("}"))
    return pl.when(pl.len() > 1).then(several).otherwise(pl.col(name).first()).alias(name)
