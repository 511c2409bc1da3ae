# SPDX-License-Identifier: Apache-2.0
"""A program for a test: small runs through every module of compiled loops, with coins that a seed repeats, and a digest of what each gave.

The test runs it with the compiler on, with checks of bounds (`few`), and with the compiler off, where NumPy checks every index. Then it also
prints which modules of loops were called.
"""

import hashlib
import os
import sys
import tempfile
import warnings
from collections import Counter
from functools import wraps
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from overt.kernels import compiler

IS_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
IN_SHORT = sys.argv[1:] == ["few"]
CALLED = Counter()  # module of kernels -> calls, where no compiler hides them


def counted(loop):
    """A loop that counts its calls, in place of a compiled one."""
    module = loop.__module__.rpartition(".")[2]

    @wraps(loop)
    def call(*of):
        CALLED[module] += 1
        return loop(*of)

    return call


if IS_OFF:
    compiler.kernel = counted

import overt  # noqa: E402
from overt.metrics.query_workload import Workload, query_workload_error  # noqa: E402

HOW = {"quasi_identifiers": ["age", "zip", "sex"], "sensitive": ["ill"]}
L2, D2, K3 = overt.FrequencyLDiversity(2), overt.DistinctLDiversity(2), overt.KAnonymity(3)
METHODS = {
    "mondrian": overt.Mondrian(goal=L2),
    "mondrian, relaxed": overt.Mondrian(goal=K3, relaxed=True),
    "blind-buckets": overt.BlindBuckets(goal=L2, k=3),
    "blind-buckets, strict": overt.BlindBuckets(goal=L2, k=3, cuts="strict"),
    "anatomy": overt.Anatomy(goal=D2),
    "batch-matching": overt.BatchMatching(goal=L2),
    "full-domain": overt.FullDomain(goal=L2),
    "t-closeness": overt.Mondrian(goal=overt.TCloseness("1/2")),
    "entropy": overt.Mondrian(goal=overt.EntropyLDiversity("1.5")),
    "cross-bucket": overt.CrossBucket(2, 2),
    "dealing": overt.Dealing(goal=L2),
    "rda": overt.RDA(goal=L2),
    "ria": overt.RIA(goal=L2),
    "gda": overt.GDA(goal=D2, mode="paper"),
    "in-order": overt.InOrder(goal=overt.FrequencyLDiversity("3/2"), levels=3, smallest=8),
    "record-threshold": overt.RecordThreshold(c="1/2"),
    "record-lagrangian": overt.RecordLagrangian(lam=0.1, kappa=2),
}


FEW = tuple(METHODS)[:8]  # with checks of bounds everything is compiled anew


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


RECIPE = """
version = 1
[input]
path = "people.csv"
{person}
[columns.age]
role = "quasi-identifier"
hierarchy = {{ widths = [10, 40] }}
[columns.zip]
role = "quasi-identifier"
kind = "category"
hierarchy = {{ prefixes = [4, 3, 2] }}
[columns.sex]
role = "quasi-identifier"
hierarchy = {{ nested = {{ any = ["f", "m"] }} }}
[columns.ill]
role = "sensitive"
{more}
{goal}
[method]
{method}
[output]
path = "release{ending}"
"""


def recipe(method, goal="", *, person="", ending=".csv", more=""):
    Path("recipe.toml").write_text(
        RECIPE.format(method=method, goal=goal, person=person, ending=ending, more=more), "utf-8"
    )


def all_releases(table):
    """Every method, and what is said of some of its releases."""
    for name, method in METHODS.items():
        if IN_SHORT and name not in FEW:
            continue
        release = method.anonymize(table, rng=coins())
        published = overt.publish(release)
        frames = published if isinstance(published, tuple) else (published,)
        yield name, "".join(frame.cast(pl.String, strict=False).write_csv() for frame in frames)
        for what in ("goal",) if IN_SHORT else LOOKED_AT.get(name, ()):
            yield f"{name}, {what}", LOOKS[what](release)


def coins():
    return np.random.default_rng(3)


LOOKS = {
    "goal": lambda it: (it.made_by.goal.holds(it.groups), it.made_by.goal.measure(it.groups)),
    "utility": overt.measure_utility,
    "queries": lambda it: query_workload_error(
        it, Workload.draw(it.table, ("age", "zip"), 20, coins(), sensitive=True)
    ),
    "audit": lambda it: overt.audit_release(it, rng=coins(), sweeps=20, seconds=600),
    "downcode": lambda it: overt.downcode(it, rng=coins()),
    "learn": lambda it: overt.learn(it, rng=coins(), n_people=12),
}
LOOKED_AT = {
    **dict.fromkeys(FEW, ("goal",)),
    "mondrian": LOOKS,
    "blind-buckets, strict": ("goal", "utility", "queries"),
    "cross-bucket": ("utility", "learn"),
    "batch-matching": ("goal", "learn"),
    "full-domain": ("goal", "utility", "audit"),
    "entropy": ("goal",),
}


def all_files():
    """Recipes that are run, checked and audited, in one piece and in parts."""
    goal = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
    for name in ("mondrian", "anatomy", "cross-bucket", "full-domain"):
        recipe(
            f'name = "{name}"',
            '[[goal]]\nproperty = "k-anonymity"\nk = 2\n' * (name in ("cross-bucket", "full-domain"))
            + goal * (name != "full-domain"),
        )
        overt.run("recipe.toml", rng=coins(), overwrite=True, report=name == "cross-bucket", audit=False)
        yield f"{name}, checked", overt.check("people.csv", "release.csv").summary(200)
    recipe('name = "blind-buckets"\ncuts = "strict"', goal, ending='"\nformat = "csv')
    overt.run("recipe.toml", engine="out-of-core", audit=False)
    yield "in parts, checked", overt.check("people.csv", "release").ok
    yield "risk", overt.risk("people.csv", known=["age", "zip"], sensitive=["ill"]).summary(200)


def rare(table):
    from rare_loops import all_rare

    return all_rare(table, coins, IS_OFF)


def main():
    warnings.simplefilter("ignore", overt.Caution)
    warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy's numbers, which wrap as those of compiled loops do
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        people().write_csv("people.csv")
        hierarchies = {
            "age": overt.Intervals(widths=(10, 40)),
            "zip": overt.Prefixes(lengths=(4, 3, 2)),
            "sex": overt.Nested({"any": ["f", "m"]}),
        }
        table = overt.read_file("people.csv", hierarchies=hierarchies, kinds={"zip": "category"}, **HOW)
        for name, found in all_releases(table) if IN_SHORT else chain(all_releases(table), all_files(), rare(table)):
            say(name, found if isinstance(found, str) else repr(found))
        os.chdir("/")
    if IS_OFF:
        sys.stdout.write(f"called: {' '.join(sorted(CALLED))}\n")


def say(name, text):
    sys.stdout.write(f"{name}: {hashlib.sha256(text.encode()).hexdigest()[:16]}\n")


if __name__ == "__main__":
    main()
