# SPDX-License-Identifier: Apache-2.0
"""What the six steps do not pass: households, the database dialog, trees, refusals. axe looks at them, and pictures are taken where they are asked for."""

import pytest
from playwright.sync_api import expect

from browsing import TWO_LOOKS, bring, require_no_barrier, root_of, take_picture

pytestmark = pytest.mark.slow


@pytest.fixture
def session(page, tmp_path):
    path = tmp_path / "homes.csv"
    rows = [f"{n // 2},{20 + n * 7 % 60},{('Bonn', 'Lyon', 'Ulm')[n % 3]},{('flu', 'cold')[n % 2]}" for n in range(160)]
    path.write_text("\n".join(["Household number,Age,City,Illness", *rows]) + "\n", encoding="utf-8")
    return bring(page, path)


def test_households_hierarchies_and_the_recipe(page, session):
    for number, role in enumerate(("identifier", "quasi-identifier", "quasi-identifier", "sensitive")):
        form = {"column": str(number), "role": role}
        page.request.post(f"{session}/table/role", form=form, headers={"origin": root_of(page)}, max_redirects=0)
    page.reload()
    household = page.get_by_label("A household or family")
    household.check()
    expect(page.locator("#strip .what")).to_have_text("Several rows per household, told by Household number")
    expect(household).to_be_checked()
    expect(page.locator("#counted")).to_contain_text("80 households in 160 rows", timeout=120_000)
    assert 'person = "Household number"' in page.request.get(f"{session}/recipe.toml").text()
    require_no_barrier(page, "households", TWO_LOOKS)
    take_picture(page, "2-households")
    page.goto(f"{session}/promise")
    page.locator("#coarser details summary", has_text="Edit the tree").first.click()
    take_picture(page, "4-hierarchies", "#coarser")
    page.goto(f"{session}/recipe")
    page.fill("#table-name", "Homes of 2024")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("header .session")).to_have_text("Homes of 2024")
    page.fill("#keep-folder", "no whole path")
    page.get_by_role("button", name="Save it there").click()
    expect(page.locator("#keep-p")).to_contain_text("Give the whole path")
    require_no_barrier(page, "a folder that is refused", TWO_LOOKS)
    page.goto(f"{session}/recipe")
    take_picture(page, "8-recipe")


def test_a_database_that_is_refused(page):
    page.goto(root_of(page))
    page.get_by_text("Read from a database").click()
    page.fill("#address", "NO_SUCH_DB")
    page.fill("#table-name", "people")
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("#database .note.bad")).to_contain_text("NO_SUCH_DB")
    expect(page.locator("#address")).to_have_value("NO_SUCH_DB")
    require_no_barrier(page, "a database that is refused", TWO_LOOKS)
    take_picture(page, "1-database")
