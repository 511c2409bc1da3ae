# SPDX-License-Identifier: Apache-2.0
"""The workbench: all metrics together, and a report beyond its metrics."""

import tempfile
from pathlib import Path

import overt
from bench.foundation import QUASI_IDENTIFIERS
from bench.measure import Sheet, best_of
from overt.metrics.equal_rows import rows_alike
from overt.metrics.risk import risk_of_release, risk_of_table
from overt.metrics.uniques import find_uniques
from overt.metrics.utility import measure_utility
from overt.release import GeneralizedRelease, Release
from overt.report import owner_report
from overt.report.html import page_of
from overt.report.json import json_of


def run(*, quick: bool = False) -> None:
    """Everything; `quick` leaves out the largest table."""
    sheet = Sheet("Workbench: what it cost and what remains, as multiples of Y(n)")
    for n, bar in (
        [(600_000, None)] if quick else [(600_000, None), (6_000_000, 5)]
    ):  # small tables pay for the regression
        table = overt.read_frame(
            overt.samples.wide_census(n), quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["Occupation"]
        )
        release = overt.Mondrian(goal=overt.KAnonymity(10)).anonymize(table)
        measure_all(fresh(release))  # compiled
        sheet.time(f"utility, n = {n:,}", n, lambda release=release: measure_utility(fresh(release)), repeats=2)
        sheet.time(f"risk before, n = {n:,}", n, lambda table=table: risk_of_table(table), repeats=2)
        sheet.time(f"unique sets of up to 3 columns, n = {n:,}", n, lambda table=table: find_uniques(table), repeats=2)
        sheet.time(
            f"all metrics, n = {n:,}", n, lambda release=release: measure_all(fresh(release)), bar=bar, repeats=2
        )
        time_report(sheet, release, n)
    sheet.save()


def fresh(release: Release) -> Release:
    """The same release with nothing computed yet."""
    return GeneralizedRelease(
        release.table, overt.Partition(release.partition.group_of_row, release.n_groups), release.made_by
    )


def measure_all(release: Release) -> tuple[object, ...]:
    alike = rows_alike(release.table)
    before, uniques = risk_of_table(release.table, alike=alike), find_uniques(release.table, alike=alike)
    return measure_utility(release), risk_of_release(release), before, uniques


def time_report(sheet: Sheet, release: Release, n: int) -> None:
    """A report whose metrics are known already: distributions, plots, page and document, written to a file."""
    goal = overt.KAnonymity(10)
    utility, after, before, uniques = measure_all(release)
    known = {
        "measure_utility": lambda _: utility,
        "risk_of_release": lambda _: after,
        "risk_of_table": lambda _, **__: before,
        "find_uniques": lambda _, **__: uniques,
        "rows_alike": lambda _: None,
    }
    originals = {name: getattr(owner_report, name) for name in known}
    with tempfile.TemporaryDirectory() as folder:

        def write() -> None:
            report = owner_report.make_report(release, goal=goal)
            Path(folder, "report.html").write_text(page_of(report), encoding="utf-8")
            Path(folder, "report.json").write_text(json_of(report), encoding="utf-8")

        try:
            for name, stand_in in known.items():
                setattr(owner_report, name, stand_in)
            seconds = best_of(2, write)
        finally:
            for name, original in originals.items():
                setattr(owner_report, name, original)
        size = Path(folder, "report.html").stat().st_size
    sheet.add(f"a report beyond its metrics, n = {n:,}", seconds, "s", bar=2, note=f"{size / 1000:.0f} kB of HTML")
