# SPDX-License-Identifier: Apache-2.0
"""Saved sessions: a folder with everything of a session, for its owner, and the way back. Nothing is kept unless somebody asks for it."""

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from overt.errors import InvalidInput
from overt.io.private_folder import LOCK, clear_abandoned, hold
from overt.io.recipe.toml_lines import document_of
from overt.studio.history import Document, Edit, History
from overt.studio.releases import KeptRelease, Making, Signature, standing
from overt.studio.session import Session
from overt.studio.workspace import SAVING

FILE = "session.json"
MOST_BYTES = 64 << 20  # of that file
MOST_OF_NAME = 200  # bytes of the name of a file
RUN = re.compile(r"run-\d+\.toml$")
OF_PLACE = (
    "path",
    "database",
    "table",
    "query",
)  # keys of [input] that say where the data are; the studio writes them once


class SavedEdit(BaseModel):
    """A recipe after a change."""

    model_config = ConfigDict(extra="forbid")
    text: str
    words: str
    when: datetime
    is_household: bool = False
    settled: tuple[str, ...] = ()


class SavedRun(BaseModel):
    """A run: its recipe is enough to make it again."""

    model_config = ConfigDict(extra="forbid")
    recipe: str


class SavedSignature(BaseModel):
    """Who signed the release, and the digests of its files then."""

    model_config = ConfigDict(extra="forbid")
    name: str
    role: str
    when: datetime
    digests: dict[str, str]


class SavedRelease(BaseModel):
    """The release that was made: its files lie in the same folder."""

    model_config = ConfigDict(extra="forbid")
    recipe: str
    when: datetime
    public: tuple[str, ...] = Field(min_length=1)
    owners: tuple[str, ...] = ()
    manifest: str
    state: Literal["good", "warn"]
    cautions: tuple[str, ...] = ()
    signature: SavedSignature | None = None


class KeptColumn(BaseModel):
    """What the pages need to find in a column of a recipe; the library judges the rest."""

    role: str
    hierarchy: Any = None


class KeptMethod(BaseModel):
    """The same of its method."""

    name: str


class KeptGoal(BaseModel):
    """The same of a goal."""

    property: str


class KeptRecipe(BaseModel):
    """The same of a recipe."""

    input: dict[str, Any]
    output: dict[str, Any]
    columns: dict[str, KeptColumn]
    method: KeptMethod
    goal: list[KeptGoal] = []


class SavedSession(BaseModel):
    """What `session.json` holds."""

    model_config = ConfigDict(extra="forbid")
    session: int = Field(ge=1, le=1)  # the version of this format
    audience: str
    name: str = Field(min_length=1, max_length=400)
    done: list[SavedEdit] = Field(min_length=1)
    undone: list[SavedEdit] = []
    runs: list[SavedRun] = []
    file: str = ""  # what the table was called when it was brought
    release: SavedRelease | None = None
    files: list[str] = []  # what was written beside this one: only such a folder is written anew


def folder_named(text: str) -> Path:
    """The folder that somebody typed."""
    path = Path(os.path.expanduser(text.strip()))  # noqa: PTH111 - also of other users, as a shell does
    if not text.strip() or "\0" in text or not path.is_absolute():
        raise InvalidInput("Give the whole path of a folder on this machine, from / on or from ~ on.")
    return path


def save(session: Session, target: Path, recipes_of_runs: Iterable[str]) -> None:
    """Copy a session into a folder that does not exist yet, is empty, or holds what was saved of this session. Only its owner can read it."""
    is_own_folder = target.is_dir() and not target.is_symlink() and session.found.get("saved") == str(target)
    if is_own_folder and any(target.iterdir()):
        _require_only_saved(target)
    elif target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise InvalidInput("This folder is not empty; give one that does not exist yet.")
    if not target.parent.is_dir():
        raise InvalidInput("The folder above it does not exist; give a new folder in one that does.")
    runs = list(recipes_of_runs)
    kept = SavedSession(
        session=1,
        audience="owner",
        name=session.name,
        done=[SavedEdit.model_validate(asdict(one)) for one in session.history.done],
        undone=[SavedEdit.model_validate(asdict(one)) for one in session.history.undone],
        runs=[SavedRun(recipe=text) for text in runs],
        file=session.file,
        release=_saved_release(standing(session)),
    )
    unfinished = target.with_name(f".{target.name}.unfinished-{session.id}")
    before = target.with_name(f"{target.name}.before-{session.id}")  # seen by everybody: a crash leaves it if at all
    note, handle = session.folder / SAVING, -1
    try:
        note.write_text(
            str(unfinished), encoding="utf-8"
        )  # a studio that is started after this one was killed reads it
        clear_abandoned(target.parent, f".{escape(target.name)}.unfinished-*")
        unfinished.mkdir(mode=0o700)
        handle = hold(unfinished)
        for path in session.folder.iterdir():
            if (
                path.is_file() and not path.is_symlink() and not path.name.startswith(".") and not RUN.match(path.name)
            ):  # what a run is writing is not its own yet
                shutil.copy2(path, unfinished / path.name)
        for number, text in enumerate(runs, 1):
            (unfinished / f"run-{number}.toml").write_text(text, encoding="utf-8")
        kept.files = sorted(path.name for path in unfinished.iterdir() if path.name != LOCK)
        (unfinished / FILE).write_text(kept.model_dump_json(indent=2) + "\n", encoding="utf-8")
        if is_own_folder and any(target.iterdir()):
            target.rename(before)
        elif target.exists():
            target.rmdir()
        unfinished.rename(target)
        (target / LOCK).unlink(missing_ok=True)
        shutil.rmtree(before, ignore_errors=True)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if before.exists() and not target.exists():
            before.rename(target)
        raise InvalidInput(
            f"The session cannot be saved there ({os.strerror(error.errno or 0).lower()}); give another folder."
        ) from None
    finally:
        if handle >= 0:
            os.close(handle)
        note.unlink(missing_ok=True)


def _require_only_saved(target: Path) -> None:
    """Refuse to write a folder anew that holds anything but what a session wrote there."""
    known = {FILE, LOCK, *read_saved(target).files}
    if any(path.name not in known for path in target.iterdir()):
        raise InvalidInput(
            "Since this session was saved there, other files were put into the folder; move them, or give a new folder."
        )


def _saved_release(made: Making | None) -> SavedRelease | None:
    if made is None or made.written is None:
        return None
    signed = None if made.signature is None else SavedSignature.model_validate(asdict(made.signature))
    return SavedRelease(recipe=made.recipe, when=made.when, signature=signed, **asdict(made.written))


def release_of(kept: SavedSession, folder: Path) -> Making | None:
    """The release of a saved session, if all its files lie in the folder."""
    saved = kept.release
    if saved is None:
        return None
    names = (*saved.public, *saved.owners, saved.manifest)
    if not all(is_plain_name(name) and (folder / name).is_file() for name in names):
        return None
    written = KeptRelease(saved.public, saved.owners, saved.manifest, saved.state, saved.cautions)
    signed = None if saved.signature is None else Signature(**saved.signature.model_dump())
    return Making(saved.recipe, None, signature=signed, when=saved.when, kept=written)


def read_saved(source: Path) -> SavedSession:
    """What a folder says of its session."""
    path = source / FILE
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):  # a pipe, or /dev/zero, has no end
            raise InvalidInput(f"{FILE} of this folder is no plain file; choose another folder.")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInput(f"{FILE} of this folder is too long to be a session of the studio.")
        return SavedSession.model_validate_json(content)
    except OSError:
        raise InvalidInput(f"This folder holds no session: there is no {FILE} in it that can be read.") from None
    except ValidationError:
        raise InvalidInput(f"{FILE} of this folder is not as the studio writes it; choose another folder.") from None


@dataclass(frozen=True)
class DatabaseNamed:
    """A database that a saved session reads: somebody else may have chosen it, and what is asked of it."""

    database: str
    table: str | None
    query: str | None

    @property
    def key(self) -> str:
        """What tells it from all others, for a form that says that it may be read."""
        return sha256(json.dumps([self.database, self.table, self.query], default=str).encode()).hexdigest()


def database_named(kept: SavedSession) -> DatabaseNamed | None:
    """The database that a saved session is of; None if its table lies in its folder."""
    given = read_kept(kept.done[-1].text)["input"]
    if "database" not in given:
        return None
    return DatabaseNamed(str(given["database"]), given.get("table"), given.get("query"))


def copy_into(source: Path, folder: Path) -> None:
    """Bring the files of a saved session into a private folder. What is not a plain file is left behind."""
    try:
        for path in source.iterdir():
            if path.is_file() and not path.is_symlink() and path.name not in (FILE, LOCK) and path.name[0] != ".":
                shutil.copy2(path, folder / path.name)
    except OSError as error:
        raise InvalidInput(f"The session cannot be read ({os.strerror(error.errno or 0).lower()}).") from None


def history_of(kept: SavedSession) -> History:
    """Its history."""
    done, undone = (tuple(Edit(**one.model_dump()) for one in edits) for edits in (kept.done, kept.undone))
    released = () if kept.release is None else (kept.release.recipe,)
    recipes = [
        read_kept(text)
        for text in (*(edit.text for edit in (*done, *undone)), *(run.recipe for run in kept.runs), *released)
    ]
    places = [[recipe["input"].get(key) for key in OF_PLACE] for recipe in recipes]
    if any(place != places[0] for place in places):
        raise InvalidInput(
            "This session takes its data from several places, which the studio never does. Do not trust it; ask where it comes from."
        )
    return History(done, undone)


def read_kept(text: str) -> Document:
    """A recipe of a saved session. Somebody else may have written it: it may name files of its own folder alone, to read and to write."""
    try:
        document = document_of(text)
        kept = KeptRecipe.model_validate(document)
    except (tomllib.TOMLDecodeError, ValidationError):
        raise InvalidInput(
            f"{FILE} of this folder holds a recipe that is not as the studio writes it; choose another folder."
        ) from None
    hierarchies = [column.hierarchy for column in kept.columns.values() if isinstance(column.hierarchy, dict)]
    named = [kept.input.get("path"), kept.output.get("path"), *(one.get("file") for one in hierarchies)]
    if any(one is not None and not is_plain_name(one) for one in named) or "database" in kept.output:
        raise InvalidInput(
            "This session names files outside its own folder, which the studio never does. Do not trust it; ask where it comes from."
        )
    return document


def is_file_name(name: str) -> bool:
    """Whether a recipe can call a table so, in any folder."""
    return is_plain_name(name) and name.isprintable() and len(name.encode()) <= MOST_OF_NAME


def is_plain_name(name: object) -> bool:
    """Whether this names a file of the same folder."""
    return isinstance(name, str) and Path(name).name == name and not name.startswith((".", "~")) and "\\" not in name
