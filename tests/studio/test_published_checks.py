# SPDX-License-Identifier: Apache-2.0
"""Files that other tools made are checked over HTTP: what they claim, what holds, what a replay tells, and who is exposed."""

import csv
import html
import io
import re
import threading
import time
import tomllib
from contextlib import closing

import httpx
import polars as pl
import pytest
from playwright.sync_api import expect

from browsing import PATIENCE, open_context, require_no_barrier, serve_here
from evidence import ADULT
from overt.errors import InvalidInput
from overt.studio import published_checks
from overt.studio.other_notations import as_written_here, rewritten
from overt.studio.published_checks import about

PEOPLE = [
    {
        "Age": 20 + i * 7 % 40,
        "Sex": "mf"[i % 2],
        "Disease": ("Flu", "Asthma", "Migraine", "Angina")[(i * i + i // 3) % 4],
    }
    for i in range(96)
]


def text_of(rows):
    content = io.StringIO()
    writer = csv.DictWriter(content, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return content.getvalue().encode()


def halves(rows, k):
    """Median cuts of one column, as anonypy makes them: below the median, and the rest, while both have k rows."""
    ages = sorted(one["Age"] for one in rows)
    middle = ages[len(ages) // 2]
    low, high = [one for one in rows if one["Age"] < middle], [one for one in rows if one["Age"] >= middle]
    return [*halves(low, k), *halves(high, k)] if min(len(low), len(high)) >= k else [rows]


def lines_of(groups):
    """Lines as anonypy writes them: a group, a disease, and how many of the group have it."""
    for group in groups:
        ages = [one["Age"] for one in group]
        for disease in sorted({one["Disease"] for one in group}):
            n = sum(one["Disease"] == disease for one in group)
            yield {"Age": f"{min(ages)}-{max(ages)}", "Disease": disease, "count": n}


def in_decades(rows):
    return [{**one, "Age": f"{one['Age'] // 10 * 10}-{one['Age'] // 10 * 10 + 9}"} for one in rows]


WITHOUT_SEX = [{"Age": one["Age"], "Disease": one["Disease"]} for one in PEOPLE]
ORIGINAL = ("original.csv", text_of(WITHOUT_SEX))
GROUPS = halves(WITHOUT_SEX, 8)
ANONYPY = text_of(list(lines_of(GROUPS)))
BY_HAND = sorted(WITHOUT_SEX, key=lambda one: one["Age"])
BY_HAND = [[one for one in BY_HAND if one["Age"] < 32], [one for one in BY_HAND if one["Age"] >= 32]]
SPREADSHEET = text_of(in_decades(PEOPLE))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched, serve_here(tmp_path_factory.mktemp("published")) as one:
        patched.setattr(published_checks, "SECONDS", 2.0)  # what is exact needs no more
        yield one


@pytest.fixture(scope="module")
def owner(served):
    with httpx.Client(base_url=served.root, timeout=120) as client:
        client.get(served.entrance)
        client.headers["origin"] = served.root
        yield client


def check(owner, name, content, original=None, beside=(), **claims):
    """The address of a check that is over, and its words."""
    original = ("original.csv", text_of(PEOPLE)) if original is None else original
    files = [("original", original), ("published", (name, content)), *(("beside", one) for one in beside)]
    answer = owner.post("/check", files=files, data=claims)
    assert answer.status_code == 303, answer.text
    path, until = answer.headers["location"], time.monotonic() + PATIENCE / 1000
    while 'http-equiv="refresh"' in (page := owner.get(path).text):
        assert time.monotonic() < until
        time.sleep(0.2)
    return path, words_of(page)


def words_of(page):
    main = re.sub("<svg.*?</svg>", "", page[page.index("<main") :], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", main)).split())


def test_words_of_other_tools():
    assert rewritten("20-29", {"20", "29"}) == "20..29"
    assert rewritten("[20, 29]", {"20"}) == "20..29"
    assert rewritten("-5 - 3.5", ()) == "-5..3.5"
    assert rewritten("20-29", {"20-29"}) == "20-29"  # a value of the original, whatever it looks like
    assert rewritten("a,b", {"a", "b", "a,b"}) == "a,b"
    assert rewritten("b,a", {"a", "b"}) == "{a, b}"
    assert rewritten("b,c", {"a", "b"}) == "b,c"


def test_a_recipe_that_is_given_is_read_of_the_original_that_is_given(tmp_path):
    given = tmp_path / "given.toml"
    given.write_text('version = 1\n[input]\npath = "/etc/passwd"\nseparator = ":"\n[method]\nname = "mondrian"\n')
    made = tomllib.loads(about(tmp_path / "original.csv", given).read_text())
    assert made["input"] == {"path": "original.csv", "separator": ":"}
    given.write_text('version = 1\n[input]\ndatabase = "CLINIC_DB"\ntable = "people"\n')
    assert tomllib.loads(about(tmp_path / "original.csv", given).read_text())["input"] == {"path": "original.csv"}
    given.write_bytes(b"\xff no toml")
    with pytest.raises(InvalidInput, match="no TOML file"):
        about(tmp_path / "original.csv", given)


@pytest.mark.parametrize(
    ("counts", "n_lines"), [(("2", "1"), 3), (("2", "x"), 2), (("-1", "2"), 2), (("99999999999", "1"), 2)]
)
def test_a_count_is_as_many_lines_if_it_can_be(tmp_path, counts, n_lines):
    original, published = tmp_path / "original.csv", tmp_path / "published.csv"
    original.write_text("a\n1\n2\n")
    published.write_text(f"a,count\n1,{counts[0]}\n2,{counts[1]}\n")
    read = pl.read_csv(as_written_here(original, published, ["a"], tmp_path / "read.csv"))
    assert read["a"].to_list() == ([1, 1, 2] if n_lines == 3 else [1, 2])


@pytest.mark.slow
def test_a_file_of_anonypy(owner):
    given = {"original": ORIGINAL, "tool": "anonypy", "column": "Disease"}
    path, words = check(owner, "published.csv", ANONYPY, k="8", **given)
    assert "Claimed: 8-anonymity." in words
    assert f"8-anonymity holds in {len(GROUPS)} groups (measured: k = {min(map(len, GROUPS))})" in words
    assert "Behind every line is one row of the original" in words
    assert "Someone who replays it:" in words
    assert "Owner only: who is exposed" in words
    assert "The file keeps its claim, also against someone who runs the same tool." in words
    rows = owner.get(f"{path}/rows.csv")
    assert rows.text.count("\n") == len(PEOPLE) + 1
    assert "owner-only" in rows.headers["content-disposition"]
    _, words = check(owner, "published.csv", ANONYPY, k=str(min(map(len, GROUPS)) + 1), **given)
    assert "The file does not keep its claim." in words
    _, words = check(owner, "published.csv", text_of(list(lines_of(BY_HAND))), k="8", **given)
    assert "The file keeps its claim, to someone who only reads it." in words
    assert "do not give the groups of the published file" in words  # a replay says nothing about this file
    assert owner.get(f"{path}/rows").status_code == 200


@pytest.mark.slow
def test_a_file_of_a_spreadsheet(owner):
    path, words = check(owner, "sheet.csv", SPREADSHEET, tool="other", k="5", column="Disease")
    assert "The file keeps its claim, but shows more than the claim is about." in words
    assert "Rows are not in the order" in words
    assert "What someone who knows it learns is not known" in words
    assert owner.get(f"{path}/rows.csv").status_code == 404
    ordered = text_of(in_decades(sorted(PEOPLE, key=lambda one: (one["Age"] // 10, one["Sex"], one["Disease"]))))
    _, words = check(owner, "sheet.csv", ordered, tool="other", k="5", column="Disease")
    assert "The file keeps its claim, to someone who only reads it." in words
    _, words = check(owner, "sheet.csv", ordered, tool="other", k="50", column="Disease")
    assert "The file does not keep its claim." in words
    invented = ordered.replace(b"20-29", b"70-79")
    _, words = check(owner, "sheet.csv", invented, tool="other", k="5", column="Disease")
    assert "keeps its claim, to someone" not in words
    unread = ordered.replace(b"20-29", b"twenties")
    _, words = check(owner, "sheet.csv", unread, tool="other", k="5", column="Disease")
    assert "not all of it can be read. Whether it is true is not known." in words


@pytest.mark.slow
def test_a_column_that_is_not_there_is_not_guessed(owner):
    _, words = check(owner, "sheet.csv", SPREADSHEET, tool="other", k="5", column="Disese")
    assert "The original has no column 'Disese'" in words


@pytest.mark.slow
@pytest.mark.evidence("adult")
def test_a_file_of_arx(owner):
    original = ("adult.csv.gz", (ADULT / "adult.csv.gz").read_bytes())
    beside = [(path.name, path.read_bytes()) for path in ADULT.glob("adult_hierarchy_*.csv")]
    given = {"original": original, "tool": "arx", "column": "occupation"}
    content = (ADULT / "releases" / "arx_distinct5_dm.csv.gz").read_bytes()
    path, words = check(owner, "arx.csv.gz", content, beside=beside, k="5", l="3", **given)
    assert "Claimed: 5-anonymity and 3-diversity (frequency) of 'occupation'." in words
    assert "The file keeps its claim, but shows more than the claim is about." in words  # 'id' and 'salary-class'
    assert "holds in 30 groups (measured: k = 16, l = 3.2)" in words
    assert "Someone who replays it:" in words
    assert "of 30,162 rows of whom most is believed" in words_of("<main>" + owner.get(f"{path}/rows").text)
    _, words = check(owner, "arx.csv.gz", content, beside=beside, k="5", l="4", **given)
    assert "The file does not keep its claim." in words
    _, words = check(owner, "arx.csv.gz", content, k="5", **given)  # nobody gave the hierarchies
    assert "not all of it can be read. Whether it is true is not known." in words
    content = (ADULT / "releases" / "arx_local_distinct5_loss.csv.gz").read_bytes()
    _, words = check(owner, "local.csv.gz", content, beside=beside, k="5", **given)
    assert "cannot be replayed from a file" in words


@pytest.mark.slow
def test_the_page_is_read_on_a_phone_and_a_desk(served, owner, browser):
    path, _ = check(owner, "published.csv", ANONYPY, original=ORIGINAL, tool="anonypy", k="8", column="Disease")
    with closing(open_context(browser)) as context:
        page = context.new_page()
        page.goto(served.entrance)
        page.goto(f"{served.root}{path}")
        page.get_by_role("button", name="Show the list").click()
        page.locator("#exposed table").wait_for()
        require_no_barrier(page, "checked-other")


@pytest.mark.slow
def test_a_check_that_runs_can_be_cancelled_and_shows_its_end_by_itself(served, owner, browser):
    go = threading.Event()
    files = [("original", ORIGINAL), ("published", ("published.csv", ANONYPY))]
    try:
        served.pages.jobs.add("another table", "something long", lambda say: go.wait(600))
        begun = [
            owner.post("/check", files=files, data={"tool": "other", "k": "8"}).headers["location"] for _ in range(2)
        ]
        with closing(open_context(browser)) as context:
            page = context.new_page()
            page.goto(served.entrance)
            page.goto(f"{served.root}{begun[0]}")
            expect(page.locator("#checked")).to_contain_text("next in line")
            require_no_barrier(page, "checking")
            page.get_by_role("button", name="Cancel").focus()
            with page.expect_response(lambda answer: answer.url.endswith(begun[0])):
                pass
            expect(page.get_by_role("button", name="Cancel")).to_be_focused()
            page.get_by_role("button", name="Cancel").click()
            expect(page.locator("#checked")).to_contain_text("Cancelled")
            page.goto(f"{served.root}{begun[1]}")
            expect(page.locator("#checked")).to_contain_text("next in line")
            go.set()
            expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
            page.get_by_role("button", name="Print this page").wait_for()
    finally:
        go.set()
