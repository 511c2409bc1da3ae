# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_audit.py
"""`overt.audit`: what someone who knows the method can still learn from the release that a recipe gives."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator

from overt.adversary.audit import audit_columns
from overt.adversary.downcoding.downcoding import downcode
from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.learner.findings import Learned
from overt.adversary.learner.learner import learn_columns
from overt.adversary.other_tools.published_cells import downcode_other
from overt.adversary.other_tools.searches import audit_other, learn_other
from overt.adversary.summary import Audit
from overt.adversary.together.audit_together import Together
from overt.engine.course import prepare
from overt.engine.dp_run import refuse_dp
from overt.engine.l_sweep import SECONDS, goal_at, method_at
from overt.engine.l_sweep import sweep as sweep_release
from overt.engine.result import Result
from overt.engine.together import audit_recipes_together, lines_of_together
from overt.engine.tool_files import read_tool_file
from overt.errors import InvalidInput
from overt.io.atomic import all_or_nothing
from overt.io.pilot_record import pilot_for_run
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.metrics.known_counts import KnownCounts, find_known_counts
from overt.progress import Progress, silent
from overt.report.downcoding import lines_of_downcoding
from overt.report.leak import (
    RELIABILITY,
    Leak,
    belief_rows,
    brief,
    how_found,
    risk_rows,
    sentence_of_worst,
    sweep_failures,
    sweep_rows,
    words_of_certain,
)
from overt.report.leak_section import page_of_leak
from overt.report.lines import aligned, labelled
from overt.report.person_sentences import counted_persons, of_known_counts
from overt.report.sentences import counted

NO_SENSITIVE = "the table has no sensitive column"
ROW_BY_ROW = (
    "every row is generalized on its own, and nothing is promised of sensitive values; what a reader learns about quasi-identifiers, and "
    "with --learner about sensitive values, is measured"
)


@dataclass(frozen=True, eq=False)
class Audited(Result):
    """What `overt.audit` gives: what someone who knows the method learns, and where that was written to."""

    leak: Leak
    title: str
    rows_file: Path | None = None  # the beliefs about every row: for the owner alone
    page: Path | None = None
    downcoded: Downcoding | None = None  # what a reader learns about quasi-identifiers
    together: Together | None = None  # what several releases of the same people give away
    known_counts: tuple[KnownCounts, ...] = ()  # what somebody learns who also knows how many rows everybody has
    whom: str = ""  # whom the release is about, as in "600 persons with 1,190 rows"; empty: a row is a person

    def content(self) -> dict[str, Any]:
        """Plain values."""
        leak, downcoded = self.leak, None if self.downcoded is None else self.downcoded.to_dict()
        if leak.audit is None:
            about = [one.to_dict() for one in leak.learned]
            return {"leak": brief(leak), "audit": None, "learner": about, "downcoding": downcoded}
        learned: list[Any] = [one.to_dict() for one in leak.learned] or [None] * len(leak.audits)
        first, *others = ({**one.to_dict(), "learner": its} for one, its in zip(leak.audits, learned, strict=True))
        return {
            "downcoding": downcoded,
            **first,
            "other_columns": others,
            "together": None if self.together is None else self.together.to_dict(),
            "known_counts": [{**asdict(one), "highest": float(one.highest)} for one in self.known_counts],
            "sweep": None if leak.sweep is None else leak.sweep.to_dict(),
            "plots": {name: dict(plot.spec) for name, plot in leak.plots.items()},
            "rows_file": None if self.rows_file is None else str(self.rows_file),
            "page": None if self.page is None else str(self.page),
        }

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The audit as tables and sentences."""
        if self.leak.audit is None:
            yield from labelled([("Leak", brief(self.leak))], width)
            for learned in self.leak.learned:
                yield from lines_of_learner(learned, width)
        else:
            yield from lines_of_leak(self.leak, width, self.whom)
        if self.downcoded is not None:
            yield from lines_of_downcoding(self.downcoded, width)
        yield from labelled((("Counts", words) for words in of_known_counts(self.known_counts)), width)
        if self.together is not None:
            yield ""
            yield from lines_of_together(self.together, width)
        if self.rows_file is not None:
            yield from labelled([("Rows", f"{self.rows_file} (for the owner alone)")], width)
        if self.page is not None:
            yield from labelled([("Page", str(self.page))], width)

    def to_html(self) -> str:
        """The audit, with its plots, as a page of its own."""
        return page_of_leak(self.leak, title=self.title, downcoded=self.downcoded)


def audit(
    recipe: Recipe | str | Path,
    *,
    rng: Generator | None = None,
    seconds: float | None = None,
    sweep: Sequence[int] = (),
    methods: Sequence[str] = (),
    learner: bool = False,
    together: Sequence[Recipe | str | Path] = (),
    made_by: str | None = None,
    release: str | Path | None = None,
    rows: str | Path | None = None,
    page: str | Path | None = None,
    overwrite: bool = False,
    on_progress: Progress = silent,
) -> Audited:
    """Make the release of a recipe, and measure what somebody who replays its method can conclude about everybody.

    `sweep` lists other l for which each of the `methods` is audited too. `learner` also measures how much is guessed right by somebody who
    knows how values depend on quasi-identifiers. `seconds` is the time limit for what must be sampled. If given, `rows` is a CSV file for the
    beliefs about every row, and `page` an HTML file with plots. The release is not written.

    With recipes in `together`, whose releases are about the same people, also measure what somebody who has all these releases can conclude.

    A `release` that another tool made is audited by replaying the search of that tool: `made_by` is "arx", "anjana" or "anonypy".
    The recipe says what the tool was given: the data, the hierarchies, the goal and, as its method `full-domain`, what was
    optimised and how many rows could be suppressed.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> audited = overt.audit(folder / "recipe.toml")
    >>> audited.leak.is_proven, audited.leak.proof.strength
    (True, 'strong')
    """
    if any(l < 2 for l in sweep):
        raise InvalidInput(f"--sweep is given l = {min(sweep)}; give whole numbers of at least 2.")
    if made_by is None and release is not None:
        raise InvalidInput("--release is a file of another tool; say which with --made-by arx, anjana or anonypy.")
    if made_by is not None and (sweep or methods or together):
        raise InvalidInput(
            "--sweep, --methods and --together ask about releases by Overt; leave them out with --made-by."
        )
    recipe, rng = as_recipe(recipe), rng or np.random.default_rng()
    how: dict[str, Any] = {"rng": rng, "seconds": seconds, "with_learner": learner, "on_progress": on_progress}
    known_counts: tuple[KnownCounts, ...] = ()
    whom = ""
    if made_by is not None:
        leak, downcoded = _audit_file(recipe, None if release is None else Path(release), made_by, **how)
    else:
        leak, downcoded, known_counts, whom = _audit_release(recipe, sweep, methods, **how)
    found = Audited(
        leak,
        recipe.source.base.name,
        None if rows is None else Path(rows),
        None if page is None else Path(page),
        downcoded,
        audit_recipes_together([recipe, *together], rng=rng, on_progress=on_progress) if together else None,
        known_counts,
        whom,
    )
    if leak.audit is None:
        if rows is not None or page is not None:
            why = (
                "The table has no sensitive column to audit"
                if leak.why_not == NO_SENSITIVE
                else f"There are no beliefs: {leak.why_not}"
            )
            raise InvalidInput(f"{why}; leave out --rows and --page.")
        return found
    with all_or_nothing(overwrite=overwrite, for_owner=True) as stage:
        if found.rows_file is not None:
            rows_of(leak.audits).write_csv(stage(found.rows_file))
        if found.page is not None:
            stage(found.page).write_text(found.to_html(), encoding="utf-8")
    return found


def _audit_release(
    recipe: Recipe,
    ls: Sequence[int],
    methods: Sequence[str],
    *,
    rng: Generator,
    seconds: float | None,
    with_learner: bool,
    on_progress: Progress,
) -> tuple[Leak, Downcoding, tuple[KnownCounts, ...], str]:
    refuse_dp(recipe, "an audit of what became of its rows")
    settings = recipe.settings.audit
    seconds = float(seconds or settings.seconds or SECONDS)
    ls, methods = ls or settings.sweep, methods or settings.methods
    for name in methods if ls else ():  # what cannot be compared is said before the work, not after it
        method_at(recipe.method, recipe.goal, name)
    for l in ls:
        goal_at(recipe.goal, l)
    pilot = pilot_for_run(recipe)
    prepared = prepare(recipe, on_progress, left_out=None if pilot is None else pilot.rows)
    release = prepared.make(rng, on_progress).warn()
    recover = partial(downcode, release, show=recipe.choices("show"), rng=rng.spawn(1)[0], on_progress=on_progress)
    if not release.table.sensitive:
        return Leak(None, NO_SENSITIVE), recover(), (), ""
    asks_learner = with_learner or settings.learner
    if release.is_row_by_row:  # there is nothing to replay: what a row shows does not depend on the values of others
        learned = learn_columns(release, rng=rng, on_progress=on_progress) if asks_learner and release.n_groups else ()
        return Leak(None, ROW_BY_ROW, learned=learned), recover(), (), counted_persons(release.table)
    found, *others = audit_columns(release, rng=rng, seconds=seconds, on_progress=on_progress)
    swept = sweep_release(
        release,
        recipe.goal,
        ls,
        methods,
        rng=rng,
        seconds=seconds,
        on_progress=on_progress,
    )
    learned = learn_columns(release, rng=rng, on_progress=on_progress) if asks_learner else ()
    proof = release.method.guarantee if found.replayed.how == "shares" else None
    return (
        Leak(found, proof=proof, sweep=swept, learned=learned, others=tuple(others)),
        recover(),
        find_known_counts(release),
        counted_persons(release.table),
    )


def _audit_file(
    recipe: Recipe,
    release: Path | None,
    made_by: str,
    *,
    rng: Generator,
    seconds: float | None,
    with_learner: bool,
    on_progress: Progress,
) -> tuple[Leak, Downcoding]:
    file = read_tool_file(recipe, made_by, release, on_progress)
    search, table, shown = file.search, file.table, file.shown
    limit = float(seconds or recipe.settings.audit.seconds or SECONDS)
    downcoded = downcode_other(table, shown, search, on_progress=on_progress)
    found = audit_other(table, shown, search, rng=rng, seconds=limit, on_progress=on_progress)
    learned = (learn_other(table, shown, search, rng=rng, on_progress=on_progress),) if with_learner else ()
    return Leak(found, learned=learned), downcoded


def lines_of_leak(leak: Leak, width: int | None, whom: str = "") -> Iterator[str]:
    """What a person wants to know about an audit."""
    first, names = leak.audits[0], " and ".join(one.column for one in leak.audits)
    groups = f"{first.n_groups:,} group{'s' if first.n_groups != 1 else ''}"
    are = "are" if leak.others else "is"
    opening = [
        ("Release", f"{whom or counted(first.n_rows, 'row')} in {groups}, by {first.method}; {names} {are} sensitive"),
        ("Adversary", "knows everyone's quasi-identifiers and the release; on the right also the method"),
    ]
    yield from labelled(opening, width)
    for found in leak.audits:
        if leak.others:
            yield from ("", f"  About {found.column}:")
        yield ""
        yield from aligned([("", "release alone", "with the method"), *belief_rows(found)])
        yield ""
        yield from labelled((("Certain", words) for words in words_of_certain(found)), width)
        yield from labelled([("Worst", sentence_of_worst(found)), ("Found by", how_found(found))], width)
        yield from ("", "  In the words of regulators (Opinion 05/2014 of the Article 29 Working Party):", "")
        risks = [(name, alone, replayed, measure) for name, measure, alone, replayed in risk_rows(found)]
        yield from aligned([("", "release alone", "with the method", ""), *risks])
    if leak.sweep is not None:
        yield from ("", "  People above 1/l to someone who knows the method:", "")
        if leak.sweep.points:
            yield from aligned(sweep_rows(leak.sweep))
        yield from labelled((("", why) for why in sweep_failures(leak.sweep)), width)
    for learned in leak.learned:
        yield from lines_of_learner(learned, width)


def lines_of_learner(learned: Learned, width: int | None) -> Iterator[str]:
    """What someone guesses right who knows how values depend on quasi-identifiers."""
    yield from (
        "",
        f"  A learner of {learned.column} (for the owner alone: guesses are compared with the true values):",
        "",
    )
    yield from labelled((("", sentence) for sentence in learned.sentences()), width)
    yield ""
    yield from aligned([("", "guessed right"), *learned.rows()])
    yield ""
    yield from aligned([RELIABILITY, *learned.reliability_rows()])


def rows_of(audits: Sequence[Audit]) -> pl.DataFrame:
    """Every row's beliefs; of several sensitive columns, the columns of each one carry its name."""
    first, *others = audits
    if not others:
        return first.of_rows()
    named = [
        one.of_rows().rename({name: f"{one.column}: {name}" for name in one.of_rows().columns if name != "row"})
        for one in audits
    ]
    return pl.concat([named[0], *(one.drop("row") for one in named[1:])], how="horizontal")
