# SPDX-License-Identifier: Apache-2.0
"""Exact comparisons of counts, quickly: int64 where it is large enough, Python integers where it is not.

Nothing here is rounded towards a verdict. Floats only sort out the cases that are clear by far; the others
are decided in integers, or by enclosing an irrational number ever more narrowly until the case is clear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]  # of int64, or of Python integers
INT64_MAX = 2**63 - 1


def times(left: Integers, right: "Integers | int") -> Integers:
    """The product of non-negative integers, as Python integers if int64 could overflow."""
    factor = int(np.max(right, initial=0))
    if max(factor, factor * int(left.max(initial=0))) > INT64_MAX:
        return left.astype(object) * right
    return left * right


def most_of(sizes: NDArray[np.int64], share: Fraction) -> NDArray[np.int64]:
    """The greatest whole numbers that are at most this share of some sizes."""
    return (times(sizes, share.numerator) // share.denominator).astype(np.int64)


def greatest_ratio(numerators: Integers, denominators: Integers) -> Fraction:
    """The greatest of `numerators / denominators`; none is negative and no denominator is 0."""
    ratios = (numerators / denominators).astype(np.float64)
    near = ratios >= ratios.max() * (1 - 2**-48)  # three roundings, and so all that could be the greatest
    numerators, denominators = numerators[near], denominators[near]
    while True:
        best = Fraction(int(numerators[0]), int(denominators[0]))
        greater = times(numerators, best.denominator) > times(denominators, best.numerator)
        if not greater.any():
            return best
        numerators, denominators = numerators[greater], denominators[greater]


@dataclass(frozen=True)
class Irrational:
    """A number that is no fraction, known by bounds as narrow as asked for: `enclose(digits)`.

    Since it is no fraction it never equals one, and every comparison with one ends.
    """

    enclose: Callable[[int], tuple[Fraction, Fraction]]

    def __gt__(self, other: Fraction) -> bool:
        low, _ = self._until(lambda low, high: not low <= other <= high)
        return low > other

    def __add__(self, other: int) -> "Irrational":
        def enclose(digits: int) -> tuple[Fraction, Fraction]:
            low, high = self.enclose(digits)
            return low + other, high + other

        return Irrational(enclose)

    def __float__(self) -> float:
        return float(self.enclose(30)[0])

    def floor_of_multiple(self, factor: Fraction) -> int:
        """The whole part of the number times a positive fraction."""
        low, _ = self._until(lambda low, high: floor(low * factor) == floor(high * factor))
        return floor(low * factor)

    def _until(self, clear: Callable[[Fraction, Fraction], bool]) -> tuple[Fraction, Fraction]:
        digits = 30
        while not clear(*(bounds := self.enclose(digits))):
            digits *= 2
        return bounds


def exponential(power: Fraction) -> Irrational:
    """The number e to a power other than 0: irrational, as Lambert proved for every fraction."""
    return Irrational(lambda digits: _enclose(Context.exp, power, digits))


def logarithm(number: Fraction) -> Irrational:
    """The natural logarithm of a positive number other than 1: if it were a fraction, e to it would not be one."""
    return Irrational(lambda digits: _enclose(Context.ln, number, digits))


@lru_cache(maxsize=1 << 14)  # a search for a plan asks for the same few thousand bounds again and again
def _enclose(function: Callable[[Context, Decimal], Decimal], at: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds on an increasing function that the decimal module rounds to the nearest."""
    bounds = []
    for rounding, step in ((ROUND_FLOOR, Context.next_minus), (ROUND_CEILING, Context.next_plus)):
        context = Context(prec=digits, rounding=rounding, Emin=-999, Emax=999)
        argument = context.divide(Decimal(at.numerator), Decimal(at.denominator))
        bounds.append(Fraction(step(context, function(context, argument))))
    return bounds[0], bounds[1]


def floors_of_multiples(bounds: Sequence[Fraction | Irrational], factors: Integers, divisor: int) -> NDArray[np.int64]:
    """(row, column) -> the whole part of `bounds[column] * factors[row, column] / divisor`, or 2**62 if that is less."""
    as_float = {id(bound): float(bound) for bound in bounds}  # often one for all
    multiples = np.array([as_float[id(bound)] for bound in bounds]) * factors.astype(np.float64) / divisor
    floors = np.minimum(multiples, 2.0**62).astype(np.int64)
    is_unclear = np.abs(multiples - np.rint(multiples)) <= 2**-46 * (multiples + 1)  # far more than the rounding
    for row, column in zip(*np.nonzero(is_unclear), strict=True):
        bound, factor = bounds[column], Fraction(int(factors[row, column]), divisor)
        whole = bound.floor_of_multiple(factor) if isinstance(bound, Irrational) else floor(bound * factor)
        floors[row, column] = min(whole, 2**62)
    return floors
