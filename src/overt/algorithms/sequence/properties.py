# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""Properties of a set of equally likely tables, as the two papers need them.

A property looks at every row's distribution over the set. It declares what searches and engines rely on:
`set_monotonic` (what holds of a set holds of every larger one), `convex` (the good distributions of a row form
a convex set that is the same for all rows; then a permutation set that fails has only failing subsets, Lemma 3
of the k-jump paper), and `blind` (it looks neither at the names of values nor at which row is which).
Verdicts are made in integers. Where an engine only has bounds the verdict may be "cannot tell".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import gcd, log, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.equal_tables import AnyPosterior, BoundedRowPosterior, RowPosterior
from overt.errors import InvalidInput
from overt.privacy.base import exact

Shares = NDArray[np.float64]  # (value) -> a bound of the value's probability


@dataclass(frozen=True)
class RatioBound:
    """No ratio above `bound`, or with `strict` none that is not below it."""

    bound: Fraction
    strict: bool

    def largest_count(self, size: int) -> int:
        """How often a value may occur in a group of this size."""
        product = size * self.bound.numerator
        return (product - 1 if self.strict else product) // self.bound.denominator

    def admits(self, ratio: Fraction) -> bool:
        """Whether a ratio is within the bound."""
        return ratio < self.bound or (ratio == self.bound and not self.strict)


class SetProperty(ABC):
    """What must hold of everything the adversary considers possible."""

    name: ClassVar[str]
    set_monotonic: ClassVar[bool] = False
    convex: ClassVar[bool] = False
    blind: ClassVar[bool] = True

    @property
    def survives_merging(self) -> bool:
        """Whether a function that passes still passes when its groups are merged."""
        return False

    @property
    def shrinks_with_set(self) -> bool:
        """Whether a permutation set that fails has only failing subsets (Lemma 3 of the k-jump paper, or set-monotonic)."""
        return self.convex or self.set_monotonic

    @abstractmethod
    def holds(self, posterior: RowPosterior) -> bool:
        """Whether it holds, exactly."""

    @abstractmethod
    def __str__(self) -> str:
        """A short phrase for reports."""

    def judge(self, posterior: AnyPosterior) -> bool | None:
        """Whether it holds; None if bounds leave that open."""
        if isinstance(posterior, RowPosterior):
            return self.holds(posterior)
        return None

    def class_of_row(self, n_rows: int) -> Sequence[int]:
        """Rows of different classes are treated differently, so no cell may hold both."""
        return [0] * n_rows


class RowProperty(SetProperty):
    """A property that holds when every row's distribution is good."""

    @abstractmethod
    def good(self, weights: Sequence[int]) -> bool:
        """Whether a row with these weights of values is protected."""

    def surely_good(self, lower: Shares, upper: Shares) -> bool | None:
        """Whether a distribution between these bounds is good; None if it may be either."""
        return None

    def holds(self, posterior: RowPosterior) -> bool:
        return all(map(self.good, posterior.weights))

    @property
    def survives_merging(self) -> bool:
        # a merged group has a mean of the distributions of its parts, and its permutation set holds theirs
        return self.convex or self.set_monotonic

    def judge(self, posterior: AnyPosterior) -> bool | None:
        if isinstance(posterior, RowPosterior):
            return self.holds(posterior)
        return all_of(self.surely_good(low, up) for low, up in zip(posterior.lower, posterior.upper, strict=True))

    @property
    def ratio_bound(self) -> "RatioBound | None":
        """If a distribution is good exactly when no ratio is above (or not below) a bound: that bound."""
        return None


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold: False if one does not, None if none fails but one is open."""
    outcome: bool | None = True
    for verdict in verdicts:
        if verdict is False:
            return False
        if verdict is None:
            outcome = None
    return outcome


@dataclass(frozen=True)
class MaxRatio(RowProperty):
    """No value is more likely than `bound` for any row; with `strict`, not even as likely."""

    bound: Fraction
    strict: bool = False
    name: ClassVar[str] = "max ratio"
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", exact(self.bound))
        if not 0 < self.bound <= 1:
            raise InvalidInput(f"The bound of a ratio is {self.bound}; it must be above 0 and at most 1.")

    def good(self, weights: Sequence[int]) -> bool:
        left, right = max(weights) * self.bound.denominator, sum(weights) * self.bound.numerator
        return left < right or (left == right and not self.strict)

    def surely_good(self, lower: Shares, upper: Shares) -> bool | None:
        if upper.max() < self.bound:
            return True
        return False if lower.max() > self.bound else None

    @property
    def ratio_bound(self) -> RatioBound:
        return RatioBound(self.bound, self.strict)

    def __str__(self) -> str:
        return f"every ratio {'below' if self.strict else 'at most'} {self.bound}"


@dataclass(frozen=True)
class RecursiveCL(RowProperty):
    """Recursive (c,l): the most likely value is less likely than c times all from the l-th on. Strict."""

    c: Fraction
    l: int
    name: ClassVar[str] = "recursive (c,l)"
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", exact(self.c))
        if self.c <= 0 or self.l < 1:
            raise InvalidInput(
                f"Recursive (c,l) has c={self.c} and l={self.l}; c above 0 and l of at least 1 are needed."
            )

    def good(self, weights: Sequence[int]) -> bool:
        ordered = sorted(weights, reverse=True)
        return ordered[0] * self.c.denominator < self.c.numerator * sum(ordered[self.l - 1 :])

    def surely_good(self, lower: Shares, upper: Shares) -> bool | None:
        # r1 < c (1 - r1 - ... - r_{l-1}): the left grows and the right falls with the largest ratios
        c, l = float(self.c), self.l
        up, low = np.sort(upper)[::-1], np.sort(lower)[::-1]
        if up[0] < c * (1 - up[: l - 1].sum()) - 1e-12:
            return True
        return False if low[0] > c * (1 - low[: l - 1].sum()) + 1e-12 else None

    @property
    def ratio_bound(self) -> RatioBound | None:
        # r < c (1 - r)  <=>  r < c / (1 + c)
        return RatioBound(self.c / (1 + self.c), strict=True) if self.l == 2 else None

    def __str__(self) -> str:
        return f"recursive ({self.c},{self.l})-diversity"


@dataclass(frozen=True)
class EntropyL(RowProperty):
    """The entropy of every row's distribution is at least log(l)."""

    l: Fraction
    name: ClassVar[str] = "entropy l"
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", exact(self.l))
        if self.l < 1:
            raise InvalidInput(f"Entropy l-diversity has l={self.l}; l of at least 1 is needed.")

    def good(self, weights: Sequence[int]) -> bool:
        return entropy_at_least(tuple(sorted(w for w in weights if w)), self.l)

    def surely_good(self, lower: Shares, upper: Shares) -> bool | None:
        # -p log p is concave: on an interval it is least at an end, and greatest at 1/e if that lies inside
        bound, low, up = log(self.l), np.clip(lower, 0, 1), np.clip(upper, 0, 1)
        ends = np.stack([surprise(low), surprise(up)])
        if ends.min(axis=0).sum() > bound + 1e-9:
            return True
        peak = np.where((low < 1 / np.e) & (up > 1 / np.e), 1 / np.e, ends.max(axis=0))
        return False if peak.sum() < bound - 1e-9 else None

    def __str__(self) -> str:
        return f"entropy {self.l}-diversity"


def surprise(share: Shares) -> Shares:
    """-p log p, 0 where p is 0."""
    return -share * np.log(np.where(share > 0, share, 1))


@lru_cache(maxsize=1 << 16)
def entropy_at_least(weights: tuple[int, ...], l: Fraction) -> bool:
    """N^N >= l^N prod w^w for weights of sum N: floats where the answer is clear, integers where it is not."""
    total = sum(weights)
    # log N - (1/N) sum w log w, against log l; integers of any size have a float logarithm
    gap = log(total) - sum(w / total * log(w) for w in weights) - log(l)
    if abs(gap) > 1e-9:
        return gap > 0
    common = gcd(*weights)
    scaled = [w // common for w in weights]
    n = sum(scaled)
    if n > 200_000:
        return clearly_above(scaled, l)
    product = prod(w**w for w in scaled)
    return bool(n**n * l.denominator**n >= l.numerator**n * product)


def clearly_above(weights: Sequence[int], l: Fraction) -> bool:
    """The same in 80 digits, where powers would be too long. What cannot be told from a tie is not safe."""
    with localcontext() as context:
        context.prec = 80
        total = Decimal(sum(weights))
        entropy = total.ln() - sum((Decimal(w) * Decimal(w).ln() for w in weights), Decimal(0)) / total
        return entropy - (Decimal(l.numerator) / Decimal(l.denominator)).ln() > Decimal("1e-60")


@dataclass(frozen=True)
class PossibleValues(RowProperty):
    """At least `k` values are possible for every row."""

    k: int
    name: ClassVar[str] = "possible values"
    set_monotonic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InvalidInput(f"At least {self.k} possible values says nothing; give a number of at least 1.")

    def good(self, weights: Sequence[int]) -> bool:
        return sum(1 for w in weights if w) >= self.k

    def surely_good(self, lower: Shares, upper: Shares) -> bool | None:
        if (lower > 0).sum() >= self.k:
            return True
        return False if (upper > 0).sum() < self.k else None

    def __str__(self) -> str:
        return f"at least {self.k} possible values"


@dataclass(frozen=True)
class DistinctL(PossibleValues):
    """Distinct l-diversity: the same as `k` possible values, under the name of the l-diversity paper."""

    name: ClassVar[str] = "distinct l"

    def __str__(self) -> str:
        return f"distinct {self.k}-diversity"


@dataclass(frozen=True)
class RowsAtRisk(SetProperty):
    """At most `max_rows` rows have a ratio above `bound`. Not convex: the witness of the k-jump paper's Theorem 6."""

    bound: Fraction
    max_rows: int
    name: ClassVar[str] = "rows at risk"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", exact(self.bound))

    def holds(self, posterior: RowPosterior) -> bool:
        at_risk = 0
        for weights, total, n_rows in zip(posterior.weights, posterior.totals, posterior.n_rows_of_cell, strict=True):
            if max(weights) * self.bound.denominator > total * self.bound.numerator:
                at_risk += int(n_rows)
        return at_risk <= self.max_rows

    def judge(self, posterior: AnyPosterior) -> bool | None:
        if isinstance(posterior, RowPosterior):
            return self.holds(posterior)
        n_rows = np.bincount(posterior.cell_of_row, minlength=len(posterior.lower))
        if n_rows[posterior.upper.max(axis=1) >= self.bound].sum() <= self.max_rows:
            return True
        return False if n_rows[posterior.lower.max(axis=1) > self.bound].sum() > self.max_rows else None

    def __str__(self) -> str:
        return f"at most {self.max_rows} rows above {self.bound}"


@dataclass(frozen=True)
class PersonalRatio(SetProperty):
    """Every row's highest ratio is at most the row's own bound."""

    bound_of_row: tuple[Fraction, ...]
    name: ClassVar[str] = "personal ratio"
    blind: ClassVar[bool] = True  # to the names of values; rows of different bounds never share a cell

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound_of_row", tuple(map(exact, self.bound_of_row)))

    def class_of_row(self, n_rows: int) -> Sequence[int]:
        if len(self.bound_of_row) != n_rows:
            raise InvalidInput(
                f"There are {len(self.bound_of_row)} personal bounds for {n_rows} rows; give one per row."
            )
        bounds = sorted(set(self.bound_of_row))
        return [bounds.index(bound) for bound in self.bound_of_row]

    def holds(self, posterior: RowPosterior) -> bool:
        return all(
            max(posterior.weights[cell]) * bound.denominator <= posterior.totals[cell] * bound.numerator
            for cell, bound in zip(posterior.cell_of_row.tolist(), self.bound_of_row, strict=True)
        )

    def judge(self, posterior: AnyPosterior) -> bool | None:
        if isinstance(posterior, RowPosterior):
            return self.holds(posterior)
        low, up = posterior.lower.max(axis=1), posterior.upper.max(axis=1)
        bounds = np.array(self.bound_of_row, float)
        if (up[posterior.cell_of_row] < bounds).all():
            return True
        return False if (low[posterior.cell_of_row] > bounds).any() else None

    def __str__(self) -> str:
        return "every row's own bound"


@dataclass(frozen=True)
class PosteriorPredicate(SetProperty):
    """Anything a user can decide from an exact posterior, rows and values by name included."""

    decide: Callable[[RowPosterior], bool]
    label: str = "a predicate of the user"
    name: ClassVar[str] = "predicate"
    blind: ClassVar[bool] = False

    def holds(self, posterior: RowPosterior) -> bool:
        return bool(self.decide(posterior))

    def class_of_row(self, n_rows: int) -> Sequence[int]:
        return range(n_rows)

    def __str__(self) -> str:
        return self.label


PROPERTIES: dict[str, type[SetProperty]] = {
    kind.name: kind for kind in (MaxRatio, RecursiveCL, EntropyL, DistinctL, PossibleValues, RowsAtRisk, PersonalRatio)
}

__all__ = [
    "PROPERTIES",
    "BoundedRowPosterior",
    "DistinctL",
    "EntropyL",
    "MaxRatio",
    "PersonalRatio",
    "PossibleValues",
    "PosteriorPredicate",
    "RecursiveCL",
    "RowProperty",
    "RowsAtRisk",
    "SetProperty",
]
