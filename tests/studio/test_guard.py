# SPDX-License-Identifier: Apache-2.0
"""Only the owner's own browser gets in, and pages may load nothing from elsewhere."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from overt.studio.guard import ENTRANCE, Guard

HOME = "http://127.0.0.1:8000"


def guarded() -> Guard:
    inside = Starlette(routes=[Route("/", lambda request: PlainTextResponse("inside"), methods=["GET", "POST"])])
    return Guard(inside, port=8000, token="right", most_bytes=100)


def ask(guard: Guard, method: str, path: str, **headers: str) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=guard)
        async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.request(method, path, headers=named)

    with ThreadPoolExecutor(1) as apart:  # a browser that this process drives has a loop of its own
        return apart.submit(asyncio.run, send()).result()


def known(guard: Guard) -> dict[str, str]:
    answer = ask(guard, "GET", f"{ENTRANCE}?token=right")
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_the_first_address_gives_a_strict_cookie_that_scripts_cannot_read():
    answer = ask(guarded(), "GET", f"{ENTRANCE}?token=right")
    assert answer.status_code == 303
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "samesite=strict" in answer.headers["set-cookie"].lower()


def test_the_first_address_can_be_followed_from_a_page_of_somebody_else():
    """A redirect would be the other page's request still, and a browser would hold a strict cookie back."""
    answer = ask(guarded(), "GET", f"{ENTRANCE}?token=right", sec_fetch_site="cross-site")
    assert answer.status_code == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert 'content="0; url=/"' in answer.text


@pytest.mark.parametrize("path", [f"{ENTRANCE}?token=wrong", ENTRANCE, f"{ENTRANCE}?token=", "/"])
def test_without_the_token_nobody_gets_in(path):
    answer = ask(guarded(), "GET", path)
    assert answer.status_code == 403
    assert "inside" not in answer.text


def test_with_the_cookie_pages_are_served_and_what_changes_something_comes_from_them():
    guard = guarded()
    cookie = known(guard)
    assert ask(guard, "GET", "/", **cookie).text == "inside"
    assert ask(guard, "POST", "/", **cookie, origin=HOME).text == "inside"


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1:8000", "http://127.0.0.1:9000"]
)
def test_forms_of_other_pages_are_refused(origin):
    guard = guarded()
    headers = known(guard) | ({} if origin is None else {"origin": origin})
    assert ask(guard, "POST", "/", **headers).status_code == 403


def test_another_name_for_this_machine_is_refused():
    guard = guarded()
    assert ask(guard, "GET", "/", **known(guard), host="evil.example:8000").status_code == 421


def test_a_browser_that_says_that_another_site_asks_is_believed():
    guard = guarded()
    assert ask(guard, "POST", "/", **known(guard), origin=HOME, sec_fetch_site="cross-site").status_code == 403


def test_uploads_have_a_limit_and_say_how_long_they_are():
    guard = guarded()
    ours = known(guard) | {"origin": HOME}
    assert ask(guard, "POST", "/", **ours, content_length="101").status_code == 413
    assert ask(guard, "POST", "/", **ours, transfer_encoding="chunked").status_code == 411
    assert ask(guard, "POST", "/", **ours, content_length="-1").status_code == 400


def test_an_upload_that_the_disk_cannot_hold_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=100))
    guard = guarded()
    ours = known(guard) | {"origin": HOME}
    assert ask(guard, "POST", "/", **ours, content_length="51").status_code == 507
    assert ask(guard, "POST", "/", **ours, content_length="0").status_code == 200


@pytest.mark.parametrize("path", ["/", f"{ENTRANCE}?token=right", f"{ENTRANCE}?token=wrong"])
def test_every_answer_has_the_policy(path):
    guard = guarded()
    answer = ask(guard, "GET", path, **known(guard))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket"])
def test_what_another_page_fetches_is_refused_also_if_it_changes_nothing(mode):
    """Pages of other ports of this address are of the same site: a strict cookie is sent with what they ask."""
    guard = guarded()
    ours = known(guard)
    assert ask(guard, "GET", "/", **ours, sec_fetch_site="same-site", sec_fetch_mode=mode).status_code == 403
    assert ask(guard, "GET", "/", **ours, sec_fetch_site="same-site", sec_fetch_mode="navigate").text == "inside"
    assert ask(guard, "GET", "/", **ours, sec_fetch_site="same-origin", sec_fetch_mode=mode).text == "inside"
