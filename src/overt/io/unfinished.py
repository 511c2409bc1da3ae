# SPDX-License-Identifier: Apache-2.0
"""Unfinished output: what a process that was killed left in a folder, and who is writing there now.

Whoever writes files into a folder keeps a journal there, `.overt-TOKEN.unfinished`, and holds a lock on it that the system
releases when the process ends, however it ends. The journal names the files that are to appear; under temporary names,
`.NAME.TOKEN.part` and `.NAME.TOKEN.old`, lie the new ones and those that they replace. So a later run can tell what is
unfinished from what is being written: it puts back what stood there before, or, if all had appeared already, removes what was
replaced. Journals of other users are passed over, as anybody who may write into the folder can make one. What a journal says moves and removes
no files elsewhere.
"""

import json
import os
import re
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_JOURNAL = re.compile(r"\.overt-([0-9a-f]{8})\.unfinished")
_LONGEST_NAME = 255 - len("..01234567.part")
CLAIMING = ".manifest.json"  # a file that claims something of others: the last to come and the first to go


@dataclass
class Journal:
    """What one run does in one folder. It is locked as long as the run lives."""

    folder: Path
    token: str
    handle: int
    mode: int  # the rights that a new file gets here, by the umask
    targets: list[str] = field(default_factory=list)
    is_settled: bool = True  # what stands in the folder is all old or all new

    @property
    def path(self) -> Path:
        return self.folder / f".overt-{self.token}.unfinished"

    def name(self, target: str, ending: str) -> Path:
        """Where a new file waits (`part`), or the one that it replaces (`old`)."""
        return self.folder / f".{target}.{self.token}.{ending}"

    def begin(self, target: str) -> None:
        """Say that a file is to appear, or to go."""
        self.targets.append(target)
        self._write({"target": target})

    def replace(self, inodes: Mapping[str, int], *, has_way_back: bool) -> None:
        """Say that files are being replaced now, by new ones with these numbers; on the disk when this returns."""
        self.is_settled = False
        self._write({"replacing": dict(inodes), "way back": has_way_back})
        os.fsync(self.handle)

    def turn_back(self) -> None:
        """Say that the files that were replaced are to return, even if all new ones have appeared."""
        self._write({"turned back": True})
        os.fsync(self.handle)

    def close(self) -> None:
        """End. If nothing is unfinished, remove what was waiting and the journal too; else leave it to a later run.

        It can be called again if it was interrupted.
        """
        if self.handle < 0:
            return
        if self.is_settled:
            for target in self.targets:
                self.name(target, "part").unlink(missing_ok=True)
                self.name(target, "old").unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
        handle, self.handle = self.handle, -1
        os.close(handle)

    def _write(self, line: Mapping[str, Any]) -> None:
        os.write(self.handle, (json.dumps(line) + "\n").encode())


def open_journal(folder: Path) -> Journal:
    """A new journal in a folder, locked."""
    while True:
        token = secrets.token_hex(4)
        path = folder / f".overt-{token}.unfinished"
        with suppress(FileExistsError):
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
            try:
                mode = os.fstat(handle).st_mode & 0o777  # what the umask leaves; the file is empty still
                path.chmod(0o600)
                _lock(handle, wait=True)
            except BaseException:
                path.unlink(missing_ok=True)
                os.close(handle)
                raise
            return Journal(folder, token, handle, mode)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep others from looking for journals in a folder, and from beginning one, for a moment."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder cannot be opened on every system
        yield
        return
    try:
        _lock(handle, wait=True)
        yield
    finally:
        os.close(handle)


def names_being_written(folder: Path, but: Collection[str] = ()) -> set[str]:
    """The files of a folder that living runs are writing, other than those with these tokens."""
    names: set[str] = set()
    for token, handle in _journals(folder):
        if token not in but and _lock(handle) is False:
            names |= set(_read(handle).targets)
        os.close(handle)
    return names


def clear_unfinished(folder: Path) -> tuple[str, ...]:
    """Remove what dead runs left in a folder, and put back what they had begun to replace: the names of the files."""
    cleared: list[str] = []
    if not folder.is_dir():
        return ()
    with alone_in(folder):
        for token, handle in _journals(folder):
            if _lock(handle) is True:
                written = _read(handle)
                journal = Journal(folder, token, handle, 0o600, written.targets)
                waiting = {
                    end: [t for t in written.targets if journal.name(t, end).exists()] for end in ("part", "old")
                }
                if written.turned_back or (written.inodes and waiting["part"]):
                    for target in sorted(written.targets, key=lambda name: name.endswith(CLAIMING)):
                        put_back(journal, target, written.inodes.get(target), keep_old=written.has_way_back)
                cleared += waiting["part"] + waiting["old"]
                journal.close()
            else:
                os.close(handle)
    return tuple(sorted(set(cleared)))


def put_back(journal: Journal, target: str, inode: int | None, *, keep_old: bool) -> None:
    """Take a new file away if it has appeared, and let the one that it replaced return."""
    path, old = journal.folder / target, journal.name(target, "old")
    if keep_old and old.exists():
        old.replace(path)
    elif inode is not None and path.exists() and path.lstat().st_ino == inode:
        path.unlink()


def _journals(folder: Path) -> Iterator[tuple[str, int]]:
    """The token and an open handle of every journal in a folder that this user has begun."""
    for path in sorted(folder.glob(".overt-*.unfinished")):
        found = _JOURNAL.fullmatch(path.name)
        if found is not None:
            with suppress(OSError):  # gone meanwhile, a link, or another user's
                handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                if not _is_own(os.fstat(handle)):
                    os.close(handle)
                    continue
                yield found[1], handle


@dataclass
class _Lines:
    """What a journal says."""

    targets: list[str] = field(default_factory=list)
    inodes: dict[str, int] = field(default_factory=dict)  # (target) -> the number that the disk gave the new file
    has_way_back: bool = True
    turned_back: bool = False


def _is_file_name(name: str) -> bool:
    is_short = len(os.fsencode(name)) <= _LONGEST_NAME
    return is_short and name not in ("", ".", "..") and Path(name).name == name and "\0" not in name


def _read(handle: int) -> _Lines:
    found = _Lines()
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as file:
        for text in file.read().splitlines():
            with suppress(
                ValueError, TypeError, AttributeError, OverflowError, RecursionError
            ):  # half written, or made up
                line = json.loads(text)
                name = line.get("target")
                if isinstance(name, str) and _is_file_name(name):
                    found.targets.append(name)
                found.inodes |= {str(name): int(inode) for name, inode in line.get("replacing", {}).items()}
                found.has_way_back &= line.get("way back", True) is True
                found.turned_back |= "turned back" in line
    return found


if os.name == "nt":  # pragma: no cover

    def _is_own(journal: os.stat_result) -> bool:
        """Windows says nothing of this here."""
        return stat.S_ISREG(journal.st_mode)

    def _lock(handle: int, *, wait: bool = False) -> bool | None:
        """Windows locks bytes against their owner too: who lives is not known there."""
        return None

else:

    def _is_own(journal: os.stat_result) -> bool:
        """Whether a journal that could be opened is this user's. Another's would make us remove files that they may not remove.

        A journal with words in it can be read by its owner alone, so whoever may open it is that, or passes over rights as an administrator does.
        This holds also where a file system says something else of who owns a file.
        """
        if not stat.S_ISREG(journal.st_mode):
            return False
        if journal.st_uid == os.geteuid():
            return True
        return os.geteuid() != 0 and not stat.S_IMODE(journal.st_mode) & 0o077

    def _lock(handle: int, *, wait: bool = False) -> bool | None:
        """Lock a file as long as this process lives: False if another holds it, None if its file system has no locks."""
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True
