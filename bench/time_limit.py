# SPDX-License-Identifier: Apache-2.0
"""Time limit: seconds that audits were given, and seconds that they took, for every kind of goal and search."""

import time

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.audit import audit_release
from overt.errors import OvertError
from overt.table import Table

ASKED = (5.0, 20.0)
GOALS = {
    "frequency l = 3": overt.FrequencyLDiversity(3),
    "frequency l = 6": overt.FrequencyLDiversity(6),
    "distinct l = 6": overt.DistinctLDiversity(6),
    "entropy l = 4": overt.EntropyLDiversity(4),
    "recursive (3, 3)": overt.RecursiveCLDiversity(3, 3),
    "k = 5 and t-closeness 0.4": overt.AllOf((overt.KAnonymity(5), overt.TCloseness("0.4"))),
}
CENSUS = ["Age", "Gender", "Education", "Birthplace"]


def run(*, quick: bool = False) -> None:
    """The census, and Adult if it is there; `quick`: 2,000 people and 2 seconds."""
    sheet = Sheet("Time limit: seconds that an audit takes")
    frame = overt.samples.census(2_000 if quick else 30_000)
    census = overt.read_frame(
        frame.select(*CENSUS, "Occupation"),
        quasi_identifiers=CENSUS,
        sensitive=["Occupation"],
        hierarchies={name: one for name, one in overt.samples.census_hierarchies().items() if name in CENSUS},
    )
    measure(sheet, "census", census, (2.0,) if quick else ASKED)
    if adult.is_there() and not quick:
        measure(sheet, "Adult", adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"]), ASKED)
    sheet.save()


def measure(sheet: Sheet, name: str, table: Table, several: tuple[float, ...]) -> None:
    """Every goal by every search, for so many seconds each; one audit of a second comes before, so that loops are compiled."""
    for asks, goal in GOALS.items():
        searches = {
            "Mondrian": overt.Mondrian(goal=goal),
            "full domain": overt.FullDomain(goal=goal),
            "full domain, 5 % suppressed": overt.FullDomain(goal=goal, max_suppressed="1/20"),
        }
        for search, method in searches.items():
            what = f"{name}, {asks}, {search}"
            try:
                release = method.anonymize(table, rng=np.random.default_rng(1))
            except OvertError:
                print(f"{what}: the goal is not reached")
                continue
            audit_release(release, rng=np.random.default_rng(1), seconds=1.0)
            for seconds in several:
                began = time.perf_counter()
                found = audit_release(release, rng=np.random.default_rng(1), seconds=seconds)
                took = time.perf_counter() - began
                note = f"{found.replayed.how}; not known: {found.n_unknown:,} of {found.n_rows:,}"
                sheet.add(f"{what}: seconds of {seconds:g}", took, "s", bar=1.2 * seconds, note=note)
