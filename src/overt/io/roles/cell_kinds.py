# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""As what the cells of a column can be read: dates in some format, numbers, or texts; and which cells do not fit in.

A column of numbers in which a few cells are none stays one of numbers, and one of dates one of dates: the odd cells are counted and
located, and whoever owns the data decides what becomes of them.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.hierarchy.texts import texts_of
from overt.io.date_formats import DateFormats, FoundDates, find_dates
from overt.io.encoding import CellPlaces, Coded, encode, find_unreadable, without_entries
from overt.io.number_formats import NumberFormat, find_number_format
from overt.io.roles.header_words import Meaning, meanings_of
from overt.table import Column, Kind, Role

MARKS = ("?", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "None", "none", "-", "--", ".", "#N/A", "unknown")
LEAST_SHARE = 0.95  # of the known cells that must be numbers for a column to be one
LEAST_NUMBERS = 5  # different ones
CODES = ("zip", "postcode", "plz", "postal", "code", "fips", "cap", "cep", "cp")  # headers of digits one cannot add up


@dataclass(frozen=True, eq=False)
class ReadAs:
    """A column as it can be read, and what was found on the way."""

    column: Column
    marks: tuple[str, ...] = ()  # texts that seem to stand for "missing"
    is_sure: bool = False  # whether the marks cannot be anything else
    n_marked: int = 0
    formats: DateFormats | NumberFormat | None = None
    alternative: str | None = None
    odd: CellPlaces | None = None
    dates: str = ""  # how well cells are dates, in words


def read_as(column: Column, coded: Coded) -> ReadAs:
    """Read a column that was encoded without being told anything as what most of its cells are."""
    if column.kind is Kind.DATE:
        return ReadAs(column, dates="looks like a date")
    is_text = column.kind is Kind.CATEGORY and column.values.dtype == pl.String and coded.dictionary.dtype == pl.String
    if is_text:
        return _read_texts(column, coded)
    if column.kind is Kind.NUMBER and column.values.dtype.is_integer():
        if found := _dates_of_digits(column):
            formats = found.formats
            if coded.dictionary.dtype == pl.String:
                as_dates = encode(column.name, Role.QUASI_IDENTIFIER, coded, date_formats=formats)
                return ReadAs(as_dates, formats=formats, dates=_words(found, 0))
        if _is_code(column.name):
            return ReadAs(encode(column.name, Role.QUASI_IDENTIFIER, coded, kind=Kind.CATEGORY))
    return ReadAs(column)


def _read_texts(column: Column, coded: Coded) -> ReadAs:
    is_mark = column.values.is_in(MARKS).fill_null(False).to_numpy()
    marks = tuple(column.values.filter(pl.Series(is_mark)))
    n_marked = int(column.total_of_value[is_mark].sum())
    known = column.values.is_not_null().to_numpy() & ~is_mark
    texts, n_rows_of = column.values.filter(pl.Series(known)), column.total_of_value[known]
    if not len(texts):
        return ReadAs(column)
    missing = ("", *marks)
    if found := find_dates(texts, n_rows_of):
        formats = None if found.is_iso else found.formats
        is_odd = find_unreadable(coded, Kind.DATE, formats, missing)
        odd = _places_of(coded, is_odd)
        read = encode(
            column.name, Role.QUASI_IDENTIFIER, without_entries(coded, is_odd), kind=Kind.DATE, missing_values=missing,
            date_formats=formats,
        )  # fmt: skip
        words = _words(found, 0 if odd is None else odd.numbers.size)
        return ReadAs(read, marks, bool(marks), n_marked, formats, found.alternative, odd, words)
    if not _is_code(column.name):
        is_odd = find_unreadable(coded, Kind.NUMBER, None, missing)
        if _are_numbers(texts, n_rows_of):
            odd = _places_of(coded, is_odd)
            rest = without_entries(coded, is_odd)
            read = encode(column.name, Role.QUASI_IDENTIFIER, rest, kind=Kind.NUMBER, missing_values=missing)
            return ReadAs(read, marks, bool(marks), n_marked, odd=odd)
        if form := find_number_format(texts, n_rows_of):
            is_odd = find_unreadable(coded, Kind.NUMBER, form, missing)
            odd = _places_of(coded, is_odd)
            rest = without_entries(coded, is_odd)
            read = encode(column.name, Role.QUASI_IDENTIFIER, rest, missing_values=missing, date_formats=form)
            return ReadAs(read, marks, bool(marks), n_marked, form, odd=odd)
    return ReadAs(column, marks, False, n_marked)


def _places_of(coded: Coded, is_odd: NDArray[np.bool_]) -> CellPlaces | None:
    """Where odd cells stand; None if there is none among these rows, as in a pilot that has none of them."""
    places = coded.places_of(is_odd)
    return places if places.numbers.size else None


def _are_numbers(texts: pl.Series, n_rows_of: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool:
    """Whether nearly all cells are numbers; a zero in front says that digits are a code."""
    is_number = texts.str.contains(
        r"^-?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-][0-9]+)?$"
    ).to_numpy()
    others = texts.filter(pl.Series(~is_number))
    if int(is_number.sum()) < LEAST_NUMBERS or bool(others.str.contains(r"^\d+$|^\d+[A-Za-z]+$|^[A-Za-z]+\d+$").any()):
        return len(others) == 0
    return float(n_rows_of[is_number].sum()) >= LEAST_SHARE * float(n_rows_of.sum())


def _dates_of_digits(column: Column) -> FoundDates | None:
    """Dates written as eight digits: of numbers alone only where the header speaks of a date."""
    if Meaning.DATE not in meanings_of(column.name):
        return None
    known = column.values.is_not_null().to_numpy()
    found = find_dates(texts_of(column.values.drop_nulls()), column.total_of_value[known])
    return found if found is not None and found.share == 1 else None


def _is_code(name: str) -> bool:
    """Whether a header speaks of digits that one cannot add up."""
    meanings = meanings_of(name)
    return Meaning.PUBLIC in meanings and any(word in name.lower() for word in CODES)


def _words(found: FoundDates, n_odd: int) -> str:
    """How well cells are dates, in words."""
    if found.is_iso and not n_odd:
        return "looks like a date"
    words = f"looks like a date, written {' or '.join(found.formats.formats)}"
    if n_odd:
        words += f" ({found.share:.1%} of known cells)".replace("%)", " %)").replace("% of", " % of")
    return words
