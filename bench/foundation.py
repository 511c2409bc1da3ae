# SPDX-License-Identifier: Apache-2.0
"""The foundation: Mondrian, Anatomy, checking properties, and the whole way from CSV to CSV."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import overt
from bench import adult, peers
from bench.measure import Sheet, best_of, threads
from overt.partition import Groups

QUASI_IDENTIFIERS = ["Age", "Gender", "Education", "Birthplace", "Marital status", "Race", "Work class", "Hours"]
EVERY_PROPERTY = [
    overt.KAnonymity(5),
    overt.AlphaKAnonymity("1/2", 5),
    overt.FrequencyLDiversity(3),
    overt.DistinctLDiversity(3),
    overt.EntropyLDiversity(3),
    overt.RecursiveCLDiversity(3, 3),
    overt.TCloseness("0.3"),
    overt.TCloseness("0.3", distance="ordered"),
    overt.DeltaDisclosure(2),
    overt.BasicBetaLikeness(3),
    overt.EnhancedBetaLikeness(3),
]

HOSPITAL = """\
version = 1

[input]
path = "hospital.csv"

[columns]
Name = { role = "identifier" }
"Birth date" = { role = "quasi-identifier" }
Postcode = { role = "quasi-identifier", kind = "category", hierarchy = { prefixes = [4, 3, 2] } }
Sex = { role = "quasi-identifier" }
Disease = { role = "sensitive" }

[[goal]]
property = "k-anonymity"
k = 4

[[goal]]
property = "l-diversity"
l = 3

[method]
name = "blind-buckets"

[output]
path = "release.csv"
"""


def run(*, quick: bool = False) -> None:
    """Everything; `quick` leaves out the largest tables."""
    sheet = Sheet("Foundation: times as multiples of Y(n), the stable argsort of n random 64-bit keys")
    sizes = [600_000] if quick else [600_000, 6_000_000]
    for n in sizes:
        frame = overt.samples.wide_census(n)
        table = overt.read_frame(frame, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["Occupation"])
        del frame
        time_mondrian(sheet, table, bar={600_000: 6, 6_000_000: 5}[n])
        time_anatomy(sheet, table)
        if n == sizes[-1]:
            time_properties(sheet, table)
    compare_on_adult(sheet)
    time_from_csv_to_csv(sheet, 500_000 if quick else 5_000_000)
    time_demo(sheet)
    sheet.save()


def time_mondrian(sheet: Sheet, table: overt.Table, bar: float) -> None:
    n = table.n_rows
    method = overt.Mondrian(goal=overt.KAnonymity(10))
    with threads(1):
        alone = sheet.time(
            f"Mondrian, k = 10, 8 columns, {n:,} rows, one thread", n, lambda: method.anonymize(table), bar=bar
        )
    with threads(2):
        together = best_of(3, lambda: method.anonymize(table))
    sheet.add("  two threads, share of the time of one", together / alone, "", bar=1, note=f"{together:.3f} s")
    relaxed = overt.Mondrian(goal=overt.KAnonymity(10), relaxed=True)
    diverse = overt.Mondrian(goal=overt.FrequencyLDiversity(3))
    with threads(1):
        sheet.time("  relaxed", n, lambda: relaxed.anonymize(table), repeats=1)
        sheet.time("  3-diversity (frequency)", n, lambda: diverse.anonymize(table), repeats=1)


def time_anatomy(sheet: Sheet, table: overt.Table) -> None:
    n = table.n_rows
    method = overt.Anatomy(goal=overt.FrequencyLDiversity(5))
    sheet.time(
        f"Anatomy, l = 5, 50 values, {n:,} rows",
        n,
        lambda: method.anonymize(table, rng=np.random.default_rng(1)),
        bar=2,
    )


def time_properties(sheet: Sheet, table: overt.Table) -> None:
    n = table.n_rows
    release = overt.Mondrian(goal=overt.KAnonymity(10)).anonymize(table)
    partition = release.partition
    _ = partition.rows, partition.starts
    for goal in EVERY_PROPERTY:
        sheet.time(
            f"Check {goal} over {release.n_groups:,} groups, counting included",
            n,
            lambda goal=goal: goal.breaks(Groups.of(table, partition)),
            bar=1,
        )


def compare_on_adult(sheet: Sheet) -> None:
    if not adult.is_there():
        print("Adult is not at hand (../shared/data/adult): its comparison is left out.")
        return
    table = adult.read(quasi_identifiers=adult.EIGHT)
    for label, method, bars in [
        ("strict", overt.Mondrian(goal=overt.KAnonymity(5)), (0.03, 311_000, 0.030)),
        ("choose = gain", overt.Mondrian(goal=overt.KAnonymity(5), choose="gain"), (None, None, None)),
        ("relaxed", overt.Mondrian(goal=overt.KAnonymity(5), relaxed=True), (None, 253_100, None)),
        (
            "relaxed, choose = gain",
            overt.Mondrian(goal=overt.KAnonymity(5), relaxed=True, choose="gain"),
            (None, 253_100, 0.030),
        ),
    ]:
        release = method.anonymize(table)
        seconds = best_of(5, lambda method=method: method.anonymize(table))
        sheet.add(f"Adult, k = 5, 8 columns, Mondrian {label}", seconds, "s", bar=bars[0])
        dm = int((published_sizes(release) ** 2).sum())
        sheet.add("  discernibility of the published table", dm, "", bar=bars[1])
        sheet.add("  normalised certainty penalty, tight boxes", overt.certainty_penalty(release), "", bar=bars[2])
    ours = best_of(5, lambda: overt.Mondrian(goal=overt.KAnonymity(5)).anonymize(table))
    for name, seconds in peers.time_on_adult(adult.frame()):
        sheet.add(f"  {name}, same task, times ours", seconds / ours, "x", note=f"{seconds:.2f} s")


def published_sizes(release: overt.GeneralizedRelease) -> np.ndarray:
    """Sizes of the groups a reader can tell apart: rows with the same published quasi-identifiers."""
    names = [column.name for column in release.table.quasi_identifiers]
    return overt.publish(release).group_by(names).len()["len"].to_numpy().astype(np.int64)


RECIPE = """version = 1
[input]
path = "census.csv"
[columns.Id]
role = "identifier"
{columns}
[columns.Occupation]
role = "sensitive"
[[goal]]
property = "k-anonymity"
k = 10
[method]
name = "mondrian"
[output]
path = "release.csv"
others = [{others}]
"""


def time_from_csv_to_csv(sheet: Sheet, n: int) -> None:
    """The command line from file to file, beside Polars reading and writing the same file."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "census.csv"
        frame = overt.samples.wide_census(n)
        others = [name for name in frame.columns if name not in [*QUASI_IDENTIFIERS, "Id", "Occupation"]]
        frame.write_csv(data)
        del frame
        columns = "\n".join(f'[columns."{name}"]\nrole = "quasi-identifier"' for name in QUASI_IDENTIFIERS)
        listed = ", ".join(f'"{name}"' for name in others)
        (Path(folder) / "recipe.toml").write_text(RECIPE.format(columns=columns, others=listed))
        code = f"import polars as pl; pl.read_csv({str(data)!r}).write_csv({folder + '/copy.csv'!r})"
        command = [sys.executable, "-m", "overt", "run", str(Path(folder) / "recipe.toml"), "--overwrite", "--quiet"]
        pairs = [(run_command([sys.executable, "-c", code]), run_command(command)) for _ in range(3)]
        (polars_time, polars_peak), (seconds, peak) = max(pairs, key=lambda pair: pair[1][0] / pair[0][0])
        size = data.stat().st_size
        is_full = n == 5_000_000  # in a smaller file the interpreter itself weighs too much to compare
        sheet.add(
            f"overt run, CSV to CSV, {n:,} rows x 12 columns, times Polars' read and write, the worst of three",
            seconds / polars_time,
            "x",
            bar=2.5 if is_full else None,  # in three quiet runs of three
            note=f"{seconds:.2f} s against {polars_time:.2f} s, {size / 1e6:.0f} MB",
        )
        sheet.add(
            "  peak memory, times the file",
            peak / size,
            "x",
            bar=3 if is_full else None,
            note=f"Polars alone {polars_peak / size:.2f}",
        )


def run_command(command: list[str], **environment: str) -> tuple[float, int]:
    """Wall seconds and peak resident bytes of a command."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**inherited, **environment}
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}")
    return time.perf_counter() - begin, usage.ru_maxrss * 1024


def time_demo(sheet: Sheet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "overt", "demo", "--into", folder + "/demo"]
        cold, _ = run_command(command, NUMBA_CACHE_DIR=folder + "/cache")
        sheet.add("overt demo, kernels not yet compiled", cold, "s", bar=30)
        again = [sys.executable, "-m", "overt", "demo", "--into", folder + "/demo2"]
        warm, _ = run_command(again, NUMBA_CACHE_DIR=folder + "/cache")
        sheet.add("overt demo, the second time", warm, "s", bar=3)
        (Path(folder) / "hospital.toml").write_text(HOSPITAL)
        overt.samples.hospital().write_csv(Path(folder) / "hospital.csv")
        run = [sys.executable, "-m", "overt", "run", f"{folder}/hospital.toml", "--no-audit", "--overwrite", "--quiet"]
        sheet.add("a release of 96 rows, without audit", min(run_command(run)[0] for _ in range(5)), "s", bar=0.8)
    startup = min(run_command([sys.executable, "-m", "overt", "--help"])[0] for _ in range(5))
    sheet.add("overt --help", startup, "s", bar=0.3)
