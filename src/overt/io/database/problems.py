# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""What a database answers when it refuses, in our words.

Messages of drivers and servers are never passed on. They hold pieces of addresses (a password with an unescaped `@` in it
is taken for the name of a host), of queries, and of rows. What is passed on is a kind of problem, and of
problems with the text of a query the name that is not known.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from overt.errors import InvalidInput
from overt.io.database.address import Address

# What libpq and the servers say when no connection comes about, and what to tell a person.
_NO_CONNECTION = (
    (r"password authentication failed|28P01", "refused the user or the password; check both"),
    (
        r"no password supplied|fe_sendauth",
        "asks for a password and was given none; put it into the address in the environment variable, or into a file that "
        "PGPASSFILE names",
    ),
    (
        r"definition of service|service file",
        "is a service that no service file describes; check PGSERVICEFILE and the name",
    ),
    (
        r"could not translate host name|Name or service not known|nodename nor servname",
        "names a host that does not exist",
    ),
    (r"Connection refused|No such file or directory", "does not answer: no server at this host and port"),
    (r"timeout|timed out", "does not answer in time; check host, port and network"),
    (r'database ".*" does not exist|3D000', "has no database of that name"),
    (r'role ".*" does not exist|28000|pg_hba', "does not let this user in"),
    (r"SSL|certificate", "and this machine do not agree on encryption (SSL); check sslmode and certificates"),
    (
        r"invalid (?:port number|integer value|URI|connection option)|missing \"=\"|URI query parameter|forbidden value",
        "is not written as an address; characters such as @ : / in a password are written as %40 %3A %2F",
    ),
    (r"too many (clients|connections)|53300", "has no connection free"),
    (r"starting up|shutting down|57P03", "is just starting or stopping; try again"),
)

# Classes of SQLSTATE once there is a connection.
_REFUSALS = (
    ("25006", "would change something, and a query is only let read"),
    ("42501", "may not be done by this user; ask for the right to do it"),
    ("57014", "was stopped by the server: it took too long, or somebody stopped it"),
    ("55P03", "waits for a lock that somebody else holds"),
    ("40", "collided with the work of somebody else; run again"),
    ("22", "stopped at a value that cannot be converted or computed"),
    ("23", "breaks a rule of the table (a key or a check)"),
    ("2BP01", "is not possible, because something else depends on the table"),
    ("53", "needs more memory, disk or connections than the server has"),
    ("54", "is too large for the server"),
    ("57P", "was stopped because the server is shutting down"),
    ("08", "was cut off: the connection was lost"),
)
_STATE_OF_TEXT = (  # while rows arrive, drivers forget the SQLSTATE
    (r"canceling statement", "57014"),
    (r"read-only transaction", "25006"),
    (r"invalid input syntax|out of range|division by zero|overflow", "22000"),
    (r"server closed the connection|terminating connection|no connection to the server", "08006"),
)
_QUERY_PROBLEM = re.compile(  # names that the query uses; no text in it, which may be somebody's
    r'(relation "[^"]*" does not exist|column "?[^"\n]*"? does not exist|syntax error at (?:or near "[^"\x27]*"|end of input)'
    r'|function [^\n]{1,80} does not exist|schema "[^"]*" does not exist|type "[^"]*" does not exist'
    r'|column reference "[^"]*" is ambiguous|missing FROM-clause entry for table "[^"]*"'
    r"|cannot insert multiple commands into a prepared statement"
    r'|no such (?:table|column|function): [^\n]{1,80}|near "[^"\x27]*": syntax error|incomplete input)'
)
_SQLITE_PROBLEMS = (
    (r"file is not a database|unable to open|failed to open", "cannot be opened as an SQLite database"),
    (r"database is locked|database table is locked", "is locked by another program; wait until it has finished"),
    (r"readonly database", "may only be read"),
    (r"disk is full|disk I/O error", "cannot be written: the disk is full or fails"),
    (r"malformed", "is damaged"),
)


@contextmanager
def connecting(address: Address) -> Iterator[None]:
    """Say why a connection did not come about."""
    import adbc_driver_manager

    try:
        yield
    except adbc_driver_manager.Error as error:
        known = _SQLITE_PROBLEMS if address.system == "sqlite" else _NO_CONNECTION
        text = f"{error} {error.sqlstate or ''}"
        why = next((words for pattern, words in known if re.search(pattern, text)), "cannot be reached")
        raise InvalidInput(f"The database {address.said} {why}.") from None


@contextmanager
def working(address: Address, what: str) -> Iterator[None]:
    """Say why something (`what`: "the query", "table people") failed on an open connection."""
    import adbc_driver_manager
    from nanoarrow._utils import NanoarrowException

    try:
        yield
    except adbc_driver_manager.Error as error:
        raise InvalidInput(_sentence(address, what, str(error), error.sqlstate or "")) from None
    except (NanoarrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InvalidInput(_sentence(address, what, str(error), "")) from None


def _sentence(address: Address, what: str, text: str, state: str) -> str:
    state = state or next((known for pattern, known in _STATE_OF_TEXT if re.search(pattern, text)), "")
    code = f" (SQLSTATE {state})" if re.fullmatch("[0-9A-Z]{5}", state) else ""
    if re.search("invalid byte sequence for encoding|has no equivalent in encoding", text):
        return (
            f"{what[0].upper()}{what[1:]} in the database {address.said} holds texts that are not UTF-8; repair them."
        )
    found = _QUERY_PROBLEM.search(text)
    if found and (state.startswith(("42", "3F")) or address.system == "sqlite"):
        return f"{what[0].upper()}{what[1:]} is not understood by the database {address.said}: {found[0]}{code}."
    for beginning, words in _REFUSALS:
        if state.startswith(beginning):
            return f"{what[0].upper()}{what[1:]} in the database {address.said} {words}{code}."
    if address.system == "sqlite":
        for pattern, words in _SQLITE_PROBLEMS:
            if re.search(pattern, text):
                return f"The database {address.said} {words}."
    return f"{what[0].upper()}{what[1:]} in the database {address.said} failed{code}; try the same with psql or sqlite3 to see why."
