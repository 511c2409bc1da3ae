# SPDX-License-Identifier: Apache-2.0
"""Files in and out: a table is read from one file, a release is written to one or two, whole or not at all."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.atomic import NothingAfterAll, all_or_nothing
from overt.io.csv import read_texts
from overt.io.dialect import Dialect, read_dialect, read_public_dialect
from overt.io.encoding import Coded, Unreadable, coded_by_cell, coded_from_series
from overt.io.excel import read_sheet
from overt.io.formats import (
    find_format,
    format_of_name,
    format_to_write,
    is_gzip_name,
    is_packed_name,
    no_file,
    polars_errors,
    refuse_long_decimals,
    scan_typed,
    separator_of_name,
    write_frame,
)
from overt.io.formulas import restored
from overt.io.intake import Intake, Missing
from overt.io.json_lines import read_json_lines
from overt.io.person_rows import person_rows
from overt.persons import Known, Which
from overt.progress import Progress, silent
from overt.table import Kind, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder

CompanionsOfPaths = Callable[[Mapping[Path, str]], Mapping[Path, bytes]]


def read_file(
    path: str | Path,
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
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    row_by_row: bool = False,
    person: str | None = None,
    keep: int | Literal["all"] = "all",
    which: Which = "random",
    order: str | None = None,
    known: Known = "visits",
    varies: Collection[str] = (),
    key: int | None = None,
    left_out: NDArray[np.intp] | None = None,
    on_progress: Progress = silent,
) -> Table:
    """Read a file (CSV, Excel, Parquet, Arrow IPC or JSON Lines, CSV also in gzip or zip) and encode it.

    Columns without a role are kept as they are, all of them or those in `others`; identifiers are not read. In a CSV
    file a column is a number or a date if all its texts are plain ones, else a category; `kinds` overrides that. `date_formats`
    says how dates are written, as in `{"Born": "%d.%m.%Y"}`; with `unreadable={"Born": "missing"}` a cell that is no date (or,
    of a number, no number) is missing instead of refused. Format, separator and encoding are inferred unless you give them.

    With `row_by_row`, no row changes how another is read, as differentially private methods need it: the format comes from the name, the
    separator from the line with the names of the columns, and the encoding is UTF-8 unless you give it. Every line of text is a record, and every
    cell becomes a text on its own.

    If a person can have several rows, `person` names the column that identifies the person, and the table has one row per person. `varies` names
    the quasi-identifiers that differ between rows of a person. `keep` is the maximum number of rows to keep (a number, or "all"), and `which`
    says which ("random", or "latest" or "first" by the column `order`). `known` is what an adversary is assumed to know: "visits", all
    quasi-identifiers of all rows and their number, or "static", only those that do not vary. `key` repeats which rows are drawn.

    Rows at the positions `left_out` (from 0) are read as if they were not there.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> pl.DataFrame({"age": [31, 36], "illness": ["flu", "cold"]}).write_csv(path)
    >>> read_file(path, quasi_identifiers=["age"], sensitive=["illness"]).column("age").values.to_list()
    [31, 36]
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
        left_out=left_out,
        persons=person_rows(person, keep, which, order, known, varies, key),
    )
    return read_intake(
        Path(path), intake, format=format, separator=separator, encoding=encoding, on_progress=on_progress
    )


def read_intake(
    path: Path,
    intake: Intake,
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    on_progress: Progress = silent,
) -> Table:
    """The same, with all that is said of the columns in one value."""
    row_by_row = intake.row_by_row
    path = _existing(path)
    file_format = format_of_name(path, format) if row_by_row else find_format(path, format)
    if file_format == "csv":
        dialect = dialect_of(path, separator=separator, encoding=encoding, row_by_row=row_by_row)
        return _read_csv(path, intake, dialect, on_progress)
    if file_format == "excel":
        if row_by_row:
            raise InvalidInput(
                f"{path.name} is an Excel file. A differentially private method reads its data row by row, which an Excel sheet does not allow. Save the sheet as CSV (UTF-8)."
            )
        sheet = read_sheet(path)
        intake.refuse_unknown(list(sheet))
        plain = intake.kept_others(list(sheet))
        others = pl.DataFrame([_as_dictionary(name, sheet[name]) for name in plain])
        return intake.table(names := tuple(sheet), sheet.pop, others, undeclared=names)
    if file_format == "jsonl" and row_by_row:
        intake.refuse_unknown(named := (*intake.encoded, *intake.identifiers))
        coded = read_json_lines(path, intake.encoded, is_packed=is_packed_name(path), on_progress=on_progress)
        return intake.table(named, coded.pop, pl.DataFrame(), undeclared=named)
    with polars_errors(path, file_format):
        frame = scan_typed(path, file_format)
        schema = frame.collect_schema()
        columns = schema.names()
        intake.refuse_unknown(columns)
        refuse_long_decimals({name: schema[name] for name in intake.numbered})
        plain = intake.kept_others(columns)
        read = frame.select([*intake.numbered, *plain]).collect()
    del frame

    def coded_column(name: str) -> Coded:
        column = read.drop_in_place(name)
        return coded_by_cell(column) if row_by_row else coded_from_series(column)

    undeclared = columns if file_format == "jsonl" else ()
    return intake.table(columns, coded_column, read.select(plain), undeclared=undeclared)


def read_release(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    neutralised: bool = True,
    tells_empty: bool = False,
) -> pl.DataFrame:
    """Read a published file as text, an empty cell as null: what a check looks at.

    Columns are dictionaries of text (`pl.Enum`), so that every distinct text is looked at once. `neutralised` takes back
    the apostrophes that `write_tables` puts before formulas in a CSV file. With `tells_empty` an empty text, which
    `write_tables` puts in quotes, is one, and only nothing is null.
    """
    path = _existing(path)
    file_format = find_format(path, format)
    if file_format == "csv":
        dialect = read_dialect(path, separator=separator or separator_of_name(path), encoding=encoding, is_text=True)
        coded = read_texts(path, replace(dialect, tells_empty=tells_empty), dialect.header)
        frame = pl.DataFrame([_as_enum(name, coded.pop(name), tells_empty) for name in dialect.header])
        return restored(frame) if neutralised else frame
    if file_format == "excel":
        return pl.DataFrame([_as_enum(name, column, tells_empty) for name, column in read_sheet(path).items()])
    with polars_errors(path, file_format):
        read = scan_typed(path, file_format).collect()
    return pl.DataFrame([_as_published(read.drop_in_place(name), tells_empty) for name in read.columns])


def write_tables(
    tables: Mapping[Path, pl.DataFrame],
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    neutralise_formulas: bool = True,
    overwrite: bool = False,
    companions: CompanionsOfPaths = lambda digests: {},
) -> dict[Path, str]:
    """Write tables to files, all of them or none, and return the digests of the files.

    `companions` gets the digests of the tables' files and returns other files, such as a manifest, that appear with
    them. A CSV file is UTF-8, with the separator that its name (.tsv) or `separator` says; `neutralise_formulas` puts an
    apostrophe before names and cells that a spreadsheet would run; without it they are written as they are.
    """
    with writing_tables(
        tables, format=format, separator=separator, neutralise_formulas=neutralise_formulas, overwrite=overwrite
    ) as finish:
        return finish(companions)


@contextmanager
def writing_tables(
    tables: Mapping[Path, pl.DataFrame],
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    neutralise_formulas: bool = True,
    overwrite: bool = False,
    going: Collection[Path] = (),
) -> Iterator[Callable[[CompanionsOfPaths], dict[Path, str]]]:
    """The same while something else is done: the files appear after `finish(companions)`, and without it never.

    The files in `going` belong to what is replaced, and go when the new ones come.
    """

    def write(target: Path, frame: pl.DataFrame, written: Path, file_format: str) -> str:
        write_frame(
            frame,
            written,
            file_format=file_format,
            compress=is_gzip_name(target),
            separator=separator_of_name(target) or separator or ",",
            neutralise_formulas=neutralise_formulas,
        )
        return digest(written)

    formats = {target: format_to_write(Path(target.name), format) for target in tables}
    is_finished = False
    with all_or_nothing(overwrite=overwrite, going=going) as stage, ThreadPoolExecutor(max_workers=1) as pool:
        waiting = {
            target: pool.submit(write, target, frame, stage(target), formats[target])
            for target, frame in tables.items()
        }

        def finish(companions: CompanionsOfPaths) -> dict[Path, str]:
            nonlocal is_finished
            digests = {target: digest_of.result() for target, digest_of in waiting.items()}
            for target, content in companions(dict(digests)).items():
                written = stage(target)
                written.write_bytes(content)
                digests[target] = digest(written)
            is_finished = True
            return digests

        yield finish
        if not is_finished:
            raise NothingAfterAll


def digest(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def dialect_of(
    path: str | Path, *, separator: str | None = None, encoding: str | None = None, row_by_row: bool = False
) -> Dialect:
    """How a CSV file is written: what is not said is found out, `row_by_row` from the names of the columns alone."""
    path = _existing(path)
    read = read_public_dialect if row_by_row else read_dialect
    return read(path, separator=separator or separator_of_name(path), encoding=encoding)


def separator_of(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    row_by_row: bool = False,
) -> str | None:
    """The separator of a CSV file, said or found out; None for a file of another format."""
    if (format_of_name(path, format) if row_by_row else find_format(path, format)) != "csv":
        return None
    return dialect_of(path, separator=separator, encoding=encoding, row_by_row=row_by_row).separator


def _read_csv(path: Path, intake: Intake, dialect: Dialect, on_progress: Progress) -> Table:
    intake.refuse_unknown(dialect.header)
    plain = intake.kept_others(dialect.header)
    coded = read_texts(path, dialect, [*intake.numbered, *plain], on_progress)
    others = pl.DataFrame([_as_dictionary(name, coded.pop(name)) for name in plain])
    return intake.table(dialect.header, coded.pop, others, undeclared=dialect.header)


def _as_dictionary(name: str, coded: Coded) -> pl.Series:
    """A column that nobody looks at, as it is; a dictionary takes a fraction of the text."""
    return coded.dictionary.cast(pl.Enum(coded.dictionary.unique().sort())).gather(coded.codes).alias(name)


def _as_published(column: pl.Series, tells_empty: bool) -> pl.Series:
    """A published column of any type: lists, structs and bytes, which have no texts, as they are."""
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return column
    return _as_enum(column.name, coded_from_series(column), tells_empty)


def _as_enum(name: str, coded: Coded, tells_empty: bool) -> pl.Series:
    texts = texts_of(coded.dictionary)
    texts = texts if tells_empty else pl.select(pl.when(texts != "").then(texts)).to_series()
    return texts.cast(pl.Enum(texts.drop_nulls().unique().sort())).gather(coded.codes).alias(name)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise no_file(path)
    return path
