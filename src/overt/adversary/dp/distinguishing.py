# SPDX-License-Identifier: Apache-2.0
"""Distinguishing: what a mechanism gives away of one record, found by running it many times on two neighbours.

Nothing is known of the mechanism but how to run it. On one half of the runs an event is looked for that happens on one
database more often than e^epsilon times what it happens on the other. On the other half, which had no part in the choice,
it is counted, and confidence bounds say how often it happens at least and at most.

Paper       Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer, "Detecting Violations of Differential Privacy", CCS 2018, for
            the two halves; C. Clopper, E. Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 1934.
Implements  Events of the form "this element occurs at least (or less than) so often", and "there are so many rows".
Departs     The event is chosen by what it says of delta at the epsilon that is claimed, error allowed for.
Guarantee   A lower bound. It exceeds the truth with a chance of at most 1 - confidence, whatever the mechanism is.
            That nothing is found proves nothing: other neighbours or other events may tell more.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.progress import Progress, silent

STAGE = "Running on neighbours"

OutputCounts = Mapping[Hashable, int]  # element -> how often it is shown
MechanismRun = Callable[[Any, Generator], OutputCounts]
Counts = NDArray[np.int64]
LikelierSide = Literal["with", "without"]


@dataclass(frozen=True)
class Event:
    """The outputs that show an element (or, without one, rows) at least so often; or less than so often."""

    element: Hashable | None = field(repr=False)  # it may be close to a person: for the owner
    count: int
    at_least: bool

    def holds(self, output: OutputCounts) -> bool:
        """Whether an output is one of them."""
        shown = sum(output.values()) if self.element is None else output.get(self.element, 0)
        return (shown >= self.count) == self.at_least

    def __str__(self) -> str:
        what = "rows" if self.element is None else "copies of an element"
        return f"{self.count:,} or more {what}" if self.at_least else f"fewer than {self.count:,} {what}"


@dataclass(frozen=True)
class Evidence:
    """How often an event happened on either database, in runs that it was not chosen by."""

    event: Event
    likelier: LikelierSide  # on which database: that with the record, or that without it
    n_runs: int  # on each
    n_hits: int  # on the database where it is likelier
    n_other_hits: int
    confidence: float

    @property
    def at_least(self) -> float:
        """The chance of the event where it is likelier is at least this, but for half of 1 - confidence."""
        return least_chance(self.n_hits, self.n_runs, (1 - self.confidence) / 2)

    @property
    def other_at_most(self) -> float:
        """The chance of the event on the other database is at most this, but for the other half."""
        return 1 - least_chance(self.n_runs - self.n_other_hits, self.n_runs, (1 - self.confidence) / 2)

    def delta_at(self, epsilon: float) -> float:
        """The mechanism is not (epsilon, delta)-differentially private for any delta below this."""
        return max(0.0, self.at_least - math.exp(epsilon) * self.other_at_most)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """Nor for any epsilon below this, with such a delta."""
        excess = self.at_least - delta
        return max(0.0, math.log(excess / self.other_at_most)) if excess > 0 else 0.0

    def refutes(self, epsilon: float, delta: float) -> bool:
        """Whether a claim of (epsilon, delta) is false, but for a chance of 1 - confidence."""
        return self.delta_at(epsilon) > delta


def distinguish(
    run: MechanismRun,
    database: Any,
    neighbour: Any,
    *,
    epsilon: float,
    rng: Generator,
    n_runs: int = 2000,
    confidence: float = 0.999,
    on_progress: Progress = silent,
) -> Evidence:
    """Run a mechanism on a database and on the same without one record, and look for what tells them apart.

    `n_runs` is the number of runs on each; half of them choose the event.

    >>> def leaky(records, rng): return {"a": len(records)}
    >>> found = distinguish(leaky, [1, 2, 3], [1, 2], epsilon=1.0, rng=np.random.default_rng(0), n_runs=200)
    >>> str(found.event), found.n_hits, found.n_other_hits, found.refutes(1.0, 0.5)
    ('3 or more rows', 100, 0, True)
    """
    if n_runs < 20:
        raise InvalidInput(f"n_runs is {n_runs}; at least 20 are needed to choose an event and to count it.")
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence is {confidence!r}; a number between 0 and 1 is expected.")
    outputs: tuple[list[OutputCounts], list[OutputCounts]] = ([], [])
    for i in range(n_runs):
        on_progress(STAGE, i, n_runs)
        for one, of in zip((database, neighbour), outputs, strict=True):
            of.append(run(one, rng))
    on_progress(STAGE, n_runs, n_runs)
    n_train = n_runs // 2
    chosen = choose_event(outputs[0][:n_train], outputs[1][:n_train], epsilon)
    hits = [sum(map(chosen.event.holds, of[n_train:])) for of in outputs]
    if chosen.likelier == "without":
        hits.reverse()
    return Evidence(chosen.event, chosen.likelier, n_runs - n_train, hits[0], hits[1], confidence)


class ChosenEvent(NamedTuple):
    """An event, on which database it is likelier, and what it seems to say of delta."""

    event: Event
    likelier: LikelierSide
    score: float


def choose_event(with_record: Sequence[OutputCounts], without: Sequence[OutputCounts], epsilon: float) -> ChosenEvent:
    """The event that says most of delta at this epsilon, one standard error allowed for on either side."""
    n = len(with_record)
    best = ChosenEvent(Event(None, 0, True), "with", -math.inf)
    for element, counts in _counts_of(with_record, without).items():
        levels = np.unique(np.concatenate(counts))[1:]  # at least the least count is always there
        if not levels.size:
            continue
        at_least = [n - np.searchsorted(np.sort(of), levels) for of in counts]
        for is_at_least in (True, False):
            hits = at_least if is_at_least else [n - of for of in at_least]
            sides: tuple[tuple[LikelierSide, int], ...] = (("with", 0), ("without", 1))
            for likelier, side in sides:
                scores = _surely(hits[side], n, -1) - math.exp(epsilon) * _surely(hits[1 - side], n, 1)
                place = int(np.argmax(scores))
                if scores[place] > best.score:
                    best = ChosenEvent(Event(element, int(levels[place]), is_at_least), likelier, float(scores[place]))
    return best


def least_chance(n_hits: int, n_runs: int, error: float) -> float:
    """Clopper and Pearson: the least chance with which so many hits or more come with a chance of `error`.

    >>> round(least_chance(10, 10, 0.025), 4), least_chance(0, 10, 0.025)
    (0.6915, 0.0)
    """
    if n_hits == 0:
        return 0.0
    logs = np.array(
        [math.lgamma(n_runs + 1) - math.lgamma(j + 1) - math.lgamma(n_runs - j + 1) for j in range(n_hits, n_runs + 1)]
    )
    j = np.arange(n_hits, n_runs + 1)
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        tail = float(np.exp(logs + j * math.log(p) + (n_runs - j) * math.log1p(-p)).sum()) if 0 < p < 1 else p
        low, high = (low, p) if tail > error else (p, high)
    return low


def _counts_of(*sides: Sequence[OutputCounts]) -> dict[Hashable | None, tuple[Counts, ...]]:
    """(element) -> its count in every run of either side; None: how many rows there are."""
    counts: dict[Hashable | None, tuple[Counts, ...]] = defaultdict(
        lambda: tuple(np.zeros(len(side), np.int64) for side in sides)
    )
    for s, side in enumerate(sides):
        for i, output in enumerate(side):
            counts[None][s][i] = sum(output.values())
            for element, count in output.items():
                counts[element][s][i] = count
    return counts


def _surely(hits: Counts, n: int, side: int) -> NDArray[np.float64]:
    """A chance estimated from hits, a standard error less or more; nothing is taken for sure."""
    p = (hits + 0.5) / (n + 1)
    return p + side * np.sqrt(p * (1 - p) / n)
