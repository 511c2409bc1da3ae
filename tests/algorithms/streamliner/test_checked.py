# SPDX-License-Identifier: Apache-2.0
"""The independent check passes on what is published of every release of every eligible random table."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.algorithms.streamliner import RDA, RIA, BatchMatching, Dealing
from overt.checks import Claim, check_release
from overt.io.frames import read_frame
from overt.io.publication import published_tables
from overt.privacy import FrequencyLDiversity, KAnonymity


@st.composite
def eligible_frames(draw):
    """A frame that is l-eligible, its l, and a k."""
    l = draw(st.integers(2, 4))
    counts = draw(st.lists(st.integers(1, 6), min_size=l, max_size=8).filter(lambda c: l * max(c) <= sum(c)))
    values = draw(st.permutations([f"disease {v}" for v, count in enumerate(counts) for _ in range(count)]))
    ages = draw(st.lists(st.integers(20, 60), min_size=len(values), max_size=len(values)))
    towns = draw(st.lists(st.sampled_from(["Ayr", "Bath", "Cork"]), min_size=len(values), max_size=len(values)))
    return pl.DataFrame({"age": ages, "town": towns, "disease": values}), l, draw(st.sampled_from([1, 6]))


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
@pytest.mark.parametrize("kind", [RDA, Dealing, RIA, BatchMatching])
@settings(max_examples=20)
@given(case=eligible_frames(), seed=st.integers(0, 10_000))
def test_every_release_passes_the_check(kind, form, case, seed):
    frame, l, k = case
    table = read_frame(frame, quasi_identifiers=["age", "town"], sensitive=["disease"])
    goal = FrequencyLDiversity(l) & KAnonymity(min(k, frame.height))
    release = replace(kind(goal=goal), form=form).anonymize(table, rng=np.random.default_rng(seed))
    tables = {name: shown.cast(pl.String) for name, shown in published_tables(release).items()}
    shown = {"age": "grid"} if release.shows_on_grid else {}
    verdict = check_release(table, tables, Claim(goal=goal, n_rows=table.n_rows, show=shown))
    assert verdict.ok, [finding.sentence for finding in verdict.findings if not finding.ok]
