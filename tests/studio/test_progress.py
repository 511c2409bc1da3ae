# SPDX-License-Identifier: Apache-2.0
"""What a page does while something runs: it hears of the end whatever becomes of its stream, and its buttons hold still.

The queue has one place, and work that takes longer than any test holds it: what waits behind waits until the test lets it go.
"""

import itertools
import re
import threading
import time
from contextlib import closing

import pytest
from playwright.sync_api import expect

from browsing import PATIENCE, open_context, open_sample, root_of, serve_here

pytestmark = pytest.mark.slow


@pytest.fixture
def held(browser, tmp_path):
    """A page of a studio in this process, its session, its queue, and what lets a job go that the queue is held by."""
    go = threading.Event()
    with serve_here(tmp_path) as served, closing(open_context(browser)) as context:
        page = context.new_page()
        page.goto(served.entrance)
        session = open_sample(page)
        yield page, session, served.pages.jobs, go
        go.set()
        served.pages.jobs.close()


def hold(jobs, session, go, title="something long"):
    return jobs.add(session.rpartition("/")[2], title, lambda say: go.wait(600))


@pytest.fixture
def busy(held):
    """A page, and its session with three jobs, of which the first holds the queue and says how far it is."""
    page, session, jobs, go = held

    def count(say):
        for n in itertools.count():
            if go.wait(0.2):
                return
            say("Counting", n % 100, 100)

    page.goto(f"{session}/compare")
    for title in ("a first thing", "a second", "a third"):
        jobs.add(session.rpartition("/")[2], title, count)
    expect(page.locator("#jobs [data-job]")).to_have_count(3)
    return page, session


@pytest.fixture
def waiting(busy):
    """The page of another session, in the same browser, that waits for its count behind that job."""
    page, _ = busy
    with closing(page.context.new_page()) as other:
        other.goto(root_of(page))
        session = open_sample(other)
        other.route("**/events*", lambda route: route.abort())  # whatever may become of a stream
        other.goto(f"{session}/risk")
        expect(other.get_by_role("heading", name="Counting who looks alike…")).to_be_visible()
        yield other
        other.request.post(f"{session}/close", headers={"origin": root_of(other)})


def test_a_button_holds_still_while_figures_change_and_a_page_without_a_stream_asks_by_itself(busy, waiting):
    page, _ = busy
    page.bring_to_front()
    first = page.locator("#jobs [data-job]").first
    stop = first.get_by_role("button", name="Cancel")
    stop.focus()
    before = first.locator(".said").inner_text()
    expect(first.locator(".said")).not_to_have_text(before)
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#jobs [data-job]")).to_have_count(2, timeout=PATIENCE)
    for _ in range(2):
        n = page.locator("#jobs [data-job]").count()
        page.locator("#jobs [data-job]").first.get_by_role("button", name="Cancel").click()
        expect(page.locator("#jobs [data-job]")).to_have_count(n - 1, timeout=PATIENCE)
    waiting.bring_to_front()
    expect(waiting.locator("#known")).to_be_visible(timeout=PATIENCE)


def test_an_answer_that_is_lost_is_asked_for_again_also_while_something_else_runs(held):
    """The stream goes on, it tells that the count is over, and the answer to the page's question is lost."""
    page, session, jobs, go = held
    first = threading.Event()
    hold(jobs, session, first)
    page.goto(f"{session}/risk")
    expect(page.get_by_role("heading", name="Counting who looks alike…")).to_be_visible()
    expect(page.locator("#jobs [data-job]", has_text="Counting who looks alike").locator(".said")).to_have_text(
        "next in line"
    )
    hold(jobs, session, go, "something longer")
    [count] = [job for job in jobs.of(session.rpartition("/")[2]) if job.title == "Counting who looks alike"]
    lost = []

    def lose(route):
        """All answers until the count is over, and one for each of the two jobs that it tells of."""
        if count.is_over and len(lost) == 2:
            route.continue_()
        else:
            lost.extend([route.request.url] if count.is_over else [])
            route.abort()

    page.route(re.compile("/risk$"), lose)
    first.set()
    expect(page.locator("#known")).to_be_visible(timeout=PATIENCE)
    assert lost
    expect(page.locator("#jobs [data-job]")).to_have_count(1)


def test_what_was_chosen_on_a_page_stays_when_something_else_is_over(held):
    page, session, jobs, go = held
    first = threading.Event()
    hold(jobs, session, first)
    page.goto(f"{session}/risk")
    expect(page.get_by_role("heading", name="Counting who looks alike…")).to_be_visible()
    first.set()
    expect(page.locator("#known")).to_be_visible(timeout=PATIENCE)
    for known in page.locator(".knows select").all():
        known.select_option("not known")
    expect(page.locator("#known")).to_contain_text("Choose at least one column")
    other = hold(jobs, session, go)
    expect(page.locator("#jobs [data-job]")).to_have_count(1)
    go.set()
    assert other.wait(5)
    expect(page.locator("#jobs [data-job]")).to_have_count(0)
    page.wait_for_timeout(1000)
    expect(page.locator("#known")).to_contain_text("Choose at least one column")


def test_a_count_that_is_cancelled_stays_so_until_it_is_asked_for_again(busy, waiting):
    page, session = busy
    waiting.unroute("**/events*")
    waiting.locator("#jobs").get_by_role("button", name="Cancel: Counting who looks alike").click()
    expect(waiting.locator("#found")).to_contain_text("Cancelled", timeout=PATIENCE)
    waiting.reload()
    expect(waiting.locator("#found")).to_contain_text("Cancelled")
    page.request.post(f"{session}/close", headers={"origin": root_of(page)})
    waiting.get_by_role("button", name="Try again").click()
    expect(waiting.locator("#known")).to_be_visible(timeout=PATIENCE)


def test_a_page_that_nobody_looks_at_holds_no_connection(page):
    """Browsers allow six connections to a server: a seventh tab would wait for ever."""
    with page.expect_request(re.compile("/events")):
        open_sample(page)
    hide = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }"
    with page.expect_event("requestfailed", lambda request: "/events" in request.url):
        page.evaluate(hide, True)
    with page.expect_request(re.compile("/events")):
        page.evaluate(hide, False)


def test_eight_tabs_are_served(studio, browser):
    """Seven of them in the background, as a browser has them; without a window it takes every page for looked at, so they say so themselves."""
    with closing(open_context(browser)) as context:
        first = context.new_page()
        first.goto(studio.entrance)
        session = open_sample(first)
        for number in range(8):
            other = context.new_page()
            if number < 7:
                other.add_init_script("Object.defineProperty(document, 'hidden', { value: true })")
            other.goto(f"{session}/recipe")
            expect(other.locator("h1")).to_have_text("The recipe")


def test_a_page_says_when_the_studio_does_not_answer(page):
    session = open_sample(page)
    with closing(page.context.new_page()) as cut_off:
        cut_off.clock.install()
        cut_off.route("**/events*", lambda route: route.abort())
        cut_off.goto(f"{session}/recipe")
        expect(cut_off.locator("#lost")).to_be_hidden()
        cut_off.clock.run_for(20_000)
        expect(cut_off.locator("#lost")).to_be_visible()
        cut_off.unroute("**/events*")
        cut_off.clock.run_for(5_000)
        expect(cut_off.locator("#lost")).to_be_hidden()


def test_a_number_that_is_not_allowed_is_said_beside_its_field_and_nothing_is_written(page):
    session = open_sample(page)
    page.goto(f"{session}/promise")
    others = page.locator("form.goal input[name=value]").first
    others.fill("99999")
    others.press("Tab")
    expect(others).to_be_focused()  # where the browser shows what is expected
    page.reload()
    expect(others).to_have_value("4")


def test_a_number_that_is_clicked_up_quickly_arrives_where_it_was_clicked_to(page):
    """The second click comes while the first is on its way; before, its form was replaced by the first answer, and the click was lost."""
    session = open_sample(page)
    page.goto(f"{session}/promise")
    alike = page.locator("form.goal", has=page.locator("input[value=k-anonymity]"))
    held = []
    page.route(re.compile("/promise/goal$"), lambda route: route.continue_() if held else held.append(route))
    alike.locator("[data-step=more]").click()
    until = time.monotonic() + 60
    while not held and time.monotonic() < until:
        page.wait_for_timeout(50)
    alike.locator("[data-step=more]").click()
    held[0].continue_()
    expect(page.locator("#strip code")).to_have_text("k = 7")
    expect(alike.locator("input[name=value]")).to_have_value("6")
    assert "k = 7" in page.request.get(f"{session}/recipe.toml").text()
