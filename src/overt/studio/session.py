# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_waiting.py
"""Session: one table, its recipe with all that it was before, and the runs made of it."""

import secrets
import shutil
import threading
import tomllib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from overt.errors import InvalidInput
from overt.studio.history import Document, History
from overt.studio.workspace import Workspace

MOST_SESSIONS = 20
MOST_LETTERS = 200  # of a name


@dataclass(eq=False)
class Session:
    """What a person works on. Everything of it lies in one private folder."""

    id: str
    folder: Path = field(repr=False)
    name: str  # as the person calls it: the file's name at first
    history: History = field(repr=False)
    file: str = ""  # what the table was called when it was brought; here it has another name
    opened: datetime = field(default_factory=datetime.now)
    found: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # what was measured of the table, by what it depends on
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def proposal(self) -> Document:
        """The recipe that was proposed at first."""
        return tomllib.loads(self.history.done[0].text)

    @property
    def document(self) -> Document:
        """The recipe as plain values."""
        return self.history.document

    @property
    def recipe_path(self) -> Path:
        """Where the recipe lies as it stands; paths in it are relative to its folder."""
        return self.folder / "recipe.toml"

    @property
    def settled(self) -> frozenset[str]:
        """The columns of which somebody said that their dates are read rightly."""
        return frozenset(self.history.done[-1].settled)

    def change(
        self, words: str, edit: Any, *, is_household: bool | None = None, settled: Collection[str] | None = None
    ) -> None:
        """Write a change into the recipe."""
        with self.lock:
            self._keep(self.history.change(words, edit, is_household=is_household, settled=settled))

    def undo(self) -> None:
        """Take the last change back."""
        with self.lock:
            self._keep(self.history.undo())

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        with self.lock:
            self._keep(self.history.redo())

    def _keep(self, history: History) -> None:
        self.history = history
        self.recipe_path.write_text(history.text, encoding="utf-8")


class Sessions:
    """The sessions that are open."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._all: dict[str, Session] = {}

    def make_folder(self) -> Path:
        """The private folder of a session that is about to be opened."""
        if len(self._all) >= MOST_SESSIONS:
            raise InvalidInput(f"{MOST_SESSIONS} tables are open; close one of them first.")
        return self.workspace.make_folder(secrets.token_hex(8))

    def open(self, folder: Path, name: str, recipe: str, words: str = "Opened", *, file: str = "") -> Session:
        """Begin a session with the first recipe of a table that lies in its folder."""
        session = Session(folder.name, folder, name[:MOST_LETTERS], History.begin(recipe, words), file)
        session.recipe_path.write_text(session.history.text, encoding="utf-8")
        self._all[session.id] = session
        return session

    def reopen(self, folder: Path, name: str, history: History, *, file: str = "") -> Session:
        """Go on with a session that was saved."""
        session = Session(folder.name, folder, name, history, file)
        session.recipe_path.write_text(history.text, encoding="utf-8")
        self._all[session.id] = session
        return session

    def find(self, session_id: str) -> Session | None:
        """An open session by its id."""
        return self._all.get(session_id)

    def close(self, session: Session) -> None:
        """Forget a session and remove its files."""
        self._all.pop(session.id, None)
        shutil.rmtree(session.folder, ignore_errors=True)

    @property
    def recent(self) -> list[Session]:
        """The open sessions, the newest first."""
        return sorted(self._all.values(), key=lambda session: session.opened, reverse=True)
