# SPDX-License-Identifier: Apache-2.0
"""Divergence: how far a mechanism tells two neighbouring databases apart, exactly.

A mechanism is (epsilon, delta)-differentially private if for every two databases that differ in one record, and every
set of outputs S, Pr[S] on one is at most e^epsilon Pr[S] on the other plus delta. The least delta for two databases is
the hockey-stick divergence: the sum over outputs of what the one chance exceeds e^epsilon times the other by. A
mechanism is a value here: anything that says with which chance it gives which output of a database (`laws`).

Paper       C. Dwork, A. Roth, "The Algorithmic Foundations of Differential Privacy", 2014, definition 2.4.
Implements  The definition, by enumeration, for neighbours by adding and by removing one record.
Departs     nothing
Guarantee   Exact in fractions; e^epsilon is rounded down at the 40th digit, so that a delta is never understated.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from overt.adversary.dp.output_laws import CellArray, Law
from overt.errors import InvalidInput

Mechanism = Callable[[Sequence[Any]], Law]  # the records of a database -> the law of what is published

_DIGITS = Context(prec=60, rounding=ROUND_DOWN)


@dataclass(frozen=True)
class Delta:
    """The least delta for two neighbours at one epsilon, in both directions."""

    epsilon: float
    remove: Fraction  # the database with the record against that without it
    add: Fraction  # the reverse

    @property
    def worst(self) -> Fraction:
        return max(self.remove, self.add)


def hockey_stick(law: Law, other: Law, epsilon: float | Fraction) -> Fraction:
    """The least delta with Pr[S] <= e^epsilon Pr'[S] + delta for every set S of outputs.

    >>> fair, loaded = {"h": Fraction(1, 2), "t": Fraction(1, 2)}, {"h": Fraction(1, 4), "t": Fraction(3, 4)}
    >>> hockey_stick(fair, loaded, 0)
    Fraction(1, 4)
    """
    factor = growth(epsilon)
    return sum((max(Fraction(0), p - factor * other.get(output, 0)) for output, p in law.items()), Fraction(0))


def hockey_stick_of_cells(law: CellArray, other: CellArray, epsilon: float) -> float:
    """The same for laws of counts in floats: exact up to their rounding."""
    return float(np.maximum(law - math.exp(epsilon) * other, 0).sum())


def delta_between(mechanism: Mechanism, database: Sequence[Any], removed: int, epsilon: float) -> Delta:
    """Both directions, for a database and the same without one record."""
    if not 0 <= removed < len(database):
        raise InvalidInput(f"There is no record {removed} among {len(database)} records; count from 0.")
    without = [record for i, record in enumerate(database) if i != removed]
    law, other = mechanism(database), mechanism(without)
    return Delta(float(epsilon), hockey_stick(law, other, epsilon), hockey_stick(other, law, epsilon))


def worst_delta(
    mechanism: Mechanism, database: Sequence[Any], epsilon: float, *, universe: Sequence[Any] = ()
) -> Delta:
    """The largest over all neighbours: every record removed, and every record of `universe` added.

    >>> from overt.adversary.dp.output_laws import multiset_law
    >>> def exact_counts(records): return multiset_law([{record: 1} for record in records])
    >>> worst_delta(exact_counts, ["a", "b"], 1.0).worst
    Fraction(1, 1)
    """
    pairs = [delta_between(mechanism, database, i, epsilon) for i in range(len(database))]
    pairs += [delta_between(mechanism, [*database, record], len(database), epsilon) for record in universe]
    if not pairs:
        raise InvalidInput("An empty database has no neighbour by removal; give a universe of records to add.")
    return max(pairs, key=lambda pair: pair.worst)


def growth(epsilon: float | Fraction) -> Fraction:
    """Euler's number to the power of epsilon, rounded down at the 40th digit."""
    if not math.isfinite(epsilon) or epsilon < 0:
        raise InvalidInput(f"epsilon is {epsilon!r}; a finite number of at least 0 is expected.")
    exponent = (
        _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
        if isinstance(epsilon, Fraction)
        else Decimal(epsilon)
    )
    if exponent == 0:
        return Fraction(1)
    power = _DIGITS.exp(exponent)
    return Fraction(power) * (1 - Fraction(1, 10**50))
