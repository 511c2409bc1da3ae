# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Compare: several methods side by side, tried on people who are not published, and what each gives away to somebody who has the code."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from overt.errors import InvalidInput
from overt.io.recipe.toml_text import toml_of
from overt.report.leak import belief_rows, brief
from overt.report.leak_verdict import LeakVerdict
from overt.report.sentences import one_in
from overt.report.svg import draw
from overt.studio.edits import is_dp, set_sections
from overt.studio.history import Document
from overt.studio.method_settings import SETTINGS, chosen_settings
from overt.studio.pages import NotFoundError, Pages, in_page, is_htmx
from overt.studio.runs import LONGER, OF_RUN, OFFERS, Run, Runs
from overt.studio.session import Session


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/s/{session_id}/compare")
    runs = Runs(pages.jobs)

    def values(session: Session) -> dict[str, Any]:
        shown = runs.of(session)
        chosen = session.document["method"]
        return {
            "session": session,
            "current": "compare",
            "runs": shown,
            "offers": OFFERS,
            "settings": SETTINGS,
            "dp": is_dp(session.document),
            "chosen": chosen,
            "headline": headline(shown, session),
            "looked_at": next((run.candidate.looks_at for run in shown if run.candidate is not None), None),
            "waits": any(run.job is not None and not run.is_over for run in shown),
            "guessed": guessed_columns(session, shown),
            "has_candidates": any(run.candidate is not None for run in shown),
            "one_in": one_in,
            "LeakVerdict": LeakVerdict,
        }

    @router.get("")
    def compare(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        if request.headers.get("hx-target") == "runs":
            return pages.fragment(request, "compare_runs.html", **values(session))
        return pages.page(request, "compare.html", **values(session))

    @router.post("/runs")
    def begin(
        request: Request,
        session_id: str,
        method: Annotated[str, Form()],
        rows_per_bucket: Annotated[str, Form(max_length=20)] = "",
        cuts: Annotated[str, Form(max_length=20)] = "",
        cells: Annotated[str, Form(max_length=20)] = "",
        relaxed: Annotated[str, Form(max_length=20)] = "",
        choose: Annotated[str, Form(max_length=20)] = "",
        max_suppressed: Annotated[str, Form(max_length=20)] = "",
    ) -> Response:
        session = pages.session(session_id)
        offer = next((offer for offer in OFFERS if offer.key == method), None)
        if offer is None:
            raise NotFoundError
        if is_dp(session.document):
            raise InvalidInput(
                "Differential privacy is promised, and a trial would spend of its budget; take that promise back to compare other methods."
            )
        given = {"rows_per_bucket": rows_per_bucket, "cuts": cuts, "cells": cells, "relaxed": relaxed}
        given |= {"choose": choose, "max_suppressed": max_suppressed}
        runs.begin(session, {**offer.method, **chosen_settings(method, given)})
        return answer(request, session)

    @router.get("/runs/{number}")
    def run(request: Request, session_id: str, number: int) -> Response:
        session, one = found(session_id, number)
        return pages.page(request, "run.html", **values_of_run(session, one))

    @router.get("/runs/{number}/people")
    def people(
        request: Request, session_id: str, number: int, group: Annotated[int, Query(ge=1, le=10**12)]
    ) -> Response:
        session, one = found(session_id, number)
        if one.tried is None:
            raise NotFoundError
        behind = one.tried.people_behind(group)
        if is_htmx(request):
            return pages.page(request, "people.html", people=behind)
        return pages.page(request, "run.html", **{**values_of_run(session, one), "people": behind})

    @router.post("/runs/{number}/learner")
    def learner(request: Request, session_id: str, number: int) -> Response:
        session, one = found(session_id, number)
        runs.ask_learner(session, one)
        if request.headers.get("hx-target") == "learner":
            return pages.page(request, "run_learner.html", **values_of_run(session, one))
        return answer(request, session)

    @router.get("/runs/{number}/learner")
    def learned(request: Request, session_id: str, number: int) -> Response:
        session, one = found(session_id, number)
        return pages.page(request, "run_learner.html", **values_of_run(session, one))

    @router.post("/runs/{number}/again")
    def again(request: Request, session_id: str, number: int) -> Response:
        session, one = found(session_id, number)
        runs.try_document(session, one.document)
        runs.forget(session, one)
        return answer(request, session)

    @router.post("/runs/{number}/longer")
    def longer(request: Request, session_id: str, number: int) -> Response:
        session, run = found(session_id, number)
        runs.try_document(session, run.document, LONGER)
        return answer(request, session)

    @router.post("/runs/{number}/choose")
    def choose(request: Request, session_id: str, number: int) -> Response:
        session, run = found(session_id, number)
        words = f"Method: {run.offer.title}"
        if not run.is_of(session.document):
            words += f", with the promise and the columns of run {number}"
        session.change(words, set_sections(run.document, OF_RUN))
        return RedirectResponse(f"/s/{session.id}/release", 303)

    @router.get("/plane.json", response_class=JSONResponse)
    def plane(session_id: str, column: Annotated[int, Query(ge=0)] = 0) -> dict[str, Any]:
        session = pages.session(session_id)
        shown = runs.of(session)
        names = guessed_columns(session, shown)
        name = names[column] if column < len(names) else None
        return {"points": points_of(shown, name), "promise": promised_chance(session.document, name)}

    def found(session_id: str, number: int) -> tuple[Session, Run]:
        session = pages.session(session_id)
        run = runs.find(session, number)
        if run is None:
            raise NotFoundError
        return session, run

    def answer(request: Request, session: Session) -> Response:
        if is_htmx(request):
            return pages.fragment(request, "compare_runs.html", **values(session))
        return RedirectResponse(f"/s/{session.id}/compare", 303)

    return router


def values_of_run(session: Session, run: Run) -> dict[str, Any]:
    """What the page of a run needs."""
    if run.candidate is None or run.tried is None:
        raise NotFoundError
    leak = run.candidate.leak
    audits = []
    for one in () if leak is None else leak.by_column:
        if one.audit is not None and one.has_figures:
            plot = one.plots.get("beliefs")
            drawing = None if plot is None else Markup(draw(plot.spec))
            audits.append({"column": one.audit.column, "rows": list(belief_rows(one.audit)), "drawing": drawing})
    now = set(session.history.text.splitlines())
    return {
        "session": session,
        "current": "compare",
        "run": run,
        "one": run.candidate,
        "tried": run.tried,
        "leak": leak,
        "said": "" if leak is None else in_page(brief(leak)),
        "audits": audits,
        "LeakVerdict": LeakVerdict,
        "sensitive": [column.name for column in run.tried.release.table.sensitive],
        "lines": [(line, line not in now) for line in toml_of(run.document).splitlines()],
        "people": None,
    }


def headline(runs: list[Run], session: Session) -> str:
    """What the comparison says, in one sentence."""
    known = [run for run in runs if run.candidate is not None and run.is_of(session.document)]
    safe = [
        run.offer.title for run in known if run.candidate is not None and run.candidate.guarantee.strength == "strong"
    ]
    if not known:
        return "Which method keeps the promise best?"
    if safe:
        return f"{safe[0]} keeps the promise, also against someone who knows the method"
    return "None of these is proven against someone who knows the method"


def guessed_columns(session: Session, runs: list[Run]) -> list[str]:
    """The sensitive columns that something is known of, those first that a limit on guesses is promised of."""
    names = dict.fromkeys(one.column for run in runs for one in run.guesses)
    return sorted(names, key=lambda name: promised_chance(session.document, name) is None)


def points_of(runs: list[Run], column: str | None) -> list[dict[str, Any]]:
    """A point for every run, and one more where it is known how much someone who knows the method guesses right of a column."""
    points = []
    titles = [run.offer.title for run in runs if run.candidate is not None]
    for run in runs:
        one = run.candidate
        if one is None:
            continue
        of = next((guesses for guesses in run.guesses if guesses.column == column), None)
        guess = float(one.risk.identification.prosecutor) if of is None else of.alone
        point = {
            "method": f"{run.offer.title}, run {run.number}",
            "name": run.offer.title if titles.count(run.offer.title) == 1 else f"{run.offer.title}, run {run.number}",
            "cost": one.utility.pair_divergence,
        }
        points.append({**point, "guess": guess, "reader": "release alone"})
        leak = one.leak
        if leak is not None and leak.is_proven:
            points[-1]["reader"] = "both, proven"
        elif leak is not None and of is not None and of.with_method is not None:
            points.append({**point, "guess": of.with_method, "reader": "with the method"})
        elif leak is not None:
            points[-1]["reader"] = "alone; with the method not known yet"
    return with_labels(points)


def with_labels(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where the name of each run stands: beside its first point, and never on top of another's."""
    first: dict[str, dict[str, Any]] = {}
    for point in points:
        first.setdefault(point["method"], point)
    highest = max((point["guess"] for point in points), default=1.0)
    last = -1.0
    for point in sorted(first.values(), key=lambda point: float(point["guess"])):
        last = point["label"] = max(float(point["guess"]), last + 0.07 * highest)
    return points


def promised_chance(document: Document, column: str | None) -> float | None:
    """What no value of a column may be likelier than, if that is promised."""
    goals = (goal for goal in document.get("goal", ()) if goal["property"] == "l-diversity")
    return max((1 / float(goal["l"]) for goal in goals if goal.get("column", column) == column), default=None)
