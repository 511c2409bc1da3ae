# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_engines.py
"""Limits on time: for finding out what was tried, beyond which nothing is known of anybody, and for sampling."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import Posterior, Sampled
from overt.progress import Progress
from overt.trace import Trials

STAGE = "Sampling tables that give the same release"


class OutOfTime(Exception):
    """What was tried is not known in the time there was."""


def until(deadline: float, several: Iterable[Trials]) -> Iterator[Trials]:
    """The same trials, as long as there is time."""
    for trials in several:
        if time.perf_counter() > deadline:
            raise OutOfTime
        yield trials


def not_known(alone: Posterior, seconds: float) -> Posterior:
    """What the release alone says, and that nobody knows more after so many seconds."""
    n_cells = len(alone.chance)
    sampled = Sampled(0, 0, 0.0, seconds, np.full(n_cells, np.inf), needed=4 * seconds)
    error, is_known = np.full_like(alone.chance, 0.5), np.zeros(n_cells, np.bool_)
    return replace(alone, error=error, how="sampling", sampled=sampled, is_known=is_known)


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
