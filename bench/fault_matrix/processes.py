# SPDX-License-Identifier: Apache-2.0
"""Commands in processes that are made to fail: killed at a change of the disk or at a moment, limited, or under another user.

A process that has imported Overt, and has read no data yet, is forked for every fault, which takes a third of the time of a start. Faults at a random
moment of the clock use a process of their own, as a person starts it. A change is what Python does to a folder (a file is opened for
writing, written, forced to the disk, renamed, removed): each is seen just before it happens.
"""

import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 180.0  # seconds before a command counts as hanging
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
_MODULES = [
    "overt.cli.run",
    "overt.cli.check",
    "overt.cli.init",
    "overt.cli.audit",
    "overt.cli.compare",
    "overt.cli.budget",
    "overt.cli.demo",
    "overt.cli.risk",
    "overt.cli.progress",
    "overt.engine.run",
    "overt.engine.dp_run",
    "overt.engine.audit",
    "overt.engine.compare",
    "overt.engine.init",
    "overt.engine.check",
    "overt.engine.quick_audit",
    "overt.engine.risk",
    "overt.engine.scale.scaled_run",
    "overt.engine.scale.local",
    "overt.io.database.writing",
    "overt.report.html",
    "overt.report.public_html",
    "overt.report.leak",
    "overt.samples",
]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or minus the signal that killed it, and what it printed."""

    code: int
    said: str
    complained: str
    n_changes: int
    seconds: float


@dataclass
class Running:
    """A command that was started, and where its words go."""

    process: int
    scratch: Path
    begun: float
    counter: mmap.mmap | None = None
    kill_after: float | None = None
    with_signal: int = signal.SIGKILL
    ended: Ended | None = field(default=None, repr=False)

    def wait(self) -> Ended:
        """Wait for its end, or bring it about; everything that it started ends with it."""
        if self.ended is not None:
            return self.ended
        status = self._status()
        _end_group(self.process)
        said, complained = ((self.scratch / name).read_text("utf-8", "replace") for name in ("said", "complained"))
        n = 0 if self.counter is None else struct.unpack("q", self.counter[:8])[0]
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        self.ended = Ended(code, said, complained, n, time.monotonic() - self.begun)
        return self.ended

    def _status(self) -> int:
        is_hit = self.kill_after is None
        while True:
            found, status = os.waitpid(self.process, os.WNOHANG)
            if found:
                return status
            passed = time.monotonic() - self.begun
            if not is_hit and self.kill_after is not None and passed >= self.kill_after:
                os.kill(self.process, self.with_signal)
                is_hit = True
            if passed > PATIENCE:
                os.killpg(self.process, signal.SIGKILL)
            time.sleep(0.002 if not is_hit else 0.005)


def warm_up() -> None:
    """Import what commands import, so that a fork need not."""
    from importlib import import_module

    for name in _MODULES:
        import_module(name)
    threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    if "polars-0" in threads:
        raise RuntimeError(
            "A module makes Polars work when it is imported, which costs every command time and lets no fork work."
        )


def start_forked(
    words: Sequence[str],
    folder: Path,
    scratch: Path,
    *,
    kill_at: int | None = None,
    kill_after: float | None = None,
    with_signal: int = signal.SIGKILL,
    prepare: Callable[[], Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Running:
    """Start a command in a fork of this process; `prepare` is called in it first. It is killed at its nth change, or after some seconds."""
    counter = mmap.mmap(-1, 8)
    _make_scratch(scratch)
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return Running(process, scratch, time.monotonic(), counter, kill_after, with_signal)
    try:
        _take_over(folder, scratch, environment or {})
        _watch_changes(counter, kill_at, with_signal, (folder, scratch))
        if prepare is not None:
            prepare()
        from overt.cli import main

        code = main(list(words))
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    except BaseException:
        traceback.print_exc()
        code = 99
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            code = 98
        os._exit(code)


def start_alone(
    words: Sequence[str],
    folder: Path,
    scratch: Path,
    *,
    kill_after: float | None = None,
    with_signal: int = signal.SIGKILL,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Running:
    """Start a command as a person does, and kill it after some seconds."""
    _make_scratch(scratch)
    with (scratch / "said").open("wb") as said, (scratch / "complained").open("wb") as complained:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "overt", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=complained,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(scratch / "tmp"), **(environment or {})},
        )
    process.returncode = 0  # `Running` waits for it
    return Running(process.pid, scratch, time.monotonic(), None, kill_after, with_signal)


def in_fork(work: Callable[[], Any], folder: Path, scratch: Path) -> None:
    """Do something in a fork, so that this process never starts the threads that a fork would lack."""
    _make_scratch(scratch)
    sys.stdout.flush()
    process = os.fork()
    if not process:
        try:
            _take_over(folder, scratch, {})
            work()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    ended = Running(process, scratch, time.monotonic()).wait()
    if ended.code:
        raise RuntimeError(f"This could not be prepared: {ended.complained}")


def _make_scratch(scratch: Path) -> None:
    for name in ("tmp", "home"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    for name in ("said", "complained"):
        (scratch / name).write_bytes(b"")


def _take_over(folder: Path, scratch: Path, environment: Mapping[str, str]) -> None:
    os.setsid()
    for number, name in ((1, "said"), (2, "complained")):
        handle = os.open(scratch / name, os.O_WRONLY)
        os.dup2(handle, number)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(environment, TMPDIR=str(scratch / "tmp"))
    tempfile.tempdir = None
    os.chdir(folder)


def _watch_changes(counter: mmap.mmap, kill_at: int | None, with_signal: int, roots: Sequence[Path]) -> None:
    """Count changes of these folders, and kill this process just before the nth."""
    inside, n = tuple(map(str, roots)), 0

    def change() -> None:
        nonlocal n
        n += 1
        counter[:8] = struct.pack("q", n)
        if n == kill_at:
            os.kill(os.getpid(), with_signal)

    def hook(event: str, of: tuple[Any, ...]) -> None:
        if event == "open":
            if not isinstance(of[2], int) or not of[2] & _WRITES:
                return
        elif event not in _CHANGES:
            return
        if isinstance(of[0], str | os.PathLike):
            path = Path(of[0])
            if not path.is_absolute() or str(path).startswith(inside):
                change()

    def before(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **more: Any) -> Any:
            change()
            return call(*words, **more)

        return counted

    sys.addaudithook(hook)
    os.fsync, os.write = before(os.fsync), before(os.write)


def _end_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
