# SPDX-License-Identifier: Apache-2.0
"""Spelling: every cell has one canonical text, and what was read is written anew to be compared with what was published.

A cell that means `20..35` and is written `020..35` passes every other check, and marks its row. So the tables are made
again from what their cells mean, in the spelling that the grammar of cells prescribes (see `reading`), with values of the
types that came in. A format's writer turns them into bytes; nothing here knows a file.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from overt.checks.flat import BUCKET, SHUFFLED, list_members
from overt.checks.reading import COULD_BE_MISREAD, UNKNOWN, Readings, Texts, form_of, read_cells, read_values
from overt.checks.verdict import Claim, Finding, counted
from overt.hierarchy.grid import blocks_of
from overt.table import Codes, Column, Kind, Table

AsCame = Callable[[Column, Codes], pl.Series]  # the values of codes in the type in which they are released
InType = Callable[[pl.Series], pl.Series]  # values of a column without a role in the type in which they are released


def as_they_are(values: pl.Series) -> pl.Series:
    """The type in which they came in."""
    return values


@dataclass(frozen=True, eq=False)
class Rewritten:
    """Published tables written anew from what they mean; None where some cell means nothing."""

    tables: Mapping[str, pl.DataFrame] | None
    n_misspelt: Mapping[str, int]  # by column

    def find(self) -> Finding:
        """Every cell is spelt as the grammar says."""
        if self.tables is None:
            return Finding("spelling", False, "Not checked: cells cannot be read or columns are missing.")
        faults = [f"{counted(n, 'cell')} of {name!r}" for name, n in self.n_misspelt.items() if n]
        if faults:
            return Finding(
                "spelling",
                False,
                f"{', '.join(faults)} can be read, and a release would spell them otherwise: the spelling could mark a row. "
                "Make the release again.",
            )
        return Finding("spelling", True, "Every cell is spelt in the one way in which a release spells it.")


def rewrite(
    table: Table,
    tables: Mapping[str, pl.DataFrame],
    claim: Claim,
    as_came: AsCame,
    *,
    in_type: InType = as_they_are,
    exact: bool = False,
    by_level: Sequence[str] = (),
) -> Rewritten:
    """The tables as they must be spelt. `exact` says that a flat table shows quasi-identifiers as they are.

    Columns in `by_level` are generalized to one level of their hierarchy, which the labels show.
    """
    order = table.order or (*(column.name for column in table.columns), *table.others.columns)
    written: dict[str, pl.DataFrame] = {}
    n_misspelt: dict[str, int] = {}
    for name, frame in tables.items():
        columns: dict[str, pl.Series | None] = {}
        is_plain = name in ("quasi-identifiers", "sensitive") or (name == "flat" and exact)
        for column in table.columns:
            if column.name not in frame.columns:
                continue
            cells = frame.get_column(column.name)
            if name == "flat" and column in table.sensitive:
                columns[column.name] = _lists(cells, column)
            elif is_plain or column in table.sensitive:
                columns[column.name] = _plain(cells, column.values, column.dtype, partial(as_came, column))
            else:
                form = form_of(column, claim.show.get(column.name))
                columns[column.name] = _generalized(cells, column, form, by_level=column.name in by_level)
        for other in claim.others:
            if other in frame.columns and other not in columns:
                original = table.others.get_column(other)
                distinct = _distinct_values(original)
                cells, known = frame.get_column(other), distinct
                if _has_no_texts(cells.dtype):
                    cells, known = _texts(cells), _texts(distinct)
                columns[other] = _plain(cells, known, None, partial(_gathered, distinct, in_type))
        first = [] if name == "release" else [SHUFFLED if name == "shuffled" else BUCKET]
        first = [number for number in first if number in frame.columns and number not in columns]
        for number in first:
            numbers = frame.get_column(number).cast(pl.String).cast(pl.Int32, strict=False)
            columns[number] = None if numbers.null_count() else numbers
        if set(columns) != set(frame.columns) or any(column is None for column in columns.values()):
            return Rewritten(None, {})
        last = [column.name for column in table.sensitive] if name == "flat" else []  # lists come after all else
        names = [c for c in (*first, *order) if c not in last] + last
        written[name] = pl.DataFrame([columns[c].alias(c) for c in names if c in columns])  # type: ignore[union-attr]
        for shown in frame.columns:
            spelt = _texts(written[name].get_column(shown))
            n = int(spelt.ne_missing(_texts(frame.get_column(shown))).sum())
            n_misspelt[shown] = n_misspelt.get(shown, 0) + n
    return Rewritten(written, n_misspelt)


def rewrite_labels(frame: pl.DataFrame, names: Sequence[str]) -> Rewritten:
    """A differentially private release, which is labels and nothing else, in the order of its columns."""
    if set(frame.columns) != set(names):
        return Rewritten(None, {})
    return Rewritten({"release": frame.select(names)}, {})


def spell(readings: Readings, column: Column, form: str) -> list[str | None]:
    """The canonical text of what every distinct text covers; None for nothing at all, or for an empty cell."""
    texts = _own_texts(column)
    if form == "label" and column.hierarchy is not None:
        return _labels(readings, column, texts)
    spelt = []
    for text in range(readings.n_texts):
        runs = range(readings.first[text], readings.first[text + 1])
        codes = [code for run in runs for code in (readings.least[run], readings.greatest[run])]
        if form == "set":
            members = [c for run in runs for c in range(readings.least[run], readings.greatest[run] + 1)]
            spelt.append(_set(members, column, texts))
        elif form == "label":  # without a hierarchy: one value, or everything
            spelt.append(texts[codes[0]] if codes[0] == codes[-1] else "*")
        else:
            spelt.append(_range(codes, column.missing_code, (texts, texts) if form == "range" else _of_blocks(column)))
    return spelt


def _of_blocks(column: Column) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """(code) -> where its block of the grid begins, and where it ends."""
    blocks = blocks_of(column)
    assert blocks is not None
    return blocks.least.gather(blocks.block_of_code).to_list(), blocks.greatest.gather(blocks.block_of_code).to_list()


def _range(
    codes: Sequence[int], missing: int | None, texts: tuple[Sequence[str | None], Sequence[str | None]]
) -> str | None:
    """`codes` are the ends of runs; the missing value, if it is among them, is the last of all. `texts` begin a range and end one."""
    or_missing = codes[-1] == missing
    if not or_missing:
        least, greatest = codes[0], codes[-1]
    elif codes[0] == missing:
        return None
    else:  # the last run is the missing value alone, or ends in it
        least = codes[0]
        greatest = codes[-3] if codes[-2] == missing else codes[-1] - 1
    low, high = texts[0][least], texts[1][greatest]
    ends = low if low == high else f"{low}..{high}"
    return f"{ends} or missing" if or_missing else ends


def _set(members: Sequence[int], column: Column, texts: Sequence[str | None]) -> str | None:
    if len(members) == 1:
        return texts[members[0]]
    if len(members) == column.n_values:
        return "*"
    return "{" + ", ".join(texts[code] or "missing" for code in members) + "}"


def _labels(readings: Readings, column: Column, texts: Sequence[str | None]) -> list[str | None]:
    """The label of the lowest node above the leaves."""
    tree = column.hierarchy
    assert tree is not None
    least, greatest = readings.hulls
    nodes = tree.common_ancestor(np.minimum(least, greatest), np.maximum(least, greatest)).tolist()
    labels = tree.labels.to_list()
    return [texts[node] if node < tree.n_leaves else labels[node] for node in nodes]


def find_level(texts: Sequence[str | None], readings: Readings, column: Column) -> int | None:
    """The one level that all labels of a column can be at, the lowest if several; None if there is none."""
    own = _own_texts(column)
    least = readings.hulls[0].tolist()
    if column.hierarchy is None:
        if all(text == own[leaf] for text, leaf in zip(texts, least, strict=True)):
            return 0
        return 1 if all(text == "*" for text in texts) else None
    tree = column.hierarchy
    labels = own + tree.labels.slice(tree.n_leaves).to_list()
    for level in range(tree.n_levels):
        nodes = tree.node_of_leaf[level]
        if all(text == labels[nodes[leaf]] for text, leaf in zip(texts, least, strict=True)):
            return level
    return None


def _generalized(cells: pl.Series, column: Column, form: str, *, by_level: bool) -> pl.Series | None:
    texts = Texts.of(cells)
    readings = read_cells(texts.distinct, column, form)
    if readings.is_unreadable.any():
        return None
    spelt = spell(readings, column, form)
    if by_level and form == "label":
        found = texts.distinct.to_list()
        if find_level(found, readings, column) is not None:
            spelt = found
    return _gather(pl.Series(spelt, dtype=pl.String), texts.text_of_line)


def _plain(
    cells: pl.Series, values: pl.Series, dtype: pl.DataType | None, gather: Callable[[Codes], pl.Series]
) -> pl.Series | None:
    texts = Texts.of(cells)
    codes = read_values(texts.distinct, values, dtype)
    if (codes == UNKNOWN).any():
        return None
    return gather(codes[texts.text_of_line])


def _gathered(values: pl.Series, in_type: InType, codes: Codes) -> pl.Series:
    return in_type(values.gather(codes))


def _lists(cells: pl.Series, column: Column) -> pl.Series | None:
    texts, own = Texts.of(cells), _own_texts(column)
    spelt = []
    for members in list_members(texts.distinct, column):
        codes = read_values(members, column.values, column.dtype)
        if (codes == UNKNOWN).any():
            return None
        found = [own[code] for code in codes]
        spelt.append(found[0] if len(found) == 1 else "{" + ", ".join(text or "missing" for text in found) + "}")
    return _gather(pl.Series(spelt, dtype=pl.String), texts.text_of_line)


def _own_texts(column: Column) -> list[str | None]:
    """The text of every value, in quotes where it could be misread; None for missing."""
    texts = _texts(column.values)
    if column.kind is not Kind.CATEGORY:  # whole numbers and midnights, whatever else is in the column
        return texts.str.replace(r"(\.0|T00:00:00\.0+)$", "").to_list()
    risky = texts.str.contains(COULD_BE_MISREAD).fill_null(False)
    return [
        json.dumps(text, ensure_ascii=False) if is_risky else text for text, is_risky in zip(texts, risky, strict=True)
    ]


def _texts(values: pl.Series) -> pl.Series:
    """Values as text."""
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.to_string("iso:strict")
    if values.dtype == pl.Time:
        return values.dt.to_string("%H:%M:%S%.f")
    if _has_no_texts(values.dtype):
        return pl.Series(values.name, [None if cell is None else repr(cell) for cell in values.to_list()], pl.String)
    return values.cast(pl.String)


def _has_no_texts(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or dtype in (pl.Object, pl.Binary)


def _gather(texts: pl.Series, text_of_line: Codes) -> pl.Series:
    return texts.cast(pl.Enum(texts.drop_nulls().unique())).gather(text_of_line)


def _distinct_values(original: pl.Series) -> pl.Series:
    if isinstance(original.dtype, pl.Categorical | pl.Enum):
        original = original.cast(pl.String)
    return original.unique()
