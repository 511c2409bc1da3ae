# SPDX-License-Identifier: Apache-2.0
"""Pages: templates filled with values. Everything is escaped; a template that says otherwise is refused by a test."""

import re
from math import ceil
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from overt.errors import OvertError
from overt.studio.jobs import Jobs
from overt.studio.session import Session, Sessions
from overt.studio.steps import steps_of

HERE = Path(__file__).parent


def number(value: float) -> str:
    """A number as people read it: 17,500 or 0.25."""
    return f"{value:,}" if float(value).is_integer() else f"{value:,.3g}"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as say something, and never 0 or 100 for what is neither."""
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or value == int(value) else f"{value:.1f} %"


def time_left(seconds: float | None) -> str:
    """How much longer something takes, behind how long it has taken; nothing if that is not known.

    >>> time_left(41.7), time_left(150), time_left(None)
    (', about 45 s more', ', about 3 min more', '')
    """
    if seconds is None:
        return ""
    return f", about {5 * ceil(seconds / 5)} s more" if seconds < 90 else f", about {ceil(seconds / 60)} min more"


def place_in_line(n_ahead: int) -> str:
    """Where a job stands that waits.

    >>> place_in_line(1), place_in_line(2)
    ('next in line', 'in line behind 2 others')
    """
    return "next in line" if n_ahead < 2 else f"in line behind {n_ahead} others"


def in_page(words: str) -> str:
    """What the library says, without a recipe's file and line, and without files of its own docs, which nobody sees on a page."""
    words = re.sub(r" \(docs/[\w./-]+\)", "", words)
    return re.sub(r"(^|(?<=\s))[\w.-]+\.toml(, line \d+)?: (\[\w+\]: )?", "", words)


def count_of(n: int, one: str, several: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {"number": number, "percent": percent, "in_page": in_page}
ENVIRONMENT.filters |= {"time_left": time_left, "place_in_line": place_in_line}
ENVIRONMENT.globals |= {"count_of": count_of, "icons": (HERE / "templates" / "icons.svg").read_text("utf-8")}


def declared(media_type: str) -> dict[int | str, dict[str, Any]]:
    """What a download is, for the description of the interface."""
    return {200: {"description": "a file", "content": {media_type: {}}}}


class Pages:
    """What every route needs: the sessions, the jobs, and the templates."""

    def __init__(self, sessions: Sessions, jobs: Jobs) -> None:
        self.sessions, self.jobs = sessions, jobs

    def session(self, session_id: str) -> Session:
        """An open session, or `NotFound`."""
        found = self.sessions.find(session_id)
        if found is None:
            raise NotFoundError
        return found

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page; for a request of htmx the parts of it that changed, which the same template marks as blocks."""
        session = values.get("session")
        around: dict[str, Any] = {"session": None, "request": request, "steps": (), "jobs": ()}
        if isinstance(session, Session):
            around |= {"steps": steps_of(session, self.jobs), "jobs": self.jobs.open(session.id), "queue": self.jobs}
        values = {**around, **values}
        return HTMLResponse(ENVIRONMENT.get_template(template).render(values), status)

    def fragment(
        self, request: Request, template: str, *, status: int = 200, is_edit: bool | str = False, **values: Any
    ) -> HTMLResponse:
        """A part of a page, and, where it belongs to a session, the rail and the strip beside it.

        `is_edit` tells the rest of the page that the recipe has changed, so that nothing goes on standing there of the old one; or by a word of
        its own what has.
        """
        answer = self.page(request, template, status=status, **values)
        session = values.get("session")
        if isinstance(session, Session):
            around = ENVIRONMENT.get_template("around.html").render(
                session=session, steps=steps_of(session, self.jobs), current=values.get("current", ""), request=request
            )
            told = is_edit if isinstance(is_edit, str) else "edited"
            headers = {"hx-trigger-after-settle": told} if is_edit else None
            answer = HTMLResponse(bytes(answer.body).decode() + around, status, headers)
        return answer


class NotFoundError(Exception):
    """There is no such page."""


def sentence_of(error: OvertError) -> str:
    """What the library says, for the page."""
    return str(error)


def is_htmx(request: Request) -> bool:
    """Whether only a part of the page is asked for."""
    return request.headers.get("hx-request") == "true"
