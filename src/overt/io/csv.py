# SPDX-License-Identifier: Apache-2.0
"""Separated text in: separator and encoding are found, and every distinct text of a column is kept once.

The bytes are split and numbered by our own kernels, block by block, in threads over spans of the file: a column costs
four bytes a row and its dictionary, columns that nobody wants cost nothing, and a broken line is named by its number.

A field is quoted if it begins with a double quote (blanks before it do not count); a doubled quote inside stands for
one. Blank lines are skipped, except in a file of one column, where they are empty fields.
"""

import codecs
import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.io.encoding import Coded
from overt.kernels.parsing import FINE, OPEN_QUOTE, RAGGED, number_texts, place_texts, split_records
from overt.progress import Progress, silent
from overt.table import Codes
from overt.threads import map_in_threads, n_threads, run_watched

SEPARATORS = (",", ";", "\t", "|")
GZIP_MAGIC = b"\x1f\x8b"

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ONE_BYTE = ("ascii", "cp125", "iso8859", "latin")  # encodings in which a separator is always just itself
_SAMPLE = 1 << 18
_BLOCK = 1 << 20
_END_OF_TEXT = "\x1f"

Span = tuple[int, int | None]  # from a position of the file to another, or to the end


@dataclass(frozen=True)
class Dialect:
    """How a file of separated text is written."""

    header: tuple[str, ...]
    separator: str
    newline: str
    encoding: str | None  # None: UTF-8, or Windows-1252 if that turns out to be wrong
    is_gzip: bool
    n_lines_before: int  # the header, and blank lines before it
    n_bytes_before: int  # the same, with the byte order mark, after decompression and recoding

    @property
    def is_recoded(self) -> bool:
        """Whether the text is made UTF-8 before it is split."""
        return self.encoding is not None and self.encoding != "utf-8" and not self.encoding.startswith(_ONE_BYTE)


def read_dialect(path: Path, *, separator: str | None = None, encoding: str | None = None) -> Dialect:
    """Look at the beginning of a file: encoding, separator, line ends and the names of the columns."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise InvalidInput(f"A separator is one ASCII character, not a quote or a line end; {separator!r} was given.")
    with path.open("rb") as file:
        is_gzip = file.read(2) == GZIP_MAGIC
    with _open(path, is_gzip) as file:
        sample = _read(path, file, _SAMPLE)
    bom, encoding = _find_encoding(sample, encoding)
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
    dialect = Dialect(header, separator, newline, encoding, is_gzip, before.count(newline), 0)
    n_bytes = len(before.encode("utf-8")) if dialect.is_recoded else len(bom) + len(before.encode(sample_encoding))
    return replace(dialect, n_bytes_before=n_bytes)


def read_texts(path: Path, dialect: Dialect, wanted: Sequence[str], on_progress: Progress = silent) -> dict[str, Coded]:
    """The wanted columns, each as its distinct texts (a text may occur twice) and which of them each row has."""
    place_of_field = np.array([wanted.index(name) if name in wanted else -1 for name in dialect.header], np.int32)
    spans = _split_into_spans(path, dialect)
    parts = _read_spans(path, dialect, place_of_field, spans, on_progress)
    if any(part.problem == OPEN_QUOTE for part in parts[:-1]):  # a span ended in a quoted field: start again as one
        parts = _read_spans(path, dialect, place_of_field, [(spans[0][0], None)], on_progress)
    _refuse_broken(path, dialect, parts)
    encoding = dialect.encoding if not dialect.is_recoded else "utf-8"
    columns = [[part.dictionaries[place] for part in parts] for place in range(len(wanted))]
    texts = _decode_columns(path, columns, encoding)
    joined = map_in_threads(_join_codes, columns)
    return {
        name: Coded(dictionary, codes, is_text=True)
        for name, dictionary, codes in zip(wanted, texts, joined, strict=True)
    }


def _join_codes(pieces: "Sequence[_Dictionary]") -> Codes:
    """The numbers of all rows of a column, those of each piece after those of the pieces before; the pieces lose theirs."""
    codes = np.empty(sum(block.size for piece in pieces for block in piece.codes), np.int32)
    n_done = n_texts = 0
    for piece in pieces:
        for block in piece.codes:
            np.add(block, np.int32(n_texts), out=codes[n_done : n_done + block.size])
            n_done += block.size
        n_texts += piece.n_texts
        piece.codes.clear()
    return codes


class _Dictionary:
    """The distinct texts of one column so far, and their numbers row by row."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.codes: list[Codes] = []
        self._slots = np.empty(0, np.int32)
        self._entries = np.empty((0, 4), np.uint64)
        self._arena = np.empty(0, np.uint8)
        self._n_arena = 0

    def number(self, block: NDArray[np.uint8], starts: Codes, stops: Codes) -> None:
        """Number the texts of some more rows."""
        self._make_room(starts.size, int((stops - starts).sum()) + starts.size)
        codes = np.empty(starts.size, np.int32)
        self.n_texts, self._n_arena = number_texts(
            block, starts, stops, self._slots, self._entries, self._arena, self.n_texts, self._n_arena, codes
        )
        self.codes.append(codes)

    @property
    def text(self) -> memoryview:
        """All texts, each followed by the end mark."""
        return memoryview(cast(Any, self._arena[: self._n_arena]))

    def slices(self) -> list[bytes]:
        """The texts one by one."""
        return [
            bytes(self.text[first : first + length]) for first, length in self._entries[: self.n_texts, 2:].tolist()
        ]

    def _make_room(self, n_more: int, n_bytes_more: int) -> None:
        if self.n_texts + n_more > len(self._entries):
            n_room = 2 * (self.n_texts + n_more)
            self._entries = _enlarged(self._entries, n_room)
            self._slots = np.full(1 << (2 * n_room - 1).bit_length(), -1, np.int32)
            place_texts(self._slots, self._entries, self.n_texts)
        if self._n_arena + n_bytes_more > self._arena.size:
            self._arena = _enlarged(self._arena, 2 * self._n_arena + n_bytes_more)


class _Part:
    """What was read of a span of the file."""

    def __init__(self, n_columns: int) -> None:
        self.dictionaries = [_Dictionary() for _ in range(n_columns)]
        self.n_lines = 0
        self.problem = FINE
        self.n_fields = 0  # of the record with the problem
        self.n_left = 0  # bytes of a record that goes on beyond the block
        self._fields = np.empty((2, n_columns, 0), np.int32)  # starts and stops

    def blocks(self, chunks: Iterable[bytes]) -> Iterator[tuple[NDArray[np.uint8], int, bool]]:
        """(block, n_bytes, is_last): chunks, each after what was left of the one before; at last what is left."""
        block = np.empty(_BLOCK, np.uint8)
        n_bytes = 0
        for chunk in chain(chunks, [b""]):
            left = block[n_bytes - self.n_left : n_bytes].copy()
            n_bytes = left.size + len(chunk)
            if n_bytes + 16 > block.size:
                block = np.empty((2 * n_bytes + 16) // 8 * 8, np.uint8)
            block[: left.size] = left
            block[left.size : n_bytes] = np.frombuffer(chunk, np.uint8)
            yield block, n_bytes, not chunk

    def read(
        self, block: NDArray[np.uint8], n_bytes: int, is_last: bool, dialect: Dialect, place_of_field: Codes
    ) -> None:
        """Split a block into records and number their texts."""
        n_most = n_bytes // place_of_field.size + 2  # a record has a byte after every field
        if n_most > self._fields.shape[2]:
            self._fields = np.empty((2, len(self.dictionaries), n_most), np.int32)
        starts, stops = self._fields
        n_records, n_done, n_lines, self.problem, self.n_fields = split_records(
            block, n_bytes, is_last, ord(dialect.separator), ord(dialect.newline), place_of_field, starts, stops
        )
        for place, dictionary in enumerate(self.dictionaries):
            dictionary.number(block, starts[place, :n_records], stops[place, :n_records])
        self.n_lines += n_lines
        self.n_left = n_bytes - n_done


def _read_spans(
    path: Path, dialect: Dialect, place_of_field: Codes, spans: Sequence[Span], on_progress: Progress
) -> list[_Part]:
    """Read the spans in threads."""
    size, n_read, stop = path.stat().st_size, np.zeros(len(spans), np.int64), np.zeros(1, np.bool_)

    def read(i: int) -> _Part:
        part = _Part(np.flatnonzero(place_of_field >= 0).size)
        for block, n_bytes, is_last in part.blocks(_chunks(path, dialect, spans[i])):
            part.read(block, n_bytes, is_last, dialect, place_of_field)
            n_read[i] += n_bytes
            if part.problem != FINE or stop[0]:
                break
        return part

    def watch() -> None:
        on_progress("reading", min(int(n_read.sum()), size), size)

    return cast(list[_Part], run_watched([partial(read, i) for i in range(len(spans))], stop, watch))


def _chunks(path: Path, dialect: Dialect, span: Span) -> Iterator[bytes]:
    """The bytes of a span, piece by piece."""
    start, stop = span
    with _open_at(path, dialect, start) as file:
        while chunk := _read(path, file, _BLOCK if stop is None else min(_BLOCK, stop - start)):
            start += len(chunk)
            yield chunk


def _split_into_spans(path: Path, dialect: Dialect) -> list[Span]:
    """Cut the file where lines end, one span for each thread; a compressed or recoded file is read in one go."""
    start, size = dialect.n_bytes_before, path.stat().st_size
    cuts = [start]
    if not (dialect.is_gzip or dialect.is_recoded):
        n_spans = min(n_threads(), (size - start) // (4 * _BLOCK) + 1)
        with path.open("rb") as file:
            for i in range(1, n_spans):
                file.seek(start + (size - start) * i // n_spans)
                after = file.read(_BLOCK).find(dialect.newline.encode())
                if after >= 0:
                    cuts.append(start + (size - start) * i // n_spans + after + 1)
    return [*pairwise(cuts), (cuts[-1], None)]


def _refuse_broken(path: Path, dialect: Dialect, parts: Sequence[_Part]) -> None:
    n_lines = dialect.n_lines_before
    for part in parts:
        n_lines += part.n_lines
        line = f"Line {n_lines + 1} of {path.name}"
        if part.problem == RAGGED:
            raise InvalidInput(
                f"{line} has {part.n_fields} fields where the header has {len(dialect.header)}; mend the line, or name "
                f"the separator if it is not {dialect.separator!r}."
            )
        if part.problem == OPEN_QUOTE:
            raise InvalidInput(f"{line} opens a quote in field {part.n_fields} that is never closed; mend the line.")
        if part.problem != FINE:
            raise InvalidInput(f"{line} has text after the closing quote of field {part.n_fields}; mend the line.")


def _decode_columns(path: Path, columns: Sequence[Sequence[_Dictionary]], encoding: str | None) -> list[pl.Series]:
    """The texts of every column; where no encoding is given and one is not UTF-8, all are Windows-1252."""
    for attempt in [encoding] if encoding else ["utf-8", "cp1252", "latin-1"]:
        try:
            return [pl.concat([_decode_texts(piece, attempt) for piece in pieces]) for pieces in columns]
        except UnicodeDecodeError:
            continue
    raise _not_in(path, cast(str, encoding))


def _decode_texts(dictionary: _Dictionary, encoding: str) -> pl.Series:
    text = str(dictionary.text, encoding)
    if text.count(_END_OF_TEXT) != dictionary.n_texts:  # the mark is also a character of the data
        return pl.Series([piece.decode(encoding) for piece in dictionary.slices()], dtype=pl.String)
    if not text:
        return pl.Series([], dtype=pl.String)
    return pl.Series([text[:-1]]).str.split(_END_OF_TEXT).explode()


def _find_encoding(sample: bytes, encoding: str | None) -> tuple[bytes, str | None]:
    """The byte order mark, if there is one, and the encoding as Python calls it."""
    if encoding is not None:
        try:
            encoding = codecs.lookup(encoding).name.removesuffix("-sig")
        except LookupError:
            raise InvalidInput(f"There is no encoding {encoding!r}; examples are utf-8, cp1252 and utf-16.") from None
    for bom, its_encoding in _BOMS:
        if sample.startswith(bom) and (encoding is None or its_encoding.startswith(encoding)):
            return bom, its_encoding
    return b"", encoding


def _decode(path: Path, sample: bytes, encoding: str | None) -> tuple[str, str]:
    """The sample as text, and the encoding that it is in."""
    if encoding is None and b"\0" in sample:
        raise InvalidInput(f"{path.name} is not a text file: it has zero bytes; name its format, or its encoding.")
    for attempt in [encoding] if encoding else ["utf-8", "cp1252", "latin-1"]:
        try:
            return codecs.getincrementaldecoder(attempt)().decode(sample), attempt
        except UnicodeError:
            continue
    raise _not_in(path, cast(str, encoding))


def _not_in(path: Path, encoding: str) -> InvalidInput:
    return InvalidInput(f"{path.name} is not written in {encoding}; name its encoding, for instance cp1252 or utf-16.")


def _find_separator(lines: Sequence[str]) -> str:
    """The separator that gives most lines the same number of fields, more than one; else the comma."""

    def fit(separator: str) -> tuple[int, int]:
        n_fields = [
            len(record) for record in csv.reader(lines[:200], delimiter=separator, skipinitialspace=True) if record
        ]
        return (n_fields.count(n_fields[0]) if n_fields[0] > 1 else 0), n_fields[0]

    return max(SEPARATORS, key=fit)


def _read_header(path: Path, lines: Sequence[str], separator: str) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and how many lines they take."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, skipinitialspace=True)
    header = tuple(name.strip() for name in next(reader))
    if "" in header:
        raise InvalidInput(
            f"Column {header.index('') + 1} of {path.name} has no name; give every column a name in line 1."
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InvalidInput(f"{path.name} has more than one column {twice[0]!r}; give every column a name of its own.")
    return header, reader.line_num


def _open(path: Path, is_gzip: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if is_gzip else path.open("rb")


def _open_at(path: Path, dialect: Dialect, start: int) -> IO[bytes]:
    """The file as bytes in which every separator is one byte, from a position on."""
    file = _open(path, dialect.is_gzip)
    if not dialect.is_recoded:
        file.seek(start)
        return file
    return cast(IO[bytes], _Recoded(file, cast(str, dialect.encoding), start))


class _Recoded:
    """A file of bytes that reads as UTF-8 whatever its encoding, from a position on; a byte order mark is left out."""

    def __init__(self, file: IO[bytes], encoding: str, start: int) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        bom = next((bom for bom, its_encoding in _BOMS if its_encoding == encoding), b"")
        if file.read(len(bom)) != bom:
            file.seek(0)
        self.read(start)

    def read(self, n_bytes: int) -> bytes:
        while len(self._ready) < n_bytes:
            chunk = self._file.read(n_bytes)
            self._ready += self._decoder.decode(chunk, final=not chunk).encode()
            if not chunk:
                break
        ready, self._ready = self._ready[:n_bytes], self._ready[n_bytes:]
        return ready

    def __enter__(self) -> "_Recoded":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _read(path: Path, file: IO[bytes], n_bytes: int) -> bytes:
    try:
        return file.read(n_bytes)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InvalidInput(f"{path.name} is a damaged gzip file; compress it again.") from None
    except UnicodeError:
        raise InvalidInput(f"{path.name} is not all in the encoding that was named or found; name another.") from None


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
