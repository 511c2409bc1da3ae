# SPDX-License-Identifier: Apache-2.0
"""The seam: what a method needs of a table that it cannot hold, in four operations.

stage      write rows once, each with the coins that were drawn for it. From then on everything is a function of what was staged, so
           that a step that is tried again, on another machine or with other parts, gives the same.
histogram  count: every part of the rows counts for itself, counts of the same thing are added.
select     fetch a few rows.
apply      bring the rows of each fragment together and work on each fragment by itself.

Rows come in batches: frames of Polars, of bounded length. The columns of staged rows are numbers; the dictionaries that say what they
mean stay with the caller. A step is a value that can be pickled: a dataclass with `__call__`. It sees one batch, one part or one
fragment, in no particular order, and must not depend on the order of the rows in it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput, TooLarge

RowBatch = pl.DataFrame
Data = Any  # rows that an engine knows where to find
MakeRows = Callable[[RowBatch], RowBatch]
Count = Callable[[Iterable[RowBatch]], Iterator[RowBatch]]  # whose column "n" is what is added
FragmentOf = Callable[[RowBatch], NDArray[np.int32]]  # the fragment of every row
WorkOnFragment = Callable[[int, RowBatch], RowBatch]

FRAGMENT = "fragment"
ROW = "row"  # the position of a row in its file, where rows are numbered
MOST_COUNTED = 8_000_000  # different things that are counted at once
FRAGMENT_ROWS = 200_000
MOST_FRAGMENTS = 256


@dataclass(frozen=True)
class TablePlace:
    """A table to read: a file or a folder of parts, and how it is written."""

    path: str
    format: str  # "csv" or "parquet"
    separator: str = ","
    neutralised: bool = False  # whether apostrophes before formulas are taken back

    @property
    def file(self) -> Path | None:
        """The one file that it is, whose rows have positions; None of a folder of parts."""
        path = Path(self.path)
        return path if path.is_file() else None

    @property
    def folder(self) -> Path | None:
        """The folder whose parts it is."""
        path = Path(self.path)
        return path if path.is_dir() else None

    def in_files(self) -> "TablePlace":
        """Itself, for those who read files."""
        return self

    def on_spark(self, session: Any) -> Any:
        """Its rows as Spark reads them; of Parquet only."""
        return session.read.parquet(self.path if "://" in self.path else Path(self.path).resolve().as_uri())


@dataclass(frozen=True)
class CatalogPlace:
    """A table to read that a catalog knows by its name. Nobody here knows where its files are, and its rows have no positions."""

    table: str

    format = "table"
    separator = TablePlace.separator  # of a release that is made of it
    file = None
    folder = None

    def in_files(self) -> TablePlace:
        """Refuses: who reads files has no catalog."""
        raise InvalidInput(
            f"Only Spark has a catalog, and {self.table} is to be a table of one; use the engine 'spark' (--engine spark), or name a file."
        )

    def on_spark(self, session: Any) -> Any:
        """Its rows as Spark reads them."""
        return session.table(self.table)


Place = TablePlace | CatalogPlace


class ScaleEngine(Protocol):
    """Where the rows are, and how steps are run on them. Everything it keeps is private, and goes when it is closed."""

    @property
    def name(self) -> str:
        """As a command line names it."""

    @property
    def catalog(self) -> Any:
        """Where tables are known by their names; refused by an engine that has none."""

    @property
    def fragment_rows(self) -> int:
        """How many rows a fragment should have."""

    def columns(self, place: Place) -> Mapping[str, pl.DataType]:
        """The columns that a place has, in order; one whose categories have an order by that order, although it is opened as text."""

    def open(self, place: Place, names: Mapping[str, str], *, is_numbered: bool = False) -> Data:
        """Some columns of a place, not yet read, each under the name that it is given here; perhaps with the position of every row."""

    def only(self, data: Data, names: Sequence[str]) -> Data:
        """Some columns of rows: what is not needed should not be moved."""

    def numbers(self, n: int) -> Data:
        """The column "number", from 0 to n - 1: a row for each fragment of something that is made from a plan alone."""

    def stage(self, data: Data, make: MakeRows, like: RowBatch) -> Data:
        """Write what `make` makes of every batch, once. `like` is a frame without rows of the same columns."""

    def histogram(self, data: Data, count: Count, like: RowBatch) -> RowBatch:
        """The sum of "n" for every combination of the other columns."""

    def select(self, data: Data, choose: MakeRows, like: RowBatch, most: int) -> RowBatch:
        """What `choose` keeps of every batch, all together: at most so many rows."""

    def apply(self, data: Data, number: FragmentOf, work: WorkOnFragment, like: RowBatch) -> Data:
        """What `work` makes of each fragment."""

    def write(self, data: Data, folder: Path, file_format: str, separator: str) -> None:
        """Write rows as the parts of a table into a new folder."""

    def close(self) -> None:
        """Remove everything that was kept."""


@dataclass(frozen=True, eq=False)
class CountCells:
    """Count by numbered cells: `find` gives the cell of every row, or of each of several things about it."""

    find: Callable[[RowBatch], NDArray[np.int64]]
    n_cells: int

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counts = np.zeros(self.n_cells, np.int64)
        for rows in batches:
            counts += np.bincount(self.find(rows), minlength=self.n_cells)
        yield sparse(counts)


NO_CELLS = pl.DataFrame(schema={"cell": pl.Int64, "n": pl.Int64})


def sparse(counts: NDArray[np.int64]) -> RowBatch:
    """The cells that occur, and how often."""
    flat = counts.ravel()
    cell = np.flatnonzero(flat)
    return pl.DataFrame({"cell": cell.astype(np.int64), "n": flat[cell]})


def dense(found: RowBatch, n_cells: int) -> NDArray[np.int64]:
    """(cell) -> how often."""
    counts = np.zeros(n_cells, np.int64)
    counts[found.get_column("cell").to_numpy()] = found.get_column("n").to_numpy()
    return counts


def count_cells(
    engine: ScaleEngine, data: Data, find: Callable[[RowBatch], NDArray[np.int64]], n_cells: int
) -> NDArray[np.int64]:
    """(cell) -> how many rows."""
    require_countable(n_cells)
    return dense(engine.histogram(data, CountCells(find, n_cells), NO_CELLS), n_cells)


def require_countable(n_things: int, instead: str = "") -> None:
    """Refuse to count more different things than a driver should hold; `instead` is what to do."""
    if n_things > MOST_COUNTED:
        instead = instead or "Use fewer strata, or columns with fewer values: round numbers, shorten codes."
        raise TooLarge(
            f"{n_things:,} different things would have to be counted at once, and {MOST_COUNTED:,} fit. {instead}"
        )


def read_types(types: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
    """As columns are opened: categories are texts, and moments of any time zone are of UTC."""
    return {name: _read_type(t) for name, t in types.items()}


def _read_type(t: pl.DataType) -> pl.DataType:
    if isinstance(t, pl.Enum | pl.Categorical):
        return pl.String()
    return pl.Datetime(t.time_unit, "UTC") if isinstance(t, pl.Datetime) and t.time_zone is not None else t


def column_of(rows: RowBatch, name: str) -> NDArray[Any]:
    """A column of numbers as an array that nobody else writes to."""
    return rows.get_column(name).to_numpy()


def codes_of(rows: RowBatch, names: Iterable[str]) -> NDArray[np.int32]:
    """(column, row) -> code."""
    return np.stack([column_of(rows, name) for name in names])


def n_fragments_of(engine: ScaleEngine, n_rows: int) -> int:
    """How many fragments a table is divided into: never so many that plans grow large."""
    return max(1, min(MOST_FRAGMENTS, n_rows // engine.fragment_rows))


def most_rows_of_fragment(engine: ScaleEngine, n_rows: int) -> int:
    """How many rows a fragment may have before it is divided."""
    return max(engine.fragment_rows, -(-n_rows // MOST_FRAGMENTS))
