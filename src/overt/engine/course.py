# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_commands.py
"""Course: how a recipe becomes a release in memory, wherever one is made of it. Nobody else reads for a recipe or runs its method.

A table that does not fit into memory goes one other way, `overt.engine.scale.scaled_run`: an engine never has the whole table that
`anonymize` takes, so that it makes the same groups and buckets from staged rows.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from numpy.random import Generator

from overt.cautions import caution, noting_cautions
from overt.io.pilot_record import PilotRows
from overt.io.recipe.recipe import Recipe
from overt.io.recipe.settings import QuasiIdentifier
from overt.io.sources import Source
from overt.method import Method
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Table


@dataclass(frozen=True, eq=False)
class Made:
    """A release, and what was noticed while it was made."""

    release: Release
    warned: tuple[str, ...]
    seconds: float  # for the method alone

    def warn(self) -> "Release":
        """The release, after saying what was warned of."""
        for words in self.warned:
            caution(words, stacklevel=2)
        return self.release


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a recipe makes its release from: the table in its roles, and the method with its external database."""

    table: Table = field(repr=False)
    method: Method
    find_digest: Callable[[], str] = field(repr=False)  # of what was read; it may still have to be waited for

    def make(self, rng: Generator | None, on_progress: Progress = silent) -> Made:
        """Run the method. What it warns of becomes part of the result."""
        return make_release(self.table, self.method, rng, on_progress)


def prepare(
    recipe: Recipe,
    on_progress: Progress = silent,
    *,
    source: Source | None = None,
    with_digest: bool = False,
    left_out: PilotRows | None = None,
    key: int | None = None,
) -> Prepared:
    """Read what a recipe names, or the same data at another place; rows that are left out are read as if they were not there.

    With `key` the rows of persons are cut as they were before.
    """
    recipe = with_public_hierarchies(recipe)
    source = recipe.source if source is None else source
    if recipe.perhaps_persons:
        columns = recipe.settings.columns.items()
        others = [name for name, column in columns if column.role != "sensitive" and name not in recipe.perhaps_persons]
        source.refuse_unsaid(recipe.perhaps_persons, others)
    read, find_digest = source.read(
        recipe.intake(left_out, key), persons=recipe.persons, with_digest=with_digest, on_progress=on_progress
    )
    if recipe.method.external is None:
        return Prepared(read, recipe.method, find_digest)
    from overt.io.record import with_external

    return Prepared(*with_external(recipe, read), find_digest)


def with_public_hierarchies(recipe: Recipe) -> Recipe:
    """A recipe as its table is read: a differentially private method has its own hierarchies, and every column that it releases is known."""
    if not recipe.is_dp:
        return recipe
    method = recipe.dp_method
    formats = recipe.choices("format")
    columns = {
        name: QuasiIdentifier(role="quasi-identifier", format=formats.get(name)) if name in method.trees else column
        for name, column in recipe.settings.columns.items()
    }
    return replace(recipe, settings=recipe.settings.model_copy(update={"columns": columns}), hierarchies={})


def make_release(table: Table, method: Method, rng: Generator | None, on_progress: Progress = silent) -> Made:
    """Run a method on a table. Only differentially private methods run without `rng`: their coins are then nobody's."""
    begin = time.perf_counter()
    with noting_cautions() as noted:
        release = method.anonymize(table, rng=rng, on_progress=on_progress)  # type: ignore[arg-type]
    return Made(release, tuple(noted), time.perf_counter() - begin)
