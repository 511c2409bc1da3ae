# SPDX-License-Identifier: Apache-2.0
"""No request leaves the machine: the browser writes down all that it asks of any network, and every address in it is this machine's."""

import json
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from browsing import FLAGS, compare, make_release, open_context, open_sample, promise, require_chromium, see_risk

pytestmark = pytest.mark.slow
BROWSER_ITSELF = (
    "not an origin"  # as the log calls what no page asked for: navigation, and what the browser wants of its maker
)
MAKERS = (".google.com", ".googleapis.com", ".gvt1.com", ".gstatic.com")
OURS = {"127.0.0.1", "localhost", "[::1]"}


def test_no_request_leaves_the_machine(studio, driver, tmp_path):
    log = tmp_path / "net.json"
    args = [*FLAGS, f"--log-net-log={log}", "--net-log-capture-mode=Everything"]
    with (
        closing(driver.chromium.launch(executable_path=require_chromium(), args=args)) as browser,
        closing(open_context(browser)) as context,
    ):
        page, seen = context.new_page(), []
        page.on("request", lambda request: seen.append(request.url))
        page.goto(studio.entrance)
        session = open_sample(page)
        see_risk(page, session)
        promise(page, session)
        compare(page, session, "Blind buckets")
        page.locator(".plane canvas").wait_for()
        page.goto(f"{session}/compare/runs/1")
        make_release(page, session)
        page.goto(f"{session}/release/report")
        page.goto(f"{session}/recipe")
        page.goto(f"{studio.root}/check")
    assert len(seen) > 20
    hosts = {urlsplit(url).hostname for url in seen if not url.startswith(("data:", "blob:"))}
    assert hosts <= OURS
    asked = net_log_of(log.read_text("utf-8"))
    of_pages = {urlsplit(url).hostname for url, initiator in asked if initiator != BROWSER_ITSELF}
    assert of_pages == {"127.0.0.1"}
    others = {urlsplit(url).hostname for url, initiator in asked if initiator == BROWSER_ITSELF} - OURS
    assert all(host.endswith(MAKERS) for host in others), others


def net_log_of(text):
    """(address, who asked) of every request in Chromium's own log, whatever part of the browser made it."""
    content = json.loads(text)
    names = {number: name for name, number in content["constants"]["logEventTypes"].items()}
    asked = set()
    for event in content["events"]:
        parameters = event.get("params") or {}
        url = parameters.get("url") or ""
        is_request = names[event["type"]] == "URL_REQUEST_START_JOB"
        if is_request and urlsplit(url).scheme in ("http", "https", "ws", "wss"):
            asked.add((url, parameters.get("initiator", BROWSER_ITSELF)))
    return asked


def test_the_log_is_read_as_chromium_writes_it():
    constants = {"logEventTypes": {"URL_REQUEST_START_JOB": 2, "OTHER": 3}}
    events = [
        {"type": 2, "params": {"url": "https://elsewhere.example/x", "initiator": "http://127.0.0.1:8000"}},
        {"type": 2, "params": {"url": "https://elsewhere.example/y", "initiator": "not an origin"}},
        {"type": 3, "params": {"url": "https://elsewhere.example/z"}},
        {"type": 2},
    ]
    assert net_log_of(json.dumps({"constants": constants, "events": events})) == {
        ("https://elsewhere.example/x", "http://127.0.0.1:8000"),
        ("https://elsewhere.example/y", BROWSER_ITSELF),
    }
