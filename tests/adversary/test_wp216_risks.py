# SPDX-License-Identifier: Apache-2.0
"""Singling out, linkability and inference against their definitions: every way to hand out the lines of a release."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.adversary.audit import audit_release
from overt.adversary.replay.enumeration import groups_seen
from overt.algorithms import Anatomy, Mondrian
from overt.errors import Unreachable
from overt.privacy import DistinctLDiversity, FrequencyLDiversity
from tables import table_of

FIVE = table_of([[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3])


def audited(release):
    return audit_release(release, rng=np.random.default_rng(1))


def chances_by_hand(method, quasi_identifiers, values):
    """(person, line) -> the chance that the line is theirs: lines of a group are handed out in every way that fits."""
    release, n = method.anonymize(table_of(quasi_identifiers, values)), len(values)
    seen = groups_seen(release)
    groups = [np.flatnonzero(release.partition.group_of_row == group) for group in range(release.n_groups)]
    count, total = np.zeros((n, n)), 0
    for orders in product(*(permutations(group.tolist()) for group in groups)):
        line_of_row = np.empty(n, np.int64)
        line_of_row[np.concatenate(groups)] = np.concatenate(orders)
        try:
            other = method.anonymize(table_of(quasi_identifiers, [values[line] for line in line_of_row]))
        except Unreachable:
            continue
        if groups_seen(other) == seen:
            count[np.arange(n), line_of_row] += 1
            total += 1
    return count / total


def test_five_people():
    out, linked, inferred = audited(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE)).risks
    assert (out.name, out.alone, out.replayed) == ("singling out", pytest.approx(1 / 5), pytest.approx(1 / 2))
    assert "certain for 0 and 0 people" in out.measure  # two neighbours, two lines: not whose
    assert (linked.alone, linked.replayed) == (pytest.approx(1 / 5), pytest.approx(2 / 5))
    assert (inferred.alone, inferred.replayed) == (pytest.approx(2 / 5), pytest.approx(3 / 5))
    assert "40 % without the release" in inferred.measure


def test_five_people_by_frequency():
    # at l = 2 the cut also fails if two of the three in the second street are alike
    method, streets, values = Mondrian(goal=FrequencyLDiversity(2)), [[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3]
    found, chance = audited(method.anonymize(table_of(streets, values))), chances_by_hand(method, streets, values)
    assert found.risks[0].replayed == pytest.approx(chance.max())
    assert found.risks[1].replayed == pytest.approx(chance.max(axis=1).mean())


@settings(max_examples=25)
@given(st.lists(st.integers(0, 2), min_size=5, max_size=5), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_the_definitions_hold_on_every_way_to_hand_out_lines(places, values):
    values = np.unique(values, return_inverse=True)[1].tolist()
    places = np.unique(places, return_inverse=True)[1].tolist()
    method = Mondrian(goal=DistinctLDiversity(2))
    try:
        release = method.anonymize(table_of([places], values))
    except Unreachable:
        return
    found, chance = audited(release), chances_by_hand(method, [places], values)
    out, linked, inferred = found.risks
    assert out.replayed == pytest.approx(chance.max())
    assert linked.replayed == pytest.approx(chance.max(axis=1).mean())
    of_value = np.stack([chance[:, np.equal(values, value)].sum(axis=1) for value in range(max(values) + 1)], axis=1)
    assert inferred.replayed == pytest.approx(of_value.max(axis=1).mean())
    assert found.blind_guess == pytest.approx(np.bincount(values).max() / 5)


def test_buckets_publish_who_is_there():
    release = Anatomy(goal=DistinctLDiversity(2)).anonymize(
        table_of([[0, 1, 1, 2]], [0, 0, 1, 1]), rng=np.random.default_rng(0)
    )
    out, linked, _ = audited(release).risks
    assert (out.alone, out.replayed) == (1, 1) and "certain for 2 and 2 people" in out.measure
    assert (linked.alone, linked.replayed) == (0.75, 0.75)


def test_nothing_is_said_of_a_person():
    found = audited(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE))
    document = found.to_dict()["opinion_05_2014"]
    assert [risk["name"] for risk in document] == ["singling out", "linkability", "inference"]
    assert all("WP216" in risk["source"] and "v000" not in str(risk) for risk in document)
