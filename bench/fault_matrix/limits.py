# SPDX-License-Identifier: Apache-2.0
"""Limits: a disk that is full, files that may not grow, folders that cannot be written, folders that go away.

A full disk is a small file system in memory, mounted in a name space of this process alone. Where that is not allowed (it takes
the rights of root), the limit of the size of a file stands in for it.
"""

import ctypes
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bench.fault_matrix.folders import FILLER
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import start_forked
from bench.fault_matrix.scenes import Prepared, Stage
from bench.fault_matrix.verdicts import DATA, OK, TOO_LARGE, why_bad_words, why_neither, why_not_done, why_not_untouched

_NEW_MOUNTS = 0x00020000
_PASSING_OVER_RIGHTS = (1, 2, 3)  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
_DROP_FROM_BOUNDS = 24


@cache
def can_mount() -> bool:
    """Whether this process may mount file systems for itself; from then on what it mounts is seen by nobody else."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() or libc.unshare(_NEW_MOUNTS):
        return False
    made = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False)
    return made.returncode == 0


def full_disks(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """The folder, or the one for temporary files, has room for a part of what is to be written."""
    if not can_mount():
        return
    for number in range(n):
        folder = stage.fresh(prepared)
        is_temporary = number % 4 == 3
        full = stage.scratch() / "tmp" if is_temporary else folder
        full.mkdir(parents=True, exist_ok=True)
        there = sum(4096 * (1 + path.stat().st_size // 4096) for path in folder.rglob("*") if path.is_file())
        room = draw.choice((0, 4, 8, 12, 16, 24, 32)) << 10
        size = (0 if is_temporary else there) + room + (8 << 10)
        kept = folder.with_name("kept")
        if not is_temporary:
            shutil.copytree(folder, kept)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size >> 10}k,mode=700", "tmpfs", full], check=True)
        try:
            if not is_temporary:
                shutil.copytree(kept, folder, dirs_exist_ok=True)
                _fill(folder, room)
            yield Fault(
                "full disk",
                prepared.scene.name,
                f"{room >> 10} KiB of room for {'temporary files' if is_temporary else 'output'}",
                _tried(stage, prepared, folder),
            )
        finally:
            subprocess.run(["umount", "-l", full], check=True)
        shutil.rmtree(kept, ignore_errors=True)
        stage.strike()


def small_files(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """No file may grow beyond some bytes."""
    for _ in range(n):
        most = draw.choice((1_000, 1_500, 2_000, 3_000, 5_000, 20_000))  # a message has room

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        yield _limited(stage, prepared, "files may not grow", f"beyond {most} bytes", limit)


def few_handles(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """Only few files may be open."""
    for _ in range(n):
        more = draw.randint(1, 8)

        def limit(more: int = more) -> None:
            there = len(list(Path("/proc/self/fd").iterdir()))
            resource.setrlimit(resource.RLIMIT_NOFILE, (there + more, there + more))

        yield _limited(
            stage, prepared, "few open files", f"{more} more", limit
        )  # what cannot be removed goes at the next start


def read_only(stage: Stage, prepared: Prepared) -> Iterator[Fault]:
    """The folder of the output cannot be written: its rights say so, or its disk."""
    folder = stage.fresh(prepared)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o555)
    problem = _tried(stage, prepared, folder, obey_rights)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    yield Fault("read-only output", prepared.scene.name, "by the rights of the folder", problem)
    stage.strike()
    if can_mount():
        folder = stage.fresh(prepared)
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        try:
            problem = _tried(stage, prepared, folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
        yield Fault("read-only output", prepared.scene.name, "by its disk", problem)
        stage.strike()


def _limited(stage: Stage, prepared: Prepared, kind: str, what: str, limit: Callable[[], Any]) -> Fault:
    folder = stage.fresh(prepared)
    problem = _tried(stage, prepared, folder, limit)
    stage.strike()
    return Fault(kind, prepared.scene.name, what, problem)


def _tried(stage: Stage, prepared: Prepared, folder: Path, limit: Callable[[], Any] | None = None) -> str:
    """What is wrong after a command that may or may not have had enough of something."""
    words = prepared.scene.words
    ended = start_forked(words, folder, stage.scratch(), prepare=limit, environment=prepared.scene.environment).wait()
    if ended.code == OK:
        return why_bad_words(ended, {OK}) or why_not_done(folder, stage.scratch(), prepared)
    why = why_bad_words(ended, {DATA, TOO_LARGE})
    if why or not why_not_untouched(folder, stage.scratch(), prepared.old):
        return why
    why = why_neither(folder, stage.scratch(), prepared)
    if not why.startswith("left"):
        return why
    again = start_forked(words, folder, stage.scratch(), environment=prepared.scene.environment).wait()
    after = why_bad_words(again, {OK}) or why_not_done(folder, stage.scratch(), prepared)
    return f"after the next start, {after}" if after else ""


def _fill(folder: Path, room: int) -> None:
    """Leave so much room and no more."""
    found = os.statvfs(folder)
    spare = found.f_bavail * found.f_frsize - room
    if spare > 0:
        (folder / FILLER).write_bytes(b"\0" * spare)


def obey_rights() -> None:
    """Give up what lets root pass over the rights of files (three capabilities of Linux), here and in what is started from here."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in _PASSING_OVER_RIGHTS:
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data):
        raise OSError(ctypes.get_errno(), "capget")
    data[0] &= ~sum(1 << capability for capability in _PASSING_OVER_RIGHTS)  # what is in effect
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")
