# SPDX-License-Identifier: Apache-2.0
"""The adversary who replays Mondrian: proposed swaps a second, and what he learns on Adult."""

import time

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.audit import audit_release
from overt.adversary.chain import Chain
from overt.adversary.failed_cuts import FailedCuts
from overt.adversary.summary import FACTORS
from overt.algorithms.streamliner import RDA
from overt.table import Table

N_SWEEPS = 100


def run(*, quick: bool = False) -> None:
    """Speed on the census; with Adult at hand, the audits of the documentation (`quick`: 10 seconds each, not 60)."""
    sheet = Sheet("Adversary: a chain of swaps against Mondrian")
    frame = overt.samples.census(30_000)
    names = ["Age", "Gender", "Education", "Birthplace"]
    time_swaps(
        sheet,
        "census 30k",
        overt.read_frame(frame.select(*names, "Occupation"), quasi_identifiers=names, sensitive=["Occupation"]),
    )
    if adult.is_there():
        table = adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"])
        time_swaps(sheet, "Adult", table)
        for l in (3, 5):
            audit(sheet, table, l, 10 if quick else 60)
    sheet.save()


def time_swaps(sheet: Sheet, name: str, table: Table) -> None:
    """Proposed swaps a second of processor time, on one core."""
    method, column = overt.Mondrian(goal=overt.FrequencyLDiversity(3)), table.sensitive[0]
    release, trace = method.anonymize(table), method.trace(table)
    nothing = np.zeros((table.n_rows, column.n_values), np.bool_)
    failed = FailedCuts.of(trace, release.partition, column, method.goal, nothing)
    chain = Chain.at_truth(failed, column.codes, np.random.default_rng(1))
    chain.sweep(np.arange(1, 3))
    began = time.thread_time()
    chain.sweep(np.arange(1, N_SWEEPS + 1))
    seconds = time.thread_time() - began
    n_swaps = N_SWEEPS * failed.n_places
    sheet.add(
        f"{name}, l = 3: microseconds for a proposed swap",
        seconds / n_swaps * 1e6,
        "us",
        bar=0.2,
        note=f"{n_swaps / seconds / 1e6:.1f} million a second; {failed.n_places:,} rows in {failed.n_groups:,} groups",
    )


def audit(sheet: Sheet, table: Table, l: int, seconds: float) -> None:
    """What is believed of people, and how surely that is known; RDA beside it."""
    rng = np.random.default_rng(l)
    release = overt.Mondrian(goal=overt.FrequencyLDiversity(l)).anonymize(table)
    found = audit_release(release, rng=rng, seconds=seconds)
    sampled = found.to_dict()["sampled"]
    name = f"Adult, l = {l}"
    sheet.add(f"{name}: groups", release.n_groups, "")
    for factor in FACTORS:
        sheet.add(
            f"{name}: people above {float(factor):g}/l, release alone",
            found.share_above(factor, posterior=found.alone),
            "",
        )
        sheet.add(f"{name}: people above {float(factor):g}/l, with the method", found.share_above(factor), "")
    sheet.add(f"{name}: highest belief", found.worst.belief, "", note=found.worst.why)
    sheet.add(f"{name}: values guessed right, release alone", found.guesses[0], "")
    sheet.add(f"{name}: values guessed right, with the method", found.guesses[1], "")
    error = sampled["standard_error"]["99_percent"]
    sheet.add(
        f"{name}: standard error, 99th percentile of people", error, "", bar=0.02, note=f"{sampled['seconds']:.0f} s"
    )
    sheet.add(f"{name}: R-hat, 99th percentile of cells", sampled["r_hat"]["99_percent"], "")
    safe = audit_release(RDA(goal=overt.FrequencyLDiversity(l)).anonymize(table, rng=rng), rng=rng)
    sheet.add(f"{name}: people above 1/l, RDA, with the method", safe.share_above(), "")
