# SPDX-License-Identifier: Apache-2.0
"""Sources: where data come from. A run, a check and a first look ask a source; none of them asks what kind it is.

A further kind is a class derived from `Source`, which says what is true of most kinds, and a case in `source_of`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.io.database.address import file_name_of, find_address, holds_password, is_path, is_sqlite_file, is_variable
from overt.io.database.reading import count_repeated, read_columns, read_selection
from overt.io.database.selection import Selection
from overt.io.files import digest, read_intake, separator_of
from overt.io.formats import no_file
from overt.io.frames import frame_intake
from overt.io.intake import Intake
from overt.io.profiling import (
    Draw,
    Profile,
    count_persons,
    find_persons,
    find_unsaid,
    person_of_row,
    profile_file,
    profile_selection,
    refuse_repeated,
)
from overt.io.recipe.settings import DatabaseInput, Input
from overt.io.repeated_persons import repeated_words
from overt.progress import Progress, silent
from overt.table import Table

Read = tuple[Table, Callable[[], str]]  # what was read, and what waits for its digest


class Source(ABC):
    """Where data come from. What is not said of a kind is as with a table that is no file: no bytes, no order of rows, no separator."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call it in a sentence: the name of a file or a table."""

    @property
    def said(self) -> str:
        """How a command line names it."""
        return self.name

    @property
    @abstractmethod
    def base(self) -> Path:
        """What the paths of files about it, such as its ledger, begin with."""

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """What is the same for the same data."""

    @property
    def has_bytes(self) -> bool:
        """Whether it is a file, whose digest is that of its bytes and whose rows have an order; else of its content."""
        return False

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it lies in: what is never replaced."""
        return ()

    @property
    def file(self) -> "FileSource | None":
        """Itself, if it is a file or a folder of parts: for engines, which read these in their own way."""
        return None

    @property
    def catalog_table(self) -> str | None:
        """The name of a table of the catalog of a cluster, if it is that: for engines that have a catalog."""
        return None

    @property
    def selection(self) -> Selection | None:
        """What of which database it is, if it is that: a table that is never replaced."""
        return None

    @abstractmethod
    def require(self) -> None:
        """Refuse a source that cannot be found, before any work."""

    @abstractmethod
    def read(
        self,
        intake: Intake,
        *,
        persons: Sequence[str] = (),
        with_digest: bool = False,
        on_progress: Progress = silent,
    ) -> Read:
        """Read the columns in their roles. No value of `persons` may stand in two rows."""

    @abstractmethod
    def profile(
        self, *, person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent
    ) -> Profile:
        """Look at every column; of those that people keep to themselves only at the rows that are drawn. `person` says whose a row is."""

    def person_of_row(self, name: str) -> NDArray[np.intp]:
        """Whose each row is, persons numbered from 0, by the column of this name."""
        raise InvalidInput("Rows have an order to remember persons by in a file only; write the data to one first.")

    def refuse_unsaid(self, numbers: Sequence[str], others: Collection[str]) -> None:
        """Refuse a file in which one of these numbers tells persons with several rows apart, as `overt init` would find with the other columns.

        Those of a frame are not counted.
        """
        return

    def digest(self) -> str | None:
        """The digest of a file; None if it is none, or is not there."""
        return None

    def separator(self, *, row_by_row: bool = False) -> str | None:
        """The separator of a CSV file, which a release of it keeps; None of other sources."""
        return None


@dataclass(frozen=True)
class FileSource(Source):
    """A file of microdata, and how it is written as far as somebody says."""

    path: Path
    format: str | None = None
    encoding: str | None = None
    named_separator: str | None = None

    has_bytes = True

    @property
    def file(self) -> "FileSource":
        return self

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def said(self) -> str:
        return str(self.path)

    @property
    def base(self) -> Path:
        return self.path

    @property
    def identity(self) -> Hashable:
        return self.path.resolve()

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def require(self) -> None:
        if not self.path.is_file():
            raise no_file(self.path)

    def read(
        self,
        intake: Intake,
        *,
        persons: Sequence[str] = (),
        with_digest: bool = False,
        on_progress: Progress = silent,
    ) -> Read:
        def reading(_: str, done: int, total: int) -> None:
            on_progress(f"Reading {self.name}", done, total)

        reading("", 0, 0)
        waiting = None
        if with_digest:  # digesting releases the interpreter lock, and goes on while the method runs
            pool = ThreadPoolExecutor(max_workers=1)
            waiting = pool.submit(digest, self.path)
            pool.shutdown(wait=False)
        if persons:
            refuse_repeated(self.path, count_persons(self.path, persons, **self._written))
        table = read_intake(self.path, intake, on_progress=reading, **self._written)
        return table, (lambda: "") if waiting is None else waiting.result

    def profile(
        self, *, person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent
    ) -> Profile:
        return profile_file(self.path, person=person, draw=draw, on_progress=on_progress, **self._written)

    def person_of_row(self, name: str) -> NDArray[np.intp]:
        return person_of_row(self.path, name, **self._written)

    def refuse_unsaid(self, numbers: Sequence[str], others: Collection[str]) -> None:
        refuse_repeated(self.path, find_unsaid(self.path, numbers, others, **self._written))

    def digest(self) -> str | None:
        return digest(self.path) if self.path.is_file() else None

    def separator(self, *, row_by_row: bool = False) -> str | None:
        if not self.path.is_file():
            return self.named_separator
        return separator_of(self.path, row_by_row=row_by_row, **self._written)

    @property
    def _written(self) -> dict[str, str | None]:
        return {"format": self.format, "separator": self.named_separator, "encoding": self.encoding}


@dataclass(frozen=True)
class DatabaseSource(Source):
    """A table of a database, or what a query gives. What the reference stands for is looked up when it is used."""

    reference: str
    table: str | None = None
    query: str | None = None
    folder: Path = Path()

    @property
    def selection(self) -> Selection:
        """The table or query of the database that the reference stands for now."""
        return Selection.of(find_address(self.reference, self.folder), table=self.table, query=self.query)

    @property
    def name(self) -> str:
        return self.selection.name

    @property
    def said(self) -> str:
        return self.selection.database.said

    @property
    def base(self) -> Path:
        return self.folder / file_name_of(self.table or "query")

    @property
    def identity(self) -> Hashable:
        return (self.reference, self.table, self.query)

    @property
    def files(self) -> tuple[Path, ...]:
        database = self.selection.database
        return (database.path,) if database.system == "sqlite" else ()

    def require(self) -> None:
        _ = self.selection  # which looks the address up

    def read(
        self,
        intake: Intake,
        *,
        persons: Sequence[str] = (),
        with_digest: bool = False,
        on_progress: Progress = silent,
    ) -> Read:
        how: dict[str, Any] = {"persons": persons, "with_digest": with_digest, "on_progress": on_progress}
        table, found = read_selection(self.selection, intake, **how)
        return table, lambda: found

    def profile(
        self, *, person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent
    ) -> Profile:
        how: dict[str, Any] = {"reference": self.reference, "person": person, "draw": draw, "on_progress": on_progress}
        return profile_selection(self.selection, **how)

    def refuse_unsaid(self, numbers: Sequence[str], others: Collection[str]) -> None:
        repeated = count_repeated(self.selection, numbers)
        if not repeated:
            return
        coded = read_columns(self.selection, silent)
        looked_at = {name: column for name, column in coded.items() if name in repeated or name in others}
        found = find_persons(looked_at, max(n_rows for _, n_rows in repeated.values()))
        if found is not None and found.column in repeated:
            raise InvalidData(repeated_words(found.column, self.selection.what, *repeated[found.column]))


@dataclass(frozen=True, eq=False)
class FrameSource(Source):
    """A frame of pandas, Polars or PyArrow in memory."""

    frame: Any

    name = "the frame"

    @property
    def base(self) -> Path:
        raise InvalidInput(
            "A frame lies in no folder that files about it could lie in; write the data to a file first."
        )

    @property
    def identity(self) -> Hashable:
        return id(self.frame)

    def require(self) -> None:
        """It is there."""

    def read(
        self,
        intake: Intake,
        *,
        persons: Sequence[str] = (),
        with_digest: bool = False,
        on_progress: Progress = silent,
    ) -> Read:
        if persons or with_digest:
            raise InvalidInput("A frame has no digest and its persons are not counted; write it to a file first.")
        on_progress("Reading the frame", 0, 0)
        return frame_intake(self.frame, intake), lambda: ""

    def profile(
        self, *, person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent
    ) -> Profile:
        raise InvalidInput("The roles of a frame's columns are not guessed; name the quasi-identifiers with `known`.")


@dataclass(frozen=True)
class CatalogSource(Source):
    """A table of the catalog of a cluster, which has a name and lies in no folder. Only an engine reads it."""

    table: str

    @property
    def name(self) -> str:
        return self.table

    @property
    def catalog_table(self) -> str:
        return self.table

    @property
    def base(self) -> Path:
        """Its name, for records, which call the data by it. No file lies there: what is about a release in parts is in its folder."""
        return Path(self.table)

    @property
    def identity(self) -> Hashable:
        return ("catalog", self.table)

    def require(self) -> None:
        raise self._refusal()

    def read(
        self,
        intake: Intake,
        *,
        persons: Sequence[str] = (),
        with_digest: bool = False,
        on_progress: Progress = silent,
    ) -> Read:
        raise self._refusal()

    def profile(
        self, *, person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent
    ) -> Profile:
        raise self._refusal()

    def person_of_row(self, name: str) -> NDArray[np.intp]:
        raise self._refusal()

    def _refusal(self) -> InvalidInput:
        return InvalidInput(
            f"{self.name} is a table of a catalog, which is read by Spark; choose the engine 'spark', or name a file."
        )


def source_of(chosen: Input | DatabaseInput, folder: Path, place: str | Path | None = None) -> Source:
    """What the [input] of a recipe means, whose paths are relative to a folder; or the same data at another place.

    The place is a path, or a reference to a database.
    """
    match chosen:
        case Input():
            if place is not None and holds_password(str(place)):
                find_address(str(place))  # refuses it without repeating it
            written = (chosen.encoding, chosen.separator)
            if chosen.format != "table":
                return FileSource(folder / chosen.path if place is None else Path(place), chosen.format, *written)
            if place is None or str(place) == chosen.path or not Path(place).exists():
                return CatalogSource(chosen.path if place is None else str(place))
            return FileSource(Path(place), None, *written)  # what was in the table, in a file
        case DatabaseInput():
            if place is None:
                return DatabaseSource(chosen.database, chosen.table, chosen.query, folder)
            return DatabaseSource(str(place), chosen.table, chosen.query)


def source_named(data: Any, *, table: str | None = None, query: str | None = None) -> Source:
    """What words on a command line mean: a file, or a table or query of a database; in Python also a frame."""
    if not isinstance(data, str | Path):
        return FrameSource(data)
    reference = str(data)
    if table is not None or query is not None:
        return DatabaseSource(reference, table, query)
    if is_sqlite_file(Path(reference)):
        raise InvalidInput(f"{reference} is an SQLite database; say what of it to read with --table or --query.")
    if (
        not Path(reference).is_file()
        and (not is_path(reference) or "://" in reference)
        and (not is_variable(reference) or reference in os.environ)
    ):
        find_address(reference)  # refuses a password without repeating it
        raise InvalidInput(f"{reference} is a database; say what of it to read with --table or --query.")
    return FileSource(Path(reference))
