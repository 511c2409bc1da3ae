# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.algorithms.dp.accounting import Budget, exact_delta, least_k
from overt.algorithms.dp.cube import DpCube, DpSampling
from overt.algorithms.dp.parameter_proposal import propose, spread_levels
from overt.errors import InvalidInput
from overt.hierarchy import Intervals

COLUMNS = st.lists(
    st.one_of(st.integers(1, 4), st.lists(st.integers(1, 50), min_size=2, max_size=5)), min_size=1, max_size=4
)


@given(columns=COLUMNS, n_vectors=st.integers(1, 12))
def test_levels_rise_from_exact_to_suppressed(columns, n_vectors):
    vectors = spread_levels(columns, n_vectors)
    tops = tuple(column if isinstance(column, int) else len(column) - 1 for column in columns)
    assert vectors[-1] == tops and len(set(vectors)) == len(vectors) == min(n_vectors, sum(tops) + 1)
    assert n_vectors == 1 or vectors[0] == (0,) * len(tops)
    for one, next_one in pairwise(vectors):
        assert one != next_one and all(a <= b for a, b in zip(one, next_one, strict=True))


def test_the_column_with_the_most_labels_rises_first():
    assert spread_levels([[2, 1], [100, 10, 1], [5, 1]], 5) == ((0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 2, 1), (1, 2, 1))


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_a_proposal_is_dp_and_fits_the_mechanism(epsilon, n):
    found = propose(epsilon, "1e-6", n, [2, 3])
    hierarchies = {"a": Intervals(widths=(5,)), "b": Intervals(widths=(5, 10))}
    method = DpCube(
        epsilon=epsilon, delta="1e-6", s=found.s, share=found.share, levels=found.levels, hierarchies=hierarchies
    )
    assert (method.least_copies, method.least_support, method.vectors) == (found.k, found.support, found.levels)
    assert exact_delta(found.k, found.s, method.sampling.epsilon) <= 1e-6
    alone = propose(epsilon, "1e-6", n, [2, 3], with_cube=False)
    assert (alone.share, alone.levels, alone.budget) == (None, (), Budget.of(epsilon, "1e-6"))
    assert alone.k == least_k(epsilon, "1e-6", alone.s)
    DpSampling(epsilon=epsilon, delta="1e-6", s=alone.s, levels=[(1, 1)], hierarchies=hierarchies)


def test_more_rows_can_be_asked_for():
    assert propose(1, "1e-6", 30_000, [2, 2], least_s="0.6").s >= Fraction(6, 10)


def test_refusals():
    with pytest.raises(InvalidInput, match="About 50 rows are too few for epsilon 1, delta 1e-06"):
        propose(1, "1e-6", 50, [2, 2])
    with pytest.raises(InvalidInput, match="with s of at least 0.9"):
        propose(1, "1e-6", 10**6, [2, 2], least_s="0.9")
    for columns, words in (([0], "a highest level is 0"), ([[3]], "at least two levels"), ([[3, 0]], "labels is 0")):
        with pytest.raises(InvalidInput, match=words):
            spread_levels(columns)
    with pytest.raises(InvalidInput, match="n is 0"):
        propose(1, "1e-6", 0, [2])
