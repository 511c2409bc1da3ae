# SPDX-License-Identifier: Apache-2.0
"""What methods would give away at other l than that of a recipe."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from overt.adversary.sweep import Sweep, sweep_l
from overt.algorithms import METHODS
from overt.algorithms.base import Algorithm
from overt.errors import InvalidInput
from overt.io.recipe import Recipe
from overt.privacy import AllOf, AlphaKAnonymity
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.table import Table

SECONDS = 10.0


def sweep(
    recipe: Recipe,
    table: Table,
    ls: Sequence[int],
    methods: Sequence[str] = (),
    *,
    rng: Generator,
    seconds: float = SECONDS,
    on_progress: Progress = silent,
) -> Sweep | None:
    """What methods would give away at several l, with the goal of a recipe otherwise; None if no l is asked for."""
    if not ls:
        return None
    names = list(methods) or [recipe.settings.method.name]
    made = {name: method_at(recipe, name) for name in names}
    return sweep_l(table, made, sorted(set(ls)), rng=rng, seconds=seconds, on_progress=on_progress)


def method_at(recipe: Recipe, name: str) -> Callable[[int], Algorithm]:
    """A function of l: a method with the goal of a recipe there; the recipe's own keeps its parameters."""
    own = recipe.settings.method.name
    if name not in METHODS:
        raise InvalidInput(f"There is no method {name!r}; there are {', '.join(METHODS)}.")

    def at(l: int) -> Algorithm:
        kind: Any = METHODS[name]
        goal = goal_at(recipe.goal, l)
        if name == own:
            method: Any = recipe.method
            made: Algorithm = replace(method, goal=goal)
        else:
            made = kind(goal=goal)
        return made

    return at


def goal_at(goal: Property, l: int) -> Property:
    """The same goal with another l (or alpha = 1/l).

    >>> from overt.privacy import FrequencyLDiversity, KAnonymity
    >>> str(goal_at(AllOf((KAnonymity(4), FrequencyLDiversity(2))), 5).parts[1])
    '5-diversity (frequency)'
    """
    parts = [_at(part, l) for part in goal.parts]
    if all(part is None for part in parts):
        raise InvalidInput("The goal has no l that could be varied; ask for l-diversity or (alpha,k)-anonymity.")
    kept = tuple(new or old for new, old in zip(parts, goal.parts, strict=True))
    return kept[0] if len(kept) == 1 else AllOf(kept)


def _at(part: Any, l: int) -> Property | None:
    if isinstance(part, AlphaKAnonymity):
        return replace(part, alpha=Fraction(1, l))
    changed: Property | None = replace(part, l=l) if hasattr(part, "l") else None
    return changed
