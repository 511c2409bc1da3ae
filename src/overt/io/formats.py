# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_files.py
"""File formats: which one a file is in, reading the typed ones, and writing all of them."""

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.dialect import GZIP_MAGIC, SEPARATED, ZIP_MAGIC, is_workbook, open_bytes, read_bytes
from overt.io.formulas import neutralised
from overt.io.own_content import with_texts_in_nested
from overt.io.paths import PACKED

SUFFIXES = {
    "csv": SEPARATED,
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".ipc", ".feather"),
    "jsonl": (".jsonl", ".ndjson"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
}
WRITTEN = tuple(name for name in SUFFIXES if name != "excel")
_ROWS_OF_GROUP = 1 << 18
_MOST_DIGITS = 38  # of an exact number that Polars reads
_MAGIC = {
    b"PAR1": "parquet",
    b"\xd0\xcf\x11\xe0": "excel",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"{": "jsonl",
}


OF_OTHERS = {  # what is often tried, is not read, and what to do
    (".sav", ".zsav", ".por"): "an SPSS file; save it as CSV in SPSS",
    (".dta",): "a Stata file; write it with `export delimited` in Stata",
    (".sas7bdat", ".xpt"): "a SAS file; write it with `proc export` as CSV in SAS",
    (".rds", ".rda", ".rdata"): "a file of R; write it with write.csv in R",
    (".mdb", ".accdb"): "a database of Access; export the table as CSV",
    (".pdf", ".doc", ".docx", ".odt", ".html", ".htm"): "a document; take the table out of it and save it as CSV",
    (".json",): "JSON; one object in each line is expected, in a file whose name ends in .jsonl",
    (".xml",): "XML; save the table as CSV",
    (".7z", ".rar", ".tar", ".bz2", ".xz", ".zst"): "an archive; unpack it, or pack the table as .zip or .gz",
}


def no_file(path: Path) -> InvalidInput:
    """That there is no file of a name."""
    if path.is_dir():
        return InvalidInput(f"{path} is a folder; give the path of a file in it.")
    return InvalidInput(f"There is no file {path}; check the name and the folder.")


def find_format(path: Path, asked: str | None = None) -> str:
    """The format of a file by its name, or, of one that exists, by its first bytes."""
    if asked is None and not _format_of_suffix(path) and path.is_file():
        with path.open("rb") as file:
            head = file.read(8)
        for suffixes, what in OF_OTHERS.items():
            if path.suffix.lower() in suffixes and not (path.suffix.lower() == ".json" and head.startswith(b"{")):
                raise InvalidInput(f"{path.name} is {what}.")
        if head.startswith(ZIP_MAGIC) and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return "excel" if is_workbook(archive) else "csv"
        return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "csv")
    return format_of_name(path, asked)


def _format_of_suffix(path: Path) -> str | None:
    suffix = _unpacked(path).suffix.lower()
    return next((name for name, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def _unpacked(path: Path) -> Path:
    """The name without the ending that says that a file is compressed."""
    return Path(path.stem if is_packed_name(path) else path.name)


def format_to_write(path: Path, asked: str | None = None) -> str:
    """The format in which a file of this name is written."""
    found = find_format(path, asked)
    if found not in WRITTEN:
        raise InvalidInput(
            f"{path.name} would be an Excel file, which is only read; end the name in .csv, which Excel opens, or in .parquet."
        )
    if path.suffix.lower() == ".zip":
        raise InvalidInput(
            f"{path.name} would be a zip file, which is only read; end the name in .csv.gz to compress it."
        )
    return found


def format_of_name(path: Path, asked: str | None = None) -> str:
    """The format that was asked for, or that the name of a file says."""
    if asked is not None:
        if asked not in SUFFIXES:
            raise InvalidInput(f"There is no format {asked!r}; the formats are {', '.join(SUFFIXES)}.")
        return asked
    found = _format_of_suffix(path)
    if found is not None:
        return found
    raise InvalidInput(
        f"The name {path.name!r} does not say a format; end it in one of "
        f"{', '.join(SUFFIXES[name][0] for name in WRITTEN)}, or name the format."
    )


def is_packed_name(path: Path) -> bool:
    """Whether a name says that the file is compressed."""
    return path.suffix.lower() in PACKED


def is_gzip_name(path: Path) -> bool:
    """Whether a file of this name is to be compressed."""
    return path.suffix.lower() == ".gz"


def separator_of_name(path: Path) -> str | None:
    """The separator that a name promises: a tab for `.tsv`."""
    return "\t" if _unpacked(path).suffix.lower() in (".tsv", ".tab") else None


def scan_typed(path: Path, file_format: str) -> pl.LazyFrame:
    """A Parquet, Arrow or JSON Lines file, not yet read."""
    with path.open("rb") as file:
        head = file.read(8)
    source: Path | bytes = path
    if head.startswith(GZIP_MAGIC):
        try:
            source = gzip.decompress(path.read_bytes())
        except (EOFError, OSError, zlib.error):
            raise InvalidInput(f"{path.name} is a damaged gzip file; compress it again.") from None
        head = source[:8]
    elif head.startswith(ZIP_MAGIC) and file_format == "jsonl":
        with open_bytes(path, is_packed=True) as packed:
            source = read_bytes(path, packed, -1)
    if file_format == "jsonl":
        return pl.scan_ndjson(source, infer_schema_length=None)
    if file_format == "parquet":
        return pl.scan_parquet(source, glob=False) if isinstance(source, Path) else pl.read_parquet(source).lazy()
    read = pl.read_ipc if head.startswith(b"ARROW1") else pl.read_ipc_stream
    refuse_long_decimals(read(source, n_rows=0).schema)  # all columns are read, whichever are wanted
    return read(source).lazy()


def refuse_long_decimals(types: Mapping[str, pl.DataType]) -> None:
    """Refuse exact numbers that could be too long to be read, whatever rows there are."""
    for name, dtype in types.items():
        if isinstance(dtype, pl.Decimal) and dtype.precision > _MOST_DIGITS:
            raise InvalidInput(
                f"Column {name!r} holds exact numbers of up to {dtype.precision} digits, and {_MOST_DIGITS} are read; make it numbers of fewer digits, or text."
            )


@contextmanager
def polars_errors(path: Path, file_format: str) -> Iterator[None]:
    """Polars quotes cells in its messages; ours say only which file cannot be read."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InvalidInput(
            f"{path.name} cannot be read as {file_format}: it is damaged, or in another format."
        ) from None


def write_frame(
    frame: pl.DataFrame, path: Path, *, file_format: str, compress: bool, separator: str, neutralise_formulas: bool
) -> None:
    """Write a frame in a format. The same frame always gives the same bytes."""
    for name, dtype in frame.schema.items():
        if dtype == pl.Object or (file_format == "csv" and (dtype.is_nested() or dtype == pl.Binary)):
            raise InvalidInput(f"Column {name!r} has cells that a {file_format} file cannot hold; leave it out.")
    if file_format != "csv":
        if compress and file_format != "jsonl":
            raise InvalidInput(f"A {file_format} file is compressed inside; leave .gz out of its name.")
        # piece by piece, so that the text of a whole table is never in memory
        texts = with_texts_in_nested(frame).lazy().with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    else:
        frame = frame.with_columns([texts_of(moments) for moments in frame.select(pl.col(pl.Datetime))])
        if neutralise_formulas:
            frame = neutralised(frame)
    with _saying_what_the_system_said():
        if file_format == "parquet":
            texts.sink_parquet(path, compression="zstd", row_group_size=_ROWS_OF_GROUP)
        elif file_format == "arrow":
            texts.sink_ipc(path, compat_level=pl.CompatLevel.oldest(), record_batch_size=_ROWS_OF_GROUP)
        elif file_format == "jsonl":
            _write_stream(path, compress, texts.sink_ndjson)
        else:
            _write_stream(path, compress, lambda file: frame.write_csv(file, separator=separator))


@contextmanager
def _saying_what_the_system_said() -> Iterator[None]:
    """A full disk is an `OSError` with its number, also where Polars writes and puts what the system said into words."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        said = re.search(r"\(os error (\d+)\)", str(error))
        if said is None:
            raise
        number = int(said[1])
        raise OSError(number, os.strerror(number)) from None


def _write_stream(path: Path, compress: bool, write: Callable[[IO[bytes]], object]) -> None:
    with path.open("wb") as file:
        if not compress:
            write(file)
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            write(cast(IO[bytes], packed))
