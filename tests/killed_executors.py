# SPDX-License-Identifier: Apache-2.0
"""A program for a test: releases on real executors, of which one is killed in every kind of step; and what Spark wrote into its logs.

Prints a digest of each release, by method and by whether executors were killed, and what whole runs say. Arguments: a folder with `people.parquet` and
recipes, and a folder for logs.
"""

import hashlib
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl


@dataclass
class Once:
    """A step in whose first run the executor it runs on is killed."""

    work: object
    mark: str

    def __call__(self, *given):
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(executor_of(os.getpid()), signal.SIGKILL)
            time.sleep(30)
        return self.work(*given)


STEP_AT = {"stage": 1, "histogram": 1, "select": 1, "apply": 2}  # which word of an operation is the step


class KillsOnce:
    """An operation of an engine, in whose first uses (of `apply` in all) an executor is killed."""

    def __init__(self, engine, name, mark):
        self.operation, self.name, self.mark, self.n_used = getattr(engine, name), name, mark, 0

    def __call__(self, *given):
        self.n_used += 1
        if self.n_used > 1 and self.name != "apply":
            return self.operation(*given)
        place, words = STEP_AT[self.name], list(given)
        words[place] = Once(words[place], f"{self.mark}-{self.name}-{self.n_used - 1}")
        return self.operation(*words)


def executor_of(process):
    """The Java process above a Python worker."""
    while Path(f"/proc/{process}/comm").read_text().strip() != "java":
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[1])
    return process


def main(folder, logs):
    import pyspark
    from pyspark.sql import SparkSession

    import overt
    from overt.engine.scale import spark_session
    from overt.engine.scale.boxes_and_buckets import make_boxes_and_buckets
    from overt.engine.scale.fragment_lines import ShownLines
    from overt.engine.scale.groups_by_draw import make_batch_matching
    from overt.engine.scale.spark import SparkEngine
    from overt.errors import OvertError
    from overt.progress import silent
    from scales import staged_with_coins

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark_session.find_java()
    builder = SparkSession.builder.appName("killed").master("local-cluster[2,1,1024]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.sql.shuffle.partitions": "4",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": Path(logs).as_uri(),
        "spark.task.maxFailures": "8",
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.speculation": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    table = overt.read_frame(
        pl.read_parquet(Path(folder) / "people.parquet"),
        quasi_identifiers=["Age", "Gender", "Education"],
        sensitive=["Occupation"],
    )
    coins = np.random.default_rng(1).integers(0, 2**64, table.n_rows, np.uint64)
    goal = overt.FrequencyLDiversity(3)
    makers = {
        "blind-buckets": (make_boxes_and_buckets, overt.BlindBuckets(goal=goal), ()),
        "batch-matching": (make_batch_matching, overt.BatchMatching(goal=goal), (np.random.default_rng(2),)),
    }
    for name, (make, method, rng) in makers.items():
        for killed in (False, True):
            engine = SparkEngine(session, folder, fragment_rows=300)
            if killed:
                for operation in STEP_AT:
                    setattr(engine, operation, KillsOnce(engine, operation, f"{folder}/{name}"))
            rng = tuple(np.random.default_rng(2) for _ in rng)
            staged = staged_with_coins(engine, table, coins, Path(folder))
            lines = ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive)
            made = make(staged, method, lines, silent, *rng)
            texts = []
            for part, data in made.tables.items():
                place = Path(folder) / f"{name}-{killed}-{part}"
                engine.write(data, place, "parquet", ",")
                read = pl.concat([pl.read_parquet(file) for file in sorted(place.glob("part-*"))])
                texts.append(read.cast(pl.String).sort(pl.all()).write_csv())
            engine.close()
            found = hashlib.sha256("".join(texts).encode()).hexdigest()
            sys.stdout.write(f"{name} {killed} {found}\n")
    for recipe in sorted(Path(folder).glob("*.toml")):
        try:
            outcome = overt.run(recipe, engine=session, staging=folder, report=True)
            sys.stdout.write(f"ran {recipe.stem}: {outcome.ok}\n{outcome}\n")
        except OvertError as error:
            sys.stdout.write(f"ran {recipe.stem}: refused\n{error}\n")
    session.stop()


if __name__ == "__main__":
    guard = threading.Timer(1500, lambda: os._exit(3))
    guard.daemon = True
    guard.start()
    main(*sys.argv[1:])
