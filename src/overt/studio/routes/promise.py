# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_bring.py
"""Promise: what shall hold for everybody. Whether it can be kept is tried on the pilot, never on those who are published."""

from typing import Annotated, Any

from fastapi import APIRouter, Form
from numpy.random import default_rng
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from overt.engine.budget import Account
from overt.engine.compare import prepare_to_look_at
from overt.errors import InvalidInput
from overt.guarantee import Guarantee
from overt.io.recipe.recipe import Recipe, parse_recipe
from overt.progress import Progress
from overt.studio.dp_promise import account_of, back_from_dp, kept_in_dp, limits_of, proposed_edit
from overt.studio.edits import set_goal
from overt.studio.measurements import Measurements
from overt.studio.pages import NotFoundError, Pages, count_of, in_page, is_htmx
from overt.studio.promises import BY_NAME, cards_of, dp_part, groups_of, others_of, sentence_of
from overt.studio.routes.table import ROLES
from overt.studio.session import Session

NOTHING_TYPED = {"epsilon": "1", "delta": "0.000001", "n_rows": "10000", "limit_epsilon": "", "limit_delta": ""}


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/s/{session_id}/promise")
    measurements = Measurements(pages.jobs)

    def values(session: Session, **more: Any) -> dict[str, Any]:
        cards = cards_of(session.document, session.found.get("dials"))
        account = account_if_any(session)
        return {
            "session": session,
            "current": "promise",
            "groups": groups_of(cards),
            "said": sentence_of(cards),
            "others": others_of(session.document),
            "problem": None,
            "problem_key": None,
            "dp": dp_part(session.document),
            "account": account,
            "typed": {**NOTHING_TYPED, **limits_of(account), **session.found.get("dp form", {})},
            "kept": kept_in_dp(session),
            "roles": ROLES,
            "method": session.document["method"]["name"],
            "guarantee": guarantee_if_any(session),
            **more,
        }

    @router.get("")
    def promise(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        measurements.forget(session, "failed")
        return pages.page(request, "promise.html", **values(session))

    @router.get("/kept")
    def kept(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        parts = ("input", "columns", "goal", "method", "pilot")
        job = measurements.ask(session, "kept", parts, "Trying whether it can be kept", try_plan)
        return pages.page(request, "promise_kept.html", session=session, job=job)

    @router.post("/goal")
    def goal(
        request: Request,
        session_id: str,
        property: Annotated[str, Form()],  # noqa: A002
        value: Annotated[float, Form()],
        column: Annotated[int, Form(ge=0)] = 0,
        made: Annotated[bool, Form()] = False,
        positive: Annotated[str, Form()] = "",
    ) -> Response:
        session = pages.session(session_id)
        promise, names = BY_NAME.get(property), list(session.document["columns"])
        if promise is None or column >= len(names):
            raise NotFoundError
        of = names[column] if promise.is_of_column else None
        parameters: dict[str, Any] | None = None
        if made:
            parameters = {promise.parameter: promise.dial.in_recipe(value)}
            if promise.has_positive and positive.split():
                parameters["positive"] = [line.strip() for line in positive.splitlines() if line.strip()]
        key = f"{property}-{column if promise.is_of_column else 0}"
        session.found.setdefault("dials", {})[key] = value
        problem = None
        try:
            edit = set_goal(property, of, parameters)
            understand(session, edit)
            words = f"{promise.title}{f' ({of})' if of else ''}"
            session.change(words if made else f"{words}: no longer", edit)
        except InvalidInput as error:
            problem = in_page(str(error))
        if is_htmx(request):
            more = {"problem": problem, "problem_key": key}
            return pages.fragment(request, "promise_cards.html", **values(session, **more))
        if problem:
            raise InvalidInput(problem)
        return RedirectResponse(f"/s/{session.id}/promise", 303)

    @router.post("/dp")
    def dp(
        request: Request,
        session_id: str,
        epsilon: Annotated[float, Form(gt=0, le=100)] = 1.0,
        delta: Annotated[float, Form(gt=0, lt=1)] = 1e-6,
        n_rows: Annotated[int, Form(ge=1, le=10**12)] = 10_000,
        made: Annotated[bool, Form()] = False,
        confirmed: Annotated[bool, Form()] = False,
    ) -> Response:
        session = pages.session(session_id)
        problem = None
        try:
            if made:
                keep_typed(session, epsilon=f"{epsilon:g}", delta=f"{delta:g}", n_rows=str(n_rows))
                if not confirmed and dp_part(session.document) is None:
                    raise InvalidInput(
                        "Say that what stays in the recipe does not come from this table: nobody but you can know that."
                    )
                session.change(f"Differential privacy, ε = {epsilon:g}", proposed_edit(session, epsilon, delta, n_rows))
            elif dp_part(session.document) is not None:
                session.change("Differential privacy: no longer", back_from_dp(session))
        except InvalidInput as error:
            problem = in_page(str(error))
        return answer(request, session, problem, "dp")

    @router.post("/limit")
    def limit(
        request: Request,
        session_id: str,
        limit_epsilon: Annotated[float, Form(gt=0, le=1000)],
        limit_delta: Annotated[float, Form(gt=0, lt=1)],
    ) -> Response:
        """How much all differentially private releases of this working copy may cost together."""
        session = pages.session(session_id)
        problem = None
        try:
            account_of(session, epsilon=limit_epsilon, delta=limit_delta)
        except InvalidInput as error:
            problem = in_page(str(error))
        return answer(request, session, problem, False)

    def answer(request: Request, session: Session, problem: str | None, told: str | bool) -> Response:
        if is_htmx(request):
            more = {"problem": problem, "problem_key": "dp"}
            return pages.fragment(
                request, "promise_cards.html", is_edit=False if problem else told, **values(session, **more)
            )
        if problem:
            raise InvalidInput(problem)
        return RedirectResponse(f"/s/{session.id}/promise", 303)

    return router


def keep_typed(session: Session, **typed: str) -> None:
    """What stands in the form of differential privacy, also after something else of the page was answered."""
    session.found["dp form"] = {**session.found.get("dp form", {}), **typed}


def account_if_any(session: Session) -> Account | None:
    """The ledger of the table; None if the recipe cannot be read as it stands."""
    try:
        return account_of(session)
    except InvalidInput:
        return None


def guarantee_if_any(session: Session) -> Guarantee | None:
    """Against whom the method of the recipe keeps its goal; None if the recipe cannot be run as it stands."""
    try:
        return parse_recipe(session.history.text, folder=session.folder).method.guarantee
    except InvalidInput:
        return None


def understand(session: Session, edit: Any) -> None:
    """Let the library refuse a change before it is written."""
    from overt.io.recipe.toml_text import toml_of

    parse_recipe(toml_of(edit(session.document)), folder=session.folder)


def try_plan(recipe: Recipe, on_progress: Progress) -> str:
    """Make a release of the pilot's people, who are not published, and throw it away; what stands in the way is the error."""
    if recipe.is_dp:
        return "Nothing was tried: a trial would spend of the budget too. What is promised holds by its proof, whatever the data are."
    prepared, looks_at = prepare_to_look_at(recipe, on_progress)
    made = prepared.make(default_rng(), on_progress)
    people = "everybody" if looks_at is None else f"the {looks_at:,} people of the pilot"
    return f"It was tried on {people}, in {count_of(made.release.n_groups, 'group')} by {recipe.method.name}. Nothing was published."
