# SPDX-License-Identifier: Apache-2.0
"""Differentially private releases: the time of a cube at 400 thousand and 6 million records, of the coins, and of the calculators."""

from fractions import Fraction

import numpy as np
import polars as pl

from bench.measure import Sheet, best_of, yardstick
from overt.algorithms.dp.accounting import exact_delta, least_k, least_tau, li_bound
from overt.algorithms.dp.cube import DpCube
from overt.algorithms.dp.parameter_proposal import propose
from overt.hierarchy import Nested
from overt.io.dp_release import dp_table
from overt.randomness import SystemCoins, TwoSidedGeometric, toss
from overt.table import Column, Kind, Role, Table

COLUMNS = ("a", "b", "c", "d")
GROUPS, MEMBERS = 8, 8  # two levels and the root above 64 values
TREE = {f"g{g}": [f"v{g * MEMBERS + m:02d}" for m in range(MEMBERS)] for g in range(GROUPS)}
CALCULATORS = {
    "exact delta, k = 20": lambda: exact_delta(20, "0.2", "0.5"),
    "exact delta, k = 3,000": lambda: exact_delta(3000, "0.994", "5.2"),
    "bound of Li et al., k = 3,000": lambda: li_bound(3000, "0.994", "5.2"),
    "least k, epsilon 1, s 0.3": lambda: least_k(1, "1e-6", "0.3"),
    "least k, about 2,000": lambda: least_k(5, "1e-6", "0.993"),
    "least tau, 81 vectors": lambda: least_tau("0.5", "5e-7", 81),
}


def skewed(n, seed=0):
    """Four columns of 64 values, the first of them far more frequent than the last."""
    rng = np.random.default_rng(seed)
    values = pl.Series([f"v{v:02d}" for v in range(GROUPS * MEMBERS)])
    columns = []
    for name in COLUMNS:
        codes = np.minimum(rng.pareto(0.9, n) * 3, GROUPS * MEMBERS - 1).astype(np.int32)
        columns.append(Column(name, Role.QUASI_IDENTIFIER, Kind.CATEGORY, codes, values))
    return Table(tuple(columns), pl.DataFrame())


def run(quick=False):
    sheet = Sheet("dp: differentially private releases")
    method = DpCube(epsilon=1, delta="1e-6", s="0.2", hierarchies=dict.fromkeys(COLUMNS, Nested(TREE)), support=None)
    assert len(method.vectors) == 7
    small = skewed(400_000)
    seconds = sheet.time(
        "a cube of 400,000 records, 4 columns, 7 vectors of levels", 400_000, work_of(method, small), bar=60
    )
    release = method.anonymize(small)
    sheet.add("share of sampled rows that survive", release.partition.sizes.sum() / (0.2 * 400_000), "")
    sheet.add("their mean depth, of 8", mean_depth(method, release), "")
    if not quick:
        large = skewed(6_000_000)
        took = sheet.time("the same of 6,000,000 records", 6_000_000, work_of(method, large), bar=60, repeats=1)
        sheet.add("time of 15 times the records, over 15 times the time", took / (15 * seconds), "x", bar=1.5)
    coins, noise = SystemCoins(), TwoSidedGeometric(method.noise.epsilon)
    sheet.add("a million kept or dropped", 1e3 * best_of(3, lambda: toss(1_000_000, Fraction(1, 5), coins)), "ms")
    sheet.add("a million draws of exact noise", 1e3 * best_of(3, lambda: noise.draw(1_000_000, coins)), "ms")
    for name, work in CALCULATORS.items():
        sheet.add(name, 1e3 * best_of(5, work), "ms", bar=100)
    sheet.add("a proposal", 1e3 * best_of(3, lambda: propose(1, "1e-6", 400_000, [2, 2, 2, 2])), "ms")
    sheet.add("Y of 400,000", 1e3 * yardstick(400_000), "ms")
    sheet.save()


def work_of(method, table):
    """A release with secret coins, up to the published table."""
    return lambda: dp_table(method.anonymize(table))


def mean_depth(method, release):
    """The mean over published rows of the sum of their labels' depths."""
    sizes, total = release.partition.sizes, 0.0
    for name, labels in release.labels_of_group.items():
        tree = method.trees[name]
        depths = {label: depth(tree, label) for label in set(labels)}
        total += sum(depths[label] * size for label, size in zip(labels, sizes.tolist(), strict=True))
    return total / max(1, sizes.sum())


def depth(tree, label):
    """Steps from the root to a label."""
    if label == tree.root:
        return 0
    chain = tree.chain_below(label)
    return len(dict.fromkeys(chain[chain.index(label) :])) - 1
