# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_sampling.py
"""Tails of groups: how likely a group drawn without replacement fails, and what it then looks like.

Right up to the rounding of floats: sums of positive numbers, about 1e-10.
"""

from math import exp, lgamma, log, log1p

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def tail_of(histogram: list[int], size: int, cap: int) -> "Tail | SingleTail":
    """The tail of a group: the simple kind where two values cannot both exceed the cap."""
    return SingleTail(histogram, size, cap) if 2 * (cap + 1) > size else Tail(histogram, size, cap)


class SingleTail:
    """The same as `Tail` where only one value can exceed the cap: tails of one value at a time, which exclude each other."""

    def __init__(self, histogram: list[int], size: int, cap: int) -> None:
        self.histogram, self.size = histogram, size
        total = sum(histogram)
        everything, ways = log_comb(total, size), []
        self._exceeding: list[tuple[int, int]] = []  # (value, how often)
        for value, count in enumerate(histogram):
            for taken in range(max(cap + 1, size - total + count), min(count, size) + 1):
                ways.append(exp(log_comb(count, taken) + log_comb(total - count, size - taken) - everything))
                self._exceeding.append((value, taken))
        self.chance = min(sum(ways), 1.0)
        self._cumulated = np.cumsum(ways) / sum(ways) if self.chance else np.zeros(0)

    def draw(self, rng: Generator) -> list[int]:
        """A failing histogram, with its exact chance up to the rounding of floats."""
        place = int(np.searchsorted(self._cumulated[:-1], rng.random(), side="right"))
        value, taken = self._exceeding[place]
        others = self.histogram.copy()
        others[value] = 0
        drawn: list[int] = rng.multivariate_hypergeometric(others, self.size - taken).tolist()
        drawn[value] = taken
        return drawn


class Tail:
    """A group drawn without replacement from a released group: how likely it fails, and what it then looks like."""

    def __init__(self, histogram: list[int], size: int, cap: int) -> None:
        self.histogram, self.size, self.cap = histogram, size, cap
        self._known: dict[tuple[int, int, bool], NDArray[np.float64]] = {}
        total = max(sum(histogram), 1)
        share = min(max(size, 0.5), total - 0.5) / total
        self.weights = [binomial_weights(count, size, share) for count in histogram]
        # passing[k][r]: r rows from the values from k on, none of them more than `cap` times; failing: one of them is
        nothing = np.zeros(size + 1)
        self.passing, self.failing = [np.eye(1, size + 1)[0]], [nothing]
        for weights in reversed(self.weights):
            within, beyond = weights.copy(), weights.copy()
            within[cap + 1 :] = 0
            beyond[: cap + 1] = 0
            failing = convolve(self.failing[-1], weights, size) + convolve(self.passing[-1], beyond, size)
            self.failing.append(failing)
            self.passing.append(convolve(self.passing[-1], within, size))
        self.passing.reverse()
        self.failing.reverse()
        failed, passed = self.failing[0][size], self.passing[0][size]
        self.chance = float(failed / (failed + passed))

    def draw(self, rng: Generator) -> list[int]:
        """A failing histogram, with its exact chance up to the rounding of floats."""
        left, failed, drawn = self.size, False, []
        for value, coin in enumerate(rng.random(len(self.histogram)).tolist()):
            taken = int(np.searchsorted(self._shares(value, left, failed), coin, side="right"))
            failed = failed or taken > self.cap
            left -= taken
            drawn.append(taken)
        return drawn

    def _shares(self, value: int, left: int, failed: bool) -> NDArray[np.float64]:
        """Cumulated chances to take 0, 1, 2, ... rows of a value, when so many are left to take."""
        key = (value, left, failed)
        if key not in self._known:
            later = self.failing[value + 1][left::-1].copy()  # (taken) -> ways to go on
            first = 0 if failed else self.cap + 1
            later[first:] += self.passing[value + 1][left::-1][first:]
            weights = self.weights[value][: left + 1] * later
            cumulated = np.cumsum(weights / weights.sum())
            cumulated[np.flatnonzero(weights)[-1] :] = 2.0  # rounding must not lead past the last possible number
            self._known[key] = cumulated
        return self._known[key]


def log_comb(n: int, k: int) -> float:
    """The logarithm of a binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def binomial_weights(count: int, size: int, share: float) -> NDArray[np.float64]:
    """(taken) -> ways to take so many of `count` rows, up to `size`.

    Weighted as if each were taken with a chance of `share`: where all rows taken are `size` in the end, that is a common
    factor, and numbers stay near 1.
    """
    taken = np.arange(min(count, size) + 1)
    ways = [log_comb(count, n) for n in taken.tolist()]
    weights = np.zeros(size + 1)
    weights[: taken.size] = np.exp(np.array(ways) + taken * log(share) + (count - taken) * log1p(-share))
    return weights


def convolve(first: NDArray[np.float64], second: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The product of two polynomials up to a degree. Nothing is subtracted, so nothing cancels."""
    return np.convolve(first, second)[: size + 1]
