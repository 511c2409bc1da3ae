# SPDX-License-Identifier: Apache-2.0
"""A learner who replays a matching: the replay is that of the method, it tells more where values go with quasi-identifiers, and
nothing where they do not."""

import numpy as np
import pytest

from overt.adversary.learner import replayed_matching
from overt.adversary.learner.learner import learn
from overt.algorithms import RDA, BatchMatching
from overt.kernels.batches import group_by_place_in_list
from overt.kernels.matching_chain import anneal_lists, cuts_apart, depth_of_parting, energy_of_lists
from overt.privacy import AllOf, FrequencyLDiversity, KAnonymity
from tables import table_of


def parting(p, q, n):
    """(cuts that two places have in common, cuts above the first), by the definition."""
    common = depth = 0
    begin, end, together = 0, n, True
    while end - begin > 1:
        middle = (begin + end) // 2
        together = together and (p < middle) == (q < middle)
        common, depth = common + together, depth + 1
        begin, end = (begin, middle) if p < middle else (middle, end)
    return common, depth


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_cuts_between_places(n):
    for p in range(n):
        for q in range(n):
            assert depth_of_parting(p, q, n) == parting(p, q, n)
            assert (cuts_apart(n)[p, q] == 0) == (p == q)


def test_lists_that_gave_the_groups_have_energy_0_and_a_chain_finds_some():
    rng = np.random.default_rng(1)
    n_groups, n_lists = 12, 3
    table = table_of([rng.permutation(n_groups * n_lists)], np.repeat(np.arange(n_lists), n_groups).tolist())
    method = BatchMatching(goal=FrequencyLDiversity(n_lists), value_sets="most frequent")
    release = method.anonymize(table, rng=rng)
    values = table.sensitive[0].codes
    member = np.array([rows[np.argsort(values[rows])] for rows in np.split(release.partition.rows, n_groups)], np.int32)
    points = table.quasi_identifiers[0].codes[:, None].astype(np.int32)
    scale, bits, rows = method.scale_of_columns(table), np.array([6]), np.empty(36, np.int32)
    rest = points, scale, bits, cuts_apart(n_groups), rows, np.empty((36, 1), np.int32), np.empty(36, np.int64)
    assert energy_of_lists(member, *rest) == 0
    again = group_by_place_in_list(np.array([0, n_lists]), np.array([n_groups]), rows)
    own = release.partition.group_of_row
    assert len(set(zip(again.tolist(), own.tolist(), strict=True))) == n_groups
    other = rng.permuted(member, axis=1).astype(np.int32)
    before = energy_of_lists(other, *rest)
    prices, count = np.linspace(0, 2, 200), np.zeros((36, n_lists), np.int64)
    draws, coins = rng.integers(0, 1 << 30, (36 * 200, 3)), rng.standard_exponential(36 * 200)
    after = anneal_lists(other, points, scale, bits, np.zeros((36, n_lists)), prices, 10, draws, coins, count)
    assert before > 0 and after < before / 4 and after == energy_of_lists(other, *rest)
    assert (count.sum(axis=1) == 10).all() and np.array_equal(np.sort(other, axis=1), np.sort(member, axis=1))


def crowd(rng, n, strength):
    """People whose values go with two of three quasi-identifiers, as strongly as is asked."""
    age, income, street = rng.integers(0, 40, n), rng.integers(0, 40, n), rng.integers(0, 10, n)
    values = np.where(rng.random(n) < strength, age // 10 * 2 + (income > 20), rng.integers(0, 8, n))
    return table_of([age, income, street], values.tolist())


# Statistical: fixed seeds; gains are far beyond three standard errors, and where there is nothing to learn none may be claimed.
def test_replaying_tells_more_where_values_go_with_quasi_identifiers_and_nothing_where_they_do_not(monkeypatch):
    monkeypatch.setattr(replayed_matching, "MOST_PEOPLE", 600)
    rng = np.random.default_rng(2)
    method = BatchMatching(goal=FrequencyLDiversity(4))
    found = learn(method.anonymize(crowd(rng, 6_000, 0.5), rng=rng), rng=rng)
    assert found.replaying is not None and found.n_replayed >= 500
    assert found.replaying.value > found.inside.value + 3 * found.replaying.error
    assert "replays the matching would guess at least" in " ".join(found.sentences())
    nothing = learn(method.anonymize(crowd(rng, 6_000, 0.0), rng=rng), rng=rng)
    assert abs(nothing.replaying.value - nothing.plain) < 4 * nothing.replaying.error


def test_what_is_not_matched_at_equal_ranks_is_not_replayed():
    rng = np.random.default_rng(3)
    table = crowd(rng, 300, 0.5)
    for method in (
        RDA(goal=FrequencyLDiversity(2)),
        BatchMatching(goal=FrequencyLDiversity(2), matching="rank"),
        BatchMatching(goal=FrequencyLDiversity(2), swaps=1),
        BatchMatching(goal=AllOf((FrequencyLDiversity(2), KAnonymity(4)))),
    ):
        assert learn(method.anonymize(table, rng=rng), rng=rng).replaying is None
