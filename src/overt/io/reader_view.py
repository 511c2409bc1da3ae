# SPDX-License-Identifier: Apache-2.0
"""Reader view: a release as its reader has it, put together again from the published tables and from what is public, nothing else.

Its quasi-identifiers are the texts of the published cells, its groups the rows that show the same, its buckets those with the
same number. What is computed from it is a function of the release, whatever table it was made from.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from overt.hierarchy.texts import texts_of
from overt.io.encoding import Coded, coded_from_series
from overt.io.flat import BUCKET
from overt.io.intake import Intake
from overt.io.publication import SHUFFLED
from overt.method import Method
from overt.partition import Partition
from overt.persons import Persons
from overt.release import BucketRelease, CrossBucketRelease, GeneralizedRelease, Release, ShuffledRelease
from overt.table import Column, Kind, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder


def release_as_read(
    tables: Mapping[str, pl.DataFrame],
    *,
    made_by: Method,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str] = (),
    kinds: Mapping[str, Kind | str] | None = None,
    hierarchies: "Mapping[str, Builder] | None" = None,
    bundles: Mapping[str, Column] | None = None,
    persons: Persons | None = None,
) -> Release:
    """The release that these published tables show: "release" (or "shuffled"), or "quasi-identifiers" (or "boxes") and "sensitive".

    `kinds` and `hierarchies` are those that the recipe gives to sensitive columns. Where persons have several rows the tables have one line per
    person, and `bundles` says of each sensitive column what its texts hold: all of them are published, so that this is public too.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> from overt.io.publication import published_tables
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> method = Mondrian(goal=KAnonymity(4))
    >>> tables = published_tables(method.anonymize(table))
    >>> read = release_as_read(tables, made_by=method, quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> read.table.n_rows, bool(read.partition.sizes.min() >= 4)
    (96, True)
    """
    bundles = bundles or {}
    kinds = {name: kind for name, kind in (kinds or {}).items() if name not in bundles}
    hierarchies = {name: builder for name, builder in (hierarchies or {}).items() if name not in bundles}
    intake = Intake(
        quasi_identifiers=quasi_identifiers,
        sensitive=[name for name in sensitive if name not in bundles],
        kinds={**dict.fromkeys(quasi_identifiers, Kind.CATEGORY), **kinds},
        hierarchies=hierarchies,
        missing="own value",
        others=(),
    )
    first, *rest = tables.values()
    number = SHUFFLED if "shuffled" in tables else BUCKET
    columns = {name: first.get_column(name) for name in quasi_identifiers}
    shown = rest[0] if rest else first
    columns |= {name: shown.get_column(name) for name in sensitive}
    if not rest and number == BUCKET:
        table = _encoded(intake, columns, bundles, persons)
        return GeneralizedRelease(table, Partition.of_columns(table.quasi_identifiers), made_by)
    by_person, by_value = (np.argsort(frame.get_column(number).to_numpy(), kind="stable") for frame in (first, shown))
    ordered = {
        name: cells.gather(by_person if name in quasi_identifiers else by_value) for name, cells in columns.items()
    }
    numbers, bucket_of_row = np.unique(first.get_column(number).gather(by_person).to_numpy(), return_inverse=True)
    table, buckets = (
        _encoded(intake, ordered, bundles, persons),
        Partition(bucket_of_row.astype(np.int32), numbers.size),
    )
    if "quasi-identifiers" in tables:
        return BucketRelease(table, buckets, made_by)
    boxes = Partition.of_columns(table.quasi_identifiers)
    if not rest:
        return ShuffledRelease(table, boxes, made_by, buckets, np.arange(table.n_rows, dtype=np.int32))
    return CrossBucketRelease(table, boxes, made_by, buckets)


def _encoded(
    intake: Intake, columns: Mapping[str, pl.Series], bundles: Mapping[str, Column], persons: Persons | None
) -> Table:
    plain = {name: cells for name, cells in columns.items() if name not in bundles}
    table = intake.table(list(plain), _as_text(plain), pl.DataFrame())
    if not bundles:
        return replace(table, persons=persons)
    held = []
    for name, column in bundles.items():
        texts = pl.DataFrame({"text": column.values, "code": np.arange(column.n_values, dtype=np.int32)})
        shown = pl.DataFrame({"text": columns[name].cast(pl.String)}).join(
            texts, on="text", how="left", maintain_order="left"
        )
        held.append(replace(column, codes=shown.get_column("code").to_numpy()))
    return replace(table, columns=(*table.columns, *held), order=(), persons=persons)


def _as_text(columns: Mapping[str, pl.Series]) -> Callable[[str], Coded]:
    """Every column as the text of its cells, as it stands in a file: its type could tell of rows that are not shown."""

    def coded(name: str) -> Coded:
        numbered = coded_from_series(texts_of(columns[name]))
        return Coded(numbered.dictionary, numbered.codes, is_text=True)

    return coded
