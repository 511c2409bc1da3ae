# SPDX-License-Identifier: Apache-2.0
"""Several sensitive columns: rows show their values together, and what is believed of each is held against trying every order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from overt.adversary.audit import audit_columns, audit_release
from overt.adversary.replay import engines, monte_carlo
from overt.adversary.replay.component_listing import Listed
from overt.algorithms import FullDomain, Mondrian
from overt.algorithms.blind_buckets import BlindBuckets
from overt.errors import InvalidInput, Unreachable
from overt.privacy import (
    AllOf,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    TCloseness,
)
from tables import table_of

GOALS = [
    DistinctLDiversity(2),
    FrequencyLDiversity("3/2"),
    AllOf((FrequencyLDiversity("3/2", column="s0"), TCloseness("1/2", column="s1"))),
    AllOf((KAnonymity(2), RecursiveCLDiversity(2, 2, column="s1"))),
    AllOf((EntropyLDiversity("3/2", column="s1"), TCloseness("1/2", distance="ordered", column="s0"))),
]


def shown(release):
    """Who is with whom, and which pairs of values they show; who is left out."""
    table, partition = release.table, release.partition
    pairs = list(zip(*(column.codes.tolist() for column in table.sensitive), strict=True))
    groups = [frozenset(np.flatnonzero(partition.group_of_row == g).tolist()) for g in range(partition.n_groups)]
    return frozenset((group, tuple(sorted(pairs[row] for row in group))) for group in groups)


def believed(method, quasi, first, second):
    """(row, value) -> chance, of both columns: from every order of the pairs that gives the same release."""
    own = shown(method.anonymize(table_of(quasi, [first, second])))
    counts = [np.zeros((len(first), max(one) + 1)) for one in (first, second)]
    pairs = list(zip(first, second, strict=True))
    for order in sorted(set(permutations(pairs))):
        columns = [list(one) for one in zip(*order, strict=True)]
        try:
            same = shown(method.anonymize(table_of(quasi, columns))) == own
        except Unreachable:
            same = False
        if same:
            for count, codes in zip(counts, columns, strict=True):
                count[np.arange(len(codes)), codes] += 1
    return [count / count[0].sum() for count in counts]


@pytest.mark.parametrize("goal", GOALS, ids=str)
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    data=st.data(),
    quasi=st.lists(st.integers(0, 3), min_size=4, max_size=6),
    make=st.sampled_from([Mondrian, FullDomain]),
)
def test_beliefs_of_both_columns_are_those_of_every_order(goal, data, quasi, make):
    n = len(quasi)
    first, second = (data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for _ in range(2))
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    first, second = ([sorted(set(one)).index(v) for v in one] for one in (first, second))
    method, table = make(goal=goal), table_of([quasi], [first, second])
    try:
        release = method.anonymize(table)
    except Unreachable:
        assume(False)
    right = believed(method, [quasi], first, second)
    for few in (5_000, 0):  # by running the method, and from what it tried
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "FEW_TABLES", few)
            found = audit_columns(release, rng=np.random.default_rng(1), seconds=20)
        for one, chance in zip(found, right, strict=True):
            assert one.replayed.is_exact
            assert np.allclose(one.replayed.chance[one.replayed.cell_of_row], chance)


# Statistical: a fixed seed, 4 standard errors of 400 beliefs or so.
@pytest.mark.parametrize("is_listed", [False, True])
def test_beliefs_of_both_columns_are_those_of_rejection(is_listed, monkeypatch):
    if not is_listed:
        monkeypatch.setattr(monte_carlo, "list_components", lambda failed, **_: Listed.nothing(failed))
    rng = np.random.default_rng(2)
    n, streets = 60, np.repeat([0, 1], 30)
    first = np.array([0] * 16 + [1, 2] * 7 + [0] * 8 + [1, 2] * 11)
    second = rng.integers(0, 2, n)
    method = Mondrian(goal=AllOf((FrequencyLDiversity(2, column="s0"), TCloseness("1/4", column="s1"))))
    table = table_of([streets], [first.tolist(), second.tolist()])
    release = method.anonymize(table)
    assert release.n_groups == 1
    found = audit_columns(release, rng=rng, sweeps=60)
    sums, n_same, pairs = [np.zeros((n, 3)), np.zeros((n, 2))], 0, np.column_stack([first, second])
    for _ in range(
        100_000
    ):  # the cut fails if a value has more than half of a street, or the other column is a quarter off
        mixed = rng.permutation(pairs)
        many = max(np.bincount(mixed[:30, 0], minlength=3).max(), np.bincount(mixed[30:, 0], minlength=3).max()) > 15
        off = [abs(mixed[here, 1].mean() - second.mean()) > 1 / 4 for here in (slice(0, 30), slice(30, 60))]
        if many or any(off):
            n_same += 1
            for one, codes in zip(sums, mixed.T, strict=True):
                one[np.arange(n), codes] += 1
        if n_same == 1_000:
            break
    assert n_same >= 200
    for one, total in zip(found, sums, strict=True):
        right, cell = total / n_same, one.replayed.cell_of_row
        doubt = np.sqrt(0.25 / n_same)
        assert one.is_known and one.replayed.is_exact == is_listed
        for row in range(n):
            error = np.sqrt(one.replayed.error[cell[row]] ** 2 + doubt**2)
            assert (np.abs(one.replayed.of_row(row) - right[row]) <= 4 * error).all()


def test_safe_methods_have_shares_and_a_single_column_is_asked_of_one():
    rng = np.random.default_rng(3)
    table = table_of([rng.integers(0, 9, 120)], [rng.integers(0, 4, 120).tolist(), rng.integers(0, 3, 120).tolist()])
    release = BlindBuckets(k=3, goal=DistinctLDiversity(2)).anonymize(table, rng=rng)
    found = audit_columns(release, rng=rng)
    assert [one.column for one in found] == ["s0", "s1"] and all(one.replayed.how == "shares" for one in found)
    assert all(one.share_above() == one.share_above(posterior=one.alone) for one in found)
    with pytest.raises(InvalidInput, match="exactly one sensitive column"):
        audit_release(release, rng=rng)


def test_rows_that_are_left_out_can_have_any_pair():
    quasi, first, second = [[0, 0, 1, 1, 1]], [0, 0, 0, 1, 1], [0, 1, 1, 0, 1]
    release = FullDomain(goal=DistinctLDiversity(2, column="s0"), max_suppressed="2/5").anonymize(
        table_of(quasi, [first, second])
    )
    assert sorted(np.flatnonzero(release.partition.group_of_row < 0)) == [0, 1]
    of_first, of_second = (one.replayed for one in audit_columns(release, rng=np.random.default_rng(4)))
    assert of_first.of_row(0).tolist() == [0.5, 0.5]  # both have the same, and nobody knows which
    assert of_second.of_row(0).tolist() == [0.5, 0.5]
