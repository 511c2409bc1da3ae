# SPDX-License-Identifier: Apache-2.0
"""Levels in order as a method: it releases what its strategy releases, and says why when that is nothing."""

import numpy as np
import pytest

from overt.algorithms.sequence import DistinctL, EntropyL, Inference, MaxRatio, RecursiveCL
from overt.algorithms.sequence.in_order import InOrder, as_set_property
from overt.errors import InvalidInput, NothingReleased, Unreachable
from overt.privacy import (
    AllOf,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    TCloseness,
)
from tables import table_of

# Table 1 of the exclusive paper as ages; cut in groups of two, four and more rows
AGES = [21, 27, 31, 36, 43, 49, 52, 58, 63, 67]


def people(values):
    return table_of([AGES], values, n_codes=[100])


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (FrequencyLDiversity(3), MaxRatio("1/3")),
        (DistinctLDiversity(2), DistinctL(2)),
        (EntropyLDiversity(2.5), EntropyL("5/2")),
        (RecursiveCLDiversity(2, 3), RecursiveCL(2, 3)),
    ],
)
def test_goals_become_properties_of_sets(goal, expected):
    assert as_set_property(goal) == expected


def test_the_first_level_that_the_strategy_lets_pass_is_released():
    table = people([0, 1, 2, 1, 3, 3, 4, 5, 4, 6])
    for strategy in ("naive", "exclusive", "safe", "k-jump"):
        method = InOrder(goal=FrequencyLDiversity(2), strategy=strategy, levels=9, smallest=2, cut="1/3")
        sequence = method.sequence(table)
        outcome = Inference(sequence, method.rule, 7).run(table.sensitive[0].codes)
        try:
            release = method.anonymize(table, rng=np.random.default_rng(0))
        except NothingReleased:
            assert outcome.released is None
        else:
            assert release.partition is not None and release.made_by == method
            expected = sequence.functions[outcome.released - 1].partition.group_of_row
            assert release.partition.group_of_row.tolist() == expected.tolist()
            assert method.goal.holds(release.groups)


def test_nothing_released_is_explained():
    table = people([0] * 9 + [1])
    method = InOrder(goal=FrequencyLDiversity(2), levels=2, smallest=2)
    with pytest.raises(
        NothingReleased, match="Nothing can be released by the exclusive strategy with every ratio"
    ) as told:
        method.anonymize(table, rng=np.random.default_rng(0))
    assert "does not hold of the permutation set" in str(told.value)
    assert isinstance(told.value, Unreachable)


def test_k_anonymity_chooses_the_levels():
    table = people([0, 1] * 5)
    method = InOrder(goal=AllOf((KAnonymity(4), DistinctLDiversity(2))), levels=9, smallest=2)
    assert all(function.partition.sizes.min() >= 4 for function in method.sequence(table).functions)
    with pytest.raises(NothingReleased, match="none of 1 levels is 11-anonymous"):
        InOrder(goal=AllOf((KAnonymity(11), DistinctLDiversity(2)))).anonymize(table, rng=np.random.default_rng(0))


def test_only_l_diversity_is_taken():
    with pytest.raises(InvalidInput, match="they reach l-diversity of any form"):
        InOrder(goal=TCloseness("0.2"))
    with pytest.raises(InvalidInput, match="with k-anonymity or without"):
        InOrder(goal=KAnonymity(3))
    with pytest.raises(InvalidInput, match="no strategy 'best'"):
        InOrder(goal=DistinctLDiversity(2), strategy="best")


def test_who_is_protected_from_is_said():
    assert "not someone who replays" in InOrder(goal=DistinctLDiversity(2), strategy="naive").against
    assert "(weak)" in InOrder(goal=DistinctLDiversity(2)).against
    assert "confidence 0.999" in InOrder(goal=DistinctLDiversity(2)).against  # of the engines that sample


def test_levels_are_compared_with_the_naive_strategy():
    table = people([0, 1, 2, 1, 3, 3, 4, 5, 4, 6])
    method = InOrder(goal=FrequencyLDiversity(2), strategy="safe", levels=9, smallest=2, cut="1/3")
    levels = method.compare(table, rng=np.random.default_rng(0))
    rows = levels.rows()
    assert rows[0][:4] == ("level", "groups", "highest ratio", "knowing the method")
    assert len(rows) == 1 + len(levels.outcome.visits)
    assert all("exact" in row[4] for row in rows[1:])
    distance = levels.distance()
    assert distance is None or distance >= 0
