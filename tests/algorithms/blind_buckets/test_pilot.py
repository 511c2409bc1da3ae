# SPDX-License-Identifier: Apache-2.0
"""Strata grown on a pilot: they follow the pilot's values, with a margin, and can be planned on others."""

import numpy as np
import pytest

import overt
from overt.algorithms.blind_buckets import StrataTree, halvings_for
from overt.errors import InvalidInput, Unreachable
from tables import table_of

RNG = np.random.default_rng
GOAL = overt.FrequencyLDiversity(2)


def people(n, rng, *, rare=1 / 5):
    """Two columns: the value goes with the first and not with the second."""
    first, second = rng.integers(0, 20, n), rng.integers(0, 20, n)
    value = np.where(rng.random(n) < 0.5, first // 4, rng.integers(0, 5, n))
    return table_of([first, second], value, n_codes=[20, 20])


def test_cuts_are_where_they_tell_most_about_values():
    tree = overt.grow_strata(people(3000, RNG(0)), overt.FrequencyLDiversity(1.2), rng=RNG(1), most_strata=5)
    asked = []

    def walk(tree):
        if tree.question is not None:
            asked.append(tree.question.column)
            walk(tree.yes)
            walk(tree.no)

    walk(tree)
    assert tree.n_strata == 5
    assert asked == ["q0"] * 4


@pytest.mark.parametrize(
    "goal", [overt.FrequencyLDiversity(2), overt.TCloseness("0.35"), overt.EntropyLDiversity("3.2")], ids=str
)
def test_others_can_be_planned_in_the_strata_of_a_pilot(goal):
    """20 pilots; by the resamples each stratum fails in about one of 100, and what is left of the margin makes that rarer."""
    n_refused, n_strata = 0, 0
    for seed in range(20):
        rng = RNG(seed)
        tree = overt.grow_strata(people(1500, rng), goal, rng=rng)
        n_strata += tree.n_strata
        try:
            overt.BlindBuckets(goal=goal, k=2, stratify=tree).anonymize(people(15_000, rng), rng=rng)
        except overt.Unreachable:
            n_refused += 1
    assert n_strata >= 40
    assert n_refused == 0


def test_no_cut_where_the_goal_would_be_at_its_limit():
    rng = RNG(4)
    at_its_limit = table_of([rng.integers(0, 9, 900)], rng.integers(0, 3, 900))
    assert overt.grow_strata(at_its_limit, overt.FrequencyLDiversity(2.9), rng=rng) == StrataTree()


@pytest.mark.parametrize(
    ("goal", "bears"),
    [
        (overt.FrequencyLDiversity("1.2"), True),
        (overt.TCloseness("0.4"), True),
        (overt.RelativeRisk(2, ("v001",)), True),
        (overt.RelativeRisk(2), False),
        (overt.BasicBetaLikeness("1/2"), False),
        (overt.EnhancedBetaLikeness(1), False),
        (overt.DeltaDisclosure(3), False),
        (overt.FrequencyLDiversity("1.2") & overt.RelativeRisk(2), False),
    ],
    ids=str,
)
def test_nothing_is_halved_that_a_value_of_one_half_alone_would_break(goal, bears):
    """The pilot has two frequent values. Among the others three people have a third one, which a pilot hardly ever meets."""
    rng = RNG(2)
    pilot = table_of([rng.integers(0, 20, 800)], rng.integers(0, 2, 800))
    strata = halvings_for(pilot, goal, rng=rng)
    assert (strata.n > 0) == bears
    value = rng.integers(0, 2, 7200)
    value[:3] = 2
    others = table_of([np.where(value == 2, 0, rng.integers(0, 20, 7200))], value)
    assert overt.BlindBuckets(goal=goal, stratify=strata).anonymize(others, rng=rng).n_groups > 0


def test_k_anonymity_is_asked_of_boxes_and_not_of_strata():
    table = people(900, RNG(3))
    with_k = overt.grow_strata(table, GOAL & overt.KAnonymity(500), rng=RNG(1))
    assert with_k == overt.grow_strata(table, GOAL, rng=RNG(1)) != StrataTree()


def test_every_stratum_has_many_of_the_pilot():
    table = people(1000, RNG(6))
    tree = overt.grow_strata(table, overt.FrequencyLDiversity(1.2), rng=RNG(0), least_rows=100)
    assert tree.n_strata > 2
    assert tree.divide(table).sizes.min() >= 100


def test_one_person_rarely_changes_the_tree():
    """Their value is replaced by another one: 40 people of 1,000, and the tree is as before for nearly all."""
    table = people(1000, RNG(8))
    first, second, value = (column.codes for column in table.columns)
    n_changed = 0
    tree = overt.grow_strata(table, overt.FrequencyLDiversity(2), rng=RNG(0), most_strata=4)
    for person in range(40):
        other = value.copy()
        other[person] = (other[person] + 1) % 5
        changed = overt.grow_strata(
            table_of([first, second], other, n_codes=[20, 20]), overt.FrequencyLDiversity(2), rng=RNG(0), most_strata=4
        )
        n_changed += changed != tree
    assert tree.n_strata > 1
    assert n_changed <= 12


def test_what_cannot_be_a_pilot_is_refused_in_words():
    table = people(100, RNG(0))
    with pytest.raises(InvalidInput, match="The pilot has no sensitive column"):
        overt.grow_strata(overt.Table(table.quasi_identifiers, table.others), GOAL, rng=RNG(0))
    with pytest.raises(InvalidInput, match="least_rows is 1"):
        overt.grow_strata(table, GOAL, rng=RNG(0), least_rows=1)
    with pytest.raises(InvalidInput, match="There is no column 'Age'"):
        overt.grow_strata(table, GOAL, rng=RNG(0), columns=("Age",))
    with pytest.raises(Unreachable, match="The pilot says that there is no release: 50-diversity .* cannot be reached"):
        overt.grow_strata(table, overt.FrequencyLDiversity(50), rng=RNG(0))
