# SPDX-License-Identifier: Apache-2.0
"""A release as tables of a catalog, which appear whole or not at all; manifest, owner's record and report are files beside the recipe.

The release is made and checked as parts in a private folder. The parts become hidden tables of the same database, which are read back and
compared with the parts. Then the tables that are replaced get hidden names, the new ones their own, the files appear, and what was replaced goes. If a step fails,
all names are given back. A run that is killed leaves tables `_overt_TOKEN_...` (`part`: new ones, `old`: what was replaced); the next run into the same
table puts back what was to be replaced if not all new ones had appeared, and drops the rest. The folder of the parts, which a living run has locked, carries the token,
so that tables of a run that goes on are left alone.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from overt.engine.companions import companions_of, files_of_recipe
from overt.engine.report_files import report_paths
from overt.engine.scale.catalog import SparkCatalog
from overt.engine.scale.content_digest import digest_of_content
from overt.engine.scale.parts import MANIFEST, REPORT
from overt.engine.scale.seam import CatalogPlace, ScaleEngine, TablePlace
from overt.errors import InvalidInput, OvertError
from overt.io.atomic import all_or_nothing
from overt.io.catalog_table import CatalogTable
from overt.io.manifest import FileRecord, Manifest, manifest_path
from overt.io.owner_record import owner_record_path
from overt.io.private_folder import PrivateFolder, clear_abandoned
from overt.io.recipe.recipe import Recipe
from overt.io.targets import refuse_taken_files
from overt.io.unfinished import clear_unfinished

_HIDDEN = "_overt_"
_ONES = ("release", "sensitive")  # the first table of a release, and another


@dataclass
class TablesDraft:
    """A private folder for the parts of a release, and hidden tables of them, which become the release if it is kept."""

    engine: ScaleEngine
    catalog: SparkCatalog
    recipe: Recipe
    table: CatalogTable  # the first one, with its database
    folder: Path
    token: str
    is_kept: bool = False
    owner_record: str = ""
    staged: dict[CatalogTable, CatalogTable] = field(default_factory=dict)  # (hidden) -> its place
    going: dict[CatalogTable, CatalogTable] = field(default_factory=dict)  # (what is replaced) -> its hidden name
    is_swapped: bool = False

    def records(self, tables: Mapping[str, int]) -> dict[str, FileRecord]:
        """Make hidden tables of the parts, compare them, and say what the manifest says of each."""
        places = self.recipe.target.places(tables)
        found = {}
        for i, (name, n_rows) in enumerate(tables.items()):
            hidden = _hidden(self.table, self.token, "part", i)
            self.staged[hidden] = _of_release(self.table, i)
            self.catalog.write(self.folder / name, hidden, self.token)
            written = digest_of_content(self.engine, TablePlace(str(self.folder / name), "parquet"))
            kept = digest_of_content(self.engine, CatalogPlace(hidden.quoted))
            if written != kept or kept[1] != n_rows:
                raise InvalidInput(
                    f"The table {places[name]} does not hold what was written to it: the catalog, or its format, changes rows. Nothing was kept; "
                    "write files instead."
                )
            found[name] = FileRecord(path=str(places[name]), sha256=kept[0], rows=n_rows)
        return found

    def commit(self, *, overwrite: bool) -> None:
        """Let the tables and the files about them appear."""
        base = self.recipe.target.base
        refuse_taken_tables(self.catalog, self.recipe, self.table, len(self.staged), overwrite=overwrite)
        replaced = companions_of(self.recipe)
        for table, digest in replaced.tables.items():
            place = self.table.called(table.name)
            if place not in self.staged.values() and self._holds(place, digest):
                self.going[place] = _hidden(self.table, self.token, "old", 1)
        for i, place in enumerate(self.staged.values()):
            if self.catalog.exists(place):
                self.going[place] = _hidden(self.table, self.token, "old", i)
        reports = zip(report_paths(base), REPORT, strict=True)
        files = {there: self.folder / name for there, name in reports if (self.folder / name).is_file()}
        with all_or_nothing(overwrite=True, going=replaced.files, commit=self._swap) as stage:
            for there, here in files.items():
                stage(there).write_bytes(here.read_bytes())
            stage(owner_record_path(base)).write_text(self.owner_record, encoding="utf-8")
            stage(manifest_path(base)).write_bytes((self.folder / MANIFEST).read_bytes())

    def clear(self) -> None:
        """Drop what is hidden: what was replaced if all new tables have appeared, else the new ones; nothing while a table waits for its name."""
        if self.is_swapped:
            for hidden in self.going.values():
                self.catalog.drop(hidden)
        elif not any(self.catalog.exists(hidden) for hidden in self.going.values()):
            for hidden in self.staged:
                self.catalog.drop(hidden)

    def _swap(self) -> None:
        renamed: list[tuple[CatalogTable, CatalogTable]] = []
        try:
            for table, to in (*self.going.items(), *self.staged.items()):
                renamed.append((table, to))
                self.catalog.rename(table, to)
            self.is_swapped = True
        except BaseException:
            for table, to in reversed(renamed):
                with suppress(
                    OvertError
                ):  # the last one perhaps was not renamed; what cannot be given back, the next run does
                    if not self.catalog.exists(table):
                        self.catalog.rename(to, table)
            raise

    def _holds(self, table: CatalogTable, digest: str) -> bool:
        """Whether a table that a manifest names still is what it says; one with other rows is somebody else's."""
        if not self.catalog.exists(table) or not self.catalog.is_managed(table):
            return False
        return digest_of_content(self.engine, CatalogPlace(table.quoted))[0] == digest


@contextmanager
def release_tables(
    engine: ScaleEngine, recipe: Recipe, table: CatalogTable, *, overwrite: bool
) -> Iterator[TablesDraft]:
    """A folder to write parts into, which become tables when the block ends, if they are kept; else nothing remains."""
    base = recipe.target.base
    with PrivateFolder(base.parent, _prefix(recipe)) as private:
        token = private.folder.name.removeprefix(_prefix(recipe))
        draft = TablesDraft(engine, engine.catalog, recipe, engine.catalog.found(table), private.folder, token)
        try:
            yield draft
            if draft.is_kept:
                draft.commit(overwrite=overwrite)
        finally:
            draft.clear()


def prepare_tables(
    catalog: SparkCatalog, recipe: Recipe, named: CatalogTable, *, overwrite: bool, with_report: bool
) -> None:
    """Undo or end what a run that was killed had begun, and say before the work that something is in the way."""
    base = recipe.target.base
    reports = report_paths(base) if with_report else ()
    records = [manifest_path(base), owner_record_path(base), *reports]
    if base.parent.is_dir():
        clear_unfinished(base.parent)
        clear_abandoned(base.parent, f"{_prefix(recipe)}*", _prefix(recipe))
    table = catalog.found(named)
    _put_back(catalog, recipe, table)
    refuse_taken_tables(catalog, recipe, table, len(recipe.method.table_names), overwrite=overwrite)
    refuse_taken_files(records, never=files_of_recipe(recipe), overwrite=overwrite)


def refuse_taken_tables(
    catalog: SparkCatalog, recipe: Recipe, table: CatalogTable, n_tables: int, *, overwrite: bool
) -> None:
    """Refuse what exists, unless it is a table that may be replaced; and always what is read."""
    source = recipe.source.catalog_table
    for place in (_of_release(table, i) for i in range(n_tables)):
        if not catalog.exists(place):
            continue
        if source is not None and place.is_same(source):
            raise InvalidInput(f"{place} is read by this recipe and would be replaced; give [output] another table.")
        if not catalog.is_managed(place):
            raise InvalidInput(
                f"{place} exists already and is a view, or a table whose files lie elsewhere and stay when it is dropped; name another, or remove it."
            )
        if not overwrite:
            raise InvalidInput(
                f"The table {place} exists already; add --overwrite to replace it, or give [output] another."
            )


def copy_tables(engine: ScaleEngine, manifest: Manifest, folder: Path) -> list[str]:
    """Read the tables that a manifest names into parts: those whose content is another than it says, or that are not there."""
    catalog = engine.catalog
    folder.mkdir(mode=0o700)
    changed = []
    for name, part in manifest.release.items():
        found = catalog.found(CatalogTable.parse(part.path))
        if not catalog.exists(found):
            changed.append(part.path)
            continue
        place = CatalogPlace(found.quoted)
        columns = {column: column for column in engine.columns(place)}
        engine.write(engine.open(place, columns), folder / name, "parquet", place.separator)
        if digest_of_content(engine, TablePlace(str(folder / name), "parquet"))[0] != part.sha256:
            changed.append(part.path)
    return changed


def _put_back(catalog: SparkCatalog, recipe: Recipe, table: CatalogTable) -> None:
    """Give what a dead run was replacing its name again, unless all new tables have appeared; and drop the rest."""
    pattern = re.compile(rf"{_HIDDEN}([0-9a-f]{{16}})_(part|old)([01])_{re.escape(table.name)}", re.IGNORECASE)
    waiting: dict[str, dict[tuple[str, int], CatalogTable]] = {}
    for hidden in catalog.names(table, _HIDDEN):
        found = pattern.fullmatch(hidden.name)
        if found is not None:
            waiting.setdefault(found[1], {})[found[2].lower(), int(found[3])] = hidden
    for token, tables in waiting.items():
        if recipe.target.base.with_name(_prefix(recipe) + token).exists():
            continue  # a run that goes on
        is_unfinished = any(kind == "part" for kind, _ in tables)
        for i in range(len(_ONES)) if is_unfinished else ():
            if catalog.is_marked(_of_release(table, i), token):
                catalog.drop(_of_release(table, i))
        for (kind, i), hidden in tables.items():
            if kind == "old" and not catalog.exists(_of_release(table, i)):
                catalog.rename(hidden, _of_release(table, i))
        for (kind, _), hidden in tables.items():
            if kind == "part" or not is_unfinished:  # where somebody else made a table meanwhile, both stay
                catalog.drop(hidden)


def _of_release(table: CatalogTable, i: int) -> CatalogTable:
    return table.beside(_ONES[i]) if i else table


def _hidden(table: CatalogTable, token: str, kind: str, i: int) -> CatalogTable:
    return table.called(f"{_HIDDEN}{token}_{kind}{i}_{table.name}")


def _prefix(recipe: Recipe) -> str:
    return f".{recipe.target.base.name}."
