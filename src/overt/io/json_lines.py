# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_files.py
"""JSON Lines read one line at a time: what a line becomes depends on its bytes alone.

There is no schema, so the names of the columns are those that are asked for. A key that a record lacks, a list or an
object, a number that no float holds, half a surrogate: unknown, null. A line that is no JSON object in UTF-8 is a record of
unknown cells. Blank lines are no records.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from json import JSONDecoder
from pathlib import Path

import numpy as np
import polars as pl

from overt.io.canonical_texts import text_of, text_of_float
from overt.io.dialect import open_bytes, refuse_damaged
from overt.io.encoding import Coded
from overt.progress import Progress, silent

_LINES_AT_ONCE = 1 << 14
_BOM = b"\xef\xbb\xbf"


def _whole(literal: str) -> str:
    return "0" if literal == "-0" else literal  # of any length: nobody counts with it


_DECODER = JSONDecoder(
    parse_int=_whole, parse_float=lambda literal: text_of_float(float(literal)), parse_constant=lambda _: None
)


def read_json_lines(
    path: Path, wanted: Sequence[str], *, is_packed: bool = False, on_progress: Progress = silent
) -> dict[str, Coded]:
    """The wanted columns of a file, each in codes and a dictionary of texts."""
    return _number(_records(path, wanted, is_packed), wanted, on_progress)


def read_json_batches(
    path: Path, wanted: Sequence[str], batch_rows: int, *, is_packed: bool = False
) -> Iterator[dict[str, Coded]]:
    """The same, so many records at a time, of a file that need not fit into memory."""
    records = _records(path, wanted, is_packed)
    while batch := list(islice(records, batch_rows)):
        yield _number(batch, wanted, silent)


def _number(records: Iterable[list[str | None]], wanted: Sequence[str], on_progress: Progress) -> dict[str, Coded]:
    codes = [array("i") for _ in wanted]
    number_of_text: list[dict[str | None, int]] = [{} for _ in wanted]
    for done, cells in enumerate(records):
        for own, numbers, cell in zip(codes, number_of_text, cells, strict=True):
            own.append(numbers.setdefault(cell, len(numbers)))
        if done % _LINES_AT_ONCE == 0:
            on_progress("Reading", 0, 0)
    return {
        name: Coded(pl.Series(list(numbers), dtype=pl.String), np.array(own, np.int32), is_text=True)
        for name, own, numbers in zip(wanted, codes, number_of_text, strict=True)
    }


def cells_of_line(line: bytes, wanted: Sequence[str]) -> list[str | None]:
    """The cells of one record."""
    try:
        record = _DECODER.decode(line.removeprefix(_BOM).decode())
    except (ValueError, RecursionError):  # no UTF-8, no JSON, or nested without end
        record = None
    if not isinstance(record, dict):
        return [None] * len(wanted)
    return [text_of(record.get(name)) for name in wanted]


def _records(path: Path, wanted: Sequence[str], is_packed: bool) -> Iterator[list[str | None]]:
    with open_bytes(path, is_packed) as file, refuse_damaged(path):
        for line in file:
            if line.strip():
                yield cells_of_line(line, wanted)
