# SPDX-License-Identifier: Apache-2.0
"""Estimates: the bounds cover what exact engines say, as often as they promise and more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.sequence.worlds import windows
from overt.algorithms.sequence import (
    DistinctL,
    EntropyL,
    Exclusive,
    Function,
    Inference,
    KJump,
    MaxRatio,
    RecursiveCL,
    Safe,
    Sequence,
)
from overt.algorithms.sequence.engines.confidence import chernoff_bounds
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from overt.algorithms.sequence.engines.group_tails import Tail, tail_of
from overt.algorithms.sequence.engines.sampling import Sampling
from overt.algorithms.sequence.engines.table_samplers import KarpLuby, Rejection
from overt.algorithms.sequence.engines.table_tests import TableTests


def covers(estimate, exact):
    truth = exact.posterior.bounded().middle
    inside = (estimate.posterior.lower <= truth + 1e-12) & (truth <= estimate.posterior.upper + 1e-12)
    log_count = np.log10(float(exact.count))
    return inside.all() and estimate.count.lower_log10 <= log_count <= estimate.count.upper_log10


@pytest.mark.parametrize("goal", [MaxRatio("1/2"), DistinctL(3), EntropyL("5/2"), RecursiveCL(1, 3)])
def test_rejection_covers_the_sweep(goal):
    """Forty estimates at a confidence of 0.9. They are conservative: more than two misses have a chance under 1e-3
    even if each missed as often as it is allowed to be seen here (0.01)."""
    sequence = Sequence(windows(48, 4, 6, 12), goal)
    values = np.random.default_rng(3).integers(0, 5, 48).astype(np.int32)
    exact = FrontierSweep(sequence, Exclusive()).disclosure(values, 5, 3)
    assert exact.count
    missed = 0
    for seed in range(40):
        engine = Sampling(sequence, Exclusive(), np.random.default_rng(seed), confidence=0.9, max_tables=4000)
        missed += not covers(engine.disclosure(values, 5, 3), exact)
    assert missed <= 2


def rare_failures():
    """Groups of 6 in groups of 12; only the first has a value often enough that five of a half can be alike."""
    values = np.tile(np.arange(12, dtype=np.int32) % 6, 10)
    values[:4] = 0
    return Sequence(windows(120, 6, 12), MaxRatio("2/3")), values


def test_karp_luby_covers_the_sweep_where_failures_are_rare():
    """One table in 66 fails; rejection finds too few."""
    sequence, values = rare_failures()
    exact = FrontierSweep(sequence, Exclusive()).disclosure(values, 6, 2, exact_bits=1 << 20)
    share = exact.count / Inference(sequence, Exclusive(), 6).permutation(values, 2).count
    tests = TableTests.of(sequence, 2, values, 6)
    assert KarpLuby.suits(tests)
    sampler = KarpLuby(tests)
    drawn = 20_000
    accepted, sums = sampler.sample(drawn, np.random.default_rng(1))
    # the estimate of P(some group fails) has a relative standard error below 1/sqrt(accepted)
    assert sampler.expected * accepted / drawn == pytest.approx(share, rel=5 / np.sqrt(accepted))
    posterior = sums / (accepted * tests.size_of_cell[:, None])
    error = np.abs(posterior - exact.posterior.bounded().middle)[tests.live_cells]
    assert tests.live_cells.tolist() == [0, 1] and error.max() < 5 / np.sqrt(accepted)


def test_the_estimate_switches_to_karp_luby_by_itself():
    sequence, values = rare_failures()
    known = Sampling(sequence, Exclusive(), np.random.default_rng(0), max_tables=8000).disclosure(values, 6, 2)
    assert known.method == "sampling (Karp-Luby)" and known.confidence == 0.999 and not known.exact


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=4), st.data())
def test_tail_probability_is_exact(histogram, data):
    total = sum(histogram)
    size = data.draw(st.integers(0, total))
    cap = data.draw(st.integers(0, max(1, size)))
    from itertools import combinations

    balls = [value for value, count in enumerate(histogram) for _ in range(count)]
    draws = list(combinations(range(total), size))
    failing = sum(any([balls[i] for i in draw].count(v) > cap for v in range(len(histogram))) for draw in draws)
    for tail in {Tail(histogram, size, cap), tail_of(histogram, size, cap)}:
        assert tail.chance == pytest.approx(failing / len(draws))
        if failing:
            drawn = tail.draw(np.random.default_rng(0))
            assert sum(drawn) == size and max(drawn) > cap


def test_sampled_tables_keep_group_histograms_and_are_uniform():
    """Two rows of value 1 among five: ten tables. Chi-square with 9 degrees of freedom stays under 27.9 with a
    chance of 0.999; the seed is fixed."""
    sequence = Sequence((Function.from_ranges("g1", [2, 3]), Function.from_ranges("g2", [5])), MaxRatio("2/3"))
    values = np.array([0, 0, 0, 1, 1], np.int32)
    tests = TableTests.of(sequence, 2, values, 2)
    rng, seen = np.random.default_rng(0), {}
    sampler = Rejection(tests)
    accepted, _ = sampler.sample(5000, rng)
    # g1 passes if the first two rows differ: two orders, times three of the rest, of ten tables
    assert accepted / 5000 == pytest.approx(0.4, abs=5 * np.sqrt(0.24 / 5000))
    permutation = Inference(sequence, Exclusive(), 2).permutation(values, 2)
    for _ in range(2000):
        key = tuple(permutation.sample(rng).tolist())
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 10 and sum((n - 200) ** 2 / 200 for n in seen.values()) < 27.9


def test_draws_outside_and_exact_runs_inside_cover_the_nested_engine():
    inner = [2, 3, 4] * 4
    sequence = Sequence(
        (Function.from_ranges("g1", inner), Function.from_ranges("g2", [9] * 4), Function.from_ranges("g3", [18] * 2)),
        MaxRatio("1/2"),
    )
    values = np.random.default_rng(5).permutation(np.arange(36) % 4).astype(np.int32)
    exact = Inference(sequence, Safe(), 4).disclosure(values, 3)
    inference = Inference(sequence, KJump(1), 4)
    engine = Sampling(sequence, KJump(1), np.random.default_rng(0), max_tables=600, reaches=inference.reaches)
    known = engine.disclosure(values, 4, 3)
    assert known.method == "sampling (exact inside)"
    assert covers(known, exact)


def test_chernoff_bounds_are_as_tight_as_promised():
    low, high = chernoff_bounds(np.array([0.0, 0.5, 1.0]), 1000, 0.001)
    assert low[0] == 0 and high[2] == 1
    assert high[0] == pytest.approx(1 - 0.001 ** (1 / 1000), rel=1e-6)
    assert 0.5 - low[1] == pytest.approx(high[1] - 0.5) and high[1] - 0.5 < np.sqrt(np.log(1000) / 2000)


def test_karp_luby_with_a_second_function_covers_the_sweep():
    """The finer function fails often, the coarser rarely: its failing group is drawn first."""
    rng = np.random.default_rng(6)
    values = np.tile(np.arange(12, dtype=np.int32) % 6, 10)
    values[:4] = 0
    sequence = Sequence(windows(120, 4, 6, 12), MaxRatio("2/3"))
    exact = FrontierSweep(sequence, Exclusive()).disclosure(values, 6, 3)
    trials = TableTests.of(sequence, 3, values, 6)
    sampler = KarpLuby(trials)
    assert sampler.rare == 1
    drawn = 20_000
    accepted, sums = sampler.sample(drawn, rng)
    share = exact.count / Inference(sequence, Exclusive(), 6).permutation(values, 3).count
    assert sampler.expected * accepted / drawn == pytest.approx(share, rel=5 / np.sqrt(accepted))
    posterior = sums / (accepted * trials.size_of_cell[:, None])
    error = np.abs(posterior - exact.posterior.bounded().middle)[trials.live_cells]
    assert error.max() < 5 / np.sqrt(accepted)
