# SPDX-License-Identifier: Apache-2.0
"""Blind buckets of persons with several rows, against an enumeration of all tables and all coins; and the traps around them."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from oracles.persons import differences, is_strong, laws, length, posterior, tables_of
from overt.algorithms.blind_buckets.method import BlindBuckets
from overt.algorithms.mondrian import Mondrian
from overt.errors import InvalidInput, Unreachable
from overt.guarantee import Beliefs
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
from persons import table_of_persons


def making(method, line, known):
    """The method as a function from the bundles of persons to what is seen by someone who knows who is in which bucket and box."""

    def make(table, coins):
        columns = [table] if isinstance(table[0], str) else list(zip(*table, strict=True))
        held = table_of_persons([line], *columns, known=known)
        try:
            release = method.anonymize(held, rng=coins)
        except Unreachable:
            return None
        buckets = release.buckets
        people = [tuple(np.flatnonzero(buckets.group_of_row == b).tolist()) for b in range(buckets.n_groups)]
        return tuple(sorted((p, tuple(sorted(table[x] for x in p))) for p in people))

    return make


L2, FEW = FrequencyLDiversity(2), {"k": 1, "rows_per_bucket": 2, "cuts": "strict"}
CASES = [
    (BlindBuckets(goal=L2, **FEW), ["ab", "ac", "bd", "cd"], None, "visits"),
    (BlindBuckets(goal=L2, **FEW), ["ab", "ab", "cd", "cd"], None, "visits"),
    (BlindBuckets(goal=L2, **FEW), ["a", "b", "cd", "ef"], [1, 2, 1, 2], "visits"),
    (BlindBuckets(goal=L2, **FEW), ["a", "a", "cd", "ef"], None, "static"),
    (BlindBuckets(goal=L2, **FEW), ["ab", "cc", "de", "d", "e"], [1, 2, 2, 2, 1], "visits"),
    (BlindBuckets(goal=L2, **FEW), [("ab", "xy"), ("ac", "zz"), ("bd", "zz"), ("cd", "wy")], None, "visits"),
    (BlindBuckets(goal=TCloseness("1/4"), **FEW), ["aa", "ab", "bc", "cc"], None, "visits"),
    (BlindBuckets(goal=BasicBetaLikeness(1), **FEW), ["ab", "ac", "bd", "cd"], None, "visits"),
]


@pytest.mark.parametrize(("method", "bundles", "counts", "known"), CASES, ids=str)
def test_every_belief_is_the_share_and_every_table_that_fits_is_equally_likely(method, bundles, counts, known):
    """Theorem F, and that a blind deal makes it strong."""
    assert method.guarantee.beliefs is Beliefs.EVERY
    tables = tables_of(bundles, counts)
    assert len(tables) > 1
    law = laws(making(method, [0] * len(bundles), known), tables)
    assert law and is_strong(law, tables)
    wrong, n_asked = differences(law)
    assert not wrong and n_asked


@pytest.mark.parametrize(("method", "bundles", "counts", "known"), CASES[:6], ids=str)
def test_no_group_shows_a_value_of_more_persons_than_the_goal_allows(method, bundles, counts, known):
    law = laws(making(method, [0] * len(bundles), known), tables_of(bundles, counts))
    for seen in law:
        for people, shown in seen:
            columns = [[b] if isinstance(b, str) else b for b in shown]
            for j in range(len(columns[0])):
                for letter in "abcdefwxyz":
                    assert 2 * sum(letter in b[j] for b in columns) <= len(people)
            assert known == "static" or len({length(b) for b in shown}) == 1


def certain(law, statements):
    """The share of outcomes after which somebody is certain to be as one of some statements says."""
    n_tables, found = len(set().union(*law.values())), Fraction(0)
    for of_table in law.values():
        persons = range(len(next(iter(of_table))))
        if any(posterior(of_table, lambda t, x=x, s=s: s(t[x])) == 1 for x in persons for s in statements):
            found += sum(of_table.values()) / n_tables
    return found


def has(letter):
    return lambda bundle: letter in bundle


HAS = [has(letter) for letter in "abcd"]


def law_of(see, tables):
    """The law of a rule without coins."""
    return laws(lambda table, coins: see(table), tables)


def test_trap_rows_grouped_as_if_they_were_persons():
    """Two visits each with the same diagnosis; groups of rows {x1, y1}, {x2, z1}, {y2, z2} are 2-diverse, and everyone is known."""
    groups = [(0, 1), (0, 2), (1, 2)]

    def see(table):
        return tuple(tuple(sorted(table[person][0] for person in group)) for group in groups)

    law = law_of(see, tables_of(["aa", "bb", "cc"]))
    assert all(len(set(shown)) == 2 for seen in law for shown in seen)
    assert certain(law, HAS) == 1


def test_trap_rows_that_are_diverse_while_persons_are_not():
    """x: a, b and y: a, c. Of four rows half are a, and everybody has it."""
    rows = "ab" + "ac"
    assert rows.count("a") * 2 <= len(rows)
    law = law_of(lambda table: "".join(sorted("".join(table))), tables_of(["ab", "ac"]))
    assert certain(law, [has("a")]) == 1
    with pytest.raises(Unreachable):
        BlindBuckets(goal=L2, **FEW).anonymize(table_of_persons([[0, 1]], ["ab", "ac"]), rng=np.random.default_rng(1))


def test_trap_counts_known_and_not_told_apart():
    """x has one row and y three. A group with the bundles a and bcd tells which is whose; our strata by count refuse it."""
    law = law_of(lambda table: tuple(sorted(table)), tables_of(["a", "bcd"], [1, 3]))
    assert certain(law, HAS) == 1
    with pytest.raises(Unreachable, match="persons with different numbers of rows are never mixed"):
        BlindBuckets(goal=L2, **FEW).anonymize(table_of_persons([[0, 1]], ["a", "bcd"]), rng=np.random.default_rng(1))


def test_trap_one_row_kept_protects_the_published_row_alone():
    """Two groups that are 2-diverse in kept rows: in 1 of 12 outcomes a and b were kept, and who has one has both."""
    tables = tables_of(["ab", "ab", "cd", "cd"])
    found = Fraction(0)
    outcomes = {}
    for table in tables:
        for kept in product((0, 1), repeat=4):
            rows = [bundle[j] for bundle, j in zip(table, kept, strict=True)]
            seen = tuple(tuple(sorted(rows[i] for i in group)) for group in ((0, 1), (2, 3)))
            outcomes.setdefault(seen, {}).setdefault(table, 0)
            outcomes[seen][table] += Fraction(1, 16)
    for seen, of_table in outcomes.items():
        if all(len(set(shown)) == 2 for shown in seen) and any(
            posterior(of_table, lambda t, x=x: "a" in t[x]) == 1 for x in range(4)
        ):
            found += sum(of_table.values()) / len(tables)
    assert found == Fraction(1, 12)


def test_trap_cutting_where_both_sides_are_diverse():
    """Persons on a line, cut after the second if both sides are 2-diverse: uncut, the first two have a."""

    def see(table):
        halves = [table[:2], table[2:]]
        good = all(2 * sum(v in b for b in half) <= len(half) for half in halves for v in "abcdef")
        return tuple(tuple(sorted(half)) for half in halves) if good else tuple(sorted(table))

    law = law_of(see, tables_of(["a", "a", "b", "c", "d", "e"]))
    uncut = {seen: of for seen, of in law.items() if isinstance(seen[0], str)}
    assert all(posterior(of, lambda t: "a" in t[0] and "a" in t[1]) == 1 for of in uncut.values())
    n_tables = len(tables_of(["a", "a", "b", "c", "d", "e"]))
    assert sum(sum(of.values()) for of in uncut.values()) / n_tables == Fraction(1, 15)


def test_trap_exchanging_persons_where_a_finished_group_breaks_the_goal():
    """Three pairs; a pair that both have a gives its last member for the first of the next. Who is seen beside whom tells why."""

    def see(table):
        groups = [[0, 1], [2, 3], [4, 5]]
        for g, (one, other) in enumerate(list(map(tuple, groups))):
            if set(table[one]) & set(table[other]):
                following = groups[(g + 1) % 3]
                groups[g], following[0] = [one, following[0]], other
        return tuple((tuple(sorted(g)), tuple(sorted(table[x] for x in g))) for g in groups)

    law = law_of(see, tables_of(["a", "a", "b", "c", "d", "e"]))
    exchanged = {seen: of for seen, of in law.items() if seen[0][0] == (0, 2)}
    assert exchanged
    assert all(posterior(of, lambda t: "a" in t[0] and "a" in t[1]) == 1 for of in exchanged.values())


def test_trap_matching_that_anchors_on_one_list():
    """Each of the first list takes the nearest of the second: a pair that is not near shows who chose, and so who has what."""
    place = [0, 3, 4, 10]

    def see(table):
        second = [x for x in range(4) if table[x] == "b"]
        pairs = []
        for x in (x for x in range(4) if table[x] == "a"):
            nearest = min(second, key=lambda y, x=x: (abs(place[x] - place[y]), y))
            second.remove(nearest)
            pairs.append(tuple(sorted((x, nearest))))
        return tuple(sorted(pairs))

    law = law_of(see, tables_of(["a", "a", "b", "b"]))
    assert posterior(law[((0, 2), (1, 3))], lambda t: t[0] == "a") == 1


def test_lists_of_several_bundles_keep_theorem_f():
    """Two lists of two bundles, each group one of each at random: every posterior is the share. What `alpha` would be, by enumeration alone."""
    lists = [("ab", "ac"), ("bd", "ce")]

    def make(table, coins):
        groups = [[], []]
        for held in lists:
            people = [table.index(bundle) for bundle in held]
            for g, x in enumerate(coins.permutation(people).tolist()):
                groups[g].append(x)
        return tuple(sorted((tuple(sorted(g)), tuple(sorted(table[x] for x in g))) for g in groups))

    tables = tables_of(["ab", "ac", "bd", "ce"])
    law = laws(make, tables)
    assert is_strong(law, tables) and not differences(law)[0]


REFUSED = [
    DistinctLDiversity(2),
    EntropyLDiversity(2),
    RecursiveCLDiversity(2, 2),
    TCloseness("0.5", distance="ordered"),
    TCloseness("0.5", distance="hierarchical"),
    DeltaDisclosure(1),
]


@pytest.mark.parametrize("goal", REFUSED, ids=str)
def test_properties_for_one_value_per_person_are_refused_by_name(goal):
    table = table_of_persons([[0, 1, 2, 3]], ["ab", "ac", "bd", "cd"])
    with pytest.raises(InvalidInput, match="is defined for one value per person"):
        BlindBuckets(goal=goal, **FEW).anonymize(table, rng=np.random.default_rng(1))


def test_methods_that_know_no_bundles_refuse_them():
    table = table_of_persons([[0, 1, 2, 3]], ["ab", "ac", "bd", "cd"])
    with pytest.raises(InvalidInput, match="Mondrian needs one row per person"):
        Mondrian(goal=KAnonymity(2)).anonymize(table, rng=np.random.default_rng(1))


def test_methods_that_know_no_bounds_of_values_refuse_them():
    table = table_of_persons([[0, 1, 2, 3]], "abcd", known="static")
    goal = FrequencyLDiversity(2, bounds={"a": "1/3"})
    with pytest.raises(InvalidInput, match="does not support bounds for single values"):
        Mondrian(goal=goal).anonymize(
            type(table)(tuple(c for c in table.columns if c.bundles is None), table.others),
            rng=np.random.default_rng(1),
        )


HOLDS = [
    FrequencyLDiversity(3),
    FrequencyLDiversity(3, bounds={"a": "1/2"}),
    AlphaKAnonymity("1/3", 4),
    BasicBetaLikeness("1/2"),
    EnhancedBetaLikeness(2),
    RelativeRisk(2, positive=("b", "c")),
    TCloseness("1/5"),
]


def allowed(goal, q, letter):
    """What each goal allows of the share of persons, from the definitions."""
    match goal:
        case FrequencyLDiversity():
            return 0, Fraction(goal.bounds.get(letter, Fraction(1, goal.l)))
        case AlphaKAnonymity():
            return 0, Fraction(goal.alpha)
        case BasicBetaLikeness():
            return 0, (1 + Fraction(goal.beta)) * q
        case EnhancedBetaLikeness():
            return 0, float(q) * min(1 + float(goal.beta), 1 - np.log(float(q))) + 1e-12
        case RelativeRisk():
            return 0, 2 * q if letter in "bc" else 1
        case TCloseness():
            return q - Fraction(goal.t), q + Fraction(goal.t)


@pytest.mark.parametrize("goal", HOLDS, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_plans_hold_goals_of_skewed_bundles(goal, seed):
    """200 persons with 1 to 3 rows of 20 values: every bucket, by counting persons from the definition."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(7, 27)
    bundles = [
        "".join(sorted(rng.choice(list("abcdefghijklmnopqrst"), n, p=weight / weight.sum())))
        for n in rng.integers(1, 4, 200)
    ]
    table = table_of_persons([rng.integers(0, 9, 200).tolist()], bundles)
    release = BlindBuckets(goal=goal, k=4, rows_per_bucket=4).anonymize(table, rng=rng)
    assert release.buckets.n_groups > 4 and release.partition.sizes.min() >= 4
    for bucket in range(release.buckets.n_groups):
        held = [bundles[x] for x in np.flatnonzero(release.buckets.group_of_row == bucket)]
        [n] = {len(bundle) for bundle in held}
        alike = [bundle for bundle in bundles if len(bundle) == n]
        for letter in "abcdefghijklmnopqrst":
            q = Fraction(sum(letter in b for b in alike), len(alike))
            p = Fraction(sum(letter in b for b in held), len(held))
            least, most = allowed(goal, q, letter) if q else (0, 0)
            assert least <= p <= most
    assert goal.holds(release.groups)


def test_a_value_that_too_many_persons_have_is_refused_with_count_and_limit():
    table = table_of_persons([[0, 1, 2, 3]], ["aa", "ab", "ac", "bc"])
    with pytest.raises(Unreachable, match="in a row of 3 of 4 persons, and at most 2 may have it"):
        BlindBuckets(goal=L2, **FEW).anonymize(table, rng=np.random.default_rng(1))
    own = FrequencyLDiversity(2, bounds={"a": "3/4"})
    assert BlindBuckets(goal=own, **FEW).anonymize(table, rng=np.random.default_rng(1)).buckets.n_groups == 1


@pytest.mark.parametrize(
    ("goal", "stricter"),
    [
        (lambda x: FrequencyLDiversity(x), [3, 4]),
        (lambda x: FrequencyLDiversity(x, bounds={"a": "1/9"}), [1, 3]),
        (lambda x: TCloseness(x), ["1/100"]),
        (lambda x: BasicBetaLikeness(x), ["1/100"]),
        (lambda x: RelativeRisk(x), ["101/100"]),
    ],
)
@pytest.mark.parametrize("stratify", [{"halvings": 0}, {"halvings": 1}], ids=str)
def test_what_a_refusal_says_can_be_reached_can_be(goal, stratify, stricter):
    """Shares such as 3 of 8 are no round numbers: what is named is rounded to the side that works."""
    held = ["ab", "ac", "ad", "ef", "fe", "bc", "de", "cd", "ab", "ce", "df", "be", "af", "bd"]
    table = table_of_persons([list(range(len(held)))], held)

    def refused(asked):
        method = BlindBuckets(goal=asked, k=1, rows_per_bucket=2, stratify=stratify)
        try:
            method.anonymize(table, rng=np.random.default_rng(1))
        except Unreachable as error:
            return str(error)
        return ""

    n_named = 0
    for parameter in stricter:
        asked = goal(parameter)
        words = refused(asked)
        if own := re.search(r"Its own bound would have to be at least (\d(?:\.\d+)?)", words):
            asked = FrequencyLDiversity(asked.l, bounds={"a": own[1]})
        if found := re.search(
            r" = (\d+(?:\.\d+)?)(?: for the values without a bound of their own)? can be reached", words
        ):
            asked = replace(asked, **{asked.parameter: found[1]})
        n_named += bool(own or found)
        assert not words or (found is None and own is None) or not refused(asked)
    assert n_named or (stratify["halvings"] == 0 and not isinstance(goal(1), FrequencyLDiversity))  # one is the table
