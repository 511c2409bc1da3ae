# SPDX-License-Identifier: Apache-2.0
"""Workspace: the private folder that uploads and runs lie in, gone when the studio ends, and after a crash at the next start."""

import stat
import tempfile
from glob import escape
from pathlib import Path
from types import TracebackType

from overt.io.private_folder import PrivateFolder, clear_abandoned, is_own

PREFIX = "overt-studio-"
SAVING = ".saving"  # in the folder of a session: which folder it is being saved into


class Workspace:
    """A folder that only its owner can read. A lock on a file in it says that the studio still runs, however it ends."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parent = Path(tempfile.gettempdir()) if parent is None else parent

    def __enter__(self) -> "Workspace":
        clear_half_saved(self.parent)
        self._private = PrivateFolder(self.parent, PREFIX)
        self.folder, self.removed = self._private.folder, self._private.cleared
        self.uploads = self.folder / "uploads"
        self.uploads.mkdir(mode=0o700)
        self._spooled_before, tempfile.tempdir = tempfile.tempdir, str(self.uploads)  # forms are received in here too
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tempfile.tempdir = self._spooled_before
        self._private.close()

    def make_folder(self, name: str) -> Path:
        """A private folder in this one."""
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        return folder


def clear_half_saved(parent: Path) -> None:
    """Remove what a studio that was killed had begun to save elsewhere, before the note that says where goes too."""
    for note in parent.glob(f"{PREFIX}*/*/{SAVING}"):
        try:
            if not is_own(note.parents[1], stat.S_ISDIR) or not is_own(note, stat.S_ISREG):
                continue  # another user's: it must not say what is removed here
            place = Path(note.read_text("utf-8"))
        except (OSError, ValueError):  # gone meanwhile, or no text
            continue
        if place.is_absolute() and ".unfinished-" in place.name:
            clear_abandoned(place.parent, escape(place.name))
