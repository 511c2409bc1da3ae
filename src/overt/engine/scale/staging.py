# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""Reading at scale: dictionaries first, then codes and coins, staged once.

One pass counts the distinct cells of every column; dictionaries are made of these counts as they are of a table in memory, and are all that
the driver holds. A second pass writes the codes of every row and two coins: 128 random bits from the operating system. DrawCoins are drawn
once, for rows, and never derived from what a row holds: equal rows with neighbouring ranks would tell, by being apart or together, about
their values. The second coin decides where two first ones are equal.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.seam import (
    MOST_COUNTED,
    ROW,
    Data,
    Place,
    RowBatch,
    ScaleEngine,
    read_types,
    require_countable,
)
from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.date_formats import formats_of
from overt.io.encoding import Coded, coded_from_series, is_missing, number_entries
from overt.io.intake import Intake, NoRows
from overt.table import Codes, Column, Kind, Role, Table

COIN, SECOND_COIN = "coin", "second_coin"
BOX_COIN = "box_coin"  # of its own: who comes first in a box must say nothing about who came first in a deal
TWO_COINS = (COIN, SECOND_COIN)
BUCKET = "bucket"
_CHANGED = (
    "The data changed while it was read: a cell is there that was not before. Run again when nobody writes to it."
)

DrawCoins = Callable[[int], NDArray[np.int64]]


def system_coins(n: int) -> NDArray[np.int64]:
    """Random words from the operating system."""
    return np.frombuffer(os.urandom(8 * n), np.int64)


@dataclass(frozen=True, eq=False)
class Staged:
    """A table as an engine holds it: columns without rows but with totals, and where the codes and coins of the rows are."""

    engine: ScaleEngine
    data: Data = field(repr=False)
    columns: tuple[Column, ...]  # in the order of the source
    n_rows: int
    n_dropped: int
    order: tuple[str, ...]  # every column of the source

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.SENSITIVE)

    @property
    def quasi_names(self) -> tuple[str, ...]:
        """What the codes of the quasi-identifiers are called in staged rows."""
        return tuple(f"q{i}" for i in range(len(self.quasi_identifiers)))

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """What the codes of the sensitive columns are called in staged rows."""
        return tuple(f"s{i}" for i in range(len(self.sensitive)))

    def table(self) -> Table:
        """The dictionaries as a table without rows, for those who ask for names and kinds."""
        undeclared = frozenset(column.name for column in self.columns if column.dtype is None)
        return Table(self.columns, pl.DataFrame(), n_dropped=self.n_dropped, order=self.order, undeclared=undeclared)


def with_codes(columns: Iterable[Column], codes: Iterable[Codes]) -> tuple[Column, ...]:
    """Columns with the codes of some rows; their totals stay those of the whole table."""
    return tuple(replace(column, codes=np.ascontiguousarray(some)) for column, some in zip(columns, codes, strict=True))


def stage_table(
    engine: ScaleEngine,
    place: Place,
    intake: Intake,
    coins: DrawCoins = system_coins,
    coin_names: tuple[str, ...] = TWO_COINS,
    *,
    published: tuple[str, ...] | None = None,
) -> Staged:
    """Read a table into an engine; every row gets a coin of each name.

    Of a `published` table these columns are read as the texts that they are in a file, beside the number of the bucket.
    """
    came = engine.columns(place)
    types = read_types(came)
    as_texts = published is not None
    if published is None:
        intake.refuse_unknown(types)
    _refuse_unsupported(intake)
    names = [name for name in types if name in (intake.encoded if published is None else published)]
    aliases = {f"c{i}": name for i, name in enumerate(names)}
    beside = (BUCKET,) if as_texts and BUCKET in types and BUCKET not in names else ()
    is_text = as_texts or place.format == "csv"
    drops = () if intake.missing == "own value" else tuple(a for a, n in aliases.items() if n in intake.sensitive)
    left_out = np.empty(0, np.int64) if intake.left_out is None else np.asarray(intake.left_out, np.int64)
    kept = KeptRows(drops, tuple(intake.missing_values), is_text, left_out)
    opened = aliases | {name: name for name in beside}
    data = engine.open(place, opened, is_numbered=bool(left_out.size))
    judged = {a: aliases[a] for a in drops if intake.unreadable.get(aliases[a]) == "missing"}
    if judged:
        kept = replace(kept, unreadable=_find_unreadable(engine, data, kept, judged, intake, types))
    like = pl.DataFrame(schema={"column": pl.Int32, **{a: types[n] for a, n in aliases.items()}, "n": pl.Int64})
    found = engine.histogram(data, CountEntries(tuple(aliases), kept, like), like)
    n_dropped = int(found.filter(pl.col("column") < 0).get_column("n").sum())
    if n_dropped and intake.missing == "refuse":
        raise InvalidData(
            f"A sensitive cell is missing in {n_dropped} rows; say what becomes of them: missing='drop' leaves the rows out, "
            "missing='own value' makes missing a value like others."
        )
    columns, looks = [], []
    for i, (alias, name) in enumerate(aliases.items()):
        entries = found.filter(pl.col("column") == i)
        cells = entries.get_column(alias)
        known = texts_of(cells) if as_texts else cells.cast(came[name])
        column, code_of_entry = _number(intake, name, known, entries.get_column("n"), is_text)
        columns.append(column)
        looks.append(CodeOfCell(alias, cells, code_of_entry))
    n_rows = int(columns[0].total_of_value.sum())
    if not n_rows:
        left = f" left: all {n_dropped} lack a sensitive value" if n_dropped else ""
        raise NoRows(f"The table has no rows{left}; there is nothing to release.")
    n_quasi, n_sensitive, called = 0, 0, []
    for column in columns:
        if column.role is Role.SENSITIVE:
            called.append(f"s{n_sensitive}")
            n_sensitive += 1
        else:
            called.append(f"q{n_quasi}")
            n_quasi += 1
    encode = Encode(tuple(looks), tuple(called), kept, coins, coin_names, beside)
    staged = engine.stage(data, encode, encode.like)
    return Staged(engine, staged, tuple(columns), n_rows, n_dropped, tuple(types))


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Which rows of a batch take part: those that lack no value of these columns, and are not left out as if they were not there."""

    columns: tuple[str, ...]
    missing_values: tuple[str, ...]
    is_text: bool
    left_out: NDArray[np.int64] = field(repr=False)
    unreadable: Mapping[str, pl.Series] = field(
        default_factory=dict, repr=False
    )  # (column) -> cells that count as missing

    def __call__(self, rows: RowBatch) -> tuple[RowBatch, int]:
        """The rows that are kept, and how many lack a value."""
        if self.left_out.size:
            rows = rows.filter(~np.isin(rows.get_column(ROW).to_numpy(), self.left_out)).drop(ROW)
        if not self.columns:
            return rows, 0
        lacks = np.zeros(rows.height, np.bool_)
        for name in self.columns:
            cells = rows.get_column(name)
            lacks |= is_missing(_coded(cells, self.is_text), self.missing_values)
            if name in self.unreadable:
                lacks |= cells.is_in(self.unreadable[name].implode()).fill_null(False).to_numpy()
        n_dropped = int(lacks.sum())
        return (rows.filter(~lacks), n_dropped) if n_dropped else (rows, 0)


@dataclass(frozen=True, eq=False)
class CountEntries:
    """How often every distinct cell of every column occurs; as column -1 how many rows are left out."""

    names: tuple[str, ...]
    kept: KeptRows
    like: RowBatch

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        n_dropped = 0
        counts = {name: pl.DataFrame(schema={name: self.like.schema[name], "n": pl.Int64}) for name in self.names}
        for batch in batches:
            rows, n_here = self.kept(batch)
            n_dropped += n_here
            for name in self.names:
                here = rows.lazy().group_by(name).agg(n=pl.len().cast(pl.Int64)).collect()
                together = pl.concat([counts[name], here]).group_by(name).agg(pl.col("n").sum())
                counts[name] = together
                if together.height > MOST_COUNTED:
                    require_countable(together.height)
        for i, name in enumerate(self.names):
            yield self._as_rows(i, counts[name])
        if n_dropped:
            yield self._as_rows(-1, pl.DataFrame({"n": [n_dropped]}, schema={"n": pl.Int64}))

    def _as_rows(self, i: int, counted: RowBatch) -> RowBatch:
        filled = counted.with_columns(
            pl.lit(i, pl.Int32).alias("column"),
            *(pl.lit(None, self.like.schema[name]).alias(name) for name in self.names if name not in counted.columns),
        )
        return filled.select(self.like.columns)


@dataclass(frozen=True, eq=False)
class CodeOfCell:
    """The code of every distinct cell of a column."""

    name: str
    entries: pl.Series
    code_of_entry: Codes

    def __call__(self, rows: RowBatch) -> Codes:
        known = pl.DataFrame({"cell": self.entries, "code": self.code_of_entry})
        cells = rows.select(pl.col(self.name).alias("cell"))
        found = cells.join(known, on="cell", how="left", nulls_equal=True, maintain_order="left").get_column("code")
        if found.null_count():
            raise InvalidInput(_CHANGED)
        return found.to_numpy()


@dataclass(frozen=True, eq=False)
class Encode:
    """Codes and coins for every row that is kept."""

    looks: tuple[CodeOfCell, ...]
    called: tuple[str, ...]
    kept: KeptRows
    coins: DrawCoins
    coin_names: tuple[str, ...]
    beside: tuple[str, ...] = ()  # columns of whole numbers that are kept as they are

    @property
    def like(self) -> RowBatch:
        numbers = (*self.coin_names, *self.beside)
        return pl.DataFrame(schema=dict.fromkeys(self.called, pl.Int32) | dict.fromkeys(numbers, pl.Int64))

    def __call__(self, batch: RowBatch) -> RowBatch:
        rows, _ = self.kept(batch)
        codes = {name: look(rows) for name, look in zip(self.called, self.looks, strict=True)}
        coins = self.coins(len(self.coin_names) * rows.height).reshape(len(self.coin_names), rows.height)
        beside = {name: rows.get_column(name).cast(pl.Int64) for name in self.beside}
        drawn = dict(zip(self.coin_names, coins, strict=True))
        return pl.DataFrame({**codes, **drawn, **beside}, schema=self.like.schema)


def _find_unreadable(
    engine: ScaleEngine,
    data: Data,
    kept: KeptRows,
    judged: Mapping[str, str],
    intake: Intake,
    types: Mapping[str, pl.DataType],
) -> dict[str, pl.Series]:
    """(sensitive column) -> its cells that are no number or no date: rows with one of them lack a value. Whether a cell can be read is seen of all."""
    like = pl.DataFrame(schema={"column": pl.Int32, **{a: types[n] for a, n in judged.items()}, "n": pl.Int64})
    found = engine.histogram(data, CountEntries(tuple(judged), replace(kept, columns=()), like), like)
    cells = {}
    for i, (alias, name) in enumerate(judged.items()):
        coded = _coded(found.filter(pl.col("column") == i).get_column(alias).alias(name), kept.is_text)
        readable = intake.readable(name, coded).dictionary
        cells[alias] = coded.dictionary.filter(readable.is_null() & coded.dictionary.is_not_null())
    return cells


def _coded(cells: pl.Series, is_text: bool) -> Coded:
    coded = coded_from_series(cells)
    return replace(coded, is_text=True, dtype=None) if is_text else coded


def _number(
    intake: Intake, name: str, entries: pl.Series, n_rows_of_entry: pl.Series, is_text: bool
) -> tuple[Column, Codes]:
    coded = intake.readable(name, _coded(entries.alias(name), is_text))
    n_rows = np.bincount(coded.codes, n_rows_of_entry.to_numpy(), len(coded.dictionary)).astype(np.int64)
    kind = intake.kinds.get(name)
    numbered = number_entries(
        name,
        Role.SENSITIVE if name in intake.sensitive else Role.QUASI_IDENTIFIER,
        replace(coded, codes=np.empty(0, np.int32)),
        n_rows,
        kind=None if kind is None else Kind(kind),
        missing_values=intake.missing_values,
        builder=intake.hierarchies.get(name),
        date_formats=formats_of(intake.date_formats[name]) if name in intake.date_formats else None,
    )
    totals = np.bincount(numbered.code_of_entry, n_rows, numbered.column.n_values).astype(np.int64)
    return replace(numbered.column, totals=totals), numbered.code_of_entry[coded.codes]


def _refuse_unsupported(intake: Intake) -> None:
    if intake.others:
        names = ", ".join(map(repr, intake.others))
        raise InvalidInput(
            f"Columns without a role ({names}) are released on one machine in memory only; leave them out, or choose no engine."
        )
