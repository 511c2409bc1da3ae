# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_altered_releases.py
"""Byte check: what a release means is written again, and must be what was published, byte for byte.

Quotes, blanks, line ends, byte order marks, the order of keys, the header of a gzip file and whatever else a reader skips
could carry a message past every other check. A release has one spelling and a format one writer, so that nothing is left
to choose. Tables of a database have no bytes to compare; their cells are.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import polars as pl

from overt.checks import Claim, Finding
from overt.checks.person_lines_read import pool, spread
from overt.checks.spelling import Rewritten, rewrite
from overt.io.encoding import values_as_came
from overt.io.manifest import versions
from overt.io.own_content import in_own_type, with_own_content
from overt.io.private_folder import PrivateFolder
from overt.io.recipe.recipe import Recipe
from overt.io.sources import Source
from overt.io.targets import Places, Target
from overt.method import Searching
from overt.release import CrossBucketRelease
from overt.table import Codes, Column, Table


def find_spelling(
    recipe: Recipe,
    table: Table,
    tables: Mapping[str, pl.DataFrame],
    claim: Claim,
    target: Target,
    places: Places,
    *,
    source: Source,
    written_by: Mapping[str, str] | None = None,
) -> Finding:
    """Whether the published tables are spelt, and their files written, in the one way in which a release is.

    Of persons with several rows `tables` have one line per person.
    """
    rewritten = rewrite(
        table,
        tables,
        claim,
        partial(_as_released, table),
        in_type=partial(in_own_type, table=table),
        exact=recipe.method.table_names != CrossBucketRelease.table_names,
        by_level=recipe.columns_of("quasi-identifier") if isinstance(recipe.method, Searching) else (),
    )
    if rewritten.tables is not None and table.has_bundles:
        rewritten = replace(rewritten, tables=spread(table, rewritten.tables, partial(_as_released, table)))
        if rewritten.tables is not None and recipe.settings.output.rows == "pooled":
            values = pool(table, rewritten.tables["sensitive"])
            rewritten = replace(rewritten, tables={**rewritten.tables, "sensitive": values})
    separator = source.separator(row_by_row=recipe.is_dp)
    return find_bytes(rewritten, target, places, separator=separator, written_by=written_by)


def _as_released(table: Table, column: Column, codes: Codes) -> pl.Series:
    """Values as they came, in the type that follows from what is released where nobody declared one."""
    return in_own_type(values_as_came(column).gather(codes).alias(column.name), table)


def find_bytes(
    rewritten: Rewritten,
    target: Target,
    places: Places,
    *,
    separator: str | None,
    written_by: Mapping[str, str] | None,
) -> Finding:
    """Whether each file is what the writer makes of what it means; of a database, whether each cell is."""
    spelt = rewritten.find()
    if rewritten.tables is None or not target.has_bytes:
        return spelt
    changed = []
    with PrivateFolder(prefix="overt-check-") as work:
        for name, frame in rewritten.tables.items():
            if target.differs(places[name], with_own_content(frame), work.folder, separator=separator):
                changed.append(target.name_of(places[name]))
    if not changed:
        return Finding(
            "spelling", True, "The files are, byte for byte, what Overt writes for a release with this content."
        )
    if not spelt.ok:
        return spelt
    ours, theirs = versions(), written_by or {}
    others = ", ".join(f"{name} {theirs[name]}" for name in ours if theirs.get(name, ours[name]) != ours[name])
    why = f"It was written with {others}, says the manifest: check it with these, or m" if others else "M"
    return Finding(
        "spelling",
        False,
        f"{' and '.join(changed)}: every cell can be read, but the bytes are not what Overt writes for a release with this "
        "content. The order of columns, quotes, blanks, line ends or what a reader skips could carry a message. "
        f"{why}ake the release again.",
    )
