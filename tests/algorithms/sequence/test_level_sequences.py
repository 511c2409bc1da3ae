# SPDX-License-Identifier: Apache-2.0
"""Sequences built from quasi-identifiers: nested, repeatable, and blind to sensitive values."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.algorithms.sequence.functions import is_nested
from overt.algorithms.sequence.level_sequences import full_domain, hierarchy_levels, median_cuts
from overt.errors import InvalidInput
from overt.io.frames import read_frame
from overt.samples import hospital, hospital_hierarchies
from tables import table_of, tables


@settings(max_examples=80, deadline=None)
@given(tables(min_rows=2, max_rows=30), st.integers(1, 4), st.sampled_from([Fraction(1, 2), Fraction(1, 3)]))
def test_cuts_are_nested_and_keep_groups_large_and_equal_rows_together(table, smallest, cut):
    functions = median_cuts(table, levels=20, smallest=smallest, cut=cut)
    assert functions[-1].partition.n_groups == 1
    for finer, coarser in pairwise(functions):
        assert is_nested(finer, coarser) and finer.partition.n_groups > coarser.partition.n_groups
    assert all(function.partition.sizes.min() >= min(smallest, table.n_rows) for function in functions)
    cells = np.stack([column.codes for column in table.quasi_identifiers])
    deepest = functions[0].partition.group_of_row
    for one in range(table.n_rows):
        same = (cells == cells[:, [one]]).all(axis=0)
        assert len(set(deepest[same].tolist())) == 1


@settings(max_examples=30, deadline=None)
@given(tables(min_rows=2, max_rows=20), st.randoms(use_true_random=False))
def test_cuts_do_not_look_at_sensitive_values(table, random):
    other = [random.randint(0, 3) for _ in range(table.n_rows)]
    codes = [column.codes for column in table.quasi_identifiers]
    twin = table_of(codes, other, n_codes=[5] * len(codes), kinds=[column.kind for column in table.quasi_identifiers])
    first, second = (median_cuts(one, levels=9, smallest=2) for one in (table, twin))
    assert [f.partition.group_of_row.tolist() for f in first] == [f.partition.group_of_row.tolist() for f in second]


def test_a_cut_at_a_third_makes_groups_of_unequal_size():
    table = table_of([list(range(27))], [0] * 27)
    function = median_cuts(table, levels=20, smallest=3, cut=Fraction(1, 3))[-2]
    assert sorted(function.partition.sizes.tolist()) == [9, 18]


def test_levels_of_hierarchies_are_nested_and_combinations_are_ordered_by_discernibility():
    builders = hospital_hierarchies()
    table = read_frame(
        hospital(),
        quasi_identifiers=["Birth date", "Postcode", "Sex"],
        sensitive=["Disease"],
        identifiers=["Name"],
        hierarchies={name: builders[name] for name in ("Birth date", "Postcode")},
        kinds={"Postcode": "category"},
    )
    levels = hierarchy_levels(table)
    assert all(is_nested(a, b) for a, b in pairwise(levels))
    costs = [int((function.partition.sizes**2).sum()) for function in full_domain(table)]
    assert costs == sorted(costs) and costs[-1] == table.n_rows**2


def test_a_tree_of_cuts_that_cannot_be_is_refused():
    with pytest.raises(InvalidInput, match="do not describe a tree of cuts"):
        median_cuts(table_of([[0, 1]], [0, 1]), levels=0, smallest=1)
