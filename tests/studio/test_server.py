# SPDX-License-Identifier: Apache-2.0
"""How the studio starts: the token is for the owner's eyes, and never on a command line that other users of the machine can read."""

import stat
import tempfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from overt.errors import InvalidInput
from overt.studio import server


def test_the_browser_is_given_a_page_of_the_owners_alone_and_no_token(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened, said = [], []

    def open_browser(address):
        path = Path(url2pathname(urlsplit(address).path))
        opened.append((address, stat.S_IMODE(path.stat().st_mode), path.read_text()))

    monkeypatch.setattr(server.webbrowser, "open", open_browser)
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: None)
    server.serve(say=said.append)
    [(address, mode, page)] = opened
    token = said[0].partition("token=")[2]
    assert token not in address
    assert address.startswith("file:///")
    assert mode == 0o600
    assert said[0] in page
    assert list(tmp_path.iterdir()) == []  # gone with everything else


def test_a_port_that_is_taken_is_said():
    with server.socket.socket() as taken:
        taken.bind((server.HOST, 0))
        taken.listen()
        with pytest.raises(InvalidInput, match="is taken by another program"):
            server.serve(port=taken.getsockname()[1], open_browser=False)
