# SPDX-License-Identifier: Apache-2.0
"""Differential privacy is promised of a recipe that holds nothing of the table: what the studio found there is taken out, and comes back if it is taken back."""

import io
import re
import time
import zipfile

import httpx
import pytest
from playwright.sync_api import expect

from browsing import TWO_LOOKS, open_sample, require_no_barrier, serve_here, take_picture
from overt.studio.edits import set_dp, set_missing, set_of_column, set_role, unset_dp
from overt.studio.history import History

PROPOSAL = """version = 1
[input]
path = "table.csv"
missing_values = ["", "?"]
[columns]
Born = { role = "quasi-identifier", format = "%d/%m/%Y", hierarchy = { dates = ["month", "year"] } }
Age = { role = "quasi-identifier", hierarchy = { widths = [5, 10, 20] } }
Code = { role = "quasi-identifier", kind = "category", hierarchy = { prefixes = [2, 1] } }
Illness = { role = "sensitive", missing = "own value" }
[[goal]]
property = "k-anonymity"
k = 5
[pilot]
people = 20
[method]
name = "blind-buckets"
stratify = { halvings = 0 }
[output]
path = "release.csv"
"""
DP = {"made": "true", "confirmed": "true", "epsilon": "1", "delta": "0.00001", "n_rows": "3000"}
HTMX = {"hx-request": "true"}
LIMIT = {"limit_epsilon": "1.5", "limit_delta": "0.001"}


def private(document, history, **more):
    return set_dp(1.0, 1e-6, 0.5, proposal=history.document, **more)(document)


def test_what_was_found_in_the_table_does_not_stay():
    history = History.begin(PROPOSAL, "read")
    found = private(history.document, history, order=("Illness", "Code", "Age", "Born"))
    assert list(found) == ["version", "input", "columns", "method", "output"]
    assert found["input"] == {"path": "table.csv"}
    assert list(found["columns"].items()) == [
        ("Illness", {"role": "sensitive"}),
        *((name, {"role": "quasi-identifier"}) for name in ("Code", "Age", "Born")),
    ]


def test_marks_for_missing_values_are_those_of_the_table_also_where_one_was_added():
    history = History.begin(PROPOSAL, "read")
    added = set_missing(["unknown"], is_missing=True)(history.document)
    assert added["input"]["missing_values"] == ["", "?", "unknown"]
    assert private(added, history)["input"] == {"path": "table.csv"}


def test_what_a_person_gave_stays():
    history = History.begin(PROPOSAL, "read")
    document = history.document
    for name, how in (("Age", {"widths": [10, 20]}), ("Code", {"file": "codes.csv"})):
        document = set_of_column(name, "hierarchy", how)(document)
    found = private(document, history, settled=("Born",))["columns"]
    assert found["Age"]["hierarchy"] == {"widths": [10, 20]}
    assert found["Code"] == {"role": "quasi-identifier", "hierarchy": {"file": "codes.csv"}}
    assert found["Born"] == {"role": "quasi-identifier", "format": "%d/%m/%Y"}


@pytest.mark.parametrize("how", [{"nested": {"North": ["ASTRONAUT"]}}, {"quantiles": [4]}, {"flat": True}])
def test_steps_that_begin_with_the_values_of_the_table_do_not_stay(how):
    history = History.begin(PROPOSAL, "read")
    found = private(set_of_column("Code", "hierarchy", how)(history.document), history)
    assert found["columns"]["Code"] == {"role": "quasi-identifier"}


def test_what_is_typed_afterwards_stays_when_the_budget_is_changed():
    history = History.begin(PROPOSAL, "read")
    document = private(history.document, history)
    typed = set_of_column("Age", "hierarchy", {"widths": [5, 10, 20]})(document)  # as was proposed, but typed
    assert private(typed, history)["columns"]["Age"]["hierarchy"] == {"widths": [5, 10, 20]}


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier", "other"])
def test_another_role_brings_nothing_of_the_table_back(role):
    history = History.begin(PROPOSAL, "read")
    document = private(history.document, history)
    proposed = history.document["columns"]["Born"]
    assert set_role("Born", role, proposed)(document)["columns"]["Born"] == {"role": role}


def test_taken_back_the_recipe_is_as_it_was():
    history = History.begin(PROPOSAL, "read")
    first = private(history.document, history, order=("Illness", "Code", "Age", "Born"))
    back = history.change("dp", lambda _: first).change("back", unset_dp(history.document, first, history.document))
    assert back.text == history.text


def test_taken_back_what_was_changed_meanwhile_stays():
    history = History.begin(PROPOSAL, "read")
    first = private(history.document, history)
    now = set_of_column("Age", "hierarchy", {"widths": [7]})(first)
    now = set_role("Illness", "other")(set_role("Code", "sensitive")(now))
    back = unset_dp(history.document, first, history.document)(now)
    assert back["columns"]["Age"]["hierarchy"] == {"widths": [7]}
    assert back["columns"]["Born"] == history.document["columns"]["Born"]
    assert back["columns"]["Illness"] == {"role": "other"}
    assert back["columns"]["Code"] == {"role": "sensitive", "kind": "category", "missing": "own value"}
    assert (back["method"], back["pilot"]) == (history.document["method"], {"people": 20})


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    with (
        serve_here(tmp_path_factory.mktemp("dp")) as served,
        httpx.Client(base_url=served.root, timeout=120) as client,
    ):
        client.get(served.entrance)
        client.headers["origin"] = served.root
        yield client


def bring(owner, rows):
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    answer = owner.post("/tables", files={"file": ("people.csv", "\n".join(lines).encode())})
    assert answer.status_code == 303, answer.text
    session = answer.headers["location"].rpartition("/")[0]
    for column in range(len(rows[0])):
        owner.post(f"{session}/table/role", data={"column": column, "role": "quasi-identifier"})
    return session


def recipe_of(owner, session):
    return owner.get(f"{session}/recipe.toml").text


def people(**odd):
    jobs = ("clerk", "driver", "farmer")
    rows = [
        {"Age": 20 + i % 60, "Visit": f"{1 + i % 28:02}.03.2020", "Postcode": f"0{i % 7}{i % 3}", "Job": jobs[i % 3]}
        for i in range(120)
    ]
    rows[7] |= odd
    return rows


@pytest.mark.parametrize(
    "odd", [{"Age": 4000}, {"Visit": "17/03/2020"}, {"Postcode": "x"}, {"Age": "?", "Job": "ASTRONAUT"}]
)
def test_two_tables_that_differ_in_one_row_give_the_same_recipe(owner, odd):
    recipes, before = [], []
    for rows in (people(), people(**odd)):
        session = bring(owner, rows)
        before.append(recipe_of(owner, session))
        owner.post(f"{session}/promise/dp", data=DP, headers=HTMX)
        recipes.append(recipe_of(owner, session))
        owner.post(f"{session}/close")
    assert before[0] != before[1]  # or the rest would say nothing
    assert "hierarchy" in before[0]
    assert recipes[0] == recipes[1]
    assert 'name = "dp-full-domain"' in recipes[0]


def test_it_is_asked_whether_what_stays_is_public(owner):
    session = bring(owner, people())
    page = owner.get(f"{session}/promise").text
    assert "no steps yet, and it needs some" in page
    before = recipe_of(owner, session)
    refused = owner.post(f"{session}/promise/dp", data={**DP, "confirmed": ""}, headers=HTMX)
    assert "nobody but you can know that" in refused.text
    assert recipe_of(owner, session) == before
    owner.post(f"{session}/close")


def test_a_tree_of_one_persons_value_ends_in_nothing_that_is_published(owner):
    """ASTRONAUT is one person's job: it was put below a label in the tree, which begins with the table's values."""
    session = bring(owner, people(Job="ASTRONAUT"))
    wrap = {"edit": "wrap", "path": '["ASTRONAUT"]', "label": "rare", "is_value": "true"}
    assert owner.post(f"{session}/coarser/3/tree", data=wrap).status_code == 303
    assert "ASTRONAUT" in recipe_of(owner, session)
    owner.post(f"{session}/promise/dp", data=DP, headers=HTMX)
    assert "ASTRONAUT" not in recipe_of(owner, session)
    assert "ASTRONAUT" not in owner.get(f"{session}/coarser").text  # nothing to copy it from
    for refused in (
        owner.post(f"{session}/coarser/3/tree", data=wrap),
        owner.get(f"{session}/coarser/3/hierarchy.csv"),
    ):
        assert refused.status_code == 422
        assert "must not be made of the values of this table" in refused.text
    owner.post(f"{session}/coarser/0/widths", data={"width": 10})
    owner.post(f"{session}/coarser/1/dates", data={"units": ["month", "year"]})
    owner.post(f"{session}/coarser/1/format", data={"form": "%d.%m.%Y"})
    owner.post(f"{session}/coarser/2/lengths", data={"lengths": "2, 1"})
    taken = owner.post(f"{session}/coarser/3/labels", data={"labels": "office: clerk\noutside: driver, farmer"})
    assert taken.status_code == 303, taken.text  # that it lacks a value of the table is not said: it becomes "*"
    owner.post(f"{session}/promise/limit", data=LIMIT)
    owner.post(f"{session}/release/make")
    for _ in range(600):
        page = owner.get(f"{session}/release").text
        if "public-box" in page or "note bad" in page:
            break
        time.sleep(0.05)
    assert "public-box" in page, page[-2000:]
    with zipfile.ZipFile(io.BytesIO(owner.get(f"{session}/release/public.zip").content)) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    assert "release.csv.manifest.json" in texts
    assert b"outside" in texts["release.csv.manifest.json"]
    assert [name for name, said in texts.items() if b"ASTRONAUT" in said] == []
    owner.post(f"{session}/close")


@pytest.mark.parametrize(
    ("way", "typed", "words"),
    [
        ("labels", {"labels": ": clerk"}, "a label, a colon"),
        ("lengths", {"lengths": "two"}, "whole numbers"),
        ("format", {"form": "no format"}, "format"),
        ("cuts", {"levels": "forty"}, "Cuts are numbers"),
    ],
)
def test_what_cannot_be_used_is_refused_beside_its_column(owner, way, typed, words):
    session = bring(owner, people())
    owner.post(f"{session}/promise/dp", data=DP, headers=HTMX)
    before = recipe_of(owner, session)
    answer = owner.post(f"{session}/coarser/0/{way}", data=typed, headers=HTMX)
    assert words in answer.text
    assert "note bad" in answer.text
    assert recipe_of(owner, session) == before
    owner.post(f"{session}/close")


def test_what_is_typed_stays_until_it_is_sent(page):
    """Before, every number of the form was sent by itself, and the answer took away what was typed beside it."""
    session = open_sample(page)
    page.goto(f"{session}/promise")
    page.fill("#dp-epsilon", "2")
    page.fill("#dp-rows", "100000")
    page.fill("#limit-epsilon", "3")
    others = page.locator("#dial-k-anonymity-0")
    others.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#strip code")).to_have_text("k = 6")
    expect(others).to_be_focused()  # its card was replaced
    for field, value in (("#dp-epsilon", "2"), ("#dp-rows", "100000"), ("#limit-epsilon", "3")):
        expect(page.locator(field)).to_have_value(value)
    page.fill("#limit-delta", "0.0001")
    page.get_by_role("button", name="Set the limit").click()
    expect(page.locator("#dp-limit")).to_contain_text("Limit: epsilon 3")
    expect(page.locator("#limit-delta")).to_have_value("0.0001")
    expect(page.locator("#dp-rows")).to_have_value("100000")
    page.get_by_text("What stays in the recipe", exact=True).click()
    expect(page.locator("#dp-kept")).to_contain_text("Postcode: others may know it")
    page.check("#dp-confirmed")
    page.get_by_role("button", name="Promise it").click()
    expect(page.locator("#coarser .note.warn")).to_contain_text("published with the release")
    expect(page.locator("#dp-epsilon")).to_have_value("2")
    expect(page.locator("#dp-rows")).to_have_value("100000")
    expect(page.locator("#dp-limit")).to_contain_text(
        "Limit: epsilon 3"
    )  # also while steps are missing, and it cannot be run
    assert "epsilon = 2" in page.request.get(f"{session}/recipe.toml").text()
    require_no_barrier(page, "a dp promise", TWO_LOOKS)
    take_picture(page, "4-dp", "#dp")
    take_picture(page, "4-dp-steps", "#coarser")
    typed = page.locator("#coarser textarea[name=labels]").last
    typed.fill("common: flu, cold")
    typed.locator("xpath=ancestor::form").get_by_role("button").click()
    expect(page.locator("#strip .what")).to_have_text(re.compile("labels"))
    page.goto(f"{session}/compare")
    expect(page.locator("#runs")).to_contain_text("a trial would spend of the budget")
    require_no_barrier(page, "compare of a dp promise", TWO_LOOKS)
    page.goto(f"{session}/promise")
    page.get_by_role("button", name="Take the promise back").click()
    expect(page.locator("#dp-confirmed")).to_be_visible()
    assert "k = 6" in page.request.get(f"{session}/recipe.toml").text()
