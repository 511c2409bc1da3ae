# SPDX-License-Identifier: Apache-2.0
"""Many quasi-identifiers: what every method costs, and leaves, with 10, 20, 50 and 100 of them; and the cuts of Mondrian for l-diversity.

CPU seconds of all threads, so that a busy machine says something too; the second run counts, since the first one compiles. Every case runs in a process of its own, which may
take so many CPU seconds and no more.
"""

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import polars as pl

import overt
from bench.measure import Sheet

LIMIT = 120  # CPU seconds of one case
ROWS = 20_000
COLUMNS = (10, 20, 50, 100)
L, K = overt.FrequencyLDiversity(5), overt.KAnonymity(5)
METHODS = {
    "blind-buckets": overt.BlindBuckets(goal=L, k=5),
    "mondrian, k = 5": overt.Mondrian(goal=K),
    "mondrian, k = 5, gain": overt.Mondrian(goal=K, choose="gain"),
    "mondrian, l = 5": overt.Mondrian(goal=L),
    "full-domain, k = 5, 20 seconds": overt.FullDomain(goal=K, max_suppressed="0.1", seconds=20),
    "batch-matching": overt.BatchMatching(goal=L),
    "dealing": overt.Dealing(goal=L),
    "rda": overt.RDA(goal=L),
    "ria": overt.RIA(goal=L),
    "gda": overt.GDA(goal=L, mode="paper"),
    "anatomy": overt.Anatomy(goal=L),
    "cross-bucket": overt.CrossBucket(goal=L & K),
}


def run(quick: bool = False) -> None:
    """Print what each method costs with many columns, and how much of them is left; quick: with 2,000 rows."""
    n_rows = int(os.environ.get("OVERT_BENCH_ROWS", 2_000 if quick else ROWS))
    sheet = Sheet(f"Many quasi-identifiers: CPU seconds for {n_rows:,} rows, at most {LIMIT} a case")
    for name in [*METHODS, "risk", "risk of uniques"]:
        for n_columns in COLUMNS:
            asked = [sys.executable, "-m", "bench.many_columns", name, str(n_rows), str(n_columns)]
            done = subprocess.run(asked, capture_output=True, text=True, check=False, preexec_fn=limit)
            if done.returncode:
                said = done.stderr.strip().splitlines()
                why = said[-1].rpartition(": ")[2][:90] if said else f"more than {LIMIT} CPU seconds"
                sheet.add(f"{name}, {n_columns} columns", float("nan"), "CPU s", note=why)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            sheet.add(f"{name}, {n_columns} columns", found["seconds"], "CPU s", note=found["note"])
    for l, of in ((None, "k = 10"), (5, "l = 5")):
        goal = overt.KAnonymity(10) if l is None else overt.FrequencyLDiversity(l)
        sheet.add(f"mondrian, {of}: cuts of the census", in_yardsticks(goal, 50 * n_rows), "Y of CPU", bar=6)
    sheet.save()


def limit() -> None:
    """As many CPU seconds as a case may take."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def people(n_rows: int, n_columns: int) -> overt.Table:
    """Columns that depend on a few hidden traits, as questions of a survey do; every second one a number."""
    rng = np.random.default_rng(0)
    traits = rng.normal(size=(n_rows, 6))
    answers = traits @ rng.normal(size=(6, n_columns)) + rng.normal(size=(n_rows, n_columns))
    n_values = rng.integers(2, 12, n_columns)
    frame = {f"q{j}": np.digitize(answers[:, j], np.linspace(-4, 4, n_values[j])) for j in range(n_columns)}
    kinds = {f"q{j}": "category" for j in range(0, n_columns, 2)}
    value = np.digitize(traits[:, 0] + rng.normal(size=n_rows), np.linspace(-2.5, 2.5, 30))
    data = pl.DataFrame({**frame, "value": value})
    return overt.read_frame(
        data, quasi_identifiers=list(frame), sensitive=["value"], kinds={**kinds, "value": "category"}
    )


def one(name: str, n_rows: int, n_columns: int) -> None:
    """Print what one case takes."""
    table = people(n_rows, n_columns)

    def work() -> str:
        if name == "risk":
            return f"{overt.risk_of_table(table).identification.n_unique:,} unique rows"
        if name == "risk of uniques":
            found = overt.find_uniques(table)
            return f"sets of up to {found.max_size} columns"
        release = METHODS[name].anonymize(table, rng=np.random.default_rng(1))
        has_groups = isinstance(release, overt.GeneralizedRelease)
        lost = f", loss {overt.certainty_penalty(release):.2f}" if has_groups else ""
        return f"{release.n_groups:,} groups{lost}"

    work()
    begin = time.process_time()
    note = work()
    print(json.dumps({"seconds": time.process_time() - begin, "note": note}))


def in_yardsticks(goal: Any, n_rows: int) -> float:
    """CPU seconds of Mondrian on the census with four quasi-identifiers, over those of sorting as many random keys."""
    quasi = ["Age", "Gender", "Education", "Birthplace"]
    table = overt.read_frame(overt.samples.census(n_rows), quasi_identifiers=quasi, sensitive=["Occupation"])
    keys = np.random.default_rng(0).integers(0, 2**63, n_rows)
    method, taken = overt.Mondrian(goal=goal), []
    for work in (lambda: method.anonymize(table), lambda: np.argsort(keys, kind="stable")):
        work()
        times = []
        for _ in range(3):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        taken.append(min(times))
    return taken[0] / taken[1]


if __name__ == "__main__":
    one(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
