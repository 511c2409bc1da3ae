# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.adversary.posterior import shares
from overt.adversary.replay.enumeration import enumerate_posterior
from overt.algorithms.anatomy import Anatomy
from overt.errors import InvalidInput, Unreachable
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity
from tables import table_of


def anatomize(values, l, seed=0):
    table = table_of([list(range(len(values)))], values)
    return Anatomy(goal=FrequencyLDiversity(l)).anonymize(table, rng=np.random.default_rng(seed)).partition


def buckets_of(partition, values):
    return [Counter(np.asarray(values)[rows].tolist()) for rows in np.split(partition.rows, partition.starts[1:-1])]


values_and_l = st.tuples(st.lists(st.integers(0, 8), min_size=2, max_size=60), st.integers(2, 5))


@given(case=values_and_l, seed=st.integers(0, 1000))
def test_buckets_of_an_eligible_table_have_l_or_a_few_more_different_values(case, seed):
    values, l = case
    if max(Counter(values).values()) * l > len(values):
        with pytest.raises(Unreachable):
            anatomize(values, l, seed)
        return
    buckets = buckets_of(anatomize(values, l, seed), values)
    assert len(buckets) == len(values) // l  # Property 3 of the paper: residue only tops buckets up
    for bucket in buckets:
        assert max(bucket.values()) == 1
        assert len(bucket) >= l
    assert sum(len(bucket) - l for bucket in buckets) == len(values) % l


def test_rows_of_a_value_are_drawn_at_random():
    """Row 0 or row 1 joins row 2: each in half of the runs; 2,000 runs, five standard errors of a half."""
    joined = sum(
        partition.group_of_row[0] == partition.group_of_row[2]
        for partition in (anatomize([0, 0, 1, 2], 2, seed) for seed in range(2000))
    )
    assert abs(joined - 1000) < 5 * np.sqrt(2000 / 4)


def test_the_residue_goes_to_every_bucket_that_can_take_it():
    """Five different values, l = 2: the row left over may join either bucket, whichever row it is."""
    together = {
        frozenset(rows.tolist())
        for seed in range(200)
        for rows in np.split(anatomize(list(range(5)), 2, seed).rows, anatomize(list(range(5)), 2, seed).starts[1:-1])
    }
    assert {len(rows) for rows in together} == {2, 3}
    assert len(together) == 10 + 10  # every pair and every triple of five rows was seen


def test_table_that_is_not_eligible_is_refused_by_count_and_limit():
    with pytest.raises(
        Unreachable, match="one value of 's0' fills 3 of 5 rows, and l = 2 allows 2. Use l of at most 1"
    ):
        anatomize([0, 0, 0, 1, 2], 2)


def test_only_l_diversity_with_a_whole_l_is_reached():
    for goal in (KAnonymity(2), FrequencyLDiversity("3/2")):
        with pytest.raises(InvalidInput, match="it reaches l-diversity with a whole l only"):
            Anatomy(goal=goal)


def test_exactly_one_sensitive_column_is_needed():
    table = table_of([[0, 1]], [[0, 1], [1, 0]])
    with pytest.raises(InvalidInput, match="Anatomy needs exactly one sensitive column and the table has 2"):
        Anatomy(goal=DistinctLDiversity(2)).anonymize(table, rng=np.random.default_rng(0))


@pytest.mark.parametrize("l", [2, 3])
@pytest.mark.parametrize("values", [[0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 1, 1, 2], [0, 0, 1, 2, 3]])
def test_someone_who_replays_it_believes_the_share_of_the_bucket(values, l):
    method = Anatomy(goal=FrequencyLDiversity(l))
    table = table_of([list(range(len(values)))], values)
    try:
        release = method.anonymize(table, rng=np.random.default_rng(1))
    except Unreachable:
        return
    believed, share = enumerate_posterior(release, method), shares(release.partition, table.sensitive[0])
    for row in range(len(values)):
        assert believed.of_row(row) == pytest.approx(share.of_row(row))
