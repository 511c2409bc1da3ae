# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_csv.py
"""How a file of separated text is written: encoding, separator, line ends and the names of the columns.

What is not said is found out from the first lines; or, for releases in which no row may say how another is read, from
the line with the names alone.
"""

import codecs
import csv
import gzip
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from overt.errors import InvalidInput

SEPARATED = (".csv", ".tsv", ".tab", ".txt")
SEPARATORS = (",", ";", "\t", "|")
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_ONE_BYTE = ("ascii", "cp125", "iso8859", "latin")  # encodings in which a separator is always just itself
_SAMPLE = 1 << 18


@dataclass(frozen=True)
class Dialect:
    """How a file of separated text is written."""

    header: tuple[str, ...]
    separator: str
    newline: str
    encoding: str | None  # None: UTF-8, or Windows-1252 if that turns out to be wrong
    is_packed: bool  # with gzip or zip
    n_lines_before: int  # the header, and blank lines before it
    n_bytes_before: int  # the same, with the byte order mark, after decompression and recoding
    by_line: bool = False  # every line is a record by itself, and what it becomes no other line's business
    tells_empty: bool = False  # a field of nothing is another one than an empty text, which has quotes

    @property
    def is_recoded(self) -> bool:
        """Whether the text is made UTF-8 before it is split."""
        return self.encoding is not None and self.encoding != "utf-8" and not self.encoding.startswith(_ONE_BYTE)


def read_dialect(
    path: Path, *, separator: str | None = None, encoding: str | None = None, is_text: bool = False
) -> Dialect:
    """Look at the beginning of a file: encoding, separator, line ends and the names of the columns.

    A file that `is_text` for certain may hold zero bytes, which otherwise say that it is none.
    """
    is_packed, sample = _begin(path, separator)
    bom, encoding = _find_encoding(sample, encoding)
    if encoding is None and b"\0" in sample and not is_text:
        raise InvalidInput(f"{path.name} is not a text file: it has zero bytes; name its format, or its encoding.")
    text, sample_encoding = _decode(path, sample[len(bom) :], encoding)
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    n_blank = len(text) - len(text.lstrip("\r\n"))
    lines = text[n_blank:].split(newline)
    if len(sample) == _SAMPLE and len(lines) > 1:
        lines.pop()  # perhaps cut off
    if not any(line.strip() for line in lines):
        raise InvalidInput(f"{path.name} is empty; a line with the names of the columns is expected first.")
    separator = separator or _find_separator(lines)
    header, n_lines = _read_header(path, lines, separator)
    before = text[:n_blank] + newline.join([*lines[:n_lines], ""])
    dialect = Dialect(header, separator, newline, encoding, is_packed, before.count(newline), 0)
    n_bytes = len(before.encode("utf-8")) if dialect.is_recoded else len(bom) + len(before.encode(sample_encoding))
    return replace(dialect, n_bytes_before=n_bytes)


def read_public_dialect(path: Path, *, separator: str | None = None, encoding: str | None = None) -> Dialect:
    """How a file is written in which every line is a record by itself, from the line with the names alone.

    What is not said: UTF-8, and the separator that makes most names.
    """
    is_packed, sample = _begin(path, separator)
    bom, encoding = _find_encoding(sample, encoding)
    n_blank = len(sample) - len(sample[len(bom) :].lstrip(b"\r\n"))
    line, newline, _ = sample[n_blank:].partition(b"\n")
    text = line.removesuffix(b"\r")
    if not text.strip():
        raise InvalidInput(f"{path.name} is empty; a line with the names of the columns is expected first.")
    if (not newline and len(sample) == _SAMPLE) or b"\r" in text:
        raise InvalidInput(
            f"The names of the columns of {path.name} take no line of their own that ends in a line feed."
        )
    n_before = sample[:n_blank].count(b"\n") + 1
    dialect = Dialect(
        (), "", "\n", encoding or "utf-8", is_packed, n_before, n_blank + len(line + newline), by_line=True
    )
    if dialect.is_recoded:
        raise InvalidInput(
            f"{path.name} is in {dialect.encoding}, in which one row can change how others are read; write it as UTF-8, or in an "
            "encoding of one byte for each character."
        )
    try:
        names = text.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise not_in(path, encoding or "utf-8") from None
    if names.count('"') % 2:
        raise InvalidInput(
            f"The line with the names of the columns of {path.name} opens a quote that it does not close."
        )
    separator = separator or _find_separator([names])
    return replace(dialect, header=_read_header(path, [names], separator)[0], separator=separator)


def _begin(path: Path, separator: str | None) -> tuple[bool, bytes]:
    """Whether a file is compressed, and how it begins."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise InvalidInput(f"A separator is one ASCII character, not a quote or a line end; {separator!r} was given.")
    with path.open("rb") as file:
        is_packed = file.read(4).startswith((GZIP_MAGIC, ZIP_MAGIC))
    with open_bytes(path, is_packed) as file:
        return is_packed, read_bytes(path, file, _SAMPLE)


def open_bytes(path: Path, is_packed: bool) -> IO[bytes]:
    """A file as bytes, decompressed."""
    if not is_packed:
        return path.open("rb")
    with path.open("rb") as file:
        is_zip = file.read(4) == ZIP_MAGIC
    return _open_zip(path) if is_zip else cast(IO[bytes], gzip.open(path))


def _open_zip(path: Path) -> IO[bytes]:
    """The one file in a zip file."""
    with refuse_damaged(path):
        archive = zipfile.ZipFile(path)
    if is_workbook(archive):
        raise InvalidInput(
            f"{path.name} is an Excel file by what is in it; end its name in .xlsx, or save the sheet as CSV."
        )
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        raise InvalidInput(
            f"{path.name} holds {len(members)} files; one is expected. Take the table out, or zip it alone."
        )
    if members[0].flag_bits & 1:
        raise InvalidInput(f"{path.name} is protected by a password; take the table out of it first.")
    suffix = Path(members[0].filename).suffix.lower()
    if suffix not in ("", *SEPARATED, ".jsonl", ".ndjson"):
        raise InvalidInput(
            f"{path.name} holds a {suffix} file; of zip files only CSV and JSON Lines are read. Take it out first."
        )
    with refuse_damaged(path):
        return archive.open(members[0])


def is_workbook(archive: zipfile.ZipFile) -> bool:
    """Whether a zip file is a workbook of Excel or OpenDocument."""
    return not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(archive.namelist())


def read_bytes(path: Path, file: IO[bytes], n_bytes: int) -> bytes:
    """Some bytes of a file; one sentence if it is damaged."""
    with refuse_damaged(path):
        return file.read(n_bytes)


@contextmanager
def refuse_damaged(path: Path) -> Iterator[None]:
    """One sentence for a file that cannot be decompressed, or decoded."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InvalidInput(f"{path.name} is a damaged gzip or zip file; compress it again.") from None
    except (zipfile.BadZipFile, NotImplementedError):
        raise InvalidInput(
            f"{path.name} is a damaged zip file, or packed in a way that cannot be read; compress it again."
        ) from None
    except UnicodeError:
        raise InvalidInput(f"{path.name} is not all in the encoding that was named or found; name another.") from None


def _find_encoding(sample: bytes, encoding: str | None) -> tuple[bytes, str | None]:
    """The byte order mark, if there is one, and the encoding as Python calls it."""
    if encoding is not None:
        try:
            encoding = codecs.lookup(encoding).name.removesuffix("-sig")
        except LookupError:
            raise InvalidInput(f"There is no encoding {encoding!r}; examples are utf-8, cp1252 and utf-16.") from None
    for bom, its_encoding in BOMS:
        if sample.startswith(bom) and (encoding is None or its_encoding.startswith(encoding)):
            return bom, its_encoding
    return b"", encoding


def _decode(path: Path, sample: bytes, encoding: str | None) -> tuple[str, str]:
    """The sample as text, and the encoding that it is in."""
    for attempt in [encoding] if encoding else ["utf-8", "cp1252", "latin-1"]:
        try:
            return codecs.getincrementaldecoder(attempt)().decode(sample), attempt
        except UnicodeError:
            continue
    raise not_in(path, cast(str, encoding))


def not_in(path: Path, encoding: str) -> InvalidInput:
    """The error for a file in another encoding."""
    return InvalidInput(f"{path.name} is not written in {encoding}; name its encoding, for instance cp1252 or utf-16.")


def _find_separator(lines: Sequence[str]) -> str:
    """The separator that gives most lines the same number of fields, more than one; else the comma."""

    def fit(separator: str) -> tuple[int, int]:
        n_fields: list[int] = []
        with suppress(csv.Error):  # a lone carriage return: whoever reads the cells says where
            records = csv.reader(lines[:200], delimiter=separator, skipinitialspace=True)
            n_fields.extend(len(record) for record in records if record)
        if not n_fields:
            return 0, 0
        return (n_fields.count(n_fields[0]) if n_fields[0] > 1 else 0), n_fields[0]

    return max(SEPARATORS, key=fit)


def _read_header(path: Path, lines: Sequence[str], separator: str) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and how many lines they take."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, skipinitialspace=True)
    try:
        header = tuple(name.strip() for name in next(reader))
    except csv.Error:
        raise InvalidInput(
            f"The line with the names of the columns of {path.name} has a carriage return that ends no line; use one kind of line end."
        ) from None
    if "" in header:
        raise InvalidInput(
            f"Column {header.index('') + 1} of {path.name} has no name; give every column a name in line 1."
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InvalidInput(f"{path.name} has more than one column {twice[0]!r}; give every column a name of its own.")
    return header, reader.line_num
