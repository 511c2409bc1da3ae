# SPDX-License-Identifier: Apache-2.0
"""What sampling and suppression cost in privacy: exact delta, least k, least tau, and how a budget is divided.

Paper       N. Li, W. Qardaji, D. Su, "On Sampling, Anonymization, and Differential Privacy", ASIACCS 2012, for the
            bound; M. Fouad, K. Elbassioni, E. Bertino, CERIAS 2012-1, section 3, for the setting.
Implements  The bound of Li, Qardaji and Su, and the exact worst case, of keeping every record with probability s and
            leaving out what has fewer than k kept copies; the least k and tau; division of a budget.
Departs     The exact delta is ours. Both maxima over the number n of records in a cell are taken in closed form for
            every threshold j: j kept copies are most telling at the least n (for the bound: the greatest) with
            j - 1 <= gamma n < j. See docs/guides/differential-privacy.md.
Guarantee   What is returned is never below the true value, and above it by less than one part in 10**12 (or is 1e-290,
            for anything less). A search in floats only says where to look; every number that decides is computed
            with 60 digits and rounded up.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Literal

from overt.errors import InvalidInput, TooLarge
from overt.privacy.base import Number, exact, require_number, require_whole

DeltaBound = Literal["exact", "li"]

DIGITS = 60
MOST_RECORDS = (
    1_000_000  # in one cell; up to here an answer takes moments, and floats are good enough to say where to look
)
NEGLIGIBLE = 1e-290
MOST_EPSILON = 100  # of sampling: exp(-epsilon) must be seen beside 1 with 60 digits; no one is protected long before
MOST_ALTOGETHER = 10**6  # of a budget
_SURE = 1e-5  # floats this far apart, relatively, are different
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
# B(2i) / (2i (2i - 1)), the coefficients of Stirling's series
_STIRLING = [
    Fraction(*pair)
    for pair in (
        (1, 12),
        (-1, 360),
        (1, 1260),
        (-1, 1680),
        (1, 1188),
        (-691, 360360),
        (1, 156),
        (-3617, 122400),
        (43867, 244188),
        (-174611, 125400),
        (77683, 5796),
        (-236364091, 1506960),
    )
]


def exact_delta(k: int, s: Number, epsilon: Number) -> float:
    """The least delta with which sampling at rate s and suppression below k is (epsilon, delta)-private.

    It is the worst case over all tables, attained by identical records, rounded up.

    >>> exact_delta(20, 0.2, 0.5) < 1e-6 < exact_delta(15, 0.2, 0.5)
    True
    """
    return _Sampling.of(s, epsilon).worst(_whole("k", k), "exact")


def li_bound(k: int, s: Number, epsilon: Number) -> float:
    """The bound of Li, Qardaji and Su on the same delta, rounded up; it is never below `exact_delta`."""
    return _Sampling.of(s, epsilon).worst(_whole("k", k), "li")


def least_k(epsilon: Number, delta: Number, s: Number, *, bound: DeltaBound = "exact") -> int:
    """The least k for which sampling at rate s and suppression below k is (epsilon, delta)-private.

    >>> least_k(1, 1e-6, 0.3), least_k(1, 1e-6, 0.3, bound="li")
    (17, 22)
    """
    if bound not in ("exact", "li"):
        raise InvalidInput(f"There is no bound {bound!r}; use 'exact', or 'li' for that of Li, Qardaji and Su.")
    return _Sampling.of(s, epsilon).least_k(require_delta(delta), bound)


def gamma_of(s: Number, epsilon: Number) -> float:
    """The share of kept copies from which a cell speaks for one record more: 1 - (1 - s) exp(-epsilon)."""
    return float(_Sampling.of(s, epsilon).gamma)


def largest_s(epsilon: Number, *, digits: int = 4) -> Fraction:
    """The largest s of so many decimals for which sampling can be epsilon-private: s <= 1 - exp(-epsilon).

    >>> largest_s(1)
    Fraction(6321, 10000)
    """
    require_epsilon(epsilon)
    with localcontext(Context(prec=DIGITS)):
        return Fraction(int((1 - (-_decimal(exact(epsilon))).exp()) * 10**digits), 10**digits)


def least_tau(epsilon: Number, delta: Number, n_vectors: int) -> int:
    """The least tau with n_vectors * P(1 + noise >= tau) <= delta, for two-sided geometric noise of epsilon / n_vectors.

    A cell that holds one record passes the threshold with at most that probability, in all vectors of levels together.

    >>> least_tau(0.5, 1e-6, 7)
    213
    """
    require_epsilon(epsilon)
    wanted = require_delta(delta)
    n_vectors = _whole("the number of vectors of levels", n_vectors)
    with localcontext(Context(prec=DIGITS)):
        step = _decimal(exact(epsilon) / n_vectors)
        a = (-step).exp()
        excess = (Decimal(n_vectors) / ((1 + a) * _decimal(wanted))).ln()
        # tau - 1 >= excess / step; one unit of the 50th digit covers the rounding of all steps
        return max(1, 1 + math.ceil(excess / step + Decimal(10) ** -(DIGITS - 10)))


@dataclass(frozen=True)
class Budget:
    """What a release may cost: epsilon and delta, exactly. Budgets of releases of the same people add up."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, epsilon: Number, delta: Number) -> "Budget":
        """A budget of one release: epsilon above 0, delta between 0 and 1."""
        require_epsilon(epsilon)
        return cls(exact(epsilon), require_delta(delta))

    def __add__(self, other: "Budget") -> "Budget":
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __le__(self, other: "Budget") -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def split(self, share: Number = Fraction(1, 2)) -> tuple["Budget", "Budget"]:
        """Two budgets that add up to this one exactly; the first has this share of epsilon and of delta.

        >>> first, second = Budget.of(1, "1e-6").split("1/4")
        >>> first.epsilon, first + second == Budget.of(1, "1e-6")
        (Fraction(1, 4), True)
        """
        require_number("share", share, above=0)
        part = exact(share)
        if part >= 1:
            raise InvalidInput(f"share is {share!r}; a number below 1 is expected, so that something is left.")
        first = Budget(self.epsilon * part, self.delta * part)
        return first, Budget(self.epsilon - first.epsilon, self.delta - first.delta)

    def if_replaced(self) -> "Budget":
        """What the same release costs if a neighbour has one record replaced, not added or removed; rounded up."""
        with localcontext(Context(prec=DIGITS, rounding=ROUND_CEILING)):
            factor = 1 + _decimal(self.epsilon).exp() * (1 + Decimal(10) ** -(DIGITS - 5))
            return Budget(2 * self.epsilon, min(Fraction(1), Fraction(factor) * self.delta))

    def __str__(self) -> str:
        return f"epsilon {_shown(self.epsilon)}, delta {_shown(self.delta)}"


@dataclass(frozen=True)
class _Sampling:
    """Sampling at rate s, judged at epsilon; numbers of 60 digits."""

    rate: Fraction
    s: Decimal  # the same
    power: Decimal  # exp(epsilon)
    gamma: Decimal

    @classmethod
    def of(cls, s: Number, epsilon: Number) -> "_Sampling":
        """Refuse what cannot be differentially private whatever k is."""
        require_epsilon(epsilon)
        require_number("s", s, above=0)
        if exact(epsilon) > MOST_EPSILON:
            raise InvalidInput(
                f"epsilon is {epsilon!s}; at most {MOST_EPSILON} is expected, and above 20 hardly anybody is protected."
            )
        return cls._made(exact(s), exact(epsilon))

    @classmethod
    @lru_cache(maxsize=256)
    def _made(cls, s: Fraction, epsilon: Fraction) -> "_Sampling":
        if s >= 1:
            raise InvalidInput("s is 1 or more, and a record that is surely kept cannot be hidden; give s below 1.")
        with localcontext(Context(prec=DIGITS)):
            rate, power = _decimal(s), _decimal(epsilon).exp()
            if rate > 1 - 1 / power:
                raise InvalidInput(
                    f"Keeping records with probability {float(s):g} costs at least epsilon {-math.log1p(-float(s)):.6g} "
                    f"and {float(epsilon):g} is given; use s of at most {float(largest_s(epsilon)):g}, or more epsilon."
                )
            return cls(s, rate, power, 1 - (1 - rate) / power)

    @property
    def rest(self) -> float:
        """1 - gamma, with all its digits: a large epsilon leaves 1 of gamma in floats."""
        with localcontext(Context(prec=DIGITS)):
            return float((1 - self.s) / self.power)

    @property
    def divergence(self) -> float:
        """KL(gamma, s): P(Bin(n, s) > gamma n) <= exp(-n KL)."""
        g, s = float(self.gamma), float(self.s)
        return g * math.log(g / s) - self.rest * math.log(self.power)

    def n_of(self, j: int, bound: DeltaBound) -> int:
        """The number of records in a cell at which j kept copies are worst."""
        with localcontext(Context(prec=DIGITS)):
            n = max(1, math.ceil((j - 1) / self.gamma)) if bound == "exact" else math.ceil(j / self.gamma) - 1
        if n > MOST_RECORDS:
            raise TooLarge(
                f"These parameters need cells of {n:,} records, and the calculation goes to {MOST_RECORDS:,}; use a "
                "smaller s, a smaller k, or more epsilon."
            )
        return n

    def ceiling(self, n: int, bound: DeltaBound) -> float:
        """No threshold whose worst case is at n records or more has a greater term than this."""
        tail = math.exp(-n * self.divergence * (1 - 1e-9))
        # j - gamma n <= 1 and each next term is less than half the one before: the sum is at most 4 pmf
        return min(tail, 4.1 * float(self.power) * tail / (n * (1 - float(self.s)))) if bound == "exact" else tail

    def worst(self, k: int, bound: DeltaBound) -> float:
        """The greatest term over all thresholds j >= k, rounded up; what is less than `NEGLIGIBLE` is that."""
        found: list[tuple[float, int]] = []
        greatest = 0.0
        for j in count(k):
            ceiling = self.ceiling(self.n_of(j, bound), bound)
            if ceiling < NEGLIGIBLE:
                return NEGLIGIBLE if not found else max(NEGLIGIBLE, self._greatest(found, bound))
            if ceiling < greatest * (1 - _SURE):
                return self._greatest(found, bound)
            found.append((self._nearly(self.n_of(j, bound), j, bound), j))
            greatest = max(greatest, found[-1][0])
        raise AssertionError("the ceiling falls below everything")

    def _greatest(self, found: list[tuple[float, int]], bound: DeltaBound) -> float:
        greatest, _ = max(found)
        near = [j for term, j in found if term >= greatest * (1 - _SURE)]
        return min(1.0, max(_up(self._term(self.n_of(j, bound), j, bound)) for j in near))

    def least_k(self, delta: Fraction, bound: DeltaBound) -> int:
        """Down from where the ceiling alone is enough, until a threshold is too telling."""
        j = max(1, math.ceil(float(self.gamma) * -math.log(float(delta)) / self.divergence) + 2)
        while self.ceiling(self.n_of(j, bound), bound) > float(delta) * (1 - _SURE):
            j += max(1, j // 8)
        while j > 1 and self._is_dp(j - 1, delta, bound):
            j -= 1
        return j

    def _is_dp(self, j: int, delta: Fraction, bound: DeltaBound) -> bool:
        n = self.n_of(j, bound)
        nearly, wanted = self._nearly(n, j, bound), float(delta)
        if abs(nearly - wanted) > wanted * _SURE:
            return nearly < wanted
        if n == j:  # a power of s, which a delta can meet exactly
            return self.rate**j <= delta
        return Fraction(self._term(n, j, bound)) <= delta

    def _nearly(self, n: int, j: int, bound: DeltaBound) -> float:
        """A term in floats: where to look."""
        s, rest = float(self.s), self.rest * n
        log = math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) + j * math.log(s)
        log += (n - j) * math.log1p(-s)
        odds = s / (1 - s)
        weigh: Callable[[int], float] = (lambda i: rest - (n - i)) if bound == "exact" else (lambda i: 1.0)
        term, total = 1.0, 0.0
        for i in range(j, n + 1):
            total += term * weigh(i)
            term *= (n - i) / (i + 1) * odds
            if term * (rest - (n - i) + 2) < total * 1e-17:
                break
        if bound == "exact":
            total *= float(self.power) / (n * (1 - s))
        return math.exp(log) * total

    def _term(self, n: int, j: int, bound: DeltaBound) -> Decimal:
        """The term of threshold j at n records, rounded up.

        Exactly: P(Bin(n, s) >= j) - exp(epsilon) P(Bin(n - 1, s) >= j), which is the sum over i >= j of
        Bin(n, s)(i) (i - gamma n) exp(epsilon) / (n (1 - s)), all of it positive. The bound: P(Bin(n, s) >= j).
        """
        with localcontext(Context(prec=DIGITS)):
            gn, odds = self.gamma * n, self.s / (1 - self.s)
            log = _ln_factorial(n) - _ln_factorial(j) - _ln_factorial(n - j) + j * self.s.ln()
            log += (n - j) * (1 - self.s).ln()
            term, total, i = Decimal(1), Decimal(0), j
            while True:
                total += term * (i - gn if bound == "exact" else 1)
                term *= (n - i) * odds / (i + 1)
                i += 1
                # from here on terms fall at least by half, their weights grow at most to the double: a sum below 4
                rest = 4 * term * (i - gn + 1)
                if rest <= total * Decimal("1e-20"):
                    break
            total += rest
            if bound == "exact":
                total *= self.power / (n * (1 - self.s))
            return total * log.exp() * (1 + Decimal(10) ** -30)  # far above what 60 digits lose


def require_epsilon(epsilon: Number) -> None:
    """Refuse an epsilon that says nothing."""
    require_number("epsilon", epsilon, above=0)
    if exact(epsilon) > MOST_ALTOGETHER:
        raise InvalidInput(f"epsilon is {epsilon!r}; at most {MOST_ALTOGETHER:,} is expected.")


def require_delta(delta: Number) -> Fraction:
    """A delta as a fraction, if it is between 0 and 1."""
    require_number("delta", delta, above=0)
    if exact(delta) >= 1:
        raise InvalidInput(f"delta is {delta!r}; a number below 1 is expected.")
    if float(exact(delta)) == 0:
        raise InvalidInput(f"delta is {delta!r}; at least 1e-300 is expected.")
    return exact(delta)


def _whole(name: str, number: int) -> int:
    require_whole(name, number)
    return int(number)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _up(number: Decimal) -> float:
    """The least float that is not below a number."""
    near = float(number)
    return near if Decimal(near) >= number else math.nextafter(near, math.inf)


def _shown(number: Fraction) -> str:
    return f"{float(number):.12g}"


@lru_cache(maxsize=4096)
def _ln_factorial(n: int) -> Decimal:
    """The logarithm of n! with 55 digits: exactly from n! below 300, from Stirling's series beyond, whose error is its first omission."""
    with localcontext(Context(prec=DIGITS + 10)):
        if n < 300:
            return Decimal(math.factorial(n)).ln()
        x = Decimal(n)
        series = sum((_decimal(c) / x ** (2 * i + 1) for i, c in enumerate(_STIRLING)), Decimal(0))
        return x * x.ln() - x + (2 * _PI * x).ln() / 2 + series
