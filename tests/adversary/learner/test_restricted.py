import numpy as np
import pytest

import overt
from oracles import learner as oracle
from overt.adversary.learner.held_out import HeldOut
from overt.adversary.learner.restricted import (
    MOST_ROUNDS,
    MOST_WORK,
    TOLERANCE,
    crossed_chances,
    guess_in_crossed,
    guess_in_groups,
)
from overt.errors import TooLarge
from overt.kernels.assignments import chances_in_group, exact_chances, scale_to_counts
from tables import table_of


def random_group(rng, n_rows, n_values=3, evenness=0.6):
    """What rows lean to, and the values of their group."""
    return rng.dirichlet(np.full(n_values, evenness), n_rows), rng.integers(0, n_values, n_rows)


def in_group(lean, values, most_work):
    value, count = np.unique(values, return_counts=True)
    found, is_exact = chances_in_group(lean[:, value].copy(), count, most_work, MOST_ROUNDS, TOLERANCE)
    chances = np.zeros_like(lean)
    chances[:, value] = found
    return chances, is_exact


@pytest.mark.parametrize("n_rows", range(1, 7))
def test_groups_are_exact(n_rows):
    rng = np.random.default_rng(n_rows)
    for _ in range(20):
        lean, values = random_group(rng, n_rows)
        found, is_exact = in_group(lean, values, MOST_WORK)
        assert is_exact
        assert np.allclose(found, oracle.chances_in_group(lean, values), atol=1e-10)


def test_scaled_beliefs_are_near_exact_ones_in_larger_groups():
    """Sinkhorn is off by up to 0.2 in groups of 2 to 7 rows (so these are exact), and by less the larger the group is."""
    rng, off = np.random.default_rng(0), {}
    for n_rows in (4, 24, 200):
        errors = []
        for _ in range(30):
            lean, values = random_group(rng, n_rows, n_values=2)
            exact, is_exact = in_group(lean, values, 1e9)
            scaled, is_scaled = in_group(lean, values, 0)
            assert is_exact
            assert not is_scaled
            errors.append(np.abs(exact - scaled).mean())
        off[n_rows] = np.mean(errors)
    assert off[4] > off[24] > off[200]
    assert off[24] < 0.02
    assert off[200] < 0.002


def test_large_groups_add_up_and_do_not_underflow():
    rng = np.random.default_rng(1)
    lean = rng.dirichlet([0.05, 0.05], 400)
    count = np.array([300, 100])
    scaled = np.maximum(lean, 1e-200)
    scale_to_counts(scaled, count, MOST_ROUNDS, TOLERANCE)
    found = exact_chances(scaled, count)
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=0), count)
    assert np.allclose(found.sum(axis=1), 1)


def crossed(rng, n, k, size, evenness):
    group = np.minimum(rng.permutation(n) // k, n // k - 1).astype(np.int32)
    bucket = np.minimum(rng.permutation(n) // size, n // size - 1).astype(np.int32)
    values = rng.permutation(np.arange(n) % 3)
    table = table_of([list(range(n))], list(values))
    lean = rng.dirichlet(np.full(3, evenness), n)
    release = overt.CrossBucketRelease(table, overt.Partition(group, n // k), None, overt.Partition(bucket, n // size))
    learned = HeldOut(np.arange(3, dtype=np.int32), lean, np.zeros(n, np.int32))
    return release, learned, oracle.chances_in_crossed(lean, group, bucket, values.tolist())


@pytest.mark.parametrize(("n", "k", "size"), [(6, 3, 3), (6, 2, 3), (6, 3, 2), (6, 1, 3), (6, 6, 2)])
def test_groups_crossed_with_buckets_agree_with_enumeration(n, k, size):
    """Chains of 1,000 sweeps: a belief is off by about 0.01; by more than 0.08 with a fixed seed never."""
    rng = np.random.default_rng(10 * k + size)
    for _ in range(3):
        release, learned, expected = crossed(rng, n, k, size, evenness=1.0)
        found = crossed_chances(learned, release.table.sensitive[0], release, rng=rng, n_sweeps=1000).mean(axis=0)
        assert np.abs(found - expected).max() < 0.08
        assert np.abs(found - expected).mean() < 0.015


def test_group_in_one_bucket_is_a_group():
    """If every group is a bucket, who is in which bucket is known, and both ways to guess agree."""
    rng = np.random.default_rng(4)
    group = (np.arange(40) // 4).astype(np.int32)
    table = table_of([rng.permutation(40)], rng.integers(0, 3, 40))
    partition, column = overt.Partition(group, 10), table.sensitive[0]
    learned = HeldOut(np.arange(3, dtype=np.int32), rng.dirichlet(np.ones(3), 40), np.zeros(40, np.int32))
    exact = guess_in_groups(learned, column, partition, np.arange(10, dtype=np.int32))
    by_chain = guess_in_crossed(learned, column, overt.CrossBucketRelease(table, partition, None, partition), rng=rng)
    assert exact.exact.all()
    assert np.array_equal(exact.value, by_chain.value)
    assert np.allclose(exact.belief, by_chain.belief, atol=1e-4)


def test_too_many_chances_are_refused():
    table = table_of([np.zeros(5000, int)], np.arange(5000))
    everybody = overt.Partition(np.zeros(5000, np.int32), 1)
    release = overt.CrossBucketRelease(table, everybody, None, everybody)
    learned = HeldOut(np.zeros(5000, np.int32), np.ones((5000, 1)), np.zeros(5000, np.int32))
    with pytest.raises(TooLarge, match="5,000 people with 5,000 values"):
        guess_in_crossed(learned, table.sensitive[0], release, rng=np.random.default_rng(0))
