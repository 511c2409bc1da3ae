# SPDX-License-Identifier: Apache-2.0
# Tested through tests/analysis/test_estimates.py
"""What a published column says, to somebody who has nothing but the texts: ranges of numbers or of dates, sets of values, labels."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

EVERYTHING = "*"
OR_MISSING = " or missing"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_MEMBER = re.compile(rf'{_QUOTED}|[^\s",{{}}][^",{{}}]*')

Scale = Literal["whole numbers", "numbers", "days", "moments", "categories"]


@dataclass(frozen=True)
class Cell:
    """A published text, read: from `least` to `greatest`, or one of `members`; and whether a missing value is possible."""

    text: str | None
    least: float = np.nan
    greatest: float = np.nan
    members: tuple[str, ...] = ()
    may_be_missing: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether nothing but a missing value is shown."""
        return self.text is None


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A published quasi-identifier: its different cells, which of them each line shows, and how they are ordered."""

    name: str
    cells: tuple[Cell, ...]
    cell_of_row: NDArray[np.int64]
    scale: Scale

    @classmethod
    def of(cls, name: str, shown: pl.Series) -> "ReadColumn":
        """A column as it is read from a file, or from a frame."""
        texts = shown.cast(pl.String)
        distinct = texts.unique(maintain_order=True)
        if texts.null_count():
            distinct = pl.concat([distinct.drop_nulls(), pl.Series(distinct.name, [None], pl.String)])
        number = {text: place for place, text in enumerate(distinct)}
        cell_of_row = np.array([number[text] for text in texts], np.int64)
        listed = distinct.to_list()
        for scale, parse in _PARSERS.items():
            cells = _in_order(listed, parse)
            if cells is not None and not (scale == "whole numbers" and not _all_whole(cells)):
                return cls(name, cells, cell_of_row, cast(Scale, scale))
        return cls(name, tuple(map(_category, listed)), cell_of_row, "categories")

    @cached_property
    def n_of_cell(self) -> NDArray[np.int64]:
        """How many lines show each cell."""
        return np.bincount(self.cell_of_row, minlength=len(self.cells))

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Every category that a cell names by itself or in a set, in order."""
        return tuple(sorted({member for cell in self.cells for member in cell.members}))

    @property
    def shows_single_values(self) -> bool:
        """Whether every cell is one value, or missing."""
        return all(
            cell.text != EVERYTHING
            and (cell.is_missing or not cell.may_be_missing)
            and (
                len(cell.members) == 1
                if self.scale == "categories" and not cell.is_missing
                else cell.is_missing or cell.least == cell.greatest
            )
            for cell in self.cells
        )

    def parse(self, value: Any) -> float:
        """A bound of a condition as a number on the column's scale; `nan` if it is none."""
        if self.scale == "categories":
            return np.nan
        if isinstance(value, date | datetime):
            value = value.isoformat()
        try:
            return _PARSERS[self.scale](str(value))
        except ValueError:
            return np.nan

    @property
    def step(self) -> float:
        """The distance of neighbouring values: 0 where there is none."""
        return {"whole numbers": 1.0, "days": 1.0}.get(self.scale, 0.0)


def _in_order(texts: Sequence[str | None], parse: Callable[[str], float]) -> tuple[Cell, ...] | None:
    """The cells as ranges, or None if one is no range."""
    found, known = [], [text for text in texts if text not in (None, EVERYTHING)]
    if not known:
        return None
    try:
        for text in known:
            one = text.removesuffix(OR_MISSING)
            low, separator, high = one.partition("..")
            least = parse(low)
            greatest = parse(high) if separator else least
            found.append(Cell(text, least, greatest, may_be_missing=one != text))
    except ValueError:
        return None
    least, greatest = min(cell.least for cell in found), max(cell.greatest for cell in found)
    if EVERYTHING in texts:
        found.append(Cell(EVERYTHING, least, greatest, may_be_missing=None in texts))
    if None in texts:
        found.append(Cell(None, may_be_missing=True))
    place = {cell.text: cell for cell in found}
    return tuple(place[text] for text in texts)


def _all_whole(cells: Sequence[Cell]) -> bool:
    return all(cell.is_missing or (cell.least.is_integer() and cell.greatest.is_integer()) for cell in cells)


def _category(text: str | None) -> Cell:
    if text is None:
        return Cell(None, may_be_missing=True)
    if text == EVERYTHING:
        return Cell(text)
    names = members_of(text)
    return Cell(text, members=tuple(name for name in names if name is not None), may_be_missing=None in names)


def members_of(text: str) -> list[str | None]:
    """The values that a set, a list or a single text names; None for a missing one."""
    if not (text.startswith("{") and text.endswith("}")):
        return [_unquoted(text)]
    found = _MEMBER.findall(text[1:-1])
    return [None if member == "missing" else _unquoted(member) for member in found]


def _unquoted(text: str) -> str:
    if not (text.startswith('"') and text.endswith('"') and len(text) > 1):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _day(text: str) -> float:
    if "T" in text or " " in text:
        raise ValueError(text)
    return float(date.fromisoformat(text).toordinal())


def _moment(text: str) -> float:
    return (datetime.fromisoformat(text).replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def _number(text: str) -> float:
    number = float(text)
    if not np.isfinite(number):
        raise ValueError(text)
    return number


_PARSERS: dict[str, Callable[[str], float]] = {
    "whole numbers": _number,
    "numbers": _number,
    "days": _day,
    "moments": _moment,
}
