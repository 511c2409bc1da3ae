# SPDX-License-Identifier: Apache-2.0
"""The server: on the loopback interface alone, until it is interrupted."""

import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import uvicorn

from overt.errors import InvalidInput
from overt.studio.app import create_app, guarded
from overt.studio.guard import ENTRANCE
from overt.studio.workspace import Workspace

HOST = "127.0.0.1"


def page_that_opens(address: str, folder: Path) -> Path:
    """A page in the private folder that leads to an address: on a command line every user of the machine could read its token."""
    path = folder / "open.html"
    path.touch(mode=0o600)
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
        f'<title>Overt studio</title><p><a href="{address}">Open the studio</a></p></html>',
        encoding="utf-8",
    )
    return path


def serve(*, port: int = 0, open_browser: bool = True, say: Callable[[str], None] = lambda words: None) -> None:
    """Serve the studio; `say` is told the address to open. Port 0 takes any that is free."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError:
            raise InvalidInput(
                f"Port {port} is taken by another program; give --port another number, or none."
            ) from None
        listening.listen()  # a browser that is quicker than the server waits
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        address = f"http://{HOST}:{port}{ENTRANCE}?token={token}"
        with Workspace() as workspace:
            settings = uvicorn.Config(
                guarded(create_app(workspace), port=port, token=token),
                log_level="critical",  # addresses hold the token, and errors may hold data
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=2,
                timeout_keep_alive=120,  # a server that is busy counting must not hang up on a request that is on its way
                lifespan="on",
            )
            say(address)
            if workspace.removed:
                say("What an earlier studio left behind when it was killed has been removed.")
            if open_browser:
                webbrowser.open(page_that_opens(address, workspace.folder).as_uri())
            uvicorn.Server(settings).run(sockets=[listening])
