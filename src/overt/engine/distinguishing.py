# SPDX-License-Identifier: Apache-2.0
"""Whether the differential privacy that a method claims survives many runs on a table with and without one row.

The method is run as it is, on the table and on the same without one row, and only what it publishes is looked at. A few
rows are tried first, some at random and some of which there are few alike; the one that seems to give most away is then
tested on fresh runs.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.distinguishing import Evidence, Output, choose_event, distinguish
from overt.engine.local import read_table
from overt.engine.private import is_private, read_private
from overt.errors import InvalidInput
from overt.io.publication import published_tables
from overt.io.recipe import Recipe
from overt.io.record import with_external
from overt.partition import Partition
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.release import PrivateRelease
from overt.table import Table

STAGE = "Trying rows"
PILOT = 24  # runs for each row that is tried


@dataclass(frozen=True)
class Distinguished:
    """What was found against a claim of (epsilon, delta)-differential privacy."""

    method: str
    n_tried: int  # rows whose absence was looked at
    epsilon: float
    delta: float
    evidence: Evidence
    row: int = field(repr=False)  # for the owner

    @property
    def refuted(self) -> bool:
        return self.evidence.refutes(self.epsilon, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about the row."""
        found = self.evidence
        return {
            "method": self.method,
            "rows_tried": self.n_tried,
            "claim": {"epsilon": self.epsilon, "delta": self.delta},
            "event": str(found.event),
            "likelier": f"{found.likelier} the row",
            "runs": found.n_runs,
            "hits": found.n_hits,
            "hits_on_the_other": found.n_other_hits,
            "confidence": found.confidence,
            "delta_at_least": found.delta_at(self.epsilon),
            "epsilon_at_least": found.epsilon_at(self.delta),
            "refuted": self.refuted,
        }


def distinguish_recipe(recipe: Recipe, *, rng: Generator, on_progress: Progress = silent, **how: Any) -> Distinguished:
    """The same for what a recipe says; `how` goes to `distinguish_table`."""
    if is_private(recipe):
        table, method = read_private(recipe)
    else:
        table, method = with_external(recipe, read_table(recipe, recipe.source, on_progress))
    return distinguish_table(table, method, rng=rng, on_progress=on_progress, **how)


def distinguish_table(
    table: Table,
    method: Any,
    *,
    rng: Generator,
    n_runs: int = 400,
    n_tried: int = 40,
    confidence: float = 0.999,
    on_progress: Progress = silent,
) -> Distinguished:
    """Run a method on a table and without one of its rows, so often on each, and look for what tells them apart."""
    if not (hasattr(method, "epsilon") and hasattr(method, "delta")):
        raise InvalidInput(
            f"{type(method).__name__} claims no differential privacy, so there is nothing to refute; use a method with an epsilon."
        )
    if n_tried < 1 or not table.n_rows:
        raise InvalidInput("At least one row must be tried, of a table that has one.")
    epsilon = float(exact(method.epsilon))

    def run(database: Table, coins: Generator) -> Output:
        return lines_of(method, database, coins)

    rows = rows_to_try(table, n_tried, rng)
    pilot = [run(table, rng) for _ in range(PILOT)]
    scores = []
    for done, row in enumerate(rows):
        on_progress(STAGE, done, len(rows))
        without = without_row(table, int(row))
        scores.append(choose_event(pilot, [run(without, rng) for _ in range(PILOT)], epsilon).score)
    row = int(rows[int(np.argmax(scores))])
    evidence = distinguish(
        run,
        table,
        without_row(table, row),
        epsilon=epsilon,
        rng=rng,
        n_runs=n_runs,
        confidence=confidence,
        on_progress=on_progress,
    )
    return Distinguished(method.name, len(rows), epsilon, float(exact(method.delta)), evidence, row)


def lines_of(method: Any, table: Table, rng: Generator) -> Output:
    """How often which line stands in the published release."""
    release = method.anonymize(table, rng=rng)
    if not release.n_groups:
        return {}
    if isinstance(release, PrivateRelease):
        return dict(
            zip(zip(*release.labels_of_group.values(), strict=True), release.partition.sizes.tolist(), strict=True)
        )
    lines = next(iter(published_tables(release).values()))
    counted = lines.with_columns(pl.all().cast(pl.String)).group_by(pl.all()).len("how often")
    return {tuple(line[:-1]): int(line[-1]) for line in counted.iter_rows()}


def rows_to_try(table: Table, n: int, rng: Generator) -> NDArray[np.int64]:
    """Rows of different records: half among those that fewest rows share, the others at random."""
    alike = Partition.of_columns(table.quasi_identifiers)
    some_row = alike.rows[alike.starts[:-1]].astype(np.int64)
    by_rarity = np.argsort(alike.sizes + rng.random(alike.n_groups), kind="stable")
    rarest, others = by_rarity[: n // 2], rng.permutation(by_rarity[n // 2 :])
    return some_row[np.concatenate([rarest, others[: n - rarest.size]])]


def without_row(table: Table, row: int) -> Table:
    """The same table without one row; the values there can be stay the same."""
    kept = np.delete(np.arange(table.n_rows), row)
    columns = tuple(replace(column, codes=column.codes[kept]) for column in table.columns)
    return replace(table, columns=columns, others=table.others[kept.tolist()] if table.others.width else table.others)
