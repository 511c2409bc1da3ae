# SPDX-License-Identifier: Apache-2.0
"""How values get coarser is edited by looking, with a mouse and without one; every edit is a line of the recipe, and can be undone."""

import re

import pytest
from playwright.sync_api import expect

from browsing import bring, require_no_barrier

pytestmark = pytest.mark.slow
CITIES = ("Bonn", "Lille", "Lyon", "Nice", "Ulm")


@pytest.fixture
def session(page, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Age,City\n" + "".join(f"{20 + n % 60},{CITIES[n % 5]}\n" for n in range(150)), encoding="utf-8")
    session = bring(page, path)
    for name in ("Age", "City"):
        page.get_by_label(f"Role of {name}").select_option("quasi-identifier")
    page.goto(f"{session}/promise")
    expect(page.locator("#coarser .card")).to_have_count(2)
    return session


def recipe_of(page, session):
    return page.request.get(f"{session}/recipe.toml").text()


def card(page, name):
    return page.locator("#coarser .card", has=page.get_by_role("heading", name=name, exact=True))


def test_cuts_are_typed_dragged_and_undone(page, session):
    age = card(page, "Age")
    cuts = age.get_by_label(re.compile("Cuts"))
    cuts.fill("40, 60\n60")
    cuts.press("Tab")
    expect(age).to_contain_text("40 to below 60")
    assert "cut_points = [[40, 60], [60]]" in recipe_of(page, session)
    page.mouse.move(0, 0)
    handle = age.locator(".cut rect").nth(1)
    handle.scroll_into_view_if_needed()
    box, chart = handle.bounding_box(), age.locator("svg.chart").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(chart["x"] + chart["width"] * 0.5, box["y"], steps=4)
    with page.expect_response(re.compile("/cuts$")):  # the field changes before it is sent
        page.mouse.up()
    expect(cuts).not_to_have_value(re.compile("60"))
    [(first, dragged), (above,)] = [line.split(", ") for line in cuts.input_value().splitlines()]
    assert first == "40"
    assert dragged == above  # the coarser level has the same cut, or it would not be coarser
    assert 45 <= float(dragged) <= 55
    assert f"cut_points = [[40, {dragged}], [{dragged}]]" in recipe_of(page, session)
    page.get_by_role("button", name="Undo").click()
    expect(card(page, "Age").get_by_label(re.compile("Cuts"))).to_have_value("40, 60\n60\n")
    cuts = card(page, "Age").get_by_label(re.compile("Cuts"))
    cuts.fill("forty")
    cuts.press("Tab")
    expect(card(page, "Age").locator(".note.bad")).to_contain_text(
        "Cuts are numbers"
    )  # beside the control, which stays
    assert "cut_points = [[40, 60], [60]]" in recipe_of(page, session)


def test_a_tree_is_made_by_keys_and_by_dragging(page, session):
    city = card(page, "City")
    city.get_by_text("Edit the tree").click()
    for name, label in (("Bonn", "Germany"), ("Lyon", "France")):
        node(city, name).focus()
        page.keyboard.press("Enter")
        forms(city, name).get_by_label("Put below a new label").fill(label)
        page.keyboard.press("Enter")
        expect(node(city, label)).to_be_visible()
    require_no_barrier(page, "a tree")
    node(city, "Ulm").drag_to(node(city, "Germany"))
    expect(node(city, "Germany")).to_contain_text("2 values")
    for name, n_values in (("Nice", 2), ("Lille", 3)):
        node(city, name).click()
        forms(city, name).get_by_label("Move to").select_option("France")
        forms(city, name).get_by_role("button", name="Move", exact=True).click()
        expect(node(city, "France")).to_contain_text(f"{n_values} values")
    assert recipe_of(page, session).count('"Lille"') == 1
    assert "Germany" in recipe_of(page, session)
    for _ in range(5):
        page.get_by_role("button", name="Undo").click()
    expect(card(page, "City").locator(".tag")).to_have_text("as it is")
    assert "nested" not in recipe_of(page, session)


def node(city, name):
    return forms(city, name).locator("summary.node")


def forms(city, name):
    """A part of the tree with what can be done to it."""
    own = city.page.locator("summary.node", has_text=re.compile(rf"^{name} "))
    return city.locator("details.node-edit", has=own)


def test_what_was_found_of_the_recipe_before_does_not_stay_beside_an_edit(page, session):
    """Whether a promise can be kept depends on the steps by which values get coarser."""
    expect(page.locator("#kept .st.good, #kept .st.warn")).to_be_visible(timeout=120_000)
    with page.expect_response(re.compile("/promise/kept")):
        card(page, "City").get_by_text("1", exact=True).click()


def test_two_edits_at_once_are_both_shown(page, session):
    """The second is asked for before the first is answered, and its form is gone when its own answer comes."""
    city = card(page, "City")
    city.get_by_text("Edit the tree").click()
    held = []
    page.route(re.compile("/tree$"), lambda route: held.append(route))
    for name, label in (("Bonn", "Germany"), ("Lyon", "France")):
        node(city, name).click()
        forms(city, name).get_by_label("Put below a new label").fill(label)
        with page.expect_request(re.compile("/tree$")):
            forms(city, name).get_by_role("button", name="Make").click()
    first, second = held
    answers = [route.fetch() for route in (first, second)]
    with page.expect_response(re.compile("/promise/kept")):
        first.fulfill(response=answers[0])
    expect(node(city, "Germany")).to_be_visible()
    page.evaluate("document.querySelector('#strip .what').textContent = 'of before'")
    with page.expect_response(re.compile("/promise/kept")):
        second.fulfill(response=answers[1])
    expect(node(city, "France")).to_be_visible()
    expect(page.locator("#strip .what")).to_have_text("City: wrap in the tree")
