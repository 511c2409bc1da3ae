# SPDX-License-Identifier: Apache-2.0
"""Peers: which user of this machine is at the other end of a connection, where the system says so.

A browser sends a cookie of 127.0.0.1 to every port of it, so that the server of another user could be given ours. It would not help them: Linux lists
who owns each end of a connection. Where nothing is listed, as on other systems, nothing is known.
"""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
MAPPED = "0000000000000000FFFF0000"  # before an address of IPv4 among those of IPv6
ESTABLISHED = "01"
ROOT = 0
Endpoint = tuple[str, int]


def is_of_somebody_else(client: Endpoint | None, server: Endpoint | None) -> bool:
    """Whether the client's end of a connection belongs to another user than the one who runs this, other than root."""
    if client is None or server is None:
        return False
    found = owner_of(client, server)
    if found is None:
        return False
    user, state = found
    if user == ROOT:  # an end that was given up is listed as root's: whose it was is not known
        return state != ESTABLISHED
    return user != os.getuid()


def owner_of(client: Endpoint, server: Endpoint) -> tuple[int, str] | None:
    """(user, state) of the client's end; None if it is not listed. One that is open goes before those that lie there since an earlier connection."""
    try:
        wanted = [_as_listed(client), _as_listed(server)]
    except (OSError, ValueError, struct.error):
        return None
    found = [
        (int(fields[7]), fields[3])
        for fields in _listed()
        if [fields[1].removeprefix(MAPPED), fields[2].removeprefix(MAPPED)] == wanted
    ]
    return next((one for one in found if one[1] == ESTABLISHED), found[0] if found else None)


def _as_listed(address: Endpoint) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}"


def _listed() -> Iterator[list[str]]:
    for table in TABLES:
        with suppress(OSError, UnicodeDecodeError):
            yield from (line.split() for line in table.read_text("ascii").splitlines()[1:])
