# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_compare.py
"""`overt.compare`: what several recipes would give, side by side. No release is written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from overt.adversary.downcoding.downcoding import downcode
from overt.adversary.learner.learner import learn_columns
from overt.adversary.other_tools.published_cells import downcode_other
from overt.adversary.other_tools.searches import audit_other, learn_other
from overt.engine.compared_recipes import (
    DOWNCODED,
    Candidate,
    Failure,
    find_difference,
    find_looked_at,
    notes_of_leaks,
    plot_candidates,
    table_of,
    things_of,
)
from overt.engine.course import Prepared, prepare
from overt.engine.dp_run import refuse_dp
from overt.engine.quick_audit import look
from overt.engine.result import Result
from overt.engine.tool_files import read_tool_file
from overt.errors import InvalidInput, OvertError
from overt.guarantee import RELEASE_ONLY
from overt.io.atomic import all_or_nothing
from overt.io.pilot_record import draw_pilot, pilot_to_look_at
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.metrics.risk import risk_of_release
from overt.metrics.utility import measure_utility
from overt.progress import Progress, silent
from overt.report.leak import Leak
from overt.report.lines import aligned, labelled
from overt.report.person_sentences import rows_published
from overt.report.plots import Plot


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """What `overt.compare` gives."""

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    page: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether every recipe gave something."""
        return not self.failures

    @property
    def plot(self) -> Plot:
        """Risk against cost."""
        return plot_candidates(self.candidates)

    @property
    def looked_at(self) -> str:
        """Whose values were looked at."""
        return find_looked_at(self.candidates)

    @property
    def caution(self) -> str:
        """What a reader must know: whether numbers are of the same thing. Empty if they are."""
        return find_difference(self.candidates)

    @property
    def notes(self) -> list[str]:
        """What the column of leaks says, and why some are not known."""
        return notes_of_leaks(self.candidates)

    @property
    def table(self) -> list[list[str]]:
        """A header, and a row for every recipe."""
        return table_of(self.candidates)

    def content(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "results": [*(one.to_dict() for one in self.candidates), *(one.to_dict() for one in self.failures)],
            "caution": self.caution,
            "looked_at": self.looked_at,
            "plot": dict(self.plot.spec),
            "page": None if self.page is None else str(self.page),
        }

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The recipes side by side, and what the numbers mean."""
        if self.candidates:
            yield from aligned(self.table)
        if self.looked_at:
            yield from labelled([("Looked at", self.looked_at)], width)
        if self.caution:
            yield from labelled([("Caution", self.caution)], width)
        yield from labelled((("Leak", why) for why in self.notes), width)
        if any(one.downcoded is not None for one in self.candidates):
            yield from labelled([("Downcoded", DOWNCODED.format(things=things_of(self.candidates)))], width)
        yield from aligned((one.name, one.why) for one in self.failures)
        if self.page is not None:
            yield from ("", f"  Page      {self.page}")

    def to_html(self) -> str:
        """The comparison as a page of its own."""
        from overt.report.comparison import page_of_comparison

        failed = [(one.name, one.why) for one in self.failures]
        return page_of_comparison(self.table, self.plot, failed, self.caution, self.notes)


def compare(
    recipes: Sequence[Recipe | str | Path],
    *,
    rng: Generator | None = None,
    seconds: float = 5.0,
    learner: bool = False,
    published: Sequence[tuple[str, Recipe | str | Path, str | Path]] = (),
    page: str | Path | None = None,
    overwrite: bool = False,
    on_progress: Progress = silent,
) -> Comparison:
    """Run every recipe and measure what comes out; one that is invalid, does not fit its data, or cannot reach its goal does not stop the others.

    `seconds` is the time limit for each estimate of what someone who knows the method learns; 0 skips estimates. With a
    `learner`, also what someone guesses right who knows how values depend on quasi-identifiers.
    No release is written; a `page` of the comparison is, if it is asked for.

    Files that other tools `published` stand beside them: the tool ("arx", "anjana" or "anonypy"), a recipe that says what it was given, as
    for `audit`, and the file.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> comparison = overt.compare([folder / "recipe.toml"], seconds=0)
    >>> [candidate.name for candidate in comparison.candidates], comparison.ok
    (['recipe'], True)
    """
    if not recipes and not published:
        raise InvalidInput("Name the recipes to compare: overt compare one.toml other.toml")
    read = _read(recipes)
    files = [(tool, as_recipe(given), Path(file)) for tool, given, file in published]
    rng = rng or np.random.default_rng()
    candidates: list[Candidate] = []
    failures: list[Failure] = []
    for name, recipe in zip(_names(recipes), read, strict=True):
        if isinstance(recipe, OvertError):
            failures.append(Failure(name, str(recipe)))
            continue

        def stage(what: str, done: int, total: int, name: str = name) -> None:
            on_progress(f"{name}: {what}", done, total)

        try:
            candidates.append(_try(name, recipe, rng, seconds, learner, stage))
        except OvertError as error:
            failures.append(Failure(name, str(error)))
    for tool, given, file in files:
        name = f"{tool}: {file.name}"

        def stage_of_file(what: str, done: int, total: int, name: str = name) -> None:
            on_progress(f"{name}: {what}", done, total)

        try:
            candidates.append(_try_file(name, tool, given, file, rng, seconds, learner, stage_of_file))
        except OvertError as error:
            failures.append(Failure(name, str(error)))
    comparison = Comparison(tuple(candidates), tuple(failures), None if page is None else Path(page))
    if comparison.page is not None:
        with all_or_nothing(overwrite=overwrite, for_owner=True) as stage_file:
            stage_file(comparison.page).write_text(comparison.to_html(), encoding="utf-8")
    return comparison


def _try(
    name: str, recipe: Recipe, rng: Generator, audited: float, with_learner: bool, on_progress: Progress
) -> Candidate:
    refuse_dp(recipe, "a comparison")
    prepared, looks_at = prepare_to_look_at(recipe, on_progress)
    made = prepared.make(rng, on_progress)
    release, seconds = made.warn(), made.seconds
    table = release.table
    leak = look(release, audited, rng=rng, on_progress=on_progress) if audited and table.sensitive else None
    if with_learner and table.sensitive:
        learned = learn_columns(release, rng=rng, on_progress=on_progress)
        leak = replace(leak or Leak(None, "it was not asked"), learned=learned)
    on_progress("Measuring", 0, 0)
    method = release.method
    return Candidate(
        name=name,
        method=method.name,
        goal=" and ".join(map(str, recipe.goal.parts)),
        guarantee=method.guarantee,
        n_rows=table.n_rows,
        n_suppressed=release.n_suppressed,
        seconds=seconds,
        described=(
            recipe.source.identity,
            None if table.persons is None else table.persons.column,
            *(frozenset(recipe.columns_of(role)) for role in ("quasi-identifier", "sensitive")),
            looks_at,
        ),
        persons=None if table.persons is None else table.persons.column,
        n_rows_of_persons=rows_published(table),
        looks_at=looks_at,
        risk=risk_of_release(release),
        utility=measure_utility(release),
        leak=leak,
        downcoded=downcode(release, show=recipe.choices("show")) if release.n_groups else None,
        release=release,
    )


def _try_file(
    name: str,
    tool: str,
    recipe: Recipe,
    path: Path,
    rng: Generator,
    audited: float,
    with_learner: bool,
    on_progress: Progress,
) -> Candidate:
    """What another tool published; everybody in it was looked at, and nothing is known of how long it took."""
    file = read_tool_file(recipe, tool, path, on_progress)
    found = file.search.reconstruct(file.table, file.shown, None, on_progress)
    release, leak = found.release, None
    how: dict[str, Any] = {"rng": rng, "on_progress": on_progress}
    if audited:
        leak = Leak(audit_other(file.table, file.shown, file.search, seconds=audited, **how))
    if with_learner:
        learned = (learn_other(file.table, file.shown, file.search, **how),)
        leak = replace(leak or Leak(None, "it was not asked"), learned=learned)
    on_progress("Measuring", 0, 0)
    return Candidate(
        name=name,
        method=file.search.name,
        goal=" and ".join(map(str, recipe.goal.parts)),
        guarantee=RELEASE_ONLY,
        n_rows=release.table.n_rows,
        n_suppressed=release.n_suppressed,
        seconds=None,
        described=(
            recipe.source.identity,
            None,
            *(frozenset(recipe.columns_of(role)) for role in ("quasi-identifier", "sensitive")),
            None,
        ),
        n_rows_of_persons=rows_published(release.table),
        risk=risk_of_release(release),
        utility=measure_utility(release),
        leak=leak,
        downcoded=downcode_other(file.table, file.shown, file.search, on_progress=on_progress),
    )


def prepare_to_look_at(recipe: Recipe, on_progress: Progress) -> tuple[Prepared, int | None]:
    """The people whose values may be looked at, and how many the pilot has; without a pilot everybody."""
    if recipe.settings.pilot is None:
        return prepare(recipe, on_progress), None
    pilot = pilot_to_look_at(recipe)
    if pilot is None:  # how many rows there are is all that a draw needs to know
        everybody = prepare(recipe, on_progress).table
        pilot = draw_pilot(recipe, everybody.n_rows + everybody.n_dropped)
    return prepare(recipe, on_progress, left_out=pilot.others), pilot.people


def _read(recipes: Sequence[Recipe | str | Path]) -> list[Recipe | OvertError]:
    """The recipes, or why one cannot be read; where that is so of all, there is nothing to compare."""
    read: list[Recipe | OvertError] = []
    for given in recipes:
        try:
            read.append(as_recipe(given))
        except OvertError as error:
            read.append(error)
    wrong = [one for one in read if isinstance(one, OvertError)]
    if wrong and len(wrong) == len(read):
        raise wrong[0]
    return read


def _names(recipes: Sequence[Recipe | str | Path]) -> list[str]:
    """The names of the recipes, with their folder where two are the same."""
    paths = [recipe.path if isinstance(recipe, Recipe) else Path(recipe) for recipe in recipes]
    plain = [path.name.removesuffix(".toml") for path in paths]
    if len(set(plain)) == len(plain):
        return plain
    return [f"{path.parent.name}/{name}" for path, name in zip(paths, plain, strict=True)]
