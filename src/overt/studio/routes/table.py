# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_steps.py
"""Table: what the columns are. Every choice is written into the recipe at once."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from overt.errors import InvalidInput
from overt.io.profiling import ColumnProfile, Profile
from overt.io.recipe.recipe import parse_recipe
from overt.io.recipe.toml_text import toml_of
from overt.studio.doubts import Doubt, cautions_of, doubts_of, in_words, is_doubtful
from overt.studio.drawings import Spark, spark_of
from overt.studio.edits import read_dates_as, set_missing, set_role
from overt.studio.history import Document
from overt.studio.measurements import OF_TABLE, Measurements
from overt.studio.pages import NotFoundError, Pages, in_page, is_htmx
from overt.studio.person_question import PersonAnswer, count_people, edit_of, said_of_people, shown_person
from overt.studio.session import Session

ROLES = {
    "identifier": ("Names a person", "Never released."),
    "quasi-identifier": ("Others may know it", "Released in coarser steps."),
    "sensitive": ("Nobody may learn it", "Released, but nobody’s can be told."),
    "other": ("Leave it out", "Not released."),
}
RoleName = Literal["identifier", "quasi-identifier", "sensitive", "other"]


MOST_COLUMNS = 50  # on a page


@dataclass(frozen=True)
class ColumnOnScreen:
    """A column as this screen shows it."""

    name: str
    number: int
    role: str
    is_changed: bool  # by the person, against the proposal
    proposed: str
    meta: str
    reason: str
    spark: Spark | None
    does: str
    doubts: tuple[Doubt, ...]  # what should be looked at


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/s/{session_id}/table")
    measurements = Measurements(pages.jobs)

    @router.get("")
    def table(request: Request, session_id: str, first: Annotated[int, Query(ge=0)] = 0) -> Response:
        session = pages.session(session_id)
        measurements.forget(session, "failed")
        return pages.page(request, "table.html", session=session, current="table", **_values(session, first))

    @router.post("/role")
    def role(
        request: Request, session_id: str, column: Annotated[int, Form(ge=0)], role: Annotated[RoleName, Form()]
    ) -> Response:
        session = pages.session(session_id)
        profiles = _profile(session).columns
        if column >= len(profiles):
            raise NotFoundError
        name = profiles[column].name
        session.change(f"{name}: {ROLES[role][0].lower()}", set_role(name, role, session.proposal["columns"].get(name)))
        return changed(request, session, column)

    @router.post("/dates")
    def dates(
        request: Request,
        session_id: str,
        column: Annotated[int, Form(ge=0)],
        form: Annotated[str, Form(max_length=60)] = "",
    ) -> Response:
        """Which of the two readings that fit is meant."""
        session = pages.session(session_id)
        one, doubt = doubt_about(session, column, "dates")
        forms = [choice for choice, _ in doubt.choices]
        if form not in forms:
            settled, form = session.settled - {one.name}, forms[0]  # not known after all
        else:
            settled = session.settled | {one.name}
        session.change(f"{one.name}: {in_words(form)}", read_dates_as(one.name, form, forms), settled=settled)
        return changed(request, session, column)

    @router.post("/missing")
    def missing(
        request: Request,
        session_id: str,
        column: Annotated[int, Form(ge=0)],
        is_missing: Annotated[bool, Form()] = False,
    ) -> Response:
        """Whether texts that look like it stand for missing values."""
        session = pages.session(session_id)
        one, _ = doubt_about(session, column, "marks")
        words = f"{', '.join(one.marks)}: {'missing' if is_missing else 'a value'}"
        session.change(words, set_missing(one.marks, is_missing=is_missing))
        return changed(request, session, column)

    def doubt_about(session: Session, column: int, about: str) -> tuple[ColumnProfile, Doubt]:
        profiles = _profile(session).columns
        doubts = doubts_of(profiles[column], session.document, session.settled) if column < len(profiles) else ()
        found = next((doubt for doubt in doubts if doubt.about == about), None)
        if found is None:
            raise NotFoundError
        return profiles[column], found

    def changed(request: Request, session: Session, column: int) -> Response:
        first = column - column % MOST_COLUMNS
        if not is_htmx(request):
            return RedirectResponse(f"/s/{session.id}/table?first={first}#c-{column}", 303)
        values = _values(session, first)
        values["column"] = values["columns"][column - first]
        return pages.fragment(request, "table_changed.html", session=session, current="table", is_edit=True, **values)

    @router.post("/person")
    def person(
        request: Request,
        session_id: str,
        about: Annotated[Literal["row", "person", "household"], Form()],
        column: Annotated[int | None, Form(ge=0)] = None,
        keep: Annotated[str, Form(pattern="^(all|[1-9][0-9]{0,3})$")] = "1",
        which: Annotated[Literal["random", "latest", "first"], Form()] = "random",
        order: Annotated[str, Form(pattern="^[0-9]{0,6}$")] = "",
        varies: Annotated[list[int] | None, Form()] = None,
    ) -> Response:
        session = pages.session(session_id)
        asked = PersonAnswer(about, column, int(keep) if keep != "all" else "all", which, order, tuple(varies or ()))
        problem = ""
        try:
            words, edit = edit_of(session, asked)
            parse_recipe(toml_of(edit(session.document)), folder=session.folder)
            session.change(words, edit, is_household=about == "household")
        except InvalidInput as error:
            problem = in_page(str(error))
        if is_htmx(request):
            values = {**_values(session, 0), "person": shown_person(session, problem)}
            return pages.fragment(request, "table_person.html", session=session, current="table", **values)
        if problem:
            raise InvalidInput(problem)
        return RedirectResponse(f"/s/{session.id}/table#person", 303)

    @router.get("/people")
    def people(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        job = measurements.ask(session, "people", OF_TABLE, "Counting people", count_people)
        return pages.page(request, "people_counted.html", session=session, job=job, said=said_of_people(session, job))

    return router


def _profile(session: Session) -> Profile:
    profile = session.found["profile"]
    assert isinstance(profile, Profile)
    return profile


def _values(session: Session, first: int) -> dict[str, Any]:
    profile, document, proposal = _profile(session), session.document, session.proposal
    numbered = list(enumerate(profile.columns))
    chosen = [document["columns"].get(one.name, {}).get("role", "other") for one in profile.columns]
    settled = session.settled
    return {
        "profile": profile,
        "columns": [
            _shown(document, proposal, number, one, settled) for number, one in numbered[first : first + MOST_COLUMNS]
        ],
        "roles": ROLES,
        "count": {role: chosen.count(role) for role in ROLES},
        "doubts": [(number, one.name) for number, one in numbered if is_doubtful(one, document, settled)],
        "cautions": cautions_of(profile, document),
        "first": first,
        "step": MOST_COLUMNS,
        "person": shown_person(session),
    }


def _shown(
    document: Document, proposal: Document, number: int, one: ColumnProfile, settled: Collection[str]
) -> ColumnOnScreen:
    chosen = document["columns"].get(one.name, {}).get("role", "other")
    proposed = proposal["columns"].get(one.name, {}).get("role", "other")
    is_hidden = one.column is None or chosen == "identifier"
    return ColumnOnScreen(
        name=one.name,
        number=number,
        role=chosen,
        is_changed=chosen != proposed,
        proposed=ROLES[proposed][0].lower(),
        meta=_meta(one),
        reason=one.reason,
        spark=None if is_hidden or one.column is None else spark_of(one.column),
        does=ROLES[chosen][1],
        doubts=doubts_of(one, document, settled),
    )


def _meta(one: ColumnProfile) -> str:
    if one.kind is None and str(one.role) == "sensitive":
        return "not looked at, because nobody may learn it"
    kind = {"category": "category", "number": "number", "date": "date"}.get(str(one.kind), "cannot have a role")
    missing = f"{one.n_missing:,} missing" if one.n_missing else "none missing"
    return f"{kind} · {one.n_distinct:,} different · {missing}"
