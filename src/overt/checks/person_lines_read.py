# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""Check of persons with several rows: the lines of a file are put together again, person by person, and judged as persons.

Nothing here knows how such lines are written. A person's lines stand together, show the same where the original has one value per person, and their
sensitive values together are what somebody in the original has, all of it: whoever lost or gained a row is nobody.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks.findings import AGAIN
from overt.checks.reading import read_values
from overt.checks.verdict import Finding, counted
from overt.persons import COUNT, Bundles
from overt.table import Codes, Column, Kind, Role, Table

PERSON = "person"
NOBODY = "a bundle that nobody has"
AsCame = Callable[[Column, Codes], pl.Series]


@dataclass(frozen=True, eq=False)
class Folded:
    """Tables with one line per person, and whether their lines could be put together."""

    tables: dict[str, pl.DataFrame]
    finding: Finding


def fold(table: Table, tables: Mapping[str, pl.DataFrame]) -> Folded:
    """Put the lines of persons together."""
    folded: dict[str, pl.DataFrame] = {}
    n_lines = 0
    for name, frame in tables.items():
        if name in ("boxes", "flat"):
            folded[name] = frame
            continue
        made = _fold(table, frame)
        if isinstance(made, str):
            return Folded({}, Finding("persons", False, f"{made} {AGAIN}"))
        folded[name], n_lines = made, frame.height
    n_persons = next(iter(folded.values())).height
    lines = f" on {n_lines:,} lines" if n_lines else ""
    uneven = _find_uneven(table, folded)
    if uneven:
        return Folded(folded, Finding("persons", False, f"{uneven} {AGAIN}"))
    return Folded(
        folded,
        Finding(
            "persons",
            True,
            f"{counted(n_persons, 'person')}{lines}, each in one group with all of their rows{_alike(table)}.",
        ),
    )


def _alike(table: Table) -> str:
    return ", and with persons who have as many" if COUNT in {c.name for c in table.quasi_identifiers} else ""


def _find_uneven(table: Table, folded: Mapping[str, pl.DataFrame]) -> str | None:
    """Groups of persons with different numbers of rows, which would show who is who; None if there are none."""
    if COUNT not in {column.name for column in table.quasi_identifiers} or "sensitive" not in folded:
        return None
    boxes = next((frame for name, frame in folded.items() if name != "sensitive"), None)
    values = folded["sensitive"]
    if boxes is None or COUNT not in boxes.columns or "bucket" not in boxes.columns or "bucket" not in values.columns:
        return None
    counts = boxes.select(pl.col("bucket").cast(pl.String), n=pl.col(COUNT).cast(pl.String)).unique()
    shown = values.select(pl.col("bucket").cast(pl.String), n=pl.col(LENGTH).cast(pl.String)).unique()
    n_wrong = counts.height - counts.get_column("bucket").n_unique()
    n_wrong += shown.join(counts, on=["bucket", "n"], how="anti").height
    if n_wrong:
        return f"{counted(n_wrong, 'bucket')} hold persons with different numbers of rows, or other numbers than their people have."
    return None


LENGTH = "number of lines of the person"


def _fold(table: Table, frame: pl.DataFrame) -> pl.DataFrame | str:
    """One line per person; or what is wrong, in words."""
    assert table.persons is not None
    if PERSON not in frame.columns:
        return f"The release lacks column {PERSON!r}, which holds the lines of a person together."
    sensitive = [column for column in table.sensitive if column.bundles is not None]
    if any(column.name not in frame.columns for column in sensitive):
        return "The release lacks sensitive columns."
    texts = frame.get_column(PERSON).cast(pl.String)
    numbers = texts.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    steps = np.diff(numbers, prepend=0)
    if (
        ((steps != 0) & (steps != 1)).any()
        or (numbers[:1] != 1).any()
        or (pl.Series(numbers).cast(pl.String) != texts).any()
    ):
        return "Its persons are not numbered 1, 2, 3, ... with their lines together."
    first = np.flatnonzero(steps)
    lengths = np.diff(np.append(first, numbers.size))
    columns: dict[str, pl.Series] = {}
    varying = {name for name, of in table.persons.positions.items() if name in frame.columns}
    for name in frame.columns:
        cells = frame.get_column(name)
        if name == PERSON or name in varying or name in {column.name for column in sensitive}:
            continue
        here = cells.cast(pl.String)
        if (here.ne_missing(here.gather(np.repeat(first, lengths)))).any():
            return f"Lines of one person differ in {name!r}, which belongs to the person."
        columns[name] = cells.gather(first)
    for name in varying:
        for place, position in enumerate(table.persons.positions[name]):
            at = pl.Series(np.where(lengths > place, first + place, -1))
            columns[position] = (
                frame.get_column(name).gather(pl.select(pl.when(at >= 0).then(at)).to_series()).alias(position)
            )
        if lengths.max(initial=0) > len(table.persons.positions[name]):
            return "Somebody has more lines than anybody has rows in the original."
    if COUNT in {column.name for column in table.quasi_identifiers} and "bucket" not in frame.columns:
        columns[COUNT] = pl.Series(COUNT, lengths).cast(pl.String)
    for column in sensitive:
        columns[column.name] = _bundle_texts(column, frame.get_column(column.name), lengths)
    folded = pl.DataFrame([cells.alias(name) for name, cells in columns.items()])
    return folded.with_columns(pl.Series(LENGTH, lengths)) if "bucket" in frame.columns else folded


def without_lengths(tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables without what only the folding needs."""
    return {name: frame.drop(LENGTH, strict=False) for name, frame in tables.items()}


def _bundle_texts(column: Column, cells: pl.Series, lengths: NDArray[np.int64]) -> pl.Series:
    """(person) -> the name of their bundle among those of the original; of another one, a name that no bundle has."""
    bundles = column.bundles
    assert bundles is not None
    code = _codes_of_cells(column, cells)
    name_of_bundle = {tuple(held): text for held, text in zip(_each(bundles), column.values.to_list(), strict=True)}
    starts = np.cumsum(np.append(0, lengths)).tolist()
    codes = code.tolist()
    shown = [name_of_bundle.get(tuple(codes[a:b]), NOBODY) for a, b in itertools.pairwise(starts)]
    names = list(dict.fromkeys([*column.values.to_list(), NOBODY]))
    return pl.Series(column.name, shown, dtype=pl.Enum(names))


def _codes_of_cells(column: Column, cells: pl.Series) -> Codes:
    """(line) -> the single value that it shows, as the original numbers them."""
    bundles = column.bundles
    assert bundles is not None
    enum = cells if cells.dtype in (pl.Enum, pl.Categorical) else cells.cast(pl.String).cast(pl.Categorical)
    distinct = enum.unique()
    code_of_text = read_values(distinct.cast(pl.String), bundles.values, bundles.dtype)
    known = pl.DataFrame({"text": distinct.cast(pl.String), "code": code_of_text})
    found = pl.DataFrame({"text": enum.cast(pl.String)}).join(
        known, on="text", how="left", maintain_order="left", nulls_equal=True
    )
    return found.get_column("code").to_numpy()


def pool(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Lines that are held together by a number, as they stand without one: bucket by bucket, in the order of what they show."""
    codes = [_codes_of_cells(column, frame.get_column(column.name)) for column in table.sensitive]
    bucket = frame.get_column("bucket").cast(pl.String).cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return frame[np.lexsort((*reversed(codes), bucket))].drop(PERSON)


def link(table: Table, frame: pl.DataFrame, rows_of_person: Sequence[Sequence[int]]) -> tuple[pl.DataFrame, Finding]:
    """Pooled lines held together again, as the owner's record says which are one person's. Nothing is trusted: a grouping that passes all checks is one that could be."""
    unlinked = frame.drop(PERSON, strict=False)
    lines = np.array(list(itertools.chain.from_iterable(rows_of_person)), np.int64)
    named = {"bucket", *(column.name for column in table.sensitive)}
    fits = lines.size == frame.height and (np.sort(lines) == np.arange(frame.height)).all()
    if not fits or PERSON in frame.columns or not named <= set(frame.columns):
        words = "The owner's record says of other lines than the release has which are one person's."
        return unlinked, Finding("lines", False, f"{words} {AGAIN}")
    number = np.repeat(np.arange(1, len(rows_of_person) + 1), [len(rows) for rows in rows_of_person])
    linked = frame[lines].insert_column(1, pl.Series(PERSON, number))
    if not pool(table, linked).cast(pl.String).equals(frame.cast(pl.String)):
        words = "The lines of a bucket are not in the order of what they show, so that it could tell which are one person's."
        return linked, Finding("lines", False, f"{words} {AGAIN}")
    return linked, Finding(
        "lines", True, "No line says whose it is; which are one person's stands in the owner's record."
    )


def _each(bundles: Bundles) -> list[list[int]]:
    codes, starts = bundles.code.tolist(), bundles.first.tolist()
    return [codes[a:b] for a, b in itertools.pairwise(starts)]


def spread(table: Table, tables: Mapping[str, pl.DataFrame], as_came: AsCame) -> dict[str, pl.DataFrame]:
    """Tables with one line per person, as a release must have written them: one line for each row."""
    return {
        name: frame if name in ("boxes", "flat") else _spread(table, frame, as_came) for name, frame in tables.items()
    }


def _spread(table: Table, frame: pl.DataFrame, as_came: AsCame) -> pl.DataFrame:
    assert table.persons is not None
    of_person = frame.with_row_index("_person")
    lists: dict[str, pl.Series] = {}
    for column in table.sensitive:
        assert column.bundles is not None
        held = dict(zip(column.values.to_list(), _each(column.bundles), strict=True))
        lists[column.name] = pl.Series(
            column.name, [held[text] for text in frame.get_column(column.name).cast(pl.String)], dtype=pl.List(pl.Int32)
        )
    long = of_person.with_columns(lists.values()).explode(list(lists))
    place = long.select(pl.int_range(pl.len()).over("_person").alias("place")).to_series()
    columns: dict[str, pl.Series] = {}
    for column in table.sensitive:
        assert column.bundles is not None
        single = Column(
            column.name, Role.SENSITIVE, Kind(column.bundles.kind), np.zeros(0, np.int32), column.bundles.values,
            dtype=column.bundles.dtype,
        )  # fmt: skip
        columns[column.name] = as_came(single, long.get_column(column.name).to_numpy())
    for name, positions in table.persons.positions.items():
        if positions[0] in frame.columns:
            cells = pl.select(
                pl.coalesce(
                    pl.when(place == at).then(long.get_column(position).cast(pl.String))
                    for at, position in enumerate(positions)
                )
            ).to_series()
            columns[name] = cells
    gone = {"_person", COUNT, *(position for of in table.persons.positions.values() for position in of)}
    first: Sequence[str] = [name for name in frame.columns if name not in gone and name not in table.persons.names]
    for name in [*first, *table.persons.names]:
        if name in frame.columns and name not in columns:
            columns[name] = long.get_column(name)
    number = long.get_column("_person").cast(pl.Int32) + 1
    order = [*first, PERSON, *(name for name in table.persons.names if name in columns)]
    columns[PERSON] = number
    return pl.DataFrame([columns[name].alias(name) for name in order])
