# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.errors import InvalidInput, TooLarge
from overt.randomness import SeededCoins, SystemCoins, TwoSidedGeometric, coins_of, toss, toss_each

EPSILONS = st.fractions("1/60", 4)


class Script:
    """Coins that fall as they are told."""

    source = "seeded"

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        drawn, self.left = self.left[:n], self.left[n:]
        return np.array(drawn, np.uint64)


def seeded(seed=0):
    return SeededCoins(np.random.default_rng(seed))


@given(st.fractions(0, 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_coin_falls_by_whether_its_uniform_number_is_below_the_probability(p, first, second):
    uniform = Fraction((first << 64) | second, 2**128)
    if abs(uniform - p) > Fraction(1, 2**127) or p == 1:
        assert toss(1, p, Script(first, second))[0] == (uniform < p)


@given(st.fractions("1/1000", "999/1000"))
def test_a_tie_is_decided_by_more_bits(p):
    first = math.floor(p * 2**64)
    rest = p * 2**64 - first
    if rest:
        assert toss(1, p, Script(first, 0))[0]
        assert not toss(1, p, Script(first, 2**64 - 1))[0] or rest > 1 - Fraction(1, 2**64)
    else:
        assert not toss(1, p, Script(first))[0]


@given(EPSILONS)
@settings(deadline=None, max_examples=30)
def test_thresholds_are_the_tail_probabilities_to_the_last_bit(epsilon):
    noise = TwoSidedGeometric(epsilon)
    a = math.exp(-epsilon)
    for z in (0, 1, 2, 5):
        assert noise.threshold(z) / 2**64 == pytest.approx(a**z / (1 + a), rel=1e-12)
        # the events Z >= z and Z <= -z are equally likely, and Z <= -z is not Z >= 1 - z
        assert noise.threshold(z + 1) + noise.threshold(-z) == 2**64 - 1
        assert noise.threshold(z) == noise.threshold(z, 128) >> 64 == noise.threshold(z, 256) >> 192


@given(
    st.one_of(EPSILONS, st.fractions(20, 60)), st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**64 - 2]))
)
@settings(deadline=None, max_examples=100)
def test_a_draw_is_the_greatest_number_whose_tail_is_above_the_uniform_number(epsilon, word):
    noise = TwoSidedGeometric(epsilon)
    z = int(noise.draw(1, Script(word, *[2**63] * 9))[0])
    uniform = int.from_bytes(word.to_bytes(8) + (2**63).to_bytes(8) * 3)
    assert noise.threshold(z + 1, 256) <= uniform < noise.threshold(z, 256)


@given(EPSILONS, st.integers(-3, 3), st.booleans())
@settings(deadline=None, max_examples=60)
def test_a_draw_at_a_threshold_is_decided_by_more_bits(epsilon, z, above):
    noise = TwoSidedGeometric(epsilon)
    word, rest = noise.threshold(z), noise.threshold(z, 128) & (2**64 - 1)
    second = min(rest + 1, 2**64 - 1) if above else max(rest - 1, 0)
    drawn = int(noise.draw(1, Script(word, second, 0))[0])
    assert (drawn >= z) == (second < rest)


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_the_far_tails_are_reached(word):
    noise = TwoSidedGeometric(Fraction(1))
    drawn = int(noise.draw(1, Script(word, word, 2**63))[0])
    assert abs(drawn) > 60 and (drawn > 0) == (word == 0)


def test_noise_follows_its_law():
    # chi-square with 20 degrees of freedom: above 60 with a probability below 1e-5
    epsilon, n = Fraction(1, 2), 200_000
    drawn = TwoSidedGeometric(epsilon).draw(n, seeded(1))
    a = math.exp(-0.5)
    expected = {z: n * (1 - a) / (1 + a) * a ** abs(z) for z in range(-10, 11)}
    statistic = sum((np.count_nonzero(drawn == z) - e) ** 2 / e for z, e in expected.items())
    assert statistic < 60


def test_coins_fall_with_their_probability():
    # 7 standard deviations: fails with a probability below 1e-11
    n, p = 200_000, Fraction(1, 3)
    assert abs(np.count_nonzero(toss(n, p, SystemCoins())) - n / 3) < 7 * math.sqrt(n * 2 / 9)


def test_the_default_is_the_secret_source_and_a_generator_is_a_seeded_one():
    assert coins_of(None).source == "secret"
    assert coins_of(np.random.default_rng(0)).source == "seeded"
    assert np.array_equal(seeded(5).words(4), seeded(5).words(4))
    assert not np.array_equal(SystemCoins().words(4), SystemCoins().words(4))  # equal with a probability of 2**-256


def test_refusals():
    with pytest.raises(InvalidInput, match="A probability is 1.5"):
        toss(1, Fraction(3, 2), seeded())
    with pytest.raises(InvalidInput, match="epsilon must be above 0"):
        TwoSidedGeometric(Fraction(0))
    with pytest.raises(TooLarge, match="spend more epsilon"):
        TwoSidedGeometric(Fraction(1, 10**6))


@pytest.mark.parametrize("counts", [[], [0], [5, 0, 7, 0, 0, 20, 1], [0, 0, 64], [7, 7, 7, 0]])
def test_coins_of_many_are_those_that_are_thrown_one_after_the_other(monkeypatch, counts):
    monkeypatch.setattr("overt.randomness.PART", 7)
    probability = Fraction(1, 3)
    thrown = toss(sum(counts), probability, SeededCoins(np.random.default_rng(3)))
    ends = np.cumsum(counts, dtype=int)
    fell = toss_each(np.array(counts, np.int64), probability, SeededCoins(np.random.default_rng(3)))
    assert fell.tolist() == [int(thrown[end - n : end].sum()) for n, end in zip(counts, ends, strict=True)]
