# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Runs: the methods that a session compares. Each is a recipe of its own beside the session's, and a job that tries it on the pilot."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.random import default_rng

from overt.adversary.learner.findings import Learned
from overt.adversary.learner.learner import learn_columns
from overt.engine.compare import compare
from overt.engine.compared_recipes import Candidate, Failure
from overt.io.recipe.recipe import parse_recipe, read_recipe
from overt.io.recipe.toml_text import toml_of
from overt.progress import Progress
from overt.release import Release
from overt.studio.closer_look import (
    CloserColumn,
    Preview,
    QueryError,
    distributions_of,
    people_behind,
    previews_of,
    query_errors_of,
)
from overt.studio.history import Document
from overt.studio.jobs import Job, Jobs
from overt.studio.method_settings import settings_said
from overt.studio.pages import in_page
from overt.studio.session import Session

SECONDS = (
    5.0  # of sampling what someone who knows the method learns, of all columns of a run; "look longer" asks for more
)
LONGER = 60.0
OF_RUN = ("input", "columns", "goal", "pilot", "method")  # the parts of a recipe that a run depends on
LEAST = 0.2  # of one column


@dataclass(frozen=True)
class Offer:
    """A method that can be tried with one click."""

    key: str
    title: str
    why: str
    method: Mapping[str, Any]


OFFERS = (
    Offer(
        "blind-buckets",
        "Blind buckets",
        "boxes of people alike, values dealt blind into buckets",
        {"name": "blind-buckets"},
    ),
    Offer("mondrian", "Mondrian", "cuts the table while the promise holds", {"name": "mondrian"}),
    Offer("full-domain", "Whole columns", "every column at one level; what ARX does", {"name": "full-domain"}),
    Offer("anatomy", "Two tables", "known columns exact, sensitive ones apart; “Anatomy”", {"name": "anatomy"}),
    Offer("batch-matching", "Matched groups", "people alike with different values", {"name": "batch-matching"}),
)
TITLES = {offer.key: offer for offer in OFFERS}


@dataclass(frozen=True, eq=False)
class TriedRun:
    """What came of a run, and a closer look at its release."""

    candidate: Candidate
    previews: tuple[Preview, ...]
    distributions: tuple[CloserColumn, ...]
    query_errors: tuple[QueryError, ...]

    @property
    def release(self) -> Release:
        """What was made, of people who are looked at."""
        assert self.candidate.release is not None
        return self.candidate.release

    def people_behind(self, group: int) -> Preview | None:
        """The people of a group, for the owner."""
        return people_behind(self.release, group)


@dataclass(frozen=True)
class GuessedColumn:
    """The share of values of a sensitive column that are guessed right."""

    column: str
    without: float  # a release: by the most frequent value of all
    alone: float  # by somebody who reads it, and knows who is in which group
    with_method: float | None  # by somebody who also knows the method; None: not known, or nothing more


def guesses_of(candidate: Candidate) -> tuple[GuessedColumn, ...]:
    """What is guessed of every sensitive column, as the library measured it."""
    audited = {}
    if candidate.leak is not None:
        audited = {one.audit.column: one for one in candidate.leak.by_column if one.audit is not None}
    found = []
    for disclosed in candidate.risk.disclosures:
        alone, with_method = disclosed.best_guess, None
        one = audited.get(disclosed.column)
        if one is not None and one.audit is not None:
            alone, replayed = (n / one.audit.n_rows for n in one.audit.guesses)
            with_method = replayed if one.has_figures else None
        found.append(GuessedColumn(disclosed.column, float(disclosed.blind_guess), alone, with_method))
    return tuple(found)


@dataclass(eq=False)
class Run:
    """A recipe that was tried, and the job that tries it."""

    number: int
    path: Path
    document: Document
    job: Job | None  # None: kept in a folder, and not tried again since
    learner: Job | None = None  # asked on request: it takes longer than everything else

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.job is not None and self.job.is_over

    @property
    def learned(self) -> tuple[Learned, ...]:
        """What a learner guesses right, if that was asked and found."""
        return self.learner.result if self.learner is not None and self.learner.state == "done" else ()

    @property
    def offer(self) -> Offer:
        """What it is called."""
        name = self.document["method"]["name"]
        return TITLES.get(name, Offer(name, name, "", self.document["method"]))

    @property
    def candidate(self) -> Candidate | None:
        """What came of it, if anything did."""
        return None if self.tried is None else self.tried.candidate

    @property
    def tried(self) -> TriedRun | None:
        """The same with a closer look at the release."""
        return self.job.result if self.job is not None and isinstance(self.job.result, TriedRun) else None

    @property
    def guesses(self) -> tuple[GuessedColumn, ...]:
        """What somebody guesses right of every sensitive column."""
        return () if self.candidate is None else guesses_of(self.candidate)

    @property
    def why_not(self) -> str:
        """Why nothing came of it."""
        if self.job is None:
            return ""
        return in_page(self.job.result.why if isinstance(self.job.result, Failure) else self.job.error)

    def is_of(self, document: Document) -> bool:
        """Whether it was made for the table and the promise of this recipe."""
        return all(self.document.get(key) == document.get(key) for key in OF_RUN if key != "method")

    @property
    def settings(self) -> str:
        """The settings of its method, as the recipe writes them."""
        return settings_said(self.document["method"])


class Runs:
    """The runs of all sessions."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def of(self, session: Session) -> list[Run]:
        """The runs of a session that were not cancelled, oldest first. Of those that were nothing is left."""
        with session.lock:
            runs: list[Run] = session.found.setdefault("runs", [])
            for run in [one for one in runs if one.job is not None and one.job.state == "cancelled"]:
                runs.remove(run)
                run.path.unlink(missing_ok=True)
            return list(runs)

    def find(self, session: Session, number: int) -> Run | None:
        """A run by its number."""
        return next((run for run in self.of(session) if run.number == number), None)

    def restore(self, session: Session, documents: Iterable[Document]) -> None:
        """Runs of a saved session: their recipes, to be tried again."""
        kept = [
            Run(number, session.folder / f"run-{number}.toml", document, None)
            for number, document in enumerate(documents, 1)
        ]
        session.found["runs"], session.found["number of runs"] = kept, len(kept)

    def forget(self, session: Session, run: Run) -> None:
        """Leave a run out from now on."""
        session.found["runs"] = [one for one in session.found.get("runs", []) if one is not run]
        run.path.unlink(missing_ok=True)

    def begin(self, session: Session, method: Mapping[str, Any], *, seconds: float = SECONDS) -> Run:
        """Try a method with the promise as it stands. What cannot be its settings is refused at once."""
        document = deepcopy(session.document)
        document["method"] = fitting(session.document, method)
        if len(method) > 1:
            parse_recipe(toml_of(document), folder=session.folder, name="recipe.toml")
        return self.try_document(session, document, seconds)

    def try_document(self, session: Session, document: Document, seconds: float = SECONDS) -> Run:
        """Try a recipe."""
        with session.lock:
            number = session.found["number of runs"] = session.found.get("number of runs", 0) + 1
            path = session.folder / f"run-{number}.toml"
            path.write_text(toml_of(document), encoding="utf-8")
            run = Run(number, path, document, None)
            run.job = self.jobs.add(session.id, run.offer.title, lambda say: attempt(path, seconds, say), is_run=True)
            session.found.setdefault("runs", []).append(run)
        return run

    def ask_learner(self, session: Session, run: Run) -> None:
        """Measure what somebody guesses right who knows how values depend on what others may know."""
        if run.tried is None or (run.learner is not None and run.learner.state not in ("cancelled", "failed")):
            return
        release = run.tried.release
        title = f"A learner reads {run.offer.title}"
        run.learner = self.jobs.add(
            session.id, title, lambda say: learn_columns(release, rng=default_rng(), on_progress=say)
        )


def fitting(document: Document, method: Mapping[str, Any]) -> dict[str, Any]:
    """The method with the parameters that the recipe has for it already, if it is the recipe's own, and those that were chosen."""
    own: dict[str, Any] = document["method"]
    return {**own, **method} if own["name"] == method["name"] else dict(method)


def attempt(path: Path, seconds: float, on_progress: Progress) -> TriedRun | Failure:
    """Run one recipe on the pilot and measure what comes out."""

    def stage(what: str, done: int, total: int) -> None:
        on_progress(what.partition(": ")[2] or what, done, total)

    n_columns = max(1, len(read_recipe(path).columns_of("sensitive")))
    compared = compare([path], seconds=max(LEAST, seconds / n_columns), on_progress=stage)
    if not compared.candidates:
        return compared.failures[0]
    one = compared.candidates[0]
    assert one.release is not None
    on_progress("Asking questions of the release", 0, 0)
    show = read_recipe(path).choices("show")
    looks = previews_of(one.release, show), distributions_of(one.release, one.utility), query_errors_of(one.release)
    return TriedRun(one, *looks)
