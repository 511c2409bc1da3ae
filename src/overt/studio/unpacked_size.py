# SPDX-License-Identifier: Apache-2.0
"""Unpacked size: how much a file becomes in memory. A few megabytes can be packed rows without end, which would end the studio with all its tables."""

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import polars as pl

from overt.errors import InvalidInput
from overt.io.dialect import GZIP_MAGIC, ZIP_MAGIC
from overt.io.formats import SUFFIXES
from overt.studio.guard import MOST_BYTES

MOST_RATIO = 1032  # of deflate, in which zip and gzip pack: nothing gets smaller than that
BYTES_OF_CELL = 4  # of a code: what a cell of a typed file takes at least
BLOCK = 1 << 20


def require_room(path: Path, name: str) -> None:
    """Refuse a file that does not fit into memory once it is unpacked, before anything reads it as a table."""
    room = min(MOST_BYTES, memory_left())
    if is_larger(path, room):
        raise InvalidInput(
            f"{name} becomes larger than {room / (1 << 30):.2g} GiB when it is unpacked, which is what this machine has left for it. Take out what is "
            "not needed, or use `overt run` on the command line, with an engine for data beyond memory."
        )


def is_larger(path: Path, most: int) -> bool:
    """Whether a packed or typed file holds more than so many bytes. Others are as large as they are."""
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith((GZIP_MAGIC, ZIP_MAGIC)):
        if path.stat().st_size * MOST_RATIO <= most:
            return False
        n_bytes = 0
        with suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
            for block in _blocks(path, is_zip=head.startswith(ZIP_MAGIC)):  # what is damaged is refused by its reader
                n_bytes += len(block)
                if n_bytes > most:
                    return True
        return False
    return BYTES_OF_CELL * _n_cells(path) > most


def memory_left() -> int:
    """How many bytes of memory programs can still take."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return MOST_BYTES


def _blocks(path: Path, *, is_zip: bool) -> Iterator[bytes]:
    if not is_zip:
        with gzip.open(path) as file:
            yield from _read(cast(IO[bytes], file))
        return
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                yield from _read(file)


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _n_cells(path: Path) -> int:
    """The cells that a Parquet or Arrow file says that it has; 0 if it is neither, or cannot be read."""
    ending = path.suffix.lower()
    try:
        if ending in SUFFIXES["parquet"]:
            frame = pl.scan_parquet(path, glob=False)
        elif ending in SUFFIXES["arrow"]:
            frame = pl.scan_ipc(path, glob=False)
        else:
            return 0
        return int(frame.select(pl.len()).collect().item()) * len(frame.collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return 0
