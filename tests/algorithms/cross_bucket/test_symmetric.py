# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles import cross_bucket as oracle
from overt.algorithms.batches import plan_batches
from overt.algorithms.cross_bucket import CrossBucket
from overt.algorithms.cross_bucket.symmetric import cut_into_blocks
from overt.errors import InvalidInput, Unreachable
from tables import table_of, tables

SEEDS = st.integers(0, 2**32)


def lists(partition):
    return [rows.tolist() for rows in np.split(partition.rows, partition.starts[1:-1])]


def anonymize(people, values, k, l, seed=0, **options):
    table = table_of([list(column) for column in zip(*people, strict=True)], values)
    release = CrossBucket(k, l, **options).anonymize(table, rng=np.random.default_rng(seed))
    return lists(release.partition), lists(release.buckets)


@given(table=tables(max_rows=40, max_value=7), k=st.integers(1, 5), l=st.integers(2, 5), seed=SEEDS, data=st.data())
def test_every_eligible_table_gets_groups_of_k_and_values_with_equal_chances(table, k, l, seed, data):
    blocks = data.draw(st.sampled_from(["random", "near", "apart"]))
    values = table.sensitive[0].codes.tolist()
    m = max(k, l)
    method = CrossBucket(k, l, blocks=blocks)
    if len(values) < m or m * max(Counter(values).values()) > len(values):
        with pytest.raises(Unreachable, match=r"cannot be reached"):
            method.anonymize(table, rng=np.random.default_rng(seed))
        return
    release = method.anonymize(table, rng=np.random.default_rng(seed))
    groups, buckets = lists(release.partition), lists(release.buckets)
    for partition in (groups, buckets):
        assert sorted(row for part in partition for row in part) == list(range(table.n_rows))
    for group in groups:
        assert len(group) >= k
        believed = oracle.breach(group, buckets, values)
        assert len(believed) >= m
        assert set(believed.values()) == {Fraction(1, len(believed))}  # every value of the set equally likely


def test_figure_1b_gets_the_shape_of_figure_4():
    people = [(16, 0, 43307), (22, 1, 43302), (24, 0, 43306), (26, 1, 43307), (29, 1, 43309), (31, 0, 43312), (34, 0, 43312), (35, 1, 43309)]  # fmt: skip
    groups, buckets = anonymize(people, [0, 1, 2, 3, 3, 4, 5, 1], 2, 4)
    assert sorted(map(len, groups)) == [2, 2, 2, 2]
    assert sorted(map(len, buckets)) == [2, 2, 2, 2]
    assert all(len(set(group) & set(bucket)) <= 1 for group in groups for bucket in buckets)


class Script:
    """Stands in for a generator: permutations come from a script, so that all of them can be tried."""

    def __init__(self, orders):
        self.orders = list(orders)

    def permutation(self, n):
        order = np.array(self.orders.pop(0))
        assert order.size == n
        return order


def scripts(values, k, l):
    """Every coin that the default mode tosses on a table with these counts, each as likely as any other."""
    plan = plan_batches(np.bincount(values), max(k, l), k=k)
    return product(permutations(range(plan.value.size)), permutations(range(len(values))))


@pytest.mark.parametrize(
    ("people", "values", "k", "l"),
    [
        ([(1,), (2,), (3,)], [0, 1, 2], 2, 3),
        ([(1,), (2,), (3,), (4,)], [0, 0, 1, 2], 2, 2),
        ([(1,), (2,), (2,), (4,)], [0, 0, 1, 1], 2, 2),
        pytest.param([(1, 1), (1, 2), (2, 1), (3, 3)], [0, 1, 2, 3], 2, 4, marks=pytest.mark.slow),
        ([(1, 1), (2, 1), (1, 1), (1, 1)], [0, 0, 1, 2], 1, 2),
        pytest.param([(1,), (3,), (4,), (9,)], [0, 1, 2, 3], 3, 2, marks=pytest.mark.slow),
    ],
)
def test_replaying_every_coin_on_every_arrangement_leaves_at_most_one_in_l(people, values, k, l):
    """Exact: all arrangements, all coins."""
    codes = sorted(set(values))

    def outcomes(arrangement):
        table = table_of([list(column) for column in zip(*people, strict=True)], list(arrangement), n_codes=None)
        assert table.sensitive[0].n_values == len(codes)
        seen = Counter()
        for coins in scripts(list(arrangement), k, l):
            release = CrossBucket(k, l).anonymize(table, rng=Script(coins))
            seen[oracle.seen(lists(release.partition), lists(release.buckets), arrangement)] += 1
        return [(shown, Fraction(n, seen.total())) for shown, n in seen.items()]

    assert oracle.worst_posterior(values, outcomes) <= Fraction(1, max(k, l))


@pytest.mark.parametrize("shuffled", [[3, 1, 0, 2], [2, 3, 1, 0]])
def test_what_is_seen_does_not_depend_on_the_order_of_the_rows(shuffled):
    """Exact: over all coins, every outcome has the same probability for the shuffled table."""
    people, values = [(1, 5), (2, 5), (2, 7), (9, 1)], [0, 0, 1, 2]

    def law(order):
        table = table_of([[people[r][a] for r in order] for a in (0, 1)], [values[r] for r in order])
        seen = Counter()
        for coins in scripts([values[r] for r in order], 2, 2):
            release = CrossBucket(2, 2).anonymize(table, rng=Script(coins))
            named = [[[order[row] for row in part] for part in lists(p)] for p in (release.partition, release.buckets)]
            seen[oracle.seen(*named, values)] += 1
        return seen

    assert law([0, 1, 2, 3]) == law(shuffled)


@pytest.mark.parametrize(
    ("values", "k", "l"),
    [("aabb", 2, 2), ("aabbc", 2, 2), ("aabcd", 2, 2), ("aabbcc", 3, 3), ("aabbcc", 2, 3), ("abcdef", 3, 4)],
)
def test_sampled_posteriors_stay_within_one_in_l(values, k, l):
    """2500 random arrangements, seed fixed. Of everything seen 50 times or more, no share above 1/l + 5 standard errors.

    A share whose chance is at most 1/l exceeds that less than once in 10^5, and a few hundred are looked at.
    """
    codes, rng = np.array([ord(value) - ord("a") for value in values]), np.random.default_rng(11)
    quasi_identifiers = [list(range(len(codes))), [i * i % 5 for i in range(len(codes))]]
    seen = {}
    for _ in range(2500):
        arrangement = rng.permutation(codes).tolist()
        release = CrossBucket(k, l).anonymize(table_of(quasi_identifiers, arrangement), rng=rng)
        shown = oracle.seen(lists(release.partition), lists(release.buckets), arrangement)
        seen.setdefault(shown, Counter()).update([None, *enumerate(arrangement)])
    often = [counts for counts in seen.values() if counts[None] >= 50]
    assert often
    for counts in often:
        total = counts.pop(None)
        assert max(counts.values()) / total <= 1 / l + 5 * (1 / l * (1 - 1 / l) / total) ** 0.5


def test_refusals_name_the_count_and_the_limit_but_no_value():
    table = table_of([[1, 2, 3, 4, 5, 6, 7]], [0, 0, 0, 1, 1, 2, 3])
    with pytest.raises(
        Unreachable, match=r"one value of 's0' fills 3 of 7 rows, and max\(k, l\) = 3 allows 2"
    ) as refusal:
        CrossBucket(2, 3).anonymize(table, rng=np.random.default_rng())
    assert "v000" not in str(refusal.value)
    with pytest.raises(Unreachable, match=r"there are 7 rows and max\(k, l\) = 9 are needed"):
        CrossBucket(9, 3).anonymize(table, rng=np.random.default_rng())


def test_strata_are_never_mixed_and_each_must_be_eligible():
    table = table_of([[0, 0, 0, 0, 1, 1, 1, 1], [5, 1, 4, 2, 3, 3, 1, 0]], [0, 1, 2, 3, 0, 1, 2, 3])
    release = CrossBucket(2, 4, strata=("q0",)).anonymize(table, rng=np.random.default_rng(3))
    for partition in (release.partition, release.buckets):
        for rows in lists(partition):
            assert len(set(table.quasi_identifiers[0].codes[rows].tolist())) == 1
    lopsided = table_of([[0, 0, 0, 0, 1, 1, 1, 1]], [0, 0, 2, 3, 0, 1, 2, 3])
    with pytest.raises(Unreachable, match=r"in one stratum of 'q0': one value of 's0' fills 2 of 4 rows"):
        CrossBucket(2, 4, strata=("q0",)).anonymize(lopsided, rng=np.random.default_rng())
    with pytest.raises(InvalidInput, match="must be a quasi-identifier"):
        CrossBucket(2, 2, strata=("s0",)).anonymize(table, rng=np.random.default_rng())


@given(
    counts=st.lists(st.integers(1, 9), min_size=2, max_size=12), k=st.integers(1, 4), l=st.integers(2, 4), seed=SEEDS
)
def test_blocks_hold_neighbours_or_every_kth_value(counts, k, l, seed):
    assume(max(k, l) * max(counts) <= sum(counts))
    plan = plan_batches(counts, max(k, l), k=k)
    for blocks in ("near", "apart"):
        cut = cut_into_blocks(plan, k, blocks, np.random.default_rng(seed))
        for before, after in zip(plan, cut, strict=True):
            assert sorted(before.values) == sorted(after.values)
            assert before.alpha == after.alpha
            size, rest = divmod(len(after.values), k)
            if not rest:
                ranks = [sorted(after.values).index(value) for value in after.values]
                found = {tuple(sorted(ranks[j * size : (j + 1) * size])) for j in range(k)}
                near = {tuple(range(j * size, (j + 1) * size)) for j in range(k)}
                apart = {tuple(range(j, size * k, k)) for j in range(k)}
                assert found == (near if blocks == "near" else apart)
