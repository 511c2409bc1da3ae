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
SOON, LEAST_SHARE = 5.0, 0.02  # seconds and share of a stage after which it is said how much longer it takes
MOST_LEAVING = 3  # threads that still have to notice that their job was cancelled


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
    before_others: bool = False  # whether a page stands still for it
    state: JobState = "waiting"
    stage: str = ""
    share: float | None = None  # of the stage; None if that is not known
    begun: float = 0.0
    ended: float = 0.0
    error: str = ""  # in the library's words
    result: Any = field(default=None, repr=False)
    changed: int = 0  # goes up with every change, so that a page can ask for what is new
    stage_begun: float = field(default=0.0, repr=False)
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
    def seconds_left(self) -> float | None:
        """How much longer the stage takes if it goes on as it went; None before that can be said."""
        spent = time.monotonic() - self.stage_begun
        if self.state != "running" or self.share is None or spent < SOON or self.share < LEAST_SHARE:
            return None
        return max(0.0, spent * (1 - self.share) / self.share)

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
        if stage != self.stage:
            self.stage_begun = time.monotonic()
        self.stage, self.share = stage, done / total if total else None
        self.changed += 1

    def cancel(self) -> None:
        """It is over at once; the work itself stops when it next says how far it is, and what comes of it is dropped."""
        self._stop.set()
        self.end("cancelled")


class Jobs:
    """A queue that is worked off one job after the other: the compiled loops use all cores, and the pages stay quick.

    A job that is cancelled is over at once, but the thread that works on it notices only when the work next says how far it is. Until then
    another thread goes on with the queue. So many threads at most have not noticed yet; then the queue waits for the first of them that does.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._waiting: deque[Job] = deque()
        self._all: dict[int, Job] = {}
        self._ready = threading.Condition()
        self._is_closed = False
        self._current: Job | None = None  # what the queue is at
        self._threads: list[threading.Thread] = []
        self._has_idle = False  # whether a thread waits for the next job
        self._hire()

    def _hire(self) -> None:
        worker = threading.Thread(target=self._run, name="overt-studio-jobs", daemon=True)
        worker.start()
        self._threads.append(worker)

    def add(
        self,
        session: str,
        title: str,
        work: Callable[[Progress], Any],
        *,
        is_run: bool = False,
        before_others: bool = False,
    ) -> Job:
        """Put a piece of work at the end of the queue, or, if a page stands still for it, before those that no page stands still for."""
        with self._ready:
            self._waiting = deque(job for job in self._waiting if not job.is_over)
            others = [job for job in self._waiting if not job.before_others]
            if len(others) >= MOST_WAITING and not before_others:
                raise TooLarge(f"{MOST_WAITING} runs are waiting already; cancel some of them, or wait.")
            job = Job(next(self._numbers), session, title, work, is_run, before_others)
            self._all[job.number] = job
            self._waiting.insert(len(self._waiting) - len(others) if before_others else len(self._waiting), job)
            self._ready.notify_all()
        return job

    def drop(self, job: Job) -> None:
        """Stop a job that nobody asks about any more, and forget it with all that came of it."""
        self.cancel(job)
        with self._ready:
            self._all.pop(job.number, None)

    def open(self, session: str) -> list[Job]:
        """What runs or waits of a session, in the order of the queue."""
        with self._ready:
            line = [one.number for one in self._waiting]
        place = {number: n for n, number in enumerate(line)}
        return sorted((job for job in self.of(session) if not job.is_over), key=lambda job: place.get(job.number, -1))

    def n_ahead(self, job: Job) -> int:
        """How many jobs, also of other tables, are over before a waiting one begins."""
        with self._ready:
            line = [one for one in (self._current, *self._waiting) if one is not None and not one.is_over]
            return line.index(job) if job in line else 0

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
            job.cancel()
            if self._current is job:
                self._current = None
                self._threads = [one for one in self._threads if one.is_alive()]
                if not self._has_idle and not self._is_closed and len(self._threads) <= MOST_LEAVING:
                    self._hire()
                self._ready.notify_all()

    def forget(self, session: str) -> None:
        """Cancel and drop everything of a session."""
        for job in self.of(session):
            self.drop(job)

    def close(self, patience: float = 5.0) -> None:
        """Cancel everything and wait for the threads."""
        with self._ready:
            self._is_closed = True
            for job in self._all.values():
                job.cancel()
            self._ready.notify_all()
        until = time.monotonic() + patience
        for worker in self._threads:
            worker.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while (job := self._next()) is not None:
            _work(job)
            with self._ready:
                if self._current is job:
                    self._current = None
                    self._ready.notify_all()

    def _next(self) -> Job | None:
        """The job that this thread works on next; None if it is not needed any more, because another waits for it already."""
        with self._ready:
            if self._has_idle:
                return None
            self._has_idle = True
            try:
                while not self._is_closed:
                    while self._current is None and self._waiting:
                        job = self._waiting.popleft()
                        if job.state == "waiting":
                            job.state, job.begun = "running", time.monotonic()
                            self._current = job
                            return job
                    self._ready.wait()
                return None
            finally:
                self._has_idle = False


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
