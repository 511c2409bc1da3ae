# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_bring.py
"""Start: bring a table, open the sample, or go on with what is open."""

import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from overt import samples
from overt.engine.init import init
from overt.errors import InvalidInput
from overt.io.database.address import holds_password, is_path, path_of
from overt.io.formats import SUFFIXES
from overt.io.paths import PACKED
from overt.io.recipe.toml_text import toml_of
from overt.progress import silent
from overt.studio.pages import Pages
from overt.studio.routes.around import recipe_page
from overt.studio.runs import Runs
from overt.studio.saved_sessions import (
    DatabaseNamed,
    copy_into,
    database_named,
    folder_named,
    history_of,
    is_file_name,
    read_kept,
    read_saved,
    release_of,
    save,
)
from overt.studio.session import Session
from overt.studio.unpacked_size import require_room

PLAIN = tuple(ending for endings in SUFFIXES.values() for ending in endings)
ENDINGS = (*PLAIN, *(ending + packed for name in ("csv", "jsonl") for ending in SUFFIXES[name] for packed in PACKED))


@dataclass(frozen=True)
class Refused:
    """What somebody asked for that cannot be done: which control it was, why, and what they had typed."""

    of: str  # file, database or saved
    why: str
    given: Mapping[str, str]
    asks: DatabaseNamed | None = None  # what is not refused, but must be said to be wanted


def make_router(pages: Pages) -> APIRouter:
    """The routes of this screen."""
    router = APIRouter()

    @router.get("/")
    def start(request: Request) -> Response:
        return shown(request)

    def shown(request: Request, refused: Refused | None = None) -> Response:
        status = 422 if refused is not None and refused.why else 200
        values = {"recent": pages.sessions.recent, "endings": ",".join((*PLAIN, *PACKED)), "refused": refused}
        return pages.page(request, "start.html", status=status, **values)

    def opened(request: Request, of: str, open_one: Callable[[], Session], **given: str) -> Response:
        """To the session that was opened, or back with what the library says beside what was asked for."""
        try:
            session = open_one()
        except InvalidInput as error:
            return shown(request, Refused(of, str(error), given))
        return RedirectResponse(f"/s/{session.id}/table", 303)

    @router.post("/tables")
    def bring(request: Request, file: UploadFile) -> Response:
        return opened(request, "file", lambda: bring_file(file))

    def bring_file(file: UploadFile) -> Session:
        name = Path((file.filename or "").replace("\\", "/")).name
        if not name.lower().endswith(ENDINGS):
            raise InvalidInput(
                f"The studio reads {', '.join(PLAIN)}, text also packed as {' or '.join(PACKED)}; save the table as one of these."
            )
        folder = pages.sessions.make_folder()
        path = folder / f"table{next(ending for ending in ENDINGS[::-1] if name.lower().endswith(ending))}"
        with path.open("xb") as target:
            shutil.copyfileobj(file.file, target, 1 << 20)
        try:
            require_room(path, name)
        except InvalidInput:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return open_table(pages, folder, path, name, file=name if is_file_name(name) else "")

    @router.post("/databases")
    def database(
        request: Request,
        address: Annotated[str, Form(min_length=1, max_length=1000)],
        table: Annotated[str, Form(max_length=400)] = "",
        query: Annotated[str, Form(max_length=20_000)] = "",
    ) -> Response:
        def read() -> Session:
            if bool(table.strip()) == bool(query.strip()):
                raise InvalidInput("Name a table, or write a query; one of the two.")
            folder = pages.sessions.make_folder()
            selected: dict[str, Any] = {"table": table.strip() or None, "query": query.strip() or None}
            return open_table(pages, folder, reference_of(address), table.strip() or "A query", **selected)

        kept = "" if holds_password(address) else address  # a password stands on no page
        return opened(request, "database", read, address=kept, table=table, query=query)

    @router.post("/sample")
    def sample(request: Request, size: Annotated[Literal["small", "large"], Form()] = "small") -> Response:
        return opened(request, "file", lambda: bring_sample(size))

    def bring_sample(size: str) -> Session:
        folder = pages.sessions.make_folder()
        path = folder / "table.csv"
        people = samples.hospital() if size == "small" else samples.discharges()
        people.write_csv(path)
        words, file = (
            ("Sample hospital", "hospital.csv") if size == "small" else ("Sample discharges", "discharges.csv")
        )
        return open_table(pages, folder, path, words, file=file)

    @router.post("/saved")
    def saved(
        request: Request,
        folder: Annotated[str, Form(min_length=1, max_length=4000)],
        wanted: Annotated[str, Form(max_length=64)] = "",
    ) -> Response:
        try:
            named = database_named(read_saved(folder_named(folder)))
        except InvalidInput as error:
            return shown(request, Refused("saved", str(error), {"folder": folder}))
        if named is not None and named.key != wanted:
            return shown(request, Refused("saved", "", {"folder": folder}, named))
        return opened(request, "saved", lambda: open_saved(pages, folder_named(folder), named), folder=folder)

    @router.post("/s/{session_id}/save")
    def keep(
        request: Request, session_id: str, folder: Annotated[str, Form(min_length=1, max_length=4000)]
    ) -> Response:
        session = pages.session(session_id)
        try:
            target = folder_named(folder)
            save(session, target, [toml_of(run.document) for run in Runs(pages.jobs).of(session)])
        except InvalidInput as error:
            return recipe_page(pages, request, session, problem=str(error), folder=folder)
        session.found["saved"] = str(target)
        return RedirectResponse(f"/s/{session.id}/recipe#saved", 303)

    @router.post("/s/{session_id}/name")
    def rename(request: Request, session_id: str, name: Annotated[str, Form(min_length=1, max_length=80)]) -> Response:
        session = pages.session(session_id)
        session.name = name.strip() or session.name
        return RedirectResponse(f"/s/{session.id}/recipe", 303)

    @router.post("/s/{session_id}/close")
    def close(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        pages.jobs.forget(session.id)
        pages.sessions.close(session)
        return RedirectResponse("/", 303)

    return router


def reference_of(address: str) -> str:
    """A reference to a database, with the whole path of an SQLite file: sessions lie elsewhere."""
    address = address.strip()
    path = Path(path_of(address)).expanduser()
    return str(path.resolve()) if is_path(address) and path.exists() else address


def open_saved(pages: Pages, source: Path, wanted: DatabaseNamed | None) -> Session:
    """Go on with a session that was saved in a folder, and that reads no database but the one that its owner wants to be read."""
    kept = read_saved(source)
    history = history_of(kept)
    if database_named(kept) != wanted:
        raise InvalidInput("This folder has changed since you looked at it; open it again.")
    documents = [read_kept(run.recipe) for run in kept.runs]
    given = history.document.get("input", {})
    folder = pages.sessions.make_folder()
    try:
        copy_into(source, folder)
        if "database" in given:
            data, selected = given["database"], {key: given.get(key) for key in ("table", "query")}
        else:
            data, selected = folder / str(given.get("path", "")), {}
        first = init(data, into=folder / "proposed.toml", overwrite=True, on_progress=silent, **selected)
        session = pages.sessions.reopen(folder, kept.name, history, file=kept.file if is_file_name(kept.file) else "")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    session.found["profile"] = first.profile
    session.found["saved"] = str(source)
    made = release_of(kept, folder)
    if made is not None:
        session.found["made"] = made
    Runs(pages.jobs).restore(session, documents)
    return session


def open_table(pages: Pages, folder: Path, path: Path | str, name: str, *, file: str = "", **selected: Any) -> Session:
    """A session for a table that lies in its folder, with the recipe that `overt init` proposes; nothing is left if it cannot be read."""
    recipe = folder / "proposed.toml"
    try:
        first = init(path, into=recipe, on_progress=silent, **selected)
        document = tomllib.loads(recipe.read_text("utf-8"))
        if "database" in document["input"]:
            document["input"]["database"] = str(
                path
            )  # a path from this folder leads nowhere once the recipe is kept elsewhere
        session = pages.sessions.open(folder, name, toml_of(document), f"Read {name}", file=file)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    session.found["profile"] = first.profile
    session.found["first"] = first
    return session
