# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Release: make it, read the verdict, save what is for readers and what is for the owner apart, and sign."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from overt.errors import InvalidInput
from overt.io.recipe.recipe import parse_recipe
from overt.studio.pages import NotFoundError, Pages, declared
from overt.studio.promises import dp_part
from overt.studio.releases import (
    SIGNATURE,
    STATEMENTS,
    Making,
    Releases,
    digest_of,
    files_to_replay,
    owner_files,
    public_files,
    recipe_for_elsewhere,
    standing,
    verdict_in,
    zipped,
)
from overt.studio.session import Session

REPLAY = "replay"  # a folder of the owner's archive: the table put there, its recipe makes the release again


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/s/{session_id}/release")
    releases = Releases(pages.jobs)

    def values(session: Session) -> dict[str, Any]:
        made, shown = releases.of(session), standing(session)
        public = [] if shown is None else public_files(session, shown)
        owners = [] if shown is None else owner_files(session, shown)
        return {
            "session": session,
            "current": "release",
            "made": made,
            "shown": shown,
            "is_old": shown is not None and shown.recipe != session.history.text,
            "public": [(path.name, path.stat().st_size) for path in public],
            "owners": [(path.name, path.stat().st_size) for path in owners],
            "verdict": verdict_in(public),
            "digest": digest_of(public[0]) if public else "",
            "statements": STATEMENTS,
            "has_pilot": "pilot" in session.document,
            "method": session.document["method"]["name"],
            "stands_in_the_way": refusal_of_dp(session),
        }

    @router.get("")
    def release(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        if request.headers.get("hx-target") == "made":
            return pages.fragment(request, "release_made.html", **values(session))
        return pages.page(request, "release.html", **values(session))

    @router.post("/make")
    def make(session_id: str) -> Response:
        session = pages.session(session_id)
        releases.make(session)
        return RedirectResponse(f"/s/{session.id}/release", 303)

    @router.post("/sign")
    def sign(
        session_id: str,
        name: Annotated[str, Form(min_length=1, max_length=120)],
        role: Annotated[str, Form(max_length=120)] = "",
        read: Annotated[list[int] | None, Form()] = None,
    ) -> Response:
        session, made = of_session(session_id)
        if not name.strip():
            raise InvalidInput("A signature needs a name.")
        if set(read or ()) != set(range(len(STATEMENTS))):
            raise InvalidInput("A signature needs every statement above it; one is still open.")
        if made.recipe != session.history.text:
            raise InvalidInput("The recipe has changed since this release was made; make it again before it is signed.")
        releases.sign(session, made, name.strip(), role.strip())
        return RedirectResponse(f"/s/{session.id}/release#sign", 303)

    @router.get("/report")
    def report(request: Request, session_id: str) -> Response:
        session, made = of_session(session_id)
        public = public_files(session, made)
        digests = [(path.name, digest_of(path)) for path in public if path.name != SIGNATURE]
        more: dict[str, Any] = {
            "made": made,
            "verdict": verdict_in(public),
            "digests": digests,
            "statements": STATEMENTS,
        }
        return pages.page(request, "report.html", session=session, current="release", **more)

    @router.get("/files/{name}", response_class=Response, responses=declared("*/*"))
    def file(session_id: str, name: str) -> Response:
        session, made = of_session(session_id)
        path = next(
            (one for one in (*public_files(session, made), *owner_files(session, made)) if one.name == name), None
        )
        if path is None:
            raise NotFoundError
        return FileResponse(path, filename=path.name, content_disposition_type="attachment")

    @router.get("/public.zip", response_class=Response, responses=declared("application/zip"))
    def public(session_id: str) -> Response:
        session, made = of_session(session_id)
        files = {path.name: path for path in public_files(session, made)}
        return archive(zipped(session.folder, files, {}), "release-for-readers.zip")

    @router.get("/owner.zip", response_class=Response, responses=declared("application/zip"))
    def owner(session_id: str) -> Response:
        session, made = of_session(session_id)
        read = {f"{REPLAY}/{name}": path for name, path in files_to_replay(session, made).items()}
        recipe = {f"{REPLAY}/recipe.toml": recipe_for_elsewhere(session, made.recipe)}
        files = {path.name: path for path in owner_files(session, made)}
        return archive(zipped(session.folder, files | read, recipe), "release-owner-only.zip")

    def of_session(session_id: str) -> tuple[Session, Making]:
        session = pages.session(session_id)
        releases.of(session)
        made = standing(session)
        if made is None:
            raise NotFoundError
        return session, made

    return router


def archive(content: Path, name: str) -> Response:
    """A download of a file that is removed when it has been sent."""
    return FileResponse(
        content, filename=name, media_type="application/zip", background=BackgroundTask(content.unlink, missing_ok=True)
    )


def refusal_of_dp(session: Session) -> str:
    """Why the recipe as it stands is refused before the table is looked at, if it asks for differential privacy; else empty."""
    if dp_part(session.document) is None:
        return ""
    try:
        parse_recipe(session.history.text, folder=session.folder, name="recipe.toml")
    except InvalidInput as error:
        return str(error)
    return ""
