# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_row_by_row.py
"""Canonical texts: what a cell is called, from the cell alone, the same wherever it stands.

A number has one text, whatever type its column has: 1011 for 1011.0 too, else the shortest that reads back as the same
number. A moment without a time zone at midnight is its day. What has no text is null, and so unknown: what is not a number or
infinite, days outside the years 1 to 9999, bytes that are no text, lists and objects.
"""

import math
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl

from overt.errors import InvalidInput

_WHOLE = 1 << 63  # whole floats below it are written as whole numbers
_CALENDAR = {"ms": 10**3, "us": 10**6, "ns": 10**9}
FIRST_DAY, LAST_DAY = (date(year, *day).toordinal() - 719_163 for year, day in ((1, (1, 1)), (9999, (12, 31))))
DAY = 86_400  # seconds
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?([+-]\d\d(?::\d\d){0,2})?)?")


def texts_of_cells(series: pl.Series) -> pl.Series:
    """The text of every cell of a typed column; a type that has none is refused by its name."""
    dtype = series.dtype
    if dtype == pl.Null:
        texts = pl.Series([None] * len(series), dtype=pl.String)
    elif dtype == pl.String or dtype == pl.Boolean or dtype.is_integer() or isinstance(dtype, pl.Categorical | pl.Enum):
        texts = series.cast(pl.String)
    elif dtype.is_float():
        shown = series.cast(pl.String).cast(pl.Float64) if dtype == pl.Float32 else series.cast(pl.Float64)
        texts = _each_once(shown + 0.0, text_of_float)  # a single 0.1 is 0.1, not 0.10000000149; -0.0 is 0.0
    elif dtype.is_decimal():
        texts = _each_once(series.cast(pl.String), text_of_decimal)
    elif dtype == pl.Date:
        texts = _each_once(_on_calendar(series, 1).dt.to_string("iso:strict"), text_of_moment)
    elif isinstance(dtype, pl.Datetime):
        texts = _each_once(_iso(_on_calendar(series, DAY * _CALENDAR[dtype.time_unit])), text_of_moment)
    else:
        raise InvalidInput(
            f"Column {series.name!r} is of type {dtype.base_type().__name__}, which has no order to generalize by; make it "
            "numbers, dates or text, or leave it without a role."
        )
    return texts.alias(series.name)


def text_of(value: Any) -> str | None:
    """The text of any object: a cell of a column that holds what it likes."""
    try:
        return _text_of(value)
    except Exception:  # whatever the object's own methods do: what has no text is unknown
        return None


def text_of_float(number: float) -> str | None:
    """A floating number as a person writes it, 1011 and not 1011.0; None if it is none, or infinite."""
    if not math.isfinite(number):
        return None
    if number == int(number) and abs(number) < _WHOLE:
        return str(int(number))
    mantissa, _, exponent = repr(number).partition("e")
    return f"{mantissa}e{int(exponent):+d}" if exponent else mantissa


def text_of_decimal(text: str) -> str | None:
    """An exact number without zeros that say nothing."""
    if not Decimal(text).is_finite():
        return None
    whole, point, fraction = text.partition(".")
    text = f"{whole}{point}{fraction}".rstrip("0").rstrip(".") if point else whole
    return "0" if text == "-0" else text


def text_of_moment(text: str) -> str | None:
    """An ISO date or moment: no zeros at the end of a second, midnight without a time zone is the day."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    day, time, fraction, zone = found.groups()
    fraction = (fraction or "").rstrip("0")
    if time is None or (time == "00:00:00" and not fraction and zone is None):
        return day
    zone = f"{zone}:00" if zone is not None and len(zone) == 3 else zone or ""
    return f"{day}T{time}{f'.{fraction}' if fraction else ''}{zone}"


def text_or_none(octets: bytes, encoding: str = "utf-8") -> str | None:
    """Bytes as text, None if they are not in the encoding."""
    try:
        return octets.decode(encoding)
    except UnicodeDecodeError:
        return None


def texts_of_octets(octets: pl.Series) -> pl.Series:
    """Bytes as texts, each by itself; null where they are not UTF-8."""
    try:
        return octets.cast(pl.String)
    except pl.exceptions.ComputeError:
        cells = [None if cell is None else text_or_none(cell) for cell in octets.to_list()]
        return pl.Series(octets.name, cells, dtype=pl.String)


def texts_of_objects(cells: Iterable[Any]) -> pl.Series:
    """The text of every object, one by one."""
    return pl.Series([text_of(cell) for cell in cells], dtype=pl.String)


def _text_of(value: Any) -> str | None:
    if isinstance(value, str):
        text = str(value)
        text.encode()  # half a surrogate is no text
        return text
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, np.float32):  # of a half, NumPy writes 65504 as 6.55e+04
        return text_of_float(float(str(value)))
    if isinstance(value, Real) and not isinstance(value, np.timedelta64):
        return text_of_float(float(value))
    if isinstance(value, Decimal):
        return text_of_decimal(format(value, "f"))
    if isinstance(value, datetime | date):  # of pandas too; its "not a time" reads as nothing that could be meant
        return text_of_moment(value.isoformat())
    return text_of_moment(str(value)) if isinstance(value, np.datetime64) else None


def _iso(moments: pl.Series) -> pl.Series:
    """ISO moments in their zone. Its offset has seconds where it is local mean time, which Polars leaves out."""
    if moments.dtype.time_zone is None:  # type: ignore[attr-defined]
        return moments.dt.to_string("iso:strict")
    offsets = (moments.dt.base_utc_offset() + moments.dt.dst_offset()).dt.total_seconds()
    return moments.dt.replace_time_zone(None).dt.to_string("iso:strict") + _each_once(offsets, _offset_in_words)


def _offset_in_words(seconds: int) -> str:
    minutes, second = divmod(abs(seconds), 60)
    shown = f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return f"{shown}:{second:02}" if second else shown


def _each_once(cells: pl.Series, write: Callable[[Any], str | None]) -> pl.Series:
    """Write every distinct cell once."""
    distinct = cells.drop_nulls().unique()
    if distinct.dtype.is_float():
        distinct = distinct.filter(distinct.is_finite())
    written = pl.DataFrame(
        {"cell": distinct, "text": pl.Series([write(c) for c in distinct.to_list()], dtype=pl.String)}
    )
    return pl.DataFrame({"cell": cells}).join(written, on="cell", how="left", maintain_order="left").get_column("text")


def _on_calendar(moments: pl.Series, n_of_day: int) -> pl.Series:
    """Days and moments of the years 1 to 9999; Polars cannot write others, nor work beside them, not even where they lie under a null."""
    first, last = max(FIRST_DAY * n_of_day, -_WHOLE), min((LAST_DAY + 1) * n_of_day, _WHOLE) - 1
    given = moments.alias("moment").to_frame().select(pl.col("moment").to_physical())
    inside = given.select(pl.when(pl.col("moment").is_between(first, last)).then(pl.col("moment").clip(first, last)))
    return inside.to_series().cast(moments.dtype)
