# SPDX-License-Identifier: Apache-2.0
"""Whether sampled beliefs lie within their stated errors: all 200 random tables of tests/adversary/replay/test_coverage.py."""

import sys
from pathlib import Path

from bench.measure import Sheet

TESTS = Path(__file__).resolve().parents[1] / "tests"


def run(*, quick: bool = False) -> None:
    """Compare with rejection sampling, which shares no code with the audit; `quick`: a tenth of the tables."""
    sys.path[:0] = [str(TESTS), str(TESTS / "adversary" / "replay")]
    from test_coverage import ALL, FEWEST_BELIEFS, MOST_UNCOMPARED, MOST_UNKNOWN, Judged, judged

    n_tables = ALL // 10 if quick else ALL
    every = Judged.all_of([judged(number) for number in range(n_tables)])
    off, (unknown, uncompared) = every.off, every.shares
    sheet = Sheet("Coverage: beliefs against rejection sampling")
    sheet.add("beliefs beyond two stated errors", float((off > 2).mean()), "", bar=0.06, note=f"of {off.size:,}")
    sheet.add("beliefs beyond three stated errors", float((off > 3).mean()), "", bar=0.005)
    sheet.add(
        "people with a wrong verdict", every.n_wrong / every.n_people, "", bar=0.001, note=f"of {every.n_people:,}"
    )
    sheet.add("people of whom the audit says that nothing is known", unknown, "", bar=MOST_UNKNOWN)
    sheet.add("people of whom rejection kept too few tables to compare with", uncompared, "", bar=MOST_UNCOMPARED)
    sheet.add("tables for each belief that was compared", n_tables / off.size, "", bar=1 / FEWEST_BELIEFS)
    sheet.save()
