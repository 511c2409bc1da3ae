# SPDX-License-Identifier: Apache-2.0
"""Frames in and out: pandas, Polars and PyArrow, through Narwhals. What comes in as one kind goes out as it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from overt.errors import InvalidInput, MissingExtra
from overt.io.canonical_texts import DAY, FIRST_DAY, LAST_DAY, texts_of_objects, texts_of_octets
from overt.io.encoding import Coded, Unreadable, coded_by_cell, coded_from_series
from overt.io.intake import Intake, Missing
from overt.io.person_rows import person_rows
from overt.persons import Known, Which
from overt.table import Kind, Table

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from overt.hierarchy import Builder


_ARROW_TEXTS = ("string", "large_string", "string_view")


def read_frame(
    frame: Any,
    *,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str] = (),
    identifiers: Collection[str] = (),
    hierarchies: "Mapping[str, Builder] | None" = None,
    kinds: Mapping[str, Kind | str] | None = None,
    date_formats: Mapping[str, str | Sequence[str]] | None = None,
    unreadable: Mapping[str, Unreadable] | None = None,
    missing: Missing = "refuse",
    missing_values: Collection[str] = ("",),
    others: Collection[str] | None = None,
    person: str | None = None,
    keep: int | Literal["all"] = "all",
    which: Which = "random",
    order: str | None = None,
    known: Known = "visits",
    varies: Collection[str] = (),
    key: int | None = None,
    row_by_row: bool = False,
) -> Table:
    """Encode a pandas, Polars or PyArrow frame; an index plays no part.

    Columns without a role are kept as they are, all of them or those in `others`. `date_formats` and `unreadable` are as in
    `read_file`. With `row_by_row` every cell is a text
    found from the cell alone, as differentially private methods need it.

    If a person can have several rows, `person` names the column that identifies the person, and the table has one row per person. `varies` names
    the quasi-identifiers that differ between rows of a person. `keep` is the maximum number of rows to keep (a number, or "all"), and `which`
    says which ("random", or "latest" or "first" by the column `order`). `known` is what an adversary is assumed to know: "visits", all
    quasi-identifiers of all rows and their number, or "static", only those that do not vary. `key` repeats which rows are drawn.

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
        date_formats=date_formats or {},
        unreadable=unreadable or {},
        missing=missing,
        missing_values=missing_values,
        others=others,
        row_by_row=row_by_row,
        persons=person_rows(person, keep, which, order, known, varies, key),
    )
    return frame_intake(frame, intake)


def frame_intake(frame: Any, intake: Intake) -> Table:
    """The same, with all that is said of the columns in one value."""
    wrapped, frame_kind = _wrap(frame)
    columns = wrapped.columns
    if not all(isinstance(name, str) for name in columns):
        raise InvalidInput("A column of the frame has a name that is not a text; rename the columns to texts.")
    intake.refuse_unknown(columns)
    others_frame = pl.DataFrame([_polars_series(wrapped, name) for name in intake.kept_others(columns)])

    def coded(name: str) -> Coded:
        return _by_cell(wrapped, name) if intake.row_by_row else coded_from_series(_polars_series(wrapped, name))

    return intake.table(columns, coded, others_frame, frame_kind=frame_kind)


def coded_columns(frame: Any) -> tuple[dict[str, Coded | None], str]:
    """Every column of a frame as codes, None for one whose type has no order, and the kind of the frame. Texts are looked at as those of a file are."""
    wrapped, frame_kind = _wrap(frame)
    if not all(isinstance(name, str) for name in wrapped.columns):
        raise InvalidInput("A column of the frame has a name that is not a text; rename the columns to texts.")
    columns: dict[str, Coded | None] = {}
    for name in wrapped.columns:
        try:
            coded = coded_from_series(_polars_series(wrapped, name))
        except InvalidInput:
            columns[name] = None
            continue
        columns[name] = replace(coded, is_text=True) if coded.dictionary.dtype == pl.String else coded
    return columns, frame_kind


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
    import narwhals.stable.v2 as nw  # here, and not where every command would load it

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
    import narwhals.stable.v2 as nw

    native = column.to_native()
    if isinstance(column.dtype, nw.Enum):
        categories = list(native.cat.categories) if column.implementation.is_pandas() else []
    elif column.implementation.is_pyarrow() and getattr(native.type, "ordered", False) and native.num_chunks:
        categories = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
    else:
        return None
    return categories if categories and all(isinstance(category, str) for category in categories) else None


def _by_cell(wrapped: "nw.DataFrame[Any]", name: str) -> Coded:
    """The texts of a column in codes; where pandas keeps objects, each object by itself."""
    import narwhals.stable.v2 as nw

    column = wrapped.get_column(name)
    try:
        octets = _octets(column)
    except ValueError:  # a type that Narwhals cannot name, such as decimals that count in thousands
        raise _without_equivalent(name) from None
    if octets is not None:
        return coded_from_series(texts_of_octets(octets).alias(name))
    if column.implementation.is_pandas() and column.dtype in (nw.Object, nw.String, nw.Categorical, nw.Enum):
        return coded_from_series(texts_of_objects(column.to_native().astype(object).tolist()).alias(name))
    return coded_by_cell(_polars_series(wrapped, name, in_order=False))


def _octets(column: "nw.Series[Any]") -> pl.Series | None:
    """The bytes of a column of text that PyArrow holds, for itself or for pandas; None of other columns.

    PyArrow does not look whether they are UTF-8, and Polars believes that they are.
    """
    import narwhals.stable.v2 as nw

    if column.implementation.is_pandas():
        dtype = column.to_native().dtype
        is_arrow = getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype")
    else:
        is_arrow = column.implementation.is_pyarrow()
    if not is_arrow or column.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    arrow = _without_dictionary(column.to_arrow())
    return pl.Series(arrow.cast("large_binary")) if str(arrow.type) in _ARROW_TEXTS else None


def _without_dictionary(arrow: Any) -> Any:
    """The cells themselves: what becomes of a dictionary of numbers or moments would depend on how many pieces there are."""
    return arrow.cast(arrow.type.value_type) if hasattr(arrow.type, "value_type") else arrow


def _on_calendar(seconds: Any) -> Any:
    """Moments in whole seconds of the years 1 to 9999; Polars counts in thousandths, in which others overflow, to days that look like any."""
    import pyarrow.compute as pc

    first, last = FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
    number = seconds.cast("int64")
    return pc.if_else(pc.and_(pc.greater_equal(number, first), pc.less_equal(number, last)), seconds, None)


def _polars_series(wrapped: "nw.DataFrame[Any]", name: str, *, in_order: bool = True) -> pl.Series:
    """A column in Polars; ordered categories of pandas and PyArrow keep their order, unless nobody asks for it."""
    import narwhals.stable.v2 as nw

    try:
        column = wrapped.get_column(name)
        octets = _octets(column) if column.dtype == nw.String else None
        if octets is not None:
            series = octets.cast(pl.String)
        elif column.implementation.is_pyarrow() and column.dtype == nw.Categorical and not in_order:
            series = pl.Series(_without_dictionary(column.to_arrow()))
        elif isinstance(column.dtype, nw.Datetime) and column.dtype.time_unit == "s":
            series = pl.Series(_on_calendar(column.to_arrow()))
        else:
            series = column.to_polars()
        series = series.alias(name)
        order = _order_of_categories(column) if in_order else None
        return series if order is None else series.cast(pl.Enum(order))
    except ImportError:
        raise MissingExtra("A pandas frame is read with PyArrow; install it with `pip install pyarrow`.") from None
    except (Exception, pl.exceptions.PanicException):  # pandas, PyArrow and Polars each have their own, and quote cells
        raise _without_equivalent(name) from None


def _without_equivalent(name: str) -> InvalidInput:
    return InvalidInput(f"Column {name!r} mixes types or has one without an equivalent; make it one type.")
