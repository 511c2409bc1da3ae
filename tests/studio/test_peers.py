# SPDX-License-Identifier: Apache-2.0
"""Who is at the other end of a connection, as Linux lists it, and that nobody but the owner is let in."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from browsing import serve_here
from overt.studio import peers
from overt.studio.peers import is_of_somebody_else, owner_of

LISTED = pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="this system does not list connections")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
NOBODY = 65534
ASK = """
import os, socket, sys
user, family, host, port, cookie = sys.argv[1:]
os.setuid(int(user))
with socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET) as one:
    one.connect((host, int(port)))
    one.sendall(f"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nCookie: {cookie}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    print(one.recv(200).decode().partition("\\r\\n")[0])
"""


@LISTED
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")])
def test_both_ends_of_a_connection_are_told(family, host):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(family) as client:
        port = listening.getsockname()[1]
        client.connect((host, port))
        accepted, peer = listening.accept()
        with accepted:
            assert owner_of(peer, ("127.0.0.1", port)) == (os.getuid(), "01")
            assert not is_of_somebody_else(peer, ("127.0.0.1", port))
            client.close()  # what nobody holds any more is listed as root's
            user, state = owner_of(peer, ("127.0.0.1", port))
            assert state != "01"
            assert user in (0, os.getuid())
            assert is_of_somebody_else(peer, ("127.0.0.1", port)) is (user == 0)


def test_what_is_not_listed_is_not_known(monkeypatch, tmp_path):
    assert owner_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    monkeypatch.setattr(peers, "TABLES", (tmp_path / "nothing",))
    assert not is_of_somebody_else(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert not is_of_somebody_else(None, ("127.0.0.1", 2))
    assert not is_of_somebody_else(("no address", 1), ("127.0.0.1", 2))


@pytest.mark.parametrize(("user", "state", "is_other"), [(7, "01", True), (0, "01", False), (0, "05", True)])
def test_another_user_is_somebody_else_and_root_is_not(monkeypatch, tmp_path, user, state, is_other):
    line = f"0: 0100007F:0007 0100007F:0008 {state} 0:0 0:0 0 {user} 0 1"
    (tmp_path / "tcp").write_text(f"header\n{line}\n")
    monkeypatch.setattr(peers, "TABLES", (tmp_path / "tcp",))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert is_of_somebody_else(("127.0.0.1", 7), ("127.0.0.1", 8)) is is_other


@LISTED
@AS_ROOT
@pytest.mark.parametrize(("family", "host"), [("4", "127.0.0.1"), ("6", "::ffff:127.0.0.1")])
def test_another_user_is_refused_even_with_the_cookie(tmp_path, family, host):
    """A browser that was led to a server of theirs, on another port of this address, has sent it to them."""
    with serve_here(tmp_path) as served, httpx.Client(base_url=served.root) as owner:
        owner.get(served.entrance)
        assert owner.get("/").status_code == 200
        cookie = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
        command = [sys.executable, "-S", "-c", ASK]
        for user, status in ((NOBODY, "403"), (os.getuid(), "200")):
            given = [str(user), family, host, str(served.port), cookie]
            said = subprocess.run([*command, *given], capture_output=True, text=True, check=True).stdout
            assert status in said
