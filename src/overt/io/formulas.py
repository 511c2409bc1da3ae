# SPDX-License-Identifier: Apache-2.0
"""Texts that a spreadsheet would run, and the apostrophe that makes it show them instead.

A cell of a CSV file that begins with a sign of a formula is run when somebody opens the file, quotes around it or not (OWASP,
"CSV Injection"). Blanks, quotes and full-width forms of the signs change nothing. A spreadsheet may also split a line at
another separator than the file has, so every piece between separators is looked at as a cell. Numbers, ranges of numbers
and a sign alone run nothing and stay as they are.

One apostrophe goes before every such piece, also before one that begins with apostrophes already; so `restored` knows
what was there.
"""

import re
from collections.abc import Callable

import polars as pl

_BLANKS_AND_QUOTES = r"[\s\x00-\x1f\"'`\u00b4\u2018\u2019\u201c\u201d\u200b-\u200f\u2060\ufeff]*"
_SIGN = r"[=+\-@|\uff1d\uff0b\uff0d\uff20\uff5c\ufe66\ufe62\ufe63\ufe6b\u2212]"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"

_COULD_RUN = rf"(?:^|[,;\t\r\n]){_BLANKS_AND_QUOTES}{_SIGN}|\||^'*[\t\r\n]"  # a first look, at all texts of a column
_RUNS = re.compile(rf"{_BLANKS_AND_QUOTES}(?:{_SIGN}|\w[^|]*\|.*!)", re.DOTALL)  # a formula, or app|topic!item (DDE)
_HARMLESS = re.compile(rf"\s*(?:{_NUMBER}(?:\.\.{_NUMBER})?(?: or missing)?[\])}}]*|[+-])")
_CALLS = re.compile(r"[(|!=@\uff08\uff5c\uff01\uff1d\uff20\ufe66\ufe6b]")  # apostrophes change nothing about it
_SEPARATORS = re.compile(r"([,;\t\r\n])")
_CONTROL_FIRST = re.compile(r"'*[\t\r\n]")


def neutralised(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before every text, and every column name, that a spreadsheet would run."""
    return _changed(frame, _neutralise, _COULD_RUN)


def restored(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo `neutralised`."""
    return _changed(frame, _restore, "'")


def _neutralise(text: str) -> str:
    runs = _judge_of(text)
    safe = "".join(f"'{piece}" if runs(piece) else piece for piece in _SEPARATORS.split(text))
    return f"'{safe}" if _CONTROL_FIRST.match(safe) else safe


def _restore(text: str) -> str:
    if text.startswith("'") and _CONTROL_FIRST.match(text):
        text = text[1:]
    runs, pieces = _judge_of(text), _SEPARATORS.split(text)
    return "".join(piece[1:] if piece.startswith("'") and runs(piece[1:]) else piece for piece in pieces)


def _judge_of(text: str) -> Callable[[str], bool]:
    """What says of a piece of a text whether it would be run: a number too, if what follows could be called from it."""
    calls = _CALLS.search(text) is not None

    def runs(piece: str) -> bool:
        return _RUNS.match(piece) is not None and (calls or _HARMLESS.fullmatch(piece) is None)

    return runs


def _changed(frame: pl.DataFrame, change: Callable[[str], str], could_change: str) -> pl.DataFrame:
    """The frame with changed texts and names; every distinct text that could change is looked at once."""
    columns = [_changed_column(column, change, could_change) for column in frame]
    names = list(map(change, frame.columns))
    if len(set(names)) < len(names):  # no file of ours: only what is read can have both '=a and =a
        names = frame.columns
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _changed_column(column: pl.Series, change: Callable[[str], str], could_change: str) -> pl.Series:
    if isinstance(column.dtype, pl.Enum):
        texts = _changed_texts(pl.Series(column.dtype.categories, dtype=pl.String), change, could_change)
        dictionary = texts.cast(pl.Enum(texts.unique(maintain_order=True)))
        return dictionary.gather(column.to_physical()).alias(column.name)
    if isinstance(column.dtype, pl.Categorical):
        column = column.cast(pl.String)
    return _changed_texts(column, change, could_change) if column.dtype == pl.String else column


def _changed_texts(texts: pl.Series, change: Callable[[str], str], could_change: str) -> pl.Series:
    found = texts.filter(texts.str.contains(could_change).fill_null(value=False)).unique()
    changed = [change(text) for text in found]
    return texts.replace(found, pl.Series(changed, dtype=pl.String)) if changed else texts
