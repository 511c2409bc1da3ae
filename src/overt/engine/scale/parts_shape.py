# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_altered_parts.py
"""What a method promises that can be seen in parts, whoever made them: as much of `overt.checks.shapes` as sums over groups tell.

The least box and the least bucket, how many buckets there are and whether their values differ come from the measures of groups, and the one level of a
column from its different texts. What needs the groups themselves, such as cuts and strata, is not checked, and the finding says so.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from overt.checks import Claim, Finding
from overt.checks.reading import Texts, form_of, read_cells
from overt.checks.spelling import find_level
from overt.engine.scale.parts import parts_of
from overt.engine.scale.parts_check import MeasuredParts, PublishedParts
from overt.group_shape import GroupShape
from overt.io.files import read_release
from overt.table import Column


def find_shape_of_parts(
    release: Path, tables: Sequence[PublishedParts], claim: Claim, shape: GroupShape, seen: MeasuredParts
) -> Finding:
    """Whether the parts contradict what their method promises."""
    held: list[str] = []
    for fault in _faults(release, tables, claim, shape, seen, held):
        if fault:
            return Finding("method", False, f"This is not what {shape.method} makes: {fault}.")
    what = f"What {shape.method} promises of files is there: {', '.join(held)}. " if held else ""
    left = _left_out(shape, in_buckets=len(tables) > 1)
    unchecked = f"Not checked of parts: {', '.join(left)}. " if left else ""
    return Finding("method", True, f"{what}{unchecked}The files cannot show by which method they were made.")


def _faults(
    release: Path,
    tables: Sequence[PublishedParts],
    claim: Claim,
    shape: GroupShape,
    seen: MeasuredParts,
    held: list[str],
) -> Iterator[str]:
    in_buckets, people = len(tables) > 1, tables[0]
    if not people.is_exact:
        yield _find_least("box", seen.people.least, shape.least_box, held)
    if in_buckets:
        yield _find_least("bucket", seen.values.least, shape.least_bucket, held)
        if shape.differ:
            yield _find_differing(shape, seen, held)
    if shape.one_level:
        yield _find_levels(release, people, claim, held)


def _find_least(called: str, found: int, least: int, held: list[str]) -> str:
    if least == 1:
        return ""
    if found < least:
        return f"every {called} of it has at least {least} rows"
    held.append(f"every {called} has at least {least} rows")
    return ""


def _find_differing(shape: GroupShape, seen: MeasuredParts, held: list[str]) -> str:
    """Whether each bucket has different values: then the most frequent ones of all buckets are as many rows as there are buckets."""
    n_buckets, n_rows = seen.values.n_groups, seen.values.n_rows
    if any(n_most != n_buckets for _, _, _, n_most in seen.values.learnt.values()):
        return "in each of its buckets all values differ"
    held.append("all values of a bucket differ")
    if shape.sizes != "any" and shape.l is not None:
        if n_buckets != n_rows // shape.l:
            return f"it makes {n_rows // shape.l:,} buckets of {n_rows:,} rows, and there are {n_buckets:,}"
        held.append("there are as many buckets as it makes")
    return ""


def _find_levels(release: Path, people: PublishedParts, claim: Claim, held: list[str]) -> str:
    labels = [c for c in people.quasi if form_of(c, claim.show.get(c.name)) == "label"]
    for column, texts in zip(labels, _texts_of(release, people, labels), strict=True):
        if find_level(texts.to_list(), read_cells(texts, column, "label"), column) is None:
            return f"all cells of a column are at one level of its hierarchy, and those of {column.name!r} are not"
    if labels:
        held.append("all cells of a column are at one level")
    return ""


def _texts_of(release: Path, people: PublishedParts, columns: Sequence[Column]) -> list[pl.Series]:
    """The different texts of each column, over all parts."""
    found: list[pl.Series] = [pl.Series([], dtype=pl.String) for _ in columns]
    separator = people.place.separator if people.place.format == "csv" else None
    for path in parts_of(release / people.name) if columns else ():
        frame = read_release(
            path,
            format=people.place.format,
            separator=separator,
            neutralised=people.place.neutralised,
            tells_empty=True,
        )
        for j, column in enumerate(columns):
            here = Texts.of(frame.get_column(column.name)).distinct.cast(pl.String).alias("")
            found[j] = pl.concat([found[j], here]).unique(maintain_order=True)
    return found


def _left_out(shape: GroupShape, *, in_buckets: bool) -> list[str]:
    asked = {
        "sizes of groups": (shape.sizes != "any" or shape.differ) and not in_buckets,
        "strata": bool(shape.strata),
        "cuts between boxes": shape.cuts,
        "whether boxes are as narrow as their rows": shape.tight,
    }
    return [words for words, is_asked in asked.items() if is_asked]
