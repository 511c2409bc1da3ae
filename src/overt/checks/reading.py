# SPDX-License-Identifier: Apache-2.0
"""What published texts mean: every distinct text of a column is read once, into codes of the original.

A cell of a quasi-identifier is a value, a range `lo..hi` (of values, or of blocks of a grid), a set `{a, b}`, a label of the hierarchy, `*` for
everything, or empty for missing; ` or missing` after a range or a value, and `missing` as the last member of
a set, add the missing value. A category's own text stands in double quotes (a JSON string) wherever it could
be taken for one of these. Nothing here knows how such texts are written.
"""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.table import Codes, Column, Kind

UNKNOWN = -1  # the code of a text that is no value of the column

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_MEMBER = rf'{_QUOTED}|[^\s",{{}}][^",{{}}]*'
_RANGE = rf'^({_QUOTED}|[^"]*?)\.\.({_QUOTED}|[^"]*)$'
COULD_BE_MISREAD = r'^$|^\*$|^missing$| or missing$|\.\.|["{},]|^\s|\s$'
_OR_MISSING = " or missing"

FORMS = ("range", "label", "set", "grid")


@dataclass(frozen=True, eq=False)
class Texts:
    """A published column: which of its distinct texts each line shows."""

    text_of_line: Codes
    distinct: pl.Series  # as text; a null is an empty cell

    @classmethod
    def of(cls, cells: pl.Series) -> "Texts":
        """Number the distinct texts of a column."""
        if cells.dtype not in (pl.Categorical, pl.Enum):
            cells = cells.cast(pl.String).cast(pl.Categorical)
        distinct = cells.unique()
        number = distinct.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        text_of_number = np.empty(int(number.max(initial=-1)) + 2, np.int32)
        text_of_number[number] = np.arange(number.size, dtype=np.int32)  # an empty cell is number -1: the last place
        lines = cells.to_physical()
        if cells.null_count():
            lines = lines.cast(pl.Int64).fill_null(-1)
        return cls(text_of_number[lines.to_numpy()], distinct.cast(pl.String))


@dataclass(frozen=True, eq=False)
class Readings:
    """The codes that each distinct text covers, as runs of neighbouring codes, ascending and apart.

    Text t covers the codes from `least[i]` to `greatest[i]` for i in `first[t]:first[t + 1]`; a text that
    cannot be read covers none.
    """

    first: NDArray[np.int64]
    least: Codes
    greatest: Codes

    @property
    def n_texts(self) -> int:
        return self.first.size - 1

    @property
    def is_unreadable(self) -> NDArray[np.bool_]:
        return np.diff(self.first) == 0

    @property
    def hulls(self) -> tuple[Codes, Codes]:
        """The least and the greatest code of every text; of an unreadable text an interval that holds nothing."""
        least, greatest = np.ones(self.n_texts, np.int32), np.zeros(self.n_texts, np.int32)
        read = ~self.is_unreadable
        least[read] = self.least[self.first[:-1][read]]
        greatest[read] = self.greatest[self.first[1:][read] - 1]
        return least, greatest


def read_values(texts: pl.Series, values: pl.Series, dtype: pl.DataType | None = None) -> Codes:
    """The position in `values` of the value that each text writes plainly, or UNKNOWN.

    `dtype` is the type in which the values are released if it is not their own. Nothing at all is null, or the empty
    text if no value is null: some who read a file do not tell them apart.
    """
    codes = _find(texts, values, dtype or values.dtype)
    empty = values.is_null() if values.null_count() else values.cast(pl.String) == ""
    if empty.any():
        codes[texts.is_null().to_numpy()] = int(empty.arg_max() or 0)
    return codes


def read_cells(texts: pl.Series, column: Column, form: str) -> Readings:
    """What every distinct text of a published quasi-identifier covers."""
    if form not in FORMS:
        raise InvalidInput(f"Column {column.name!r} is claimed to be shown as {form!r}; {', '.join(FORMS)} are known.")
    cells = pl.DataFrame({"cell": np.arange(len(texts), dtype=np.int64), "text": texts})
    runs = [_missing(cells.filter(pl.col("text").is_null()), column)]
    cells = cells.filter(pl.col("text").is_not_null())
    if form == "label":
        runs.append(_labels(cells, column))
        cells = cells.filter(~pl.col("cell").is_in(runs[-1].get_column("cell").implode()))
    runs.append(_everything(cells.filter(pl.col("text") == "*"), column))
    cells = cells.filter(pl.col("text") != "*")
    if form == "set":
        is_set = pl.col("text").str.starts_with("{")
        runs.append(_sets(cells.filter(is_set), column))
        cells = cells.filter(~is_set)
    if form == "grid":
        runs += _blocks(cells, column)
    else:
        runs += _values_and_ranges(cells, column, with_ranges=form == "range")
    return _readings(pl.concat(runs), len(texts))


def form_of(column: Column, claimed: str | None) -> str:
    """How a quasi-identifier is shown, by its claim."""
    return form_on_grid(column) if claimed == "grid" else claimed or usual_form(column)


def usual_form(column: Column) -> str:
    """How a quasi-identifier is shown unless the claim says otherwise."""
    if column.kind is not Kind.CATEGORY:
        return "range"
    return "set" if column.hierarchy is None else "label"


def _readings(runs: pl.DataFrame, n_texts: int) -> Readings:
    """Sort runs by text and code, and join those that touch."""
    runs = runs.sort("cell", "least")
    cell, least, greatest = (runs.get_column(name).to_numpy() for name in ("cell", "least", "greatest"))
    begins = np.ones(cell.size, np.bool_)
    begins[1:] = (cell[1:] != cell[:-1]) | (least[1:] > greatest[:-1] + 1)
    ends = np.append(begins[1:], True)[: cell.size]
    first = np.searchsorted(cell[begins], np.arange(n_texts + 1))
    return Readings(first, least[begins].astype(np.int32), greatest[ends].astype(np.int32))


def _runs(cell: object, least: object, greatest: object) -> pl.DataFrame:
    runs = pl.DataFrame({"cell": cell, "least": least, "greatest": greatest})
    return runs.cast(pl.Int64)


def _missing(cells: pl.DataFrame, column: Column) -> pl.DataFrame:
    """The missing value alone, for every given cell; nothing if no row of the original lacks the value."""
    cell = cells.get_column("cell").to_numpy() if column.missing_code is not None else np.empty(0, np.int64)
    code = np.full(cell.size, column.missing_code or 0)
    return _runs(cell, code, code)


def _everything(cells: pl.DataFrame, column: Column) -> pl.DataFrame:
    cell = cells.get_column("cell").to_numpy()
    return _runs(cell, np.zeros(cell.size, np.int64), np.full(cell.size, column.n_values - 1))


def _labels(cells: pl.DataFrame, column: Column) -> pl.DataFrame:
    """Labels of inner nodes: all leaves below the node."""
    if column.hierarchy is None:
        return _runs([], [], [])
    tree = column.hierarchy
    inner = np.arange(tree.n_leaves, tree.n_nodes)
    nodes = pl.DataFrame(
        {
            "text": tree.labels.slice(tree.n_leaves),
            "least": tree.first_leaf_of_node[inner].astype(np.int64),
            "greatest": (tree.first_leaf_of_node[inner] + tree.n_leaves_of_node[inner] - 1).astype(np.int64),
        },
        schema={"text": pl.String, "least": pl.Int64, "greatest": pl.Int64},
    ).unique("text")  # equal labels stand for the same leaves
    found = cells.join(nodes, on="text", how="inner")
    return _runs(*(found.get_column(name) for name in ("cell", "least", "greatest")))


def _sets(cells: pl.DataFrame, column: Column) -> pl.DataFrame:
    """Sets of two or more values in the order of their codes."""
    text = pl.col("text")
    members = text.str.slice(1).str.strip_suffix("}").str.extract_all(_MEMBER)
    cells = cells.with_columns(member=members)
    is_whole = text == pl.concat_str(pl.lit("{"), pl.col("member").list.join(", "), pl.lit("}"))
    cells = cells.filter(is_whole & (pl.col("member").list.len() > 1)).explode("member")
    cell, member = cells.get_column("cell").to_numpy(), cells.get_column("member")
    code = _find(_unquote(member, column), column.values, column.values.dtype)
    if column.missing_code is not None:
        code[(member == "missing").to_numpy()] = column.missing_code
    wrong = code == UNKNOWN
    wrong[1:] |= (cell[1:] == cell[:-1]) & (code[1:] <= code[:-1])
    good = ~np.isin(cell, cell[wrong])
    return _runs(cell[good], code[good], code[good])


def _values_and_ranges(cells: pl.DataFrame, column: Column, *, with_ranges: bool) -> list[pl.DataFrame]:
    """One value, or a range if the column is shown in ranges, either perhaps ` or missing`."""
    text = pl.col("text").str.strip_suffix(_OR_MISSING)
    least = text.str.extract(_RANGE, 1) if with_ranges else pl.lit(None, pl.String)
    cells = cells.with_columns(
        or_missing=pl.col("text").str.ends_with(_OR_MISSING),
        least=pl.coalesce(least, text),
        greatest=text.str.extract(_RANGE, 2) if with_ranges else pl.lit(None, pl.String),
    )
    cell = cells.get_column("cell").to_numpy()
    low, high = (
        _find(_unquote(cells.get_column(name), column), column.values, column.values.dtype)
        for name in ("least", "greatest")
    )
    is_value = cells.get_column("greatest").is_null().to_numpy()
    or_missing = cells.get_column("or_missing").to_numpy()
    good = (low != UNKNOWN) & (is_value | (high > low))
    if column.missing_code is None:
        good &= ~or_missing
    runs = _runs(cell[good], low[good], np.where(is_value, low, high)[good])
    return [runs, _missing(cells.filter(pl.Series(good & or_missing)), column)]


def _blocks(cells: pl.DataFrame, column: Column) -> list[pl.DataFrame]:
    """Ranges from where one block of the column's grid begins to where one ends, perhaps ` or missing`."""
    blocks = blocks_of(column)
    assert blocks is not None
    n = len(blocks.least)
    number = pl.Series(np.arange(n), dtype=pl.Int64)
    begins = pl.DataFrame({"least": blocks.least, "low": number})
    ends = pl.DataFrame({"greatest": blocks.greatest, "high": number})
    text = pl.col("text").str.strip_suffix(_OR_MISSING)
    cells = cells.with_columns(
        or_missing=pl.col("text").str.ends_with(_OR_MISSING),
        least=text.str.extract(_RANGE, 1),
        greatest=text.str.extract(_RANGE, 2),
    )
    cells = cells.join(begins, on="least", how="inner", maintain_order="left")
    cells = cells.join(ends, on="greatest", how="inner", maintain_order="left").filter(pl.col("low") <= pl.col("high"))
    if column.missing_code is None:
        cells = cells.filter(~pl.col("or_missing"))
    low, high = (cells.get_column(name).to_numpy() for name in ("low", "high"))
    runs = _runs(cells.get_column("cell"), blocks.first[low], blocks.last[high])
    return [runs, _missing(cells.filter(pl.col("or_missing")), column)]


def _unquote(texts: pl.Series, column: Column) -> pl.Series:
    """The own text of values: quotes taken off, and null for what should have had them."""
    if column.kind is not Kind.CATEGORY:
        return texts
    quoted = texts.str.starts_with('"').fill_null(False)
    plain = texts.set(texts.str.contains(COULD_BE_MISREAD).fill_null(True), None)
    if not quoted.any():
        return plain
    return plain.zip_with(~quoted, texts.map_elements(_from_json, return_dtype=pl.String))


def _from_json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _find(texts: pl.Series, values: pl.Series, dtype: pl.DataType) -> Codes:
    """The position of each text's value among `values`, or UNKNOWN. Numbers are compared by value."""
    keys = pl.DataFrame({"key": values, "code": np.arange(len(values), dtype=np.int32)})
    keys = keys.filter(pl.col("key").is_not_null())
    if values.dtype.is_numeric():
        texts = _numbers(texts, values.dtype)
    else:
        spellings = [keys.with_columns(key=key) for key in _spellings(keys.get_column("key"), dtype)]
        keys = pl.concat(spellings).unique("key", keep="first", maintain_order=True)
    found = pl.DataFrame({"key": texts}).join(keys, on="key", how="left", maintain_order="left")
    return found.get_column("code").fill_null(UNKNOWN).to_numpy().astype(np.int32)


def _numbers(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Texts as numbers, null where they are none; 7.0 is the whole number 7."""
    numbers = texts.cast(dtype, strict=False)
    if not dtype.is_integer():
        return numbers
    floats = texts.cast(pl.Float64, strict=False)
    whole = floats.cast(dtype, strict=False).set(floats.round() != floats, None)
    return numbers.zip_with(numbers.is_not_null(), whole)


def _spellings(values: pl.Series, dtype: pl.DataType) -> list[pl.Series]:
    """The texts that each value, if it is no number, may have."""
    if values.dtype.is_temporal():
        released = values.cast(dtype) if dtype.is_temporal() else values
        texts = [values.dt.to_string("iso:strict"), released.dt.to_string("iso:strict"), released.cast(pl.String)]
        if isinstance(released.dtype, pl.Datetime):  # as JSON Lines have it
            texts.append(released.dt.to_string("%Y-%m-%d %H:%M:%S%.f"))
            texts.append(texts[0].str.replace(r"T00:00:00\.0+$", ""))
        return texts
    return [values.cast(pl.String)]
