# SPDX-License-Identifier: Apache-2.0
"""A studio and a browser for the tests that drive it, one of each for all tests of a process."""

from contextlib import closing

import pytest

from browsing import FLAGS, open_context, require_chromium, serve


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("studio")) as served:
        yield served


@pytest.fixture(scope="session")
def browser():
    program = require_chromium()
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with (
        playwright.sync_playwright() as driver,
        closing(driver.chromium.launch(executable_path=program, args=list(FLAGS))) as opened,
    ):
        yield opened


@pytest.fixture
def page(studio, browser):
    """A page that has come in by the address of the terminal. A mistake in a script, or a breach of the policy, fails the test."""
    with closing(open_context(browser)) as context:
        opened = context.new_page()
        wrong = []
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on("console", lambda said: wrong.append(f"{opened.url}: {said.text}") if said.type == "error" else None)
        opened.goto(studio.entrance)
        yield opened
        assert [words for words in wrong if "status of 4" not in words] == []
