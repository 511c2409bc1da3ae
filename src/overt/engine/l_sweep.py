# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_audit.py
"""What methods would give away at other l than that of a release."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from numpy.random import Generator

from overt.adversary.l_sweep import LSweep, sweep_l
from overt.algorithms import METHODS
from overt.errors import InvalidInput
from overt.method import Method
from overt.privacy import AllOf
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import Release

SECONDS = 10.0


def sweep(
    release: Release,
    goal: Property,
    ls: Sequence[int],
    methods: Sequence[str] = (),
    *,
    rng: Generator,
    seconds: float = SECONDS,
    on_progress: Progress = silent,
) -> LSweep | None:
    """What methods would give away at several l, with the goal and the table of a release otherwise; None if no l is asked for."""
    if not ls:
        return None
    own = release.method
    made = {name: method_at(own, goal, name) for name in methods or (own.name,)}
    return sweep_l(release.table, made, sorted(set(ls)), rng=rng, seconds=seconds, on_progress=on_progress)


def method_at(own: Method, goal: Property, name: str) -> Callable[[int], Method]:
    """A function of l: a method with the goal there; the release's own keeps its parameters."""
    if name not in METHODS:
        raise InvalidInput(f"There is no method {name!r}; there are {', '.join(METHODS)}.")

    def at(l: int) -> Method:
        kind: Any = METHODS[name]
        given: Any = own
        made: Method = replace(given, goal=goal_at(goal, l)) if name == own.name else kind(goal=goal_at(goal, l))
        return made

    return at


def goal_at(goal: Property, l: int) -> Property:
    """The same goal with another l (or alpha = 1/l).

    >>> from overt.privacy import FrequencyLDiversity, KAnonymity
    >>> str(goal_at(AllOf((KAnonymity(4), FrequencyLDiversity(2))), 5).parts[1])
    '5-diversity (frequency)'
    """
    parts = [part.at_l(l) for part in goal.parts]
    if all(part is None for part in parts):
        raise InvalidInput("The goal has no l that could be varied; ask for l-diversity or (alpha,k)-anonymity.")
    kept = tuple(new or old for new, old in zip(parts, goal.parts, strict=True))
    return kept[0] if len(kept) == 1 else AllOf(kept)
