# SPDX-License-Identifier: Apache-2.0
"""Private folders: for data that lie on the disk for a while, gone when the work is done or, after a crash, at the next start.

The folder is made with the rights 0700 under a name that cannot be guessed. The process that works in it holds a lock on a file in it, which the
system releases when the process ends, however it ends; whoever starts such work later removes the folders of this user whose lock nobody
holds. The lock is the last that goes, so that a process that is killed while it clears up is cleared up after too.
"""

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from overt.errors import InvalidInput

PREFIX = "overt-staged-"
LOCK = "in-use"
_TOKEN = re.compile(r"[0-9a-f]{16}")


class PrivateFolder:
    """A private folder. Use it in a `with` block, or close it."""

    def __init__(self, parent: Path | None = None, prefix: str = PREFIX) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        if not parent.is_dir():
            raise InvalidInput(f"There is no folder {parent} for staged data; make it first, or name another.")
        self.cleared = clear_abandoned(parent, f"{prefix}*", prefix)
        self.folder, self._handle = _make(parent, prefix)
        self._n_folders = 0

    def new_folder(self) -> Path:
        """A place inside for a folder that is not there yet."""
        self._n_folders += 1
        return self.folder / f"{self._n_folders:05}"

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if self._handle >= 0:
            try:
                _remove(self.folder)
            except BaseException:  # an interrupt is no reason to leave data behind
                _remove(self.folder)
                raise
            finally:
                os.close(self._handle)
                self._handle = -1

    def __enter__(self) -> "PrivateFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def hold(folder: Path) -> int:
    """Say that a process works in a folder, as long as it lives or until this is closed."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    is_locked = _lock(handle)
    if is_locked is False or not (folder / LOCK).exists():  # somebody takes it for abandoned at this moment
        os.close(handle)
        raise FileNotFoundError
    return handle


def clear_abandoned(parent: Path, pattern: str, prefix: str = "") -> int:
    """Remove the folders of this user, called like that, whose process is gone: how many there were.

    With a prefix, an empty folder with a name of ours is one of a process that was killed before it said that it works there.
    """
    n_cleared = 0
    for folder in sorted(parent.glob(pattern)):
        with suppress(OSError):
            if not is_own(folder, stat.S_ISDIR):
                continue
            try:
                handle = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            except FileNotFoundError:
                if prefix and _TOKEN.fullmatch(folder.name.removeprefix(prefix)):
                    folder.rmdir()  # not if there is anything in it
                continue
            try:
                if _lock(handle):
                    _remove(folder)
                    n_cleared += 1
            finally:
                os.close(handle)
    return n_cleared


def is_own(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether a folder or a file, and no link to one, belongs to this user; others can make what looks like ours."""
    found = path.lstat()
    return kind(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(8)}"
        try:
            folder.mkdir(mode=0o700)
            with suppress(FileNotFoundError):  # another process that starts took it for abandoned
                folder.chmod(0o700)
                return folder, hold(folder)
        except BaseException:
            remove_folder(folder)
            raise


def _remove(folder: Path) -> None:
    """Remove a folder and everything in it, its lock last."""
    with suppress(FileNotFoundError):
        for path in list(folder.iterdir()):
            if path.name == LOCK:
                continue
            if path.is_dir() and not path.is_symlink():
                remove_folder(path)
            else:
                path.unlink(missing_ok=True)
        if {path.name for path in folder.iterdir()} <= {LOCK}:  # else a later start tries again
            remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder and everything in it, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(
        folder.rglob("*"), reverse=True
    ):  # what it leaves where few files may be open: it opens each folder on its way
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
    with suppress(OSError):
        folder.rmdir()


if os.name == "nt":  # pragma: no cover

    def _lock(handle: int) -> bool | None:
        """Windows removes no file that is open, so nothing abandoned can be told from what is in use: None."""
        return None

else:

    def _lock(handle: int) -> bool | None:
        """Lock a file as long as this process lives: False if another process holds it, None if there are no locks here."""
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True
