# SPDX-License-Identifier: Apache-2.0
"""Plans: every bucket satisfies the goal, all rows are used, and what cannot be planned cannot be reached."""

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.algorithms.blind_buckets.deal import Deal, Values, deal_blind
from overt.algorithms.blind_buckets.plan import most_buckets, orders, plan_strata, plan_stratum
from overt.errors import InvalidInput, Unreachable
from overt.partition import Groups, Partition
from overt.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeRisk,
    TCloseness,
)
from tables import table_of

GOALS = [
    KAnonymity(2),
    AlphaKAnonymity("2/3", 2),
    FrequencyLDiversity(2),
    FrequencyLDiversity(2.5),
    DistinctLDiversity(2),
    EntropyLDiversity("1.7"),
    RecursiveCLDiversity(2, 2),
    TCloseness("0.2"),
    TCloseness("0.2", distance="ordered"),
    DeltaDisclosure(1),
    BasicBetaLikeness("1/2"),
    EnhancedBetaLikeness(1),
    RelativeRisk(2, ("0",)),
    FrequencyLDiversity(2, column="s0") & TCloseness("0.3", column="s1"),
]


def values_of(*columns):
    return Values.of(table_of([[0] * len(columns[0])], list(columns)).sensitive)


def everyone(n_rows):
    return Partition(np.zeros(n_rows, np.int32), 1)


COUNTS = st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(lambda counts: sum(counts) > 1)


@pytest.mark.parametrize("goal", GOALS, ids=str)
@settings(max_examples=40, deadline=None)
@given(first=COUNTS, seed=st.integers(0, 99), bucket_size=st.integers(1, 4))
def test_every_bucket_that_is_dealt_satisfies_the_goal(goal, first, seed, bucket_size):
    codes = np.repeat(np.arange(len(first)), first)
    values = values_of(codes, np.random.default_rng(seed).integers(0, 3, codes.size))
    strata = everyone(codes.size)
    try:
        deals = plan_strata(values, values.count(strata), goal, 2, bucket_size)
    except Unreachable:
        whole = Groups.of(table_of([codes], [column.codes for column in values.columns]), strata)
        assert codes.size < max(2, bucket_size) or not goal.holds(whole)  # then no plan could reach it
        return
    buckets = deal_blind(values, strata, deals, np.random.default_rng(seed))
    assert buckets.sizes.min() >= bucket_size
    assert buckets.sizes.max() - buckets.sizes.min() <= 1
    dealt = Groups.of(table_of([codes], [column.codes for column in values.columns]), buckets)
    parts = [part for part in goal.parts if not isinstance(part, KAnonymity | AlphaKAnonymity)]
    assert all(part.holds(dealt) for part in parts)


@given(counts=COUNTS, n_buckets=st.integers(1, 12))
def test_compositions_are_those_of_dealing_one_by_one(counts, n_buckets):
    order = np.flatnonzero(counts).astype(np.int32)
    line = [int(value) for value in order for _ in range(counts[value])]
    n_buckets = min(n_buckets, len(line))
    dealt = {tuple(sorted(Counter(line[b::n_buckets]).items())) for b in range(n_buckets)}
    values = values_of(np.repeat(np.arange(len(counts)), counts))
    found = Deal(order, np.array(counts)[order], n_buckets).compositions(values, 1).histograms["s0"]
    shown = {
        tuple(zip(found.value[begin:end].tolist(), found.count[begin:end].tolist(), strict=True))
        for begin, end in zip(found.first[:-1], found.first[1:], strict=True)
    }
    assert shown == dealt
    assert found.out_of.tolist() == [
        int(found.count[b:e].sum()) for b, e in zip(found.first[:-1], found.first[1:], strict=True)
    ]
    assert len(found.out_of) <= len(order) + 1


def test_a_skewed_column_is_planned_with_buckets_as_small_as_t_allows():
    values = values_of(np.repeat([0, 1], [90, 10]))
    deal = plan_stratum(values, np.array([90, 10]), TCloseness("0.1"), 1, 1)
    sizes = Fraction(100, deal.n_buckets)
    assert 1 < sizes < 12  # one of the rare value in each bucket of up to ten, or none in some of them


def test_the_order_that_gives_the_smallest_buckets_is_taken():
    """Two columns: l-diversity of the first, t-closeness of the second, on skewed counts."""
    rng = np.random.default_rng(5)
    first, second = rng.geometric(0.2, 3000) % 14, (rng.random(3000) < 0.25).astype(int)
    values = values_of(first, second)
    goal = FrequencyLDiversity(3, column="s0") & TCloseness("0.1", column="s1")
    counts = values.count(everyone(3000))[0]
    by_frequency, *others = (
        most_buckets(values, order, counts[order], goal, 1, 0, 1000).n_buckets for order in orders(values, counts)
    )
    found = plan_stratum(values, counts, goal, 1, 3).n_buckets
    assert found > by_frequency
    assert found >= 0.95 * max(others)  # the search ends near the most


def test_a_refusal_says_which_count_is_in_the_way_and_what_could_be_reached():
    values = values_of([0, 0, 0, 0, 1, 2])
    with pytest.raises(
        Unreachable, match=r"one value of 's0' fills 4 of 6 rows; 3 are allowed\. Ask for less: l = 1\.5 can be reached"
    ):
        plan_strata(values, values.count(everyone(6)), FrequencyLDiversity(2), 1, 1)
    strata = Partition(np.array([0, 0, 1, 1, 1, 1], np.int32), 2)
    with pytest.raises(
        Unreachable,
        match=r"l = 1 can be reached with these\. Without strata l = 1\.5 could be reached, but who knows that others were tried",
    ):
        plan_strata(values, values.count(strata), FrequencyLDiversity("1.4"), 1, 1)
    with pytest.raises(Unreachable, match="1 of 2 strata have too few rows, the smallest 2"):
        plan_strata(values, values.count(strata), DistinctLDiversity(1), 3, 1)
    with pytest.raises(Unreachable, match="The table has 6 rows: boxes of 1 and buckets of 12 rows are asked for"):
        plan_strata(values, values.count(everyone(6)), DistinctLDiversity(1), 1, 12)
    with pytest.raises(InvalidInput, match="There is no column 'x'"):
        plan_strata(values, values.count(everyone(6)), FrequencyLDiversity(2, column="x"), 1, 1)


REFUSED = [
    (FrequencyLDiversity(2, bounds={"v001": "1/5"}), [4, 4, 2], "fills 4 of 10 rows; 2 are allowed. Its own bound would have to be at least 0.4."),
    (FrequencyLDiversity(2, bounds={"v001": "1/5"}), [6, 3, 1], "Its own bound would have to be at least 0.3. Ask for less: l = 1.666 for the values without a bound of their own can be reached."),
    (FrequencyLDiversity(2, bounds={"v000": "1/10", "v001": "1/5", "v002": 1}), [1, 3, 5], "The bounds that 2 values have of their own would have to be at least 0.1112 and 0.3334."),
    (DistinctLDiversity(4), [4, 4, 2], "'s0' has 3 different values among 10 rows. Ask for less: l = 3 can be reached."),
    (RecursiveCLDiversity(1, 4), [4, 4, 2], "fills 4 of 10 rows. No c is enough. Ask for a smaller l."),
    (EntropyLDiversity(3) & FrequencyLDiversity(5), [6, 3, 1], "l = 1.666 can be reached."),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "counts", "words"), REFUSED, ids=str)
def test_the_count_is_one_that_this_property_minds(goal, counts, words):
    values = values_of(np.repeat(np.arange(len(counts)), counts))
    with pytest.raises(Unreachable) as refused:
        plan_strata(values, values.count(everyone(sum(counts))), goal, 1, 1)
    assert str(refused.value).endswith(words)
    assert all(f"{part} cannot be reached" in str(refused.value) for part in goal.parts)


def test_a_property_that_compares_with_the_table_tells_both_counts():
    """A stratum of one person: three of nine have the value in the whole table, and who is alone has it for certain."""
    values = values_of([0, 0, 0, 1, 1, 1, 1, 1, 1])
    strata = Partition(np.array([0, 1, 1, 1, 1, 1, 1, 1, 1], np.int32), 2)
    for goal in (TCloseness("1/2"), BasicBetaLikeness("1/2"), RelativeRisk(2), DeltaDisclosure("1/2")):
        with pytest.raises(Unreachable, match="in 1 of 2 strata.* rows and [36] of 9 in the whole table"):
            plan_strata(values, values.count(strata), goal, 1, 1)


STRICTER = {  # a parameter, and how to ask for a little more than it
    FrequencyLDiversity: lambda x: FrequencyLDiversity(x),
    EntropyLDiversity: lambda x: EntropyLDiversity(x),
    TCloseness: lambda x: TCloseness(x),
    BasicBetaLikeness: lambda x: BasicBetaLikeness(x),
    EnhancedBetaLikeness: lambda x: EnhancedBetaLikeness(x),
    RelativeRisk: lambda x: RelativeRisk(x),
    DeltaDisclosure: lambda x: DeltaDisclosure(x),
}
HARD = {TCloseness: "1/1000", RelativeRisk: "1001/1000", FrequencyLDiversity: 9, EntropyLDiversity: 9}


@pytest.mark.parametrize("made", STRICTER, ids=lambda made: made.__name__)
@settings(max_examples=15, deadline=None)
@given(counts=COUNTS, seed=st.integers(0, 99))
def test_what_a_refusal_says_can_be_reached_is_the_best_that_can(made, counts, seed):
    """Asked for with the parameter that it names the plan succeeds; asked for a thousandth more it is refused again."""
    codes = np.repeat(np.arange(len(counts)), counts)
    values = values_of(codes)
    between = np.random.default_rng(seed).integers(0, 2, codes.size - 2)
    strata = Partition(np.concatenate([[0], between, [1]]).astype(np.int32), 2)

    def refused(parameter):
        try:
            plan_strata(values, values.count(strata), STRICTER[made](parameter), 1, 1)
        except Unreachable as error:
            return str(error)
        return ""

    words = refused(HARD.get(made, "1/1000"))
    found = re.search(r"\w+ (=|>) ([\d.]+) can be reached with these", words)
    if not found:
        assert not words or "With these no" in words
        return
    best, beyond = Fraction(found[2]), Fraction(found[1] == ">", 10**6)
    direction = 1 if made in (FrequencyLDiversity, EntropyLDiversity) else -1
    assert refused(best * (1 + beyond) + beyond) == ""
    stricter = best * (1 + direction * Fraction(1, 500))
    if stricter > 0:
        assert refused(stricter)


def test_no_message_holds_a_value():
    values = values_of([0, 0, 0, 0, 1, 2])
    with pytest.raises(Unreachable) as refused:
        plan_strata(values, values.count(everyone(6)), FrequencyLDiversity(2), 1, 1)
    assert "v00" not in str(refused.value)
