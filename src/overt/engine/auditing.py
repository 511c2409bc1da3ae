# SPDX-License-Identifier: Apache-2.0
"""Audits of what a recipe gives. Nothing is written."""

from numpy.random import Generator

from overt.adversary.audit import audit_release
from overt.adversary.summary import Audit
from overt.engine.local import read_table
from overt.io.recipe import Recipe
from overt.io.record import with_external
from overt.progress import Progress, silent


def audit(recipe: Recipe, *, rng: Generator, seconds: float = 10.0, on_progress: Progress = silent) -> Audit:
    """Make the release of a recipe, and ask what someone who replays its method believes of everybody."""
    table, method = with_external(recipe, read_table(recipe, recipe.input_path, on_progress))
    release = method.anonymize(table, rng=rng, on_progress=on_progress)
    return audit_release(release, rng=rng, seconds=seconds, on_progress=on_progress)
