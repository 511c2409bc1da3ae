# SPDX-License-Identifier: Apache-2.0
"""Releases by every method in every format, for tests that alter them."""

import re

import numpy as np
import polars as pl

import overt
from overt.io.recipe.recipe import read_recipe

PRIVATE = ("dp-cube", "dp-full-domain", "dp-sampling")
PUBLISHED = "i_know_it_is_not_dp = true\nepsilon = 1\ndelta = 0.01\n"
GOALS = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
ANONYMITY = '[[goal]]\nproperty = "k-anonymity"\nk = 3\n'
BLIND = "k = 4\nrows_per_bucket = 8\n"
MADE = {  # name of the release -> (method, its parameters, goals)
    "mondrian": ("mondrian", "", GOALS + ANONYMITY),
    "mondrian-relaxed": ("mondrian", "relaxed = true", ANONYMITY),
    "mondrian-plain": ("mondrian", "", GOALS + ANONYMITY),
    "in-order-plain": ("in-order", 'strategy = "naive"\nsmallest = 8', GOALS),
    "full-domain": ("full-domain", 'max_suppressed = "1/10"', GOALS + ANONYMITY),
    "anatomy": ("anatomy", "", GOALS),
    "batch-matching": ("batch-matching", "", GOALS),
    "batch-matching-buckets": ("batch-matching", 'form = "bucketized"', GOALS),
    "cross-bucket": ("cross-bucket", "", GOALS + ANONYMITY),
    "cross-bucket-flat": ("cross-bucket", "", GOALS + ANONYMITY),
    "dealing": ("dealing", "", GOALS),
    "dealing-buckets": ("dealing", 'form = "bucketized"', GOALS),
    "rda": ("rda", "", GOALS),
    "rda-buckets": ("rda", 'form = "bucketized"', GOALS),
    "ria": ("ria", 'form = "bucketized"', GOALS),
    "gda": ("gda", 'form = "bucketized"\nmode = "paper"', GOALS),
    "in-order": ("in-order", 'strategy = "naive"\nsmallest = 8', GOALS),
    "in-order-levels": ("in-order", 'strategy = "naive"\nfunctions = "hierarchy levels"', GOALS),
    "blind-buckets": ("blind-buckets", BLIND, GOALS),
    "blind-buckets-flat": ("blind-buckets", BLIND, GOALS),
    "blind-buckets-shuffled": ("blind-buckets", BLIND + 'form = "shuffled"', GOALS),
    "blind-buckets-generalized": ("blind-buckets", BLIND + 'form = "generalized"', GOALS),
    "record-threshold": ("record-threshold", 'c = 2\nutility = "depth"', ANONYMITY.replace("3", "1")),
    "record-lagrangian": ("record-lagrangian", "lam = 0.05", ANONYMITY.replace("3", "1")),
    "dp-sampling": ("dp-sampling", "epsilon = 1\ndelta = 1e-2\ns = 0.5\nlevels = [[2, 1, 1]]", ""),
    "dp-cube": ("dp-cube", 'epsilon = 1\ndelta = 1e-2\ns = 0.5\nshare = "1/4"', ""),
    "dp-full-domain": ("dp-full-domain", "epsilon = 1\ndelta = 1e-2\ns = 0.5", ""),
}
FORMATS = (".csv", ".tsv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".arrow")

RECIPE = """\
version = 1

[input]
path = "people.csv"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
hierarchy = { widths = [10, 40] }

[columns.city]
role = "quasi-identifier"
hierarchy = { nested = { north = ["Ash", "Bath, Old"], south = ["Cork", "Deal"] } }

[columns.ill]
%s

%s
[method]
name = "%s"
%s

[output]
path = "release%s"
%s
"""
SENSITIVE = 'role = "sensitive"'
GENERALIZED = 'role = "quasi-identifier"\nhierarchy = { nested = { mild = ["cold", "flu"], hard = ["gout", "hay"] } }'


def write_people(folder, n=400):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "name": [f"Person{i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "city": rng.choice(["Ash", "Bath, Old", "Cork", "Deal"], n),
            "sex": rng.choice(["f", "m", "x"], n, p=[0.45, 0.45, 0.1]),
            "ill": rng.choice(["cold", "flu", "gout", "hay"], n),
            "weight": np.round(rng.normal(70, 9, n), 1),
            "note": rng.choice(["a", "=b", 'c "d"', "e, f"], n),
        }
    )
    frame.write_csv(folder / "people.csv")


def make(folder, made, ending=".csv"):
    """Run a recipe in a folder, and return the path of the release."""
    method, parameters, goals = MADE[made]
    is_dp = method in PRIVATE
    output = "" if is_dp else 'others = ["note"]\n'
    output += "flat = true\n" if made.endswith("-flat") else ""
    text = RECIPE % (GENERALIZED if is_dp else SENSITIVE, goals, method, parameters, ending, output)
    if not is_dp:
        text += '[columns.sex]\nrole = "quasi-identifier"\n'
        text += '[columns.weight]\nrole = "quasi-identifier"\n' if method == "mondrian" else ""
    if made.endswith("-plain"):
        text = re.sub("(?m)^hierarchy = .*\n", "", text)
    write_people(folder)
    if is_dp:
        from overt.io.ledger import ledger_path, set_limit

        set_limit(ledger_path(folder / "people.csv"), 1000, "0.5")
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    rng = None if is_dp else np.random.default_rng(3)
    outcome = overt.run(read_recipe(folder / "recipe.toml"), rng=rng, overwrite=True)
    assert outcome.verdict.ok, outcome.verdict.failures
    return folder / f"release{ending}"
