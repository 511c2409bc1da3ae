# SPDX-License-Identifier: Apache-2.0
"""Cells on a grid beside tight ones: what somebody recovers who knows nobody's quasi-identifiers, and what it costs; Adult and the census.

Numbers are rounded outward to blocks of 5 years (or weeks), and categories are labels of the hierarchies that come with the data; beside it
tight ranges with labels, and tight ranges with sets of values. The adversary is `overt.downcode`, at all three tiers and with its test on
halves; errors are those of `bench.safe`. Clustered data is made as in the proof of A. Cohen, "Attacks on Deidentification's Defenses".
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.measure import Sheet
from bench.safe import CENSUS, CENSUS_COLUMNS, CENSUS_FOLDER, error_of
from overt.adversary.downcoding.findings import Downcoding
from overt.method import Method
from overt.table import Kind, Table

F = overt.FrequencyLDiversity
K = overt.KAnonymity(5)
WIDTHS = overt.Intervals(widths=(5, 10, 20))
NUMBERS = ("age", "weeks-worked")


def methods(cells: str) -> dict[str, Method]:
    """The methods with boxes, with cells on a grid or tight."""
    return {
        "blind-buckets, k = 5, l = 3": overt.BlindBuckets(goal=K & F(3), cells=cells),
        "mondrian, k = 5": overt.Mondrian(goal=K, cells=cells),
        "batch-matching, l = 3": overt.BatchMatching(goal=F(3), cells=cells),
        "dealing, l = 3": overt.Dealing(goal=F(3), cells=cells),
        "rda, l = 3": overt.RDA(goal=F(3), cells=cells),
        "ria, l = 3": overt.RIA(goal=F(3), cells=cells),
        "cross-bucket, k = 5, l = 5": overt.CrossBucket(k=5, l=5, cells=cells),
    }


def run(*, quick: bool = False) -> None:
    """Without the data beside the project, clustered data only."""
    sheet = Sheet("Cells: on a grid and tight")
    say_clustered(sheet)
    if adult.is_there():
        say(sheet, "Adult", adult_table(), adult.SEVEN, quick=quick)
    if CENSUS_FOLDER.exists() and not quick:
        say(sheet, "census at work", census_table(), CENSUS_COLUMNS, quick=quick)
    sheet.save()


def adult_table() -> Table:
    """Adult with its hierarchies; ages are numbers, in blocks of 5 years."""
    known = {name: overt.Levels.read(adult.FOLDER / f"adult_hierarchy_{name}.csv") for name in adult.SEVEN}
    return overt.read_frame(
        adult.frame().select(*adult.SEVEN, "occupation"),
        quasi_identifiers=adult.SEVEN,
        sensitive=["occupation"],
        hierarchies={**known, "age": WIDTHS},
    )


def census_table() -> Table:
    """People at work, with the hierarchies of the census."""
    at_work = pl.read_csv(CENSUS, separator=";").filter(pl.col("occupation") != "Not in universe")
    known = {name: overt.Levels.read(CENSUS_FOLDER / f"census-income_hierarchy_{name}.csv") for name in CENSUS_COLUMNS}
    return overt.read_frame(
        at_work.select(*CENSUS_COLUMNS, "occupation"),
        quasi_identifiers=CENSUS_COLUMNS,
        sensitive=["occupation"],
        hierarchies={**known, **dict.fromkeys(NUMBERS, WIDTHS)},
    )


def say(sheet: Sheet, data: str, table: Table, names: list[str], *, quick: bool) -> None:
    """Every method with the three kinds of cells."""
    sets = {column.name: "set" for column in table.quasi_identifiers if column.kind is Kind.CATEGORY}
    for cells, how, show in (("tight", "sets", sets), ("tight", "labels", {}), ("grid", "grid", {})):
        for name, method in methods(cells).items():
            release = method.anonymize(table, rng=np.random.default_rng(1))
            found = overt.downcode(release, k=5, show=show, rng=np.random.default_rng(2))
            what = f"{data}, {name}, {how}"
            told(sheet, what, found)
            sheet.add(f"{what}: penalty of what is shown", penalty_shown(release, show), "")
            read = as_sets(release) if show else release
            sheet.add(f"{what}: query error", error_of(read, table, names), "")


def as_sets(release: overt.Release) -> overt.Release:
    """The same release to a reader of sets: without hierarchies, categories have no labels."""
    columns = tuple(
        replace(column, hierarchy=None) if column.kind is Kind.CATEGORY else column for column in release.table.columns
    )
    return replace(release, table=replace(release.table, columns=columns))


def told(sheet: Sheet, what: str, found: Downcoding) -> None:
    """The headline and what it is made of, at every tier; and how often cells single out one person."""
    cells = max(1, found.n_generalized)
    for tier in found.tiers:
        sheet.add(f"{what}, {tier.name}: rows in classes below k", 100 * tier.n_rows_below / found.n_rows, "%")
        sheet.add(f"{what}, {tier.name}: cells with a finer value certain", 100 * tier.n_finer / cells, "%")
        sheet.add(f"{what}, {tier.name}: cells with the exact value certain", 100 * tier.n_exact / cells, "%")
    if found.halves is not None:
        halves = found.halves
        for name, one in (("a cell", halves.by_cell), ("two cells", halves.by_two), ("a value", halves.by_value)):
            if one is not None:
                note = f"{100 * one.outside:.0f} % in the other half; {one.n_predicates:,} predicates"
                sheet.add(f"{what}: {name} singles out one person", 100 * one.inside, "%", note=note)


def clustered(n_rows: int = 5_000, n_columns: int = 20, odd: float = 0.05) -> Table:
    """Mostly the usual value in every column, now and then one of three others; the usual one and the first stand under one node."""
    rng = np.random.default_rng(5)
    names = [f"q{j}" for j in range(n_columns)]
    chosen = np.where(rng.random((n_rows, n_columns)) < odd, rng.integers(1, 4, (n_rows, n_columns)), 0)
    frame = pl.DataFrame({name: np.array(list("abcd"))[chosen[:, j]] for j, name in enumerate(names)})
    levels = overt.Levels([["a", "a or b", "*"], ["b", "a or b", "*"], ["c", "c or d", "*"], ["d", "c or d", "*"]])
    return overt.read_frame(frame, quasi_identifiers=names, hierarchies=dict.fromkeys(names, levels))


def say_clustered(sheet: Sheet) -> None:
    """Mondrian with the lowest labels on data that is clustered: rows that are certainly the only one with a recovered value."""
    table = clustered()
    for k in (3, 5, 10, 25):
        found = overt.downcode(overt.Mondrian(goal=overt.KAnonymity(k)).anonymize(table), k=k)
        what, alone = f"clustered, mondrian, k = {k}, labels", found.last.alone
        told(sheet, what, found)
        sheet.add(f"{what}: rows certainly alone in their class", 100 * alone.n_in_class / found.n_rows, "%")
        if alone.n_in_table is not None:
            sheet.add(f"{what}: rows certainly alone in the table", 100 * alone.n_in_table / found.n_rows, "%")


def penalty_shown(release: overt.Release, show: Mapping[str, str]) -> float:
    """The certainty penalty of the cells as they are printed: of a label, the values below it."""
    from overt.adversary.downcoding.published import Published

    published = Published.of(release, show)
    total = 0.0
    for column in published.columns:
        n_values = column.column.n_values
        hull = column.hull
        if column.column.kind is Kind.CATEGORY:
            width = (column.width - 1) / max(1, n_values - 1)
        else:
            at = column.column.values.drop_nulls().to_physical().cast(float).to_numpy()
            width = (at[hull[1]] - at[hull[0]]) / (at[-1] - at[0])
        total += float(width @ published.n_rows) / release.table.n_rows
    return total / len(published.columns)
