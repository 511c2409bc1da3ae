# SPDX-License-Identifier: Apache-2.0
"""A run with a method that leaks says so, and names the safe one only where that reaches the goal."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt
from overt.algorithms.blind_buckets import method_that_reaches
from overt.engine.alternative import find_alternative
from overt.errors import Unreachable
from tables import tables

RNG = np.random.default_rng
L2 = overt.FrequencyLDiversity(2)
HOSPITAL = overt.read_frame(
    overt.samples.hospital(),
    identifiers=["Name"],
    quasi_identifiers=["Birth date", "Postcode", "Sex"],
    sensitive=["Disease"],
)


def test_what_leaks_names_the_method_that_reaches_the_same_goal():
    mondrian = overt.Mondrian(goal=L2 & overt.KAnonymity(2))
    said = find_alternative(mondrian.anonymize(HOSPITAL), mondrian.goal)
    assert said.startswith(
        "someone who replays mondrian can learn more than its release shows. blind-buckets reaches the same goal"
    )
    matching = overt.BatchMatching(goal=L2)
    said = find_alternative(matching.anonymize(HOSPITAL, rng=RNG(0)), matching.goal)
    assert said.startswith(
        "someone who knows how values depend on quasi-identifiers learns more by replaying batch-matching."
    )


@pytest.mark.parametrize(
    "method", [overt.BlindBuckets(goal=L2), overt.Anatomy(goal=L2), overt.Mondrian(goal=overt.KAnonymity(2))]
)
def test_of_what_does_not_leak_nothing_is_said(method):
    release = method.anonymize(HOSPITAL, rng=RNG(0)) if method.name != "mondrian" else method.anonymize(HOSPITAL)
    assert find_alternative(release, method.goal) == ""


def test_where_rows_had_to_be_left_out_the_other_method_is_not_promised():
    """Nine of ten have the same value: only a release that leaves most of them out reaches 2-diversity."""
    frame = pl.DataFrame({"Age": [30] * 18 + [40, 40], "HIV": ["no"] * 18 + ["no", "yes"]})
    table = overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["HIV"])
    method = overt.FullDomain(goal=L2, max_suppressed=0.95)
    release = method.anonymize(table)
    assert release.n_suppressed
    assert "blind-buckets cannot reach this goal with all rows of this table" in find_alternative(release, method.goal)


@settings(max_examples=60, deadline=None)
@given(table=tables(min_rows=2, max_rows=30), l=st.integers(1, 4), seed=st.integers(0, 3))
def test_the_named_method_does_reach_the_goal_whatever_the_coins(table, l, seed):
    method = method_that_reaches(overt.FrequencyLDiversity(l), table)
    if method is None:
        with pytest.raises(Unreachable):
            overt.BlindBuckets(goal=overt.FrequencyLDiversity(l)).anonymize(table, rng=RNG(seed))
    else:
        assert method.goal.holds(method.anonymize(table, rng=RNG(seed)).groups)
