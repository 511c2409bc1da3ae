# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""Gathering: a result arrives in batches, and every column becomes codes and a dictionary as it comes.

So what is in memory grows with 4 bytes a cell (8 for numbers until they are coded) and the distinct texts, not with the
text. No text is shown to Polars as text before it was found to be UTF-8: SQLite stores any bytes as text, and Polars
does not look.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.canonical_texts import text_of_decimal, text_of_float, text_of_moment, texts_of_cells, texts_of_octets
from overt.io.database import postgresql, sqlite
from overt.io.database.address import quote
from overt.io.database.columns import ColumnPlan
from overt.io.database.connection import Connection
from overt.io.database.selection import Selection
from overt.io.encoding import Coded, coded_from_series
from overt.kernels.counting import count_codes
from overt.progress import Progress, silent
from overt.table import Codes

_SPECIAL = ("NaN", "Infinity", "-Infinity")
_MOST_DIGITS = 38
_DAYS = ("date", "timestamp", "timestamptz")
_TEXT_OF_TYPE: Mapping[str, Callable[[str], str | None]] = {
    **dict.fromkeys(("float4", "float8"), lambda text: text_of_float(float(text))),
    **dict.fromkeys(("numeric", "money"), text_of_decimal),
    **dict.fromkeys(_DAYS, text_of_moment),
}
_CALENDAR = {  # the first and the last day or microsecond of the years 1 to 9999
    pl.Date: (-719_162, 2_932_896),
    pl.Datetime: (-62_135_596_800_000_000, 253_402_300_799_999_999),
}


@dataclass(frozen=True, eq=False)
class Gathered:
    """A column as it came: codes, and a dictionary of texts or of values of the driver's type.

    The dictionary holds what occurs, each value once and in order, a null last.
    """

    plan: ColumnPlan
    codes: Codes
    dictionary: pl.Series

    @property
    def texts(self) -> pl.Series:
        """The entries of the dictionary as text."""
        return texts_of(self.dictionary)

    def with_role(self) -> Coded:
        """The column as a quasi-identifier or sensitive column."""
        self.plan.require_role()
        match self.plan.becomes:
            case "order":
                return self._through(coded_from_series(self.dictionary.cast(pl.Enum(self.plan.labels))))
            case "decimal":
                return self._through(coded_from_series(self._decimals().alias(self.plan.name)))
            case "loose text":
                return Coded(self.dictionary, self.codes, is_text=True)
            case "lone text":
                is_day = self.plan.type_name in _DAYS  # which no format reads
                return Coded(self._lone_texts(), self.codes, is_text=True, dtype=pl.Date() if is_day else None)
            case "text":
                return Coded(self.dictionary, self.codes, dtype=pl.String())
            case _:
                self._refuse_outside()
                return self._through(coded_from_series(self.dictionary.alias(self.plan.name)))

    def as_it_is(self) -> pl.Series:
        """The column without a role: nobody looks at it, and its values are kept."""
        self._refuse_no_days()
        values = self.dictionary
        if self.plan.becomes == "decimal" and not values.is_in(_SPECIAL).any():
            scale, n_digits = _digits_of(values)
            values = values.cast(pl.Decimal(_MOST_DIGITS, scale)) if n_digits <= _MOST_DIGITS else values
        if values.dtype == pl.String:  # a dictionary takes a fraction of the text
            labels = self.plan.labels or values.drop_nulls().unique().sort()
            values = values.cast(pl.Enum(labels))
        return values.gather(self.codes).alias(self.plan.name)

    def _lone_texts(self) -> pl.Series:
        write = _TEXT_OF_TYPE.get(self.plan.type_name)
        if write is None:
            return self.dictionary
        texts = [None if text is None else write(text) for text in self.dictionary.to_list()]
        return pl.Series(texts, dtype=pl.String)

    def _through(self, coded: Coded) -> Coded:
        """The rows in the codes that the entries of the dictionary were given."""
        return Coded(coded.dictionary, coded.codes[self.codes], coded.is_text, coded.dtype)

    def _decimals(self) -> pl.Series:
        """Exact numbers; NaN is no number and so missing, as it is in a column of floats."""
        self._refuse_infinite(self._n_rows_of(self.dictionary.is_in(_SPECIAL[1:])))
        numbers = self.dictionary.to_frame("n").select(pl.when(pl.col("n") != "NaN").then("n")).to_series()
        scale, n_digits = _digits_of(numbers)
        if n_digits > _MOST_DIGITS:
            raise InvalidData(
                f"Column {self.plan.name!r} has numbers of {n_digits} digits; round them, or select them as text in a query."
            )
        return numbers.cast(pl.Decimal(_MOST_DIGITS, scale))

    def _n_rows_of(self, is_entry: pl.Series) -> int:
        chosen = is_entry.fill_null(False).to_numpy()
        return int(count_codes(self.codes, len(self.dictionary))[chosen].sum()) if chosen.any() else 0

    def _refuse_outside(self) -> None:
        """Refuse numbers and days that nobody could generalize."""
        values = self.dictionary
        if values.dtype.is_float():
            self._refuse_infinite(self._n_rows_of(values.is_infinite()))
        self._refuse_no_days()

    def _refuse_no_days(self) -> None:
        """Refuse what is on no calendar. The driver lets "infinity" run over into a day millions of years ago."""
        bounds = _CALENDAR.get(self.dictionary.dtype.base_type())
        if bounds is None:
            return
        days = self.dictionary.to_physical()
        n_rows = self._n_rows_of((days < bounds[0]) | (days > bounds[1]))
        if n_rows:
            raise InvalidData(
                f"Column {self.plan.name!r} has days that are infinite, before the year 1 or after the year 9999 in {n_rows:,} "
                "rows; make them NULL, or days of our calendar, in a query."
            )

    def _refuse_infinite(self, n_rows: int) -> None:
        if n_rows:
            raise InvalidData(
                f"Column {self.plan.name!r} is infinite in {n_rows:,} rows, which is no number to generalize; make it NULL, or a "
                "number, in a query."
            )


def system_of(connection: Connection) -> ModuleType:
    """The module that knows the system of a database: both have functions of the same names."""
    return postgresql if connection.address.system == "postgresql" else sqlite


def plan_columns(connection: Connection, selection: Selection, wanted: Collection[str] | None) -> dict[str, ColumnPlan]:
    """How the wanted columns (or all) are read."""
    plans: dict[str, ColumnPlan] = system_of(connection).plan_columns(connection, selection, wanted)
    return plans


def plan_cells(connection: Connection, selection: Selection, wanted: Collection[str]) -> dict[str, ColumnPlan]:
    """How the wanted columns of a table are read if no row may have a say in how another is read."""
    system = system_of(connection)
    if selection.table is None or not system.is_plain_table(connection, selection.table):
        raise InvalidInput(
            f"{selection.what.capitalize()} is no table: a query or a view can make many rows of one, or fail because of one (so can a "
            "virtual or foreign table, a column that is made when it is read, or row security). Make a table of what it gives, "
            "and name that."
        )
    plans: dict[str, ColumnPlan] = system.plan_cells(connection, selection, wanted)
    return plans


def all_columns(connection: Connection, selection: Selection) -> list[str]:
    """The names of all columns of a table or query."""
    names: list[str] = system_of(connection).all_columns(connection, selection)
    return names


def gather(
    connection: Connection, selection: Selection, plans: Mapping[str, ColumnPlan], on_progress: Progress = silent
) -> dict[str, Gathered]:
    """Read the planned columns, batch by batch."""
    if not plans:
        return {}
    parts: dict[str, list[pl.Series]] = {name: [] for name in plans}
    categories = {name: pl.Categorical(pl.Categories.random()) for name in plans}
    n_rows = 0
    for columns in _batches(connection, selection, plans):
        for name, column in columns.items():
            parts[name].append(column.cast(categories[name]) if column.dtype == pl.String else column)
        n_rows += len(column)
        on_progress(f"Reading {selection.name}", n_rows, 0)
    return {name: _coded(plan, parts.pop(name)) for name, plan in plans.items()}


def _batches(
    connection: Connection, selection: Selection, plans: Mapping[str, ColumnPlan]
) -> Iterator[dict[str, pl.Series]]:
    """The columns of one batch after the other; those of text as text."""
    mixed = [plan.floats for plan in plans.values() if plan.floats is not None]
    asked = ", ".join([*(plan.expression for plan in plans.values()), *mixed])
    is_sqlite = connection.address.system == "sqlite"
    before = sqlite.first_row(plans.values()) if is_sqlite else ""
    n_skipped = int(is_sqlite)
    for batch in connection.batches(f"{before}SELECT {asked} FROM {selection.sql}", selection.what):
        columns = {name: _series(plan, batch.child(i))[n_skipped:] for i, (name, plan) in enumerate(plans.items())}
        for i, name in enumerate(name for name, plan in plans.items() if plan.floats is not None):
            floats = pl.Series(batch.child(len(plans) + i))[n_skipped:].cast(pl.Float64)
            texts = texts_of_cells(floats) if plans[name].becomes == "lone text" else floats.cast(pl.String)
            columns[name] = columns[name].zip_with(floats.is_null(), texts)
        n_skipped = 0
        yield columns


def _series(plan: ColumnPlan, array: Any) -> pl.Series:
    """An Arrow array as a Polars column."""
    import nanoarrow

    if array.schema.format not in ("u", "U"):
        column = pl.Series(plan.name, array)
        return column.gather(np.arange(len(column)))  # a copy: a part of a batch would keep all of it in memory
    view = array.view()
    buffers = [view.buffer(i) for i in range(view.n_buffers)]
    kind = nanoarrow.binary() if array.schema.format == "u" else nanoarrow.large_binary()
    octets = pl.Series(
        plan.name, nanoarrow.c_array_from_buffers(kind, array.length, buffers, array.null_count, array.offset)
    )
    if plan.becomes == "lone text":
        return texts_of_octets(octets)
    try:
        return octets.cast(pl.String)
    except pl.exceptions.ComputeError:
        raise InvalidData(
            f"Column {plan.name!r} has texts that are not UTF-8; repair them, or select hex({quote(plan.name)}) in a query."
        ) from None


def _coded(plan: ColumnPlan, parts: list[pl.Series]) -> Gathered:
    """The batches of a column in codes of one dictionary."""
    column = pl.concat(parts) if parts else pl.Series([], dtype=pl.String)
    parts.clear()
    coded = coded_from_series(column)
    used = count_codes(coded.codes, len(coded.dictionary)) > 0
    is_value = used & coded.dictionary.is_not_null().to_numpy()
    entries = np.flatnonzero(is_value)
    values = coded.dictionary.gather(entries)
    order = values.arg_sort().to_numpy()
    place_of_entry = np.full(len(coded.dictionary), entries.size, np.int32)
    place_of_entry[entries[order]] = np.arange(entries.size, dtype=np.int32)
    dictionary = values.gather(order)
    if (used & ~is_value).any():
        dictionary = dictionary.extend_constant(None, 1)
    return Gathered(plan, place_of_entry[coded.codes], dictionary)


def _digits_of(numbers: pl.Series) -> tuple[int, int]:
    """The most digits after the point, and how many digits numbers of this shape have in all."""
    parts = numbers.str.strip_prefix("-").str.split_exact(".", 1).struct.unnest()
    whole, fraction = (
        int(parts[name].str.len_chars().fill_null(0).to_numpy().max(initial=0)) for name in parts.columns
    )
    return fraction, whole + fraction
