# SPDX-License-Identifier: Apache-2.0
"""A program for a test: small runs through compiled loops, with coins that a seed repeats, and a digest of what each gave.

The test runs it with the compiler on, with checks of bounds, and with the compiler off, and in several processes at once.
"""

import hashlib
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import overt

HOW = {"quasi_identifiers": ["age", "zip", "sex"], "sensitive": ["ill"]}
L2 = overt.FrequencyLDiversity(2)
METHODS = {
    "mondrian": overt.Mondrian(goal=L2),
    "mondrian, relaxed": overt.Mondrian(goal=overt.KAnonymity(3), relaxed=True),
    "blind-buckets": overt.BlindBuckets(goal=L2, k=3),
    "blind-buckets, strict": overt.BlindBuckets(goal=L2, k=3, cuts="strict"),
    "anatomy": overt.Anatomy(goal=overt.DistinctLDiversity(2)),
    "batch-matching": overt.BatchMatching(goal=L2),
    "full-domain": overt.FullDomain(goal=overt.KAnonymity(3)),
    "t-closeness": overt.Mondrian(goal=overt.TCloseness("1/2")),
}


def people(n=72):
    draw = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, n),
            "zip": [f"53{i:03}" for i in draw.integers(0, 30, n)],
            "sex": draw.choice(["f", "m"], n),
            "ill": draw.choice(["flu", "cold", "HIV", "none"], n, p=[0.3, 0.3, 0.1, 0.3]),
        }
    )


def main():
    warnings.simplefilter("ignore", overt.Caution)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        people().write_csv(path)
        hierarchies = {"zip": overt.Prefixes(lengths=(4, 3, 2))}
        table = overt.read_file(path, hierarchies=hierarchies, kinds={"zip": "category"}, **HOW)
        for name, method in METHODS.items():
            release = method.anonymize(table, rng=np.random.default_rng(3))
            published = overt.publish(release)
            frames = published if isinstance(published, tuple) else (published,)
            text = "".join(frame.cast(pl.String).write_csv() for frame in frames)
            say(name, f"{text} {method.goal.holds(release.groups)} {method.goal.measure(release.groups)}")


def say(name, text):
    sys.stdout.write(f"{name}: {hashlib.sha256(text.encode()).hexdigest()[:16]}\n")


if __name__ == "__main__":
    main()
