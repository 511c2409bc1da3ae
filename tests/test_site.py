# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: it builds without a warning, has every public name, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
import tomllib
from contextlib import closing
from html.parser import HTMLParser
from importlib import util
from pathlib import Path

import pytest

import overt

ROOT = Path(__file__).parent.parent
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset"}


def site():
    spec = util.spec_from_file_location("site_of_docs", ROOT / "docs" / "site.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loads(HTMLParser):
    """The addresses that a page loads by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(given.get("href", ""))
        if tag in LOADED:
            self.found.append(given.get(LOADED[tag]) or "")


def test_every_public_name_has_its_place_by_meaning():
    names = site().names_of_api()
    assert len(names) == len(set(names))
    assert sorted(names) == overt.__all__


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the site, built once."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(built):
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text("utf-8"))
        assert not [address for address in loads.found if re.match(r"(?:https?:)?//", address)], page.name
    for style in built.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", style.read_text("utf-8")), style.name
    names = (built / "reference" / "api.html").read_text("utf-8")
    assert [name for name in overt.__all__ if f".{name}" not in names and name != "samples"] == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_search_of_the_site_works_on_pages_that_are_opened_as_files(built, browser):
    with closing(browser.new_page()) as page:
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.goto((built / "guides" / "report.html").as_uri())
        page.get_by_placeholder("Search").press_sequentially("downcoding")
        page.locator(".md-search-result__link", has_text="Downcoding").first.click()
        page.wait_for_url("**/*downcoding*")
        assert wrong == []


def test_the_citation_and_the_newest_entry_of_the_changelog_name_the_version_of_the_package():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert overt.__version__ == version, "installed before the version changed: install the package again"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    entries = re.findall(r"^## \[([\d.]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert entries[0] == (version, re.search(r"^date-released: (\S+)$", citation, re.M)[1])
    assert f"\nversion: {version}\n" in citation
