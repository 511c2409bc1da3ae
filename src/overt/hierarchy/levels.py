# SPDX-License-Identifier: Apache-2.0
"""Hierarchies written as a table, one line per value: the files that ARX and others exchange."""

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from overt.arguments import require_list
from overt.errors import InvalidInput
from overt.hierarchy.base import Counts
from overt.hierarchy.chains import Chains, read_chains
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind

SEPARATORS = (";", "\t", "|", ",")  # in the order in which they are tried
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Levels:
    """Every line is a value, its generalizations, and the root: `Bachelors;Undergraduate;Higher education;*`.

    Lines may be of different length; empty cells at their end do not count, nor does white space around a
    cell. The lines may hold more values than the data, and their order is the order of the leaves.

    >>> rows = [("Private", "Employed", "*"), ("Federal", "Employed", "*"), ("Never-worked", "*")]
    >>> tree = Levels(rows).build(pl.Series(["Never-worked", "Private"]), Kind.CATEGORY)
    >>> tree.leaves.to_list(), [tree.labels[node] for node in tree.chain(0)]
    (['Private', 'Never-worked'], ['Private', 'Employed', '*'])
    """

    rows: Sequence[Sequence[str]] = field(repr=False)  # row i is line i + 1; an empty row is skipped
    source: str = field(default="the hierarchy", compare=False)  # what a message calls it

    def __post_init__(self) -> None:
        require_list("Levels", self.rows, '(("DK", "North"), ("IT", "South"))')
        object.__setattr__(self, "rows", tuple(_trimmed(row) for row in self.rows))
        self._chains  # noqa: B018  a hierarchy that is not nested is refused here, not when it meets data

    @classmethod
    def read(cls, path: Path | str, *, separator: str | None = None, encoding: str = "utf-8-sig") -> "Levels":
        """Read a file (gzip or not) without a header line; the separator is found out if it is not given."""
        if separator is not None and len(separator) != 1:
            raise InvalidInput(f"The separator of a hierarchy file is one character; given: {separator!r}.")
        text = _read_text(Path(path), encoding)
        separator = separator or _find_separator(text, path)
        rows: list[Sequence[str]] = []
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        try:
            for row in lines:
                rows.extend([()] * (lines.line_num - 1 - len(rows)))  # a cell in quotes may span lines
                rows.append(row)
        except csv.Error as error:
            raise InvalidInput(f"{path} cannot be read at line {lines.line_num}: {error}.") from None
        return cls(rows, source=str(path))

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        return self._chains.build(values, kind)

    def missing(self, values: pl.Series) -> pl.Series:
        """The values of a column that no line is for; a null needs none."""
        return self._chains.missing(values)

    @cached_property
    def _chains(self) -> Chains:
        return read_chains(((line, row) for line, row in enumerate(self.rows, start=1) if row), self.source)


def _trimmed(row: Sequence[str]) -> tuple[str, ...]:
    """The cells without white space around them, up to the last that holds something."""
    cells = [str(cell).strip() for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return tuple(cells)


def _read_text(path: Path, encoding: str) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if content.startswith(GZIP) else content).decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{path} is not {encoding} text at line {line}; give its encoding, such as 'latin-1'."
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"The hierarchy file {path} cannot be read: {error}.") from None


def _find_separator(text: str, path: Path | str) -> str:
    """The first of the usual separators that every line has: a line holds a value and at least the root."""
    lines = [line for line in text.splitlines() if line.strip()]
    for separator in SEPARATORS:
        if all(separator in line for line in lines):
            return separator
    raise InvalidInput(
        f"No separator of ; tab | , stands in every line of {path}; write at least value;* in each, or give the separator."
    )
