# SPDX-License-Identifier: Apache-2.0
"""Scale: engines in CPU seconds, against what Spark costs for doing nothing, and out of core against memory.

CPU seconds are of all processes, Java and Python workers included, and so tell something on a busy machine too. The yardstick of Spark is an identity
`mapInArrow` plus one repartition with a sort inside each partition, of the staged rows, in the same session. Every piece runs in a process of its own, after one run on
20 thousand rows that compiles kernels and starts workers. The bars are those of the project: buckets and batch matching at most 3 times the yardstick, Mondrian and the boxes at
most 4 times, growth in proportion to the rows, a driver whose memory does not depend on them; out of core at most 4 times the cost per row in memory.

`python -m bench scale` prints all of it. Single pieces, of a table in parts of 5 million rows each:

    python -m bench.scale make FOLDER 10                      writes such a table (make-wide: eight columns)
    python -m bench.scale spark FOLDER 3 METHOD ...           on Spark, of the first three parts
    python -m bench.scale run ENGINE METHOD FOLDER 10 4       overt.run, end to end; ENGINE is memory, out-of-core or spark; at most 4 GiB
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import overt
from bench.measure import Sheet

QUASI = ("Age", "Gender", "Education", "Birthplace")
WIDE = (*QUASI, "Marital status", "Race", "Region")  # with the sensitive one eight columns
ROWS = 5_000_000
PARTS = 16  # partitions of what Spark shuffles
BARS = {  # times the yardstick; None: no bar of the project
    "buckets": 3,
    "batch-matching": 3,
    "boxes": 4,
    "mondrian": 4,
    "boxes and buckets": None,
}
METHODS = {
    "mondrian": '[[goal]]\nproperty = "k-anonymity"\nk = 10\n[method]\nname = "mondrian"',
    "blind-buckets": '[[goal]]\nproperty = "l-diversity"\nl = 5\n[[goal]]\nproperty = "k-anonymity"\nk = 5\n[method]\nname = "blind-buckets"',
    "batch-matching": '[[goal]]\nproperty = "l-diversity"\nl = 5\n[method]\nname = "batch-matching"',
}


def run(quick: bool = False) -> None:
    """Print the bars of Spark, growth and the driver's memory, and those of the out-of-core engine; quick: parts of 300 thousand rows."""
    n_rows = int(os.environ.get("OVERT_BENCH_ROWS", 300_000 if quick else ROWS))
    sizes = [int(n) for n in os.environ.get("OVERT_BENCH_PARTS", "1,3").split(",")]
    sheet = Sheet(f"Scale: parts of {n_rows:,} rows, {len(QUASI)} quasi-identifiers")
    with tempfile.TemporaryDirectory() as place:
        folder, wide = Path(place) / "table", Path(place) / "wide"
        make_parts(folder, max(sizes), n_rows)
        make_parts(wide, max(sizes), n_rows, is_wide=True)
        found = {n: piece("spark", str(folder), str(n), *BARS) for n in sizes}
        add_spark(sheet, found, n_rows)
        for method in METHODS:
            small, large = str(sizes[0]), str(sizes[-1])
            alone = piece("run", "memory", method, str(wide), small)[0]
            for n in (small, large):
                one = piece("run", "out-of-core", method, str(wide), n)[0]
                times = one["cpu"] / one["rows"] / (alone["cpu"] / alone["rows"])
                note = f"{one['cpu']:.1f} CPU s, {one['peak']:.2f} GB for {one['rows']:,} rows; in memory {alone['peak']:.2f} GB for {alone['rows']:,}"
                sheet.add(
                    f"overt run, {method}, {len(WIDE) + 1} columns: out of core / in memory, per row",
                    times,
                    "x",
                    bar=4,
                    note=note,
                )
    sheet.save()


def add_spark(sheet: Sheet, found: dict[int, list[dict[str, Any]]], n_rows: int) -> None:
    """The lines of Spark: cost against the yardstick, growth, and what the driver held."""
    sizes = list(found)
    for n, lines in found.items():
        base = lines[0]["cpu"]
        sheet.add(f"{n * n_rows:,} rows: identity mapInArrow plus a repartition with sort", base, "CPU s")
        for line in lines[1:]:
            note = f"{line['cpu']:.1f} CPU s, {line['jobs']} jobs, {line['shuffled'] / line['rows']:.0f} bytes a row shuffled, driver {line['driver']:.2f} GB"
            sheet.add(f"  {line['what']}", line["cpu"] / base, "x", bar=BARS.get(line["what"]), note=note)
    for i, line in enumerate(found[sizes[-1]]):
        least = found[sizes[0]][i]
        growth = line["cpu"] / least["cpu"] / (sizes[-1] / sizes[0])
        sheet.add(f"growth per row, {line['what']}", growth, "x", note="1 is in proportion")
        sheet.add("  memory of the driver", line["driver"] / least["driver"], "x", note="1 is independent of the rows")


def piece(*arguments: str) -> list[dict[str, Any]]:
    """What a piece that runs in a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale", *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def on_spark(folder: Path, n_parts: int, methods: list[str]) -> None:
    """Print what the yardstick and methods cost on Spark: staged rows in, nothing written; one release is staging and its method."""
    from overt.engine.scale.spark import SparkEngine
    from overt.engine.scale.spark_session import new_session

    with tempfile.TemporaryDirectory(dir=folder.parent) as place, chosen_parts(folder, n_parts) as chosen:
        logs = Path(place) / "logs"
        logs.mkdir()
        settings = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": logs.as_uri(),
            "spark.driver.memory": "2g",
        }
        settings |= {"spark.ui.showConsoleProgress": "false"}
        session = new_session("local[2]", {**settings, "spark.sql.shuffle.partitions": str(PARTS)})
        overt.samples.census(20_000).write_parquet(f"{place}/small.parquet")
        lines = []
        for source, is_counted in ((f"{place}/small.parquet", False), (str(chosen), True)):
            engine = SparkEngine(session, place)
            what = "" if is_counted else "warming"
            begin = cpu_of_all()
            session.sparkContext.setJobDescription(what or "staging")
            staged = stage(engine, source)
            staging = cpu_of_all() - begin
            session.sparkContext.setJobDescription(what or "yardstick")
            begin = cpu_of_all()
            into_nothing(staged.data.mapInArrow(lambda batches: batches, staged.data.schema))
            into_nothing(staged.data.repartition(PARTS, "q0").sortWithinPartitions("coin"))
            line = {"what": "yardstick", "cpu": cpu_of_all() - begin, "rows": staged.n_rows}
            lines += [line, {"what": "staging", "cpu": staging, "rows": staged.n_rows}] if is_counted else []
            for method in methods:
                session.sparkContext.setJobDescription(what or method)
                begin = cpu_of_all()
                for data in tables_of(engine, staged, method):
                    into_nothing(data)
                lines += [{"what": method, "cpu": cpu_of_all() - begin, "rows": staged.n_rows}] if is_counted else []
                print(what, method, f"{cpu_of_all() - begin:.1f}", file=sys.stderr, flush=True)
            engine.close()
        session.stop()
        jobs, shuffled = read_log(logs)
    driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # Java and the workers are other processes
    for line in lines:
        what = line["what"]
        print(json.dumps({**line, "jobs": jobs[what], "shuffled": shuffled[what], "driver": driver}), flush=True)


def read_log(logs: Path) -> tuple[dict[str, int], dict[str, int]]:
    """(description) -> jobs and shuffled bytes, from Spark's event log."""
    jobs, shuffled, called = defaultdict[str, int](int), defaultdict[str, int](int), {}
    for file in sorted(file for file in logs.rglob("events*")):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                what = event.get("Properties", {}).get("spark.job.description", "")
                jobs[what] += 1
                called.update(dict.fromkeys(event["Stage IDs"], what))
            elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                written = event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                shuffled[called.get(event["Stage ID"], "")] += written
    return jobs, shuffled


def stage(engine: Any, file: str) -> Any:
    """The census, staged with all the coins that any method needs."""
    from overt.engine.scale.seam import TablePlace
    from overt.engine.scale.staging import BOX_COIN, TWO_COINS, stage_table
    from overt.io.intake import Intake

    intake = Intake(quasi_identifiers=QUASI, sensitive=["Occupation"], others=())
    return stage_table(engine, TablePlace(file, "parquet"), intake, coin_names=(*TWO_COINS, BOX_COIN))


def tables_of(engine: Any, staged: Any, method: str) -> list[Any]:
    """What a method makes, not yet written."""
    from overt.engine.scale.boxes_and_buckets import PublishBoxes, deal_at_scale, make_boxes_and_buckets
    from overt.engine.scale.cut_tree import CutRule, grow_cut_tree
    from overt.engine.scale.fragment_lines import ShownLines
    from overt.engine.scale.groups_by_cuts import CutFragment, like_of, make_groups_by_cuts
    from overt.engine.scale.groups_by_draw import make_batch_matching
    from overt.engine.scale.staging import BOX_COIN, TWO_COINS
    from overt.progress import silent

    lines = ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive)
    goal = overt.FrequencyLDiversity(5)
    blind = overt.BlindBuckets(goal=goal, k=5)  # relaxed cuts, as by default
    if method == "buckets":
        return [deal_at_scale(staged, blind)[0]]
    if method == "boxes":  # of people, with no bucket
        tree = grow_cut_tree(engine, staged.data, staged.quasi_identifiers, (), CutRule(blind.box_size, "gain"))
        cut = CutFragment(staged.quasi_identifiers, (), blind.box_size, "gain", None, relaxed=True)
        of_people = ShownLines(lines.order, lines.quasi, ())
        publish, like = PublishBoxes(cut, of_people), like_of(of_people, has_buckets=True)
        return [engine.apply(with_number(engine, staged, BOX_COIN), tree, publish, like)]
    if method == "batch-matching":
        rng = np.random.default_rng(0)
        staged = with_columns(staged, *staged.sensitive_names, *TWO_COINS)
        return list(make_batch_matching(staged, overt.BatchMatching(goal=goal), lines, silent, rng).tables.values())
    if method == "mondrian":
        mondrian, staged = overt.Mondrian(goal=overt.KAnonymity(10)), with_columns(staged, *staged.sensitive_names)
        return list(make_groups_by_cuts(staged, mondrian, lines, silent).tables.values())
    return list(make_boxes_and_buckets(staged, blind, lines, silent).tables.values())


def with_columns(staged: Any, *names: str) -> Any:
    """Staged rows with their quasi-identifiers and these columns, as a run of the method stages them."""
    return replace(staged, data=staged.engine.only(staged.data, [*staged.quasi_names, *names]))


def with_number(engine: Any, staged: Any, coin: str) -> Any:
    """Rows with a number in the place of their bucket."""
    from pyspark.sql import functions as F  # noqa: N812

    return staged.data.select(*staged.quasi_names, coin, F.col("coin").alias("bucket"))


def into_nothing(data: Any) -> None:
    """Compute rows and write them nowhere."""
    data.write.format("noop").mode("overwrite").save()


def whole_run(engine: str, method: str, folder: Path, n_parts: int, most: float | None) -> None:
    """Print what one `overt.run` takes from files to files, written and checked; kernels are compiled before. `most`: GiB of addresses."""
    if most is not None:
        resource.setrlimit(resource.RLIMIT_AS, (int(most * 2**30),) * 2)
    folder = folder.resolve()
    with tempfile.TemporaryDirectory(dir=folder.parent) as place, chosen_parts(folder, n_parts) as chosen:
        small = Path(place) / "small.parquet"
        overt.samples.wide_census(20_000).write_parquet(small)
        data = chosen / "part-00000.parquet" if n_parts == 1 else chosen
        for source in (small, data):
            recipe = Path(place) / "recipe.toml"
            recipe.write_text(recipe_of(source, folder, method))
            how = {"audit": False} if engine == "memory" else {"engine": engine, "staging": place}
            begin = cpu_of_all()
            outcome = overt.run(recipe, overwrite=True, **how)
            cpu = cpu_of_all() - begin
            assert outcome.ok
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        said = {"what": f"{engine}, {method}", "rows": outcome.n_rows, "cpu": cpu, "peak": peak}
        print(json.dumps(said), flush=True)


def recipe_of(source: Path, folder: Path, method: str) -> str:
    """A recipe that releases as many columns as the table in the folder has."""
    is_wide = "Region" in pl.read_parquet_schema(next(folder.iterdir()))
    roles = "\n".join(f'[columns."{n}"]\nrole = "quasi-identifier"' for n in (WIDE if is_wide else QUASI))
    return (
        f'version = 1\n[input]\npath = "{source}"\n{roles}\n[columns.Occupation]\nrole = "sensitive"\n{METHODS[method]}\n'
        f'[output]\npath = "{source.name}-release.parquet"\n'
    )


@contextmanager
def chosen_parts(folder: Path, n_parts: int) -> Iterator[Path]:
    """A folder with the first parts of a table."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        chosen = Path(place) / "table"
        chosen.mkdir()
        for i in range(n_parts):
            (chosen / f"part-{i:05}.parquet").symlink_to((folder / f"part-{i:05}.parquet").resolve())
        yield chosen


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


def make_parts(folder: Path, n_parts: int, n_rows: int = ROWS, *, is_wide: bool = False) -> None:
    """A table in parts, each of so many rows of the census: with five columns, or with eight."""
    folder.mkdir(exist_ok=True)
    for i in range(n_parts):
        file = folder / f"part-{i:05}.parquet"
        if is_wide:
            overt.samples.wide_census(n_rows, seed=i).select(*WIDE, "Occupation").write_parquet(file)
        else:
            overt.samples.census(n_rows, seed=i).select(*QUASI, "Occupation").write_parquet(file)


def main(asked: str, *arguments: str) -> None:
    """Do one piece."""
    match asked, arguments:
        case (("make" | "make-wide"), (folder, n)):
            make_parts(Path(folder), int(n), is_wide=asked == "make-wide")
        case "spark", (folder, n, *methods):
            on_spark(Path(folder), int(n), methods or list(BARS))
        case "run", (engine, method, folder, n, *most):
            whole_run(engine, method, Path(folder), int(n), float(most[0]) if most else None)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
