# SPDX-License-Identifier: Apache-2.0
"""Scale: engines in CPU seconds, against what Spark costs for doing nothing, and out of core against memory.

CPU seconds are of all processes, Java and Python workers included, and so tell something on a busy machine too. The yardstick of Spark is an identity
`mapInArrow` plus one repartition with a sort inside each partition, of the staged rows, in the same session. Of every figure the second run counts: the first
one compiles.

`python -m bench.scale make FOLDER 10` writes a table of ten parts of 5 million rows each, and `python -m bench.scale METHOD FOLDER 10` makes one release of it out of core,
dictionaries and staging included, nothing written: rows, CPU seconds and the most memory.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import overt
from bench.measure import Sheet

QUASI = ("Age", "Gender", "Education", "Birthplace")
ROWS = 5_000_000
OUT_OF_CORE = """
import resource, sys, time
import numpy as np
from bench.scale import make_on
taken = []
for _ in range(2):
    begin = time.process_time()
    make_on(sys.argv[1], sys.argv[2], sys.argv[3])
    taken.append(time.process_time() - begin)
print(taken[-1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def run(quick: bool = False) -> None:
    """Print the bars of Spark at 5 million rows, growth, and those of the out-of-core engine; quick: with 300 thousand rows."""
    n_rows = int(os.environ.get("OVERT_BENCH_ROWS", 300_000 if quick else ROWS))
    sheet = Sheet(f"Scale: {n_rows:,} rows, {len(QUASI)} quasi-identifiers")
    with tempfile.TemporaryDirectory() as folder:
        for n in (n_rows, 3 * n_rows):
            overt.samples.census(n).write_parquet(f"{folder}/{n}.parquet")
        compare_local(sheet, folder, n_rows)
        compare_spark(sheet, folder, n_rows)
    sheet.save()


def compare_local(sheet: Sheet, folder: str, n_rows: int) -> None:
    """Out of core against memory, per row."""
    for method in METHODS:
        cost = {}
        for engine in ("memory", "out-of-core"):
            for n in (n_rows, 3 * n_rows):
                program = [sys.executable, "-c", OUT_OF_CORE, engine, method, f"{folder}/{n}.parquet"]
                printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
                cost[engine, n] = float(printed[0]), float(printed[1])
        (small, _), (large, peak) = cost["out-of-core", n_rows], cost["out-of-core", 3 * n_rows]
        sheet.add(
            f"{method}, out of core / in memory",
            large / cost["memory", 3 * n_rows][0],
            "x",
            bar=4,
            note=f"{large:.1f} CPU s and {peak:.2f} GB for {3 * n_rows:,} rows; in memory {cost['memory', 3 * n_rows][1]:.2f} GB",
        )
        sheet.add(f"  growth per row, {n_rows:,} to {3 * n_rows:,}", large / small / 3, "x", note="1 is linear")


def compare_spark(sheet: Sheet, folder: str, n_rows: int) -> None:
    """Spark against doing nothing on Spark."""
    from overt.engine.scale.spark import SparkEngine
    from overt.engine.scale.spark_session import new_session

    session = new_session("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", "16")
    base = {}
    for n in (n_rows, 3 * n_rows):
        engine = SparkEngine(session, folder)
        staged = stage(engine, f"{folder}/{n}.parquet")

        def nothing(staged: Any = staged) -> None:
            into_nothing(staged.data.mapInArrow(lambda batches: batches, staged.data.schema))
            into_nothing(staged.data.repartition(16, "q0").sortWithinPartitions("coin"))

        base[n] = second_run(nothing)
        engine.close()
    sheet.add(
        "identity mapInArrow plus a repartition with sort",
        base[n_rows],
        "CPU s",
        note=f"{base[3 * n_rows]:.1f} for {3 * n_rows:,} rows",
    )
    for method, bar in METHODS.items():
        cost = {}
        for n in (n_rows, 3 * n_rows):

            def work(n: int = n, method: str = method) -> None:
                engine = SparkEngine(session, folder)
                for data in tables_of(engine, stage(engine, f"{folder}/{n}.parquet"), method):
                    into_nothing(data)
                engine.close()

            cost[n] = second_run(work)
        sheet.add(
            f"{method}, dictionaries and staging included",
            cost[n_rows] / base[n_rows],
            "x",
            bar=bar,
            note=f"{cost[n_rows]:.1f} CPU s",
        )
        sheet.add(
            f"  growth per row, {n_rows:,} to {3 * n_rows:,}",
            cost[3 * n_rows] / cost[n_rows] / 3,
            "x",
            note="1 is linear",
        )
    session.stop()


METHODS = {"buckets": 3, "batch-matching": 3, "mondrian, k = 10": 4, "blind-buckets, boxes and buckets": 7}


def stage(engine: Any, file: str) -> Any:
    """The census, staged."""
    from overt.engine.scale.seam import TablePlace
    from overt.engine.scale.staging import stage_table
    from overt.io.intake import Intake

    return stage_table(
        engine, TablePlace(file, "parquet"), Intake(quasi_identifiers=QUASI, sensitive=["Occupation"], others=())
    )


def tables_of(engine: Any, staged: Any, method: str) -> list[Any]:
    """What a method makes, not yet written."""
    from overt.engine.scale.boxes_and_buckets import deal_at_scale, make_boxes_and_buckets
    from overt.engine.scale.fragment_lines import ShownLines
    from overt.engine.scale.groups_by_cuts import make_groups_by_cuts
    from overt.engine.scale.groups_by_draw import make_batch_matching
    from overt.progress import silent

    lines = ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive)
    goal = overt.FrequencyLDiversity(5)
    blind = overt.BlindBuckets(goal=goal, k=5, cuts="strict")
    if method == "buckets":
        return [deal_at_scale(staged, blind)[0]]
    if method == "batch-matching":
        rng = np.random.default_rng(0)
        return list(make_batch_matching(staged, overt.BatchMatching(goal=goal), lines, silent, rng).tables.values())
    if method.startswith("mondrian"):
        return list(
            make_groups_by_cuts(staged, overt.Mondrian(goal=overt.KAnonymity(10)), lines, silent).tables.values()
        )
    return list(make_boxes_and_buckets(staged, blind, lines, silent).tables.values())


def make_on(name: str, method: str, file: str) -> None:
    """Make what a method makes on a local engine, and go through it."""
    from overt.engine.scale.local import LocalEngine

    engine = LocalEngine() if name == "memory" else LocalEngine.out_of_core()
    try:
        for data in tables_of(engine, stage(engine, file), method):
            for _ in data:
                pass
    finally:
        engine.close()


def into_nothing(data: Any) -> None:
    """Compute rows and write them nowhere."""
    data.write.format("noop").mode("overwrite").save()


def second_run(work: Callable[[], Any]) -> float:
    """CPU seconds of all processes for the second of two runs."""
    work()
    time.sleep(1)
    begin = cpu_of_all()
    work()
    return cpu_of_all() - begin


def cpu_of_all() -> float:
    """CPU seconds of this process and all below it, so far."""
    ticks, parents, mine = os.sysconf("SC_CLK_TCK"), {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                part = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            parents[int(folder.name)], mine[int(folder.name)] = int(part[1]), sum(map(int, part[11:15])) / ticks
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        total += mine.get(process, 0.0)
        waiting += [child for child, parent in parents.items() if parent == process]
    return total


def make_parts(folder: Path, n_parts: int) -> None:
    """A table in parts, each of 5 million rows of the census."""
    folder.mkdir(exist_ok=True)
    for i in range(n_parts):
        overt.samples.census(ROWS, seed=i).write_parquet(folder / f"part-{i:05}.parquet")


def make_from_parts(method: str, folder: Path, n_parts: int) -> None:
    """Print what one release of the first parts of a table takes, out of core; kernels are compiled before."""
    from overt.engine.scale.local import LocalEngine

    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        overt.samples.census(20_000).write_parquet(f"{place}/part-0.parquet")
        make_on("out-of-core", method, f"{place}/part-0.parquet")
        chosen = Path(place) / "table"
        chosen.mkdir()
        for i in range(n_parts):
            (chosen / f"part-{i:05}.parquet").symlink_to((folder / f"part-{i:05}.parquet").resolve())
        begin = time.process_time()
        engine = LocalEngine.out_of_core(folder.parent)
        staged = stage(engine, str(chosen))
        read = time.process_time()
        for data in tables_of(engine, staged, method):
            for _ in data:
                pass
        engine.close()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        spent = read - begin, time.process_time() - read
        print(
            f"{method}: {staged.n_rows:,} rows, {spent[0]:.1f} CPU s to stage, {spent[1]:.1f} for the rest, {peak:.2f} GB"
        )


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make_parts(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        make_from_parts(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
