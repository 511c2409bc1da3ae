# SPDX-License-Identifier: Apache-2.0
"""The adversary who replays Mondrian: proposed swaps a second, and what they learn on Adult."""

import time

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.audit import audit_release
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.particles import Particles
from overt.adversary.summary import FACTORS
from overt.algorithms.streamliner import RDA
from overt.table import Table
from overt.trace import Trials

N_SWEEPS = 40


def run(*, quick: bool = False) -> None:
    """Speed on the census; with Adult at hand, the audits of the documentation (`quick`: 10 seconds each, not 55)."""
    sheet = Sheet("Adversary: swaps against Mondrian")
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
        for l in (2, 3):
            audit(sheet, table, l, 10 if quick else 55)
    sheet.save()


def time_swaps(sheet: Sheet, name: str, table: Table) -> None:
    """Proposed swaps a second of processor time, on one core."""
    method, column = overt.Mondrian(goal=overt.FrequencyLDiversity(3)), table.sensitive[0]
    release, trace = method.anonymize(table), method.trace(table)
    nothing = np.zeros((table.n_rows, column.n_values), np.bool_)
    failed = FailedTrials.of([Trials.of_cuts(trace)], release.partition, column, method.goal, nothing)
    go, rng = np.zeros(1, np.bool_), np.random.default_rng(1)
    particles = Particles.begin(failed, np.full(failed.n_components, 4), rng, go, scattered=True)
    particles.state.price[:] = 1.0
    particles.sweep(np.full(failed.n_components, 2), go)
    began, before = time.thread_time(), particles.n_proposed
    particles.sweep(np.full(failed.n_components, N_SWEEPS), go)
    seconds, n_swaps = time.thread_time() - began, particles.n_proposed - before
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
    error = np.inf if error is None else error
    sheet.add(
        f"{name}: standard error, 99th percentile of people", error, "", bar=0.02, note=f"{sampled['seconds']:.0f} s"
    )
    sheet.add(f"{name}: people for whom this is not known yet", found.n_unknown, "")
    safe = audit_release(RDA(goal=overt.FrequencyLDiversity(l)).anonymize(table, rng=rng), rng=rng)
    sheet.add(f"{name}: people above 1/l, RDA, with the method", safe.share_above(), "")
