# SPDX-License-Identifier: Apache-2.0
"""Entropy l-diversity, decided exactly.

With counts c of a group of n rows, entropy of at least log(l) says that n^n >= l^n * product of c^c. Values
that are equally frequent have the entropy of their number, an integer. For the others a float decides if the
two sides differ by more than the float can err; what is left, mostly nothing, is decided by logarithms
of more and more digits, and equality by prime factors.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.kernels.diversity import count_logs, sort_counts
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Limits, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.l_diversity import DistinctLDiversity

SortedCounts = tuple[int, ...]  # the counts of a group's values, ascending


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveProperty):
    """Every group's sensitive values have entropy at least log(l); l may be fractional.

    A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity",
    ICDE 2006.
    """

    l: Number

    name: ClassVar[str] = "entropy-l-diversity"
    parameter: ClassVar[str] = "l"
    best: ClassVar[str] = "largest"
    monotone: ClassVar[bool] = True  # entropy is concave: a merger is never below its lesser part

    def __post_init__(self) -> None:
        require_number("l", self.l, least=1)

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        l = exact(self.l)
        entropy, error, n_even = entropies(histogram, sizes)
        log_l = float(log_of(l, Context(prec=30)))
        broken: Broken = entropy < log_l
        is_unclear = np.abs(entropy - log_l) <= error + 2**-50 * log_l
        is_unclear[n_even > 0] = False
        broken[n_even > 0] = n_even[n_even > 0] < math.ceil(l)
        unclear = np.flatnonzero(is_unclear)
        verdicts: dict[SortedCounts, bool] = {}
        for group, spread in zip(unclear, spreads(histogram, unclear), strict=True):
            if spread not in verdicts:
                verdicts[spread] = not reaches(spread, l)
            broken[group] = verdicts[spread]
        return broken

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> float:
        entropy, error, n_even = entropies(histogram, sizes)
        may_be_least = entropy - error <= (entropy + error).min()
        uneven = np.flatnonzero(may_be_least & (n_even == 0))
        even = n_even[may_be_least & (n_even > 0)]
        return min([float(n) for n in np.unique(even)] + [best_float(s) for s in set(spreads(histogram, uneven))])

    def at_l(self, l: int) -> Property:
        return replace(self, l=l)

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits:
        return Limits(sizes, least=math.ceil(exact(self.l)), entropy=math.log(exact(self.l)))

    @property
    def least_rows(self) -> int:
        return math.ceil(exact(self.l))

    def necessary(self, everyone: Groups) -> Property:
        return DistinctLDiversity(self.least_rows, column=self.column)

    @property
    def in_words(self) -> str:
        return f"The sensitive values{self.where} of every group are as mixed, by entropy, as {self.l} values that are equally frequent."

    def __str__(self) -> str:
        return f"entropy {self.l}-diversity{self.where}"


def entropies(histogram: Histogram, sizes: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64], Counts]:
    """(group) -> its entropy, how far that may be off, and how many values it has if equally frequent, else 0."""
    total, n_even = count_logs(histogram.first, histogram.count)
    log_n = np.log(sizes)
    # With u = 2^-53 and logarithms within 4 u of the truth (libraries promise 1), a term c ln c is within 8 u
    # of itself and a sum of m of them within (m + 8) u of itself; it is at most n ln n. Twice that is claimed.
    return log_n - total / sizes, 2**-52 * (np.diff(histogram.first) + 32) * log_n, n_even


def spreads(histogram: Histogram, groups: NDArray[np.int64]) -> Iterator[SortedCounts]:
    """The ascending counts of some groups."""
    if groups.size:
        ordered = sort_counts(histogram.first, histogram.count)
        for begin, end in zip(histogram.first[groups], histogram.first[groups + 1], strict=True):
            yield tuple(ordered[begin:end].tolist())


def reaches(spread: SortedCounts, l: Fraction) -> bool:
    """Whether these counts have entropy at least log(l)."""
    n, times_of_count = sum(spread), Counter(spread)
    digits = 40
    while True:
        context = Context(prec=digits)
        terms = [context.multiply(-c * times, context.ln(c)) for c, times in times_of_count.items()]
        terms += [context.multiply(n, context.ln(n)), context.multiply(-n, log_of(l, context))]
        spare, size = sum(map(Fraction, terms), Fraction(0)), sum(abs(Fraction(term)) for term in terms)
        # Every operation is rounded to the nearest of `digits` digits, three of them in a row at most.
        if abs(spare) > size * Fraction(1, 10 ** (digits - 2)):
            return spare > 0
        if digits == 40 and is_equal(n, times_of_count, l):
            return True
        digits *= 2


def log_of(l: Fraction, context: Context) -> Decimal:
    """The logarithm of a number of at least 1, to about the digits of the context."""
    return context.ln(context.divide(Decimal(l.numerator), Decimal(l.denominator)))


def is_equal(n: int, times_of_count: Counter[int], l: Fraction) -> bool:
    """Whether n^n = l^n * product of c^c: whether both sides have the same prime factors."""
    exponents: Counter[int] = Counter()
    for number, power in [(n, n), *((c, -c * times) for c, times in times_of_count.items())]:
        for prime in prime_factors(number):
            exponents[prime] += power
    for number, power in ((l.numerator, -n), (l.denominator, n)):
        for prime in exponents:
            while number % prime == 0:
                number //= prime
                exponents[prime] += power
        if number > 1:  # l has a prime factor that nothing on the other side has
            return False
    return not any(exponents.values())


@lru_cache(maxsize=4096)
def prime_factors(number: int) -> tuple[int, ...]:
    """The prime factors of a number, each as often as it divides."""
    factors, factor = [], 2
    while factor * factor <= number:
        while number % factor == 0:
            factors.append(factor)
            number //= factor
        factor += 1
    return (*factors, number) if number > 1 else tuple(factors)


def best_float(spread: SortedCounts) -> float:
    """The largest float l that these counts reach, read as `exact` reads it."""
    context, n = Context(prec=40), sum(spread)
    shares = ((Fraction(c * times, n), c) for c, times in Counter(spread).items())
    entropy = Fraction(context.ln(n)) - sum(share * Fraction(context.ln(c)) for share, c in shares)
    l = float(context.exp(context.divide(Decimal(entropy.numerator), Decimal(entropy.denominator))))
    while not reaches(spread, exact(l)):
        l = math.nextafter(l, 1)
    while reaches(spread, exact(above := math.nextafter(l, math.inf))):
        l = above
    return l
