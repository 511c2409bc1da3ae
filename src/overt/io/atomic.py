# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all.

Each file is written under a hidden temporary name in the folder where it belongs, readable by nobody else, forced to the disk,
and renamed when all of them are complete. If anything goes wrong before, an interrupt included, the temporary files are
removed; if it goes wrong between two renames, the files that have appeared are taken back and those they replaced return.
What a process that is killed leaves is cleared by the next one that writes into the folder (`overt.io.unfinished`).
`NothingAfterAll`, raised inside, does the same without being an error.

First all files that are replaced go, a manifest before the others; then the new ones come, the manifest last. So at no moment
does a manifest lie beside files that it was not written for.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from overt.audience import OWNERS_MODE, mode_of
from overt.errors import InvalidInput
from overt.io.unfinished import (
    CLAIMING,
    Journal,
    alone_in,
    clear_unfinished,
    names_being_written,
    open_journal,
    put_back,
)


class NothingAfterAll(Exception):
    """What was staged shall not appear."""


@dataclass(frozen=True)
class _Staged:
    target: Path
    journal: Journal
    is_new: bool = True  # or only to go

    @property
    def written(self) -> Path:
        return self.journal.name(self.target.name, "part")

    @property
    def replaced(self) -> Path:
        return self.journal.name(self.target.name, "old")


@contextmanager
def all_or_nothing(
    *,
    overwrite: bool = False,
    for_owner: bool = False,
    going: Collection[Path] = (),
    commit: Callable[[], None] | None = None,
) -> Iterator[Callable[[Path], Path]]:
    """Hand out `stage(target) -> temporary path`; on leaving, every staged file takes its target's name, or none does.

    A file whose name says that it is for the owner can be read by its owner alone, and with `for_owner` every one can. The files in
    `going`, if they are there, go with those that are replaced. `commit` is called when the old files are gone and before the new
    ones appear; if it raises, everything is as before, and when it has returned nothing old comes back.
    """
    staged: list[_Staged] = []
    journals: dict[Path, Journal] = {}

    def begin(target: Path, *, is_new: bool) -> _Staged:
        folder = target.parent
        if folder not in journals:
            clear_unfinished(folder)
        with alone_in(folder):
            mine = {journal.token for journal in journals.values()}
            _refuse_being_written(target, names_being_written(folder, but=mine))
            if folder not in journals:
                journals[folder] = open_journal(folder)
            journals[folder].begin(target.name)
            staged.append(_Staged(target, journals[folder], is_new))
            return staged[-1]

    def stage(target: Path) -> Path:
        _refuse_taken(target, overwrite)
        written = begin(target, is_new=True).written
        # made here and not by a library: until it appears, only this user may read it
        os.close(os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return written

    try:
        yield stage
        for path in going:
            if path.exists() and path not in [file.target for file in staged]:
                begin(path, is_new=False)
        for file in staged:
            if file.is_new:
                _force_to_disk(file.written)
                _refuse_taken(file.target, overwrite)
        _swap_in(sorted(staged, key=lambda file: file.target.name.endswith(CLAIMING)), commit, for_owner=for_owner)
        for folder in journals:
            _force_to_disk(folder)
    except NothingAfterAll:
        return
    finally:
        _close(journals.values())


def _close(journals: Collection[Journal]) -> None:
    """End all journals, also if an interrupt comes while they end: what is settled is cleared up all the same."""
    try:
        for journal in journals:
            journal.close()
    except BaseException:
        for journal in journals:
            journal.close()
        raise


def refuse_being_written(target: Path) -> None:
    """Refuse a file that another run is writing at this moment."""
    with alone_in(target.parent):
        _refuse_being_written(target, names_being_written(target.parent))


def _swap_in(staged: list[_Staged], commit: Callable[[], None] | None, *, for_owner: bool) -> None:
    """Let the old files go, the last first, and the new ones come."""
    inodes = {file.target: file.written.stat().st_ino for file in staged if file.is_new}
    journals = {file.journal.token: file.journal for file in staged}.values()
    has_way_back = True
    try:
        for journal in journals:
            here = {target.name: inode for target, inode in inodes.items() if target.parent == journal.folder}
            journal.replace(here, has_way_back=commit is None)
        for file in reversed(staged):
            if file.target.exists():
                file.target.rename(file.replaced)
        if commit is not None:
            commit()
            has_way_back = False
        for file in staged:
            if file.is_new:
                file.written.chmod((OWNERS_MODE if for_owner else mode_of(file.target)) & file.journal.mode)
                file.written.rename(file.target)
    except BaseException:
        for journal in journals:
            journal.turn_back()
        for file in staged:
            put_back(file.journal, file.target.name, inodes.get(file.target), keep_old=has_way_back)
        _settle(journals)
        raise
    _settle(journals)


def _settle(journals: Iterable[Journal]) -> None:
    for journal in journals:
        journal.is_settled = True


def _refuse_taken(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder; name the file to write.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent} to write {target.name} into; make it first.")
    if target.exists() and not overwrite:
        raise InvalidInput(f"{target} exists already; choose another name, or ask to overwrite it.")


def _refuse_being_written(target: Path, names: set[str]) -> None:
    if target.name in names:
        raise InvalidInput(
            f"Another run is writing {target} at this moment; wait until it is done, or name another file."
        )


def _force_to_disk(path: Path) -> None:
    with suppress(PermissionError):  # a folder cannot be opened on every system
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
