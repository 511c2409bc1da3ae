# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/learner/test_learner.py
"""What a learner guesses right, beside what was promised and what anybody guesses; for the owner, who knows who is right.

Every share comes with a standard error over groups: people of one group are guessed together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import Chances

ERRORS = 3  # a difference counts if it is more than so many standard errors
CERTAIN = 0.9
BINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
LEAST_PEOPLE = 30  # of a bin, before its share right is held against its beliefs
TOLERATED = 0.05  # by how much beliefs may be off, beyond the error, before they are called unreliable


@dataclass(frozen=True)
class Share:
    """A share of people, or a difference of two, and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, per_person: NDArray[np.float64], unit_of_person: NDArray[np.integer[Any]]) -> "Share":
        """The mean over people, and its error if people of one unit go together.

        Few units hardly differ by chance, so the error is at least that of as many people by themselves, and one person's worth.
        """
        mean = float(per_person.mean())
        number = np.unique(unit_of_person, return_inverse=True)[1]
        size = np.bincount(number)
        off = np.bincount(number, weights=per_person - mean)
        scale = size.size / (size.size - 1) if size.size > 1 else 1.0
        together = float(np.sqrt(scale * (off**2).sum())) / per_person.size
        apart = float(per_person.std()) / np.sqrt(per_person.size)
        return cls(mean, max(together, float(apart), 1 / per_person.size))

    @property
    def is_beyond_error(self) -> bool:
        """Whether it is more than 0, as far as can be told."""
        return self.value > ERRORS * self.error

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} ± {100 * self.error:.1f}"

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return {"value": self.value, "standard_error": self.error}


@dataclass(frozen=True)
class Bin:
    """People of whose likeliest value about the same is believed, and how many of these guesses are right."""

    least: float
    most: float
    n_people: int
    belief: float
    right: float

    @property
    def is_off(self) -> bool:
        """Whether beliefs are off by more than is tolerated and chance explains."""
        error = np.sqrt(max(self.belief * (1 - self.belief), 0.25 / self.n_people) / self.n_people)
        return self.n_people >= LEAST_PEOPLE and abs(self.belief - self.right) > TOLERATED + ERRORS * error


@dataclass(frozen=True)
class AboveBound:
    """People of whom more than a bound is believed, and how many of them are guessed right."""

    n_people: int
    n_right: int

    def to_dict(self) -> dict[str, int]:
        """Plain values."""
        return {"people": self.n_people, "right": self.n_right}


@dataclass(frozen=True)
class Learned:
    """What someone guesses right who knows how a sensitive column depends on the quasi-identifiers. For the owner alone."""

    method: str
    column: str
    quasi_identifiers: tuple[str, ...]
    n_people: int  # in the release
    n_judged: int  # those that were asked about
    promised: Fraction | None  # what the goal promises, if it bounds beliefs
    most_frequent: float  # guessed right by naming the most frequent value of the table
    plain: float  # by naming the most frequent value of each group or bucket
    outside: Share  # by the model, about someone who is not in the release
    inside: Share  # by the model and the release
    from_release: Share  # inside minus outside: what taking part costs
    from_learning: Share  # inside minus plain: what the correlations add
    above_twice: AboveBound  # above twice what was promised (or what the release alone says)
    above_certain: AboveBound
    reliability: tuple[Bin, ...] = field(repr=False)
    exact: float  # the share of people of whom all ways to hand out values were counted
    sampling_error: float  # of a belief, on the average over people, where a chain was needed
    is_strong: bool  # whether replaying the method adds nothing, whatever one believes
    replaying: Share | None = None  # guessed right by someone who also replays the matching, at least
    n_replayed: int = 0  # people that this was tried on

    @property
    def best(self) -> Share:
        """What was guessed right at most."""
        return self.inside if self.replaying is None or self.replaying.value < self.inside.value else self.replaying

    @property
    def is_least(self) -> bool:
        """Whether someone who replays the method may guess more."""
        return not self.is_strong

    @property
    def is_reliable(self) -> bool:
        """Whether beliefs are about as often right as they say."""
        return not any(one.is_off for one in self.reliability)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about single people."""
        return {
            "method": self.method,
            "sensitive": self.column,
            "people": self.n_people,
            "judged": self.n_judged,
            "promised": None if self.promised is None else str(self.promised),
            "guessed_right": {
                "most_frequent_value": self.most_frequent,
                "release_alone": self.plain,
                "learner_not_in_release": self.outside.to_dict(),
                "learner": self.inside.to_dict(),
            },
            "added_by_release": {**self.from_release.to_dict(), "beyond_error": self.from_release.is_beyond_error},
            "added_by_learning": {**self.from_learning.to_dict(), "beyond_error": self.from_learning.is_beyond_error},
            "above_twice_promised": self.above_twice.to_dict(),
            "above_0.9": self.above_certain.to_dict(),
            "reliable": self.is_reliable,
            "reliability": [
                {"from": one.least, "to": one.most, "people": one.n_people, "belief": one.belief, "right": one.right}
                for one in self.reliability
            ],
            "exact": self.exact,
            "sampling_error": self.sampling_error,
            "replaying_adds_nothing": self.is_strong,
            "learner_who_replays": None
            if self.replaying is None
            else {**self.replaying.to_dict(), "people": self.n_replayed},
        }

    def sentences(self) -> Iterator[str]:
        """What a board can act on, and under which condition it holds."""
        known = _listed(self.quasi_identifiers)
        yield (
            f"Of 100 people, someone who knows how {self.column} depends on {known} would guess "
            f"{100 * self.inside.value:.0f} right from this release, {100 * self.outside.value:.0f} without it."
        )
        gain = self.from_release
        if gain.is_beyond_error:
            yield f"Being in the release costs {gain} in 100 people, to such a learner."
        else:
            yield f"That being in the release helps such a learner cannot be told from chance ({gain} in 100)."
        if self.from_learning.is_beyond_error:
            yield (
                f"Knowing the correlations adds {self.from_learning} in 100 to what the release alone tells "
                f"({100 * self.plain:.0f} in 100)."
            )
        else:
            yield f"Knowing the correlations adds nothing to the release that could be told from chance ({self.from_learning} in 100)."
        if not self.is_reliable:
            off = max((one for one in self.reliability if one.is_off), key=lambda one: abs(one.belief - one.right))
            yield (
                f"Beliefs are off by up to {abs(off.belief - off.right):.2f} ({off.belief:.2f} believed, {off.right:.2f} right): go by "
                "the shares guessed right."
            )
        if self.replaying is not None:
            yield (
                f"Someone who also replays the matching would guess at least {100 * self.best.value:.0f} right in 100; it was tried on "
                f"{self.n_replayed:,} people."
            )
        elif not self.is_strong:
            yield "These are least figures: someone who also replays the method may guess more."

    def rows(self) -> Iterator[tuple[str, str]]:
        """(what, how many) for tables."""
        if self.promised is not None:
            yield "promised: at most, of each person", f"{float(self.promised):.1%}"
        yield "the most frequent value of all", f"{self.most_frequent:.1%}"
        yield "release alone", f"{self.plain:.1%}"
        yield "learner, person not in the release", f"{self.outside} %"
        yield "learner, with the release", f"{self.inside} %"
        if self.replaying is not None:
            yield "learner who also replays the matching", f"at least {self.best} %"
        twice = "what the release alone says" if self.promised is None else "the promise"
        for words, one in ((f"twice {twice}", self.above_twice), (f"{CERTAIN:g}", self.above_certain)):
            right = f", {one.n_right:,} of them right" if one.n_people else ""
            yield f"people believed above {words}", f"{one.n_people:,}{right}"

    def reliability_rows(self) -> Iterator[tuple[str, str, str, str]]:
        """(beliefs, people, mean belief, share right)."""
        for one in self.reliability:
            yield f"{one.least:.1f} to {one.most:.1f}", f"{one.n_people:,}", f"{one.belief:.3f}", f"{one.right:.3f}"


def reliability_of(belief: Chances, is_right: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Beliefs in bins, beside how often they are right; empty bins are left out."""
    place = np.clip(np.searchsorted(BINS, belief, side="right") - 1, 0, len(BINS) - 2)
    found = []
    for i in range(len(BINS) - 1):
        here = place == i
        if here.any():
            found.append(
                Bin(BINS[i], BINS[i + 1], int(here.sum()), float(belief[here].mean()), float(is_right[here].mean()))
            )
    return tuple(found)


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
