# SPDX-License-Identifier: Apache-2.0
"""Workspace: a folder for staged data that only this user can read, gone when the work is done or, after a crash, at the next start.

Staged rows are personal data. The folder is made with the rights 0700 under a name that cannot be guessed. The process that works in it
holds a lock on a file in it, which the system releases when the process ends, however it ends; whoever starts work later removes the
folders of this user whose lock nobody holds.
"""

import os
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from overt.errors import InvalidInput

PREFIX = "overt-staged-"
LOCK = "in-use"


class PrivateFolder:
    """A private folder. Use it in a `with` block, or close it."""

    def __init__(self, parent: Path | None = None) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        if not parent.is_dir():
            raise InvalidInput(f"There is no folder {parent} for staged data; make it first, or name another.")
        self.cleared = clear_abandoned(parent, f"{PREFIX}*")
        self.folder = parent / f"{PREFIX}{secrets.token_hex(8)}"
        self.folder.mkdir(mode=0o700)
        self.folder.chmod(0o700)
        self._handle = hold(self.folder)
        self._n_folders = 0

    def new_folder(self) -> Path:
        """A place inside for a folder that is not there yet."""
        self._n_folders += 1
        return self.folder / f"{self._n_folders:05}"

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if self._handle >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> "PrivateFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def hold(folder: Path) -> int:
    """Say that a process works in a folder, as long as it lives or until this is closed."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    _lock(handle)
    return handle


def clear_abandoned(parent: Path, pattern: str) -> int:
    """Remove the folders of this user, called like that, whose process is gone: how many there were."""
    n_cleared = 0
    for folder in sorted(parent.glob(pattern)):
        with suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
                continue
            handle = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _lock(handle):
                    shutil.rmtree(folder, ignore_errors=True)
                    n_cleared += 1
            finally:
                os.close(handle)
    return n_cleared


if os.name == "nt":  # pragma: no cover

    def _lock(handle: int) -> bool:
        """Whether the file was locked; Windows removes no file that is open, so nothing abandoned can be told from what is in use."""
        return False

else:

    def _lock(handle: int) -> bool:
        """Lock a file as long as this process lives: whether that was possible."""
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
