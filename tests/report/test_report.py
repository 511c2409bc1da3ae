# SPDX-License-Identifier: Apache-2.0
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from contracts.methods import EXAMPLES
from overt import (
    AllOf,
    Anatomy,
    Claim,
    FrequencyLDiversity,
    KAnonymity,
    Mondrian,
    check_release,
    read_frame,
    samples,
)
from overt.guarantee import STRONG
from overt.io.publication import published_tables
from overt.report.html import page_of
from overt.report.json import json_of
from overt.report.owner_report import LEAST_ROWS, make_report
from overt.report.text import text_of

GOAL = AllOf((KAnonymity(5), FrequencyLDiversity(2)))
NASTY = "</script><script>alert('x')</script>&\"<b>"


@pytest.fixture(scope="module")
def table():
    return read_frame(
        samples.census(2000), quasi_identifiers=["Age", "Gender", "Education"], sensitive=["Occupation", "Income"]
    )


@pytest.fixture(scope="module")
def report(table):
    release = Mondrian(goal=GOAL).anonymize(table)
    claim = Claim(goal=GOAL, n_rows=table.n_rows, others=(), show={})
    verdict = check_release(table, published_tables(release), claim)
    return make_report(
        release, goal=GOAL, verdict=verdict, cautions=["Mind the gap."], source="census.csv", recipe="version = 1\n"
    )


class Page(HTMLParser):
    """Every tag must be closed; attributes and text are kept."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_for_nothing(report):
    page = page_of(report)
    parsed = Page(page)
    assert page.startswith("<!doctype html>")
    names = {name for name, _ in parsed.attributes}
    assert not names & {"src", "href", "onclick", "onload", "style"}
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg|vega\.github\.io/schema)", page)
    assert 'content="default-src &#x27;none&#x27;; style-src &#x27;unsafe-inline&#x27;"' in page
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1 + len(report.columns)  # a specification for every plot, and nothing that runs
    for attributes, text in scripts:
        assert 'type="application/json"' in attributes
        assert json.loads(text)["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert len(page) < 200_000


def test_what_was_asked_what_holds_and_the_recipe_are_there(report):
    page = page_of(report)
    for words in ("5-anonymity", "2-diversity (frequency)", "k = ", "Mind the gap.", "version = 1", "census.csv"):
        assert words in page
    assert all(name in page for name in ("Age", "Gender", "Education", "Occupation", "Income"))
    assert "ok" in page and report.is_checked


def test_a_method_that_does_not_resist_replay_says_so_in_red(report):
    page = page_of(report)
    assert not report.resists_replay
    assert '<p class="alarm"><strong>Does not resist someone who replays the method. </strong>' in page
    assert "not someone who replays the method" in text_of(report)
    assert report.to_dict()["resists_replay"] is False


def test_only_methods_that_say_so_resist_replay(report):
    claims = {example for example in EXAMPLES if replace(report, guarantee=example.guarantee).resists_replay}
    names = {example.name for example in claims}
    assert names.isdisjoint({"gda", "record-threshold", "algorithm-4-as-published-not-dp"}) and "anatomy" in names
    assert all("not someone who replays" not in example.against for example in claims)
    safe = replace(report, guarantee=STRONG)
    assert safe.resists_replay and 'class="alarm"' not in page_of(safe)


def test_a_release_that_fails_its_check_does_not_look_like_one_that_passed(table):
    release = Mondrian(goal=KAnonymity(2)).anonymize(table)
    claim = Claim(goal=KAnonymity(50), n_rows=table.n_rows, others=(), show={})
    verdict = check_release(table, published_tables(release), claim)
    broken = make_report(release, goal=KAnonymity(50), verdict=verdict)
    page = page_of(broken)
    assert not broken.is_checked and "does NOT satisfy" in page and "FAILED" in page


def test_every_value_is_escaped():
    people = pl.DataFrame({f"age{NASTY}": [1, 2, 3, 4] * 10, "kind": [NASTY, "plain"] * 20, "ill": [NASTY, "flu"] * 20})
    nasty = read_frame(people, quasi_identifiers=[f"age{NASTY}", "kind"], sensitive=["ill"])
    release = Mondrian(goal=KAnonymity(5)).anonymize(nasty)
    report = make_report(release, goal=KAnonymity(5), source=NASTY, recipe=NASTY, cautions=[NASTY])
    page = page_of(report)
    Page(page)
    assert NASTY not in page and "alert('x')</script>" not in page
    assert "<b>" not in re.sub(
        r"<b>(all|Prosecutor|Journalist|Marketer|Groups under \d+|[\d,]+|[\d.]+\xa0%)</b>", "", page
    )
    assert json.loads(json_of(report))["source"] == NASTY


def test_nothing_is_shown_that_few_people_have():
    n = 400
    rng = np.random.default_rng(3)
    people = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": [int(a) for a in rng.integers(30, 60, n - 1)] + [98765],
            "birth": [f"19{int(y)}-05-17" for y in rng.integers(50, 99, n - 1)] + ["1901-02-03"],
            "town": ["Here", "There"] * (n // 2 - 1) + ["Farawaytown", "Nowhereville"],
            "ill": ["flu", "cold"] * (n // 2 - 1) + ["Rare syndrome", "flu"],
            "dose": [float(d) for d in rng.random(n - 1)] + [17.25],
        }
    )
    table = read_frame(
        people,
        identifiers=["name"],
        quasi_identifiers=["age", "birth", "town", "dose"],
        sensitive=["ill"],
        kinds={"birth": "date"},
    )
    release = Mondrian(goal=KAnonymity(5)).anonymize(table)
    report = make_report(release, goal=KAnonymity(5))
    everything = page_of(report) + json_of(report) + text_of(report)
    for secret in ("98765", "1901", "Farawaytown", "Nowhereville", "Rare syndrome", "17.25", "person 1"):
        assert secret not in everything, secret
    for one in report.distributions:
        assert min(one.before) >= LEAST_ROWS and sum(one.before) == n
        assert sum(one.after) == pytest.approx(n)


def test_the_json_is_plain_and_complete(report):
    document = json.loads(json_of(report))
    assert document["risk"]["before"]["identification"]["uniques"] > 0
    assert document["risk"]["after"]["identification"]["uniques"] == 0
    assert set(document["utility"]) >= {"certainty_penalty", "non_uniform_entropy", "precision", "pair_divergence"}
    assert set(document["plots"]["columns"]) == {"Age", "Gender", "Education", "Occupation", "Income"}


def test_buckets_are_reported_for_what_they_are(table):
    one = read_frame(samples.census(2000), quasi_identifiers=["Age", "Gender"], sensitive=["Income"])
    method = Anatomy(goal=FrequencyLDiversity(4))
    report = make_report(method.anonymize(one, rng=np.random.default_rng(0)), goal=method.goal)
    text = text_of(report)
    assert "people are found as before" in text and "Every column is published unchanged" in text
    Page(page_of(report))


def test_notebooks_show_tables_releases_and_reports(table, report):
    release = Mondrian(goal=GOAL).anonymize(table)
    for shown in (table, release, report):
        Page(shown._repr_html_())
    assert "Education" in table._repr_html_() and "quasi-identifier" in table._repr_html_()
    bundle = report.group_sizes._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["application/vnd.vegalite.v5+json"]["data"]
