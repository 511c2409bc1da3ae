# SPDX-License-Identifier: Apache-2.0
"""A person goes through the six steps in a browser: on the sample, on a hospital's file, on a file in which everything is odd."""

import json
import time
import zlib
from contextlib import closing

import pytest
from playwright.sync_api import expect

import overt
from browsing import (
    PATIENCE,
    bring,
    compare,
    make_release,
    open_context,
    open_sample,
    promise,
    require_no_barrier,
    root_of,
    save,
    see_risk,
    sign,
    take_picture,
)

pytestmark = pytest.mark.slow


def test_six_steps_on_the_sample(page, tmp_path):
    require_no_barrier(page, "start")
    take_picture(page, "1-start")

    session = open_sample(page)
    expect(page.get_by_role("heading", name="What is in the table?")).to_be_visible()
    role = page.get_by_label("Role of Postcode")
    role.select_option("other")
    expect(page.locator("#strip .what")).to_have_text("Postcode: leave it out")
    expect(page.locator(".tag", has_text="changed by you")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(role).to_have_value("quasi-identifier")
    require_no_barrier(page, "table")
    take_picture(page, "2-table")

    see_risk(page, session)
    expect(page.locator("h1")).to_have_text("Shared as it is, everyone could be found")
    for known in page.locator(".knows select").all():
        known.select_option("not known")
    page.get_by_label("Sex", exact=True).select_option("exactly")
    expect(page.locator("#known .huge")).to_have_text("0 people")
    page.get_by_role("button", name="Show ten rows").click()
    expect(page.locator("#easiest tbody tr")).to_have_count(10)
    expect(page.locator("#easiest th", has_text="Disease")).to_have_count(0)
    require_no_barrier(page, "risk")
    take_picture(page, "3-risk")

    assert "Yes, by all that was tried" in promise(page, session)
    page.locator("form.goal", has=page.locator("input[value=k-anonymity]")).locator("[data-step=more]").click()
    expect(page.locator("#strip code")).to_have_text("k = 6")
    expect(page.locator("#kept .st.good")).to_be_visible(timeout=PATIENCE)
    require_no_barrier(page, "promise")
    take_picture(page, "4-promise")

    compare(page, session, "Blind buckets", "Mondrian")
    expect(page.locator("h1")).to_contain_text("also against someone who knows the method")
    expect(page.locator(".plane canvas")).to_be_visible()
    require_no_barrier(page, "compare")
    take_picture(page, "5-compare")
    page.get_by_role("link", name="Open Mondrian").click()
    expect(page.locator("table.rows").first).to_be_visible()
    take_picture(page, "5-run")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("#people-shown tbody tr").first).to_be_visible()
    expect(page.locator("#people-shown th", has_text="Name")).to_have_count(0)
    require_no_barrier(page, "run")
    page.goto(f"{session}/compare")
    page.get_by_role("button", name="Choose Blind buckets").click()
    page.wait_for_url("**/release")

    make_release(page, session)
    sign(page, "R. Adler", "Data protection officer")
    require_no_barrier(page, "release")
    take_picture(page, "6-release")
    page.get_by_role("link", name="A page to print and sign").click()
    expect(page.locator("main")).to_contain_text("R. Adler")
    require_no_barrier(page, "report")
    page.emulate_media(media="print")
    expect(page.locator(".rail")).to_be_hidden()
    page.emulate_media(media="screen")

    page.goto(f"{session}/release")
    files = {name: save(page, link_to(page, name), tmp_path) for name in names_of(page)}
    assert {"release.csv", "release.csv.manifest.json", "release.report.html", "release.signature.json"} <= set(files)
    signed = json.loads(files["release.signature.json"].read_text())
    assert signed["name"] == "R. Adler"
    assert signed["audience"] == "public"

    page.goto(f"{session}/recipe")
    expect(page.locator("pre.toml .new")).to_have_text(
        ["k = 6"]
    )  # the last change; the method was the recipe's already
    require_no_barrier(page, "recipe")
    overt.samples.hospital().write_csv(tmp_path / "original.csv")
    page.goto(f"{root_of(page)}/check")
    require_no_barrier(page, "check")
    page.set_input_files("#original", tmp_path / "original.csv")
    page.set_input_files("#published", files["release.csv"])
    page.set_input_files("#beside", [path for name, path in files.items() if name != "release.csv"])
    page.get_by_role("button", name="Check it").click()
    expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".verdict")).to_contain_text("The file holds what it claims")
    require_no_barrier(page, "checked")
    take_picture(page, "7-check")


def link_to(page, name):
    return page.locator("ul.files li", has=page.locator(f".name:text-is('{name}')")).get_by_role("link", name="Save")


def names_of(page):
    return [one.inner_text() for one in page.locator("ul.files .name").all()]


def needed_to_check(page):
    """What is for readers, and the owner's record: it says who was in the pilot."""
    return [name for name in names_of(page) if "owner" not in name or name.endswith(".owner.json")]


def test_six_steps_on_a_hospitals_file(page, tmp_path):
    """20,000 discharges of 17,500 patients: several stays of one, skewed diagnoses, a yes or no that is rare. The release is saved and checked."""
    session = open_sample(page, "large")
    expect(page.get_by_label("Several rows per person")).to_be_checked()
    page.get_by_label("Keep").select_option(
        "2"
    )  # the few with three may be too few for a group among the pilot's people
    expect(page.locator("#strip code")).to_contain_text("keep = 2")
    compare(page, session, "Blind buckets")
    page.get_by_role("link", name="Open Blind buckets").click()
    expect(page.locator("main")).to_contain_text("Counts that a reader works out")
    page.goto(f"{session}/table")
    page.get_by_label("Keep").select_option("1")
    expect(page.locator("#strip code")).to_contain_text("keep = 1")
    expect(page.locator("#counted")).to_contain_text("17,500 people in 20,000 rows", timeout=PATIENCE)
    expect(page.get_by_label("The person is told by")).to_have_value("0")
    require_no_barrier(page, "persons")
    take_picture(page, "2-table-large")
    expect(page.get_by_label("Role of Charge")).to_have_value("other")
    page.get_by_label("Role of Mental health flag").select_option("other")
    expect(page.locator("#strip .what")).to_have_text("Mental health flag: leave it out")

    see_risk(page, session)
    expect(page.locator("#found")).to_contain_text("people of the pilot")
    rare = page.locator("form.goal", has=page.locator("input[value=relative-risk]")).filter(has_text="HIV")
    said = promise(page, session)
    expect(rare.locator("input[name=made]")).to_be_checked()
    assert "of the pilot" in said
    compare(page, session, "Blind buckets", "Two tables")
    expect(page.locator("table.runs")).to_contain_text("nothing more, proven")
    expect(page.locator("table.runs")).to_contain_text("Cannot be reached")
    page.get_by_role("button", name="Choose Blind buckets").last.click()
    page.wait_for_url("**/release")
    make_release(page, session)
    expect(page.locator(".verdict.good").first).to_be_visible()
    files = {name: save(page, link_to(page, name), tmp_path) for name in needed_to_check(page)}
    page.goto(f"{session}/recipe")
    recipe = save(page, page.get_by_role("link", name="Save the recipe"), tmp_path)
    assert 'person = "Patient ID"' in recipe.read_text()
    assert 'path = "discharges.csv"' in recipe.read_text()
    overt.samples.discharges().write_csv(tmp_path / "discharges.csv")
    page.goto(f"{root_of(page)}/check")
    page.set_input_files("#original", tmp_path / "discharges.csv")
    page.set_input_files("#published", files["release.csv"])
    page.set_input_files("#beside", [path for name, path in files.items() if name != "release.csv"])
    page.get_by_role("button", name="Check it").click()
    expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".verdict")).to_contain_text("The file holds what it claims")


def test_six_steps_on_a_nasty_file(page, tmp_path):
    """200 columns with odd names, quotes, missing values, markup and formulas."""
    path = tmp_path / "odd, <b>name<b> 'and' \"more\".csv"
    path.write_text(nasty(), encoding="utf-8")
    session = bring(page, path)
    expect(page.locator("h1")).to_have_text("What is in the table?")
    expect(page.locator("main .lead")).to_contain_text("200 columns")
    expect(page.locator("main h3").first).to_have_text(NASTY_NAMES[0])
    require_no_barrier(page, "a nasty table")
    page.get_by_role("link", name="151 to 200").click()
    expect(page.locator("main h3").last).to_have_text("column 199")
    page.goto(f"{session}/table")
    for name in NASTY_NAMES[2:]:
        page.get_by_label(f"Role of {name}", exact=True).select_option("other")
    see_risk(page, session)
    for number in range(
        30, 200
    ):  # as many clicks: what follows takes all pairs of columns, and need not do so in every test run
        form = {"column": str(number), "role": "other"}
        page.request.post(f"{session}/table/role", form=form, headers={"origin": root_of(page)}, max_redirects=0)
    promise(page, session)
    compare(page, session, "Mondrian")
    page.get_by_role("link", name="Open Mondrian").click()
    expect(page.locator("table.rows").first).to_be_visible()
    require_no_barrier(page, "a nasty run")
    page.goto(f"{session}/compare")
    page.get_by_role("button", name="Choose Mondrian").click()
    page.wait_for_url("**/release")
    make_release(page, session)
    sign(page, "<b>R. Adler</b>", "=1+1")
    expect(page.locator("#sign .verdict b")).to_have_text("<b>R. Adler</b>")
    files = {name: save(page, link_to(page, name), tmp_path) for name in needed_to_check(page)}
    assert "\n=cmd" not in files["release.csv"].read_text("utf-8")
    page.goto(f"{root_of(page)}/check")
    page.set_input_files("#original", path)
    page.set_input_files("#published", files["release.csv"])
    page.set_input_files("#beside", [saved for name, saved in files.items() if name != "release.csv"])
    page.get_by_role("button", name="Check it").click()
    expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".verdict")).to_contain_text("The file holds what it claims")
    assert page.evaluate("window.wasHere") is None


NASTY_NAMES = [
    "Age",
    '<img src=x onerror="window.wasHere=1">',
    "=1+1",
    "'quoted' \"name\"",
    "back\\slash; semi,comma",
    "{{7*7}}",
]


def nasty():
    """A file whose first columns are odd and whose others are many."""
    names = NASTY_NAMES + [f"column {n}" for n in range(len(NASTY_NAMES), 200)]
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in names)]
    for n in range(300):
        cells = [
            str(20 + n % 7),
            f"<script>window.wasHere={n % 4}</script>",
            f"=cmd|{n % 3}",
            f'it\'s "{n % 5}"',
            "" if n % 3 else "x,y",
            "?",
        ]
        cells += ["" if (n + k) % 11 == 0 else str((n * k) % 4) for k in range(len(names) - len(cells))]
        lines.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    return "\n".join(lines) + "\n"


def test_what_clicks_wrote_is_replayed_on_the_command_line(page, tmp_path):
    """A run of the studio is a recipe: by a method without coins, the command line makes the same bytes of it."""
    session = open_sample(page)
    compare(page, session, "Whole columns")
    page.get_by_role("button", name="Choose Whole columns").click()
    page.wait_for_url("**/release")
    make_release(page, session)
    release = save(page, link_to(page, "release.csv"), tmp_path)
    page.goto(f"{session}/recipe")
    recipe = save(page, page.get_by_role("link", name="Save the recipe"), tmp_path)
    again = tmp_path / "again"
    again.mkdir()
    overt.samples.hospital().write_csv(again / "hospital.csv")
    (again / "recipe.toml").write_bytes(recipe.read_bytes())
    outcome = overt.run(again / "recipe.toml")
    assert outcome.ok
    assert (again / "release.csv").read_bytes() == release.read_bytes()


def test_a_run_is_cancelled_and_leaves_nothing(page, studio):
    session = open_sample(page, "large")
    [folder] = studio.folder.glob(f"overt-studio-*/{session.rpartition('/')[2]}")
    page.goto(f"{session}/compare")
    for n in range(3):  # they run one after the other: the last is still waiting, however quick the machine is
        page.get_by_role("button", name="Blind buckets", exact=True).click()
        expect(page.locator("table.runs tbody tr")).to_have_count(n + 1)
    jobs = page.locator("#jobs .job")
    jobs.last.get_by_role("button", name="Cancel").click()
    expect(jobs.nth(2)).to_have_count(0)
    expect(jobs).to_have_count(0, timeout=PATIENCE)
    page.reload()
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    assert len(list(folder.glob("run-*"))) == 2
    assert [path.name for path in folder.iterdir() if "unfinished" in path.name or "release" in path.name] == []


def test_the_first_page_is_small_and_quick(studio, browser):
    """What a browser that has seen nothing yet receives for it, compressed as it would be; the time is printed, not judged."""
    with closing(open_context(browser)) as context:
        page, answers = context.new_page(), []
        page.on("response", lambda answer: answers.append(answer))
        begun = time.monotonic()
        page.goto(studio.entrance)
        shown = time.monotonic() - begun
        total = sum(len(zlib.compress(answer.body())) for answer in answers if answer.status == 200)
    print(f"first page: {total / 1024:.0f} KiB compressed in {len(answers)} answers, shown after {shown:.2f} s")  # noqa: T201
    assert len(answers) >= 5
    assert total < 400 * 1024
