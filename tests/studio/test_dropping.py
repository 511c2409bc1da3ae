# SPDX-License-Identifier: Apache-2.0
"""Files are dropped where they belong, several at once, and a file that misses leaves the page as it is."""

import pytest

from browsing import root_of

pytestmark = pytest.mark.slow
DROP = """(place, names) => {
  const given = new DataTransfer();
  for (const name of names) given.items.add(new File(["Age,City\\n1,a\\n2,b\\n"], name));
  const kind = { dataTransfer: given, bubbles: true, cancelable: true };
  place.dispatchEvent(new DragEvent("dragover", kind));
  return place.dispatchEvent(new DragEvent("drop", kind));
}"""


def drop(place, *names):
    """Whether the browser would do with the files what it does by itself: open them."""
    return place.evaluate(DROP, list(names))


def names_in(page, field):
    return page.locator(field).evaluate("input => [...input.files].map((file) => file.name)")


def test_what_is_dropped_on_the_zones_of_a_check_becomes_their_files(page):
    page.goto(f"{root_of(page)}/check")
    original, published = page.locator("div.drop").nth(0), page.locator("div.drop").nth(1)
    assert not drop(original, "people.csv")
    assert names_in(page, "#original") == ["people.csv"]
    assert not drop(published, "release.csv.manifest.json", "release.csv", "release.sensitive.csv")
    assert names_in(page, "#published") == ["release.csv"]
    assert names_in(page, "#beside") == ["release.csv.manifest.json", "release.sensitive.csv"]
    assert not drop(page.locator("h1"), "elsewhere.csv")
    assert names_in(page, "#original") == ["people.csv"]


def test_a_table_that_is_dropped_is_opened(page):
    assert not drop(page.locator("#bring"), "people.csv")
    page.wait_for_url("**/table")
