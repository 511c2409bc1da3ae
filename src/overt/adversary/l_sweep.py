# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_leak.py
"""LSweep: the share of people above 1/l to someone who knows the method, for several methods and several l."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from overt.adversary.audit import audit_release
from overt.adversary.posterior import percentile
from overt.adversary.replay.enumeration import Anonymizer
from overt.adversary.summary import MOST_UNKNOWN
from overt.errors import OvertError
from overt.progress import Progress, silent
from overt.table import Table

MOST_ERROR = 0.1  # the standard error of 99% of beliefs, beyond which a share of people above a bound says nothing


@dataclass(frozen=True)
class Breach:
    """What one method gives away at one l."""

    method: str
    l: int
    n_groups: int
    alone: float  # the share of people above 1/l with the release alone
    above: float  # and with the method
    highest: float  # belief
    guessed_alone: float  # the share of values guessed right
    guessed: float
    error: float  # the standard error of the beliefs of 99% of people is at most this
    how: str
    unknown: float = 0.0  # the share of people of whom no estimate can be relied on
    said: float | None = (
        None  # the share above 1/l as far as the audit supports it, at least; None: nothing can be said
    )

    @property
    def is_known(self) -> bool:
        """Whether the beliefs are known well enough for the share to say something."""
        return self.error <= MOST_ERROR and self.unknown <= MOST_UNKNOWN


@dataclass(frozen=True)
class NoBreach:
    """A method that could not be judged at this l, and why."""

    method: str
    l: int
    why: str


@dataclass(frozen=True)
class LSweep:
    """What several methods give away at several l."""

    points: tuple[Breach, ...]
    failures: tuple[NoBreach, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "points": [asdict(point) for point in self.points],
            "failures": [asdict(failure) for failure in self.failures],
        }


def sweep_l(
    table: Table,
    methods: Mapping[str, Callable[[int], Anonymizer]],
    ls: Sequence[int],
    *,
    rng: Generator,
    seconds: float = 10.0,
    on_progress: Progress = silent,
) -> LSweep:
    """Make a release by every method at every l, and audit it for so many seconds.

    A method that cannot reach an l, or cannot be audited there, is a failure with its reason and stops nothing.
    """
    points, failures = [], []
    for name, method_of in methods.items():
        for l in ls:

            def stage(what: str, done: int, total: int, name: str = name, l: int = l) -> None:
                on_progress(f"{name}, l = {l}: {what}", done, total)

            try:
                release = method_of(l).anonymize(table, rng=rng)
                found = audit_release(release, rng=rng, seconds=seconds, on_progress=stage)
            except OvertError as error:
                failures.append(NoBreach(name, l, str(error)))
                continue
            sampled = found.replayed.sampled
            if sampled is not None and sampled.why:
                failures.append(NoBreach(name, l, sampled.why))
                continue
            alone, replayed = found.guesses
            held = replace(found, bound=Fraction(1, l))  # whatever the goal promises
            points.append(
                Breach(
                    method=name,
                    l=l,
                    n_groups=found.n_groups,
                    alone=found.share_over(1 / l, posterior=found.alone),
                    above=found.share_over(1 / l),
                    highest=found.worst.belief,
                    guessed_alone=alone / found.n_rows,
                    guessed=replayed / found.n_rows,
                    error=percentile(found.replayed.error_of_row[found.replayed.is_known_of_row], 99) or 0.0,
                    how=found.replayed.how,
                    unknown=found.n_unknown / found.n_rows,
                    said=held.share_said(),
                )
            )
    return LSweep(tuple(points), tuple(failures))
