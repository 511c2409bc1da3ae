# SPDX-License-Identifier: Apache-2.0
"""Targets: where a release goes, whole or not at all. A run and a check ask a target; neither asks what kind it is.

A release has one table or two, and each has a place: a path, or the name of a table in a database. Only its target knows
what a place is. A further kind is a class with these methods, and a case in `target_of`.
"""

import filecmp
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from overt.errors import InvalidInput
from overt.io.atomic import all_or_nothing, refuse_being_written
from overt.io.catalog_table import CatalogTable
from overt.io.database.address import Address, TableName, file_name_of, find_address
from overt.io.database.connection import reading
from overt.io.database.gathering import system_of
from overt.io.database.reading import read_release_table
from overt.io.database.writing import names_of, refuse_taken_tables, written_tables
from overt.io.dialect import GZIP_MAGIC
from overt.io.files import digest, read_release, writing_tables
from overt.io.formats import find_format, format_to_write, separator_of_name, write_frame
from overt.io.paths import ending_of, seen_from
from overt.io.recipe.settings import DatabaseOutput, Output
from overt.io.sources import Source

Places = Mapping[str, Any]  # (name of a table) -> its place
Companions = Callable[[Mapping[str, str]], Mapping[Path, bytes]]  # from the digests of tables, by their names
Finish = Callable[[Companions], None]


@dataclass(frozen=True)
class Replaced:
    """What goes when a release is replaced: files, and the content of tables that still hold what their digests say."""

    files: tuple[Path, ...] = ()
    tables: Mapping[Any, str] = field(default_factory=dict)


class Target(Protocol):
    """Where a release goes."""

    @property
    def base(self) -> Path:
        """What the paths of files about it, such as its manifest, begin with."""

    @property
    def has_bytes(self) -> bool:
        """Whether a release is files, which can be compared byte for byte."""

    @property
    def file(self) -> "FileTarget | None":
        """Itself, if a release is files: for engines, which write parts of these in their own way."""

    @property
    def catalog_table(self) -> CatalogTable | None:
        """The (first) table of the catalog of a cluster that a release is, if it is that: for engines that have a catalog."""

    def places(self, tables: Iterable[str]) -> dict[str, Any]:
        """Where each table of a release goes, the first as the target is named."""

    def at(self, release: str | Path) -> "Target":
        """The same at another place, as a command line names it."""

    def recorded(self, paths: Mapping[str, str], release: Path) -> dict[str, Any]:
        """Where the tables of a release lie whose manifest names these paths, and lies beside this release."""

    def name_of(self, place: Any) -> str:
        """What to call a place in a sentence."""

    def seen_from(self, folder: Path, place: Any) -> str:
        """A place as a manifest in a folder names it."""

    def checked(self, places: Places, manifest: Path) -> str:
        """What to name to a check."""

    def refuse_taken(
        self,
        places: Iterable[Any],
        records: Iterable[Path],
        *,
        overwrite: bool,
        source: Source,
        never: Collection[Path],
    ) -> None:
        """Say before the work, not after it, that something is in the way; what is read is never replaced."""

    def replaced(self, place: str, found: str, *, never: Collection[Path]) -> Replaced:
        """What the table of sensitive values is that a manifest names, with its digest, if it is one of ours."""

    def writing(
        self,
        tables: Mapping[str, pl.DataFrame],
        *,
        source: Source,
        row_by_row: bool,
        overwrite: bool,
        going: Replaced,
    ) -> AbstractContextManager[Finish]:
        """Write the tables while something else is done; nothing appears before `finish(companions)`, and without it never."""

    def is_there(self, place: Any) -> bool:
        """Whether there is a table."""

    def digests(self, places: Places) -> dict[Any, str]:
        """The digests of files that must be there; tables of a database get theirs when they are read."""

    def read(self, places: Places) -> tuple[dict[str, pl.DataFrame], dict[Any, str]]:
        """The published tables as text, and the digests that were found on the way."""

    def differs(self, place: Any, frame: pl.DataFrame, folder: Path, *, separator: str | None) -> bool:
        """Whether a file is not, byte for byte, what is written of this table; `folder` is for trying."""


@dataclass(frozen=True)
class FileTarget:
    """Files, the first at a path."""

    base: Path
    format: str | None = None
    neutralise_formulas: bool = True

    has_bytes = True
    catalog_table = None

    @property
    def file(self) -> "FileTarget":
        return self

    def places(self, tables: Iterable[str]) -> dict[str, Path]:
        return files_of(self.base, tables)

    def at(self, release: str | Path) -> "FileTarget":
        return FileTarget(Path(release), self.format, self.neutralise_formulas)

    def recorded(self, paths: Mapping[str, str], release: Path) -> dict[str, Path]:
        first, *rest = paths
        return {first: release} | {name: release.parent / paths[name] for name in rest}

    def name_of(self, place: Path) -> str:
        return place.name

    def seen_from(self, folder: Path, place: Path) -> str:
        return seen_from(folder, place)

    def checked(self, places: Places, manifest: Path) -> str:
        return str(next(iter(places.values()), manifest))

    def refuse_taken(
        self,
        places: Iterable[Path],
        records: Iterable[Path],
        *,
        overwrite: bool,
        source: Source,
        never: Collection[Path],
    ) -> None:
        format_to_write(self.base, self.format)  # refuses a name that says none
        refuse_taken_files([*places, *records], never=never, overwrite=overwrite)

    def replaced(self, place: str, found: str, *, never: Collection[Path]) -> Replaced:
        path = files_of(self.base, ("release", "sensitive"))["sensitive"]
        is_ours = place == path.name and path.is_file() and not any(path.samefile(read) for read in never)
        return Replaced((path,) if is_ours else ())

    @contextmanager
    def writing(
        self,
        tables: Mapping[str, pl.DataFrame],
        *,
        source: Source,
        row_by_row: bool,
        overwrite: bool,
        going: Replaced,
    ) -> Iterator[Finish]:
        names = {path: name for name, path in self.places(tables).items()}
        with writing_tables(
            {path: tables[name] for path, name in names.items()},
            format=self.format,
            separator=source.separator(row_by_row=row_by_row),
            neutralise_formulas=self.neutralise_formulas,
            overwrite=overwrite,
            going=going.files,
        ) as finish:

            def finish_files(companions: Companions) -> None:
                finish(lambda digests: companions({names[path]: found for path, found in digests.items()}))

            yield finish_files

    def is_there(self, place: Path) -> bool:
        return place.is_file()

    def digests(self, places: Places) -> dict[Path, str]:
        return digests_of_files(places.values())

    def read(self, places: Places) -> tuple[dict[str, pl.DataFrame], dict[Path, str]]:
        how: dict[str, Any] = {"format": self.format, "neutralised": self.neutralise_formulas, "tells_empty": True}
        return {name: read_release(path, **how) for name, path in places.items()}, {}

    def differs(self, place: Path, frame: pl.DataFrame, folder: Path, *, separator: str | None) -> bool:
        anew = folder / "anew"
        write_frame(
            frame,
            anew,
            file_format=find_format(place, self.format),
            compress=_is_gzip(place),
            separator=separator_of_name(place) or separator or ",",
            neutralise_formulas=self.neutralise_formulas,
        )
        return not filecmp.cmp(anew, place, shallow=False)


@dataclass(frozen=True)
class DatabaseTarget:
    """Tables of a database; manifest and reports are files in a folder."""

    reference: str
    table: TableName
    folder: Path

    has_bytes = False
    file = None
    catalog_table = None

    @property
    def address(self) -> Address:
        """The database that the reference stands for now."""
        return find_address(self.reference, self.folder)

    @property
    def base(self) -> Path:
        return self.folder / file_name_of(str(self.table))

    def places(self, tables: Iterable[str]) -> dict[str, TableName]:
        return names_of(self.table, list(tables))

    def at(self, release: str | Path) -> "DatabaseTarget":
        return DatabaseTarget(self.reference, TableName.parse(str(release)), self.folder)

    def recorded(self, paths: Mapping[str, str], release: Path) -> dict[str, TableName]:
        return {name: TableName.parse(path) for name, path in paths.items()}

    def name_of(self, place: TableName) -> str:
        return str(place)

    def seen_from(self, folder: Path, place: TableName) -> str:
        return str(place)

    def checked(self, places: Places, manifest: Path) -> str:
        return str(manifest)

    def refuse_taken(
        self,
        places: Iterable[TableName],
        records: Iterable[Path],
        *,
        overwrite: bool,
        source: Source,
        never: Collection[Path],
    ) -> None:
        refuse_taken_files(records, never=never, overwrite=overwrite)
        address, tables = self.address, list(places)
        if address.system != "sqlite" or address.path.exists():
            with reading(address) as connection:
                refuse_taken_tables(connection, tables, overwrite=overwrite, source=source.selection)

    def replaced(self, place: str, found: str, *, never: Collection[Path]) -> Replaced:
        table = self.table.beside("sensitive")
        return Replaced(tables={table: found} if place == str(table) else {})

    @contextmanager
    def writing(
        self,
        tables: Mapping[str, pl.DataFrame],
        *,
        source: Source,
        row_by_row: bool,
        overwrite: bool,
        going: Replaced,
    ) -> Iterator[Finish]:
        places = self.places(tables)
        frames = {places[name]: table for name, table in tables.items()}
        read = source.selection

        def finish(companions: Companions) -> None:
            with (
                written_tables(self.address, frames, overwrite=overwrite, source=read, going=going.tables) as written,
                all_or_nothing(overwrite=overwrite, going=going.files, commit=written.commit) as stage,
            ):
                digests = {name: written.digests[place] for name, place in places.items()}
                for path, content in companions(digests).items():
                    stage(path).write_bytes(content)

        yield finish

    def is_there(self, place: TableName) -> bool:
        with reading(self.address) as connection:
            return system_of(connection).table_columns(connection, place) is not None

    def digests(self, places: Places) -> dict[TableName, str]:
        return {}

    def read(self, places: Places) -> tuple[dict[str, pl.DataFrame], dict[TableName, str]]:
        tables, digests = {}, {}
        with reading(self.address) as connection:
            for name, place in places.items():
                tables[name], digests[place] = read_release_table(connection, place)
        return tables, digests

    def differs(self, place: TableName, frame: pl.DataFrame, folder: Path, *, separator: str | None) -> bool:
        return False  # its cells are compared; there are no bytes


@dataclass(frozen=True)
class CatalogTarget:
    """Tables of the catalog of a cluster, which only an engine writes and reads; manifest and reports are files in a folder."""

    catalog_table: CatalogTable
    folder: Path

    has_bytes = False
    file = None

    @property
    def base(self) -> Path:
        return self.folder / file_name_of(str(self.catalog_table))

    def places(self, tables: Iterable[str]) -> dict[str, CatalogTable]:
        first, *rest = tables
        return {first: self.catalog_table} | {name: self.catalog_table.beside(name) for name in rest}

    def at(self, release: str | Path) -> "CatalogTarget":
        return CatalogTarget(CatalogTable.parse(str(release)), self.folder)

    def recorded(self, paths: Mapping[str, str], release: Path) -> dict[str, CatalogTable]:
        return {name: CatalogTable.parse(path) for name, path in paths.items()}

    def name_of(self, place: CatalogTable) -> str:
        return str(place)

    def seen_from(self, folder: Path, place: CatalogTable) -> str:
        return str(place)

    def checked(self, places: Places, manifest: Path) -> str:
        return str(manifest)

    def refuse_taken(
        self,
        places: Iterable[CatalogTable],
        records: Iterable[Path],
        *,
        overwrite: bool,
        source: Source,
        never: Collection[Path],
    ) -> None:
        raise self._refusal()

    def replaced(self, place: str, found: str, *, never: Collection[Path]) -> Replaced:
        table = self.catalog_table.beside("sensitive")
        return Replaced(tables={table: found} if place == str(table) else {})

    def writing(
        self,
        tables: Mapping[str, pl.DataFrame],
        *,
        source: Source,
        row_by_row: bool,
        overwrite: bool,
        going: Replaced,
    ) -> AbstractContextManager[Finish]:
        raise self._refusal()

    def is_there(self, place: CatalogTable) -> bool:
        raise self._refusal()

    def digests(self, places: Places) -> dict[CatalogTable, str]:
        raise self._refusal()

    def read(self, places: Places) -> tuple[dict[str, pl.DataFrame], dict[CatalogTable, str]]:
        raise self._refusal()

    def differs(self, place: CatalogTable, frame: pl.DataFrame, folder: Path, *, separator: str | None) -> bool:
        raise self._refusal()

    def _refusal(self) -> InvalidInput:
        return InvalidInput(
            f"The release is to be {self.catalog_table}, a table of a catalog, and only Spark has one; choose the engine 'spark' (--engine spark), or "
            "give [output] the path and format of a file."
        )


def target_of(chosen: Output | DatabaseOutput, folder: Path) -> Target:
    """What the [output] of a recipe means, whose paths are relative to a folder."""
    match chosen:
        case Output(format="table"):
            return CatalogTarget(CatalogTable.parse(chosen.path), folder)
        case Output():
            return FileTarget(folder / chosen.path, chosen.format, chosen.neutralise_formulas)
        case DatabaseOutput():
            return DatabaseTarget(chosen.database, TableName.parse(chosen.table), folder)


def files_of(path: Path, tables: Iterable[str]) -> dict[str, Path]:
    """The first table goes to `release.csv`, another, "sensitive", to `release.sensitive.csv`."""
    ending = ending_of(path)
    first, *rest = tables
    return {first: path} | {name: path.with_name(f"{path.name.removesuffix(ending)}.{name}{ending}") for name in rest}


def refuse_taken_files(paths: Iterable[Path], *, never: Collection[Path], overwrite: bool) -> None:
    """Refuse to write files where something lies already, unless it may be replaced; what is read never is."""
    for path in paths:
        if not path.parent.is_dir():
            raise InvalidInput(f"There is no folder {path.parent} to write {path.name} into; make it first.")
        refuse_being_written(path)
        if path.exists():
            if any(path.samefile(read) for read in never):
                raise InvalidInput(f"{path} is read by this recipe and would be replaced; give [output] another path.")
            if not overwrite:
                raise InvalidInput(
                    f"{path} exists already; add --overwrite to replace it, or give [output] another path."
                )


def digests_of_files(paths: Iterable[Path]) -> dict[Path, str]:
    """The digests of files that must be there."""
    found: dict[Path, str] = {}
    for path in paths:
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}; check the name and the folder.")
        found[path] = digest(path)
    return found


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == GZIP_MAGIC
