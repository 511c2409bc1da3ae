# SPDX-License-Identifier: Apache-2.0
"""Guard: who may talk to the studio, and what its pages may do in a browser.

The studio listens on the loopback interface only. Other users and other pages of this machine can reach that too, so that each
request must carry a cookie, which the address printed at the start sets once its token is right; it must come from a program of the same
user; it must name this host, so that no other name can be made to point here; and what changes something must come from our own pages. Pages may load nothing from
elsewhere and hold no inline script or style.
"""

import asyncio
import hmac
import secrets
import shutil
import tempfile
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from overt.studio.peers import is_of_somebody_else

ENTRANCE = "/enter"
MOST_READ, PATIENCE = 1 << 16, 0.2  # bytes and seconds, of what is refused
ONWARD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">'
    '<title>Overt studio</title><p><a href="/">Open the studio</a></p></html>'
)
MOST_BYTES = 8 << 30  # of one upload
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Guard:
    """Middleware that refuses what does not come from the owner's own browser."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, most_bytes: int = MOST_BYTES) -> None:
        self.app, self.token, self.most_bytes = app, token, most_bytes
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.cookie_name, self.cookie = f"overt-studio-{port}", secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        answer = refusal or self.entrance(scope)
        if refusal is not None:
            await read_little(receive)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if refusal is not None:
                    headers["connection"] = "close"  # what follows on it is a body that nobody reads
                if not scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        await (answer or self.app)(scope, receive, with_headers)

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request is refused; None if it is not."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return PlainTextResponse("This address does not belong to the studio.", 421)
        if is_of_somebody_else(scope.get("client"), scope.get("server")):
            return PlainTextResponse("This studio belongs to another user of this machine.", 403)
        from_elsewhere = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if scope["path"] == ENTRANCE and scope["method"] == "GET":
            return None
        if not self.is_known(headers):
            return PlainTextResponse(
                "This studio does not know your browser. Open the address that `overt studio` printed in the terminal.",
                403,
            )
        if from_elsewhere and headers.get("sec-fetch-mode", "navigate") != "navigate":
            return PlainTextResponse("This request does not come from a page of the studio.", 403)
        if scope["method"] not in ("GET", "HEAD"):
            origin = headers.get("origin")
            if from_elsewhere or origin is None or origin.removeprefix("http://") not in self.hosts:
                return PlainTextResponse("This request does not come from a page of the studio.", 403)
            if "chunked" in headers.get("transfer-encoding", ""):
                return PlainTextResponse("A request must say how long it is.", 411)
            if not headers.get("content-length", "0").isdigit():
                return PlainTextResponse("A request must say how long it is.", 400)
            if int(headers.get("content-length", "0")) > self.most_bytes:
                gib = self.most_bytes / (1 << 30)
                return PlainTextResponse(
                    f"A file may have at most {gib:.3g} GiB here; `overt run` on the command line has no such limit.",
                    413,
                )
            if 2 * int(headers.get("content-length", "0")) > shutil.disk_usage(tempfile.gettempdir()).free:
                return PlainTextResponse(
                    "There is not enough room on this disk for a working copy of the file; free some, or set TMPDIR to a folder with more.",
                    507,
                )
        return None

    def is_known(self, headers: Headers) -> bool:
        """Whether a request carries our cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.cookie.encode())

    def entrance(self, scope: Scope) -> Response | None:
        """The first address: its token is exchanged for the cookie."""
        if scope["path"] != ENTRANCE:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse("This is not the address that `overt studio` printed in the terminal.", 403)
        # A redirect would still be a request of the page that holds the link, and carry no strict cookie: go on from a page of ours.
        is_linked = Headers(scope=scope).get("sec-fetch-site", "none") not in ("none", "same-origin")
        answer = HTMLResponse(ONWARD) if is_linked else RedirectResponse("/", 303)
        answer.set_cookie(self.cookie_name, self.cookie, httponly=True, samesite="strict", path="/")
        return answer


async def read_little(receive: Receive) -> None:
    """Read the body of what is refused, if it is short: where a connection ends with something unread, its other end may lose the answer."""
    n_read, is_more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while is_more and n_read < MOST_READ:
                message = await receive()
                n_read += len(message.get("body", b""))
                is_more = message.get("more_body", False)
