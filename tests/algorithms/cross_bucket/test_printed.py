# SPDX-License-Identifier: Apache-2.0
"""Algorithms 1 to 5 as printed: what they do, where they fail, and how replaying them breaks them."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import cross_bucket as oracle
from overt.algorithms.cross_bucket import CrossBucket
from overt.algorithms.cross_bucket.division import bucket_positions, group_sizes, largest_share
from overt.algorithms.cross_bucket.printed import calculate_alpha, printed_plan
from overt.errors import TooLarge, Unreachable
from tables import table_of

counts_of_values = st.lists(st.integers(1, 9), min_size=1, max_size=9).map(lambda counts: sorted(counts, reverse=True))


def lists(partition):
    return [rows.tolist() for rows in np.split(partition.rows, partition.starts[1:-1])]


def anonymize(people, values, k, l, rng):
    table = table_of([list(column) for column in zip(*people, strict=True)], list(values))
    release = CrossBucket(k, l, mode="paper").anonymize(table, rng=rng)
    return oracle.seen(lists(release.partition), lists(release.buckets), values)


@given(counts=counts_of_values, beta=st.integers(1, 9), m=st.integers(1, 6))
def test_alpha_is_the_largest_that_leaves_an_eligible_rest(counts, beta, m):
    if m <= beta <= len(counts):
        assert calculate_alpha(counts, beta, m) == oracle.largest_alpha(counts, beta, m)


@given(counts=counts_of_values, k=st.integers(1, 3), l=st.integers(2, 4))
def test_the_plan_uses_every_row_once(counts, k, l):
    left = Counter(dict(enumerate(counts)))
    for batch in printed_plan(counts, k, l):
        left.subtract(dict.fromkeys(batch.values, batch.alpha))
    assert set(left.values()) == {0}


@given(k=st.integers(1, 12), beta=st.integers(1, 80), l=st.integers(1, 40))
def test_division_keeps_one_in_l_where_the_repaired_proof_says_so(k, beta, l):
    sizes = group_sizes(beta, k)
    if beta < k:
        assert sizes is None
        assert largest_share(beta, k) is None
        return
    assert sum(sizes) == beta
    assert min(sizes) >= k
    assert sorted(p for bucket in bucket_positions(beta, k) for p in bucket) == list(range(beta))
    if (beta % k == 0 and beta >= l) or beta > 2 * l:
        assert largest_share(beta, k) <= Fraction(1, l)


@pytest.mark.parametrize(("values", "k", "l"), [("aabcd", 2, 2), ("aabbc", 2, 2), ("abcabc", 2, 3), ("abcdef", 3, 3)])
def test_what_can_come_out_is_what_the_slow_replay_finds(values, k, l):
    """1500 runs of the kernel meet nothing else, and all of what has a chance of 1 in 20 or more."""
    people = [(i * i % 7, i) for i in range(len(values))]
    codes = [ord(value) - ord("a") for value in values]
    plan = [(batch.values, batch.alpha) for batch in printed_plan(np.bincount(codes), k, l)]
    law = Counter()
    for (groups, buckets), weight in oracle.Coins.all(
        lambda coins: oracle.printed_release(people, codes, plan, k, coins, row="random", deal="random")
    ):
        law[oracle.seen(groups, buckets, codes)] += weight
    rng = np.random.default_rng(3)
    met = Counter(anonymize(people, codes, k, l, rng) for _ in range(1500))
    assert set(met) <= set(law)
    assert {shown for shown, weight in law.items() if weight >= Fraction(1, 20)} <= set(met)


def posterior(people, values, k, l, **variant):
    codes = [ord(value) - ord("a") for value in values]
    plan = [(batch.values, batch.alpha) for batch in printed_plan(np.bincount(codes), k, l)]

    def outcomes(arrangement):
        for (groups, buckets), weight in oracle.Coins.all(
            lambda coins: oracle.printed_release(people, arrangement, plan, k, coins, **variant)
        ):
            yield oracle.seen(groups, buckets, arrangement), weight

    return oracle.worst_posterior(codes, outcomes)


@pytest.mark.parametrize(
    ("values", "k", "l", "variant", "reached"),
    [
        ("abc", 2, 3, {"row": "random", "deal": "sorted"}, Fraction(1)),
        ("aabbc", 2, 2, {"row": "first", "deal": "random"}, Fraction(1)),
        ("aabcd", 2, 2, {"row": "random", "deal": "random"}, Fraction(2, 3)),
    ],
    ids=["dealing in sorted order", "nearest rows are picked", "random tie-breaks do not help"],
)
def test_replaying_the_printed_algorithm_breaks_it(values, k, l, variant, reached):
    """The attacks of the worked cases, exactly: all arrangements, all coins."""
    people = [(i,) for i in range(1, len(values) + 1)]
    assert posterior(people, values, k, l, **variant) == reached > Fraction(1, l)


@pytest.mark.slow
def test_replaying_breaks_a_larger_table_too():
    people = [(i,) for i in range(1, 10)]
    codes = [0, 0, 1, 1, 2, 2, 3, 3, 4]
    plan = [(batch.values, batch.alpha) for batch in printed_plan(np.bincount(codes), 2, 4)]
    suspect = ((1, 3, 5, 7, 9), (2, 4, 6, 8))
    seen = Counter()
    for arrangement in set(permutations(codes)):
        _, buckets = oracle.printed_release(people, arrangement, plan, 2, oracle.Coins([]), row="first", deal="sorted")
        sets = [sorted(r + 1 for bucket in buckets[i : i + 2] for r in bucket) for i in range(0, len(buckets), 2)]
        if tuple(map(tuple, sets)) == suspect:
            seen[arrangement[8]] += 1
    assert set(seen) == {4}  # person 9 has e for certain


def test_the_mode_itself_is_broken_by_replaying_it():
    """Sampled: with groups {1, 4} and {2, 3, 5} person 1 has a with 2/3 > 1/2. 60 runs of each of 60 arrangements."""
    people, codes = [(1,), (2,), (3,), (4,), (5,)], [0, 0, 1, 2, 3]
    rng = np.random.default_rng(5)
    of = Counter()
    for arrangement in sorted(set(permutations(codes))):
        for _ in range(60):
            shown = anonymize(people, arrangement, 2, 2, rng)
            if {group for boxes, _ in shown for group in boxes} == {(0, 3), (1, 2, 4)}:
                of[arrangement[0]] += 1
    share = of[0] / of.total()
    assert of.total() > 100
    assert share > 1 / 2 + 3 * (1 / 4 / of.total()) ** 0.5


@pytest.mark.parametrize(
    ("counts", "k", "l", "words"),
    [
        ([2, 2, 1, 1, 1, 1], 2, 4, "reaches l = 2"),  # the paper's own table
        ([2, 1, 1], 2, 2, "a set of 1 rows, too few for a group of k = 2"),
        ([2, 1, 1], 1, 2, "reaches l = 1"),
        ([1, 1, 1, 1, 1], 2, 5, "reaches l = 4"),
        ([1] * 7, 3, 7, "reaches l = 6"),
        ([3, 1, 1], 2, 2, "too few for a group"),
    ],
)
def test_a_release_that_fails_is_never_given_out(counts, k, l, words):
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    table = table_of([list(range(len(values)))], values)
    with pytest.raises(Unreachable, match=words):
        CrossBucket(k, l, mode="paper").anonymize(table, rng=np.random.default_rng(1))


def test_a_constant_column_does_not_send_it_round_for_ever():
    table = table_of([[0] * 8, [0, 1, 2, 3, 4, 5, 6, 7]], [0, 1, 2, 3] * 2)
    release = CrossBucket(2, 2, mode="paper").anonymize(table, rng=np.random.default_rng(1))
    assert release.partition.sizes.tolist() == [2, 2, 2, 2]


def test_large_tables_are_refused_with_the_reason():
    table = table_of([np.zeros(100_001, np.int32)], np.arange(100_001) % 5)
    with pytest.raises(TooLarge, match="the square of the rows"):
        CrossBucket(2, 2, mode="paper").anonymize(table, rng=np.random.default_rng(1))
