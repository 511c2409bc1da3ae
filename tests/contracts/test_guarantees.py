# SPDX-License-Identifier: Apache-2.0
"""What every method says of its guarantee, by enumeration: all tables with the same values, all coins, exact fractions.

Strong: a release is equally likely under every table that fits it. Weak: to a flat belief everyone has each value with its
share of the group, and some release is not equally likely. Release only: some belief rises above what the release says.
"""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from contracts.methods import EXAMPLES
from oracles.streamliner import beliefs, fits, law_of, released, share_in_group, tables_like
from overt.algorithms import (
    GDA,
    RDA,
    RIA,
    Anatomy,
    BatchMatching,
    BlindBuckets,
    CrossBucket,
    Dealing,
    FullDomain,
    InOrder,
    Mondrian,
)
from overt.errors import OvertError
from overt.guarantee import Adversary, Beliefs
from overt.privacy import AllOf, DistinctLDiversity, FrequencyLDiversity, KAnonymity, TCloseness
from tables import table_of

LINE = [0, 1, 2, 3, 4, 5, 6]
STREETS = [0, 0, 1, 1, 1]


def grouping(method, line=LINE, order_of=None):
    """The method as a function from values and coins to groups. `order_of` says in which order the rows of a table stand."""

    def group(values, rng):
        order = np.array(order_of(values) if order_of else range(len(values)))
        names = sorted(set(values))
        codes = [names.index(values[row]) for row in order]
        table = table_of([[line[row] for row in order]], codes, n_codes=[max(line) + 1])
        try:
            in_order = method.anonymize(table, rng=rng).partition.group_of_row
        except OvertError:
            return None
        group_of_row = np.empty(len(values), np.int64)
        group_of_row[order] = in_order
        return group_of_row

    return group


def is_equally_likely(law, values):
    """Whether every release has the same probability under all tables that fit it."""
    tables = tables_like(values)
    return all(
        len({chance_of.get(t, 0) for t in tables if fits(t, release)}) == 1 for release, chance_of in law.items()
    )


def excess(law):
    """The most that a flat belief exceeds the share in the group."""
    return max(
        belief - share
        for release, chance_of in law.items()
        for (row, value), belief in beliefs(chance_of).items()
        if (share := share_in_group(row, value, release)) is not None
    )


STRONG_CASES = [
    (Anatomy(goal=DistinctLDiversity(2)), "aabc", LINE),
    (Anatomy(goal=DistinctLDiversity(2)), "abc", LINE),
    (BlindBuckets(goal=FrequencyLDiversity(2), k=2, rows_per_bucket=2, form="generalized"), "aabc", LINE),
    (Dealing(goal=FrequencyLDiversity(2)), "aabbc", LINE),
    (RDA(goal=FrequencyLDiversity(2)), "aabc", LINE),
    (RIA(goal=FrequencyLDiversity(2)), "abc", LINE),
    (Mondrian(goal=KAnonymity(2)), "aaabbc", LINE),
    (Mondrian(goal=AllOf((KAnonymity(2), KAnonymity(3))), choose="gain"), "aaabbbc", LINE),
    (Mondrian(goal=KAnonymity(2)), "aaabb", STREETS),
    (FullDomain(goal=KAnonymity(2)), "aaabb", STREETS),
    (FullDomain(goal=KAnonymity(2), max_suppressed="1/2", optimise="discernibility"), "aaabb", [0, 0, 0, 1, 2]),
]


@pytest.mark.parametrize(("method", "values", "line"), STRONG_CASES, ids=str)
def test_strong_means_that_every_table_that_fits_is_equally_likely(method, values, line):
    assert method.guarantee.beliefs is Beliefs.EVERY and method.guarantee.posterior_is_share
    law = law_of(grouping(method, line), values)
    assert law and is_equally_likely(law, values)


WEAK_CASES = [
    (BatchMatching(goal=FrequencyLDiversity(2), value_sets="most frequent"), "aabb"),
    (BatchMatching(goal=FrequencyLDiversity(2), value_sets="most frequent", matching="rank"), "aabb"),
]


@pytest.mark.parametrize(("method", "values"), WEAK_CASES, ids=str)
def test_weak_means_shares_for_a_flat_belief_and_for_no_other(method, values):
    assert method.guarantee.beliefs is Beliefs.FLAT and method.guarantee.posterior_is_share
    law = law_of(grouping(method), values)
    assert excess(law) == 0 and "as far as the goal allows" not in method.against
    assert not is_equally_likely(law, values)


def test_merged_groups_keep_the_bound_for_a_flat_belief_and_not_the_shares():
    """Seven people, l = 2, k = 3. Dealing looks at nothing but the order of the rows of each value."""
    method, values = Dealing(goal=AllOf((KAnonymity(3), FrequencyLDiversity(2)))), "aabbccd"
    assert method.guarantee.beliefs is Beliefs.FLAT and not method.guarantee.posterior_is_share
    assert replace(method, goal=FrequencyLDiversity(2)).guarantee.beliefs is Beliefs.EVERY

    def shuffles(run):
        table = run.__defaults__[0]
        rows = [[row for row in range(7) if table[row] == value] for value in sorted(set(table))]
        orders = list(product(*(permutations(of_value) for of_value in rows)))
        for order in orders:
            yield run(Shuffled([row for of_value in order for row in of_value])), Fraction(1, len(orders))

    law = law_of(grouping(method, [0, 1, 2, 4, 5, 7, 9]), values, shuffles)
    assert excess(law) > 0 and not is_equally_likely(law, values)
    assert "as far as the goal allows" in method.against
    assert max(belief for chance_of in law.values() for belief in beliefs(chance_of).values()) <= Fraction(1, 2)


class Shuffled:
    """A generator whose one shuffle of all rows comes out in this order."""

    def __init__(self, order):
        self.order = order

    def permutation(self, n_rows):
        assert n_rows == len(self.order)
        return np.array(self.order)


RELEASE_ONLY_CASES = [
    (Mondrian(goal=FrequencyLDiversity(2)), "aabcd", STREETS),
    (Mondrian(goal=AllOf((KAnonymity(2), TCloseness("0.4")))), "aabcd", STREETS),
    (FullDomain(goal=FrequencyLDiversity(2)), "aabcd", STREETS),
    (FullDomain(goal=FrequencyLDiversity(2), max_suppressed="1/2"), "aabcd", STREETS),
    (GDA(goal=FrequencyLDiversity(2), mode="paper"), "aabc", LINE),
    (InOrder(goal=FrequencyLDiversity(2), strategy="naive", levels=2, smallest=2), "aabcd", STREETS),
]


@pytest.mark.parametrize(("method", "values", "line"), RELEASE_ONLY_CASES, ids=str)
def test_release_only_means_that_somebody_who_replays_learns_more(method, values, line):
    assert method.guarantee.adversary is Adversary.READER
    assert excess(law_of(grouping(method, line), values)) > 0


def test_relaxed_cuts_give_away_the_order_of_rows():
    """A file sorted by value, and cuts that part people who are alike by their place in it."""
    method, values, line = Mondrian(goal=KAnonymity(2), relaxed=True), "aabbcc", [0, 0, 0, 1, 1, 1]

    def by_value(values):
        return sorted(range(len(values)), key=lambda row: values[row])

    assert method.guarantee.adversary is Adversary.READER
    assert excess(law_of(grouping(method, line, by_value), values)) > 0
    strict = replace(method, relaxed=False)
    assert is_equally_likely(law_of(grouping(strict, line, by_value), values), values)


def test_levels_in_order_are_weak():
    """The goal holds of everybody to a flat belief. A release is not equally likely under all tables that fit it."""
    method = InOrder(goal=FrequencyLDiversity(2), strategy="safe", levels=3, smallest=2, cut="1/3")
    assert method.guarantee.beliefs is Beliefs.FLAT and not method.guarantee.posterior_is_share
    values = "aabbcc"
    law = law_of(grouping(method), values)
    assert law and not is_equally_likely(law, values)
    assert max(belief for chance_of in law.values() for belief in beliefs(chance_of).values()) <= Fraction(1, 2)


@pytest.mark.parametrize("strategy", ["exclusive", "safe", "k-jump"])
def test_levels_in_order_keep_the_bound_for_a_flat_belief_and_not_the_shares(strategy):
    """Two people live in one street and three in another. To somebody who replays, a value is as likely as the goal allows."""
    method = InOrder(goal=FrequencyLDiversity(2), strategy=strategy, k=1, levels=3, smallest=2)
    law = law_of(grouping(method, STREETS), "aabbc")
    assert excess(law) == Fraction(2, 15)
    assert max(belief for chance_of in law.values() for belief in beliefs(chance_of).values()) == Fraction(1, 2)
    assert "as far as the goal allows" in method.against


def test_cross_buckets_are_weak():
    assert CrossBucket(2, 2).guarantee.beliefs is Beliefs.FLAT
    assert CrossBucket(2, 2, mode="paper").guarantee.adversary is Adversary.READER


def test_suppressed_people_show_no_value():
    assert released([0, 0, -1], "aba") == frozenset({(frozenset({0, 1}), ("a", "b")), (frozenset({2}), None)})


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
def test_only_methods_that_are_tried_here_say_that_replaying_adds_nothing(method):
    """Whoever adds a method that says so adds a case; differential privacy has tests of its own."""
    tried = {type(one) for one, *_ in STRONG_CASES}
    if method.guarantee.beliefs is Beliefs.EVERY and method.guarantee.adversary is not Adversary.ANYONE:
        assert type(method) in tried
    assert method.guarantee.strength in {"strong": "(strong)", "weak": "(weak)", "none": "none"}
    assert method.guarantee.strength == "none" or f"({method.guarantee.strength})" in method.against or method.is_dp


@pytest.mark.parametrize("document", ["README.md", "docs/reference/methods.md", "docs/research/methods-for-study.md"])
def test_the_tables_of_methods_say_what_methods_say_of_themselves(document):
    text = (Path(__file__).parents[2] / document).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    said = {name: line for line in lines for name in re.findall(r"`([\w-]+)`", line.split("|")[1])}
    known = {one.name: set() for one in EXAMPLES if not one.is_dp and one.name in said}
    assert known
    for method in (one for one in EXAMPLES if one.name in known):
        strength = method.guarantee.strength
        assert strength == "none" or f"**{strength}**" in said[method.name], said[method.name]
        known[method.name].add(strength)
    for name, strengths in known.items():
        assert strengths & {"strong", "weak"} or ("**strong**" not in said[name] and "**weak**" not in said[name]), (
            said[name]
        )
