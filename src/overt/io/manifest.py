# SPDX-License-Identifier: Apache-2.0
"""Manifest: what a release claims and what it was made from, in a JSON file beside it.

It holds versions, the recipe, row counts and digests; no seed, no data, and no path that says where on a
machine things lay: paths are relative to the manifest. It is written for the owner and for whoever checks the
release with the data at hand. It need not be published: someone who knows all of the input but one value could
confirm a guess of that value with the digest.
"""

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from overt.errors import InvalidInput
from overt.io.database.address import is_path, path_of
from overt.io.recipe import Recipe, understand
from overt.io.settings import Input, LevelsFile, Output

PACKAGES = ("overt", "numpy", "numba", "polars")
SUFFIX = ".manifest.json"
EXTERNAL = "external database"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InputRecord(_Part):
    """The input file: its name without a folder, what it held, and how many rows were left out of it."""

    name: str
    sha256: Digest
    rows: int  # that took part
    rows_dropped: int  # because their sensitive value is missing


class FileRecord(_Part):
    """A file of the release, by its path from the manifest."""

    path: str
    sha256: Digest
    rows: int


class Manifest(_Part):
    """Everything that is recorded about a release."""

    manifest: Literal[1] = 1  # the version of this format
    created: datetime
    versions: dict[str, str]
    method: str
    goal: tuple[str, ...]
    groups: int
    input: InputRecord
    release: dict[str, FileRecord]  # "release", or "quasi-identifiers" and "sensitive"
    hierarchy_files: dict[str, Digest]  # by column; and the external database, if a method has one
    recipe: dict[str, Any]

    def to_json(self) -> str:
        """The manifest as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"


def manifest_path(release: Path) -> Path:
    """Where the manifest of a release lies: beside its (first) file."""
    if not release.name:
        raise InvalidInput(f"{release} is a folder; name the file of the release.")
    return release.with_name(release.name + SUFFIX)


def versions() -> dict[str, str]:
    """What made the release: Python and the packages that could change the result."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}


def now() -> datetime:
    """The present second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)


def recorded_recipe(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """The recipe's content with paths as seen from `folder`, and of the input only its name."""
    content = recipe.settings.model_dump(mode="json", exclude_none=True)
    if not content["goal"]:  # the method has its own
        del content["goal"]
    source, target = recipe.settings.input, recipe.settings.output
    if isinstance(source, Input):
        content["input"]["path"] = recipe.input_path.name
    elif is_path(source.database):
        content["input"]["database"] = f"./{Path(path_of(source.database)).name}"
    if isinstance(target, Output):
        content["output"]["path"] = seen_from(folder, recipe.output_path)
    elif is_path(target.database):
        content["output"]["database"] = f"./{seen_from(folder, recipe.folder / path_of(target.database))}"
    if "external" in content["method"]:
        content["method"]["external"] = seen_from(folder, recipe.folder / content["method"]["external"])
    for name in hierarchy_files(recipe):
        hierarchy = content["columns"][name]["hierarchy"]
        hierarchy["file"] = seen_from(folder, recipe.folder / hierarchy["file"])
    return content


def hierarchy_files(recipe: Recipe) -> dict[str, Path]:
    """The hierarchy files that a recipe refers to, by column."""
    choices = {name: getattr(column, "hierarchy", None) for name, column in recipe.settings.columns.items()}
    return {name: recipe.folder / choice.file for name, choice in choices.items() if isinstance(choice, LevelsFile)}


def files_read(recipe: Recipe) -> dict[str, Path]:
    """Every file beside the input that a recipe reads: hierarchies by column, and the external database of a method."""
    external = getattr(recipe.settings.method, "external", None)
    beside = {} if external is None else {EXTERNAL: recipe.folder / external}
    return {**hierarchy_files(recipe), **beside}


def seen_from(folder: Path, path: Path) -> str:
    """The path of a file relative to a folder, with forward slashes."""
    return Path(os.path.relpath(path, folder)).as_posix()


def read_manifest(path: Path) -> Manifest:
    """Read a manifest, or say what to do without it."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(
            f"There is no manifest {path.name} beside the release, so its claims are unknown; "
            "put the manifest there, or give the recipe with --recipe."
        ) from None
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "its text"
        raise InvalidInput(
            f"{path.name} is not a manifest that this Overt can read ({where}: {first['msg'].lower()}); "
            "run the recipe again, or give it with --recipe."
        ) from None


def recipe_of(manifest: Manifest, path: Path) -> Recipe:
    """The recipe that a manifest holds, as if it lay where the manifest lies."""
    try:
        return understand(manifest.recipe, folder=path.parent, name=path.name)
    except InvalidInput as error:
        raise InvalidInput(f"{error} Give the recipe with --recipe instead.") from None
