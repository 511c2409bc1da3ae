# SPDX-License-Identifier: Apache-2.0
"""A studio of one's own, as `overt studio` starts it, and Debian's Chromium that looks at it.

The browser is not installed by pip: it is the distribution's own, so that tests need nothing but a package of Debian. Where there is
none, tests say so by name and are skipped; with OVERT_NEEDS_CHROMIUM in the environment they fail.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from overt.studio.app import create_app, guarded
from overt.studio.guard import ENTRANCE
from overt.studio.pages import Pages
from overt.studio.server import HOST
from overt.studio.workspace import Workspace

REQUIRED = "OVERT_NEEDS_CHROMIUM"  # in the environment: a missing browser is a failure, not a skip
PICTURES = "OVERT_STUDIO_PICTURES"  # in the environment: the folder that pictures for the docs are written to
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=AutofillServerCommunication,OptimizationHints,MediaRouter,Translate",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--allow-browser-signin=false",
)


@dataclass(frozen=True)
class Served:
    """A studio that runs: the address that it printed, and its process."""

    entrance: str  # holds the token
    process: "subprocess.Popen[str] | None" = field(default=None, repr=False)
    folder: Path = field(default=Path(), repr=False)  # that its working copies lie in
    pages: Pages | None = field(default=None, repr=False)  # of a studio in this process

    @property
    def root(self) -> str:
        """The address without path and token."""
        parts = urlsplit(self.entrance)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def port(self) -> int:
        return int(urlsplit(self.entrance).port or 0)


@contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """Start `overt studio`, with its working copies in a folder of the test."""
    process = subprocess.Popen(
        [sys.executable, "-m", "overt", "studio", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1", "COLUMNS": "500"},
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "token=" in line:
                yield Served(line.strip(), process, folder)
                break
        else:
            raise AssertionError(f"overt studio did not print its address: {said}")
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # work that is cancelled, and says nothing for long
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def serve_here(folder: Path) -> Iterator[Served]:
    """The same in this process: it starts at once, knows what is compiled already, and what it does can be patched."""
    with socket.socket() as listening, Workspace(folder) as workspace:
        listening.bind((HOST, 0))
        listening.listen()
        port, token = listening.getsockname()[1], "a token of a test"
        app = create_app(workspace)
        guard = guarded(app, port=port, token=token)
        server = uvicorn.Server(
            uvicorn.Config(
                guard, log_level="critical", timeout_graceful_shutdown=2, timeout_keep_alive=120, lifespan="on"
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Served(f"http://{HOST}:{port}{ENTRANCE}?token={quote(token)}", folder=folder, pages=app.state.pages)
        finally:
            server.should_exit = True
            thread.join(15)


def find_chromium() -> str | None:
    """The browser of the distribution, if there is one."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


def require_chromium() -> str:
    """The browser, or the end of the test: skipped where nobody asked for it, failed where somebody did."""
    found = find_chromium()
    if found is None:
        why = "no Chromium is installed: on Debian, `apt-get install chromium`"
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, but {why}")
        pytest.skip(why)
    return found


# What a person does, step by step. Each leaves the page where the step ends.

PATIENCE = 300_000  # milliseconds that a step may take on a busy machine, on which loops are compiled first; more is a page that hangs
expect.set_options(timeout=60_000)  # what takes no job
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 860}
THEMES = ("light", "dark")
MOST_TALL = 1500  # of a picture


def open_context(browser: Any) -> Any:
    """A browser of its own, without anything that another has left."""
    context = browser.new_context(viewport=WIDE, accept_downloads=True)
    context.set_default_timeout(180_000)
    return context


def bring(page: Page, path: Path) -> str:
    """Drop a file. The address of its session."""
    page.goto(root_of(page))
    page.set_input_files("#file", path)
    page.click("#bring button")
    page.wait_for_url("**/table")
    return session_of(page)


def open_sample(page: Page, size: str = "small") -> str:
    """Open a sample. The address of its session."""
    page.goto(root_of(page))
    page.click(f"button[name=size][value={size}]")
    page.wait_for_url("**/table")
    return session_of(page)


def root_of(page: Page) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}"


def session_of(page: Page) -> str:
    return page.url.rpartition("/")[0]


@contextmanager
def telling_jobs(page: Page, session: str) -> Iterator[None]:
    """What waits in vain says what runs meanwhile: whether something is slow, or the page has missed that it is over."""
    try:
        yield
    except AssertionError as error:
        answer = page.request.get(f"{session}/jobs")
        raise AssertionError(f"{error}\nJobs of the studio: {' '.join(answer.text().split()) or 'none'}") from None


def see_risk(page: Page, session: str) -> None:
    """Wait until the risk of the table is known."""
    page.goto(f"{session}/risk")
    with telling_jobs(page, session):
        expect(page.locator("#known")).to_be_visible(timeout=PATIENCE)


def promise(page: Page, session: str) -> str:
    """Wait until it is known whether the promise can be kept, and what is said of it."""
    page.goto(f"{session}/promise")
    with telling_jobs(page, session):
        expect(page.locator("#kept .st.good, #kept .st.warn")).to_be_visible(timeout=PATIENCE)
        expect(page.locator("#coarser .card").first).to_be_visible(timeout=PATIENCE)
    return page.locator("#kept").inner_text()


def compare(page: Page, session: str, *methods: str) -> None:
    """Try methods, one after the other, until all are over."""
    page.goto(f"{session}/compare")
    for method in methods:
        rows = page.locator("table.runs tbody tr")
        n_before = rows.count()
        page.get_by_role("button", name=method, exact=True).click()
        expect(rows).to_have_count(n_before + 1, timeout=PATIENCE)
    with telling_jobs(page, session):
        expect(page.locator("table.runs .st.none", has_text=re.compile("under way|waiting"))).to_have_count(
            0, timeout=PATIENCE
        )


def make_release(page: Page, session: str) -> None:
    page.goto(f"{session}/release")
    page.get_by_role("button", name="Make the release").click()
    with telling_jobs(page, session):
        expect(page.locator(".public-box")).to_be_visible(timeout=PATIENCE)


def sign(page: Page, name: str, role: str) -> None:
    page.fill("#who", name)
    page.fill("#role", role)
    for box in page.locator("#sign input[type=checkbox]").all():
        box.check()
    page.get_by_role("button", name="Sign and lock").click()
    expect(page.locator("#sign .verdict.good")).to_be_visible()


def save(page: Page, link: Any, folder: Path) -> Path:
    """Save what a link leads to."""
    with page.expect_download() as download:
        link.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


LOOKS = tuple((size, theme) for size in (WIDE, NARROW) for theme in THEMES)
TWO_LOOKS = ((WIDE, "light"), (NARROW, "dark"))  # of parts that are made of what other pages show in all four


def require_no_barrier(page: Page, where: str, looks: Any = LOOKS) -> None:
    """axe finds nothing serious, in both themes, wide and narrow; and nothing is cut off at 400 px."""
    for size in (WIDE, NARROW):
        for theme in [theme for of, theme in looks if of == size]:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            serious = [one for one in found if one["impact"] in ("serious", "critical")]
            said = [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in serious]
            assert not said, f"{where}, {theme}, {size['width']} px: {said}"
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], f"{where} is cut off"
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")


def take_picture(page: Page, name: str, part: str = "") -> None:
    """A picture for the docs, of the page or of a part of it, if a folder is named for them."""
    folder = os.environ.get(PICTURES)
    if not folder:
        return
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 1120, "height": 800})
    if part:
        page.locator(part).screenshot(path=Path(folder) / f"{name}.png")
        page.set_viewport_size(WIDE)
        return
    height = min(MOST_TALL, int(page.evaluate("document.documentElement.scrollHeight")))
    page.set_viewport_size({"width": 1120, "height": height})
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(400)
    page.screenshot(path=Path(folder) / f"{name}.png")
    page.set_viewport_size(WIDE)
