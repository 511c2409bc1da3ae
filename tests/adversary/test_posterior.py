# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from overt.adversary.audit import audit_release
from overt.adversary.posterior import Posterior, expected_best
from overt.algorithms import Mondrian
from overt.privacy import FrequencyLDiversity
from tables import table_of


def told(parts, truth):
    """A posterior as two halves of chains tell it."""
    return Posterior(
        np.arange(len(truth), dtype=np.int32), np.mean(parts, axis=0), np.full_like(truth, 0.02), "chain", parts=parts
    )


def test_the_best_of_noisy_estimates_is_too_large_and_what_the_other_half_tells_is_not():
    rng = np.random.default_rng(2)
    truth = np.full((4000, 10), 0.1)
    parts = truth + rng.normal(0, 0.03, (2, *truth.shape))
    found = told(parts, truth)
    assert found.belief_of_row.mean() > 0.125  # 0.03 / sqrt(2) times the mean of the largest of ten, 1.54
    # the mean of 4,000 times two draws of deviation 0.03; five standard errors, so a chance of failing below 1 in a million
    assert expected_best(found, np.zeros(4000)).mean() == pytest.approx(0.1, abs=5 * 0.03 / np.sqrt(8000))


def test_what_stands_out_is_found_by_both_halves():
    truth = np.tile([0.7, 0.2, 0.1], (500, 1))
    parts = truth + np.random.default_rng(3).normal(0, 0.02, (2, *truth.shape))
    assert expected_best(told(parts, truth), np.zeros(500)).mean() == pytest.approx(0.7, abs=5 * 0.02 / np.sqrt(1000))
    weight = np.tile([0.1, 1.0, 1.0], (500, 1))
    assert expected_best(told(parts, truth), np.zeros(500), weight).mean() == pytest.approx(0.2, abs=0.005)


def test_exact_chances_need_no_halves():
    chance = np.array([[0.5, 0.5], [0.25, 0.75]])
    found = Posterior(np.array([1, 0, 1], np.int32), chance, np.zeros_like(chance), "enumeration", 3)
    assert expected_best(found, np.zeros(3)).tolist() == [0.75, 0.5, 0.75]
    assert expected_best(found, np.zeros(3), np.array([[1.0, 0.1], [1.0, 0.1]])).tolist() == [0.25, 0.5, 0.25]


def test_halves_of_runs_are_told_apart_and_agree_on_the_whole():
    rng = np.random.default_rng(2)
    age, sex = rng.integers(0, 40, 600), rng.integers(0, 3, 600)
    values = np.where(rng.random(600) < 0.24 + 0.2 * (age < 8), 0, rng.integers(1, 6, 600))
    release = Mondrian(goal=FrequencyLDiversity(3)).anonymize(table_of([age, sex], values.tolist()))
    found = audit_release(release, rng=np.random.default_rng(1), sweeps=30)
    parts = found.replayed.parts
    assert parts is not None and parts.shape == (2, *found.replayed.chance.shape)
    assert np.allclose(parts.sum(axis=2), 1, atol=1e-6)
    assert not np.array_equal(parts[0], parts[1])
    assert np.abs(parts.mean(axis=0) - found.replayed.chance).max() < 0.1
    picked = parts.max(axis=2).mean(axis=0)[found.replayed.cell_of_row].sum()  # by each half for itself: too much
    assert found.guesses[0] <= found.guesses[1] <= max(found.guesses[0], picked)


def test_where_half_of_the_chains_told_nothing_the_release_speaks():
    chance = np.array([[0.9, 0.1], [0.3, 0.7]])
    parts = np.stack([chance, chance])
    parts[0, 0] = np.nan
    found = Posterior(np.array([0, 1], np.int32), chance, np.full_like(chance, 0.5), "chain", parts=parts)
    assert expected_best(found, np.array([0.5, 0.4])).tolist() == pytest.approx([0.5, 0.7])
