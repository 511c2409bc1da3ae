# SPDX-License-Identifier: Apache-2.0
"""Frames in and out: pandas, Polars and PyArrow, through Narwhals. What comes in as one kind goes out as it."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import polars as pl

from overt.errors import InvalidInput, MissingExtra
from overt.io.encoding import coded_from_series
from overt.io.intake import Intake, Missing
from overt.table import Kind, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder


def read_frame(
    frame: Any,
    *,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str] = (),
    identifiers: Collection[str] = (),
    hierarchies: "Mapping[str, Builder] | None" = None,
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Missing = "refuse",
    missing_values: Collection[str] = ("",),
    others: Collection[str] | None = None,
) -> Table:
    """Encode a pandas, Polars or PyArrow frame; an index plays no part.

    Columns without a role are kept as they are, all of them or those in `others`.

    >>> people = pl.DataFrame({"age": [31, 36, 31], "illness": ["flu", "cold", "flu"]})
    >>> table = read_frame(people, quasi_identifiers=["age"], sensitive=["illness"])
    >>> table.column("age").values.to_list(), table.column("age").codes.tolist()
    ([31, 36], [0, 1, 0])
    """
    intake = Intake(
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifiers=identifiers,
        hierarchies=hierarchies or {},
        kinds=kinds or {},
        missing=missing,
        missing_values=missing_values,
        others=others,
    )
    wrapped, frame_kind = _wrap(frame)
    columns = wrapped.columns
    if not all(isinstance(name, str) for name in columns):
        raise InvalidInput("A column of the frame has a name that is not a text; rename the columns to texts.")
    intake.refuse_unknown(columns)
    others_frame = pl.DataFrame([_polars_series(wrapped, name) for name in intake.kept_others(columns)])
    return intake.table(
        columns, lambda name: coded_from_series(_polars_series(wrapped, name)), others_frame, frame_kind=frame_kind
    )


def to_native(frame: pl.DataFrame, frame_kind: str) -> Any:
    """A Polars frame as a frame of some kind: "pandas", "polars" or "pyarrow"."""
    try:
        if frame_kind == "pandas":
            return frame.to_pandas()
        if frame_kind == "pyarrow":
            return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    except ImportError:
        raise MissingExtra(
            f"A {frame_kind} frame is made with PyArrow; install it with `pip install pyarrow`."
        ) from None
    return frame


def _wrap(frame: Any) -> tuple["nw.DataFrame[Any]", str]:
    try:
        wrapped = nw.from_native(frame)
    except (TypeError, ValueError, nw.exceptions.NarwhalsError):
        raise InvalidInput(
            f"A {type(frame).__name__} is not a frame that can be read (or two of its columns have the same name); "
            "pandas, Polars and PyArrow frames can, files by `read_file`."
        ) from None
    if isinstance(wrapped, nw.LazyFrame):
        return wrapped.collect("polars"), "polars"
    frame_kind = wrapped.implementation.value
    return wrapped, frame_kind if frame_kind in ("pandas", "pyarrow") else "polars"


def _order_of_categories(column: "nw.Series[Any]") -> list[str] | None:
    """The categories of a column, if they are texts in an order that somebody gave them."""
    native = column.to_native()
    if isinstance(column.dtype, nw.Enum):
        categories = list(native.cat.categories) if column.implementation.is_pandas() else []
    elif column.implementation.is_pyarrow() and getattr(native.type, "ordered", False) and native.num_chunks:
        categories = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
    else:
        return None
    return categories if categories and all(isinstance(category, str) for category in categories) else None


def _polars_series(wrapped: "nw.DataFrame[Any]", name: str) -> pl.Series:
    """A column in Polars; ordered categories of pandas and PyArrow keep their order."""
    try:
        column = wrapped.get_column(name)
        series = column.to_polars().alias(name)
        order = _order_of_categories(column)
        return series if order is None else series.cast(pl.Enum(order))
    except ImportError:
        raise MissingExtra("A pandas frame is read with PyArrow; install it with `pip install pyarrow`.") from None
    except Exception:  # pandas, PyArrow and Polars each have their own, and quote cells
        raise InvalidInput(f"Column {name!r} mixes types or has one without an equivalent; make it one type.") from None
