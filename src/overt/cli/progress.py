# SPDX-License-Identifier: Apache-2.0
"""Progress for people: a bar in a terminal, a line per stage elsewhere, nothing when asked to be quiet."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import overt.kernels
from overt.progress import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

COMPILING = "Compiling; on this machine the first runs of a command take some seconds longer"
PATIENCE = 1.0  # seconds before a bar appears: a quick run leaves the terminal alone


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Progress]:
    """A callback for long work, shown on standard error while the block runs."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        bar = _TerminalBar()
        try:
            with _compilations_told_to(bar):
                yield bar
        finally:
            bar.stop()
    else:
        lines = _Lines()
        with _compilations_told_to(lines):
            yield lines


class _Lines:
    """One plain line for each stage, when it begins."""

    def __init__(self) -> None:
        self.latest = ""
        self.told_of_compiling = False
        self.lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        with self.lock:
            if stage == COMPILING:  # comes between, and the stage goes on
                is_new, self.told_of_compiling = not self.told_of_compiling, True
            else:
                is_new, self.latest = stage != self.latest, stage
            if is_new:
                sys.stderr.write(f"{stage}\n")
                sys.stderr.flush()


class _TerminalBar:
    """A bar that appears once the work has lasted a second, and leaves no trace."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.latest = ("starting", 0, 0)
        self.bar: Bar | None = None
        self.stopped = False
        self.timer = threading.Timer(PATIENCE, self.start)
        self.timer.daemon = True
        self.timer.start()

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        with self.lock:
            if self.stopped:
                return
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
            )
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.add_task("starting", total=None)
            self.bar.start()
        self(*self.latest)

    def __call__(self, stage: str, done: int, total: int) -> None:
        with self.lock:
            self.latest = (stage, done, total)
            if self.bar is not None:
                self.bar.update(self.bar.task_ids[0], description=stage, completed=done, total=total or None)

    def stop(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.stopped = True
            if self.bar is not None:
                self.bar.stop()


@contextmanager
def _compilations_told_to(on_progress: Progress) -> Iterator[None]:
    """Say so when Numba compiles: it happens once on a machine, takes seconds and looks like a hang."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            if is_first():
                on_progress(COMPILING, 0, 0)

        def on_end(self, event: Any) -> None:
            """Whoever asked for the kernel says what comes next."""

    is_first = cache(_first_on_this_machine)  # asked once, when something compiles
    with event.install_listener("numba:compile", Listener()):
        yield


def _first_on_this_machine() -> bool:
    """Whether nobody was told yet that this version compiles; from now on somebody was."""
    version = metadata.version("overt")
    for folder in (Path(overt.kernels.__file__).parent / "__pycache__", Path.home() / ".cache" / "overt"):
        told = folder / f"told-of-compiling-{version}-{sys.version_info.major}{sys.version_info.minor}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            told.touch(exist_ok=False)
        except FileExistsError:
            return False
        except OSError:  # a folder that is read-only: the next one
            continue
        return True
    return True
