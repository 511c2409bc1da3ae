# SPDX-License-Identifier: Apache-2.0
"""Separated text in: every distinct text of a column is kept once.

The bytes are split and numbered by our own kernels, block by block, in threads over spans of the file: a column costs
four bytes a row and its dictionary, columns that nobody wants cost nothing, and a broken line is named by its number.

With `Dialect.tells_empty` a field of nothing is null, and one of two quotes an empty text.

A field is quoted if it begins with a double quote (blanks before it do not count); a doubled quote inside stands for
one. Blank lines are skipped, except in a file of one column, where they are empty fields.

Where every line is a record by itself (`Dialect.by_line`), what a line becomes depends on its bytes alone: quotes end with
it, a line that is broken or has another number of fields is a record of unknown cells (null), and so is a cell that is not
in the encoding.
"""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidData
from overt.io.canonical_texts import text_or_none
from overt.io.dialect import BOMS, Dialect, not_in, open_bytes, read_bytes, refuse_damaged
from overt.io.encoding import Coded
from overt.kernels.csv_fields import FINE, OPEN_QUOTE, RAGGED, number_texts, place_texts, split_records
from overt.progress import Progress, silent
from overt.table import Codes
from overt.threads import map_in_threads, n_threads, run_watched

_BLOCK = 1 << 20
_END_OF_TEXT = "\x1f"
_MOST_OF_RECORD = 1 << 24  # bytes of one record, where not all of a file may be held

Span = tuple[int, int | None]  # from a position of the file to another, or to the end


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
    if dialect.by_line:
        texts = [pl.concat([_decode_alone(piece, encoding or "utf-8") for piece in pieces]) for pieces in columns]
    else:
        texts = _decode_columns(path, columns, encoding)
    joined = map_in_threads(_join_codes, columns)
    n_lines = sum(part.n_lines for part in parts)
    first = dialect.n_lines_before + 1
    return {
        name: _with_unknown(dictionary, codes, first if n_lines == codes.size else None)
        for name, dictionary, codes in zip(wanted, texts, joined, strict=True)
    }


def read_batches(path: Path, dialect: Dialect, wanted: Sequence[str], batch_rows: int) -> Iterator[pl.DataFrame]:
    """The same texts row by row, in batches of about so many rows, of a file that need not fit into memory."""
    encoding = "utf-8" if dialect.encoding is None or dialect.is_recoded else dialect.encoding
    for done in _read_piecewise(path, dialect, wanted, batch_rows):
        texts = _decode_columns(path, [[one] for one in done], encoding)
        columns = zip(wanted, texts, done, strict=True)
        yield pl.DataFrame([of_column.gather(_join_codes([one])).alias(name) for name, of_column, one in columns])


def read_line_batches(
    path: Path, dialect: Dialect, wanted: Sequence[str], batch_rows: int
) -> Iterator[dict[str, Coded]]:
    """The same of a file in which every line is a record by itself: no line is refused, and none changes what another becomes."""
    assert dialect.by_line
    for done in _read_piecewise(path, dialect, wanted, batch_rows):
        texts = [_decode_alone(one, dialect.encoding or "utf-8") for one in done]
        columns = zip(wanted, texts, done, strict=True)
        yield {name: _with_unknown(of_column, _join_codes([one]), None) for name, of_column, one in columns}


def _read_piecewise(
    path: Path, dialect: Dialect, wanted: Sequence[str], batch_rows: int
) -> "Iterator[list[_Dictionary]]":
    """The wanted columns of about so many rows at a time."""
    place_of_field = np.array([wanted.index(name) if name in wanted else -1 for name in dialect.header], np.int32)
    part = _Part(len(wanted))
    for block, n_bytes, is_last in part.blocks(_chunks(path, dialect, (dialect.n_bytes_before, None))):
        part.read(block, n_bytes, is_last, dialect, place_of_field)
        _refuse_broken(path, dialect, [part])
        if part.n_left > _MOST_OF_RECORD and not dialect.by_line:
            raise InvalidData(
                f"Line {dialect.n_lines_before + part.n_lines + 1} of {path.name} opens a quote that is not closed in {_MOST_OF_RECORD >> 20} MB; mend the line."
            )
        if part.n_records >= batch_rows or (is_last and part.n_records):
            done, part.dictionaries = part.dictionaries, [_Dictionary() for _ in wanted]
            yield done


def _with_unknown(texts: pl.Series, codes: Codes, first_line: int | None) -> Coded:
    """Cells without a number, those of broken lines or of nothing, are null."""
    is_unknown = codes < 0
    if is_unknown.any():
        codes[is_unknown] = len(texts)
        texts = texts.extend_constant(None, 1)
    return Coded(texts, codes, is_text=True, first_line=first_line)


def _join_codes(pieces: "Sequence[_Dictionary]") -> Codes:
    """The numbers of all rows of a column, those of each piece after those of the pieces before; the pieces lose theirs."""
    codes = np.full(sum(block.size for piece in pieces for block in piece.codes), -1, np.int32)
    n_done = n_texts = 0
    for piece in pieces:
        for block in piece.codes:
            np.add(block, np.int32(n_texts), out=codes[n_done : n_done + block.size], where=block >= 0)
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

    @property
    def n_records(self) -> int:
        """How many there are in the dictionaries."""
        return sum(codes.size for codes in self.dictionaries[0].codes)

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
        n_least = min(2, place_of_field.size) if dialect.by_line else place_of_field.size
        n_most = n_bytes // n_least + 2  # a record has a byte after every field, a broken one a byte and a line end
        if n_most > self._fields.shape[2]:
            self._fields = np.empty((2, len(self.dictionaries), n_most), np.int32)
        starts, stops = self._fields
        n_records, n_done, n_lines, self.problem, self.n_fields = split_records(
            block,
            n_bytes,
            is_last,
            dialect.by_line,
            dialect.tells_empty,
            ord(dialect.separator),
            ord(dialect.newline),
            place_of_field,
            starts,
            stops,
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
        on_progress("Reading", min(int(n_read.sum()), size), size)

    return cast(list[_Part], run_watched([partial(read, i) for i in range(len(spans))], stop, watch))


def _chunks(path: Path, dialect: Dialect, span: Span) -> Iterator[bytes]:
    """The bytes of a span, piece by piece."""
    start, stop = span
    with _open_at(path, dialect, start) as file:
        while chunk := read_bytes(path, file, _BLOCK if stop is None else min(_BLOCK, stop - start)):
            start += len(chunk)
            yield chunk


def _split_into_spans(path: Path, dialect: Dialect) -> list[Span]:
    """Cut the file where lines end, one span for each thread; a compressed or recoded file is read in one go."""
    start, size = dialect.n_bytes_before, path.stat().st_size
    cuts = [start]
    if not (dialect.is_packed or dialect.is_recoded):
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
            raise InvalidData(
                f"{line} has {part.n_fields} {'field' if part.n_fields == 1 else 'fields'} where the header has {len(dialect.header)}; mend the line, or name "
                f"the separator if it is not {dialect.separator!r}."
            )
        if part.problem == OPEN_QUOTE:
            raise InvalidData(f"{line} opens a quote in field {part.n_fields} that is never closed; mend the line.")
        if part.problem != FINE:
            raise InvalidData(f"{line} has text after the closing quote of field {part.n_fields}; mend the line.")


def _decode_columns(path: Path, columns: Sequence[Sequence[_Dictionary]], encoding: str | None) -> list[pl.Series]:
    """The texts of every column; where no encoding is given and one is not UTF-8, all are Windows-1252."""
    for attempt in [encoding] if encoding else ["utf-8", "cp1252", "latin-1"]:
        try:
            return [pl.concat([_decode_texts(piece, attempt) for piece in pieces]) for pieces in columns]
        except UnicodeDecodeError:
            continue
    raise not_in(path, cast(str, encoding))


def _decode_alone(dictionary: _Dictionary, encoding: str) -> pl.Series:
    """The texts of a dictionary, each decoded by itself; one that is not in the encoding is null."""
    try:
        return _decode_texts(dictionary, encoding)
    except UnicodeDecodeError:
        return pl.Series([text_or_none(piece, encoding) for piece in dictionary.slices()], dtype=pl.String)


def _decode_texts(dictionary: _Dictionary, encoding: str) -> pl.Series:
    text = str(dictionary.text, encoding)
    if text.count(_END_OF_TEXT) != dictionary.n_texts:  # the mark is also a character of the data
        return pl.Series([piece.decode(encoding) for piece in dictionary.slices()], dtype=pl.String)
    if not text:
        return pl.Series([], dtype=pl.String)
    return pl.Series([text[:-1]]).str.split(_END_OF_TEXT).explode()


def _open_at(path: Path, dialect: Dialect, start: int) -> IO[bytes]:
    """The file as bytes in which every separator is one byte, from a position on."""
    file = open_bytes(path, dialect.is_packed)
    if not dialect.is_recoded:
        file.seek(start)
        return file
    with refuse_damaged(path):
        return cast(IO[bytes], _Recoded(file, cast(str, dialect.encoding), start))


class _Recoded:
    """A file of bytes that reads as UTF-8 whatever its encoding, from a position on; a byte order mark is left out."""

    def __init__(self, file: IO[bytes], encoding: str, start: int) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        bom = next((bom for bom, its_encoding in BOMS if its_encoding == encoding), b"")
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


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
