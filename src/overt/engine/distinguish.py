# SPDX-License-Identifier: Apache-2.0
"""`overt.distinguish`: whether the differential privacy that a method claims survives many runs on a table with and without one row.

The method is run as it is, on the table and on the same without one row, and only what it publishes is looked at. A few
rows are tried first, some at random and some of which there are few alike; the one that seems to give most away is then
tested on fresh runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.dp.distinguishing import Evidence, OutputCounts, choose_event
from overt.adversary.dp.distinguishing import distinguish as distinguish_tables
from overt.engine.course import make_release, prepare
from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.io.publication import published_tables
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.method import Method
from overt.partition import Partition
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.report.lines import labelled
from overt.table import Table

STAGE = "Trying rows"
PILOT = 24  # runs for each row that is tried


@dataclass(frozen=True)
class Distinguished(Result):
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

    def content(self) -> dict[str, Any]:
        """Plain values; nothing about the row."""
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

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The claim, what was seen, and what follows."""
        evidence = self.evidence
        with_row, without = evidence.n_hits, evidence.n_other_hits
        if evidence.likelier == "without":
            with_row, without = without, with_row
        delta, epsilon = evidence.delta_at(self.epsilon), evidence.epsilon_at(self.delta)
        rows = [
            ("Claim", f"epsilon {self.epsilon:g} and delta {self.delta:g}, by {self.method}"),
            ("Runs", f"on the data with and without one row, which was chosen after trying {self.n_tried:,} rows"),
            (
                "Seen",
                f"{evidence.event}: in {with_row:,} of {evidence.n_runs:,} runs with the row, in {without:,} of "
                f"{evidence.n_runs:,} without it (these runs were not used to choose what to look for)",
            ),
            (
                "So",
                f"delta at this epsilon is at least {delta:.3g}, or epsilon at this delta at least {epsilon:.3g}, "
                f"except with a probability of {1 - evidence.confidence:.3g}",
            ),
        ]
        yield from labelled(rows, width)
        yield ""
        if self.refuted:
            yield "The claim is refuted: the method does not have the differential privacy that it claims."
        else:
            yield "The claim is not refuted. This does not prove it: other rows, or another test, might still refute it."


def distinguish(
    recipe: Recipe | str | Path,
    *,
    rng: Generator | None = None,
    runs: int = 400,
    tried: int = 40,
    confidence: float = 0.999,
    on_progress: Progress = silent,
) -> Distinguished:
    """Run the method of a recipe many times with and without one row, and test whether this refutes its differential privacy.

    `runs` is the number of runs with the row, and without it. `tried` rows are tried first, and the one that seems to reveal most is tested. A true
    claim is refuted with a probability of at most 1 - `confidence`.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> overt.distinguish(folder / "recipe.toml")
    Traceback (most recent call last):
        ...
    overt.errors.InvalidInput: BlindBuckets claims no differential privacy, so there is nothing to refute; use a method with an epsilon.
    """
    recipe = as_recipe(recipe)
    prepared = prepare(recipe, silent if recipe.is_dp else on_progress)
    return distinguish_table(
        prepared.table,
        prepared.method,
        rng=rng or np.random.default_rng(),
        n_runs=runs,
        n_tried=tried,
        confidence=confidence,
        on_progress=on_progress,
    )


def distinguish_table(
    table: Table,
    method: Method,
    *,
    rng: Generator,
    n_runs: int = 400,
    n_tried: int = 40,
    confidence: float = 0.999,
    on_progress: Progress = silent,
) -> Distinguished:
    """Run a method on a table and without one of its rows, so often on each, and look for what tells them apart."""
    if method.claimed_budget is None:
        raise InvalidInput(
            f"{type(method).__name__} claims no differential privacy, so there is nothing to refute; use a method with an epsilon."
        )
    if n_tried < 1 or not table.n_rows:
        raise InvalidInput("At least one row must be tried, of a table that has one.")
    epsilon, delta = map(float, map(exact, method.claimed_budget))

    def run(database: Table, coins: Generator) -> OutputCounts:
        return lines_of(method, database, coins)

    rows = rows_to_try(table, n_tried, rng)
    pilot = [run(table, rng) for _ in range(PILOT)]
    scores = []
    for done, row in enumerate(rows):
        on_progress(STAGE, done, len(rows))
        without = without_row(table, int(row))
        scores.append(choose_event(pilot, [run(without, rng) for _ in range(PILOT)], epsilon).score)
    row = int(rows[int(np.argmax(scores))])
    evidence = distinguish_tables(
        run,
        table,
        without_row(table, row),
        epsilon=epsilon,
        rng=rng,
        n_runs=n_runs,
        confidence=confidence,
        on_progress=on_progress,
    )
    return Distinguished(method.name, len(rows), epsilon, delta, evidence, row)


def lines_of(method: Method, table: Table, rng: Generator) -> OutputCounts:
    """How often which line stands in the published release."""
    release = make_release(table, method, rng).release
    if not release.n_groups:
        return {}
    if (counts := release.line_counts) is not None:
        return dict(counts)
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
