# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.errors import InvalidInput
from overt.partition import Groups, Partition
from overt.privacy import KAnonymity
from privacy.groups import groups_of, worlds
from tables import table_of


@given(worlds(), st.integers(1, 12))
def test_agrees_with_the_definition(world, k):
    expected = [not oracle.is_k_anonymous(group, k) for group in world.counters]
    assert KAnonymity(k).breaks(world.groups).tolist() == expected
    assert KAnonymity(k).measure(world.groups) == min(map(len, world.lists))


def test_rows_with_a_missing_quasi_identifier_are_counted():
    # pycanon 1.3.5 leaves them out and reports k = 5 for this table; "missing" is the code 2.
    codes = [0] * 5 + [1] * 5 + [2]
    table = table_of([codes], [0] * 11)
    groups = Groups.of(table, Partition(table.columns[0].codes.copy(), 3))
    assert KAnonymity(5).breaks(groups).tolist() == [False, False, True]
    assert KAnonymity(5).measure(groups) == 1


def test_needs_no_sensitive_column():
    table = table_of([[0, 0, 1]], [])
    assert KAnonymity(2).measure(Groups.of(table, Partition.from_groups([[0, 1], [2]]))) == 1


def test_k_beyond_64_bits_breaks_everything():
    assert KAnonymity(10**30).breaks(groups_of([[0], [0, 1]])).all()


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, None])
def test_refuses_what_is_not_a_whole_number(k):
    with pytest.raises(InvalidInput, match=r"^k is .*; a whole number of at least 1 is expected\.$"):
        KAnonymity(k)


def test_str():
    assert str(KAnonymity(5)) == "5-anonymity"
