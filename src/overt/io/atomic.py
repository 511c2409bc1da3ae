# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all.

Each file is written under a hidden temporary name in the folder where it belongs, forced to the disk, and renamed
when all of them are complete. If anything goes wrong before, an interrupt included, the temporary files are removed;
if it goes wrong between two renames, the files that have appeared are taken back and those they replaced return.
`NothingAfterAll`, raised inside, does the same without being an error.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from overt.errors import InvalidInput


class NothingAfterAll(Exception):
    """What was staged shall not appear."""


@dataclass(frozen=True)
class _Staged:
    target: Path
    written: Path  # the new file under its temporary name
    replaced: Path  # where the file that it replaces waits until all is done


@contextmanager
def all_or_nothing(*, overwrite: bool = False) -> Iterator[Callable[[Path], Path]]:
    """Hand out `stage(target) -> temporary path`; on leaving, every staged file takes its target's name, or none does."""
    staged: list[_Staged] = []

    def stage(target: Path) -> Path:
        _refuse_taken(target, overwrite)
        token = secrets.token_hex(4)
        names = (target.with_name(f".{target.name}.{token}.{end}") for end in ("part", "old"))
        staged.append(_Staged(target, *names))
        # made here and not by a library, with the rights that the user's umask gives a new file
        os.close(os.open(staged[-1].written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        return staged[-1].written

    try:
        yield stage
        for file in staged:
            _force_to_disk(file.written)
        for file in staged:
            _refuse_taken(file.target, overwrite)
        _swap_in(staged)
    except NothingAfterAll:
        return
    finally:
        for file in staged:
            file.written.unlink(missing_ok=True)
    for file in staged:
        file.replaced.unlink(missing_ok=True)
    for folder in {file.target.parent for file in staged}:
        _force_to_disk(folder)


def _swap_in(staged: list[_Staged]) -> None:
    try:
        for file in staged:
            if file.target.exists():
                file.target.rename(file.replaced)
            file.written.rename(file.target)
    except BaseException:
        for file in staged:
            if file.replaced.exists():
                file.replaced.replace(file.target)
            elif not file.written.exists():
                file.target.unlink(missing_ok=True)
        raise


def _refuse_taken(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder; name the file to write.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent} to write {target.name} into; make it first.")
    if target.exists() and not overwrite:
        raise InvalidInput(f"{target} exists already; choose another name, or ask to overwrite it.")


def _force_to_disk(path: Path) -> None:
    with suppress(PermissionError):  # a folder cannot be opened on every system
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
