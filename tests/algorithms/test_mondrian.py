# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.mondrian import mondrian as oracle
from overt.algorithms.mondrian import Mondrian, layout_of
from overt.algorithms.repeated_cuts import CountVerdict, cut_by_counts, cut_by_size, cut_by_verdict
from overt.errors import InvalidInput, Unreachable
from overt.partition import Groups, Partition
from overt.privacy import (
    AllOf,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    TCloseness,
)
from overt.privacy.base import Property
from overt.progress import silent
from overt.table import Kind
from tables import table_of, tables

VARIANTS = [(relaxed, choose) for relaxed in (False, True) for choose in ("widest", "gain")]


def groups_of(partition):
    return {frozenset(rows.tolist()) for rows in np.split(partition.rows, partition.starts[1:-1])}


def oracle_groups(table, is_safe, relaxed, choose, unit):
    columns = table.quasi_identifiers
    rows = list(zip(*(column.codes.tolist() for column in columns), strict=True))
    return oracle(
        rows,
        [column.n_values for column in columns],
        is_safe,
        relaxed=relaxed,
        choose=choose,
        unit=unit,
        is_range=[column.kind is not Kind.CATEGORY for column in columns],
    )


@pytest.mark.parametrize(("relaxed", "choose"), VARIANTS)
@given(table=tables(min_rows=4, max_rows=40), k=st.integers(1, 4))
def test_k_anonymous_groups_agree_with_the_oracle(table, k, relaxed, choose):
    release = Mondrian(goal=KAnonymity(k), relaxed=relaxed, choose=choose).anonymize(table)
    assert groups_of(release.partition) == oracle_groups(table, lambda rows: len(rows) >= k, relaxed, choose, k)


@pytest.mark.parametrize(("relaxed", "choose"), VARIANTS)
@given(table=tables(min_rows=4, max_rows=40), l=st.integers(1, 3))
def test_l_diverse_groups_agree_with_the_oracle(table, l, relaxed, choose):
    values = table.sensitive[0].codes

    def is_safe(rows):
        return max(Counter(values[rows].tolist()).values()) * l <= len(rows)

    if not is_safe(list(range(table.n_rows))):
        with pytest.raises(Unreachable):
            Mondrian(goal=FrequencyLDiversity(l), relaxed=relaxed, choose=choose).anonymize(table)
        return
    release = Mondrian(goal=FrequencyLDiversity(l), relaxed=relaxed, choose=choose).anonymize(table)
    assert groups_of(release.partition) == oracle_groups(table, is_safe, relaxed, choose, l)


@given(table=tables(min_rows=4, max_rows=60, max_code=40), k=st.integers(1, 5), relaxed=st.booleans())
def test_both_ways_of_cutting_give_the_same_groups(table, k, relaxed):
    method = Mondrian(goal=KAnonymity(k), relaxed=relaxed)
    if table.n_rows < k:
        return
    by_size = cut_by_size(layout_of(table, method), silent)
    by_verdict = cut_by_verdict(layout_of(table, method), table, method.goal, silent)
    assert np.array_equal(by_size[1], by_verdict[1])
    starts = by_size[1][1:-1]
    for one, other in zip(np.split(by_size[0], starts), np.split(by_verdict[0], starts), strict=True):
        assert set(one) == set(other)


COUNTED = [
    FrequencyLDiversity(2),
    DistinctLDiversity(2),
    AlphaKAnonymity("2/3", 3),
    AllOf((KAnonymity(3), FrequencyLDiversity(2, column="s0"), DistinctLDiversity(2, column="s1"))),
]


@pytest.mark.parametrize(("relaxed", "choose"), VARIANTS)
@pytest.mark.parametrize("goal", COUNTED, ids=str)
@given(table=tables(min_rows=4, max_rows=60, max_code=20, max_value=6), seed=st.integers(0, 9))
def test_goals_that_counts_decide_give_the_groups_that_the_property_gives(table, goal, relaxed, choose, seed):
    second = np.random.default_rng(seed).permutation(table.sensitive[0].codes)
    quasi = [column.codes for column in table.quasi_identifiers]
    table = table_of(quasi, [table.sensitive[0].codes, second], n_codes=[21] * len(quasi))
    if goal.breaks(Groups.of(table, Partition(np.zeros(table.n_rows, np.int32), 1))).any():
        return
    method = Mondrian(goal=goal, relaxed=relaxed, choose=choose)
    by_verdict = cut_by_verdict(layout_of(table, method), table, goal, silent)
    by_counts = cut_by_counts(layout_of(table, method), CountVerdict.of(goal, table), silent)
    assert np.array_equal(by_counts[1], by_verdict[1])
    starts = by_counts[1][1:-1]
    for one, other in zip(np.split(by_counts[0], starts), np.split(by_verdict[0], starts), strict=True):
        assert set(one) == set(other)


@pytest.mark.parametrize("goal", [EntropyLDiversity(2), TCloseness("0.3")], ids=str)
def test_goals_that_look_at_more_than_counts_are_judged_by_the_property(goal):
    assert CountVerdict.of(goal & KAnonymity(2), table_of([[0, 1, 2, 3]], [0, 1, 0, 1])) is None


@pytest.mark.parametrize("n_threads", ["1", "2", "5"])
def test_groups_do_not_depend_on_the_number_of_threads(monkeypatch, n_threads):
    rng = np.random.default_rng(7)
    table = table_of([rng.integers(0, 50, 60_000), rng.integers(0, 3, 60_000), rng.integers(0, 70_000, 60_000)], [])
    monkeypatch.setenv("OVERT_THREADS", n_threads)
    seen = []
    release = Mondrian(goal=KAnonymity(5)).anonymize(table, on_progress=lambda *said: seen.append(said))
    assert seen[-1] == ("Cutting the table into groups", 60_000, 60_000)
    monkeypatch.setattr("overt.algorithms.repeated_cuts.SMALL", 10**9)
    assert np.array_equal(
        Mondrian(goal=KAnonymity(5)).anonymize(table).partition.group_of_row, release.partition.group_of_row
    )


def test_a_column_with_more_codes_than_sixteen_bits_is_cut_like_any_other():
    codes = np.random.default_rng(1).permutation(70_000)
    release = Mondrian(goal=KAnonymity(3)).anonymize(table_of([codes], []))
    boxes = release.boxes[0]
    assert release.groups.sizes.min() >= 3
    assert (boxes[:, 1] - boxes[:, 0] + 1 == release.groups.sizes).all()


def test_skewed_column_is_cut_at_the_boundary_nearest_to_the_middle():
    release = Mondrian(goal=KAnonymity(2)).anonymize(table_of([[0, 0, 0, 0, 0, 1, 2]], []))
    assert groups_of(release.partition) == {frozenset(range(5)), frozenset({5, 6})}


def test_relaxed_cut_separates_rows_with_the_same_value_at_a_multiple_of_k():
    table = table_of([[0, 0, 0, 0, 0, 1, 1]], [])
    release = Mondrian(goal=KAnonymity(2), relaxed=True).anonymize(table)
    assert groups_of(release.partition) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5, 6})}


def test_combined_goal_holds_in_every_group():
    rng = np.random.default_rng(3)
    table = table_of([rng.integers(0, 30, 500), rng.integers(0, 4, 500)], rng.integers(0, 6, 500))
    goal = AllOf((KAnonymity(7), DistinctLDiversity(3)))
    assert goal.holds(Mondrian(goal=goal).anonymize(table).groups)


def test_goal_out_of_reach_says_what_the_whole_table_reaches():
    table = table_of([[0, 1, 2, 3]], [0, 0, 0, 1])
    with pytest.raises(Unreachable, match=r"even all 4 rows in one group do not satisfy it \(they reach l = 1\.333\)"):
        Mondrian(goal=FrequencyLDiversity(2)).anonymize(table)


def test_goal_that_is_not_monotone_is_refused():
    class SizeIsEven(Property):
        monotone = False

        def breaks(self, groups): ...
        def measure(self, groups): ...
        def __str__(self):
            return "even size"

    with pytest.raises(InvalidInput, match="needs a monotone goal and even size is not"):
        Mondrian(goal=SizeIsEven())


def test_unknown_choice_of_column_is_refused():
    with pytest.raises(InvalidInput, match="'best'; use 'widest' or 'gain'"):
        Mondrian(goal=KAnonymity(2), choose="best")


def test_an_interrupt_stops_the_loop(monkeypatch):
    rng = np.random.default_rng(7)
    table = table_of([rng.integers(0, 1000, 400_000) for _ in range(8)], [])
    monkeypatch.setattr("overt.threads.EVERY_SECONDS", 0.0)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Mondrian(goal=KAnonymity(2)).anonymize(table, on_progress=interrupt)
