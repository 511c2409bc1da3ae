# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_report.py
"""An audit in passing: what every run says about someone who knows the method, without making the run longer than it notices."""

import time
from dataclasses import replace

from numpy.random import Generator

from overt.adversary.audit import audit_columns
from overt.adversary.learner.learner import learn_columns
from overt.adversary.replay.monte_carlo import compile_loops
from overt.engine.l_sweep import SECONDS, sweep
from overt.errors import OvertError
from overt.io.recipe.recipe import Recipe
from overt.method import Inferring, Searching, Traceable
from overt.partition import n_members
from overt.progress import Progress, silent
from overt.release import Release
from overt.report.leak import Leak

MOST_ROWS = 10_000  # what is sampled in passing; beyond, an audit takes longer than most methods
ROWS_A_SECOND = 20_000
MOST_CHANCES = 2_000_000  # of groups times values, where there is nothing to find out and so nothing is measured
MOST_GENERALIZED = 500_000  # rows times nodes of a search that is replayed in passing
LEAST_SECONDS = 0.5
PATIENCE = 2.0  # seconds, whatever the audit was told


def audit_in_passing(
    recipe: Recipe, release: Release, *, rng: Generator, with_sweep: bool = False, on_progress: Progress = silent
) -> Leak | None:
    """What someone who knows the method learns from a release, or why that is not said. None if it was not to be asked.

    The sweep that a recipe may ask for is for its report, and takes its time.
    """
    settings = recipe.settings.audit
    if settings.seconds == 0 or not release.table.sensitive:
        return None
    leak = look(release, settings.seconds, rng=rng, on_progress=on_progress)
    if with_sweep and settings.learner:
        leak = replace(leak, learned=learn_columns(release, rng=rng, on_progress=on_progress))
    if not with_sweep or not settings.sweep:
        return leak
    swept = sweep(
        release,
        recipe.goal,
        settings.sweep,
        settings.methods,
        rng=rng,
        seconds=float(settings.seconds or SECONDS),
        on_progress=on_progress,
    )
    return replace(leak, sweep=swept)


def look(release: Release, seconds: float | None, *, rng: Generator, on_progress: Progress = silent) -> Leak:
    """An audit of so many seconds, or of as few as go unnoticed; one that cannot be says why."""
    guarantee = release.method.guarantee
    is_free = guarantee.posterior_is_share
    n_chances = release.n_groups * sum(n_members(column) for column in release.table.judged)
    if is_free and n_chances > MOST_CHANCES:
        return Leak(None, proof=guarantee)
    if seconds is None and not is_free and (why := why_not_in_passing(release)):
        return Leak(None, f"{why}; try overt audit")
    if isinstance(release.method, Traceable | Searching | Inferring):
        compile_loops()  # which takes longer than there is patience, the first time on a machine
    watched = on_progress if seconds is not None else patient(on_progress)
    in_passing = seconds is None
    seconds = max(LEAST_SECONDS, release.table.n_rows / ROWS_A_SECOND) if seconds is None else float(seconds)
    on_progress("Auditing", 0, 0)
    try:
        found, *others = audit_columns(release, rng=rng, seconds=seconds, on_progress=watched)
        return Leak(found, proof=guarantee if is_free else None, in_passing=in_passing, others=tuple(others))
    except OvertError as error:
        return Leak(None, str(error))


def why_not_in_passing(release: Release) -> str:
    """Why an audit would take longer than a run may, if it would."""
    n_rows = release.table.n_rows
    if n_rows > MOST_ROWS:
        return f"{n_rows:,} rows are too many for the short estimate of a run; try overt audit"
    if n_rows * release.n_alternatives > MOST_GENERALIZED:
        return f"to replay a search of {release.n_alternatives:,} nodes takes too long for a run; try overt audit"
    return ""


class TakesTooLong(OvertError):
    """An audit in passing is not done in the time that a run has for it."""


def patient(on_progress: Progress) -> Progress:
    """Progress that ends what takes longer than was thought."""
    began = time.monotonic()

    def watch(stage: str, done: int, total: int) -> None:
        if time.monotonic() - began > PATIENCE:
            raise TakesTooLong("it takes too long for a run; try overt audit")
        on_progress(stage, done, total)

    return watch
