# SPDX-License-Identifier: Apache-2.0
"""Workspace: the private folder that uploads and runs lie in, gone when the studio ends, and after a crash at the next start."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PREFIX = "overt-studio-"
LOCK = ".running"


class Workspace:
    """A folder that only its owner can read. A lock on a file in it says that the studio still runs, however it ends."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parent = Path(tempfile.gettempdir()) if parent is None else parent

    def __enter__(self) -> "Workspace":
        self.removed = remove_abandoned(self.parent)
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.parent))  # mode 0700
        self._lock = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.uploads = self.folder / "uploads"
        self.uploads.mkdir(mode=0o700)
        self._spooled_before, tempfile.tempdir = tempfile.tempdir, str(self.uploads)  # forms are received in here too
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tempfile.tempdir = self._spooled_before
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    def make_folder(self, name: str) -> Path:
        """A private folder in this one."""
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        return folder


def remove_abandoned(parent: Path) -> int:
    """Remove the folders of studios of this user that ended without cleaning up. How many there were."""
    removed = 0
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if that studio still runs
                shutil.rmtree(folder)
                removed += 1
            finally:
                os.close(lock)
    return removed
