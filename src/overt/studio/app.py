# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_interface.py
"""The application: one route module per screen behind one guard."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from overt.errors import OvertError, TooLarge
from overt.studio.guard import MOST_BYTES, Guard
from overt.studio.jobs import Jobs
from overt.studio.pages import NotFoundError, Pages, is_htmx
from overt.studio.routes import ROUTES
from overt.studio.session import Sessions
from overt.studio.workspace import Workspace

HERE = Path(__file__).parent
HTML: dict[str, Any] = {"content": {"text/html": {}}}
DECLARED: dict[int | str, dict[str, Any]] = {  # what every address may answer, beside what it is for
    303: {"description": "done; the page to look at next"},
    400: {"description": "the request is not written as its own headers say", **HTML},
    404: {"description": "there is no such page, table or run", **HTML},
    409: {"description": "too much at once", **HTML},
    411: {"description": "a request must say how long it is", "content": {"text/plain": {}}},
    422: {"description": "refused, with a sentence that says what was given and what to do", **HTML},
}


async def note_time(request: Request) -> None:
    """When a page was asked for. What ended since is told to it, also what ended before it could listen."""
    request.state.began = time.monotonic()


def create_app(workspace: Workspace) -> FastAPI:
    """The pages over one workspace, without the guard."""
    jobs = Jobs()
    pages = Pages(Sessions(workspace), jobs)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        jobs.close()

    silent: Any = {
        "tracing": False,
        "metrics": False,
        "logs": False,
        "auto_configure": False,
    }  # nothing is told to anybody
    app = FastAPI(
        title="Overt studio",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        telemetry=silent,
        default_response_class=HTMLResponse,
        responses=DECLARED,
        dependencies=[Depends(note_time)],
    )
    app.state.pages = pages
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    for make_router in ROUTES:
        app.include_router(make_router(pages))

    def show_problem(request: Request, words: str, status: int) -> Response:
        if not is_htmx(request):
            return pages.page(request, "problem.html", status=status, words=words)
        answer = pages.page(request, "problem_fragment.html", status=status, words=words)
        answer.headers.update({"hx-retarget": "#problem", "hx-reswap": "innerHTML"})  # what stands on the page stays
        return answer

    @app.exception_handler(OvertError)
    async def of_library(request: Request, error: OvertError) -> Response:
        return show_problem(request, str(error), 409 if isinstance(error, TooLarge) else 422)

    @app.exception_handler(NotFoundError)
    async def not_found(request: Request, error: NotFoundError) -> Response:
        return show_problem(
            request, "There is no such page. A table that was open before is gone when the studio ends.", 404
        )

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> Response:
        names = ", ".join(sorted({str(one["loc"][-1]) for one in error.errors()}))
        return show_problem(request, f"This request cannot be understood: check {names}.", 422)

    @app.exception_handler(HTTPException)
    async def of_server(request: Request, error: HTTPException) -> Response:
        words = "There is no such page." if error.status_code == 404 else str(error.detail)
        answer = show_problem(request, words, error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    return app


def guarded(app: FastAPI, *, port: int, token: str, most_bytes: int = MOST_BYTES) -> Guard:
    """The application as it is served."""
    return Guard(app, port=port, token=token, most_bytes=most_bytes)
