# SPDX-License-Identifier: Apache-2.0
"""Lacks against the definition: the fewest places of a part that must take other values until the part breaks the goal."""

import itertools

import numpy as np
import pytest

from overt.adversary.replay.goal_rules import GoalRules
from overt.adversary.replay.joint_values import JointValues
from overt.kernels.places_missing import CAP, COUNTS, lack_after, lack_of, tally_parts
from overt.partition import Groups
from overt.privacy import (
    AllOf,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
)
from overt.table import Kind, Role
from tables import column_of

N_VALUES = 4
GOALS = [
    FrequencyLDiversity(2),
    FrequencyLDiversity("5/2"),
    AlphaKAnonymity("1/2", 3),
    DistinctLDiversity(2),
    DistinctLDiversity(3),
    DistinctLDiversity(4),
    EntropyLDiversity(2),
    EntropyLDiversity("7/2"),
    RecursiveCLDiversity(2, 2),
    RecursiveCLDiversity("1/2", 2),
    RecursiveCLDiversity(1, 3),
    RecursiveCLDiversity(3, 4),
    AllOf((KAnonymity(3), FrequencyLDiversity("3/2"))),
    AllOf((DistinctLDiversity(3), FrequencyLDiversity("3/2"))),
    AllOf((EntropyLDiversity(2), RecursiveCLDiversity(2, 3))),
]


def all_counts(n):
    return [counts for counts in itertools.product(range(n + 1), repeat=N_VALUES) if sum(counts) == n]


def breaks(goal, every):
    """(counts) -> whether a group with them breaks the goal, asked of the property itself."""
    values = np.concatenate([np.repeat(np.arange(N_VALUES, dtype=np.int32), counts) for counts in every])
    column = column_of("s", Role.SENSITIVE, Kind.CATEGORY, values, N_VALUES)
    starts = np.append(0, np.cumsum([sum(counts) for counts in every])).astype(np.int64)
    return goal.breaks(Groups.of_ranges((column,), np.arange(values.size, dtype=np.int32), starts))


def tally_of(goal, counts):
    values = np.repeat(np.arange(N_VALUES, dtype=np.int32), counts)
    column = column_of("s", Role.SENSITIVE, Kind.CATEGORY, values, N_VALUES)
    cap, rules = GoalRules(goal, JointValues.of([column])).of(np.array([values.size]))
    tally = np.zeros((1, COUNTS + N_VALUES), np.int32)
    tally[:, CAP] = cap
    tally_parts(values, np.array([0, values.size]), tally)
    return tally, rules


@pytest.mark.parametrize("goal", GOALS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_a_lack_is_how_many_places_are_missing(goal, n):
    every = all_counts(n)
    broken = np.array(every)[breaks(goal, every)]
    for counts in every:
        missing = min((int(np.maximum(0, np.array(counts) - other).sum()) for other in broken), default=1 << 30)
        tally, rules = tally_of(goal, counts)
        assert lack_of(tally, 0, rules) == missing or (missing > n and lack_of(tally, 0, rules) > n)
        for x, y in itertools.permutations(range(N_VALUES), 2):
            if counts[x]:
                after = list(counts)
                after[x] -= 1
                after[y] += 1
                assert lack_after(tally, 0, x, y, rules) == lack_of(tally_of(goal, after)[0], 0, rules)
