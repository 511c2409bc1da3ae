# SPDX-License-Identifier: Apache-2.0
"""Measures of groups: those of fragments, put together, are those of all groups in one place, whatever the goal."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import overt
from overt.engine.scale.group_measures import GroupMeasures, MeasureGroups
from overt.partition import Groups, Partition
from overt.privacy import PROPERTIES

GOALS = {
    "k-anonymity": overt.KAnonymity(9),
    "alpha-k-anonymity": overt.AlphaKAnonymity("0.2", 7),
    "l-diversity": overt.FrequencyLDiversity(4),
    "distinct-l-diversity": overt.DistinctLDiversity(8),
    "entropy-l-diversity": overt.EntropyLDiversity(6),
    "recursive-c-l-diversity": overt.RecursiveCLDiversity("0.6", 4),
    "t-closeness": overt.TCloseness("0.6", "hierarchical"),
    "delta-disclosure": overt.DeltaDisclosure(2),
    "basic-beta-likeness": overt.BasicBetaLikeness(12),
    "enhanced-beta-likeness": overt.EnhancedBetaLikeness(6),
    "relative-risk": overt.RelativeRisk(9),
}
GOALS["all of"] = GOALS["k-anonymity"] & GOALS["t-closeness"] & GOALS["l-diversity"]
N_GROUPS = 40


@pytest.fixture(scope="module")
def table():
    names = ["Occupation", "Income"]
    hierarchies = {name: builder for name, builder in overt.samples.census_hierarchies().items() if name in names}
    frame = overt.samples.census(500, seed=2)
    return overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=names, hierarchies=hierarchies)


@pytest.mark.parametrize("name", [*PROPERTIES, "all of"])
@pytest.mark.parametrize("n_fragments", [2, 7])
def test_goals_are_judged_in_fragments_as_in_one_place(name, n_fragments, table):
    goal = GOALS[name]
    group = (N_GROUPS * np.random.default_rng(1).random(table.n_rows) ** 2).astype(np.int32)  # of 4 to 78 rows
    columns = tuple(replace(c, codes=np.empty(0, np.int32), totals=c.total_of_value) for c in table.sensitive)
    rows = pl.DataFrame({"g": group, **{f"s{i}": column.codes for i, column in enumerate(table.sensitive)}})
    measure = MeasureGroups(("g",), columns, goal)
    parts = [measure(f, rows.filter(pl.col("g") % n_fragments == f)) for f in range(n_fragments)]
    names = [column.name for column in columns]
    found = GroupMeasures.of(pl.concat(parts), names, goal)
    whole = GroupMeasures.of(measure(0, rows), names, goal)
    groups = Groups.of(table, Partition(group, N_GROUPS))
    assert found.n_broken == int(goal.breaks(groups).sum())
    assert found.n_broken > 0
    assert found.n_broken < N_GROUPS or name == "delta-disclosure"  # which no group with a value missing keeps
    assert [one.described for one in found.goals] == [part.describe(part.measure(groups)) for part in goal.parts]
    assert [one.n_broken for one in found.goals] == [int(part.breaks(groups).sum()) for part in goal.parts]
    assert (found.learnt, found.rare, found.goals, found.n_rows) == (whole.learnt, whole.rare, whole.goals, 500)
    assert found.squares == int((groups.sizes**2).sum())
