# SPDX-License-Identifier: Apache-2.0
"""Buckets in which people look alike: what counting still rules out, and what only a witness decides."""

import numpy as np
import pytest

from overt.checks.bucket_truth import Members, count_contradictions, rows_are_members
from overt.partition import Partition


def members_of(rows, people, values):
    """From rows (person, value), people (person, bucket) and values (value, bucket), all small numbers."""
    rows, people, values = (np.array(pairs, np.int32).T.copy() for pairs in (rows, people, values))
    return Members(rows[0], people[0], 9, rows[1], values[0], 9, people[1], values[1], 4)


ALIKE = [(0, 0), (0, 1), (1, 2), (1, 3)]  # two people like 0, with values 0 and 1, and two like 1
PEOPLE = [(0, 0), (1, 0), (0, 1), (1, 1)]  # one of each in both buckets


@pytest.mark.parametrize(
    ("values", "n_wrong"),
    [
        ([(0, 0), (2, 0), (1, 1), (3, 1)], 0),
        ([(0, 0), (3, 0), (1, 1), (2, 1)], 0),
        ([(0, 0), (1, 0), (2, 1), (3, 1)], 2),  # nobody like 1 has a value of the first bucket
        ([(0, 0), (2, 0), (1, 1), (1, 1)], 1),  # a value too often
    ],
)
def test_counts_rule_out_what_cannot_be(values, n_wrong):
    found = count_contradictions(members_of(ALIKE, PEOPLE, values))
    assert (found.n_wrong, found.n_certain, found.n_open) == (n_wrong, 0, 4)


def test_rows_that_can_be_in_one_bucket_only_are_followed():
    rows = [(0, 0), (1, 1), (2, 0), (2, 0)]  # people like 2 are in both buckets and have one value
    people = [(0, 0), (2, 0), (1, 1), (2, 1)]
    found = count_contradictions(members_of(rows, people, [(0, 0), (0, 0), (0, 1), (1, 1)]))
    assert (found.n_wrong, found.n_certain, found.n_open) == (0, 4, 0)
    found = count_contradictions(members_of(rows, people, [(0, 0), (1, 0), (0, 1), (0, 1)]))
    assert found.n_wrong == 2


def test_a_witness_is_followed_and_a_wrong_one_is_not():
    rows = [*ALIKE]
    members = members_of(rows, PEOPLE, [(0, 0), (2, 0), (1, 1), (3, 1)])
    members = Members(**{**vars(members), "n_buckets": 2})
    assert rows_are_members(members, Partition.from_groups([[1, 3], [0, 2]]))
    assert not rows_are_members(members, Partition.from_groups([[0, 3], [1, 2]]))
    assert not rows_are_members(members, Partition.from_groups([[0, 1, 2, 3]]))
