# SPDX-License-Identifier: Apache-2.0
"""Dictionary encoding: cells become codes in the order of their values.

It takes two steps. `coded_from_series` numbers the cells of a typed column in any quick way (files of text arrive
numbered already); `encode` then looks only at the dictionary: it decides the kind, merges texts of the same value,
finds what is missing, sorts, and renumbers the rows.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.arguments import refusal
from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.canonical_texts import texts_of_cells
from overt.io.date_formats import DateFormats
from overt.io.number_formats import NumberFormat
from overt.kernels.counting import count_codes
from overt.table import Codes, Column, Kind, Role

if TYPE_CHECKING:
    from polars._typing import TimeUnit

    from overt.hierarchy import Builder, Hierarchy

# 01234 is a postcode and 3E2 a code: a number has no leading zero, no plus, and a sign in its exponent. Digits of other
# scripts, which \d would be, are text.
NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-][0-9]+)?"
_ANY_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_WHOLE = r"^-?[0-9]{1,18}$"
_FAR = 1 << 62  # sums and differences of numbers below it fit into 64 bits
MOST_PLACES = 5  # lines that a message names
Unreadable = Literal["refuse", "missing"]
_LONG_WHOLE = r"^-?[0-9]{19,}$"  # an account number, say: no float tells two of them apart


@dataclass(frozen=True, eq=False)
class Coded:
    """A column in numbers: the cell of a row is `dictionary[codes[row]]`. Entries may repeat or go unused."""

    dictionary: pl.Series
    codes: Codes
    is_text: bool = False  # came as text, so its kind is to be found
    dtype: pl.DataType | None = None  # what came in and should go out
    first_line: int | None = None  # of the file, if every row has a line of its own
    positions: NDArray[np.intp] | None = None  # of the rows where they came from; None: 0, 1, ...

    def at(self, rows: NDArray[np.intp]) -> "Coded":
        """The same column of these rows alone."""
        positions = rows if self.positions is None else self.positions[rows]
        return Coded(self.dictionary, self.codes[rows], self.is_text, self.dtype, self.first_line, positions)

    def without(self, rows: NDArray[np.intp]) -> "Coded":
        """The same column of all other rows."""
        return self.at(positions_without(rows, self.codes.size))

    def places_of(self, is_entry: NDArray[np.bool_]) -> "CellPlaces":
        """Where the cells are that have one of these entries of the dictionary."""
        rows = np.flatnonzero(is_entry[self.codes])
        positions = rows if self.positions is None else self.positions[rows]
        return CellPlaces(positions + (1 if self.first_line is None else self.first_line), self.first_line is not None)


@dataclass(frozen=True, eq=False)
class CellPlaces:
    """Some cells of a column: the lines of a file that they stand on, or the rows, counted from 1."""

    numbers: NDArray[np.intp]
    are_lines: bool

    def __str__(self) -> str:
        shown = [f"{number:,}" for number in self.numbers[:MOST_PLACES].tolist()]
        one, several = ("line", "lines") if self.are_lines else ("row", "rows")
        if self.numbers.size > MOST_PLACES:
            return f"{several} {', '.join(shown)} and {self.numbers.size - MOST_PLACES:,} more"
        return f"{one} {shown[0]}" if len(shown) == 1 else f"{several} {', '.join(shown[:-1])} and {shown[-1]}"


def positions_without(left_out: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """The positions of so many rows, ascending, but for those that are left out."""
    return np.setdiff1d(np.arange(n_rows), left_out, assume_unique=True)


def coded_from_series(series: pl.Series) -> Coded:
    """Number the cells of a typed column."""
    dtype = series.dtype
    if not _has_order(dtype):
        raise InvalidInput(
            f"Column {series.name!r} is of type {dtype.base_type().__name__}, which has no order to generalize by; "
            "make it numbers, dates or text, or leave it without a role."
        )
    if dtype == pl.Null:
        return Coded(pl.Series([None], dtype=pl.String), np.zeros(len(series), np.int32), dtype=dtype)
    if dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum):  # categories of one's own equal no others
        return _coded_texts(series, dtype)
    if dtype.is_decimal():
        coded = _coded_texts(series.cast(pl.String), dtype)
        return Coded(_plain_decimals(coded.dictionary.cast(dtype), series.name), coded.codes, dtype=dtype)
    if dtype.is_float():
        return _coded_numbers(series.cast(pl.Float64).fill_nan(None), dtype)
    if dtype in (pl.Int128, pl.UInt128):
        return _coded_numbers(_narrowed(series), dtype)
    return _coded_numbers(series, dtype)


def coded_by_cell(series: pl.Series) -> Coded:
    """Number the cells of a typed column by their texts, each found from the cell alone. Days and moments are still known to be such: no format reads them."""
    coded = coded_from_series(texts_of_cells(series))
    return replace(coded, dtype=series.dtype) if series.dtype.is_temporal() else coded


def encode(
    name: str,
    role: Role,
    coded: Coded,
    *,
    kind: Kind | None = None,
    missing_values: Collection[str] = ("",),
    builder: "Builder | None" = None,
    date_formats: DateFormats | NumberFormat | None = None,
) -> Column:
    """Make a column of numbered cells: values sorted, equal ones merged, missing last.

    Texts are read as dates of these formats, or as numbers of one, if there are any.
    """
    n_rows_of_entry = count_codes(coded.codes, len(coded.dictionary))
    how: dict[str, Any] = {"kind": kind, "missing_values": missing_values, "builder": builder}
    numbered = number_entries(name, role, coded, n_rows_of_entry, date_formats=date_formats, **how)
    return replace(numbered.column, codes=numbered.code_of_entry[coded.codes])


@dataclass(frozen=True, eq=False)
class Numbered:
    """A column without rows, and the code of every entry of the dictionary that it was made of."""

    column: Column
    code_of_entry: Codes


def number_entries(
    name: str,
    role: Role,
    coded: Coded,
    n_rows_of_entry: NDArray[np.int64],
    *,
    kind: Kind | None = None,
    missing_values: Collection[str] = ("",),
    builder: "Builder | None" = None,
    date_formats: DateFormats | NumberFormat | None = None,
) -> Numbered:
    """The dictionary of a column, apart from its rows: from its entries and how often each occurs.

    The rows of `coded` serve only to say where a cell stands that cannot be read; it may have none.
    """
    used = np.flatnonzero(n_rows_of_entry)
    entries = _without_missing(coded.dictionary.gather(used), missing_values)
    if kind is None:
        kind = _kind_of(entries, is_text=coded.is_text) if date_formats is None else kind_of_format(date_formats)
    if kind is not Kind.CATEGORY and entries.dtype == pl.String:
        entries = _readable(name, entries, kind, date_formats, coded, used)
    in_order = kind is Kind.CATEGORY and isinstance(coded.dtype, pl.Enum)  # an order that somebody thought of
    values, code_of_entry = _distinct_values(_as_kind(name, entries, kind).alias(name), in_order=in_order)
    hierarchy = None
    if builder is not None:
        n_rows_of_value = np.bincount(code_of_entry, n_rows_of_entry[used], len(values)).astype(np.int64)
        if not callable(getattr(builder, "build", None)):
            raise InvalidInput(
                refusal(
                    f"The hierarchy of {name!r}",
                    builder,
                    "one made by Prefixes, Dates, Intervals, Nested, Levels and the like",
                )
            )
        hierarchy = builder.build(values, kind, n_rows_of_value)
        values, code_of_entry = _in_leaf_order(hierarchy, values, code_of_entry)
    code_of_number = np.zeros(len(coded.dictionary), np.int32)
    code_of_number[used] = code_of_entry
    no_rows = np.empty(0, np.int32)
    return Numbered(Column(name, role, kind, no_rows, values, hierarchy, coded.dtype), code_of_number)


def is_missing(coded: Coded, missing_values: Collection[str]) -> NDArray[np.bool_]:
    """For every row, whether its cell is missing."""
    return _without_missing(coded.dictionary, missing_values).is_null().to_numpy()[coded.codes]


def codes_by_text(series: pl.Series) -> tuple[Codes, int]:
    """A code for every cell of any column, in the order of the texts of the cells; and how many codes there are."""
    if not _has_order(series.dtype):
        series = pl.Series([None if cell is None else repr(cell) for cell in series.to_list()], dtype=pl.String)
    if series.dtype.is_decimal() or series.dtype in (pl.Int128, pl.UInt128):  # of any number of digits
        series = series.cast(pl.String)
    coded = coded_from_series(series)
    values, code_of_entry = _distinct_values(texts_of(coded.dictionary))
    return code_of_entry[coded.codes], len(values)


def values_as_came(column: Column) -> pl.Series:
    """The dictionary of a column in the type that came in."""
    values, dtype = column.values, column.dtype
    if dtype is None or dtype == values.dtype:
        return values
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.Enum(values.drop_nulls()))
    if dtype == pl.Boolean:
        return values == "true"
    if isinstance(dtype, pl.Datetime | pl.Date) and values.dtype == pl.String:
        return _parse_dates(values, getattr(dtype, "time_unit", None) or "us").cast(dtype)
    return values.cast(dtype)


def _has_order(dtype: pl.DataType) -> bool:
    known = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Null)
    return dtype.is_numeric() or dtype in known or isinstance(dtype, pl.Categorical | pl.Enum)


def _coded_texts(series: pl.Series, dtype: pl.DataType) -> Coded:
    if isinstance(dtype, pl.Enum):
        categories = pl.Series(dtype.categories, dtype=pl.String)
        return _with_null(series.to_physical(), categories, dtype)
    if not isinstance(dtype, pl.Categorical):
        series = series.cast(pl.Categorical(pl.Categories.random()))
    numbers = series.to_physical()
    known = numbers.drop_nulls().to_numpy()
    row_of_number = np.zeros(int(known.max()) + 1 if known.size else 0, np.int64)
    row_of_number[known] = np.flatnonzero(numbers.is_not_null().to_numpy())
    return _with_null(numbers, series.gather(row_of_number).cast(pl.String), dtype)


def _with_null(numbers: pl.Series, dictionary: pl.Series, dtype: pl.DataType) -> Coded:
    """Nulls among the numbers become one more entry of the dictionary."""
    if numbers.null_count():
        numbers = numbers.cast(pl.Int32).fill_null(len(dictionary))
        dictionary = dictionary.extend_constant(None, 1)
    return Coded(dictionary, numbers.cast(pl.Int32).to_numpy(), dtype=dtype)


def _coded_numbers(series: pl.Series, dtype: pl.DataType) -> Coded:
    """Numbers in a narrow range are their own dictionary; others are sorted once."""
    plain = series.to_physical()
    plain = plain.cast(pl.Int8) if plain.dtype == pl.Boolean else plain
    least, greatest = cast(Any, plain.min()), cast(Any, plain.max())
    if least is None:
        return _with_null(plain.cast(pl.Int32), series.clear(), dtype)
    is_narrow = plain.dtype.is_integer() and greatest - least <= max(1 << 20, 2 * len(plain))
    if is_narrow and least > -_FAR and greatest < _FAR:
        dictionary = pl.int_range(least, greatest + 1, dtype=pl.Int64, eager=True).cast(plain.dtype)
        numbers = (plain.cast(pl.Int64) - least).cast(pl.Int32)
    else:
        known = plain.is_not_null().to_numpy()
        distinct, places = np.unique(plain.drop_nulls().to_numpy(), return_inverse=True)
        dictionary = pl.Series(distinct, dtype=plain.dtype)
        codes = np.full(len(plain), -1, np.int32)
        codes[known] = places
        numbers = pl.Series(codes).to_frame("code").select(pl.when(pl.col("code") >= 0).then("code")).to_series()
    return _with_null(numbers, dictionary.cast(series.dtype), dtype)


def _narrowed(series: pl.Series) -> pl.Series:
    narrow = series.cast(pl.Int64, strict=False)
    if narrow.null_count() != series.null_count():
        raise _too_long(series.name, narrow.null_count() - series.null_count())
    return narrow


def _plain_decimals(decimals: pl.Series, name: str) -> pl.Series:
    """Decimals as whole numbers if they are, else as floats if none of them loses a digit."""
    if cast(pl.Decimal, decimals.dtype).scale == 0:
        return _narrowed(decimals.alias(name))
    floats = decimals.cast(pl.Float64)
    n_changed = int((floats.cast(decimals.dtype) != decimals).sum())
    if n_changed:
        raise _too_long(name, n_changed)
    return floats


def _too_long(name: str, n_values: int) -> InvalidData:
    return InvalidData(
        f"Column {name!r} has {n_values} distinct numbers with more digits than a 64-bit number holds; round them, or "
        "make the column text."
    )


def _without_missing(entries: pl.Series, missing_values: Collection[str]) -> pl.Series:
    """Texts stripped, those that stand for "missing" made null."""
    if entries.dtype != pl.String:
        return entries
    stripped = entries.str.strip_chars()
    return (
        stripped.to_frame("text").select(pl.when(~pl.col("text").is_in(list(missing_values))).then("text")).to_series()
    )


def _kind_of(entries: pl.Series, *, is_text: bool) -> Kind:
    dtype = entries.dtype
    if dtype.is_numeric():
        return Kind.NUMBER
    if dtype.is_temporal():
        return Kind.DATE
    if not is_text or entries.null_count() == len(entries):
        return Kind.CATEGORY
    if _all(entries.str.contains(f"^{NUMBER}$")) and not _any(entries.str.contains(_LONG_WHOLE)):
        return Kind.NUMBER
    if (
        _all(entries.str.contains(_DATE))
        and entries.str.to_date("%Y-%m-%d", strict=False).null_count() == entries.null_count()
    ):
        return Kind.DATE
    return Kind.CATEGORY


def _all(verdicts: pl.Series) -> bool:
    return bool(verdicts.all(ignore_nulls=True))


def _any(verdicts: pl.Series) -> bool:
    return bool(verdicts.any(ignore_nulls=True))


def _as_kind(name: str, entries: pl.Series, kind: Kind) -> pl.Series:
    """The entries as values of a kind: whole or floating numbers, dates, or text."""
    dtype = entries.dtype
    if kind is Kind.CATEGORY:
        return texts_of(entries)
    if kind is Kind.NUMBER and dtype.is_numeric():
        return _wide(entries)
    if kind is Kind.DATE and isinstance(dtype, pl.Date | pl.Datetime):
        return _plain_dates(entries)
    texts = texts_of(entries)
    parsed = _parse_numbers(texts) if kind is Kind.NUMBER else _plain_dates(_parse_dates(texts))
    if parsed.null_count() > texts.null_count():
        raise InvalidInput(f"Column {name!r} was declared a {kind} and is not one; declare it a category.")
    return parsed


def _readable(
    name: str,
    entries: pl.Series,
    kind: Kind,
    date_formats: DateFormats | NumberFormat | None,
    coded: Coded,
    used: NDArray[np.intp],
) -> pl.Series:
    """The entries if all can be read as a kind, dates as ISO texts."""
    read, is_wrong = _read_as(entries, kind, date_formats)
    if not is_wrong.any():
        return read
    is_entry = np.zeros(len(coded.dictionary), np.bool_)
    is_entry[used[is_wrong]] = True
    places = coded.places_of(is_entry)
    n_texts = int(is_wrong.sum())
    asked = f"a {kind}" if date_formats is None else date_formats.words
    cells = "1 cell is not one" if places.numbers.size == 1 else f"{places.numbers.size:,} cells are not one"
    where = f"{cells} ({places})" if places.numbers.size else f"{n_texts:,} of the texts that occur are not one"
    raise InvalidData(
        f"Column {name!r} was declared {asked}, and {where}. Correct them, list texts that mean missing under "
        'missing_values, say unreadable = "missing" for the column to treat such cells as missing, or declare it a category.'
    )


def _read_as(
    entries: pl.Series, kind: Kind, date_formats: DateFormats | NumberFormat | None
) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Texts of a kind, dates as ISO texts; and which of them are not of that kind."""
    read = entries if date_formats is None else date_formats.read_texts(entries)
    if kind is Kind.DATE and date_formats is not None:
        read = _alike(read)
    parsed = _parse_numbers(read) if kind is Kind.NUMBER else _parse_dates(read)
    return read, (parsed.is_null() & entries.is_not_null()).to_numpy()


def kind_of_format(formats: DateFormats | NumberFormat) -> Kind:
    """The kind of a column whose cells are written in a format."""
    return Kind.NUMBER if isinstance(formats, NumberFormat) else Kind.DATE


def find_unreadable(
    coded: Coded, kind: Kind, date_formats: DateFormats | NumberFormat | None, missing_values: Collection[str] = ("",)
) -> NDArray[np.bool_]:
    """(entry) -> whether it is a text that is no number, or no date; what is missing is not."""
    if coded.dictionary.dtype != pl.String or kind is Kind.CATEGORY:
        return np.zeros(len(coded.dictionary), np.bool_)
    return _read_as(_without_missing(coded.dictionary, missing_values), kind, date_formats)[1]


def without_entries(coded: Coded, is_gone: NDArray[np.bool_]) -> Coded:
    """The same column with these entries missing."""
    return replace(coded, dictionary=pl.select(pl.when(pl.Series(~is_gone)).then(coded.dictionary)).to_series())


def _alike(iso: pl.Series) -> pl.Series:
    """ISO texts that are all days or all moments."""
    is_moment = iso.str.contains("T", literal=True)
    if not is_moment.any():
        return iso
    return pl.select(pl.when(is_moment).then(iso).otherwise(iso + "T00:00:00")).to_series()


def _wide(numbers: pl.Series) -> pl.Series:
    """Numbers of 64 bits. Floats that are all whole are whole numbers: what a missing value made of ages, say."""
    if numbers.dtype.is_float():
        floats = numbers.cast(pl.Float64) + 0.0  # -0.0 is 0.0
        is_whole = _all((floats.round() == floats) & (floats.abs() < 1 << 53))
        return floats.cast(pl.Int64) if is_whole else floats
    return numbers if numbers.dtype == pl.UInt64 and _any(numbers >= 1 << 63) else numbers.cast(pl.Int64)


def _parse_numbers(texts: pl.Series) -> pl.Series:
    if _all(texts.str.contains(_WHOLE)):
        return texts.cast(pl.Int64)
    plain = texts.to_frame("text").select(pl.when(pl.col("text").str.contains(_ANY_NUMBER)).then("text")).to_series()
    floats = plain.str.strip_prefix("+").cast(pl.Float64, strict=False)
    return _wide(floats.to_frame("number").select(pl.when(pl.col("number").is_finite()).then("number")).to_series())


def _plain_dates(dates: pl.Series) -> pl.Series:
    """Moments that are all midnight, with no time zone, are days."""
    if isinstance(dates.dtype, pl.Datetime) and dates.dtype.time_zone is None:
        days = dates.cast(pl.Date)
        return days if _all(days.cast(dates.dtype) == dates) else dates
    return dates


def _parse_dates(texts: pl.Series, unit: "TimeUnit" = "us") -> pl.Series:
    dates = texts.str.to_date("%Y-%m-%d", strict=False)
    if dates.null_count() == texts.null_count():
        return dates
    for pattern in ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f%:z"):
        moments = texts.str.to_datetime(pattern, strict=False, time_unit=unit)
        if moments.null_count() == texts.null_count():
            return moments
        if moments.null_count() < dates.null_count():
            dates = moments
    return dates


def _distinct_values(entries: pl.Series, *, in_order: bool = False) -> tuple[pl.Series, Codes]:
    """The distinct values, ascending (or as they come), a null last; and the place of every entry among them."""
    known = entries.drop_nulls()
    places = np.full(len(entries), -1, np.int32)
    if entries.dtype == pl.String:
        values = known.unique(maintain_order=True) if in_order else known.unique().sort()
        found = known.cast(pl.Enum(values)).to_physical().to_numpy()
    else:
        distinct, found = np.unique(known.to_physical().to_numpy(), return_inverse=True)
        values = pl.Series(distinct, dtype=known.to_physical().dtype).cast(entries.dtype)
    places[entries.is_not_null().to_numpy()] = found
    if entries.null_count():
        values = values.extend_constant(None, 1)
        places[places < 0] = len(values) - 1
    return values.alias(entries.name), places


def _in_leaf_order(hierarchy: "Hierarchy", values: pl.Series, places: Codes) -> tuple[pl.Series, Codes]:
    """The values in the order of the hierarchy's leaves, and the places among them."""
    leaf_of_value = {value: leaf for leaf, value in enumerate(hierarchy.leaves)}
    leaves = np.array([leaf_of_value[value] for value in values], np.int32)
    return hierarchy.leaves.alias(values.name), leaves[places]
