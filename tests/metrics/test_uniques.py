# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import metrics as oracle
from overt.errors import InvalidInput
from overt.metrics import uniques
from overt.metrics.uniques import find_uniques
from tables import table_of, tables


def check(table, max_size):
    rows = list(zip(*(column.codes.tolist() for column in table.quasi_identifiers), strict=True))
    n_columns = len(table.quasi_identifiers)
    found = find_uniques(table, max_size=max_size)
    expected = oracle.minimal_unique_sets(rows, n_columns, min(max_size, n_columns))
    names = [column.name for column in table.quasi_identifiers]
    counted = Counter(tuple(names[j] for j in columns) for _, columns in expected)
    assert {one.columns: one.n_rows for one in found.sets} == counted
    smallest = {}
    for row, columns in expected:
        smallest[row] = min(smallest.get(row, 99), len(columns))
    assert found.n_unique == sum(n == 1 for n in Counter(rows).values())
    assert dict(zip(found.rows.tolist(), found.size_of_row.tolist(), strict=True)) == {
        row: smallest.get(row, 0) for row in found.rows.tolist()
    }
    assert list(found.n_of_size) == [list(smallest.values()).count(size + 1) for size in range(found.max_size)]


@given(tables(max_columns=4, max_rows=10), st.integers(1, 4))
def test_all_minimal_unique_sets_are_found(table, max_size):
    check(table, max_size)


@given(tables(max_columns=3, max_rows=10))
def test_sets_with_too_many_combinations_are_looked_at_one_by_one(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniques, "MOST_OF_SET", 6)  # one column of five values fits, two do not
        check(table, 3)


def test_a_row_that_one_value_gives_away_is_a_special_unique():
    # the first row alone has q0 = 1; the second and third need both columns
    found = find_uniques(table_of([[1, 0, 0, 0, 0], [0, 0, 1, 2, 2]], [0] * 5))
    assert [(one.columns, one.n_rows) for one in found.sets] == [(("q0",), 1), (("q1",), 1), (("q0", "q1"), 1)]
    assert (found.n_unique, found.n_special) == (3, 3)


def test_too_much_work_is_cut_down_and_said(monkeypatch):
    monkeypatch.setattr(uniques, "MOST_WORK", 10)
    assert find_uniques(table_of([[0, 1, 2]] * 4, [0, 0, 0]), max_size=3).max_size == 1


def test_no_columns_at_all_are_refused():
    with pytest.raises(InvalidInput, match="max_size is 0"):
        find_uniques(table_of([[0, 1]], [0, 0]), max_size=0)
