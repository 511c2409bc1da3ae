# SPDX-License-Identifier: Apache-2.0
"""Tails of groups: how likely a group drawn without replacement fails, and what it then looks like. Exact."""

from math import comb

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
        total, ways = sum(histogram), []
        self._exceeding: list[tuple[int, int]] = []  # (value, how often)
        for value, count in enumerate(histogram):
            for taken in range(cap + 1, min(count, size) + 1):
                ways.append(comb(count, taken) * comb(total - count, size - taken))
                self._exceeding.append((value, taken))
        failing, everything = sum(ways), comb(total, size)
        self.chance = failing / everything
        self._cumulated = np.cumsum([one / failing for one in ways]) if failing else np.zeros(0)

    def draw(self, rng: Generator) -> list[int]:
        """A failing histogram, with its exact chance up to the rounding of a float."""
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
        # ways[k][r]: to take r rows from the values from k on; passing[k][r]: none of them more than `cap` times
        self.ways, self.passing = [[1] + [0] * size], [[1] + [0] * size]
        for count in reversed(histogram):
            choose = [comb(count, taken) for taken in range(min(count, size) + 1)]
            self.ways.append(convolve(self.ways[-1], choose, size))
            self.passing.append(convolve(self.passing[-1], choose[: cap + 1], size))
        self.ways.reverse()
        self.passing.reverse()
        total = self.ways[0][size]
        self.chance = (total - self.passing[0][size]) / total

    def draw(self, rng: Generator) -> list[int]:
        """A failing histogram, with its exact chance up to the rounding of a float."""
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
            weights, count = [], self.histogram[value]
            for taken in range(min(count, left) + 1):
                later = self.ways[value + 1][left - taken]
                if not failed and taken <= self.cap:
                    later -= self.passing[value + 1][left - taken]
                weights.append(comb(count, taken) * later)
            total = sum(weights)
            cumulated = np.cumsum([weight / total for weight in weights])
            cumulated[np.flatnonzero(weights)[-1] :] = 2.0  # rounding must not lead past the last possible number
            self._known[key] = cumulated
        return self._known[key]


def convolve(first: list[int], second: list[int], size: int) -> list[int]:
    """The product of two polynomials up to a degree."""
    product = [0] * (size + 1)
    for i, a in enumerate(first):
        if a:
            for j, b in enumerate(second[: size + 1 - i]):
                product[i + j] += a * b
    return product
