# SPDX-License-Identifier: Apache-2.0
"""Faults: every command that writes is killed, starved, raced and fed with damaged files, and what must hold afterwards is looked at.

After every fault: the earlier output is intact or a new one is whole; no part of a file and nothing hidden is left, or it goes at the next start; the exit code
is the one of the documentation; there is one sentence, no traceback, and nobody's value in it. Counts are printed by class, and each breach.
With OVERT_FAULTS_SEED other places are drawn; with OVERT_FAULTS only the classes and scenes whose names hold that word are tried.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a thread that a fork would lack

from bench.fault_matrix import clocks, damage, kills, limits, races, servers, studios
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import warm_up
from bench.fault_matrix.scenes import Prepared, Scene, Stage, scenes

SEED = 20
RESULTS = Path(__file__).parent / "results"
IN_SHORT = (
    "run, CSV in two tables, with reports",
    "run in parts, CSV",
    "run, differentially private, with its ledger",
    "run, SQLite",
)


def run(quick: bool = False) -> None:
    """Print how many faults were injected, by class, and what they broke; quick: the short part of CI. Ends with 1 if anything broke."""
    warm_up()
    begun, seed = time.monotonic(), int(os.environ.get("OVERT_FAULTS_SEED", SEED))
    chosen = os.environ.get("OVERT_FAULTS", "")
    counts: Counter[str] = Counter()
    broken: list[Fault] = []
    folder = Path(tempfile.mkdtemp(prefix="overt-faults-"))
    try:
        for fault in _all(Stage(folder), random.Random(seed), chosen, quick=quick):
            counts[fault.kind] += 1
            if fault.problem:
                broken.append(fault)
                print(f"BROKEN  {fault.kind}: {fault.scene}, {fault.what}: {fault.problem}", flush=True)
    except KeyboardInterrupt:
        print("Interrupted: what follows is of the faults until then.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for kind, n in sorted(counts.items()):
        print(f"{n:6,}  {kind}")
    for kind, is_there in (("full disk", limits.can_mount()), ("clock jump", clocks.find_library() is not None)):
        if not is_there:
            print(f"     -  {kind}: not on this machine (bench/fault_matrix says what it takes)")
    print(
        f"{counts.total():6,}  faults injected with seed {seed}, {len(broken)} broke something, in {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "faults.json").write_text(
        json.dumps({"counts": counts, "broken": [vars(fault) for fault in broken]}, indent=1)
    )
    if broken:
        sys.exit(1)


def _all(stage: Stage, draw: random.Random, chosen: str, *, quick: bool) -> Iterator[Fault]:
    """Every class of faults in every scene that has it."""
    n = _short if quick else _whole
    for scene in scenes():
        if quick and scene.name not in IN_SHORT:
            continue
        yield from _of_scene(stage, scene, draw, chosen, n)
    for read in damage.reads():
        if chosen in f"damaged file, {read.what}":
            yield from damage.damaged(stage, read, n("damaged file"), draw)
    if chosen in "two runs on one budget":
        (private,) = (scene for scene in scenes() if "private" in scene.name)
        yield from races.one_budget(stage, stage.prepare(private), n("two runs on one budget"))
    if chosen in "database that goes away" and not quick:
        yield from _of_server(stage, n("database that goes away"), draw)
    if chosen in "kill -9 of the studio" and not quick:
        yield from studios.killed(stage, n("kill -9 of the studio"), draw)
    if chosen in "damaged session of the studio" and not quick:
        yield from studios.damaged_sessions(stage, n("damaged session of the studio"), draw)


def _of_scene(stage: Stage, scene: Scene, draw: random.Random, chosen: str, n: Callable[[str], int]) -> Iterator[Fault]:
    classes: dict[str, Callable[[Prepared], Iterable[Fault]]] = {
        "kill -9 at a change of the disk": lambda it: kills.killed_at_changes(stage, it, n("kill -9 at a change of the disk"), draw),
        "kill -9 at a random moment": lambda it: kills.killed_at_moments(stage, it, n("kill -9 at a random moment"), draw, it.seconds + 1),
        "interrupt": lambda it: kills.interrupted(stage, it, n("interrupt"), draw),
        "full disk": lambda it: limits.full_disks(stage, it, n("full disk"), draw),
        "files may not grow": lambda it: limits.small_files(stage, it, n("files may not grow"), draw),
        "few open files": lambda it: limits.few_handles(stage, it, n("few open files"), draw),
        "read-only output": lambda it: limits.read_only(stage, it) if n("read-only output") else (),
        "two runs on one output": lambda it: races.raced(stage, it, n("two runs on one output"), draw),
        "clock jump": lambda it: clocks.jumped(stage, it, n("clock jump"), draw),
        "locked or damaged database": lambda it: servers.locked_file(stage, it, n("locked or damaged database"), draw) if it.scene.is_database else (),
    }  # fmt: skip
    wanted = [faults for kind, faults in classes.items() if chosen in f"{kind}, {scene.name}"]
    if wanted:
        prepared = stage.prepare(scene)
        for faults in wanted:
            yield from faults(prepared)


def _of_server(stage: Stage, n: int, draw: random.Random) -> Iterator[Fault]:
    from tests.servers import find_programs, started_postgresql

    programs = find_programs()
    if programs is None:
        print("     -  database that goes away: no PostgreSQL server is installed")
        return
    with started_postgresql(programs) as server:
        yield from servers.server_gone(stage, n, draw, server)
        yield from servers.input_gone(stage, n, draw, server)


def _whole(kind: str) -> int:
    return {
        "kill -9 at a change of the disk": 16,
        "kill -9 at a random moment": 4,
        "interrupt": 6,
        "full disk": 6,
        "files may not grow": 2,
        "few open files": 2,
        "read-only output": 1,
        "two runs on one output": 2,
        "clock jump": 2,
        "locked or damaged database": 10,
        "damaged file": 14,
        "two runs on one budget": 3,
        "database that goes away": 20,
        "kill -9 of the studio": 20,
        "damaged session of the studio": 21,
    }[kind]


def _short(kind: str) -> int:
    return {
        "kill -9 at a change of the disk": 3,
        "interrupt": 1,
        "full disk": 1,
        "read-only output": 1,
        "two runs on one output": 1,
        "locked or damaged database": 1,
        "damaged file": 1,
        "two runs on one budget": 1,
    }.get(kind, 0)
