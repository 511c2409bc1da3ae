# SPDX-License-Identifier: Apache-2.0
"""Databases: a table of PostgreSQL is read and a release written back, beside a plain read of ADBC into Polars.

It starts a server of its own, on loopback and without `fsync`, if PostgreSQL is installed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
from tests.servers import Server, connected, find_programs, started_postgresql

import overt
from bench.foundation import QUASI_IDENTIFIERS
from bench.measure import Sheet, yardstick
from overt.io.database.address import find_address
from overt.io.database.reading import read_selection
from overt.io.database.selection import Selection
from overt.io.intake import Intake

VARIABLE = "OVERT_BENCH_DATABASE"


def run(*, quick: bool = False) -> None:
    """Everything; `quick` takes a fifth of the rows."""
    sheet = Sheet("Database: PostgreSQL in and out, as multiples of Y(n), and peak memory beyond the imports")
    programs = find_programs()
    if programs is None:
        print("PostgreSQL is not installed; nothing to measure.")
        return
    with started_postgresql(programs) as server:
        for n in [200_000] if quick else [1_000_000, 4_000_000]:
            load(server, n)
            for what in ("plain", "read", "run"):
                seconds, cpu, mib = in_new_process(what, server)
                note = f"{seconds:.2f} s, of which {cpu:.2f} s on our side of the socket"
                sheet.add(f"{LABELS[what]}, n = {n:,} x 12", seconds / yardstick(n), "Y", note=note)
                sheet.add(f"{LABELS[what]}, n = {n:,} x 12: memory", mib, "MiB")
    sheet.save()


LABELS = {
    "plain": "ADBC to Polars, nothing else",
    "read": "read_database with the digest of what was read",
    "run": "read, Mondrian, publish, write and read back",
}


def load(server: Server, n: int) -> None:
    """A census of n people as the table `people`."""
    from adbc_driver_manager import AdbcStatement

    people = overt.samples.wide_census(n).with_columns(pl.col(pl.Enum).cast(pl.String), pl.col("Id").cast(pl.Int64))
    server.run("DROP TABLE IF EXISTS people", "DROP TABLE IF EXISTS people_release")
    with connected(server.address()) as connection:
        statement = AdbcStatement(connection)
        statement.set_options(**{"adbc.ingest.target_table": "people", "adbc.ingest.mode": "adbc.ingest.mode.create"})
        statement.bind_stream(people)
        statement.execute_update()
        statement.close()
    server.run("ANALYZE people")


def in_new_process(what: str, server: Server) -> tuple[float, float, float]:
    """(seconds, seconds of CPU, MiB beyond the imports) of some work, in a process that does nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.database", what],
        env={**os.environ, VARIABLE: server.address()},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, cpu, mib = map(float, done.stdout.split())
    return seconds, cpu, mib


def plain() -> None:
    from adbc_driver_manager import AdbcStatement

    with connected(os.environ[VARIABLE]) as connection:
        statement = AdbcStatement(connection)
        statement.set_sql_query("SELECT * FROM people")
        stream, _ = statement.execute_query()
        assert pl.DataFrame(stream).width == 12
        statement.close()


def read() -> overt.Table:
    rest = ["Id", "Birthplace", "Race", "Region", "Marital status", "Work class", "Hours", "Income"]
    others = [name for name in rest if name not in QUASI_IDENTIFIERS]
    intake = Intake(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["Occupation"], others=others)
    return read_selection(Selection.of(find_address(VARIABLE), table="people"), intake)[0]


def run_all() -> None:
    release = overt.Mondrian(goal=overt.KAnonymity(10)).anonymize(read())
    overt.write_database(release, VARIABLE, table="people_release")


def memory(key: str) -> float:
    """MiB of this process: "VmRSS" is what it has now, "VmHWM" the most it had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


if __name__ == "__main__":
    Path("/proc/self/clear_refs").write_text("5")  # the most so far is that of the process that started this one
    before = memory("VmRSS")
    begin, begin_cpu = time.perf_counter(), time.process_time()
    {"plain": plain, "read": read, "run": run_all}[sys.argv[1]]()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    print(seconds, cpu, memory("VmHWM") - before)
