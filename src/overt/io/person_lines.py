# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""Lines of persons: how a release of persons with several rows is written, one line for each of their rows.

Inside, a person is one row and what is sensitive a bundle. In files a bundle is as many lines as it has rows, held together by
a number that counts the persons of the file as they stand there, in the order of what they show: it is nobody's number in the source, and the
same person has another one in every file. A table of boxes keeps one line per person.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.io.encoding import values_as_came
from overt.io.own_content import in_own_type, with_own_content
from overt.persons import COUNT, Bundles, gather_lists
from overt.table import Codes, Column, Kind, Role, Table

PERSON = "person"  # the column that numbers the persons of a file
RowLinks = Literal["linked", "pooled"]


def lines_of_persons(
    table: Table, tables: Mapping[str, pl.DataFrame], rows: RowLinks = "linked"
) -> dict[str, pl.DataFrame]:
    """Tables with one line per person as they are written; what has no bundles stays as it is.

    `rows="pooled"` drops the numbers: the rows of all persons of a bucket stand together, in the order of what they show.
    """
    if rows not in ("linked", "pooled"):
        raise InvalidInput(f"rows is {rows!r}; choose 'linked' or 'pooled'.")
    if rows == "pooled" and not ("sensitive" in tables and table.has_bundles):
        raise InvalidInput(
            'rows = "pooled" is for persons with several rows whose values stand in a table of their own: use form = "buckets", without flat.'
        )
    if not table.has_bundles:
        return dict(tables)
    return {
        name: frame if name in ("boxes", "flat") else with_own_content(_lines(table, frame, pooled=rows == "pooled"))
        for name, frame in tables.items()
    }


def rows_of_persons(table: Table, tables: Mapping[str, pl.DataFrame]) -> tuple[tuple[int, ...], ...]:
    """(person) -> their lines in the pooled table of sensitive values, counted from 0: for the owner alone."""
    codes, person, place = _codes_of_lines(table, tables["sensitive"])
    order = _pooled_order(tables["sensitive"], codes, person)
    line = np.empty(order.size, np.int64)
    line[order] = np.arange(order.size)
    return tuple(tuple(lines.tolist()) for lines in np.split(line, np.flatnonzero(place == 0)[1:]))


def _lines(table: Table, frame: pl.DataFrame, *, pooled: bool) -> pl.DataFrame:
    assert table.persons is not None
    if PERSON in table.persons.names:
        raise InvalidInput(f"A column of the table is called {PERSON!r}, as the numbers in the result are; rename it.")
    codes, person, place = _codes_of_lines(table, frame)
    if pooled:
        order = _pooled_order(frame, codes, person)
        person, codes = person[order], {name: code[order] for name, code in codes.items()}
    columns: dict[str, pl.Series] = {}
    for column in table.sensitive:
        columns[column.name] = _values(table, column, codes[column.name])
    for name, positions in table.persons.positions.items():
        if positions[0] in frame.columns:
            columns[name] = _at_place(frame, positions, person, place).alias(name)
    gone = {COUNT, *(position for of in table.persons.positions.values() for position in of)}
    for name in frame.columns:
        if name not in columns and name not in gone:
            columns[name] = frame.get_column(name).gather(person)
    first = [name for name in frame.columns if name not in table.persons.names and name in columns]
    names = [name for name in table.persons.names if name in columns]
    number = [] if pooled else [pl.Series(PERSON, person.astype(np.int32) + np.int32(1))]
    return pl.DataFrame([*(columns[name] for name in first), *number, *(columns[name] for name in names)])


def _codes_of_lines(table: Table, frame: pl.DataFrame) -> tuple[dict[str, Codes], NDArray[np.intp], NDArray[np.intp]]:
    """Of every line, person by person: its sensitive values, the person, and the place among their lines."""
    bundle_of_person = {c.name: _bundles_shown(c, frame.get_column(c.name)) for c in table.sensitive}
    some, shown = next(iter(zip(table.sensitive, bundle_of_person.values(), strict=True)))
    n_rows = _bundles(some).lengths[shown]
    person = np.repeat(np.arange(frame.height), n_rows)
    place = np.arange(person.size) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    codes = {
        c.name: gather_lists(_bundles(c).first, _bundles(c).code, bundle_of_person[c.name])[1] for c in table.sensitive
    }
    return codes, person, place


def _pooled_order(frame: pl.DataFrame, codes: Mapping[str, Codes], person: NDArray[np.intp]) -> NDArray[np.intp]:
    """The lines bucket by bucket, each in the order of what its lines show."""
    bucket = frame.get_column("bucket").to_numpy()[person]
    return np.lexsort((*reversed(list(codes.values())), bucket))


def _bundles(column: Column) -> Bundles:
    assert column.bundles is not None
    return column.bundles


def _bundles_shown(column: Column, cells: pl.Series) -> Codes:
    """(line) -> the bundle that it shows."""
    known = pl.DataFrame({"text": column.values, "code": np.arange(column.n_values, dtype=np.int32)})
    found = pl.DataFrame({"text": cells.cast(pl.String)}).join(known, on="text", how="left", maintain_order="left")
    return found.get_column("code").to_numpy()


def _values(table: Table, column: Column, codes: Codes) -> pl.Series:
    """Single values as they came in."""
    bundles = _bundles(column)
    single = Column(
        column.name, Role.SENSITIVE, Kind(bundles.kind), np.zeros(0, np.int32), bundles.values, dtype=bundles.dtype
    )
    values = values_as_came(single)
    if values.dtype == pl.String:
        values = values.cast(pl.Enum(values.drop_nulls()))
    return in_own_type(values.gather(codes).alias(column.name), table)


def _at_place(
    frame: pl.DataFrame, positions: tuple[str, ...], person: NDArray[np.intp], place: NDArray[np.intp]
) -> pl.Series:
    """The cell of each line: that of its person at its place."""
    texts = [frame.get_column(name).cast(pl.String) for name in positions]
    known = pl.concat(texts).drop_nulls().unique().sort()
    stacked = pl.concat([text.cast(pl.Enum(known)) for text in texts])
    return stacked.gather(place * frame.height + person)
