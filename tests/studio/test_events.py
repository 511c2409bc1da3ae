# SPDX-License-Identifier: Apache-2.0
"""A page that waits for a job hears that it is over, also when the job ended before the page could listen."""

import contextlib
import re
import time

import httpx
import pytest

from browsing import serve

pytestmark = pytest.mark.slow
PATIENCE = 120.0


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    with (
        serve(tmp_path_factory.mktemp("events")) as served,
        httpx.Client(base_url=served.root, timeout=PATIENCE) as client,
    ):
        client.get(served.entrance)
        client.headers["origin"] = served.root
        yield client


def open_sample(owner):
    return owner.post("/sample", data={"size": "small"}).headers["location"].rpartition("/")[0]


def listens_to(page):
    """The address that a page listens to."""
    return re.search(r'sse-connect="([^"]+)"', page)[1]


def events(owner, address, seconds, **headers):
    """(name, number) of the events that an address sends in some seconds; the first `over` is enough."""
    found, until = [], time.monotonic() + seconds
    with (
        contextlib.suppress(httpx.ReadTimeout),
        owner.stream("GET", address, headers=headers, timeout=seconds) as answer,
    ):
        one = {}
        for line in answer.iter_lines():
            if time.monotonic() > until:
                break
            if line:
                key, _, value = line.partition(": ")
                one[key] = value
            elif one:
                found.append((one.get("event"), one.get("id")))
                one = {}
                if found[-1][0] == "over":
                    break
    return found


def wait_until_known(owner, session):
    until = time.monotonic() + PATIENCE
    while 'id="known"' not in owner.get(f"{session}/risk").text:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_job_that_ended_between_a_page_and_its_ear_is_told(owner):
    session = open_sample(owner)
    page = owner.get(f"{session}/table").text  # as a browser has it before it listens
    wait_until_known(owner, session)
    names = [name for name, _ in events(owner, listens_to(page), PATIENCE)]
    assert "over" in names


def test_what_was_over_before_a_page_was_asked_for_is_not_told_to_it(owner):
    session = open_sample(owner)
    wait_until_known(owner, session)
    later = owner.get(f"{session}/table").text
    assert "over" not in [name for name, _ in events(owner, listens_to(later), 2.0)]


def test_a_browser_that_comes_back_is_told_only_what_it_has_not_heard(owner):
    session = open_sample(owner)
    page = owner.get(f"{session}/table").text
    wait_until_known(owner, session)
    heard = [number for name, number in events(owner, listens_to(page), PATIENCE) if name == "over"][-1]
    again = events(owner, listens_to(page), 2.0, **{"last-event-id": heard})
    assert "over" not in [name for name, _ in again]
    assert "over" in [name for name, _ in events(owner, listens_to(page), PATIENCE, **{"last-event-id": "nothing"})]


def test_a_promise_that_cannot_be_kept_is_tried_once(owner):
    """The page asks again when a job is over: what failed must not begin anew each time."""
    session = open_sample(owner)
    goal = {"property": "l-diversity", "value": "50", "made": "true", "column": "5"}
    assert owner.post(f"{session}/promise/goal", data=goal).status_code == 303
    page = owner.get(f"{session}/promise").text
    owner.get(f"{session}/promise/kept")
    heard = events(owner, listens_to(page), PATIENCE)[-1][1]
    assert "Not as it stands" in owner.get(f"{session}/promise/kept").text
    again = events(owner, listens_to(page), 2.0, **{"last-event-id": heard})
    assert "over" not in [name for name, _ in again]
    owner.get(f"{session}/promise")  # opened anew
    owner.get(f"{session}/promise/kept")
    again = events(owner, listens_to(page), PATIENCE, **{"last-event-id": heard})
    assert "over" in [name for name, _ in again]
