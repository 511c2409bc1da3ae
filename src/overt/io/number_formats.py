# SPDX-License-Identifier: Apache-2.0
"""Numbers as people write them: `1.234,50`, `1 234,5 €`, `$1,234.50`, read one cell at a time, and found out from a column.

A format is an example: `1`, perhaps a mark, `234`, perhaps a decimal mark and fives, and what may stand before and after. What becomes of a
cell is decided by the cell and the format alone, so that no row has a say in how another is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput

_EXAMPLE = re.compile(
    r"(?P<before>[^\d+.,-]*)1(?P<group>[.,'’ \u00a0\u202f]?)234(?:(?P<point>[.,])5+)?(?P<after>[^\d+.,-]*)"
)
_MONEY = r"(?:[€$£¥₺%]|EUR|USD|GBP|CHF|PLN|SEK|NOK|DKK|CZK|HUF|RON|zł|kr\.?|TL|Kč|Ft|lei)"
_GROUPS = ("", ".", ",", " ", "\u00a0", "\u202f", "'", "’")
LEAST_SHARE = 0.95  # of the known cells that must be numbers for a column to be one
_SAMPLE = 2_000  # distinct texts on which formats are tried


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written, by an example.

    >>> NumberFormat("1.234,5 €").read_texts(pl.Series(["1.546,95 €", "-75,0", "12.5", "see file"])).to_list()
    ['1546.95', '-75.0', None, None]
    """

    example: str

    def __post_init__(self) -> None:
        found = _EXAMPLE.fullmatch(self.example)
        if found is None or found["group"] == (found["point"] or "-"):
            raise InvalidInput(
                f'{self.example!r} is not a format of numbers: it is an example that is made of 1, 234 and 5, such as "1.234,5" or "1234,5".'
            )

    @property
    def words(self) -> str:
        """What a cell is asked to be, in words."""
        return f"a number written like {self.example}"

    def read_texts(self, texts: pl.Series) -> pl.Series:
        """Every text as a plain number, with a point for decimals; null for one that does not fit."""
        part = _EXAMPLE.fullmatch(self.example)
        assert part is not None
        group, point = re.escape(part["group"]), re.escape(part["point"] or "")
        whole = rf"0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+" if group else "0|[1-9][0-9]*"
        fraction = rf"(?:{point}([0-9]+))?" if point else "()"
        before, after = (rf"(?:{re.escape(part[side].strip())}\s*)?" for side in ("before", "after"))
        pattern = rf"^\s*([+-]?)\s*{before}([+-]?)({whole}){fraction}\s*{after}$"
        found = texts.alias("text").to_frame().select(pl.col("text").str.extract_groups(pattern)).unnest("text")
        found.columns = ["sign", "inner", "whole", "fraction"]
        sign = pl.when((pl.col("sign") == "-") != (pl.col("inner") == "-")).then(pl.lit("-")).otherwise(pl.lit(""))
        digits = pl.col("whole").str.replace_all(part["group"], "", literal=True) if part["group"] else pl.col("whole")
        fraction_text = pl.col("fraction").fill_null("")
        decimals = pl.when(fraction_text != "").then("." + fraction_text).otherwise(pl.lit(""))
        return found.select((sign + digits + decimals).alias(texts.name)).to_series()


def is_example(given: object) -> bool:
    """Whether a format is one of numbers: it has digits, and no parts of dates."""
    return isinstance(given, str) and "%d" not in given and "%m" not in given and bool(re.search(r"\d", given))


def find_number_format(texts: pl.Series, n_rows_of: NDArray[np.int64]) -> NumberFormat | None:
    """The format of a column of distinct texts that are no plain numbers, if nearly all of its cells are numbers in one.

    `1,234` is a thousand and more if every comma stands before three digits, and `0,978` or `12,5` says that it is not.
    """
    weights = n_rows_of.astype(float)
    some = np.linspace(0, len(texts) - 1, min(len(texts), _SAMPLE)).astype(np.intp)
    sample, weight = texts.gather(some).str.strip_chars(), weights[some]
    if not len(sample) or float(sample.str.contains(r"\d[.,'’ \u00a0\u202f%€$£]|[€$£]\s?\d").mean() or 0) < 0.1:  # type: ignore[arg-type]
        return None
    best, most = None, 0.0
    for form in _candidates(sample):
        fits = form.read_texts(sample).is_not_null().to_numpy()
        share = float(weight[fits].sum() / weight.sum())
        if share > most:
            best, most = form, share
    return best if most >= LEAST_SHARE else None


def _candidates(texts: pl.Series) -> Iterator[NumberFormat]:
    """Formats that could be, likelier ones first."""
    before = texts.str.extract(rf"^[+-]?\s*({_MONEY})").drop_nulls().mode()
    after = texts.str.extract(rf"\d(\s?{_MONEY})$").drop_nulls().mode()
    sides = (before[0] if len(before) else "", after[0] if len(after) else "")
    marks = sorted((",", "."), key=lambda mark: _divides_thousands(texts, mark))
    for point in marks:
        for group in (mark for mark in reversed(_GROUPS) if mark != point):
            has_group = not group or bool(texts.str.contains(rf"\d{re.escape(group)}\d{{3}}(?:\D|$)").any())
            whole = bool(texts.str.contains(rf"\d{re.escape(point)}\d").any())
            plain = point == "." and not group and not any(sides)
            if has_group and not plain:
                yield NumberFormat(f"{sides[0]}1{group}234{point + '5' if whole else ''}{sides[1]}")


def _divides_thousands(texts: pl.Series, mark: str) -> bool:
    """Whether three digits follow wherever a mark stands."""
    marked = texts.filter(texts.str.contains(mark, literal=True))
    sign = re.escape(mark)
    return bool(len(marked)) and bool(
        marked.str.contains(rf"^\D*[1-9]\d{{0,2}}(?:{sign}\d{{3}})+(?:[^\d{sign}]|$)").all()
    )
