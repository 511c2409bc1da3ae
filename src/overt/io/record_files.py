# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_dp_reading_at_scale.py
"""Files of records, batch by batch: read as for a differentially private release in memory, of any size.

What a record becomes depends on the record, and on the name of its file, the names of columns and the declared types. The cells of a batch are
numbered by the code that numbers those of a whole file, each by itself, so that where a batch ends changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from overt.errors import InvalidInput
from overt.io.canonical_texts import texts_of_cells
from overt.io.csv import read_line_batches
from overt.io.dialect import Dialect
from overt.io.encoding import Coded, coded_by_cell
from overt.io.files import dialect_of
from overt.io.formats import format_of_name, is_packed_name, no_file, polars_errors, refuse_long_decimals, scan_typed
from overt.io.intake import Intake
from overt.io.json_lines import read_json_batches
from overt.io.sources import FileSource

FORMATS = ("csv", "jsonl", "parquet")
BATCH = 1 << 17  # records at a time


@dataclass(frozen=True)
class RecordFiles:
    """Files whose records are read one by one, and how they are written."""

    paths: tuple[str, ...]
    format: str
    names: tuple[str, ...]  # of the columns that are read
    dialect: Dialect | None = None  # of separated text

    @classmethod
    def of(cls, source: FileSource, intake: Intake) -> "RecordFiles":
        """What a source means by its name, the names of its columns and their types alone; refused for nothing else."""
        files, file_format = _files_of(source)
        dialect = None
        if file_format == "csv":
            dialect = dialect_of(files[0], separator=source.named_separator, encoding=source.encoding, row_by_row=True)
            intake.refuse_unknown(dialect.header)
        elif file_format == "jsonl":
            intake.refuse_unknown((*intake.encoded, *intake.identifiers))
        else:
            for file in files:
                _refuse_types(file, intake)
        return cls(tuple(str(file.resolve()) for file in files), file_format, tuple(intake.encoded), dialect)

    def read(self, number: int) -> Iterator[dict[str, Coded]]:
        """The columns of the file with this number, in batches."""
        path = Path(self.paths[number])
        if not path.is_file():
            raise InvalidInput(f"{path.name} cannot be reached here; put it into a folder that all machines share.")
        if self.dialect is not None:
            yield from read_line_batches(path, self.dialect, self.names, BATCH)
        elif self.format == "jsonl":
            yield from read_json_batches(path, self.names, BATCH, is_packed=is_packed_name(path))
        else:
            yield from _read_parquet(path, self.names)


def _files_of(source: FileSource) -> tuple[list[Path], str]:
    """The files of a source and their format, both by their names."""
    path = source.path
    if not path.exists():
        raise no_file(path)
    file_format = format_of_name(path, source.format)
    if not path.is_dir():
        if file_format not in FORMATS or (file_format == "parquet" and is_packed_name(path)):
            raise InvalidInput(
                f"For a differentially private release an engine reads CSV, JSON Lines and Parquet, and {path.name} is otherwise; write it as one of "
                "them, or choose no engine."
            )
        return [path], file_format
    files: list[Path] = []
    others: list[Path] = []
    for file in sorted(path.iterdir()):
        is_part = file.name.startswith("part-") and file.name.endswith(".parquet") and file.is_file()
        if is_part or not file.name.startswith((".", "_")):
            (files if is_part else others).append(file)
    if others or not files or file_format != "parquet":
        raise InvalidInput(
            f"For a differentially private release an engine reads one file, or a folder that holds parts in Parquet (part-....parquet) and nothing else, "
            f"and {path.name} is otherwise; write the data as Parquet, and end the name of the folder in .parquet."
        )
    return files, "parquet"


def _refuse_types(file: Path, intake: Intake) -> None:
    """Refuse columns that are missing in a file, or of which no cell has a text, whatever rows there are."""
    with polars_errors(file, "parquet"):
        schema = scan_typed(file, "parquet").collect_schema()
    intake.refuse_unknown(schema.names())
    refuse_long_decimals({name: schema[name] for name in intake.encoded})
    for name in intake.encoded:
        texts_of_cells(pl.Series(name, [], dtype=schema[name]))


def _read_parquet(path: Path, names: Sequence[str]) -> Iterator[dict[str, Coded]]:
    with polars_errors(path, "parquet"):
        scan = scan_typed(path, "parquet").select(names)
        for rows in scan.collect_batches(chunk_size=BATCH, maintain_order=True):
            yield {name: coded_by_cell(rows.get_column(name)) for name in names}
