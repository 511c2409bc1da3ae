# SPDX-License-Identifier: Apache-2.0
"""Conditions: what the published mechanism asks of its parameters, computed and shown one by one.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 3.3: eta and epsilon' of Algorithm 3 for both models, condition (10) on t, the condition on the size
            of the database that the proof of Claim 3 leaves at "sufficiently large", |D| >= nu^kappa, beta >= e^-epsilon.
Departs     Condition (10) is printed with h to the power kappa; its proof needs the number of generalizations of a record,
            h to the power k, where h counts the nodes of the longest path. In the Chernoff bound tau2 is 1/2, which
            follows from epsilon', and the sign of its exponent is mended. For the threshold model, where the paper
            says only that the proof is modified, the greatest risk phi_u / t over |D| takes the place of t_f.
Guarantee   None. With every condition met the mechanism is still not differentially private (docs/research/published-dp.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from overt.errors import InvalidInput, Unreachable

_SLACK = 1e-12  # beta = e^-epsilon is allowed, and logarithms are not exact


@dataclass(frozen=True)
class Condition:
    """One condition of the paper: what it asks for, what was given, and whether that is enough."""

    name: str
    required: str
    given: float
    met: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.required}, given {self.given:g} ({'met' if self.met else 'NOT met'})"


@dataclass(frozen=True)
class Conditions:
    """All conditions of the published theorem, which does not hold even if they do."""

    parts: tuple[Condition, ...]

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.parts)

    @property
    def all_met(self) -> bool:
        return all(part.met for part in self.parts)

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts))


@dataclass(frozen=True, kw_only=True)
class _Parameters:
    """What both models share.

    Parameters
    ----------
    epsilon, delta
        What the paper claims.
    beta
        The probability that a record is dropped (the paper's beta; other papers keep with it).
    tau1
        A constant of the proof, between 0 and 1.
    k, h
        Attributes, and nodes on the longest path from a leaf to a root.
    size
        Records of the database.

    """

    epsilon: float
    beta: float
    size: int
    delta: float = 0.01
    tau1: float = 0.5
    k: int = 1
    h: int = 2

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise InvalidInput(f"epsilon is {self.epsilon!r}; a finite number above 0 is expected.")
        for name, number in (("beta", self.beta), ("delta", self.delta), ("tau1", self.tau1)):
            if not 0 < number < 1:
                raise InvalidInput(f"{name} is {number!r}; a number between 0 and 1 is expected.")
        if self.epsilon + math.log(self.beta) < -_SLACK:
            raise InvalidInput(
                f"beta is {self.beta!r}, below e^-epsilon = {math.exp(-self.epsilon):.6g}: so few records are dropped that a "
                "lone one shows. Raise beta or epsilon."
            )
        if self.k < 1 or self.h < 1:
            raise InvalidInput("The number of attributes and of nodes on a path must be at least 1.")
        if self.size < 1:
            raise InvalidInput("The database is empty; give at least one record.")

    @property
    def eta(self) -> float:
        """The sensitivity of a choice, times the size of the database (Lemma 2)."""
        raise NotImplementedError

    @property
    def epsilon_prime(self) -> float:
        """What is multiplied with f / |D| in the exponent."""
        return max(0.0, self.epsilon + math.log(self.beta)) / (3 * self.eta * (1 - self.beta))

    @property
    def t_f(self) -> float:
        """A bound on the greatest f / |D|, or r / |D|."""
        raise NotImplementedError

    @property
    def t_first(self) -> float:
        """The first term of (10): enough records that are not sampled under every frequent element."""
        return 2 / (self.beta * self.tau1**2) * (math.log(2 / self.delta) + self.k * math.log(self.h))

    @property
    def t_second(self) -> float:
        """The second term of (10), which the proof takes to make one element likely enough."""
        growth = self.k * math.log(self.h) + self.epsilon_prime * self.t_f
        return self.beta / ((1 - self.beta) * (1 - self.tau1)) * math.exp(min(growth, 700.0))

    @property
    def least_t(self) -> int:
        """The least whole t above both terms."""
        return math.floor(max(self.t_first, self.t_second)) + 1

    @property
    def least_size(self) -> int:
        """The least database whose sample is too large with a chance of at most delta / 2, by the Chernoff bound."""
        exponent = 1.5 * math.log(1.5) - 0.5  # tau2 = 1/2: -ln of e^tau2 / (1 + tau2)^(1 + tau2)
        return math.ceil(math.log(2 / self.delta) / ((1 - self.beta) * exponent))

    def _shared(self, t: int) -> tuple[Condition, ...]:
        return (
            Condition("beta", f"at least e^-epsilon = {math.exp(-self.epsilon):.6g}", self.beta, True),
            Condition("t, by the records that are dropped", f"above {self.t_first:.6g}", t, t > self.t_first),
            Condition("t, by the elements there are", f"above {self.t_second:.6g}", t, t > self.t_second),
            Condition("size of the database", f"at least {self.least_size:,}", self.size, self.size >= self.least_size),
        )


@dataclass(frozen=True, kw_only=True)
class LagrangianParameters(_Parameters):
    """Parameters of Algorithm 3 for the Lagrangian model: phi_l is the least weight of an element, nu the most utility.

    >>> found = LagrangianParameters(epsilon=1, beta=0.5, delta=0.01, k=1, h=2, phi_l=1, nu=1, size=98)
    >>> round(found.eta, 4), round(found.epsilon_prime, 4), found.least_t, found.least_size
    (2.0204, 0.1013, 96, 98)
    """

    phi_l: float
    nu: float
    lam: float = 1.0
    kappa: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, number in (("lambda", self.lam), ("kappa", self.kappa), ("nu", self.nu)):
            if not (math.isfinite(number) and number >= 0):
                raise InvalidInput(f"{name} is {number!r}; a finite number of at least 0 is expected.")
        if not (math.isfinite(self.phi_l) and self.phi_l > 0):
            raise InvalidInput(
                f"The least weight of an element is {self.phi_l!r}, and Algorithm 3 divides by it; use risk model II, or a base."
            )
        if self.eta == 0:
            raise InvalidInput(
                "With lambda and utilities of 0 every element is as good; there is nothing to choose by."
            )

    @property
    def eta(self) -> float:
        return 2 * (self.lam / self.phi_l + self.nu**self.kappa / self.size)

    @property
    def t_f(self) -> float:
        return self.lam / self.phi_l + 1

    def conditions(self, t: int) -> Conditions:
        """Every condition for a threshold t, and whether it is met."""
        least = self.nu**self.kappa
        enough = Condition("size, by utility", f"at least nu^kappa = {least:g}", self.size, self.size >= least)
        return Conditions((*self._shared(t), enough))


@dataclass(frozen=True, kw_only=True)
class ThresholdParameters(_Parameters):
    """Parameters of Algorithm 3 for the threshold model: phi_u is the greatest weight of an element.

    >>> round(ThresholdParameters(epsilon=1, beta=0.5679, phi_u=1, t=20, size=500).epsilon_prime, 2)
    122.37
    """

    phi_u: float
    t: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_frequency(self.t, self.size)
        if not (math.isfinite(self.phi_u) and self.phi_u > 0):
            raise InvalidInput(f"The greatest weight of an element is {self.phi_u!r}; a number above 0 is expected.")

    @property
    def eta(self) -> float:
        return self.phi_u * (1 / (self.t * (self.t - 1)) + 1 / ((self.size - 1) * (self.t - 1)))

    @property
    def t_f(self) -> float:
        return self.phi_u / (self.t * self.size)

    def conditions(self, t: int | None = None) -> Conditions:
        """Every condition, and whether it is met."""
        return Conditions(self._shared(self.t if t is None else t))


def require_frequency(t: int, size: int, *, least: int = 2) -> None:
    """Refuse a threshold that everything or nothing reaches."""
    if t < least:
        raise InvalidInput(
            f"t is {t}; elements must generalize at least t records, so give a whole number of at least {least}."
        )
    if t > size:
        raise Unreachable(
            f"t is {t:,}, and no element generalizes more than the {size:,} records there are; lower t, or release more records."
        )
