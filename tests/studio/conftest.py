# SPDX-License-Identifier: Apache-2.0
"""A studio for the tests that drive it, one for all tests of a process, and a page of it."""

import os
from contextlib import closing

import pytest

from browsing import PICTURES, open_context, serve


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("studio")) as served:
        yield served


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
        expected = ["status of 4"]
        if os.environ.get(PICTURES):
            expected.append("Applying inline style")  # by which Playwright hides the caret on a picture
        assert [words for words in wrong if not any(part in words for part in expected)] == []
