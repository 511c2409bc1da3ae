# SPDX-License-Identifier: Apache-2.0
"""Whether sampled beliefs lie within their stated errors: all 200 random tables of tests/adversary/replay/test_coverage.py."""

import sys
from pathlib import Path

import numpy as np

from bench.measure import Sheet

TESTS = Path(__file__).resolve().parents[1] / "tests"


def run(*, quick: bool = False) -> None:
    """Compare with rejection sampling, which shares no code with the audit; `quick`: a tenth of the tables."""
    sys.path[:0] = [str(TESTS), str(TESTS / "adversary" / "replay")]
    from test_coverage import ALL, judged

    every = [judged(number) for number in range(ALL // 10 if quick else ALL)]
    off = np.concatenate([one for one, _, _ in every])
    n_wrong, n_people = (sum(one[i] for one in every) for i in (1, 2))
    sheet = Sheet("Coverage: beliefs against rejection sampling")
    sheet.add("beliefs beyond two stated errors", float((off > 2).mean()), "", bar=0.06, note=f"of {off.size:,}")
    sheet.add("beliefs beyond three stated errors", float((off > 3).mean()), "", bar=0.005)
    sheet.add("people with a wrong verdict", n_wrong / n_people, "", bar=0.001, note=f"of {n_people:,}")
    sheet.save()
