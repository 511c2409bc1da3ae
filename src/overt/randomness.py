# SPDX-License-Identifier: Apache-2.0
"""Coins: where the randomness of a differentially private release comes from, and exact draws from it.

The default is the operating system's generator (`os.urandom`, a ChaCha20 stream in the kernel of Linux, its equal on other
systems). It needs no package and no key of ours, keeps no state in this process that a fork, a swap file or a
snapshot could copy, and gives about 300 MB a second, which is more than the mechanisms ask for. A seeded generator is
for tests: whoever learns the seed can take the noise off, so a release remembers that it was made with one.

Draws are exact: a probability is a rational number, or a limit of ones, and not the float nearest to it. Sixty-four bits
decide nearly always; where they are not enough (once in 2**64 draws for each threshold) more are drawn, by integers of
any length. There is no floating-point noise whose gaps could tell what it was added to.
"""

import os
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.random import Generator, Philox, SeedSequence
from numpy.typing import NDArray

from overt.errors import InvalidInput, TooLarge

WORD = 64
PART = 1 << 20  # draws at a time
MOST_THRESHOLDS = 1_000_000
_LAST = np.uint64(2**64 - 1)

Kept = NDArray[np.bool_]
Counts = NDArray[np.int64]
Words = NDArray[np.uint64]


class Coins(Protocol):
    """A source of random bits that knows whether it can be trusted with people's privacy."""

    @property
    def source(self) -> Literal["secret", "seeded"]:
        """Whether nobody can repeat what was drawn."""

    def words(self, n: int) -> Words:
        """Independent uniform 64-bit words."""


@dataclass(frozen=True)
class SystemCoins:
    """The operating system's cryptographically secure generator."""

    source: Literal["secret"] = field(default="secret", init=False)

    def words(self, n: int) -> Words:
        return np.frombuffer(os.urandom(8 * n), np.uint64)


@dataclass(frozen=True)
class SeededCoins:
    """A generator that a seed repeats: for tests and experiments, never for people's data."""

    rng: Generator = field(repr=False)
    source: Literal["seeded"] = field(default="seeded", init=False)

    def words(self, n: int) -> Words:
        return self.rng.integers(0, 2**64, n, np.uint64)


def coins_of(rng: Generator | Coins | None) -> Coins:
    """The system's coins unless others are given; a NumPy generator is one that somebody could repeat."""
    if rng is None:
        return SystemCoins()
    return SeededCoins(rng) if isinstance(rng, Generator) else rng


def secret_generator() -> Generator:
    """NumPy's generator for methods that draw in secret, and whose releases are not differentially private.

    Philox with a key of 128 bits from the operating system. From what a release shows of the draws of NumPy's usual generator, PCG64, its state
    can be found by a published attack, and with it all that was drawn beside; of Philox with ten rounds no such attack is known
    (docs/theory/threat-model.md).

    >>> one, other = secret_generator(), secret_generator()
    >>> bool(one.integers(2**63) == other.integers(2**63))
    False
    """
    return Generator(Philox(SeedSequence(int.from_bytes(os.urandom(32), "little"))))


def toss(n: int, probability: Fraction, coins: Coins) -> Kept:
    """Independent coins, n of them, that fall on True with exactly this probability.

    >>> toss(3, Fraction(1), SystemCoins()).tolist()
    [True, True, True]
    """
    if not 0 <= probability <= 1:
        raise InvalidInput(f"A probability is {float(probability):g}; it must be from 0 to 1.")
    if probability == 1:
        return np.ones(n, np.bool_)

    threshold, rest = divmod(probability.numerator << WORD, probability.denominator)
    kept = np.empty(n, np.bool_)
    for begin in range(0, n, PART):
        words = coins.words(min(PART, n - begin))
        kept[begin : begin + words.size] = words < np.uint64(threshold)
        for i in np.flatnonzero(words == np.uint64(threshold)):  # a tie: what is left of both decides
            further = Fraction(rest, probability.denominator)
            kept[begin + i] = bool(rest) and toss(1, further, coins)[0]
    return kept


def toss_each(counts: Counts, probability: Fraction, coins: Coins) -> Counts:
    """How many of so many coins of each thing fall on True: those that `toss` throws for all of them, one after the other, without holding them.

    >>> toss_each(np.array([2, 0, 3]), Fraction(1), SystemCoins()).tolist()
    [2, 0, 3]
    """
    ends = np.cumsum(counts, dtype=np.int64)
    n, fell = int(ends[-1]) if ends.size else 0, np.zeros(ends.size, np.int64)
    for begin in range(0, n, PART):
        end = min(begin + PART, n)
        first, last = np.searchsorted(
            ends, (begin, end - 1), side="right"
        )  # whose coins the first and the last one are
        within = np.diff(np.clip(ends[first : last + 1], begin, end), prepend=begin).astype(np.int64)
        kept = toss(end - begin, probability, coins)
        fell[first : last + 1] += np.bincount(np.repeat(np.arange(within.size), within), kept, within.size).astype(
            np.int64
        )
    return fell


@dataclass(frozen=True)
class TwoSidedGeometric:
    """Noise on whole numbers: P(z) proportional to a ** abs(z) with a = exp(-epsilon), drawn by exact inversion.

    The draw is the greatest z with U < P(Z >= z) for a uniform U. The first 64 bits of U are compared with those of all
    thresholds at once; where they are equal, more bits of both decide. No threshold is rational, so some bit does.

    >>> round(TwoSidedGeometric(Fraction(1)).threshold(1) / 2**64, 4)  # P(Z >= 1) = a / (1 + a)
    0.2689
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise InvalidInput(f"Noise of epsilon {float(self.epsilon):g} is not defined; epsilon must be above 0.")
        if self.epsilon * MOST_THRESHOLDS < 45:  # exp(-45) < 2**-64
            raise TooLarge(
                f"Noise of epsilon {float(self.epsilon):g} spreads over more than {MOST_THRESHOLDS:,} numbers; spend more "
                "epsilon on it, or use fewer vectors of levels."
            )

    def draw(self, n: int, coins: Coins) -> Counts:
        """So many independent draws."""
        top, thresholds = self._table
        drawn = np.empty(n, np.int64)
        for begin in range(0, n, PART):
            words = coins.words(min(PART, n - begin))
            n_not_above = np.searchsorted(thresholds, words, side="right")  # thresholds ascend as z falls
            drawn[begin : begin + words.size] = top - n_not_above
            tied = np.searchsorted(thresholds, words, side="left") < n_not_above
            for i in np.flatnonzero(tied | (words == 0) | (words == _LAST)):
                drawn[begin + i] = self._decide(int(words[i]), int(top - n_not_above[i]), coins)
        return drawn

    def threshold(self, z: int, bits: int = WORD) -> int:
        """floor(2**bits P(Z >= z)), exactly: P(Z >= z) is a**z / (1 + a) for z >= 0, and 1 - P(Z >= 1 - z) below."""
        if z < 0:  # of what is no whole number, the floor of the complement is the complement of the floor, less 1
            return (1 << bits) - 1 - self.threshold(1 - z, bits)
        digits = bits // 3 + 30
        while True:
            with localcontext(Context(prec=digits)):
                step = Decimal(self.epsilon.numerator) / self.epsilon.denominator
                value = (-step * z).exp() / (1 + (-step).exp()) * (1 << bits)
                found = _floor(value, Decimal(10) ** -(digits - 10) * max(1, z))
            if found is not None:
                return found
            digits *= 2

    @cached_property
    def _table(self) -> tuple[int, Words]:
        """The greatest z whose threshold has a bit among the first 64, and the thresholds from there down to 1 - z."""
        upper = []
        with localcontext(Context(prec=60)):
            step = Decimal(self.epsilon.numerator) / self.epsilon.denominator
            a = (-step).exp()
            value = (1 << WORD) / (1 + a)
            for z in range(MOST_THRESHOLDS):
                found = _floor(value, Decimal("1e-45"))  # a million products of 60 digits lose less
                upper.append(self.threshold(z) if found is None else found)
                if not upper[-1]:
                    break
                value *= a
        upper.pop()
        lower = [
            (1 << WORD) - 1 - threshold for threshold in upper[1:]
        ]  # z = 0, -1, ..., of which z = 0 is there already
        return len(upper) - 1, np.array([*reversed(upper), *lower[1:]], np.uint64)

    def _decide(self, word: int, z: int, coins: Coins) -> int:
        """The draw of a uniform number that begins with this word, near z; more of its bits are drawn as needed."""
        bits = WORD
        while True:
            here, above = self.threshold(z, bits), self.threshold(z + 1, bits)
            if above < word < here:
                return z
            if word in (here, above):
                bits += WORD
                word = (word << WORD) | int(coins.words(1)[0])
            else:
                z += 1 if word < above else -1


def _floor(value: Decimal, error: Decimal) -> int | None:
    """The floor of a number that is known up to a relative error; None if that is not enough to tell."""
    least, greatest = int(value * (1 - error)), int(value * (1 + error))
    return least if least == greatest else None
