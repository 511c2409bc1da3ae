# SPDX-License-Identifier: Apache-2.0
"""Audits of what a recipe gives. Nothing is written."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.random import Generator

from overt.adversary.audit import audit_release
from overt.adversary.others import FirstOnPath, LeastCost, MedianCuts, Search, audit_other
from overt.algorithms import FullDomain
from overt.engine.local import read_table
from overt.engine.private import refuse_private
from overt.engine.sweeping import SECONDS, goal_at, method_at, sweep
from overt.errors import InvalidInput
from overt.io.files import read_release
from overt.io.recipe import Recipe
from overt.io.record import with_external
from overt.progress import Progress, silent
from overt.report.leak import Leak


def audit(
    recipe: Recipe,
    *,
    rng: Generator,
    seconds: float | None = None,
    ls: Sequence[int] = (),
    methods: Sequence[str] = (),
    on_progress: Progress = silent,
) -> Leak:
    """Make the release of a recipe, and ask what someone who replays its method believes of everybody.

    With other `ls`, also what each of the `methods` would give away there.
    """
    refuse_private(recipe, "an audit of what became of its rows")
    settings = recipe.settings.audit
    seconds = float(seconds or settings.seconds or SECONDS)
    ls, methods = ls or settings.sweep, methods or settings.methods
    for name in methods if ls else ():  # what cannot be compared is said before the work, not after it
        method_at(recipe, name)
    for l in ls:
        goal_at(recipe.goal, l)
    table, method = with_external(recipe, read_table(recipe, recipe.input_path, on_progress))
    release = method.anonymize(table, rng=rng, on_progress=on_progress)
    found = audit_release(release, rng=rng, seconds=seconds, on_progress=on_progress)
    swept = sweep(
        recipe,
        table,
        ls,
        methods,
        rng=rng,
        seconds=seconds,
        on_progress=on_progress,
    )
    return Leak(found, is_proven=found.replayed.how == "shares", sweep=swept)


def audit_file(
    recipe: Recipe,
    release: Path | None,
    made_by: str,
    *,
    rng: Generator,
    seconds: float | None = None,
    on_progress: Progress = silent,
) -> Leak:
    """Ask of a file that another tool made what someone who knows the tool's search believes of everybody.

    The recipe says what the tool was given: the data, the hierarchies, the goal and, as its method `full-domain`, what was
    optimised and how many rows could be suppressed.
    """
    if made_by not in SEARCHES:
        raise InvalidInput(f"There is no search of {made_by!r}; there are {', '.join(SEARCHES)}.")
    if release is None and made_by != "anonypy":
        raise InvalidInput(f"The search of {made_by} is replayed from the published file; name it with --release.")
    search, table = SEARCHES[made_by](recipe), read_table(recipe, recipe.input_path, on_progress)
    shown = None if release is None else read_release(release)
    limit = float(seconds or recipe.settings.audit.seconds or SECONDS)
    return Leak(audit_other(table, shown, search, rng=rng, seconds=limit, on_progress=on_progress))


def _as_arx(recipe: Recipe) -> LeastCost:
    method = recipe.method
    given: dict[str, Any] = {}
    if isinstance(method, FullDomain):
        given = {"optimise": method.optimise, "max_suppressed": method.max_suppressed}
    return LeastCost(goal=recipe.goal, **given)


SEARCHES: dict[str, Callable[[Recipe], Search]] = {
    "arx": _as_arx,
    "anjana": lambda recipe: FirstOnPath(goal=recipe.goal),
    "anonypy": lambda recipe: MedianCuts(goal=recipe.goal),
}
