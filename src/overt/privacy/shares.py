# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_bundles.py
"""Shares of persons: properties where a person may have several values, each value judged by itself.

p(v) is the share of a group's persons who have v in any row. The shares of a group do not add up to 1, so that a property is here what
it allows of each p(v), at least and at most; q(v) is the same share among all persons of the count stratum. "This row has v" and
"their rows have v and w" are never likelier than "any row has v".
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.hierarchy.texts import texts_of
from overt.partition import Counts, Histogram, Sets
from overt.privacy.exactness import INT64_MAX, times

Bounds = tuple[Fraction, Fraction]  # the least and the greatest share
Allowed = Callable[[Fraction, str | None], Bounds]  # from q(v) and what v is called
ANY: Bounds = (Fraction(0), Fraction(1))


@dataclass(frozen=True, eq=False)
class ShareLimits:
    """(stratum, value) -> the least and the greatest share that a property allows of a group's persons."""

    least: NDArray[Any]  # of fractions
    most: NDArray[Any]

    @classmethod
    def of(cls, allowed: Allowed, sets: Sets, values: Any) -> "ShareLimits":
        """What a property allows of each value in each count stratum."""
        names = texts_of(values).to_list()
        least, most = np.empty(sets.total.shape, object), np.empty(sets.total.shape, object)
        for stratum, n_persons in enumerate(sets.n_persons.tolist()):
            for value, total in enumerate(sets.total[stratum].tolist()):
                q = Fraction(total, n_persons)
                least[stratum, value], most[stratum, value] = allowed(q, names[value])
        return cls(least, most)

    def greatest_counts(self, stratum: int, size: int) -> Counts:
        """(value) -> how many of so many persons may have it."""
        return np.array([min(size, size * m.numerator // m.denominator) for m in self.most[stratum]], np.int64)

    def least_counts(self, stratum: int, size: int) -> Counts:
        """(value) -> how many of so many persons must have it."""
        return np.array([max(0, -(-size * m.numerator // m.denominator)) for m in self.least[stratum]], np.int64)


def breaks_shares(limits: ShareLimits, histogram: Histogram, sizes: Counts) -> NDArray[np.bool_]:
    """(group) -> whether a value has too many or too few of its persons."""
    assert histogram.sets is not None
    n_groups, stratum = sizes.size, histogram.sets.stratum_of_group
    group = np.repeat(np.arange(n_groups), np.diff(histogram.first))
    most, least = limits.most[stratum[group], histogram.value], limits.least[stratum[group], histogram.value]
    broken = np.zeros(n_groups, np.bool_)
    broken[group[_exceeds(histogram.count, sizes[group], most)]] = True
    broken[group[~_reaches(histogram.count, sizes[group], least)]] = True
    needed = np.array([sum(bound > 0 for bound in of_stratum) for of_stratum in limits.least], np.int64)
    is_needed = np.array([bound > 0 for bound in least], np.bool_) if least.size else np.zeros(0, np.bool_)
    has = np.bincount(group[is_needed], minlength=n_groups)
    broken |= has < needed[stratum]  # a value that no person of the group has
    return broken


def _exceeds(count: Counts, size: Counts, bound: NDArray[Any]) -> NDArray[np.bool_]:
    above, below = _parts(bound)
    exceeds: NDArray[np.bool_] = times(count, below) > times(size, above)
    return exceeds


def _reaches(count: Counts, size: Counts, bound: NDArray[Any]) -> NDArray[np.bool_]:
    above, below = _parts(np.array([max(one, Fraction(0)) for one in bound], object))
    reaches: NDArray[np.bool_] = times(count, below) >= times(size, above)
    return reaches


def _parts(fractions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numerators and denominators, as Python integers where 64 bits are too few."""
    parts = [[one.numerator for one in fractions], [one.denominator for one in fractions]]
    kind: Any = object if any(number > INT64_MAX for part in parts for number in part) else np.int64
    return np.array(parts[0], kind), np.array(parts[1], kind)


def greatest_gain(histogram: Histogram, sizes: Counts) -> Fraction:
    """The greatest p(v) / q(v) of any group."""
    return max((p / q for p, q in _shares(histogram, sizes) if q), default=Fraction(0))


def greatest_difference(histogram: Histogram, sizes: Counts) -> Fraction:
    """The greatest |p(v) - q(v)| of any group."""
    assert histogram.sets is not None
    sets, worst = histogram.sets, Fraction(0)
    for p, q in _shares(histogram, sizes):
        worst = max(worst, abs(p - q))
    for group in range(sizes.size):  # values that nobody of the group has
        stratum = sets.stratum_of_group[group]
        total = sets.total[stratum].copy()
        total[histogram.value[histogram.first[group] : histogram.first[group + 1]]] = 0
        worst = max(worst, Fraction(int(total.max(initial=0)), int(sets.n_persons[stratum])))
    return worst


def _shares(histogram: Histogram, sizes: Counts) -> set[tuple[Fraction, Fraction]]:
    """The different pairs of p(v) and q(v)."""
    assert histogram.sets is not None
    group = np.repeat(np.arange(sizes.size), np.diff(histogram.first))
    stratum = histogram.sets.stratum_of_group[group]
    numbers = np.stack(
        [
            histogram.count,
            sizes[group],
            histogram.sets.total[stratum, histogram.value],
            histogram.sets.n_persons[stratum],
        ],
        axis=1,
    )
    return {(Fraction(a, b), Fraction(c, d)) for a, b, c, d in np.unique(numbers, axis=0).tolist()}
