# SPDX-License-Identifier: Apache-2.0
"""Audit: what someone who replays the method believes of people, beside what the release alone says.

A belief is the chance of a person's likeliest sensitive value. It is compared with what the goal promises (1/l, or
alpha); a goal that promises nothing of that kind is compared with the share of the most frequent value in the group.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.knowledge import Knowledge
from overt.adversary.opinion import OpinionRisk, opinion_risks
from overt.adversary.posterior import ERRORS, ROUNDING, Chances, Posterior, expected_best
from overt.metrics.risk import Identification, identification_of
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, exact
from overt.privacy.l_diversity import FrequencyLDiversity

if TYPE_CHECKING:
    import polars as pl

FACTORS = (Fraction(1), Fraction("1.1"), Fraction("1.25"), Fraction("1.5"))


@dataclass(frozen=True)
class Worst:
    """The person of whom most is believed, without a name or a value."""

    row: int = field(repr=False)  # for the owner
    group_size: int
    n_alike: int  # people of the group of whom the same is believed
    belief: float
    error: float
    share: float  # what the release alone says
    why: str


@dataclass(frozen=True, eq=False)
class Audit:
    """What an adversary believes with the release alone, and with the method."""

    method: str
    column: str
    n_rows: int
    n_groups: int
    knowledge: Knowledge
    bound: Fraction | None  # what the goal promises, if it promises a bound on beliefs
    alone: Posterior = field(repr=False)
    replayed: Posterior = field(repr=False)
    worst: Worst
    found: Identification | None = None  # how people are found by the release alone, if not by their group
    shows_exactly: bool = False  # whether quasi-identifiers are published as they are, and only values in groups

    @property
    def identification(self) -> Identification:
        """How easily people are found by the release alone."""
        return self.found or identification_of(np.bincount(np.unique(self.alone.cell_of_row, return_inverse=True)[1]))

    @cached_property
    def risks(self) -> tuple[OpinionRisk, OpinionRisk, OpinionRisk]:
        """Singling out, linkability and inference, as regulators ask about them."""
        return opinion_risks(self)

    @property
    def blind_guess(self) -> float:
        """The share of people that a guess of the most frequent value of all gets right."""
        sizes = np.bincount(self.alone.cell_of_row, minlength=len(self.alone.chance))
        return float((sizes @ self.alone.chance).max() / self.n_rows)

    @property
    def bound_of_row(self) -> Chances:
        """What the belief of each row is held against."""
        return np.full(self.n_rows, float(self.bound)) if self.bound is not None else self.alone.belief_of_row

    def is_above(self, factor: Fraction | float = 1, *, posterior: Posterior | None = None) -> NDArray[np.bool_]:
        """(row) -> whether its belief exceeds so many times the bound, by more than the error of the estimate."""
        return surely_over(posterior or self.replayed, float(factor) * self.bound_of_row)

    def share_above(self, factor: Fraction | float = 1, *, posterior: Posterior | None = None) -> float:
        """The share of people above so many times the bound."""
        return float(self.is_above(factor, posterior=posterior).mean())

    def share_over(self, belief: float, *, posterior: Posterior | None = None) -> float:
        """The share of people of whose likeliest value more than this is believed, whatever was promised."""
        return float(surely_over(posterior or self.replayed, belief).mean())

    @property
    def guesses(self) -> tuple[float, float]:
        """How many values the adversary expects to guess right: with the release alone, and with the method.

        With the method he cannot expect less: as many people of a group have its most frequent value as the release says.
        """
        alone = self.alone.belief_of_row
        return float(alone.sum()), max(float(alone.sum()), float(expected_best(self.replayed, alone).sum()))

    @property
    def n_certain(self) -> int:
        """People whose value is known, as far as the estimate can tell."""
        return int((self.replayed.belief_of_row >= 1 - ROUNDING).sum())

    def of_rows(self) -> "pl.DataFrame":
        """For the owner: every row's position, its belief with the release alone, with the method, and the error."""
        import polars as pl

        return pl.DataFrame(
            {
                "row": np.arange(self.n_rows),
                "release alone": self.alone.belief_of_row,
                "with the method": self.replayed.belief_of_row,
                "standard error": self.replayed.error_of_row,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about single people."""
        sampled = self.replayed.sampled
        return {
            "method": self.method,
            "sensitive": self.column,
            "rows": self.n_rows,
            "groups": self.n_groups,
            "facts": self.knowledge.n_facts,
            "bound": None if self.bound is None else str(self.bound),
            "how": self.replayed.how,
            "above": [
                {
                    "times": float(factor),
                    "release_alone": self.share_above(factor, posterior=self.alone),
                    "with_method": self.share_above(factor),
                }
                for factor in FACTORS
            ],
            "certain": self.n_certain,
            "highest_belief": {
                "release_alone": float(self.alone.belief_of_row.max()),
                "with_method": self.worst.belief,
                "standard_error": self.worst.error,
                "group_size": self.worst.group_size,
                "people_alike": self.worst.n_alike,
                "why": self.worst.why,
            },
            "guessed_right": {
                "release_alone": self.guesses[0],
                "with_method": self.guesses[1],
                "blind": self.blind_guess * self.n_rows,
            },
            "opinion_05_2014": [risk.to_dict() for risk in self.risks],
            "tables_left": None if self.replayed.n_tables is None else str(self.replayed.n_tables),
            "sampled": sampled and sampled.to_dict(self.replayed),
        }


def surely_over(posterior: Posterior, bound: Chances | float) -> NDArray[np.bool_]:
    """(row) -> whether its belief exceeds a bound by more than the error of the estimate."""
    return np.greater(posterior.belief_of_row - ERRORS * posterior.error_of_row, bound + ROUNDING)


def promised(goal: Property | None, column: str) -> Fraction | None:
    """The least bound on beliefs about a column that a goal promises to someone who sees the release."""
    bounds = [
        exact(part.alpha) if isinstance(part, AlphaKAnonymity) else 1 / exact(part.l)
        for part in (goal.parts if goal is not None else ())
        if isinstance(part, AlphaKAnonymity | FrequencyLDiversity) and part.column in (None, column)
    ]
    return min(bounds, default=None)
