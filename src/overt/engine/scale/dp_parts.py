# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_dp_at_scale.py
"""A differentially private release in parts: a folder that is a function of what is released, and its check.

The rows are in the order of what they show, from the first part to the last, and every part but the last has the same number of rows, so that
neither the number of files, nor their names, sizes or bytes, say more than the rows do. They are written by one process, whatever engine counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from overt.algorithms.dp.mechanism import DpMethod, ShownElements
from overt.checks import Finding, Verdict
from overt.checks.dp import check_dp_lines, count_lines, sum_lines
from overt.checks.findings import AGAIN
from overt.engine.dp_run import claim_of
from overt.engine.scale.parts import MANIFEST, REPORT, are_plain
from overt.io.dp_release import dp_parts
from overt.io.files import read_release
from overt.io.formats import write_frame
from overt.io.own_content import with_own_content
from overt.io.private_folder import PrivateFolder

TABLE = "release"  # the folder with the parts
ROWS_OF_PART = 1 << 20


@dataclass(frozen=True)
class PartsWritten:
    """How the parts are written."""

    format: str  # "csv" or "parquet"
    separator: str
    neutralise_formulas: bool

    def name(self, number: int) -> str:
        """What the part with a number, from 1, is called."""
        return f"part-{number:05}.{self.format}"

    def write(self, frame: pl.DataFrame, path: Path) -> None:
        """Write one part."""
        write_frame(
            with_own_content(frame),
            path,
            file_format=self.format,
            compress=False,
            separator=self.separator,
            neutralise_formulas=self.neutralise_formulas,
        )

    def read(self, path: Path) -> pl.DataFrame:
        """The texts of one part."""
        return read_release(
            path,
            format=self.format,
            separator=self.separator if self.format == "csv" else None,
            encoding="utf-8" if self.format == "csv" else None,
            neutralised=self.neutralise_formulas and self.format == "csv",
            tells_empty=True,
        )


def write_parts(shown: ShownElements, folder: Path, written: PartsWritten) -> None:
    """Write the parts of a release into a new folder."""
    folder.mkdir()
    for i, frame in enumerate(dp_parts(shown.labels, shown.copies, ROWS_OF_PART), start=1):
        written.write(frame, folder / written.name(i))


@dataclass(frozen=True, eq=False)
class ReadParts:
    """What the parts of a release hold, and whether they are written as a release is."""

    columns: tuple[str, ...]
    counted: pl.DataFrame | None = field(repr=False)  # different lines and their counts; None if columns are missing
    n_rows: int
    in_order: bool
    n_misspelt: int  # parts that are not, byte for byte, what is written of what they hold
    n_parts: int

    def verdict(self, method: DpMethod, coins: str | None) -> Verdict:
        """What a check says of them."""
        lines = check_dp_lines(self.columns, self.counted, in_order=self.in_order, claim=claim_of(method, coins))
        return Verdict((*lines.findings, _find_spelling(self.n_misspelt, self.n_parts)))


def read_parts(folder: Path, written: PartsWritten, names: list[str]) -> ReadParts:
    """Go through the parts one after the other."""
    columns: tuple[str, ...] = tuple(names)
    counted, before = [], None
    n_rows, n_misspelt, in_order = 0, 0, True
    paths = _in_sequence(folder, written)
    with PrivateFolder(prefix="overt-check-") as work:
        for i, path in enumerate(paths, start=1):
            frame = written.read(path)
            n_rows += frame.height
            if set(frame.columns) != set(names):
                columns = tuple(frame.columns)
                continue
            shown = frame.select(pl.col(names).cast(pl.String))
            counted.append(count_lines(shown))
            in_sequence = shown if before is None else pl.concat([before, shown])
            in_order &= in_sequence.equals(in_sequence.sort(names))
            before = shown.tail(1) if shown.height else before
            anew = work.folder / "anew"
            written.write(frame.select(names), anew)
            is_full = frame.height == ROWS_OF_PART if i < len(paths) else 0 < frame.height <= ROWS_OF_PART
            is_whole = is_full or (len(paths) == 1 and not frame.height)
            n_misspelt += not is_whole or anew.read_bytes() != path.read_bytes()
    complete = len(counted) == len(paths) and counted
    return ReadParts(columns, sum_lines(counted) if complete else None, n_rows, in_order, n_misspelt, len(paths))


def find_files(folder: Path, written: PartsWritten) -> Finding:
    """Whether the folder holds the parts, numbered without gaps, the manifest, perhaps the public report, and nothing else."""
    there = {path.name for path in folder.iterdir()}
    inside = {path.name for path in (folder / TABLE).iterdir()}
    wanted = {written.name(i) for i in range(1, max(len(inside), 1) + 1)}
    are_files = are_plain(folder, (TABLE,))
    if there - {MANIFEST, *REPORT, TABLE} or inside != wanted or not are_files:
        return Finding(
            "files",
            False,
            f"The folder holds files or folders that are no parts of the release, or are not called like parts. {AGAIN}",
        )
    report = " but a public report, which is not checked" if there & set(REPORT) else ""
    return Finding("files", True, f"The folder holds the parts of the release, its manifest, and nothing else{report}.")


def _in_sequence(folder: Path, written: PartsWritten) -> list[Path]:
    def paths() -> Iterator[Path]:
        number = 1
        while (path := folder / written.name(number)).is_file():
            yield path
            number += 1

    return list(paths())


def _find_spelling(n_misspelt: int, n_parts: int) -> Finding:
    if n_misspelt or not n_parts:
        return Finding(
            "spelling",
            False,
            f"{n_misspelt:,} of {n_parts:,} parts are not what Overt writes for a release with this content: the number of rows, the order of columns, "
            f"quotes, blanks, line ends or what a reader skips could carry a message. {AGAIN}",
        )
    return Finding("spelling", True, "The parts are, byte for byte, what Overt writes for a release with this content.")
