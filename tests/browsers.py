# SPDX-License-Identifier: Apache-2.0
"""A browser for the tests of all folders. A process can start Playwright once, whichever of its tests is the first to need it."""

from contextlib import closing

import pytest


@pytest.fixture(scope="session")
def driver():
    """Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    from browsing import require_chromium

    require_chromium()
    with playwright.sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(driver):
    from browsing import FLAGS, require_chromium

    with closing(driver.chromium.launch(executable_path=require_chromium(), args=list(FLAGS))) as opened:
        yield opened
