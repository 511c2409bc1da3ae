# SPDX-License-Identifier: Apache-2.0
# Tested through tests/hierarchy/test_prefixes.py
"""Texts and values: how a value is written, and which value a text means."""

from collections.abc import Hashable
from datetime import date, datetime
from fractions import Fraction

import polars as pl


def texts_of(values: pl.Series) -> pl.Series:
    """Every value as people write it: 7, 0.5, 2024-03-31; null stays null."""
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.to_string("iso:strict")
    return values.cast(pl.String)


def meanings_of(values: pl.Series) -> list[Hashable]:
    """What each value means, to be compared with `meaning_of` a text; None for what no text means, such as NaN."""
    dtype = values.dtype
    if dtype.is_integer() or isinstance(dtype, pl.Date | pl.Datetime):
        return values.to_list()
    texts = texts_of(values).str.strip_chars()
    return [meaning_of(text, dtype) for text in texts] if dtype.is_numeric() else texts.to_list()


def meaning_of(text: str, dtype: pl.DataType) -> Hashable:
    """The value that a text means in a column of this type: "1", "01" and "1.0" are one number.

    None if it cannot be a value of the column.
    """
    try:
        if dtype.is_numeric():
            return Fraction(text)
        if dtype == pl.Date:
            return date.fromisoformat(text)
        if isinstance(dtype, pl.Datetime):
            return datetime.fromisoformat(text)
    except (ValueError, ZeroDivisionError):
        return None
    return text.lower() if dtype == pl.Boolean else text.strip()
