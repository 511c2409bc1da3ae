# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from overt.errors import InvalidInput
from overt.privacy import AllOf, DistinctLDiversity, FrequencyLDiversity, KAnonymity, Property, TCloseness
from privacy.groups import groups_of


@dataclass(frozen=True)
class AtMost(Property):
    """No group has more than k rows: a property that a merger can break."""

    k: int
    name: ClassVar[str] = "at-most"
    parameter: ClassVar[str] = "k"
    best: ClassVar[str] = "smallest"
    monotone: ClassVar[bool] = False

    def breaks(self, groups):
        return groups.sizes > self.k

    def measure(self, groups):
        return int(groups.sizes.max())

    def __str__(self):
        return f"at most {self.k}"


GROUPS = groups_of([[0, 1, 1], [0, 0], [0, 1, 2, 3, 4]])


def test_breaks_where_a_part_does_and_measures_each_part():
    goal = AllOf((KAnonymity(3), FrequencyLDiversity(2)))
    assert goal.breaks(GROUPS).tolist() == [True, True, False]
    assert goal.measure(GROUPS) == (2, 1)
    assert goal.describe_measure(GROUPS) == "k = 2, l = 1"
    assert goal.least_rows == 3
    assert str(goal) == "3-anonymity and 2-diversity (frequency)"


def test_and_combines_and_flattens():
    goal = KAnonymity(3) & TCloseness(0.5) & (DistinctLDiversity(2) & KAnonymity(2))
    assert goal == AllOf((KAnonymity(3), TCloseness(0.5), DistinctLDiversity(2), KAnonymity(2)))
    assert AllOf((goal, KAnonymity(1))).parts == (*goal.parts, KAnonymity(1))
    assert KAnonymity(3).parts == (KAnonymity(3),)


def test_is_monotone_if_all_parts_are():
    assert (KAnonymity(2) & TCloseness(0.1)).monotone
    mixed = KAnonymity(2) & AtMost(5)
    assert not mixed.monotone
    assert mixed.breaks(groups_of([[0] * 3, [0] * 8])).tolist() == [False, True]


def test_caution_goes_away_if_another_part_bounds_belief_of_the_same_column():
    distinct = DistinctLDiversity(3)
    assert (KAnonymity(3) & distinct).caution == distinct.caution != ""
    assert not (FrequencyLDiversity(2) & distinct).caution
    assert not (FrequencyLDiversity(2) & DistinctLDiversity(3, column="s")).caution
    assert (FrequencyLDiversity(2, column="other") & distinct).caution
    assert not KAnonymity(3).caution


def test_refuses_nothing_and_what_is_no_property():
    for properties in [(), ("k-anonymity",)]:
        with pytest.raises(InvalidInput, match=r"^AllOf needs one or more properties"):
            AllOf(properties)


def test_holds_of_no_groups_and_cannot_measure_them():
    none = groups_of([], unused=[0, 1])
    goal = KAnonymity(3) & FrequencyLDiversity(2)
    assert goal.holds(none)
    assert goal.breaks(none).dtype == np.bool_
    with pytest.raises(InvalidInput, match=r"^There are no groups to measure"):
        goal.measure(none)


def test_measures_are_exact():
    assert (FrequencyLDiversity(2) & TCloseness(1)).measure(groups_of([[0, 0, 1], [0, 1, 1]])) == (
        Fraction(3, 2),
        Fraction(1, 6),
    )
