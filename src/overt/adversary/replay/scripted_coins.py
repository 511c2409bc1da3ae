# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_enumeration.py
"""ScriptedCoins: a random generator whose draws are decided beforehand, so that a method can be led through all of them.

It looks like `numpy.random.Generator` as far as draws have a list of outcomes: permutations, shuffles, whole numbers, a
choice with or without chances of its own, and Bernoulli trials. Draws from a continuum are refused by name.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from overt.adversary.replay.time_limit import NotReplayed

Fall = tuple[int, tuple[Fraction, ...] | int]  # which outcome; the chances of all, or how many equal ones


class ScriptedCoins:
    """A generator whose draws are decided beforehand, and otherwise fall on their first side."""

    def __init__(self, falls: Sequence[Fall]) -> None:
        self.falls = list(falls)
        self.at = 0

    @property
    def chance(self) -> Fraction:
        """The probability that all draws fall as they did."""
        return prod(
            (Fraction(1, of) if isinstance(of, int) else of[side] for side, of in self.falls), start=Fraction(1)
        )

    def following(self) -> "ScriptedCoins | None":
        """ScriptedCoins for the next way, depth first; None after the last."""
        falls = list(self.falls)
        while falls and falls[-1][0] == _n_sides(falls[-1]) - 1:
            falls.pop()
        if not falls:
            return None
        side, of = falls[-1]
        return ScriptedCoins([*falls[:-1], (side + 1, of)])

    def _fall(self, of: "tuple[Fraction, ...] | int") -> int:
        if of == 1 or (isinstance(of, tuple) and len(of) == 1):
            return 0
        if self.at == len(self.falls):
            self.falls.append((0, of))
        self.at += 1
        return self.falls[self.at - 1][0]

    def permutation(self, x: Any) -> Any:
        """As `Generator.permutation`, of a number or along the first axis."""
        items = np.arange(x) if isinstance(x, int | np.integer) else np.asarray(x)
        left, order = list(range(len(items))), []
        while left:
            order.append(left.pop(self._fall(len(left))))
        return items[order]

    def shuffle(self, x: Any) -> None:
        """As `Generator.shuffle`, in place."""
        x[:] = self.permutation(np.array(x))

    def integers(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:
        """As `Generator.integers`, without an end point."""
        low, high = (0, low) if high is None else (low, high)
        lows, highs = np.broadcast_arrays(low, high)
        if size is None and lows.ndim == 0:
            return int(low) + self._fall(int(high) - int(low))
        shape = lows.shape if size is None else size
        lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        drawn = [int(a) + self._fall(int(b) - int(a)) for a, b in zip(lows.ravel(), highs.ravel(), strict=True)]
        return np.array(drawn, np.int64).reshape(lows.shape)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """As `Generator.choice`; with chances of its own only with replacement."""
        items = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        if p is not None:
            if not replace and size is not None:
                raise _no_list("choice with chances and without replacement")
            sides, chances = _possible(p)
            if size is None:
                return items[sides[self._fall(chances)]]
            return items[np.array([sides[self._fall(chances)] for _ in range(int(np.prod(size)))], np.int64)].reshape(
                size
            )
        if size is None:
            return items[self._fall(len(items))]
        if replace:
            return items[self.integers(0, len(items), size)]
        left = list(range(len(items)))
        return items[[left.pop(self._fall(len(left))) for _ in range(int(size))]]

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        """As `Generator.binomial` with n = 1: trials of one chance, or of a chance each."""
        if n != 1:
            raise _no_list("binomial with more than one trial")
        chances = np.broadcast_to(p, np.shape(p) if size is None else size)
        drawn = [_side(self, Fraction(one)) for one in chances.ravel().tolist()]
        return drawn[0] if chances.ndim == 0 else np.array(drawn, np.int64).reshape(chances.shape)

    def __getattr__(self, name: str) -> Any:
        raise _no_list(name)


def _n_sides(fall: Fall) -> int:
    return fall[1] if isinstance(fall[1], int) else len(fall[1])


def _side(coins: ScriptedCoins, p: Fraction) -> int:
    sides, chances = _possible((1 - p, p))
    return sides[coins._fall(chances)]


def _possible(p: Any) -> tuple[list[int], tuple[Fraction, ...]]:
    """The outcomes with a chance above 0, and their chances, which sum to 1 exactly."""
    chances = [Fraction(one) for one in (p.tolist() if isinstance(p, np.ndarray) else p)]
    sides = [side for side, chance in enumerate(chances) if chance > 0]
    total = sum(chances, Fraction(0))
    return sides, tuple(chances[side] / total for side in sides)


def _no_list(draw: str) -> NotReplayed:
    return NotReplayed(
        f"The method draws random numbers by {draw!r}, whose outcomes cannot be listed one by one; enumeration knows "
        "permutation, shuffle, integers, choice and Bernoulli trials."
    )
