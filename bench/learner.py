# SPDX-License-Identifier: Apache-2.0
"""A learner on Adult: how many occupations they guess right, by method, and what locality buys; the figures of docs/guides/learner.md.

`python -m bench learner` repeats them in a few minutes; `--quick` leaves out what depends on the depth of strata.
"""

import time
from dataclasses import replace

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.learner.findings import Learned
from overt.release import BucketRelease, Release
from overt.table import Table

F = overt.FrequencyLDiversity
METHODS = {
    "anatomy, l = 3": overt.Anatomy(goal=F(3)),
    "anatomy, l = 5": overt.Anatomy(goal=F(5)),
    "anatomy, l = 7": overt.Anatomy(goal=F(7)),
    "dealing, l = 3": overt.Dealing(goal=F(3)),
    "rda, l = 3": overt.RDA(goal=F(3)),
    "batch-matching, l = 3": overt.BatchMatching(goal=F(3)),
    "batch-matching, l = 5": overt.BatchMatching(goal=F(5)),
    "mondrian, k = 5, l = 3": overt.Mondrian(goal=overt.KAnonymity(5) & F(3)),
    "cross-bucket, k = 3, l = 5": overt.CrossBucket(k=3, l=5),
}


def run(*, quick: bool = False) -> None:
    """Without Adult at hand, nothing."""
    sheet = Sheet("Learner: sensitive values guessed right")
    if not adult.is_there():
        print("Adult is not beside the project; there is nothing to measure.")
        return
    table = adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"])
    for name, method in METHODS.items():
        say(sheet, name, method.anonymize(table, rng=np.random.default_rng(1)))
    say(
        sheet,
        "anatomy, l = 3, values permuted",
        METHODS["anatomy, l = 3"].anonymize(permuted(table), rng=np.random.default_rng(1)),
    )
    if not quick:
        by_locality(sheet, table)
    sheet.save()


def by_locality(sheet: Sheet, table: Table) -> None:
    """Values dealt blind into buckets inside strata: buckets known, as in Anatomy, or only boxes of k people."""
    for n in (0, 4):
        for size in (3, 6, 12):
            for k in (5, 10) if size == 3 else (5,):
                method = overt.BlindBuckets(goal=F(3), k=k, rows_per_bucket=size, stratify=overt.Halvings(n))
                release = method.anonymize(table, rng=np.random.default_rng(size))
                name = f"blind-buckets, l = 3, buckets of {size}, {2**n} strata"
                say(sheet, f"{name}, box of {k} known", release)
                if k == 5:
                    say(sheet, f"{name}, bucket known", BucketRelease(table, release.buckets, None))


def say(sheet: Sheet, name: str, release: Release) -> Learned:
    """The figures of one release."""
    began = time.perf_counter()
    found = overt.learn(release, rng=np.random.default_rng(7))
    note = (
        f"without {found.outside}, release alone {100 * found.plain:.1f}, gain {found.from_release}; above 0.9: "
        f"{found.above_certain.n_right:,} of {found.above_certain.n_people:,} right; {time.perf_counter() - began:.0f} s"
    )
    sheet.add(name, 100 * found.inside.value, "%", note=note)
    if found.replaying is not None:
        tried = f"tried on {found.n_replayed:,} people"
        sheet.add(
            f"{name}: who also replays the matching, at least",
            100 * found.best.value,
            "%",
            note=f"± {100 * found.best.error:.1f}; {tried}",
        )
    off = max((abs(one.belief - one.right) for one in found.reliability if one.n_people >= 100), default=0.0)
    sheet.add(f"{name}: beliefs off by at most, in bins of 100 people", off, "")
    return found


def permuted(table: Table) -> Table:
    """The same table with its sensitive values in random order: nothing goes with anything."""
    (column,) = table.sensitive
    mixed = replace(column, codes=np.random.default_rng(3).permutation(column.codes))
    return replace(table, columns=(*table.quasi_identifiers, mixed))
