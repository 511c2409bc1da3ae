# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest

from overt.algorithms.cross_bucket import CrossBucket
from overt.errors import InvalidInput, Unreachable
from overt.privacy import AllOf, AlphaKAnonymity, DistinctLDiversity, FrequencyLDiversity, KAnonymity, TCloseness
from tables import table_of

GOAL = AllOf((KAnonymity(2), FrequencyLDiversity(4)))
TABLE = table_of([[1, 2, 3, 4, 5, 6, 7, 8]], [0, 1, 2, 3, 0, 1, 2, 3])


def test_k_and_l_are_short_for_the_goal_of_a_recipe():
    assert CrossBucket(2, 4) == CrossBucket(k=2, l=4) == CrossBucket(goal=GOAL) == replace(CrossBucket(2, 4))
    assert (CrossBucket(goal=GOAL).k, CrossBucket(goal=GOAL).l) == (2, 4)
    assert CrossBucket(goal=DistinctLDiversity(3)).k == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "needs k and l, or a goal"),
        ({"k": 2, "l": 2, "goal": GOAL}, "not k or l beside a goal"),
        ({"k": 2}, "l is None; a whole number"),
        ({"k": 0, "l": 2}, "k is 0; a whole number of at least 1"),
        ({"k": 2, "l": 1}, "l is 1; a whole number of at least 2"),
        ({"goal": KAnonymity(3)}, "a whole l of at least 2"),
        ({"goal": FrequencyLDiversity(2.5)}, "a whole l of at least 2"),
        ({"goal": AllOf((KAnonymity(2), KAnonymity(3), FrequencyLDiversity(2)))}, "was asked for"),
        ({"goal": AllOf((AlphaKAnonymity("1/2", 2), FrequencyLDiversity(2)))}, "one by one"),
        ({"k": 2, "l": 2, "mode": "fast"}, "mode is 'fast'; choose one of 'safe', 'paper'"),
        ({"k": 2, "l": 2, "blocks": "odd"}, "blocks is 'odd'"),
        ({"k": 2, "l": 2, "spread": 0}, "spread is 0"),
        ({"k": 2, "l": 2, "mode": "paper", "strata": ("q0",)}, "not in the paper"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        CrossBucket(**arguments)


def test_other_goals_are_checked_of_what_can_be_believed():
    even = CrossBucket(goal=AllOf((*GOAL.parts, TCloseness(0))))
    release = even.anonymize(TABLE, rng=np.random.default_rng(1))
    assert release.made_by == even
    lopsided = table_of([[1, 2, 3, 4, 5, 6, 7, 8]], [0, 0, 1, 1, 2, 3, 4, 5])
    with pytest.raises(Unreachable, match=r"missed 0-closeness .* and is not given out"):
        even.anonymize(lopsided, rng=np.random.default_rng(1))


def test_only_the_default_mode_resists_who_replays_it():
    assert "(weak)" in CrossBucket(2, 2).against
    assert "not someone who replays" in CrossBucket(2, 2, mode="paper").against
