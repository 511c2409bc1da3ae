# SPDX-License-Identifier: Apache-2.0
"""Databases that go away: a connection that is cut after so many bytes, a server that is stopped, a file that somebody locks."""

import csv
import random
import select
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

from bench.fault_matrix.folders import Files, visible
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import in_fork, start_forked
from bench.fault_matrix.scenes import Prepared, Scene, Stage, recipe
from bench.fault_matrix.verdicts import DATA, OK, why_bad_words, why_not_done, why_not_untouched

_BLIND = 'name = "blind-buckets"'


def server_gone(stage: Stage, n: int, draw: random.Random, server: Any) -> Iterator[Fault]:
    """Releases into PostgreSQL through a line that is cut: the tables are all old or all new, and no manifest claims anything else."""
    scene = Scene(
        "run, PostgreSQL",
        ["run", "new.toml", "--overwrite", "--quiet", "--no-audit"],
        ["run", "old.toml", "--quiet", "--no-audit"],
        {
            "new.toml": recipe(_BLIND, 'database = "FAULTS_DB"\ntable = "release"', k=3),
            "old.toml": recipe(_BLIND, 'database = "FAULTS_DB"\ntable = "release"', k=5),
        },
        environment={"FAULTS_DB": server.address()},
        is_database=True,
    )
    prepared = stage.prepare(scene)
    with line_to(server.port) as whole:
        folder = stage.fresh(prepared)
        start_forked(scene.words, folder, stage.scratch(), environment=_through(whole, server)).wait()
        n_bytes = whole.n_bytes
    for _ in range(n):
        folder = stage.fresh(prepared)
        start_forked(
            ["run", "old.toml", "--overwrite", "--quiet", "--no-audit"],
            folder,
            stage.scratch(),
            environment=scene.environment,
        ).wait()
        before = tables_at(stage, server)
        old, cut_at = visible(folder), draw.randint(1, n_bytes)
        with line_to(server.port, cut_at) as line:
            ended = start_forked(scene.words, folder, stage.scratch(), environment=_through(line, server)).wait()
        problem = why_bad_words(ended, {OK, DATA})
        after = tables_at(stage, server)
        if not problem and ended.code == DATA:
            problem = why_not_untouched(folder, stage.scratch(), old) or (
                "" if after == before else "the tables changed"
            )
        elif not problem:
            problem = why_not_done(folder, stage.scratch(), replace(prepared, old=old))
        yield Fault("database that goes away", scene.name, f"after {cut_at} of {n_bytes} bytes", problem)
        stage.strike()


def input_gone(stage: Stage, n: int, draw: random.Random, server: Any) -> Iterator[Fault]:
    """Tables that are read from PostgreSQL through a line that is cut: no release is made of a part of the rows."""
    with (stage.inputs / "people.csv").open(encoding="utf-8", newline="") as file:
        people = ", ".join(str(tuple(row)) for row in list(csv.reader(file))[1:])
    made_of = (
        "CREATE TABLE people (name text, age integer, sex text, diagnosis text)",
        f"INSERT INTO people VALUES {people}",
    )
    in_fork(lambda: server.run(*made_of), stage.folder, stage.folder / "reading")
    data = 'database = "FAULTS_DB"\ntable = "people"'
    recipes = {
        "new.toml": recipe(_BLIND, 'path = "release.csv"', k=3, data=data),
        "old.toml": recipe('name = "mondrian"', 'path = "release.csv"', k=5, data=data),
    }
    known = {"environment": {"FAULTS_DB": server.address()}, "recipes": recipes}
    run, made = ["run", "new.toml", "--overwrite", "--quiet", "--no-audit"], ["run", "old.toml", "--quiet"]
    init = ["init", "FAULTS_DB", "--table", "people", "--into", "first.toml", "--overwrite", "--quiet"]
    check = ["check", "FAULTS_DB", "release.csv", "--quiet"]
    for words in (run, init, check):
        scene = Scene(f"{words[0]}, from PostgreSQL", words, made, **known)
        prepared = stage.prepare(scene)
        folder = stage.fresh(prepared)
        with line_to(server.port) as whole:
            start_forked(words, folder, stage.scratch(), environment=_through(whole, server)).wait()
            n_bytes = whole.n_bytes
        stage.strike()
        for _ in range(-(-n // 3)):
            folder, cut_at = stage.fresh(prepared), draw.randint(1, n_bytes)
            with line_to(server.port, cut_at) as line:
                ended = start_forked(words, folder, stage.scratch(), environment=_through(line, server)).wait()
            problem = why_bad_words(ended, {OK, DATA})
            if not problem and ended.code == OK:  # all rows had come when the line was cut
                problem = why_not_done(folder, stage.scratch(), prepared) or why_few_rows(visible(folder), prepared.new)
            elif not problem:
                problem = why_not_untouched(folder, stage.scratch(), prepared.old)
            yield Fault("database that goes away", scene.name, f"after {cut_at} of {n_bytes} bytes", problem)
            stage.strike()


def why_few_rows(found: Files, new: Files) -> str:
    """Why a release, if there is one, is of other rows than all."""
    n, wanted = (files.get("release.csv", b"").count(b"\n") for files in (found, new))
    return "" if n == wanted else f"the release has {n} lines and not {wanted}"


def _through(line: "Line", server: Any) -> dict[str, str]:
    return {"FAULTS_DB": server.address().replace(f":{server.port}/", f":{line.port}/")}


def locked_file(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """An SQLite file that another program writes, or that is no database any more."""
    for number in range(n):
        folder = stage.fresh(prepared)
        path = folder / "release.db"
        held = None
        if number % 2:
            content = path.read_bytes()
            path.write_bytes(
                draw.choice(
                    (content[: draw.randrange(1, len(content))], b"", b"SQLite format 3\0" + draw.randbytes(400))
                )
            )
            what = "damaged"
        else:
            held = sqlite3.connect(path)
            held.execute("BEGIN EXCLUSIVE")
            what = "locked by another program"
        before = path.read_bytes()
        ended = start_forked(prepared.scene.words, folder, stage.scratch()).wait()
        if held is not None:
            held.close()
        problem = why_bad_words(ended, {OK, DATA})
        if not problem and ended.code == DATA and path.read_bytes() != before:
            problem = "the file changed"
        yield Fault("locked or damaged database", prepared.scene.name, what, problem)
        stage.strike()


def tables_at(stage: Stage, server: Any) -> str:
    """What the tables hold, read in a process of its own."""
    scratch = stage.folder / "reading"

    def read() -> None:
        import sys

        found = (
            server.rows("SELECT * FROM release ORDER BY 1, 2, 3"),
            server.rows("SELECT * FROM release_sensitive ORDER BY 1, 2"),
        )
        sys.stdout.write(repr(found))

    in_fork(read, stage.folder, scratch)
    return (scratch / "said").read_text("utf-8")


class Line:
    """A line to a server on this machine, that can be cut after so many bytes in both directions together."""

    def __init__(self, port: int, cut_at: int | None) -> None:
        self.to, self.cut_at, self.n_bytes = port, cut_at, 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]

    def serve(self) -> None:
        """Let connections through, until the listening socket is closed."""
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        with closing(near), socket.create_connection(("127.0.0.1", self.to)) as far, suppress(OSError):
            while True:
                for end in select.select([near, far], [], [], 30)[0]:
                    content = end.recv(1 << 14)
                    if not content or (self.cut_at is not None and self.n_bytes >= self.cut_at):
                        return
                    self.n_bytes += len(content)
                    (far if end is near else near).sendall(content)


@contextmanager
def line_to(port: int, cut_at: int | None = None) -> Iterator[Line]:
    """A line while the block runs. It is served by threads of this process: forks close what they inherit when they end."""
    line = Line(port, cut_at)
    threading.Thread(target=line.serve, daemon=True).start()
    try:
        yield line
    finally:
        line.listening.close()
