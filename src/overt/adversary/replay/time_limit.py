# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_engines.py
"""Limits: what cannot be replayed, time for finding out what was tried, beyond which nothing is known of anybody, and for sampling."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import Posterior, Sampled
from overt.errors import InvalidInput
from overt.progress import Progress
from overt.trace import Trials

STAGE = "Sampling tables that give the same release"


class OutOfTime(Exception):
    """What was tried is not known in the time there was."""


class NotReplayed(InvalidInput):
    """How a release was made is not followed, whatever the time. Of an audit: nothing is known of anybody, and this says why."""


def until(deadline: float, several: Iterable[Trials]) -> Iterator[Trials]:
    """The same trials, as long as there is time."""
    for trials in several:
        if time.perf_counter() > deadline:
            raise OutOfTime
        yield trials


def in_time(deadline: float, on_progress: Progress) -> Progress:
    """The same progress, as long as there is time: work that says how far it is ends soon after the deadline."""

    def say(stage: str, done: int, total: int) -> None:
        if time.perf_counter() > deadline:
            raise OutOfTime
        on_progress(stage, done, total)

    return say


def not_known(alone: Posterior, seconds: float, why: str = "") -> Posterior:
    """What the release alone says, and that nobody knows more after so many seconds; `why` none would be enough."""
    n_cells = len(alone.chance)
    sampled = Sampled(0, 0, 0.0, seconds, np.full(n_cells, np.inf), needed=None if why else 4 * seconds, why=why)
    error, is_known = np.full_like(alone.chance, 0.5), np.zeros(n_cells, np.bool_)
    return replace(alone, error=error, how="sampling", sampled=sampled, is_known=is_known)


def unsupported(found: Posterior) -> Posterior:
    """An estimate by chains that all begin at the true table: they may never have left its surroundings, so it supports no verdict."""
    if found.is_exact:
        return found
    is_known = np.zeros(len(found.chance), np.bool_)
    unsaid = np.full((2, *found.chance.shape), np.nan)
    return replace(found, error=np.maximum(found.error, 0.5), parts=unsaid, is_known=is_known)


@dataclass(eq=False)
class Watch:
    """How long there is."""

    seconds: float
    on_progress: Progress
    began: float = field(default_factory=time.perf_counter)
    stop: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, np.bool_))

    @property
    def used(self) -> float:
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        return self.seconds - self.used

    def look(self) -> None:
        """Say how far it is, and let runs end when there is no time left."""
        if self.left < 0:
            self.stop[0] = True
        self.on_progress(STAGE, min(99, int(100 * self.used / self.seconds)), 100)
