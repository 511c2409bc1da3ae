# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_waiting.py
"""Risk now: who could be found in the table as it is. Nothing in the recipe changes here."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl
from fastapi import APIRouter, Form, Query
from pydantic import BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from overt.engine.compare import prepare_to_look_at
from overt.engine.course import prepare
from overt.hierarchy.texts import texts_of
from overt.io.recipe.recipe import Recipe
from overt.metrics.risk import AttributeDisclosure, Risk, risk_of_table
from overt.metrics.uniques import Uniques, find_uniques
from overt.progress import Progress
from overt.studio.closer_look import Preview, preview_of
from overt.studio.known_columns import KnownColumn, knowable, table_known
from overt.studio.measurements import OF_TABLE, Measurements
from overt.studio.pages import NotFoundError, Pages, is_htmx
from overt.studio.session import Session
from overt.table import Table

MOST_SETS = 7
MOST_SHOWN = 10  # rows, to the owner
MOST_PICTURES = 4
PopulationShare = Annotated[
    float | None, Field(gt=0, le=1), BeforeValidator(lambda text: text or None)
]  # an empty field is none
SIZES = ((1, 1, "1"), (2, 2, "2"), (3, 4, "3–4"), (5, 9, "5–9"), (10, None, "10+"))


@dataclass(frozen=True, eq=False)
class Findings:
    """What this screen shows of a table."""

    table: Table
    risk: Risk
    uniques: Uniques
    steps: tuple[tuple[str, int], ...]  # (column that is known too, rows that are then unique)
    knowable: tuple[KnownColumn, ...]
    guesses: tuple[AttributeDisclosure, ...]  # of the people who may be looked at
    looks_at: int | None  # how many they are; None: everybody

    @property
    def said(self) -> str:
        """The finding in three words, for the rail."""
        found = self.risk.identification
        if found.n_unique == found.n_rows:
            return "everyone can be found"
        return f"{found.n_unique:,} can be found" if found.n_unique else "nobody is unique"


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/s/{session_id}/risk")
    measurements = Measurements(pages.jobs)

    def ask(session: Session) -> Any:
        return measurements.ask(session, "risk", OF_TABLE, "Counting who looks alike", find)

    @router.get("")
    def risk(request: Request, session_id: str, population: Annotated[PopulationShare, Query()] = None) -> Response:
        session = pages.session(session_id)
        if not is_htmx(request):
            measurements.forget(session, "failed")
        job = ask(session)
        state = job.state  # looked at once: it may end while the page is made
        values = shown(session, job.result, population) if state == "done" else {}
        values |= {"session": session, "current": "risk", "job": job, "state": state}
        if request.headers.get("hx-target") == "found":
            return pages.fragment(request, "risk_found.html", **values)
        return pages.page(request, "risk.html", **values)

    @router.post("/known")
    def known(request: Request, session_id: str, known: Annotated[list[str] | None, Form()] = None) -> Response:
        session = pages.session(session_id)
        job = ask(session)
        if job.state != "done":
            raise NotFoundError
        findings: Findings = job.result
        chosen = [one for one in findings.knowable if one.key in set(known or ())]
        return pages.page(
            request, "risk_known.html", session=session, current="risk", **of_knowledge(findings.table, chosen)
        )

    @router.get("/rows")
    def rows(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        job = ask(session)
        if job.state != "done":
            raise NotFoundError
        return pages.page(request, "risk_rows.html", session=session, found=easiest(job.result))

    return router


def easiest(findings: Findings) -> Preview:
    """Ten rows that the fewest columns single out, without what nobody may learn. For the owner alone."""
    uniques, table = findings.uniques, findings.table
    size = np.where(uniques.size_of_row == 0, np.iinfo(np.int32).max, uniques.size_of_row)
    chosen = uniques.rows[np.argsort(size, kind="stable")[:MOST_SHOWN]]
    cells = {one.name: texts_of(one.values).gather(one.codes[chosen]) for one in table.quasi_identifiers}
    return preview_of("rows", pl.DataFrame(cells), int(uniques.rows.size))


def find(recipe: Recipe, on_progress: Progress) -> Findings:
    """Measure the table of a recipe."""
    table = prepare(recipe, on_progress).table
    looked_at, looks_at = prepare_to_look_at(recipe, on_progress)
    guesses = risk_of_table(looked_at.table).disclosures
    on_progress("Looking for unique rows", 0, 0)
    uniques = find_uniques(table)
    on_progress("Measuring", 0, 0)
    risk = risk_of_table(table)
    order = known_first(table, uniques)
    steps = []
    for n in range(1, min(len(order), MOST_PICTURES) + 1):
        on_progress("Counting who looks alike", n, MOST_PICTURES)
        chosen = [KnownColumn(name, 0, name) for name in (order[:n] if n < MOST_PICTURES else order)]
        steps.append((order[n - 1], risk_of_table(table_known(table, chosen)).identification.n_unique))
    return Findings(table, risk, uniques, tuple(steps), knowable(table), guesses, looks_at)


def known_first(table: Table, uniques: Uniques) -> list[str]:
    """The quasi-identifiers, those first that single out most rows with the fewest others."""
    names = [column.name for column in table.quasi_identifiers]
    weight = dict.fromkeys(names, 0.0)
    for found in uniques.sets:
        for name in found.columns:
            weight[name] += found.n_rows / len(found.columns) ** 2
    return sorted(names, key=lambda name: -weight[name])


def shown(session: Session, findings: Findings, population: float | None) -> dict[str, Any]:
    """What the page needs."""
    measured = risk_of_table(findings.table, population_share=population) if population else findings.risk
    return {
        "findings": findings,
        "identification": measured.identification,
        "risk": measured,
        "sets": findings.uniques.sets[:MOST_SETS],
        "population": population,
        **of_knowledge(findings.table, [one for one in findings.knowable if one.level == 0]),
    }


def of_knowledge(table: Table, chosen: list[KnownColumn]) -> dict[str, Any]:
    """Who is found by somebody who knows some columns, and in groups of which size people are."""
    if not chosen:
        return {"chosen": (), "n_alone": 0, "n_rows": table.n_rows, "sizes": ()}
    measured = risk_of_table(table_known(table, chosen))
    sizes = measured.sizes
    shares = [
        (words, float(sizes[(sizes >= least) & (sizes <= (most or sizes.max()))].sum() / table.n_rows))
        for least, most, words in SIZES
    ]
    return {
        "chosen": tuple(one.key for one in chosen),
        "n_alone": measured.identification.n_unique,
        "n_rows": table.n_rows,
        "sizes": tuple(shares),
    }
