# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_published_checks.py
"""Check what is already out: the original and a file that some tool published, one sentence and one page."""

import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Form, UploadFile
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from overt.errors import InvalidInput
from overt.report.leak import belief_rows, brief, how_found, risk_rows, sentence_of_worst
from overt.report.svg import draw
from overt.studio.closer_look import preview_of
from overt.studio.pages import NotFoundError, Pages, declared, in_page
from overt.studio.published_checks import (
    TOOLS,
    CheckAnswer,
    Claims,
    PublishedCheck,
    PublishedChecks,
    findings_of,
    sentence_of,
)
from overt.studio.routes.start import ENDINGS
from overt.studio.unpacked_size import require_room

MOST_SHOWN = 50  # rows, to the owner
MOST_LETTERS = 100  # of a file's name, its end


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter(prefix="/check")
    checks = PublishedChecks(pages.sessions.workspace, pages.jobs)

    @router.get("")
    def ask(request: Request) -> Response:
        return pages.page(request, "check.html", tools=TOOLS, problem="")

    @router.post("")
    def begin(
        request: Request,
        original: UploadFile,
        published: UploadFile,
        tool: Annotated[Literal["overt", "arx", "anjana", "anonypy", "other"], Form()],
        k: Annotated[int, Form(ge=1, le=1_000_000)] = 5,
        l: Annotated[str, Form(max_length=8)] = "",
        column: Annotated[str, Form(max_length=400)] = "",
        suppressed: Annotated[float, Form(ge=0, le=100)] = 0.0,  # percent
        beside: Annotated[list[UploadFile] | None, Form()] = None,
        recipe: UploadFile | None = None,
    ) -> Response:
        folder = checks.make_folder()
        try:
            data = keep(original, folder, "original")
            file = keep(published, folder, None)
            for one in beside or ():
                if one.filename:
                    keep(one, folder, None, any_kind=True)
            given = keep(recipe, folder, "given", any_kind=True) if recipe is not None and recipe.filename else None
            claims = Claims(k, whole(l), column.strip(), suppressed / 100)
            names = (name_of(original), name_of(published))
            made = checks.begin(folder, data, file, given, tool, claims, names)
        except InvalidInput as error:
            shutil.rmtree(folder, ignore_errors=True)
            return pages.page(request, "check.html", status=422, tools=TOOLS, problem=str(error))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return RedirectResponse(f"/check/{made.id}", 303)

    @router.get("/{check_id}")
    def checked(request: Request, check_id: str) -> Response:
        made = checks.get(check_id)
        if made is None:
            raise NotFoundError
        return pages.page(request, "checked.html", queue=pages.jobs, **values(made))

    @router.post("/{check_id}/cancel")
    def cancel(check_id: str) -> Response:
        made = checks.get(check_id)
        if made is None:
            raise NotFoundError
        pages.jobs.cancel(made.job)
        return RedirectResponse(f"/check/{made.id}", 303)

    @router.get("/{check_id}/rows.csv", response_class=Response, responses=declared("text/csv"))
    def rows(check_id: str) -> Response:
        made = checks.get(check_id)
        found = None if made is None else made.job.result
        if not isinstance(found, CheckAnswer) or found.audited is None or found.audited.leak.audit is None:
            raise NotFoundError
        headers = {"content-disposition": 'attachment; filename="owner-only.rows.csv"'}
        return Response(found.audited.leak.audit.of_rows().write_csv(), media_type="text/csv", headers=headers)

    @router.get("/{check_id}/rows")
    def list_of_rows(request: Request, check_id: str) -> Response:
        made = checks.get(check_id)
        found = None if made is None else made.job.result
        if not isinstance(found, CheckAnswer) or found.audited is None or found.audited.leak.audit is None:
            raise NotFoundError
        everybody = found.audited.leak.audit.of_rows().sort("with the method", descending=True)
        most = everybody.head(MOST_SHOWN).with_columns(pl.col(pl.Float64).round(3))
        shown = preview_of("rows", most, everybody.height)
        return pages.page(request, "exposed.html", shown=shown)

    return router


def values(made: PublishedCheck) -> dict[str, Any]:
    """What the page needs."""
    found = made.job.result if isinstance(made.job.result, CheckAnswer) else None
    leak = None if found is None or found.audited is None else found.audited.leak
    audited = None if leak is None or leak.audit is None else leak.audit
    plot = None if leak is None else leak.plots.get("beliefs")
    return {
        "made": made,
        "found": found,
        "tool": TOOLS[made.tool],
        "leak": leak,
        "said": None if leak is None else in_page(brief(leak)),
        "findings": () if found is None else findings_of(found, made.tool),
        "state": "none" if found is None else sentence_of(found)[0],
        "sentence": "" if found is None else sentence_of(found)[1],
        "drawing": None if plot is None else Markup(draw(plot.spec)),
        "worst": None if audited is None else sentence_of_worst(audited),
        "how": None if audited is None else how_found(audited),
        "beliefs": () if audited is None else belief_rows(audited),
        "risks": () if audited is None else risk_rows(audited),
    }


def name_of(file: UploadFile) -> str:
    """The name of an upload without folders."""
    return Path((file.filename or "").replace("\\", "/").replace("\0", "")).name[-MOST_LETTERS:]


def keep(file: UploadFile, folder: Path, stem: str | None, *, any_kind: bool = False) -> Path:
    """Copy an upload into a folder, under its own name or another."""
    name = name_of(file)
    ending = next((one for one in ENDINGS[::-1] if name.lower().endswith(one)), None)
    if ending is None and not any_kind:
        raise InvalidInput(f"{name or 'A file'} cannot be read; give one that ends with {', '.join(ENDINGS)}.")
    target = folder / (name if stem is None else f"{stem}{ending or Path(name).suffix}")
    if target.exists() or name.startswith("."):
        raise InvalidInput(f"Two of the files are called {name}; give each another name.")
    with target.open("xb") as content:
        shutil.copyfileobj(file.file, content, 1 << 20)
    if ending is not None:
        require_room(target, name)
    return target


def whole(text: str) -> int | None:
    """A whole number, or none."""
    if not text.strip():
        return None
    if not text.strip().isdigit() or int(text) < 2:
        raise InvalidInput(f"l is {text!r}; a whole number of at least 2 is expected, or nothing.")
    return int(text)
