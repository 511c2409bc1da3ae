# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from overt.adversary.audit import audit_release
from overt.adversary.knowledge import RELEASE_ONLY, Knowledge
from overt.adversary.replay.enumeration import runs
from overt.adversary.summary import FACTORS, promised
from overt.algorithms import GDA, RDA, Anatomy, BatchMatching, CrossBucket, Dealing, Mondrian
from overt.errors import InvalidInput
from overt.privacy import AllOf, AlphaKAnonymity, DistinctLDiversity, FrequencyLDiversity, KAnonymity
from tables import table_of

FIVE = table_of([[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3])


def crowd(n_rows=600, seed=2):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(0, 40, n_rows), rng.integers(0, 3, n_rows)
    values = np.where(rng.random(n_rows) < 0.24 + 0.2 * (age < 8), 0, rng.integers(1, 6, n_rows))
    return table_of([age, sex], values.tolist())


def audit(release, **options):
    return audit_release(release, rng=np.random.default_rng(1), **options)


def test_five_people():
    found = audit(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE))
    assert found.bound is None and found.replayed.how == "enumeration" and found.replayed.is_exact
    assert [found.share_above(factor) for factor in FACTORS] == [0.4] * 4
    assert found.share_above(posterior=found.alone) == 0
    assert found.is_above().tolist() == [True, True, False, False, False]
    assert found.n_certain == 2
    assert found.guesses == (pytest.approx(2), pytest.approx(3))  # 5 of 2/5; two known and three of 1/3
    worst = found.worst
    assert (worst.row, worst.group_size, worst.n_alike, worst.belief, worst.share) == (0, 5, 2, 1, 0.4)
    assert worst.why == (
        "a cut of 'q0' into 2 and 3 rows was tried and failed; it would have set 2 rows of this group apart from 3"
    )


def test_what_is_printed_names_no_person_and_no_value():
    found = audit(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE))
    text = f"{found.to_dict()} {found.worst} {found}"
    assert "v000" not in text and "row=" not in text


def test_a_crowd_is_sampled_and_mondrian_leaks():
    found = audit(Mondrian(goal=FrequencyLDiversity(3)).anonymize(crowd()), sweeps=30)
    assert found.bound == Fraction(1, 3) and found.replayed.how == "sampling"
    assert found.share_above(posterior=found.alone) == 0 < found.share_above()
    assert found.guesses[1] > found.guesses[0]
    assert "was tried and failed" in found.worst.why
    document = found.to_dict()
    assert (
        document["above"][0]["with_method"] is None
    )  # one sampled cell of nine may be chance, and the verdict is "not known yet"
    assert found.share_said() is None and not found.says_some() and not found.says_nobody()
    assert document["sampled"]["standard_error"]["99_percent"] < 0.05
    rows = found.of_rows()
    assert rows.columns == ["row", "release alone", "with the method", "standard error"] and rows.height == 600
    assert rows["with the method"].max() >= found.worst.belief


def test_k_anonymity_gives_nothing_away_about_values():
    found = audit(Mondrian(goal=KAnonymity(5)).anonymize(crowd()), sweeps=100)
    assert np.array_equal(found.replayed.belief_of_row, found.alone.belief_of_row)
    assert found.share_above() == 0


@pytest.mark.parametrize("kind", [Anatomy, BatchMatching, Dealing, RDA])
def test_methods_proven_safe_have_the_share_of_the_group(kind):
    release = kind(goal=FrequencyLDiversity(2)).anonymize(crowd(), rng=np.random.default_rng(3))
    found = audit(release)
    assert found.replayed.how == "shares" and found.share_above() == 0
    assert found.worst.why == "the share of a value in its group"


def test_a_small_release_of_gda_is_known_for_certain():
    # the example in its docstring: values a, a, b, c at ranks 0, 1, 2, 3
    table = table_of([[0, 1, 2, 3]], [0, 0, 1, 2])
    found = audit(GDA(goal=DistinctLDiversity(2), mode="paper").anonymize(table, rng=np.random.default_rng(0)))
    assert found.n_certain == 4 and found.worst.why == "how the method chose the groups"


def test_facts_and_no_method():
    release = Mondrian(goal=FrequencyLDiversity(3)).anonymize(crowd())
    assert audit(release, knowledge=RELEASE_ONLY).replayed.how == "shares"
    found = audit(release, knowledge=Knowledge(replays=False, known=(0,)), sweeps=4000)
    members = np.flatnonzero(release.partition.group_of_row == release.partition.group_of_row[0])
    assert found.replayed.belief_of_row[0] == 1
    others = release.table.sensitive[0].codes[members[members != 0]]
    expected = np.bincount(others, minlength=release.table.sensitive[0].n_values) / others.size
    assert np.allclose(found.replayed.of_row(members[-1]), expected, atol=0.05)


def published_buckets(release):
    """Who is in which group, and of every bucket its values and of which groups its rows are: what a reader sees."""
    groups = [tuple(np.flatnonzero(release.partition.group_of_row == g)) for g in range(release.n_groups)]
    values, rows_of = release.table.sensitive[0].codes, release.buckets.group_of_row
    return sorted(groups), tuple(
        sorted(
            (
                sorted(values[rows_of == b].tolist()),
                sorted(groups[g] for g in release.partition.group_of_row[rows_of == b]),
            )
            for b in range(release.buckets.n_groups)
        )
    )


@pytest.mark.parametrize(("k", "l", "values"), [(2, 2, [0, 1, 2, 3]), (1, 2, [0, 0, 1, 1]), (2, 3, [0, 1, 2, 3])])
def test_cross_buckets_are_believed_as_published_whatever_the_coins(k, l, values):
    method = CrossBucket(k, l)
    release = method.anonymize(table_of([[0, 3, 1, 2]], values), rng=np.random.default_rng(5))
    found, seen = audit(release), published_buckets(release)
    weight = np.zeros((4, max(values) + 1))
    for possible in set(permutations(values)):
        for chance, other in runs(method, table_of([[0, 3, 1, 2]], list(possible))):
            if published_buckets(other) == seen:
                weight[np.arange(4), possible] += float(chance)
    for row in range(4):
        assert found.replayed.of_row(row) == pytest.approx(weight[row] / weight[row].sum())
    assert found.replayed.how == "shares" and found.share_above() == 0
    assert [risk.alone == risk.replayed for risk in found.risks] == [True] * 3


def test_what_is_promised():
    assert promised(FrequencyLDiversity(4), "s0") == Fraction(1, 4)
    assert promised(AllOf((AlphaKAnonymity("0.2", 3), FrequencyLDiversity(4))), "s0") == Fraction(1, 5)
    assert promised(FrequencyLDiversity(4, column="other"), "s0") is None
    assert promised(None, "s0") is None


def test_what_is_not_covered_is_not_known_and_nothing_is_claimed():
    rng = np.random.default_rng(1)
    found = audit(GDA(goal=DistinctLDiversity(2), mode="paper").anonymize(crowd(1200), rng=rng))
    assert "GDA is none of these" in found.replayed.sampled.why
    crossed = CrossBucket(2, 2, mode="paper").anonymize(table_of([[0, 1, 2, 3]], [0, 1, 2, 3]), rng=rng)
    found = audit(crossed)
    assert "who of a group is in which bucket is not published" in found.replayed.sampled.why
    assert found.n_unknown == 4 and found.share_above() == 0 and found.n_certain == 0
    with pytest.raises(InvalidInput, match="Facts about single people"):
        audit(crossed, knowledge=Knowledge(known=(0,)))
    with pytest.raises(InvalidInput, match="exactly one sensitive column"):
        audit(Mondrian(goal=KAnonymity(2)).anonymize(table_of([[0, 0]], [])))
