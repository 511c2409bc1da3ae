# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_coarser.py
"""How values get coarser: intervals, calendar units, first letters and trees, edited by looking at them. A part of the Promise screen."""

import csv
import io
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from overt.errors import InvalidInput
from overt.studio.coarser import (
    UNITS,
    built,
    card_of,
    read_cuts,
    read_labels,
    require_usable,
    typed_card_of,
)
from overt.studio.edits import is_dp, set_of_column
from overt.studio.pages import NotFoundError, Pages, declared, in_page, is_htmx
from overt.studio.session import Session
from overt.studio.trees import Path as NodePath
from overt.studio.trees import dissolve, merge, move, nested_of, rename, wrap
from overt.studio.unpacked_size import require_room

MOST_BYTES = 20 << 20  # of a hierarchy file


def make_router(pages: Pages) -> APIRouter:
    """The routes of this part."""
    router = APIRouter(prefix="/s/{session_id}/coarser")

    @router.get("")
    def coarser(request: Request, session_id: str) -> Response:
        session = pages.session(session_id)
        typed = is_dp(session.document)
        cards = [shown(session, number) for number in editable(session)]
        values: dict[str, Any] = {"cards": cards, "units": UNITS, "problem": None, "typed": typed}
        return pages.page(request, "coarser.html", session=session, current="promise", **values)

    @router.post("/{number}/cuts")
    def cuts(
        request: Request, session_id: str, number: int, levels: Annotated[str, Form(max_length=4000)] = ""
    ) -> Response:
        try:
            found = read_cuts(levels)
        except InvalidInput as error:
            session = pages.session(session_id)
            return answer(request, session, checked(session, number), str(error))
        return write(request, session_id, number, "cuts", {"cut_points": found} if found else None)

    @router.post("/{number}/widths")
    def widths(request: Request, session_id: str, number: int, width: Annotated[float, Form(gt=0)]) -> Response:
        plain = int(width) if width.is_integer() else width
        return write(request, session_id, number, f"steps of {plain}", {"widths": [plain, 2 * plain, 4 * plain]})

    @router.post("/{number}/dates")
    def dates(
        request: Request,
        session_id: str,
        number: int,
        units: Annotated[list[Literal["day", "month", "quarter", "year", "decade"]] | None, Form()] = None,
    ) -> Response:
        chosen = [unit for unit in UNITS if unit in (units or ())]
        return write(request, session_id, number, "calendar steps", {"dates": chosen} if chosen else None)

    @router.post("/{number}/prefixes")
    def prefixes(
        request: Request, session_id: str, number: int, lengths: Annotated[list[int] | None, Form()] = None
    ) -> Response:
        chosen = sorted({length for length in lengths or () if 0 < length < 100}, reverse=True)
        return write(request, session_id, number, "first letters", {"prefixes": chosen} if chosen else None)

    @router.post("/{number}/lengths")
    def lengths(
        request: Request, session_id: str, number: int, lengths: Annotated[str, Form(max_length=400)] = ""
    ) -> Response:
        """First letters, as they are typed where the table must not say how long its values are."""
        try:
            found = sorted({int(one) for one in lengths.replace(",", " ").split()}, reverse=True)
        except ValueError:
            session = pages.session(session_id)
            words = "Lengths are whole numbers, with commas between them."
            return answer(request, session, checked(session, number), words)
        return write(request, session_id, number, "first letters", {"prefixes": found} if found else None)

    @router.post("/{number}/labels")
    def labels(
        request: Request, session_id: str, number: int, labels: Annotated[str, Form(max_length=100_000)] = ""
    ) -> Response:
        """A tree, as it is typed where it must not come from the table."""
        try:
            found = read_labels(labels)
        except InvalidInput as error:
            session = pages.session(session_id)
            return answer(request, session, checked(session, number), str(error))
        return write(request, session_id, number, "labels", {"nested": found} if found else None)

    @router.post("/{number}/format")
    def form(
        request: Request, session_id: str, number: int, form: Annotated[str, Form(max_length=60)] = ""
    ) -> Response:
        """How dates or numbers of a column are written."""
        return write(request, session_id, number, "how it is written", form.strip() or None, key="format")

    @router.post("/{number}/tree")
    def tree(
        request: Request,
        session_id: str,
        number: int,
        edit: Annotated[Literal["wrap", "rename", "merge", "move", "dissolve"], Form()],
        path: Annotated[str, Form(max_length=4000)],
        into: Annotated[str, Form(max_length=4000)] = "[]",
        label: Annotated[str, Form(max_length=200)] = "",
        is_value: Annotated[bool, Form()] = False,
    ) -> Response:
        session = pages.session(session_id)
        refuse_table(session)
        card = card_of(session, checked(session, number))
        if card.tree is None:
            raise NotFoundError
        at, target, node = path_of(path), path_of(into), card.tree
        try:
            if edit == "wrap":
                node = wrap(node, at, label, is_value=is_value)
            elif edit == "rename":
                node = rename(node, at, label)
            elif edit == "merge":
                node = merge(node, at, target)
            elif edit == "move":
                node = move(node, at, target, is_value=is_value)
            else:
                node = dissolve(node, at)
        except InvalidInput as error:
            return answer(request, session, number, str(error))
        return write(request, session_id, number, f"{edit} in the tree", {"nested": nested_of(node)})

    @router.post("/{number}/none")
    def none(request: Request, session_id: str, number: int) -> Response:
        return write(request, session_id, number, "no steps", None)

    @router.post("/{number}/file")
    def file(request: Request, session_id: str, number: int, file: UploadFile) -> Response:
        session = pages.session(session_id)
        checked(session, number)
        content = file.file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInput("A hierarchy file may have at most 20 MiB; this one has more.")
        name = f"hierarchy-{number}-{len(session.history.done)}.csv"
        (session.folder / name).write_bytes(content)
        require_room(session.folder / name, "The hierarchy file")
        return write(request, session_id, number, "from a file", {"file": name})

    @router.get("/{number}/hierarchy.csv", response_class=Response, responses=declared("text/csv"))
    def export(session_id: str, number: int) -> Response:
        session = pages.session(session_id)
        refuse_table(session)
        card = card_of(session, checked(session, number))
        if not card.how:
            raise NotFoundError
        column = session.found["profile"].columns[number].column
        text = io.StringIO()
        csv.writer(text, delimiter=";").writerows(built(session, column, card.how).to_frame().rows())
        headers = {"content-disposition": 'attachment; filename="hierarchy.csv"'}
        return Response(text.getvalue(), media_type="text/csv", headers=headers)

    def write(
        request: Request, session_id: str, number: int, words: str, value: Any, *, key: str = "hierarchy"
    ) -> Response:
        session = pages.session(session_id)
        profile = session.found["profile"].columns[checked(session, number)]
        try:
            if value is not None and (is_dp(session.document) or key != "hierarchy"):
                require_usable(session, profile.name, key, value)
            elif value is not None:
                built(session, profile.column, value)
        except InvalidInput as error:
            return answer(request, session, number, in_page(str(error)))
        session.change(f"{profile.name}: {words}", set_of_column(profile.name, key, value))
        return answer(request, session, number, None)

    def answer(request: Request, session: Session, number: int, problem: str | None) -> Response:
        if not is_htmx(request):
            if problem:
                raise InvalidInput(problem)
            return RedirectResponse(f"/s/{session.id}/promise#coarser", 303)
        values: dict[str, Any] = {"session": session, "current": "promise", "units": UNITS, "problem": problem}
        template = "coarser_typed.html" if is_dp(session.document) else "coarser_card.html"
        return pages.fragment(request, template, card=shown(session, number), is_edit=not problem, **values)

    return router


def shown(session: Session, number: int) -> Any:
    """The card of a column: by looking at its values, or for a differentially private release without."""
    return typed_card_of(session, number) if is_dp(session.document) else card_of(session, number)


def refuse_table(session: Session) -> None:
    """No steps are made of the table's values where they must be public."""
    if is_dp(session.document):
        raise InvalidInput(
            "In a differentially private release the steps are public, and must not be made of the values of this table; type them, or bring a file."
        )


def editable(session: Session) -> list[int]:
    """The numbers of the columns that become coarser."""
    columns = session.document["columns"]
    profile = session.found["profile"]
    is_typed = is_dp(session.document)
    roles = ("quasi-identifier", "sensitive") if is_typed else ("quasi-identifier",)
    return [
        number
        for number, one in enumerate(profile.columns)
        if (is_typed or one.column is not None) and columns.get(one.name, {}).get("role") in roles
    ]


def checked(session: Session, number: int) -> int:
    """A number of a column that becomes coarser, or `NotFoundError`."""
    if number not in editable(session):
        raise NotFoundError
    return number


def path_of(text: str) -> NodePath:
    """The path to a node as a form sends it: a list of labels as JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise InvalidInput("This part of the tree cannot be understood; look at the page again.")
    return tuple(found)
