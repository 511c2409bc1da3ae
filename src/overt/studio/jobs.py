# SPDX-License-Identifier: Apache-2.0
"""Jobs: what takes long runs in a queue beside the pages, says how far it is, and stops when it is cancelled."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from overt.errors import OvertError, TooLarge
from overt.progress import Progress

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
MOST_WAITING = 20
MOST_LEAVING = 3  # workers that still have to notice that their job was cancelled


class JobCancelled(BaseException):
    """Raised inside a job's work at its next word about progress. No `except Exception` of a library swallows it."""


@dataclass(eq=False)
class Job:
    """One piece of work: what it is, how far it is, and what came of it."""

    number: int
    session: str
    title: str
    work: Callable[[Progress], Any] = field(repr=False)
    is_run: bool = False  # whether it makes a release, or else measures what is there
    state: JobState = "waiting"
    stage: str = ""
    share: float | None = None  # of the stage; None if that is not known
    begun: float = 0.0
    ended: float = 0.0
    error: str = ""  # in the library's words
    result: Any = field(default=None, repr=False)
    changed: int = 0  # goes up with every change, so that a page can ask for what is new
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    def end(self, state: JobState) -> None:
        """Nothing more comes of it. What is over stays as it is."""
        if not self.is_over:
            self.state = state
            self.ended = time.monotonic()  # after the state: who asked later than this has seen that it is over
            self.changed += 1
            self._over.set()

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return 0.0 if not self.begun else (self.ended or time.monotonic()) - self.begun

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ("done", "failed", "cancelled")

    def wait(self, patience: float) -> bool:
        """Wait for the end, but no longer than so many seconds. Whether it is over."""
        return self._over.wait(patience)

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """The library's progress hook: remembers how far it is, and stops the work if that was asked for."""
        if self._stop.is_set():
            raise JobCancelled
        self.stage, self.share = stage, done / total if total else None
        self.changed += 1

    def cancel(self) -> None:
        """It is over at once; the work itself stops when it next says how far it is, and what comes of it is dropped."""
        self._stop.set()
        self.end("cancelled")


class Jobs:
    """A queue with one worker: the compiled loops use all cores, and the pages stay quick.

    A job that is cancelled is over at once. Its worker may take a while to notice, so another takes the next job.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._waiting: deque[Job] = deque()
        self._all: dict[int, Job] = {}
        self._ready = threading.Condition()
        self._is_closed = False
        self._leaving: list[threading.Thread] = []  # workers whose job was cancelled, until they notice
        self._worker = self._hire()

    def _hire(self) -> threading.Thread:
        worker = threading.Thread(target=self._run, name="overt-studio-jobs", daemon=True)
        worker.start()
        return worker

    def add(self, session: str, title: str, work: Callable[[Progress], Any], *, is_run: bool = False) -> Job:
        """Put a piece of work at the end of the queue."""
        with self._ready:
            self._waiting = deque(job for job in self._waiting if not job.is_over)
            if len(self._waiting) >= MOST_WAITING:
                raise TooLarge(f"{MOST_WAITING} runs are waiting already; cancel some of them, or wait.")
            job = Job(next(self._numbers), session, title, work, is_run)
            self._all[job.number] = job
            self._waiting.append(job)
            self._ready.notify()
        return job

    def drop(self, job: Job) -> None:
        """Stop a job that nobody asks about any more, and forget it with all that came of it."""
        self.cancel(job)
        with self._ready:
            self._all.pop(job.number, None)

    def open(self, session: str) -> list[Job]:
        """What runs or waits of a session, oldest first."""
        return [job for job in self.of(session) if not job.is_over]

    def of(self, session: str) -> list[Job]:
        """All jobs of a session, oldest first."""
        return [job for job in list(self._all.values()) if job.session == session]

    def find(self, session: str, number: int) -> Job | None:
        """A job of a session by its number."""
        job = self._all.get(number)
        return job if job is not None and job.session == session else None

    def cancel(self, job: Job) -> None:
        """Stop a job, and go on with the next one."""
        with self._ready:
            was_running = job.state == "running"
            job.cancel()
            self._leaving = [worker for worker in self._leaving if worker.is_alive()]
            if was_running and not self._is_closed and len(self._leaving) < MOST_LEAVING:
                self._leaving.append(self._worker)
                self._worker = self._hire()

    def forget(self, session: str) -> None:
        """Cancel and drop everything of a session."""
        for job in self.of(session):
            self.drop(job)

    def close(self, patience: float = 5.0) -> None:
        """Cancel everything and wait for the worker."""
        with self._ready:
            self._is_closed = True
            for job in self._all.values():
                job.cancel()
            self._ready.notify()
        self._worker.join(patience)

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._waiting and not self._is_closed:
                    self._ready.wait()
                if self._is_closed:
                    return
                job = self._waiting.popleft()
                if job.state != "waiting":
                    continue
                job.state, job.begun = "running", time.monotonic()
            _work(job)
            if self._worker is not threading.current_thread():
                return  # another took this place when the job was cancelled


def _work(job: Job) -> None:
    try:
        job.on_progress("Starting", 0, 0)
        result = job.work(job.on_progress)
        if not job.is_over:
            job.result = result
        state: JobState = "done"
    except JobCancelled:
        state = "cancelled"
    except OvertError as error:
        state, job.error = "failed", str(error)
    except MemoryError:
        state, job.error = (
            "failed",
            "There was not enough memory for this run; close other programs, or use fewer rows.",
        )
    except BaseException as error:  # a panic of a compiled library is no Exception; its words may hold data
        state, job.error = (
            "failed",
            f"This run stopped because of a bug in Overt ({type(error).__name__}). Please report it.",
        )
    job.end(state)
