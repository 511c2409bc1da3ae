# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_published_checks.py
"""Other notations: ranges as 20-29 or [20, 29], lists as a,b and lines with a count, rewritten as the library writes them, so that it can read them."""

import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
import polars as pl

from overt.io.files import read_release

NUMBER = r"(-?\d+(?:\.\d+)?)"
RANGES = (re.compile(rf"{NUMBER}\s*[-–]\s*{NUMBER}"), re.compile(rf"\[{NUMBER}\s*[,;-]\s*{NUMBER}\]"))
COUNT = "count"
MOST_ROWS = 10_000_000  # that lines with a count may stand for


def as_written_here(original: Path, published: Path, known: Collection[str], into: Path) -> Path:
    """The published file, or a copy in which every cell of a column that others may know is written as the library does.

    A cell that is a value of the original, or in no notation that is known, stays as it is.
    """
    truth, shown = read_release(original, neutralised=False), read_release(published, neutralised=False)
    before = shown
    for name in known:
        if name in shown.columns and name in truth.columns:
            values = set(texts_in(truth[name]))
            words = {text: rewritten(text, values) for text in texts_in(shown[name])}
            if any(text != word for text, word in words.items()):
                shown = shown.with_columns(pl.col(name).cast(pl.String).replace(words))
    if COUNT in shown.columns and COUNT not in truth.columns:
        shown = by_count(shown)
    if shown is before:
        return published
    shown.write_csv(into)
    return into


def texts_in(column: pl.Series) -> list[str]:
    """The different texts of a column."""
    return column.cast(pl.String).drop_nulls().unique().to_list()


def rewritten(text: str, values: Collection[str]) -> str:
    """A cell in the library's notation.

    >>> rewritten("20-29", {"20", "25"}), rewritten("m,f", {"m", "f"}), rewritten("531**", {"53117"})
    ('20..29', '{f, m}', '531**')
    """
    if text in values:
        return text
    found = next(filter(None, (pattern.fullmatch(text) for pattern in RANGES)), None)
    if found is not None:
        return f"{found[1]}..{found[2]}"
    parts = sorted(part.strip() for part in text.strip("{}[]").split(","))
    return f"{{{', '.join(parts)}}}" if len(parts) > 1 and all(part in values for part in parts) else text


def by_count(shown: pl.DataFrame) -> pl.DataFrame:
    """A row for each that a line stands for; as it is where a count is no whole number."""
    counts = shown[COUNT].cast(pl.String).cast(pl.Int64, strict=False)
    if counts.null_count() or (counts < 0).any() or counts.sum() > MOST_ROWS:
        return shown
    return shown[np.repeat(np.arange(shown.height), counts.to_numpy())].drop(COUNT)
