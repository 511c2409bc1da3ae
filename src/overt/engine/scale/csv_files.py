# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_csv_at_scale.py
"""CSV at scale: files are read by the reader of a run in memory, batch by batch, so that a file means the same wherever it is read.

Other readers make people of blank lines, fill up lines that are too short, or take the rest of a file for one cell.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from overt.engine.scale.seam import ROW, RowBatch, TablePlace
from overt.errors import InvalidInput
from overt.io.csv import read_batches
from overt.io.dialect import Dialect, read_dialect
from overt.io.formulas import restored


def files_of(place: TablePlace) -> list[Path]:
    """The file that a place is, or its parts."""
    path = Path(place.path)
    if not path.is_dir():
        return [path]
    files = sorted(part for part in path.glob(f"part-*.{place.format}") if part.is_file())
    if not files:
        raise InvalidInput(f"There are no parts of a {place.format} table in {path.name}.")
    return files


def names_of_csv(place: TablePlace) -> list[str]:
    """The names of the columns of CSV files."""
    return _called(place, _dialect(place, files_of(place)[0]))


def read_csv_files(
    place: TablePlace, files: list[Path], names: Mapping[str, str], batch_rows: int, *, is_numbered: bool = False
) -> Iterator[RowBatch]:
    """Some columns of some files of a place as texts, each under the name that it is given here; perhaps with the position of every row."""
    n_before = 0
    for file in files:
        dialect = _dialect(place, file)
        header_of = dict(zip(_called(place, dialect), dialect.header, strict=True))
        if not header_of.keys() >= set(names.values()):
            raise InvalidInput(f"{file.name} has not the columns of the other parts; put them there, or take it out.")
        for rows in read_batches(file, dialect, [header_of[name] for name in names.values()], batch_rows):
            texts = rows.rename(dict(zip(rows.columns, names, strict=True)))
            texts = restored(texts) if place.neutralised else texts
            position = pl.int_range(n_before, n_before + pl.len(), dtype=pl.Int64).alias(ROW)
            n_before += rows.height
            yield texts.with_columns(position) if is_numbered else texts


def _dialect(place: TablePlace, file: Path) -> Dialect:
    return read_dialect(file, separator=place.separator, encoding="utf-8", is_text=True)


def _called(place: TablePlace, dialect: Dialect) -> list[str]:
    header = list(dialect.header)
    return restored(pl.DataFrame(schema=dict.fromkeys(header, pl.String))).columns if place.neutralised else header
