# SPDX-License-Identifier: Apache-2.0
"""Where data comes from and where a release goes, a file or a database, so that a run need not ask which."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from overt.algorithms import CrossBucket
from overt.errors import InvalidInput
from overt.io.atomic import all_or_nothing
from overt.io.database.address import Address, TableName, find_address, is_path, is_sqlite_file, is_variable
from overt.io.database.connection import reading
from overt.io.database.reading import read_release_table, read_selection
from overt.io.database.selection import Selection
from overt.io.database.writing import names_of, refuse_taken_tables, written_tables
from overt.io.files import digest, read_file, read_release, separator_of, writing_tables
from overt.io.formats import find_format
from overt.io.intake import Intake
from overt.io.ledger import ledger_path
from overt.io.manifest import SUFFIX, Manifest, files_read
from overt.io.profiling import count_persons, refuse_repeated
from overt.io.recipe import Recipe
from overt.io.settings import DatabaseOutput, Input, Output
from overt.progress import Progress
from overt.table import Table

Source = Path | Selection
Place = Path | TableName
Companions = Callable[[Mapping[str, str]], Mapping[Path, bytes]]  # from the digests of tables, by their names


def source_of(data: str, *, table: str | None = None, query: str | None = None) -> Source:
    """What words on a command line mean: a file, or a table or query of a database."""
    if table is not None or query is not None:
        return Selection.of(find_address(data), table=table, query=query)
    if is_sqlite_file(Path(data)):
        raise InvalidInput(f"{data} is an SQLite database; say what of it to read with --table or --query.")
    if (
        not Path(data).is_file()
        and (not is_path(data) or "://" in data)
        and (not is_variable(data) or data in os.environ)
    ):
        find_address(data)  # refuses a password without repeating it
        raise InvalidInput(f"{data} is a database; say what of it to read with --table or --query.")
    return Path(data)


def read_table(recipe: Recipe, source: Source, on_progress: Progress) -> Table:
    """Read a file or a database in the roles, kinds and hierarchies of a recipe."""
    return _read(recipe, source, on_progress)[0]


def read_with_digest(
    recipe: Recipe, source: Source, pool: Executor, on_progress: Progress
) -> tuple[Table, Callable[[], str]]:
    """The table, and what gives the digest of what was read: of a file's bytes, of a table's content."""
    if isinstance(source, Path) and isinstance(recipe.settings.input, Input):
        waiting = pool.submit(digest, source)
        return read_table(recipe, source, on_progress), waiting.result
    table, found = _read(recipe, source, on_progress)
    return table, lambda: found


def _read(recipe: Recipe, source: Source, on_progress: Progress) -> tuple[Table, str]:
    if isinstance(source, Path) and not isinstance(recipe.settings.input, Input):
        source = recipe.source  # a path without a file stands for the database that the recipe names
    roles: dict[str, Any] = {
        "quasi_identifiers": recipe.columns_of("quasi-identifier"),
        "sensitive": recipe.columns_of("sensitive"),
        "identifiers": recipe.columns_of("identifier"),
        "others": (*recipe.settings.output.others, *getattr(recipe.method, "columns_read", ())),
        "hierarchies": recipe.hierarchies,
        "kinds": recipe.choices("kind"),
        "missing": recipe.missing,
        "missing_values": recipe.settings.input.missing_values,
    }
    persons = [name for name, choice in recipe.choices("repeats").items() if choice == "refuse"]
    if isinstance(source, Selection):
        return read_selection(source, Intake(**roles), persons=persons, on_progress=on_progress)
    path = source

    def reading_file(_: str, done: int, total: int) -> None:
        on_progress(f"Reading {path.name}", done, total)

    reading_file("", 0, 0)
    if persons:
        refuse_repeated(path, count_persons(path, persons, **how_written(recipe)))
    how: dict[str, Any] = {**roles, **how_written(recipe)}
    return read_file(path, on_progress=reading_file, **how), ""


def how_written(recipe: Recipe) -> dict[str, str | None]:
    """What a recipe says of how its input is written."""
    source = recipe.settings.input
    return {key: getattr(source, key, None) for key in ("format", "separator", "encoding")}


def places_of(recipe: Recipe, tables: Iterable[str]) -> dict[str, Place]:
    """Where the tables of a release go: to files, or to tables of a database."""
    output = recipe.settings.output
    if isinstance(output, DatabaseOutput):
        return dict(names_of(TableName.parse(output.table), list(tables)))
    return dict(files_of(recipe.output_path, tables))


def files_of(path: Path, tables: Iterable[str]) -> dict[str, Path]:
    """The first table goes to `release.csv`, another, "sensitive", to `release.sensitive.csv`."""
    ending = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])
    first, *rest = tables
    return {first: path} | {name: path.with_name(f"{path.name.removesuffix(ending)}.{name}{ending}") for name in rest}


def refuse_taken(recipe: Recipe, places: Iterable[Place], *, overwrite: bool) -> None:
    """Say before the work, not after it, that something is in the way; what the recipe reads is never replaced."""
    itself = [recipe.folder / recipe.name, ledger_path(recipe.input_path)]
    sources = [path for path in (*_files_of_source(recipe), *itself) if path.exists()]
    if isinstance(recipe.settings.output, Output):
        find_format(recipe.output_path, recipe.settings.output.format)  # refuses a name that says none
    tables = []
    for target in places:
        if isinstance(target, TableName):
            tables.append(target)
        elif not target.parent.is_dir():
            raise InvalidInput(f"There is no folder {target.parent} to write {target.name} into; make it first.")
        elif target.exists():
            if any(target.samefile(source) for source in sources):
                raise InvalidInput(
                    f"{target} is read by this recipe and would be replaced; give [output] another path."
                )
            if not overwrite:
                raise InvalidInput(
                    f"{target} exists already; add --overwrite to replace it, or give [output] another path."
                )
    address = recipe.target
    if address is not None and tables and (address.system != "sqlite" or address.path.exists()):
        with reading(address) as connection:
            refuse_taken_tables(connection, tables, overwrite=overwrite, source=_selection_of(recipe))


def write_release(
    recipe: Recipe, tables: Mapping[str, pl.DataFrame], *, overwrite: bool, companions: Companions
) -> None:
    """Write the tables of a release with the files that `companions` makes of their digests: all of it or nothing."""
    with writing_release(recipe, tables, overwrite=overwrite) as finish:
        finish(companions)


@contextmanager
def writing_release(
    recipe: Recipe, tables: Mapping[str, pl.DataFrame], *, overwrite: bool
) -> Iterator[Callable[[Companions], None]]:
    """The same while something else is done; nothing appears before `finish(companions)`, and without it never.

    Files are written meanwhile under temporary names. A database is asked when all is decided.
    """
    output, places = recipe.settings.output, places_of(recipe, tables)
    address = recipe.target
    if address is None:
        assert isinstance(output, Output)
        names = {path: name for name, path in places.items() if isinstance(path, Path)}
        with writing_tables(
            {path: tables[name] for path, name in names.items()},
            format=output.format,
            separator=separator_of(recipe.input_path, **how_written(recipe))
            if isinstance(recipe.settings.input, Input)
            else None,
            neutralise_formulas=output.neutralise_formulas,
            overwrite=overwrite,
        ) as finish:

            def finish_files(companions: Companions) -> None:
                finish(lambda digests: companions({names[path]: found for path, found in digests.items()}))

            yield finish_files
        return
    frames = {place: tables[name] for name, place in places.items() if isinstance(place, TableName)}

    def finish_tables(companions: Companions) -> None:
        with (
            all_or_nothing(overwrite=overwrite) as stage,
            written_tables(address, frames, overwrite=overwrite, source=_selection_of(recipe)) as written,
        ):
            digests = {name: written.digests[place] for name, place in places.items() if isinstance(place, TableName)}
            for target, content in companions(digests).items():
                stage(target).write_bytes(content)
            written.commit()

    yield finish_tables


def manifest_beside(release: str | Path, manifest_path: Callable[[Path], Path]) -> Path:
    """The manifest of a release: what was named, if it is one, or what lies beside the named file."""
    path = Path(release)
    return path if path.name.endswith(SUFFIX) else manifest_path(path)


def places_in_manifest(manifest: Manifest, recipe: Recipe, release: Path) -> dict[str, Place]:
    """Where the tables of a release lie by its manifest."""
    if isinstance(recipe.settings.output, DatabaseOutput):
        return {name: TableName.parse(record.path) for name, record in manifest.release.items()}
    first, *rest = manifest.release
    places: dict[str, Place] = {first: release.with_name(release.name.removesuffix(SUFFIX))}
    return places | {name: release.parent / manifest.release[name].path for name in rest}


def places_found(recipe: Recipe, release: str | Path) -> dict[str, Place]:
    """Where the tables of a release without a manifest lie: a second holds the sensitive values if the first does not."""
    output = recipe.settings.output
    of: Callable[[Sequence[str]], dict[str, Place]]
    if isinstance(output, DatabaseOutput):
        table = TableName.parse(str(release))
        of = lambda names: dict(names_of(table, names))  # noqa: E731
    else:
        of = lambda names: dict(files_of(Path(release), names))  # noqa: E731
    if output.flat:
        return of(("flat",))
    people = "boxes" if isinstance(recipe.method, CrossBucket) else "quasi-identifiers"
    alone, buckets = of(("release",)), of((people, "sensitive"))
    tables, _ = read_places(recipe, alone)
    has_values = any(name in tables["release"].columns for name in recipe.columns_of("sensitive"))
    return alone if has_values or not _is_there(recipe, buckets["sensitive"]) else buckets


def read_places(recipe: Recipe, places: Mapping[str, Place]) -> tuple[dict[str, pl.DataFrame], dict[Place, str]]:
    """The published tables as text; and the digests of those in a database."""
    output, address, tables = recipe.settings.output, recipe.target, {}
    digests: dict[Place, str] = {}
    if address is None:
        assert isinstance(output, Output)
        for name, path in places.items():
            assert isinstance(path, Path)
            tables[name] = read_release(path, format=output.format, neutralised=output.neutralise_formulas)
        return tables, digests
    with reading(address) as connection:
        for name, place in places.items():
            assert isinstance(place, TableName)
            tables[name], digests[place] = read_release_table(connection, place)
    return tables, digests


def _is_there(recipe: Recipe, place: Place) -> bool:
    if isinstance(place, Path):
        return place.is_file()
    from overt.io.database.gathering import system_of

    assert isinstance(recipe.target, Address)
    with reading(recipe.target) as connection:
        return system_of(connection).table_columns(connection, place) is not None


def _files_of_source(recipe: Recipe) -> list[Path]:
    beside = list(files_read(recipe).values())
    if isinstance(recipe.settings.input, Input):
        return [recipe.input_path, *beside]
    source = _selection_of(recipe)
    return [*beside, source.database.path] if source is not None and source.database.system == "sqlite" else beside


def _selection_of(recipe: Recipe) -> Selection | None:
    source = recipe.source
    return source if isinstance(source, Selection) else None
