# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_check.py
"""Contradictions: a manifest's words are claims too. Whatever can be computed from elsewhere is, and compared.

Method and goals follow from the recipe, groups and rows from the files, names of files from the method; and the whole
text from what it says. One sentence for each contradiction, and none repeats what the manifest says.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, timedelta
from pathlib import Path

import polars as pl

from overt.checks import Finding
from overt.group_shape import GroupShape
from overt.io.dp_release import DpManifest
from overt.io.manifest import SUFFIX, Manifest, files_read, now, recorded_recipe, versions
from overt.io.recipe.recipe import Recipe
from overt.io.targets import files_of
from overt.table import Table

_VERSION = r"\d{1,4}(\.\d{1,6}){1,3}((a|b|rc|\.dev|\.post)\d{1,6})?(\+[a-z0-9.]{1,40})?"


def find_contradictions(
    manifest: Manifest, path: Path, recipe: Recipe, tables: Mapping[str, pl.DataFrame], shape: GroupShape,
    persons: Mapping[str, pl.DataFrame], table: Table,
) -> tuple[Finding, ...]:  # fmt: skip
    """What an ordinary manifest says that its own recipe, or the files of the release, do not. `path` is the manifest's.

    `persons` are the tables with one line per person, of which there is one for each row where nobody has several.
    """
    found = [*_in_words(manifest, recipe), *_in_files(manifest, path, recipe, tables, shape, persons, table)]
    return _findings([*found, *_in_text(manifest, path), *_in_recipe(manifest, recipe, path.parent)])


def find_contradictions_of_parts(
    manifest: Manifest, path: Path, recipe: Recipe, n_rows: int, n_groups: int | None
) -> tuple[Finding, ...]:
    """The same of a release in parts, whose tables are folders beside their manifest, with so many rows each and (if known) so many groups."""
    found = [*_in_words(manifest, recipe)]
    names = sorted(recipe.method.table_names, key=lambda name: name == "sensitive")
    if list(manifest.release) != names:
        found.append(
            f"the tables that it lists are not those that {recipe.method.name} publishes, or not in their order"
        )
    places = {name: str(place) for name, place in recipe.target.places(names).items()}
    of_tables = recipe.target.catalog_table is not None
    if any(part.path != (places.get(name) if of_tables else name) for name, part in manifest.release.items()):
        found.append("the names of its folders are not those of its tables")
    if any(part.rows != n_rows for part in manifest.release.values()):
        found.append("it gives a table another number of rows than the table has")
    if n_groups is not None and manifest.groups != n_groups:
        found.append("it counts another number of groups than the release has")
    if manifest.persons is not None:
        found.append("it counts persons, and here a row is a person")
    folder = path.parent if of_tables else path.parent.parent
    return _findings([*found, *_in_text(manifest, path), *_in_recipe(manifest, recipe, folder)])


def find_dp_contradictions(
    recipe: Recipe, manifest: DpManifest, path: Path, n_rows: int, *, is_recorded: bool = True, part: str | None = None
) -> Finding:
    """Whether what the manifest says in words and figures is what its recipe and the release say.

    `is_recorded` says that the recipe holds what a private run adds to it. The manifest of a release in parts lies in its folder, beside the folder
    of the `part` that its table is.
    """
    method = recipe.dp_method
    folder = path.parent if part is None else path.parent.parent
    told = {
        "method": (manifest.method, method.name),
        "epsilon": (manifest.epsilon, str(method.budget.epsilon)),
        "delta": (manifest.delta, str(method.budget.delta)),
        "facts": (manifest.facts, method.facts),
        "hierarchies": (list(manifest.hierarchy_files), list(files_read(recipe))),
        "rows": (manifest.release.rows, n_rows),
        "recipe": (json.dumps(manifest.recipe), json.dumps(recorded_recipe(recipe, folder)[0])),
        "name of the release": (
            manifest.release.place,
            part or recipe.target.seen_from(folder, recipe.target.places(("release",))["release"]),
        ),
        "settings of the recipe": (is_recorded, True),
        "text": (tuple(_in_text(manifest, path)), ()),
    }
    wrong = [name for name, (said, true) in told.items() if said != true]
    if wrong:
        return Finding(
            "manifest", False, f"The manifest contradicts its own recipe, or the release, in: {', '.join(wrong)}."
        )
    return Finding("manifest", True, "The manifest agrees with its recipe and with the release.")


def _in_words(manifest: Manifest, recipe: Recipe) -> Iterator[str]:
    if manifest.method != recipe.method.name:
        yield "the method that it names is not that of its recipe"
    if manifest.goal != tuple(map(str, recipe.goal.parts)):
        yield "the goals that it names are not those of its recipe"


def _in_files(
    manifest: Manifest, path: Path, recipe: Recipe, tables: Mapping[str, pl.DataFrame], shape: GroupShape,
    persons: Mapping[str, pl.DataFrame], original: Table,
) -> Iterator[str]:  # fmt: skip
    if set(manifest.release) != shape.tables:
        yield f"the tables that it lists are not those that {shape.method} publishes"
        return
    names = sorted(shape.tables, key=lambda name: name == "sensitive")
    if list(manifest.release) != names:
        yield "its tables are not listed in their order"
    for name, table in tables.items():
        if manifest.release[name].rows != table.height:
            yield f"it gives {name!r} another number of rows than the table has"
    target = recipe.target
    said = [target.seen_from(path.parent, place) for place in target.places(names).values()]
    if [manifest.release[name].path for name in names] != said:
        yield "the names of its files are not those that its recipe gives them"
    beside = files_of(path.with_name(path.name.removesuffix(SUFFIX)), ("release", "sensitive"))["sensitive"]
    if target.has_bytes and "sensitive" not in tables and beside.exists():
        yield "a table of sensitive values lies beside the release and is no part of it"
    n_persons = next((frame.height for frame in persons.values()), None)
    if (manifest.persons is None) != (original.persons is None) or (
        manifest.persons is not None and n_persons is not None and manifest.persons != n_persons
    ):
        yield "it counts another number of persons than the release has"
    columns = tuple(column.name for column in original.quasi_identifiers)
    n_groups = count_groups(persons, columns, is_crossed=shape.boxes or "shuffled" in tables) if persons else None
    if n_groups is not None and manifest.groups != n_groups:
        yield "it counts another number of groups than the release has"


def count_groups(tables: Mapping[str, pl.DataFrame], columns: tuple[str, ...], *, is_crossed: bool) -> int | None:
    """How many groups a reader sees: buckets, or lines that show other quasi-identifiers. None if columns are missing."""
    people = next(frame for name, frame in tables.items() if name != "sensitive")
    wanted = list(columns) if is_crossed or "release" in tables else ["bucket"]
    if not set(wanted) <= set(people.columns):
        return None
    return people.select(pl.col(wanted).cast(pl.String)).n_unique() if people.height else 0


def _in_recipe(manifest: Manifest, recipe: Recipe, folder: Path) -> Iterator[str]:
    content, left_out = recorded_recipe(recipe, folder)
    if json.dumps(manifest.recipe) != json.dumps(content) or manifest.left_out != tuple(part.path for part in left_out):
        yield "the recipe is not written as a manifest records a recipe"


def _in_text(manifest: Manifest | DpManifest, path: Path) -> Iterator[str]:
    if path.read_bytes() != manifest.to_json().encode():
        yield "its text is not written as a manifest is: blanks, the order of keys or other spellings could carry a message"
    if list(manifest.versions) != list(versions()):
        yield "the packages of which it gives versions are not those that make a release"
    elif not all(re.fullmatch(_VERSION, version) for version in manifest.versions.values()):
        yield "it gives a version that no package has"
    created = manifest.created
    if created.utcoffset() != timedelta(0) or created.microsecond:
        yield "the time at which it was made is not a whole second of UTC"
    elif created.astimezone(UTC) > now() + timedelta(days=1):
        yield "it was made in the future"


def _findings(found: list[str]) -> tuple[Finding, ...]:
    if found:
        return tuple(Finding("manifest", False, f"The manifest contradicts itself: {words}.") for words in found)
    return (Finding("manifest", True, "The manifest agrees with its recipe and with the release."),)
