# SPDX-License-Identifier: Apache-2.0
"""Published columns hold nothing but what their rows show.

A column remembers more than its cells: categories that no row has any more, a type that was chosen because of a value
which is not there, a text that lies in memory beside those that were taken from it, or beneath a cell that is missing, and is written
out with them by some formats. All of that would speak of people who were suppressed or dropped.
"""

import io

import numpy as np
import polars as pl

from overt.kernels.counting import count_codes
from overt.table import Table


def with_own_content(frame: pl.DataFrame) -> pl.DataFrame:
    """The same cells, in columns that hold nothing else."""
    frame = with_texts_in_nested(frame.with_columns(_with_nothing_beneath(column) for column in frame))
    frame = frame.with_columns(_with_used_categories(column) for column in frame.select(pl.col(pl.Enum)))
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    frame = frame.with_columns(_stored(frame.select(nested))) if nested else frame
    shared = [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.Binary) or dtype.is_nested()]
    frame = frame.with_columns(_copied(frame.select(shared))) if shared else frame
    return frame.with_columns(_without_marks(column) for column in frame)


def with_texts_in_nested(frame: pl.DataFrame) -> pl.DataFrame:
    """Categories inside lists and structs as texts: a type names all of them, used or not."""
    plain = {name: _without_categories(dtype) for name, dtype in frame.schema.items() if dtype.is_nested()}
    changed = {name: dtype for name, dtype in plain.items() if dtype != frame.schema[name]}
    return frame.cast(changed) if changed else frame  # type: ignore[arg-type]


def _without_categories(dtype: pl.DataType) -> pl.DataType:
    match dtype:
        case pl.Enum() | pl.Categorical():
            return pl.String()
        case pl.List():
            return pl.List(_without_categories(dtype.inner))  # type: ignore[arg-type]
        case pl.Array():
            return pl.Array(_without_categories(dtype.inner), dtype.size)  # type: ignore[arg-type]
        case pl.Struct():
            return pl.Struct([pl.Field(one.name, _without_categories(one.dtype)) for one in dtype.fields])  # type: ignore[arg-type]
    return dtype


def in_own_type(shown: pl.Series, table: Table) -> pl.Series:
    """Published cells in the type that follows from them, where no source declares one: the cells of other rows made it."""
    if shown.name in table.undeclared:
        return _in_fewest_digits(_in_days(_in_whole_numbers(shown)))
    return (
        _in_whole_numbers(shown) if table.frame_kind == "pandas" else shown
    )  # which has no whole numbers beside missing ones


def _in_whole_numbers(column: pl.Series) -> pl.Series:
    """Floats that are all whole as whole numbers."""
    if not column.dtype.is_float():
        return column
    is_whole = (column.round() == column) & (column.abs() < 1 << 53)
    return column.cast(pl.Int64) if is_whole.all() else column


def _in_days(column: pl.Series) -> pl.Series:
    """Moments that are all midnight, with no time zone, as days."""
    if not isinstance(column.dtype, pl.Datetime) or column.dtype.time_zone is not None:
        return column
    days = column.cast(pl.Date)
    return days if (days.cast(column.dtype) == column).all() else column


def _in_fewest_digits(column: pl.Series) -> pl.Series:
    """Exact numbers with as many digits after the point as one of them needs."""
    if not isinstance(column.dtype, pl.Decimal):
        return column
    fractions = column.unique().cast(pl.String).str.extract(r"\.(\d*?)0*$")
    scale = int(fractions.str.len_chars().fill_null(0).to_numpy().max(initial=0))
    return column.cast(pl.Decimal(column.dtype.precision, scale))


def _with_nothing_beneath(column: pl.Series) -> pl.Series:
    """The same cells, with nothing in the place of a missing one: readers of files leave any value of the column there."""
    if not column.null_count() or column.dtype.is_nested() or column.dtype == pl.Object:
        return column
    is_known = column.is_not_null().to_numpy()
    known = column.filter(pl.Series(is_known))
    place = np.where(is_known, np.cumsum(is_known) - 1, len(known))
    return known.extend_constant(None, 1).gather(place)


def _without_marks(column: pl.Series) -> pl.Series:
    """The same cells, not marked as sorted: a column takes that over from all values that were there to take cells from."""
    return column.gather(np.arange(len(column))) if any(column.flags.values()) else column


def _with_used_categories(column: pl.Series) -> pl.Series:
    """The categories that occur, in their order."""
    assert isinstance(column.dtype, pl.Enum)
    codes = column.to_physical().cast(pl.Int32)
    known = codes.drop_nulls().to_numpy()
    n_rows_of_code = count_codes(known, len(column.dtype.categories))
    if n_rows_of_code.all():
        return column
    used = column.dtype.categories.gather(np.flatnonzero(n_rows_of_code))
    new_code = pl.Series(np.cumsum(n_rows_of_code > 0, dtype=np.int32) - 1, dtype=pl.Int32)
    return used.cast(pl.Enum(used)).gather(new_code.gather(codes)).alias(column.name)


def _stored(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists and structs in a format that stores nothing for a missing cell, and read again."""
    memory = io.BytesIO()
    frame.write_parquet(memory)
    memory.seek(0)
    return pl.read_parquet(memory)


def _copied(frame: pl.DataFrame) -> pl.DataFrame:
    """Written and read again: a text that was taken from a column keeps its neighbours in memory."""
    memory = io.BytesIO()
    frame.write_ipc(memory, compat_level=pl.CompatLevel.oldest())
    memory.seek(0)
    return pl.read_ipc(memory)
