# SPDX-License-Identifier: Apache-2.0
"""File formats: which one a file is in, reading the typed ones, and writing all of them."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.csv import GZIP_MAGIC
from overt.io.encoding import NUMBER

SUFFIXES = {
    "csv": (".csv", ".tsv", ".tab", ".txt"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".ipc", ".feather"),
    "jsonl": (".jsonl", ".ndjson"),
}
_ROWS_OF_GROUP = 1 << 18
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"{": "jsonl"}

# A spreadsheet takes a cell that begins so for a formula, unless it is a number (or a range of numbers).
_FORMULA = r"^'*[=+\-@\t\r]"
_HARMLESS = rf"^{NUMBER}(?:\.\.{NUMBER})?(?: or missing)?$"


def find_format(path: Path, asked: str | None = None) -> str:
    """The format of a file by its name, or, of one that exists, by its first bytes."""
    if asked is not None:
        if asked not in SUFFIXES:
            raise InvalidInput(f"There is no format {asked!r}; the formats are {', '.join(SUFFIXES)}.")
        return asked
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    for name, suffixes in SUFFIXES.items():
        if suffix in suffixes:
            return name
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(8)
        return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "csv")
    raise InvalidInput(
        f"The name {path.name!r} does not say a format; end it in one of "
        f"{', '.join(suffixes[0] for suffixes in SUFFIXES.values())}, or name the format."
    )


def is_gzip_name(path: Path) -> bool:
    """Whether a file of this name is to be compressed."""
    return path.suffix.lower() == ".gz"


def separator_of_name(path: Path) -> str | None:
    """The separator that a name promises: a tab for `.tsv`."""
    return "\t" if Path(path.name.removesuffix(".gz")).suffix.lower() in (".tsv", ".tab") else None


def scan_typed(path: Path, file_format: str) -> pl.LazyFrame:
    """A Parquet, Arrow or JSON Lines file, not yet read."""
    with path.open("rb") as file:
        head = file.read(8)
    source: Path | bytes = path
    if head.startswith(GZIP_MAGIC):
        try:
            source = gzip.decompress(path.read_bytes())
        except (EOFError, OSError):
            raise InvalidInput(f"{path.name} is a damaged gzip file; compress it again.") from None
        head = source[:8]
    if file_format == "jsonl":
        return pl.scan_ndjson(source, infer_schema_length=None)
    if file_format == "parquet":
        return pl.scan_parquet(source, glob=False) if isinstance(source, Path) else pl.read_parquet(source).lazy()
    if head.startswith(b"ARROW1"):
        return pl.read_ipc(source).lazy()
    return pl.read_ipc_stream(source).lazy()


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
        texts = frame.lazy().with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    if file_format == "parquet":
        texts.sink_parquet(path, compression="zstd", row_group_size=_ROWS_OF_GROUP)
    elif file_format == "arrow":
        texts.sink_ipc(path, compat_level=pl.CompatLevel.oldest(), record_batch_size=_ROWS_OF_GROUP)
    elif file_format == "jsonl":
        _write_stream(path, compress, texts.sink_ndjson)
    else:
        frame = frame.with_columns([texts_of(moments) for moments in frame.select(pl.col(pl.Datetime))])
        if neutralise_formulas:
            frame = neutralised(frame)
        _write_stream(path, compress, lambda file: frame.write_csv(file, separator=separator))


def neutralised(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before every text, and every column name, that a spreadsheet would take for a formula.

    One more apostrophe goes before texts that have some already, so that `restored` knows what was there.
    """
    columns = [_map_texts(column, _neutralise) for column in frame]
    names = _neutralise(pl.Series(frame.columns))
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def restored(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo `neutralised`."""
    columns = [_map_texts(column, _restore) for column in frame]
    names = _restore(pl.Series(frame.columns))
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _neutralise(texts: pl.Series) -> pl.Series:
    risky = pl.col("text").str.contains(_FORMULA) & ~pl.col("text").str.contains(_HARMLESS)
    return texts.to_frame("text").select(pl.when(risky).then("'" + pl.col("text")).otherwise("text")).to_series()


def _restore(texts: pl.Series) -> pl.Series:
    return texts.str.replace(r"^'('*[=+\-@\t\r])", "$1")


def _map_texts(column: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change the texts of a column, those of a dictionary once each."""
    if isinstance(column.dtype, pl.Enum):
        texts = change(pl.Series(column.dtype.categories, dtype=pl.String))
        dictionary = texts.cast(pl.Enum(texts.unique(maintain_order=True)))
        return dictionary.gather(column.to_physical()).alias(column.name)
    if column.dtype == pl.String:
        return change(column).alias(column.name)
    return column


def _write_stream(path: Path, compress: bool, write: Callable[[IO[bytes]], object]) -> None:
    with path.open("wb") as file:
        if not compress:
            write(file)
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            write(cast(IO[bytes], packed))
