# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_seam.py
"""The local engine: one machine, batch by batch, staged rows in a private folder or in memory.

Out of core, what is in memory at a time is one batch of what is read, the counts, and one fragment. Fragments are files of packed rows, one
each, to which every batch adds its rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.csv_files import files_of, names_of_csv, read_csv_files
from overt.engine.scale.seam import (
    FRAGMENT_ROWS,
    ROW,
    Count,
    FragmentOf,
    MakeRows,
    Place,
    RowBatch,
    TablePlace,
    WorkOnFragment,
    read_types,
    require_countable,
)
from overt.errors import InvalidInput, TooLarge
from overt.io.formats import polars_errors, write_frame
from overt.io.private_folder import PrivateFolder

BATCH = 1 << 19


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows that can be gone through again and again."""

    each: Callable[[], Iterable[RowBatch]]

    def __iter__(self) -> Iterator[RowBatch]:
        return iter(self.each())


@dataclass(eq=False)
class LocalEngine:
    """One machine. Without a workspace everything that is staged is kept in memory."""

    workspace: PrivateFolder | None = None
    batch_rows: int = BATCH
    fragment_rows: int = FRAGMENT_ROWS

    @classmethod
    def out_of_core(cls, folder: Path | None = None) -> "LocalEngine":
        """With staged rows in a private folder, in the given one or where the system keeps temporary files."""
        return cls(PrivateFolder(folder))

    @property
    def name(self) -> str:
        return "memory" if self.workspace is None else "out-of-core"

    @property
    def catalog(self) -> Any:
        raise InvalidInput(
            "The release is to be a table of a catalog, and only Spark has one; use the engine 'spark' (--engine spark), or give [output] the path and "
            "format of a file."
        )

    def columns(self, place: Place) -> Mapping[str, pl.DataType]:
        place = place.in_files()
        files = files_of(place)
        if place.format == "csv":
            return dict.fromkeys(names_of_csv(place), pl.String())
        with polars_errors(Path(place.path), place.format):
            return dict(pl.scan_parquet(files, glob=False).collect_schema())

    def open(self, place: Place, names: Mapping[str, str], *, is_numbered: bool = False) -> Batches:
        return Batches(partial(_read, place.in_files(), dict(names), self.batch_rows, is_numbered))

    def only(self, data: Batches, names: Sequence[str]) -> Batches:
        return Batches(lambda: (rows.select(names) for rows in data))

    def numbers(self, n: int) -> Batches:
        return Batches(lambda: [pl.DataFrame({"number": np.arange(n, dtype=np.int64)})])

    def stage(self, data: Batches, make: MakeRows, like: RowBatch) -> Batches:
        made = (make(rows) for rows in data)
        if self.workspace is None:
            kept = list(made)
            return Batches(lambda: kept)
        folder = self.workspace.new_folder()
        folder.mkdir(mode=0o700)
        files = []
        for i, rows in enumerate(made):
            files.append(folder / f"{i:06}.arrow")
            rows.write_ipc(files[-1], compression="uncompressed")
        return Batches(lambda: (pl.read_ipc(file) for file in files))

    def histogram(self, data: Batches, count: Count, like: RowBatch) -> RowBatch:
        keys = [name for name in like.columns if name != "n"]
        found = like
        for counted in count(data):
            found = pl.concat([found, counted]).group_by(keys, maintain_order=True).agg(pl.col("n").sum())
            require_countable(found.height)
        return found

    def select(self, data: Batches, choose: MakeRows, like: RowBatch, most: int) -> RowBatch:
        chosen, n_chosen = [like], 0
        for rows in data:
            chosen.append(choose(rows))
            n_chosen += chosen[-1].height
            if n_chosen > most:
                raise TooLarge(f"More than {most:,} rows would have to be looked at together.")
        return pl.concat(chosen)

    def apply(self, data: Batches, number: FragmentOf, work: WorkOnFragment, like: RowBatch) -> Batches:
        gather = self._gather_in_memory if self.workspace is None else self._gather_in_files
        fragments = gather(data, number)
        return Batches(lambda: (work(fragment, rows()) for fragment, rows in fragments))

    def write(self, data: Batches, folder: Path, file_format: str, separator: str) -> None:
        folder.mkdir()
        n_written = 0
        for rows in data:
            if rows.height:
                n_written += 1
                write_frame(
                    rows,
                    folder / f"part-{n_written:05}.{file_format}",
                    file_format=file_format,
                    compress=False,
                    separator=separator,
                    neutralise_formulas=False,
                )

    def close(self) -> None:
        if self.workspace is not None:
            self.workspace.close()

    def _gather_in_memory(self, data: Batches, number: FragmentOf) -> list[tuple[int, Callable[[], RowBatch]]]:
        batches = list(data)
        if not batches:
            return []
        rows = pl.concat(batches)
        fragment = np.concatenate([number(batch) for batch in batches])
        order = np.argsort(fragment, kind="stable")
        present, starts = np.unique(fragment[order], return_index=True)
        ends = np.append(starts[1:], order.size)
        rows = rows[order]
        return [
            (int(f), partial(rows.slice, int(begin), int(end - begin)))
            for f, begin, end in zip(present, starts, ends, strict=True)
        ]

    def _gather_in_files(self, data: Batches, number: FragmentOf) -> list[tuple[int, Callable[[], RowBatch]]]:
        assert self.workspace is not None
        folder = self.workspace.new_folder()
        folder.mkdir(mode=0o700)
        packed, schema = np.dtype([]), None
        seen: set[int] = set()
        for rows in data:
            if not rows.height:  # all rows of a batch may have been left out
                continue
            if schema is None:
                schema = rows.schema
                packed = np.dtype([(name, rows.get_column(name).to_numpy().dtype) for name in rows.columns])
            fragment = number(rows)
            order = np.argsort(fragment, kind="stable")
            present, starts = np.unique(fragment[order], return_index=True)
            together = np.empty(order.size, packed)
            for name in rows.columns:
                together[name] = rows.get_column(name).to_numpy()[order]
            for f, begin, end in zip(present, starts, np.append(starts[1:], order.size), strict=True):
                with (folder / f"{f}").open("ab") as file:
                    together[begin:end].tofile(file)
            seen.update(present.tolist())
        return [(f, partial(_unpack, folder / f"{f}", packed)) for f in sorted(seen)]


def _unpack(file: Path, packed: np.dtype[np.void]) -> RowBatch:
    together: NDArray[np.void] = np.fromfile(file, packed)
    return pl.DataFrame({name: np.ascontiguousarray(together[name]) for name in packed.names or ()})


def _read(place: TablePlace, names: dict[str, str], batch_rows: int, is_numbered: bool) -> Iterator[RowBatch]:
    files = files_of(place)
    if place.format == "csv":
        yield from read_csv_files(place, files, names, batch_rows, is_numbered=is_numbered)
        return
    with polars_errors(Path(place.path), place.format):
        scan = pl.scan_parquet(files, glob=False)
        scan = scan.select(pl.col(name).alias(alias) for alias, name in names.items())
        scan = scan.cast(read_types(scan.collect_schema()))  # type: ignore[arg-type]
        n_before = 0
        for rows in scan.collect_batches(chunk_size=batch_rows, maintain_order=True):
            yield rows.with_columns(pl.int_range(n_before, n_before + pl.len()).alias(ROW)) if is_numbered else rows
            n_before += rows.height
