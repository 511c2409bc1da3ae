# SPDX-License-Identifier: Apache-2.0
"""Audits of what a recipe gives. Nothing is written."""

from collections.abc import Sequence

from numpy.random import Generator

from overt.adversary.audit import audit_release
from overt.engine.local import read_table
from overt.engine.private import refuse_private
from overt.engine.sweeping import SECONDS, goal_at, method_at, sweep
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
