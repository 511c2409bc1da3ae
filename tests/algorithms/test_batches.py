# SPDX-License-Identifier: Apache-2.0
"""Batch plans: the largest alpha against trying all, and plans that use up every eligible table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import streamliner as oracle
from overt.algorithms import batches
from overt.algorithms.batches import (
    join_plans,
    largest_alpha,
    plan_batches,
    plan_random_batches,
    shuffle_by_value,
)

COUNTS = st.lists(st.integers(1, 9), min_size=2, max_size=9)


def eligible(counts, m):
    return m * max(counts) <= sum(counts)


@given(counts=COUNTS, m=st.integers(2, 4), data=st.data())
def test_largest_alpha_agrees_with_trying_all(counts, m, data):
    if eligible(counts, m) and len(counts) >= m:
        beta = data.draw(st.integers(m, len(counts)))
        assert largest_alpha(counts, beta, m) == oracle.best_alpha(counts, beta, m)


def uses_up(plan, counts, m):
    left = np.array(counts)
    for batch in plan:
        assert len(set(batch.values)) == len(batch.values) >= m
        assert batch.alpha >= 1
        left[list(batch.values)] -= batch.alpha
        assert (left >= 0).all()
    assert not left.any()
    assert plan.n_rows == sum(counts)
    assert plan.n_groups == sum(batch.alpha for batch in plan)


@given(counts=COUNTS, m=st.integers(2, 5), k=st.integers(1, 4))
def test_a_plan_uses_up_every_eligible_table(counts, m, k):
    m = max(m, k)
    if eligible(counts, m):
        uses_up(plan_batches(counts, m, k=k), counts, m)


@given(counts=COUNTS, l=st.integers(2, 4), seed=st.integers(0, 999))
def test_a_random_plan_uses_up_every_eligible_table(counts, l, seed):
    if eligible(counts, l):
        rng = np.random.default_rng(seed)
        uses_up(plan_random_batches([0, *counts, 0], l, rng), [0, *counts, 0], l)
        uses_up(plan_batches(counts, l).with_slots_in_random_order(rng), counts, l)


def test_many_values_are_planned_in_linear_work():
    counts = np.ones(100_000, np.int64)
    assert plan_batches(counts, 8).n_groups == 12_500
    assert plan_random_batches(counts, 8, np.random.default_rng(0)).n_rows == 100_000


def test_random_sets_follow_the_counts():
    """A value with 1/l of all rows is in every set; the others take turns."""
    plan = plan_random_batches([3000, 2000, 2000, 2000], 3, np.random.default_rng(0))
    assert all(0 in batch.values for batch in plan)
    assert len({frozenset(batch.values) for batch in plan}) == 3


@given(values=st.lists(st.integers(0, 3), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_shuffled_rows_come_value_by_value(values, seed):
    codes = np.array(values, np.int32)
    rows, first = shuffle_by_value(codes, 4, np.random.default_rng(seed))
    assert sorted(rows.tolist()) == list(range(len(values)))
    assert (np.diff(codes[rows]) >= 0).all()
    assert first.tolist() == [sum(value < v for value in values) for v in range(5)]


@given(values=st.lists(st.integers(0, 3), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_rows_shuffled_value_by_value_come_value_by_value(values, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "FEW_ROWS", 0)
        codes = np.array(values, np.int32)
        rows, _ = shuffle_by_value(codes, 4, np.random.default_rng(seed))
    assert sorted(rows.tolist()) == list(range(len(values)))
    assert (np.diff(codes[rows]) >= 0).all()


def test_joined_plans_number_values_one_after_the_other():
    plan = join_plans([plan_batches([1, 1], 2), plan_batches([2, 2], 2)], [0, 2])
    assert [(batch.values, batch.alpha) for batch in plan] == [((0, 1), 1), ((2, 3), 2)]
    rows, first = shuffle_by_value(np.array([0, 1, 2, 3, 2, 3], np.int32), 4, np.random.default_rng(0))
    assert sorted(plan.draw(rows, first).tolist()) == [0, 1, 2, 3, 4, 5]
