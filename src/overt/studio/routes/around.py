# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_waiting.py
"""Around every screen: the recipe and its history, the jobs and their progress."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from overt.studio.measurements import Measurements
from overt.studio.pages import ENVIRONMENT, NotFoundError, Pages, declared, is_htmx
from overt.studio.releases import recipe_for_elsewhere
from overt.studio.session import Session

PAUSE = 0.4  # seconds between two looks at the jobs
HEARTBEAT = 5.0  # seconds after which a page hears that nothing has changed, and so that it is still connected


def make_router(pages: Pages) -> APIRouter:
    """The routes of every screen's frame."""
    router = APIRouter(prefix="/s/{session_id}")
    measurements = Measurements(pages.jobs)

    @router.get("/recipe")
    def recipe(request: Request, session_id: str) -> Response:
        return recipe_page(pages, request, pages.session(session_id))

    @router.get("/recipe.toml", response_class=Response, responses=declared("application/toml"))
    def download(session_id: str) -> Response:
        session = pages.session(session_id)
        headers = {"content-disposition": 'attachment; filename="recipe.toml"'}
        text = recipe_for_elsewhere(session, session.history.text)
        return Response(text, media_type="application/toml", headers=headers)

    @router.post("/undo")
    def undo(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        session.undo()
        return _back(request, session)

    @router.post("/redo")
    def redo(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        session.redo()
        return _back(request, session)

    @router.post("/jobs/{number}/cancel")
    def cancel(request: Request, session_id: str, number: int) -> Response:
        session = pages.session(session_id)
        job = pages.jobs.find(session.id, number)
        if job is None:
            raise NotFoundError
        pages.jobs.cancel(job)
        return Response(status_code=204) if is_htmx(request) else _back(request, session)

    @router.post("/again")
    def again(request: Request, session_id: str) -> Response:
        """Measure again what failed or was cancelled."""
        session = pages.session(session_id)
        measurements.forget(session, "failed", "cancelled")
        return _back(request, session)

    @router.get("/jobs")
    def jobs(request: Request, session_id: str) -> Response:
        return pages.page(request, "jobs.html", session=pages.session(session_id))

    @router.get("/events", response_class=Response, responses=declared("text/event-stream"))
    async def events(
        request: Request,
        session_id: str,
        since: Annotated[float | None, Query()] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> StreamingResponse:
        session = pages.session(session_id)
        told = read_time(last_event_id)
        first = next((one for one in (told, since) if one is not None), request.state.began)
        return StreamingResponse(stream(pages, request, session, first), media_type="text/event-stream")

    return router


def recipe_page(pages: Pages, request: Request, session: Session, *, problem: str = "", folder: str = "") -> Response:
    """The recipe with its history, and what stood in the way of keeping the session."""
    values = {"lines": recipe_lines(session), "problem": problem, "folder": folder}
    status = 422 if problem else 200
    return pages.page(request, "recipe.html", status=status, session=session, current="recipe", **values)


def read_time(last_event_id: str | None) -> float | None:
    """When the last job ended that a browser was told of before its connection was lost."""
    try:
        return float(last_event_id) if last_event_id else None
    except ValueError:
        return None


async def stream(pages: Pages, request: Request, session: Session, since: float) -> AsyncIterator[bytes]:
    """The jobs as HTML whenever they change, else from time to time; and `over` once for each that has ended.

    `since` is when the page was asked for that listens: a job that ended while it was on its way is told as well.
    """
    seen: dict[int, int] | None = None
    told: set[int] = set()
    silence = 0.0
    while not await request.is_disconnected() and pages.sessions.find(session.id) is session:
        jobs = pages.jobs.of(session.id)
        now = {job.number: job.changed for job in jobs}
        if now != seen or silence >= HEARTBEAT or any(job.state == "running" for job in jobs):
            seen, silence = now, 0.0
            shown = {"session": session, "jobs": pages.jobs.open(session.id), "queue": pages.jobs}
            html = ENVIRONMENT.get_template("jobs.html").render(shown)
            yield event("jobs", html)
        for job in sorted(jobs, key=lambda job: job.ended):
            if job.ended > since and job.number not in told:
                told.add(job.number)
                yield event("over", str(job.number), str(job.ended))
        await asyncio.sleep(PAUSE)
        silence += PAUSE


def event(name: str, data: str, number: str = "") -> bytes:
    """One server-sent event. A browser that comes back says the number of the last one it was given."""
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    numbered = f"id: {number}\n" if number else ""
    return f"event: {name}\n{numbered}{lines}\n".encode()


def recipe_lines(session: Session) -> list[tuple[str, bool]]:
    """(line, whether the last change wrote it) for every line of the recipe."""
    new = set(session.history.changed_lines)
    text = recipe_for_elsewhere(session, session.history.text)
    return [(line, line in new) for line in text.splitlines()]


def _back(request: Request, session: Session) -> Response:
    """To the page the request came from, if it is one of this session."""
    current = request.headers.get("hx-current-url") or request.headers.get("referer") or ""
    path = f"/s/{session.id}/" + (
        current.partition(f"/s/{session.id}/")[2].partition("?")[0].partition("#")[0] or "table"
    )
    if is_htmx(request):
        return Response(status_code=204, headers={"hx-redirect": path})
    return RedirectResponse(path, 303)
