# SPDX-License-Identifier: Apache-2.0
"""Manifest: what proves a release, in a JSON file beside it that may be published.

It holds versions, the recipe, and the digests and row counts of the published files: nothing of the input that the
release does not show. No seed, no digest of the input, no count of rows that were left out, and no path that says where
on a machine things lay. What ties the release to the data is in the owner's record.
"""

import platform
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from functools import reduce
from importlib import metadata
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from overt.errors import InvalidInput
from overt.io.closed_model import ClosedModel
from overt.io.database.address import is_path, path_of
from overt.io.owner_record import Digest, LeftOut, OwnerRecord, first_fault
from overt.io.paths import input_name, seen_from
from overt.io.recipe.recipe import Recipe, understand
from overt.io.recipe.settings import DatabaseInput, LevelsFile, NestedValues

PACKAGES = ("overt", "numpy", "numba", "polars")
SUFFIX = ".manifest.json"
EXTERNAL = "external database"
LEFT_OUT = "..."


class FileRecord(ClosedModel):
    """A file of the release, by its path from the manifest."""

    path: str
    sha256: Digest
    rows: int


class Manifest(ClosedModel):
    """Everything that is recorded about a release."""

    manifest: Literal[2] = 2  # the version of this format
    audience: Literal["public"] = "public"
    created: datetime
    versions: dict[str, str]
    method: str
    goal: tuple[str, ...]
    groups: int  # as a reader of the release counts them
    persons: int | None = None  # whom the release is about, if a person can have several rows; None: a row is a person
    release: Annotated[dict[str, FileRecord], Field(min_length=1)]  # "release", or "quasi-identifiers" and "sensitive"
    recipe: dict[str, Any]
    left_out: tuple[tuple[str, ...], ...]  # where the recipe could hold values of the data: the owner's record has them

    def to_json(self) -> str:
        """The manifest as it is written to a file."""
        return self.model_dump_json(indent=2, exclude={"persons"} if self.persons is None else None) + "\n"


def manifest_path(release: Path) -> Path:
    """Where the manifest of a release lies: beside its (first) file."""
    if not release.name:
        raise InvalidInput(f"{release} is a folder; name the file of the release.")
    return release.with_name(release.name + SUFFIX)


def manifest_beside(release: str | Path) -> Path:
    """The manifest of a release: what was named, if it is one, or what lies beside the named file."""
    path = Path(release)
    return path if path.name.endswith(SUFFIX) else manifest_path(path)


def versions() -> dict[str, str]:
    """What made the release: Python and the packages that could change the result."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}


def now() -> datetime:
    """The present second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)


def recorded_recipe(recipe: Recipe, folder: Path) -> tuple[dict[str, Any], tuple[LeftOut, ...]]:
    """The recipe's content as anybody may see it, with paths as seen from `folder`; and what that leaves out.

    Of the input it has how it is written, not its name. Values that a nested hierarchy or a query writes out are left out,
    unless the method is differentially private: then its hierarchies are public.
    """
    content, left_out = _content_seen_from(recipe, folder), []
    for path in _may_hold_values(recipe):
        *before, last = path
        section = reduce(getitem, before, content)
        left_out.append(LeftOut(path=path, value=section[last]))
        section[last] = LEFT_OUT if path[-1] == "query" else {LEFT_OUT: []}
    return content, tuple(left_out)


def _may_hold_values(recipe: Recipe) -> Iterator[tuple[str, ...]]:
    """The places of a recipe where values of the data could be written out."""
    if isinstance(recipe.settings.input, DatabaseInput) and recipe.settings.input.query is not None:
        yield "input", "query"
    if recipe.is_dp:
        return
    for name, hierarchy in recipe.choices("hierarchy").items():
        if isinstance(hierarchy, NestedValues):
            yield "columns", name, "hierarchy", "nested"


def _content_seen_from(recipe: Recipe, folder: Path) -> dict[str, Any]:
    content = recipe.settings.model_dump(mode="json", exclude_none=True)
    if not content["goal"]:  # the method has its own
        del content["goal"]
    if "path" in content["input"]:
        content["input"]["path"] = input_name(recipe.source.base)
    elif is_path(content["input"]["database"]):
        content["input"]["database"] = f"./{input_name(Path(path_of(content['input']['database'])))}"
    if "path" in content["output"] and recipe.target.catalog_table is None:
        content["output"]["path"] = seen_from(folder, recipe.output_path)
    elif "database" in content["output"] and is_path(content["output"]["database"]):
        content["output"]["database"] = f"./{seen_from(folder, recipe.folder / path_of(content['output']['database']))}"
    if "external" in content["method"]:
        content["method"]["external"] = seen_from(folder, recipe.folder / content["method"]["external"])
    for name in hierarchy_files(recipe):
        hierarchy = content["columns"][name]["hierarchy"]
        hierarchy["file"] = seen_from(folder, recipe.folder / hierarchy["file"])
    return content


def hierarchy_files(recipe: Recipe) -> dict[str, Path]:
    """The hierarchy files that a recipe refers to, by column."""
    choices = recipe.choices("hierarchy").items()
    return {name: recipe.folder / choice.file for name, choice in choices if isinstance(choice, LevelsFile)}


def files_read(recipe: Recipe) -> dict[str, Path]:
    """Every file beside the input that a recipe reads: hierarchies by column, and the external database of a method."""
    external = recipe.method.external
    beside = {} if external is None else {EXTERNAL: recipe.folder / external}
    return {**hierarchy_files(recipe), **beside}


def read_manifest(path: Path) -> Manifest:
    """Read a manifest, or say what to do without it."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        release = path.with_name(path.name.removesuffix(SUFFIX))
        if not release.exists() and release != path:
            raise InvalidInput(
                f"There is neither {release.name} nor {path.name} here; check the name and the folder."
            ) from None
        raise InvalidInput(
            f"There is no manifest {path.name} beside the release, so its claims are unknown; "
            "put the manifest there, or give the recipe with --recipe."
        ) from None
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise InvalidInput(
            f"{path.name} is not a manifest that this Overt can read ({first_fault(error)}); "
            "run the recipe again, or give it with --recipe."
        ) from None


def recipe_of(
    manifest: Manifest, path: Path, record: OwnerRecord | None = None, *, folder: Path | None = None
) -> Recipe:
    """The recipe that a manifest holds, as if it lay where the manifest lies, or in another folder; what it leaves out is in the owner's record."""
    content = deepcopy(manifest.recipe)
    known = {part.path: part.value for part in record.left_out} if record is not None else {}
    for place in manifest.left_out:
        if place not in known:
            raise InvalidInput(
                f"{path.name} leaves {'.'.join(place)} out of the recipe, because it may hold values of the data, and the owner's "
                "record, which has it, is not beside it; put it there, or give the recipe with --recipe."
            )
        *before, last = place
        try:
            reduce(getitem, before, content)[last] = known[place]
        except (KeyError, TypeError):
            raise InvalidInput(f"The recipe in {path.name} has no {'.'.join(place)}; give it with --recipe.") from None
    try:
        return understand(content, folder=path.parent if folder is None else folder, name=path.name)
    except InvalidInput as error:
        raise InvalidInput(f"{error} Give the recipe with --recipe instead.") from None
