# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from oracles.adversary import possible_tables, posterior
from overt.adversary.knowledge import RELEASE_ONLY, Knowledge
from overt.adversary.replay.enumeration import count_tables, enumerate_posterior, groups_seen, runs
from overt.adversary.replay.scripted_coins import ScriptedCoins
from overt.algorithms import RDA, RIA, Anatomy, FullDomain, Mondrian
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity, KAnonymity
from overt.release import BucketRelease
from tables import table_of, tables

# Two people in one street, three in the other; values 0 HIV, 1 flu, 2 cold, 3 asthma.
FIVE = table_of([[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3])


def test_five_people_are_enough_to_know_two_of_them_for_certain():
    method = Mondrian(goal=DistinctLDiversity(2))
    release = method.anonymize(FIVE)
    assert release.n_groups == 1
    found = enumerate_posterior(release, method)
    assert (found.how, found.n_tables) == ("enumeration", 6)
    assert found.of_row(0).tolist() == found.of_row(1).tolist() == [1, 0, 0, 0]
    assert np.allclose(found.of_row(2), [0, 1 / 3, 1 / 3, 1 / 3])
    naive = enumerate_posterior(release, method, knowledge=RELEASE_ONLY)
    assert naive.n_tables == 60 and np.allclose(naive.chance, [0.4, 0.2, 0.2, 0.2])


def test_entropy_escapes_on_these_five_and_k_anonymity_says_nothing():
    # 24 of 60 tables and 1/4, as other tools gave for entropy 2-diversity
    method = Mondrian(goal=EntropyLDiversity(2))
    found = enumerate_posterior(method.anonymize(FIVE), method)
    assert found.n_tables == 24 and found.of_row(0)[0] == 0.25
    method = Mondrian(goal=KAnonymity(3))
    assert enumerate_posterior(method.anonymize(FIVE), method).n_tables == 60


@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    table=tables(min_rows=3, max_rows=5),
    l=st.integers(2, 3),
    form=st.sampled_from([FrequencyLDiversity, DistinctLDiversity]),
)
def test_enumeration_agrees_with_the_definition(table, l, form):
    method, column = Mondrian(goal=form(l)), table.sensitive[0]

    def publish(values):
        other = table_of([c.codes for c in table.quasi_identifiers], list(values), n_codes=[5] * 3)
        try:
            release = method.anonymize(other)
        except Unreachable:
            return None
        groups = np.split(release.partition.rows, release.partition.starts[1:-1])
        return {(tuple(rows), tuple(sorted(values[row] for row in rows))) for rows in groups}

    try:
        release = method.anonymize(table)
    except Unreachable:
        assume(False)
    found = enumerate_posterior(release, method)
    possible = possible_tables(column.codes.tolist(), publish)
    assert found.n_tables == len(possible)
    expected = posterior(possible, column.n_values)
    assert np.array_equal(found.chance, [[float(chance) for chance in row] for row in expected])


def test_facts_narrow_what_is_possible():
    method = Mondrian(goal=DistinctLDiversity(2))
    release = method.anonymize(FIVE)
    known = enumerate_posterior(release, method, knowledge=Knowledge(known=(2,)))
    assert known.n_tables == 2 and known.of_row(3).tolist() == [0, 0, 0.5, 0.5]
    excluded = enumerate_posterior(release, method, knowledge=Knowledge(excluded=((2, 2),)))
    assert excluded.n_tables == 4 and excluded.of_row(2).tolist() == [0, 0.5, 0, 0.5]
    blind = enumerate_posterior(release, method, knowledge=Knowledge(replays=False, known=(0,)))
    assert blind.of_row(1).tolist() == [0.25] * 4


@pytest.mark.parametrize("method", [RDA(goal=FrequencyLDiversity(2))])
def test_a_method_that_treats_people_alike_gives_shares(method):
    table = table_of([[0, 1, 2, 3]], [0, 0, 1, 2])
    for chance, release in runs(method, table):
        assert chance > 0
        found = enumerate_posterior(release, method)
        share = enumerate_posterior(release, method, knowledge=RELEASE_ONLY)
        assert np.allclose(found.chance, share.chance)


class Tosses:
    """Groups people in pairs: by a coin, unless the first two have the same value."""

    def anonymize(self, table, *, rng):
        values = table.sensitive[0].codes
        apart = values[0] == values[1] or rng.integers(0, 3) == 0
        return BucketRelease(table, Partition.from_groups([[0, 2], [1, 3]] if apart else [[0, 1], [2, 3]]), self)


def test_tables_count_with_the_probability_of_their_coins():
    table = table_of([[0, 1, 2, 3]], [0, 0, 1, 1])
    (chance, release), *others = runs(Tosses(), table)
    assert chance == 1 and not others
    found = enumerate_posterior(release, Tosses())
    # 0 and 2 share values 0, 1; 1 and 3 too. Equal first values always give this, different ones in one of three.
    assert found.n_tables == 4
    assert np.allclose(found.chance, 0.5)
    facts = enumerate_posterior(release, Tosses(), knowledge=Knowledge(known=(0,)))
    assert np.allclose(facts.of_row(1), [3 / 4, 1 / 4])


def test_every_way_of_the_coins_comes_once():
    class Draws:
        def anonymize(self, table, *, rng):
            return (
                tuple(rng.permutation(3).tolist()),
                rng.integers(2, size=2).tolist(),
                int(rng.choice([4, 5])),
                rng.choice(3, size=2, replace=False).tolist(),
            )

    ways = list(runs(Draws(), None))
    assert len(ways) == 6 * 4 * 2 * 6 == len({str(result) for _, result in ways})
    assert sum(chance for chance, _ in ways) == Fraction(1)
    items = [1, 2, 3]
    ScriptedCoins([(2, 3)]).shuffle(items)
    assert items == [3, 1, 2]


def test_draws_that_cannot_be_listed_are_refused():
    table = table_of([[0, 1, 2, 3]], [0, 1, 0, 1])
    method = RIA(goal=FrequencyLDiversity(2))
    release = method.anonymize(table, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="draws random numbers by 'random'"):
        enumerate_posterior(release, method)
    with pytest.raises(InvalidInput, match="choice with chances"):
        ScriptedCoins([]).choice(2, size=2, replace=False, p=[0.1, 0.9])
    with pytest.raises(InvalidInput, match="more than one trial"):
        ScriptedCoins([]).binomial(2, 0.5)


def test_draws_with_chances_of_their_own_are_listed_with_them():
    class Draws:
        def anonymize(self, table, *, rng):
            return int(rng.binomial(1, 0.25)), rng.choice(3, size=2, p=[0.5, 0.0, 0.5]).tolist()

    ways = [(chance, result) for chance, result in runs(Draws(), None)]
    assert len(ways) == 2 * 4  # what has no chance is no way
    assert sum(chance for chance, _ in ways) == 1
    assert sum(chance for chance, (kept, _) in ways if kept) == Fraction(1, 4)


def test_large_tables_and_other_methods_are_refused():
    rng = np.random.default_rng(0)
    table = table_of([rng.integers(0, 9, 60)], rng.integers(0, 6, 60).tolist())
    method = Mondrian(goal=FrequencyLDiversity(2))
    release = method.anonymize(table)
    assert count_tables(release.partition, table.sensitive[0]) > 10**6
    with pytest.raises(TooLarge, match="tables agree with the release"):
        enumerate_posterior(release, method)
    with pytest.raises(InvalidInput, match="No table gives this release"):
        enumerate_posterior(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE), Mondrian(goal=KAnonymity(1)))
    with pytest.raises(TooLarge, match="can go more than 10 ways"):
        anatomy = Anatomy(goal=FrequencyLDiversity(2))
        pairs = table_of([[0, 1, 2, 3]], [0, 0, 1, 1])
        enumerate_posterior(anatomy.anonymize(pairs, rng=rng), anatomy, max_runs=10)


def test_suppressed_rows_can_have_any_values():
    table = table_of([[0, 0, 1]], [0, 1, 0])
    method = FullDomain(goal=KAnonymity(2), max_suppressed="1/2")
    release = method.anonymize(table)
    assert release.n_suppressed == 1
    found = enumerate_posterior(release, method)
    assert found.n_tables == 4 and found.of_row(2).tolist() == [0.5, 0.5]
    assert enumerate_posterior(release, method, knowledge=Knowledge(known=(2,))).of_row(2).tolist() == [1, 0]


def test_what_is_seen_does_not_depend_on_the_number_of_a_group():
    table = table_of([[0, 1, 2, 3]], [0, 1, 0, 1])
    one, other = (Partition.from_groups(groups) for groups in ([[0, 1], [2, 3]], [[2, 3], [0, 1]]))
    assert groups_seen(BucketRelease(table, one, None)) == groups_seen(BucketRelease(table, other, None))
