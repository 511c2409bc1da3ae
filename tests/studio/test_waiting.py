# SPDX-License-Identifier: Apache-2.0
"""No page waits for ever: the stream tells every job that ended since the page was asked for, and what waits asks again by itself.

The races are made by hand, without clocks: jobs end when the test lets them, and the stream is read where it is made.
"""

import asyncio
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from overt.studio import measurements as measuring
from overt.studio.history import History
from overt.studio.jobs import MOST_WAITING, Jobs
from overt.studio.measurements import Measurements, measured
from overt.studio.pages import Pages
from overt.studio.routes import around
from overt.studio.session import Session

RECIPE = """version = 1
[input]
path = "table.csv"
[output]
path = "release.csv"
[columns]
Age = { role = "quasi-identifier" }
[[goal]]
property = "k-anonymity"
k = 2
[method]
name = "mondrian"
"""


@pytest.fixture
def jobs():
    made = Jobs()
    yield made
    made.close()


@pytest.fixture
def session(tmp_path):
    made = Session("one", tmp_path, "table", History.begin(RECIPE, "Read"))
    made.recipe_path.write_text(made.history.text, encoding="utf-8")
    return made


@pytest.fixture
def pages(jobs, session):
    found = {session.id: session}
    return Pages(SimpleNamespace(find=found.get, all=found), jobs)


def over(job):
    assert job.wait(20)
    return job


class Browser:
    """Listens to the stream as a page does, for so many looks at the jobs, and goes."""

    def __init__(self, pages, session, since, *, looks=3, between=lambda look: None):
        self.looks, self.between = looks, between
        self.pages, self.session, self.since = pages, session, since

    async def is_disconnected(self):
        self.looks -= 1
        self.between(self.looks)
        return self.looks < 0

    def heard(self):
        async def listen():
            return [one.decode() async for one in around.stream(self.pages, self, self.session, self.since)]

        with ThreadPoolExecutor(1) as apart:  # a browser that this process drives has a loop of its own
            return apart.submit(asyncio.run, listen()).result()

    def told(self):
        """The numbers of the jobs that it is told are over."""
        return [int(one.split("data: ")[1]) for one in self.heard() if one.startswith("event: over")]


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    monkeypatch.setattr(around, "PAUSE", 0)
    monkeypatch.setattr(measuring, "PATIENCE", 0)


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_job_that_ended_between_the_page_and_its_ear_is_told(pages, jobs, session, end):
    """The page is made while the job runs, the job ends, and only then the browser listens."""
    go = threading.Event()

    def work(say):
        go.wait(20)
        if end == "failed":
            raise ValueError

    job = jobs.add(session.id, "count", work)
    asked = time.monotonic()
    if end == "cancelled":
        jobs.cancel(job)
    go.set()
    assert over(job).state == end
    assert Browser(pages, session, asked).told() == [job.number]


def test_a_job_that_ends_while_the_page_listens_is_told_once(pages, jobs, session):
    go = threading.Event()
    job = jobs.add(session.id, "count", lambda say: go.wait(20))

    def between(look):
        if look == 3:
            go.set()
            over(job)

    assert Browser(pages, session, time.monotonic(), looks=6, between=between).told() == [job.number]


def test_two_tabs_are_both_told(pages, jobs, session):
    asked = time.monotonic()
    job = over(jobs.add(session.id, "count", lambda say: None))
    assert [Browser(pages, session, asked).told() for _ in range(2)] == [[job.number]] * 2


def test_a_browser_that_comes_back_is_told_what_it_has_not_heard(pages, jobs, session):
    first, second = (over(jobs.add(session.id, "count", lambda say: None)) for _ in range(2))
    assert Browser(pages, session, first.ended).told() == [second.number]
    assert Browser(pages, session, second.ended).told() == []


def test_a_table_that_was_closed_ends_the_stream(pages, session):
    def between(look):
        pages.sessions.all.clear()

    browser = Browser(pages, session, time.monotonic(), looks=50, between=between)
    browser.heard()
    assert browser.looks >= 48


def test_a_stream_begins_with_the_jobs_as_they_are(pages, session):
    assert [one.partition("\n")[0] for one in Browser(pages, session, time.monotonic(), looks=1).heard()] == [
        "event: jobs"
    ]


def test_a_stream_without_news_says_that_it_is_there(pages, session, monkeypatch):
    monkeypatch.setattr(around, "HEARTBEAT", 0)
    assert len(Browser(pages, session, time.monotonic(), looks=5).heard()) >= 5


def test_a_measurement_is_of_the_recipe_as_it_was_when_it_was_asked(jobs, session):
    """An edit while it waits in the queue does not change what it looks at."""
    go = threading.Event()
    jobs.add(session.id, "something long", lambda say: go.wait(20))
    measurements = Measurements(jobs)
    name = lambda recipe, say: recipe.method.name  # noqa: E731
    job = measurements.ask(session, "method", ("method",), "name", name)
    session.change("another", lambda document: {**document, "method": {"name": "full-domain"}})
    go.set()
    assert over(job).result == "mondrian"
    assert measured(session, "method", ("method",)) is None
    session.undo()
    assert measured(session, "method", ("method",)) == "mondrian"


def test_a_measurement_that_nobody_asks_for_any_more_is_stopped_and_forgotten(jobs, session):
    go, numbers = threading.Event(), itertools.count()
    measurements = Measurements(jobs)

    def work(recipe, say):
        go.wait(20)
        return next(numbers)

    asked = [measurements.ask(session, "kept", ("goal",), "count", work)]
    for k in (3, 4, 5):
        session.change(f"{k}", lambda document, k=k: {**document, "goal": [{"property": "k-anonymity", "k": k}]})
        asked.append(measurements.ask(session, "kept", ("goal",), "count", work))
    go.set()
    assert over(asked[-1]).state == "done"
    assert [job.state for job in asked] == ["cancelled", "cancelled", "cancelled", "done"]
    assert jobs.of(session.id) == asked[-1:]


def test_what_a_person_cancels_stays_cancelled_until_they_ask_again(jobs, session):
    go = threading.Event()
    measurements = Measurements(jobs)
    ask = lambda: measurements.ask(session, "count", ("input",), "count", lambda recipe, say: go.wait(20))  # noqa: E731
    jobs.cancel(ask())
    assert ask().state == "cancelled"
    assert jobs.open(session.id) == []
    measurements.forget(session, "failed", "cancelled")
    go.set()
    assert over(ask()).state == "done"


def test_cancelled_jobs_do_not_fill_the_queue(jobs):
    go = threading.Event()
    jobs.add("s", "long", lambda say: go.wait(20))
    for _ in range(3 * MOST_WAITING):
        jobs.cancel(jobs.add("s", "never", lambda say: None))
    go.set()


def test_what_failed_is_tried_once_until_the_page_is_opened_anew(jobs, session):
    """The page asks again when a job is over: what failed must not begin anew each time."""
    measurements, tries = Measurements(jobs), []

    def work(recipe, say):
        tries.append(1)
        raise ValueError

    ask = lambda: measurements.ask(session, "kept", ("goal",), "count", work)  # noqa: E731
    assert over(ask()).state == "failed"
    assert over(ask()).state == "failed"
    assert len(tries) == 1
    measurements.forget(session, "failed")
    over(ask())
    assert len(tries) == 2


@pytest.mark.parametrize(("given", "read"), [(None, None), ("", None), ("nothing", None), ("12.5", 12.5)])
def test_what_a_browser_says_that_it_heard_is_a_time_or_nothing(given, read):
    assert around.read_time(given) == read
