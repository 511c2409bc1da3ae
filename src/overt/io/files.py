# SPDX-License-Identifier: Apache-2.0
"""Files in and out: a table is read from one file, a release is written to one or two, whole or not at all."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.atomic import NothingAfterAll, all_or_nothing
from overt.io.csv import Dialect, read_dialect, read_texts
from overt.io.encoding import Coded, coded_from_series
from overt.io.formats import (
    find_format,
    is_gzip_name,
    polars_errors,
    restored,
    scan_typed,
    separator_of_name,
    write_frame,
)
from overt.io.intake import Intake, Missing
from overt.progress import Progress, silent
from overt.table import Kind, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder

Companions = Callable[[Mapping[Path, str]], Mapping[Path, bytes]]


def read_file(
    path: str | Path,
    *,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str] = (),
    identifiers: Collection[str] = (),
    hierarchies: "Mapping[str, Builder] | None" = None,
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Missing = "refuse",
    missing_values: Collection[str] = ("",),
    others: Collection[str] | None = None,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    on_progress: Progress = silent,
) -> Table:
    """Read a file (CSV, Parquet, Arrow IPC or JSON Lines, also gzip) and encode it.

    Columns without a role are kept as they are, all of them or those in `others`; identifiers are not read. In a CSV
    file a column is a number or a date if all its texts are plain ones, else a category; `kinds` overrides that. What
    is not said of format, separator and encoding is found out.
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
    path = _existing(path)
    file_format = find_format(path, format)
    if file_format == "csv":
        return _read_csv(path, intake, dialect_of(path, separator=separator, encoding=encoding), on_progress)
    with polars_errors(path, file_format):
        frame = scan_typed(path, file_format)
        columns = frame.collect_schema().names()
        intake.refuse_unknown(columns)
        plain = intake.kept_others(columns)
        read = frame.select([*intake.encoded, *plain]).collect()
    del frame
    return intake.table(columns, lambda name: coded_from_series(read.drop_in_place(name)), read.select(plain))


def read_release(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
    neutralised: bool = False,
) -> pl.DataFrame:
    """Read a published file as text, an empty cell as null: what a check looks at.

    Columns are dictionaries of text (`pl.Enum`), so that every distinct text is looked at once. `neutralised` takes back
    the apostrophes that `write_tables` put before formulas.
    """
    path = _existing(path)
    file_format = find_format(path, format)
    if file_format == "csv":
        dialect = dialect_of(path, separator=separator, encoding=encoding)
        coded = read_texts(path, dialect, dialect.header)
        frame = pl.DataFrame([_as_enum(name, coded.pop(name)) for name in dialect.header])
        return restored(frame) if neutralised else frame
    with polars_errors(path, file_format):
        read = scan_typed(path, file_format).collect()
    return pl.DataFrame([_as_enum(name, coded_from_series(read.drop_in_place(name))) for name in read.columns])


def write_tables(
    tables: Mapping[Path, pl.DataFrame],
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    neutralise_formulas: bool = False,
    overwrite: bool = False,
    companions: Companions = lambda digests: {},
) -> dict[Path, str]:
    """Write tables to files, all of them or none, and return the digests of the files.

    `companions` gets the digests of the tables' files and returns other files, such as a manifest, that appear with
    them. A CSV file is UTF-8, with the separator that its name (.tsv) or `separator` says; `neutralise_formulas` puts an
    apostrophe before cells that a spreadsheet would run.
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
    neutralise_formulas: bool = False,
    overwrite: bool = False,
) -> Iterator[Callable[[Companions], dict[Path, str]]]:
    """The same while something else is done: the files appear after `finish(companions)`, and without it never."""

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

    formats = {target: find_format(Path(target.name), format) for target in tables}
    is_finished = False
    with all_or_nothing(overwrite=overwrite) as stage, ThreadPoolExecutor(max_workers=1) as pool:
        waiting = {
            target: pool.submit(write, target, frame, stage(target), formats[target])
            for target, frame in tables.items()
        }

        def finish(companions: Companions) -> dict[Path, str]:
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


def dialect_of(path: str | Path, *, separator: str | None = None, encoding: str | None = None) -> Dialect:
    """How a CSV file is written: what is not said is found out."""
    path = _existing(path)
    return read_dialect(path, separator=separator or separator_of_name(path), encoding=encoding)


def separator_of(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 (the word of the recipe and the command line)
    separator: str | None = None,
    encoding: str | None = None,
) -> str | None:
    """The separator of a CSV file, said or found out; None for a file of another format."""
    if find_format(path, format) != "csv":
        return None
    return dialect_of(path, separator=separator, encoding=encoding).separator


def _read_csv(path: Path, intake: Intake, dialect: Dialect, on_progress: Progress) -> Table:
    intake.refuse_unknown(dialect.header)
    plain = intake.kept_others(dialect.header)
    coded = read_texts(path, dialect, [*intake.encoded, *plain], on_progress)
    others = pl.DataFrame([_as_dictionary(name, coded.pop(name)) for name in plain])
    return intake.table(dialect.header, coded.pop, others)


def _as_dictionary(name: str, coded: Coded) -> pl.Series:
    """A column that nobody looks at, as it is; a dictionary takes a fraction of the text."""
    return coded.dictionary.cast(pl.Enum(coded.dictionary.unique().sort())).gather(coded.codes).alias(name)


def _as_enum(name: str, coded: Coded) -> pl.Series:
    texts = texts_of(coded.dictionary)
    texts = pl.select(pl.when(texts != "").then(texts)).to_series()
    return texts.cast(pl.Enum(texts.drop_nulls().unique().sort())).gather(coded.codes).alias(name)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    return path
