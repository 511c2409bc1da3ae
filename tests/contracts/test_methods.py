# SPDX-License-Identifier: Apache-2.0
"""Laws that every method keeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.methods import EXAMPLES
from overt.errors import Unreachable
from overt.privacy import exact
from tables import tables

SEEDS = st.integers(0, 2**32)


def anonymize(method, table, seed):
    """A release, or None where the goal is out of reach."""
    if method.generalizes_every_column:  # and refuses what it would have to attach
        table = replace(table, columns=table.quasi_identifiers)
    if method.is_dp:  # the same, of columns without a public hierarchy
        table = replace(table, columns=tuple(column for column in table.columns if column.name in method.hierarchies))
    try:
        return method.anonymize(table, rng=np.random.default_rng(seed))
    except Unreachable:
        return None


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
@given(table=tables(max_rows=30), seed=SEEDS)
def test_goal_holds_on_every_release(method, table, seed):
    release = anonymize(method, table, seed)
    assert release is None or method.goal.holds(release.groups)


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
@given(table=tables(max_rows=30), seed=SEEDS)
def test_no_row_is_lost_or_invented(method, table, seed):
    release = anonymize(method, table, seed)
    if release is not None:
        assert release.partition.group_of_row.size == table.n_rows
        assert set(release.partition.group_of_row.tolist()) - {-1} == set(range(release.n_groups))
        assert release.n_suppressed <= exact(method.max_suppressed) * table.n_rows


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
@given(table=tables(max_rows=30), seed=SEEDS)
def test_the_table_is_untouched_and_a_seed_repeats_the_release(method, table, seed):
    before = [column.codes.copy() for column in table.columns]
    first, second = anonymize(method, table, seed), anonymize(method, table, seed)
    assert all(np.array_equal(b, column.codes) for b, column in zip(before, table.columns, strict=True))
    assert (first is None) == (second is None)
    if first is not None:
        assert np.array_equal(first.partition.group_of_row, second.partition.group_of_row)


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
def test_a_method_is_a_value(method):
    assert method == replace(method)
    assert hash(method) == hash(replace(method))
    assert type(method).__name__ in repr(method)
    assert method.name
    assert method.against


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
@given(table=tables(max_rows=30), seed=SEEDS)
def test_a_release_names_the_method_that_made_it(method, table, seed):
    release = anonymize(method, table, seed)
    assert release is None or (release.made_by == method and release.table_names == method.table_names)
