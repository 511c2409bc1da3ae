# SPDX-License-Identifier: Apache-2.0
"""FullDomain: the best node of Adult's lattice, on Adult itself and on a noised bootstrap of it at up to 1 million rows.

Duplicating rows would test nothing, since everybody would soon be one of many. So rows are drawn with replacement, and then
each cell is replaced with probability 0.2 by a draw from its column: distinct rows keep growing, more slowly than rows.
"""

import resource
from dataclasses import replace

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.measure import Sheet, best_of, threads

SIZES = (100_000, 300_000, 1_000_000)
KIBIBYTES_PER_GIBIBYTE = 1 << 20


def run(*, quick: bool = False) -> None:
    """Adult, and then growing; `quick` leaves out the largest table."""
    sheet = Sheet("Full domain: times as multiples of Y(n), the stable argsort of n random 64-bit keys")
    if not adult.is_there():
        print("Adult is not there (../shared/data/adult); nothing to measure.")
        return
    table = adult.read(quasi_identifiers=adult.EIGHT)
    with threads(1):
        time_on_adult(sheet, table)
        time_growth(sheet, table, SIZES[:-1] if quick else SIZES)
    sheet.save()


def time_on_adult(sheet: Sheet, table: overt.Table) -> None:
    for optimise in ("loss", "discernibility", "average group size", "precision"):
        for share, bar in ((0, 0.02), ("0.05", 0.275)):
            method = overt.FullDomain(goal=overt.KAnonymity(5), max_suppressed=share, optimise=optimise)
            search = method.anonymize(table).search
            seconds = best_of(9, lambda method=method: method.anonymize(table))
            sheet.add(
                f"Adult, k = 5, suppressed at most {share}, {optimise}",
                seconds,
                "s",
                bar=bar if optimise == "loss" else None,
                note=f"{search.n_checked:,} of {search.lattice.n_nodes:,} nodes checked",
            )


def time_growth(sheet: Sheet, table: overt.Table, sizes: tuple[int, ...]) -> None:
    for n in sizes:
        larger = noised_bootstrap(table, n)
        for optimise in ("loss", "discernibility"):
            for share in (0, "0.05"):
                method = overt.FullDomain(goal=overt.KAnonymity(5), max_suppressed=share, optimise=optimise)
                sheet.time(
                    f"{n:,} rows, k = 5, suppressed at most {share}, {optimise}",
                    n,
                    lambda method=method, larger=larger: method.anonymize(larger),
                    bar=26 if n == SIZES[-1] else None,
                    repeats=2,
                )
        release = method.anonymize(larger)
        distinct = overt.Partition.of_columns(larger.quasi_identifiers).n_groups
        sheet.add(f"{n:,} rows: distinct rows", distinct, "", note=f"{release.search.n_checked:,} nodes checked")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIBIBYTES_PER_GIBIBYTE
    sheet.add("peak memory of this process", peak, "GiB", bar=1)


def noised_bootstrap(table: overt.Table, n: int) -> overt.Table:
    """Rows drawn with replacement, every fifth cell or so drawn anew from its column."""
    rng = np.random.default_rng(7)
    rows = rng.integers(0, table.n_rows, n)
    columns = []
    for column in table.columns:
        codes = column.codes[rows]
        is_noise = rng.random(n) < 0.2
        codes[is_noise] = column.codes[rng.integers(0, table.n_rows, int(is_noise.sum()))]
        columns.append(replace(column, codes=codes))
    return replace(table, columns=tuple(columns), others=pl.DataFrame())
