# SPDX-License-Identifier: Apache-2.0
"""The search finds the witnesses that the k-jump paper's incomparability theorems promise."""

import numpy as np
import pytest

from overt.algorithms.sequence import Exclusive, Inference, KJump, MaxRatio, Naive, RowsAtRisk, Safe
from overt.algorithms.sequence.strategy_comparison import compare, find_witness


@pytest.mark.parametrize(
    ("better", "worse", "goal", "n_functions"),
    [
        (KJump(1), KJump(2), MaxRatio("1/2"), 3),  # Theorem 2, the trivial direction
        (KJump(2), KJump(1), MaxRatio("3/5"), 4),  # Theorem 2, the other
        (KJump(2), KJump(3), MaxRatio("1/2"), 4),  # Theorem 3
        (Exclusive(), Safe(), MaxRatio("3/5"), 4),
        (Safe(), Exclusive(), MaxRatio("1/2"), 3),
        (Safe(), KJump(1), RowsAtRisk("3/5", 2), 3),  # Theorem 6
        (KJump(1), Safe(), RowsAtRisk("3/5", 2), 3),  # Theorem 6, the other direction
    ],
)
def test_search_constructs_a_table_on_which_one_beats_the_other(better, worse, goal, n_functions):
    found = find_witness(
        better, worse, goal, rng=np.random.default_rng(7), n_rows=7, n_functions=n_functions, max_sequences=1000
    )
    assert found is not None
    comparison = compare(found.sequence, (better, worse), found.values, found.n_values)
    assert [outcome.released for outcome in comparison.outcomes] == [found.better, found.worse]
    assert comparison.best == (better,)


def test_safe_and_jump_1_never_differ_under_a_bound_on_ratios():
    """Corollary 1 of the k-jump paper."""
    for better, worse in ((Safe(), KJump(1)), (KJump(1), Safe())):
        rng = np.random.default_rng(1)
        assert find_witness(better, worse, MaxRatio("1/2"), rng=rng, n_rows=5, max_sequences=150) is None


def test_the_best_strategy_is_named():
    found = find_witness(Naive(), Safe(), MaxRatio("1/2"), rng=np.random.default_rng(2))
    runs = compare(found.sequence, (Naive(), Safe(), Exclusive()), found.values, found.n_values)
    assert Naive() in runs.best
    assert runs.outcomes[0].released == Inference(found.sequence, Naive(), found.n_values).run(found.values).released
