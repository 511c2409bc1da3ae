# SPDX-License-Identifier: Apache-2.0
"""Load: many rows through every method that claims them, with the peak of memory, and the same run again and again without growth.

Each method works in a process of its own. The bar is 20 GiB for 10 million rows; OVERT_BENCH_ROWS says how many rows there are, OVERT_LOAD takes methods whose names
hold that word, and OVERT_LOAD_RUNS says how often the same run is repeated.
"""

import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from bench.measure import Sheet

ROWS, QUICK_ROWS = 10_000_000, 100_000
RUNS, QUICK_RUNS = 1_000, 60
BAR = 20.0  # GiB
GROWTH_BAR = 0.05  # of what the process has after a tenth of the runs
CLAIMED = (
    "mondrian",
    "blind-buckets",
    "blind-buckets, strict",
    "anatomy",
    "batch-matching",
    "full-domain",
    "cross-bucket",
    "dealing",
    "rda",
    "ria",
    "in-order",
    "record-threshold",
    "record-lagrangian",
    "dp-cube",
    "dp-sampling",
    "dp-full-domain",
    "out of core",
)
QUASI = ("Age", "Gender", "Education", "Birthplace")
WITH_HIERARCHIES = (
    "full-domain",
    "in-order",
    "record-threshold",
    "record-lagrangian",
    "dp-cube",
    "dp-sampling",
    "dp-full-domain",
)


def run(quick: bool = False) -> None:
    """Print the peak of memory of every method, and growth over many runs; quick: with a hundredth of the rows."""
    n_rows = int(os.environ.get("OVERT_BENCH_ROWS", QUICK_ROWS if quick else ROWS))
    n_runs = int(os.environ.get("OVERT_LOAD_RUNS", QUICK_RUNS if quick else RUNS))
    chosen = os.environ.get("OVERT_LOAD", "")
    sheet = Sheet(f"Load: {n_rows:,} rows, {len(QUASI)} quasi-identifiers")
    for name in CLAIMED:
        if chosen in name:
            said, spent = _alone("peak", name, str(n_rows))
            sheet.add(name, peak_of(said), "GiB", bar=BAR, note=note_of(said, spent))
    if n_runs:
        said, spent = _alone("growth", "", str(n_runs))
        note = f"{said['first']} MiB after {int(n_runs) // 10} runs, {said['last']} MiB after {n_runs:,}; {spent:.0f} s"
        sheet.add("growth over many runs of one process", float(said["growth"]), "of it", bar=GROWTH_BAR, note=note)
    sheet.save()


def _alone(what: str, *words: str) -> tuple[dict[str, str], float]:
    """Run a function of this module in a process that does nothing else; what it printed, and how long it took."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bench.load", what, *words], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        return {"refused": f"the process ended with {done.returncode}"}, time.monotonic() - begun
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line), time.monotonic() - begun


def peak_of(said: Mapping[str, str]) -> float:
    """GiB that a method took; infinitely many if it did not make a release, which misses every bar."""
    return math.inf if "refused" in said or "peak" not in said else float(said["peak"])


def note_of(said: Mapping[str, str], spent: float) -> str:
    """How long it took, or why there is no release."""
    why = said.get("refused", "it printed no peak" if "peak" not in said else "")
    return f"no release, after {spent:.0f} s and {said.get('peak', '?')} GiB: {why}" if why else f"{spent:.0f} s"


def peak(name: str, n_rows: int) -> None:
    """Make and publish a release, and print the most memory that this process had."""
    import numpy as np

    import overt

    data = overt.samples.census(n_rows)
    if name == "out of core":
        _out_of_core(data)
    else:
        try:
            table = table_for(name, data)
            del data
            release = methods()[name].anonymize(table, rng=np.random.default_rng(1))
            overt.publish(release)
        except overt.OvertError as error:
            print(f"refused={str(error)[:160]}")
    print(f"peak={resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}")


def hierarchies() -> dict[str, Any]:
    """Of the four quasi-identifiers, public ones: nothing is looked up in the data."""
    import overt

    found = overt.samples.census_hierarchies()
    return {name: found[name] for name in QUASI if name in found} | {
        "Gender": overt.Nested({"any": ["female", "male"]})
    }


def table_for(name: str, data: Any) -> Any:
    """The table of a method: with hierarchies if it uses them, without a sensitive column for a private release."""
    import overt

    if name.startswith("dp-"):
        return overt.read_frame(data.select(QUASI), quasi_identifiers=QUASI, row_by_row=True)
    built = hierarchies() if name in WITH_HIERARCHIES else None
    return overt.read_frame(data, quasi_identifiers=QUASI, sensitive=["Occupation"], others=[], hierarchies=built)


def methods() -> dict[str, Any]:
    """The methods that claim tables of any length."""
    import overt

    private = {"epsilon": 1, "delta": "1e-6", "s": "0.2", "hierarchies": hierarchies()}
    l5, d5 = overt.FrequencyLDiversity(5), overt.DistinctLDiversity(5)
    return {
        "mondrian": overt.Mondrian(goal=l5),
        "blind-buckets": overt.BlindBuckets(goal=l5, k=5),
        "blind-buckets, strict": overt.BlindBuckets(goal=l5, k=5, cuts="strict"),
        "anatomy": overt.Anatomy(goal=d5),
        "batch-matching": overt.BatchMatching(goal=l5),
        "full-domain": overt.FullDomain(goal=overt.KAnonymity(5)),
        "cross-bucket": overt.CrossBucket(goal=overt.AllOf((overt.KAnonymity(5), l5))),
        "dealing": overt.Dealing(goal=l5),
        "rda": overt.RDA(goal=l5),
        "ria": overt.RIA(goal=l5),
        "in-order": overt.InOrder(goal=overt.FrequencyLDiversity(2), smallest=50),
        "record-threshold": overt.RecordThreshold(c="1/2"),
        "record-lagrangian": overt.RecordLagrangian(lam=0.1, kappa=2),
        "dp-cube": overt.DpCube(**private),
        "dp-sampling": overt.DpSampling(**private, levels=((1, 1, 1, 1),)),
        "dp-full-domain": overt.DpFullDomain(**private),
    }


def _out_of_core(data: Any) -> None:
    import tempfile
    from pathlib import Path

    import overt

    with tempfile.TemporaryDirectory() as folder:
        data.write_parquet(f"{folder}/data.parquet")
        columns = "\n".join(f'[columns.{name}]\nrole = "quasi-identifier"' for name in QUASI)
        Path(folder, "recipe.toml").write_text(
            f'version = 1\n[input]\npath = "data.parquet"\n{columns}\n[columns.Occupation]\nrole = "sensitive"\n[[goal]]\nproperty = "l-diversity"\nl = 5\n'
            '[method]\nname = "blind-buckets"\ncuts = "strict"\n[output]\npath = "release"\nformat = "parquet"\n'
        )
        del data
        overt.run(f"{folder}/recipe.toml", engine="out-of-core")


def growth(n_runs: int) -> None:
    """Run a recipe again and again, and print the memory of this process after a tenth of the runs and after all."""
    import gc
    import tempfile
    from pathlib import Path

    import overt

    with tempfile.TemporaryDirectory() as folder:
        overt.samples.hospital().write_csv(f"{folder}/hospital.csv")
        overt.init(f"{folder}/hospital.csv", into=f"{folder}/recipe.toml")
        first = 0.0
        for number in range(1, n_runs + 1):
            outcome = overt.run(f"{folder}/recipe.toml", overwrite=True, report=True, audit=False)
            assert outcome.ok
            if number == max(1, n_runs // 10):
                gc.collect()
                first = _now()
        gc.collect()
        last = _now()
        left = [path.name for path in Path(folder).iterdir() if path.name.startswith(".")]
        assert not left, left
    print(f"first={first:.1f}\nlast={last:.1f}\ngrowth={last / first - 1:.4f}")


def _now() -> float:
    """MiB that this process has at the moment."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    run_alone: dict[str, Callable[..., None]] = {"peak": peak, "growth": growth}
    what, name, n = sys.argv[1:4] if len(sys.argv) > 3 else (sys.argv[1], "", sys.argv[2])
    run_alone[what](*([name] if what == "peak" else []), int(n))
