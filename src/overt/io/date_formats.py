# SPDX-License-Identifier: Apache-2.0
"""Dates as people write them: `%d.%m.%Y` and the like, read one cell at a time, and found out from a column.

A format is literal text with `%Y` (four digits), `%y` (two: 1930 to 2029), `%m`, `%d` (leading zeros may lack), `%b` (the name of a
month, in full or short, in one of nine languages), `%H`, `%M`, `%S` (seconds, with or without a fraction). What becomes of a cell is decided by the
cell and the formats alone, so that no row has a say in how another is read.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.io.number_formats import NumberFormat, is_example
from overt.io.roles.plain_text import plain_texts

_PARTS = {
    "Y": r"[0-9]{4}",
    "y": r"[0-9]{2}",
    "m": r"[0-9]{1,2}",
    "d": r"[0-9]{1,2}",
    "b": r"\p{L}+\.?",
    "H": r"[0-9]{1,2}",
    "M": r"[0-9]{2}",
    "S": r"[0-9]{2}(?:[.,][0-9]{1,9})?",
}  # fmt: skip  (not \d, which is a digit of any script)
_NAMES = """
jan january januar janner januari janv janvier ene enero gen gennaio janeiro oca ocak sty stycznia
feb february februar februari fev fevr fevrier febrero febbraio fevereiro sub subat lut lutego
mar march mars marz maart mrt marzo marco mart marca
apr april avr avril abr abril aprile nis nisan kwi kwietnia
may mai mei mayo maggio mag maio mayis maj maja
jun june juni juin junio giugno giu junho haz haziran cze czerwca
jul july juli juil juillet julio luglio lug julho tem temmuz lip lipca
aug august augustus aout aou ago agosto agu agustos sie sierpnia
sep sept september septembre septiembre settembre set setembro eyl eylul wrz wrzesnia
oct october oktober okt octobre octubre ottobre ott outubro out eki ekim paz pazdziernika
nov november novembre noviembre novembro kas kasim lis listopada
dec december dezember dez decembre diciembre dic dicembre dezembro ara aralik gru grudnia
"""
MONTHS = {name: month for month, line in enumerate(_NAMES.strip().splitlines(), 1) for name in line.split()}
_DAYS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%b %d, %Y", "%d/%b/%Y",
    "%d de %b de %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", "T%H:%M:%SZ")
_WITHOUT_SIGNS = (
    "%Y%m%d%H%M",
    "%Y%m%d%H%M%S",
    "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M%SZ",
)  # as in exports of hospitals and machines
CANDIDATES = (*(f"{day}{time}" for time in _TIMES for day in _DAYS), *_WITHOUT_SIGNS)
LEAST_SHARE = 0.8  # of the known cells that must be dates for a column to be one
MOST_FORMATS = 4  # of one column
_ADDS = 0.005  # the share of cells that one more format must explain
_SAMPLE = 2_000  # distinct texts on which formats are tried first


@dataclass(frozen=True)
class DateFormats:
    """How the dates of a column are written: the first format that a cell fits is what it means.

    >>> DateFormats(("%d.%m.%Y", "%Y-%m-%d")).iso_texts(pl.Series(["1.4.1966", "1966-04-19", "31.2.1966"])).to_list()
    ['1966-04-01', '1966-04-19', None]
    """

    formats: tuple[str, ...]

    def __post_init__(self) -> None:
        given = tuple(self.formats)
        object.__setattr__(self, "formats", given)
        if not given:
            raise InvalidInput('A date needs a format, such as "%d.%m.%Y".')
        for form in given:
            _pattern(form)
        for form in given:
            turned = form.translate(str.maketrans("dm", "md"))
            if turned != form and turned in given:
                raise InvalidInput(
                    f"The formats {form!r} and {turned!r} read the same cell as two days; keep the one that is meant."
                )

    @property
    def has_short_years(self) -> bool:
        """Whether years have two digits."""
        return any("%y" in form for form in self.formats)

    @property
    def words(self) -> str:
        """What a cell is asked to be, in words."""
        return f"a date written {' or '.join(self.formats)}"

    def read_texts(self, texts: pl.Series) -> pl.Series:
        """Every text as an ISO text; null for one that no format fits."""
        return self.iso_texts(texts)

    def iso_texts(self, texts: pl.Series) -> pl.Series:
        """Every text as an ISO date or moment; null for one that no format fits."""
        read: pl.Series | None = None
        for form in self.formats:
            found = _iso_of(texts, form)
            read = found if read is None else _first_known(read, found)
        assert read is not None
        return read.alias(texts.name)


@dataclass(frozen=True)
class FoundDates:
    """Formats that explain the cells of a column, and how well."""

    formats: DateFormats
    share: float  # of the known cells that they explain
    alternative: str | None  # a format that explains as much with day and month the other way round

    @property
    def is_iso(self) -> bool:
        """Whether dates are written as they are read without a format."""
        return all(form.startswith("%Y-%m-%d") and not form.endswith(("Z", "%H:%M")) for form in self.formats.formats)


def find_dates(texts: pl.Series, n_rows_of: NDArray[np.int64]) -> FoundDates | None:
    """The formats of a column of distinct texts, if most of its cells are dates.

    Day and month are told apart by cells whose day is above 12; where there are none the other order is named too.
    """
    is_known = texts.is_not_null().to_numpy() & (texts.str.strip_chars() != "").fill_null(False).to_numpy()
    texts, weights = texts.filter(pl.Series(is_known)).str.strip_chars(), n_rows_of[is_known].astype(float)
    if not len(texts) or float(texts.str.contains(r"\d").mean() or 0) < LEAST_SHARE:  # type: ignore[arg-type]
        return None
    some = np.linspace(0, len(texts) - 1, min(len(texts), _SAMPLE)).astype(np.intp)
    sample, weight = texts.gather(some), weights[some]
    outlines = set(_outlines(sample).to_list())
    fits = {form: _fits(sample, form) for form in CANDIDATES if _outline_of(form) in outlines}
    if not fits:
        return None
    chosen: list[str] = []
    left = np.ones(sample.len(), np.bool_)
    while len(chosen) < MOST_FORMATS and left.any():
        allowed = [form for form in fits if not any(_is_turned(form, one) for one in chosen)]
        if not allowed:
            break
        best = max(allowed, key=lambda form: weight[fits[form] & left].sum())
        if weight[fits[best] & left].sum() < max(_ADDS * weight.sum(), 1):
            break
        chosen.append(best)
        left &= ~fits[best]
    if not chosen or weight[~left].sum() < LEAST_SHARE * weight.sum():
        return None
    formats = DateFormats(tuple(chosen))
    is_read = formats.iso_texts(texts).is_not_null().to_numpy()
    share = float(weights[is_read].sum() / weights.sum())
    turned = [(form, _turned(form)) for form in chosen if _turned(form) != form]
    alternative = next((other for form, other in turned if _as_good(texts, form, other)), None)
    return FoundDates(formats, share, alternative) if share >= LEAST_SHARE else None


def _as_good(texts: pl.Series, form: str, other: str) -> bool:
    """Whether every cell that one format explains is explained by the other, and some of them as another day."""
    ours, theirs = _iso_of(texts, form), _iso_of(texts, other)
    fits, turned = ours.is_not_null(), theirs.is_not_null()
    return bool((turned | ~fits).all()) and bool((ours != theirs).fill_null(False).any())


def _turned(form: str) -> str:
    """The format with day and month the other way round, if it begins with one of them."""
    return form.translate(str.maketrans("dm", "md")) if form.startswith(("%d", "%m")) and "%b" not in form else form


def _is_turned(form: str, other: str) -> bool:
    """Whether two formats have the same marks between day and month, in another order."""
    sign, beside = (re.sub(r"[YyHMS%]|T.*| .*", "", _turned(one)) for one in (form, _turned(other)))
    return form != other and sign == beside and "b" not in form + other and {form[1], other[1]} == {"d", "m"}


def _outlines(texts: pl.Series) -> pl.Series:
    """Texts with 9 for digits and A for letters: what formats are told apart by at a glance."""
    return (
        texts.str.replace_all(r"\d+", "9")
        .str.replace_all(r"\p{L}+\.?", "A")
        .str.replace(r"(9:9:9)[.,]9", "${1}")
        .unique()
    )


@cache
def _outline_of(form: str) -> str:
    digits = re.sub(r"(%[YymdHMS])+", "9", re.sub(r"%[bB]", "A", form))
    return re.sub(r"[^\W\d_]+", "A", digits)


def _fits(texts: pl.Series, form: str) -> NDArray[np.bool_]:
    return _iso_of(texts, form).is_not_null().to_numpy()


def _first_known(read: pl.Series, found: pl.Series) -> pl.Series:
    return pl.select(pl.coalesce(read, found)).to_series()


@cache
def _pattern(form: str) -> str:
    """The regular expression of a format, with a group for every part."""
    parts = re.split(r"%(.)", form)
    letters = parts[1::2]
    unknown = [letter for letter in letters if letter not in (*_PARTS, "B")]
    counted = ["y" if letter == "Y" else "b" if letter == "B" else letter for letter in letters]
    has_day = {"d", "y"} <= set(counted) and ({"m"} <= set(counted)) != ({"b"} <= set(counted))
    if unknown or len(set(counted)) < len(counted) or not has_day or ("M" in counted) > ("H" in counted):
        raise InvalidInput(
            f"{form!r} is not a format of dates: it needs %d, %m (or %b for a name) and %Y (or %y), each once, and may have %H, %M "
            'and %S; an example is "%d.%m.%Y".'
        )
    pattern = ""
    for place, part in enumerate(parts):
        pattern += f"(?P<{_group(part)}>{_part(parts, place)})" if place % 2 else re.escape(part)
    return f"^{pattern}$"


def _part(parts: list[str], place: int) -> str:
    """The expression of a part; a number beside which another stands without a sign between them has two digits: 123456 is no 1234-5-6."""
    letter = "b" if parts[place] == "B" else parts[place]
    beside = [
        other
        for gap, other in ((place - 1, place - 2), (place + 1, place + 2))
        if 0 < gap < len(parts) - 1 and not parts[gap]
    ]
    is_joined = any(parts[other] in "YymdHMS" for other in beside)
    return "[0-9]{2}" if is_joined and letter in "mdH" else _PARTS[letter]


def _group(letter: str) -> str:
    return {"Y": "year", "y": "short", "m": "month", "d": "day", "b": "name", "B": "name", "H": "hour", "M": "minute", "S": "second"}[letter]  # fmt: skip


def _iso_of(texts: pl.Series, form: str) -> pl.Series:
    """Every text that fits a format as an ISO text; a day that is not in the calendar is null."""
    pattern = _pattern(form)
    groups = re.findall(r"\?P<(\w+)>", pattern)
    found = (
        texts.alias("text")
        .to_frame()
        .select(pl.col("text").str.strip_chars().str.extract_groups(pattern))
        .unnest("text")
    )
    if "name" in groups:
        found = found.with_columns(month=pl.Series(_months(found.get_column("name")), dtype=pl.String))
    if "short" in groups:
        short = pl.col("short").cast(pl.Int32)
        found = found.with_columns(year=(short + pl.when(short < 30).then(2000).otherwise(1900)).cast(pl.String))
    day = pl.concat_str("year", pl.col("month").str.zfill(2), pl.col("day").str.zfill(2), separator="-")
    iso = found.select(day.alias("iso"))
    is_day = iso.get_column("iso").str.to_date("%Y-%m-%d", strict=False).is_not_null()
    if "hour" in groups:
        minute = pl.col("minute") if "minute" in groups else pl.lit("00")
        second = pl.col("second").str.replace(",", ".", literal=True) if "second" in groups else pl.lit("00")
        time = pl.concat_str(pl.col("hour").str.zfill(2), minute, second, separator=":")
        moment = found.select((day + "T" + time).alias("iso"))
        is_time = found.select(
            (pl.col("hour").cast(pl.Int32) < 24) & (minute.cast(pl.Int32) < 60) & (second.cast(pl.Float64) < 60)
        ).to_series()
        iso, is_day = moment, is_day & is_time
    return iso.select(pl.when(is_day.fill_null(False)).then("iso")).to_series()


def _months(names: pl.Series) -> Iterable[str | None]:
    plain = plain_texts(names.str.strip_chars("."))
    return [None if name is None or name not in MONTHS else str(MONTHS[name]) for name in plain]


def formats_of(given: "str | Sequence[str] | DateFormats | NumberFormat") -> "DateFormats | NumberFormat":
    """The formats that a person gave: one, or a list; of dates, or an example of numbers."""
    if isinstance(given, DateFormats | NumberFormat):
        return given
    if isinstance(given, str) and is_example(given):
        return NumberFormat(given)
    return DateFormats((given,) if isinstance(given, str) else tuple(given))
