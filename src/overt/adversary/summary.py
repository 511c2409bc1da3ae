# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/test_audit.py
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
from overt.adversary.posterior import ERRORS, ROUNDING, Chances, Posterior, expected_best
from overt.adversary.wp216_risks import OpinionRisk, opinion_risks
from overt.markup import Markup, element, html_table
from overt.metrics.risk import Identification, identification_of
from overt.privacy.base import Property

if TYPE_CHECKING:
    import polars as pl

MOST_UNKNOWN = 0.01  # the share of people, beyond which shares of people are limits from below and no verdict
BY_CHANCE = (
    0.005  # the share of sampled cells that are three of their stated errors too high, as bench/coverage.py measures
)
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


NOT_KNOWN = "not known yet"
_SEEN = ("release alone", "with the method")


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

    def says_some(self, factor: Fraction | float = 1) -> bool:
        """Whether the audit supports that some people are above so many times the bound, however many are not known.

        Where tables were counted, one cell of people above it is enough. Of sampled cells that the runs agree about, more must be above
        than chance makes in one of a thousand audits.
        """
        replayed, above = self.replayed, self.is_above(factor)
        is_counted = replayed.error_of_row == 0
        if (above & is_counted).any():
            return True
        n_above = np.unique(replayed.cell_of_row[above]).size
        n_sampled = np.unique(replayed.cell_of_row[replayed.is_known_of_row & ~is_counted]).size
        return bool(n_above > BY_CHANCE * n_sampled + 3 * np.sqrt(BY_CHANCE * n_sampled) + 1)

    def says_nobody(self, factor: Fraction | float = 1) -> bool:
        """Whether it supports that nobody is above so many times the bound: everybody is known, and below it by three errors."""
        highest = self.replayed.belief_of_row + ERRORS * self.replayed.error_of_row
        return not self.n_unknown and bool((highest <= float(factor) * self.bound_of_row + ROUNDING).all())

    def share_said(self, factor: Fraction | float = 1) -> float | None:
        """The share of people above so many times the bound, as far as the audit supports it; None: nothing can be said.

        Of an audit that sampled, this is a bound from below: it may be more, and is not less.
        """
        if self.replayed.is_exact or self.says_some(factor):
            return self.share_above(factor)
        return 0.0 if self.says_nobody(factor) else None

    @cached_property
    def n_unknown(self) -> int:
        """People of whom no estimate can be relied on: neither that they are above a bound nor that they are not."""
        return int((~self.replayed.is_known_of_row).sum())

    @property
    def is_known(self) -> bool:
        """Whether shares of people say what they seem to: hardly anybody is left of whom nothing is known."""
        return self.n_unknown <= MOST_UNKNOWN * self.n_rows

    def share_over(self, belief: float, *, posterior: Posterior | None = None) -> float:
        """The share of people of whose likeliest value more than this is believed, whatever was promised."""
        return float(surely_over(posterior or self.replayed, belief).mean())

    @property
    def guesses(self) -> tuple[float, float]:
        """How many values the adversary expects to guess right: with the release alone, and with the method.

        With the method they cannot expect less: as many people of a group have its most frequent value as the release says.
        """
        alone = self.alone.belief_of_row
        return float(alone.sum()), max(float(alone.sum()), float(expected_best(self.replayed, alone).sum()))

    @property
    def n_certain(self) -> int:
        """People whose value is known for certain: by counting tables, never by an estimate."""
        return int((is_certain(self.replayed)).sum())

    @cached_property
    def certain_are_ordinary(self) -> bool:
        """Whether of everybody who is known for certain the value is the one that most people have, so that it is rarer ones that they do not have."""
        sure = is_certain(self.replayed)
        sizes = np.bincount(self.alone.cell_of_row, minlength=len(self.alone.chance))
        shares = sizes @ self.alone.chance / self.n_rows
        values = self.replayed.chance[self.replayed.cell_of_row[sure]].argmax(axis=1)
        return bool(sure.any() and shares.max() > 0.5 and (values == shares.argmax()).all())

    def _described(self) -> list[list[str]]:
        """The main figures with the release alone and with the method; none of people of whom nothing is known."""
        bound = "what the release alone says" if self.bound is None else f"the promised {self.bound}"
        known, said = self.is_known, self.share_said()
        least = "at least " if not self.replayed.is_exact and said else ""
        return [
            [
                f"people above {bound}",
                f"{self.share_above(posterior=self.alone):.1%}",
                NOT_KNOWN if said is None else f"{least}{said:.1%}",
            ],
            ["people known for certain", f"{int(is_certain(self.alone).sum()):,}", f"{self.n_certain:,}"],
            [
                "highest belief",
                f"{float(self.alone.belief_of_row.max()):.3f}",
                f"{self.worst.belief:.3f}" if known else NOT_KNOWN,
            ],
        ]

    @property
    def _title(self) -> str:
        return f"Audit of {self.column!r} by {self.method}: {self.n_rows:,} people in {self.n_groups:,} groups"

    def __repr__(self) -> str:
        """What a console shows: nothing of single people."""
        lines = [["", *_SEEN], *self._described()]
        widths = [max(len(line[place]) for line in lines) for place in range(3)]
        shown = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([self._title, *(f"  {line}".rstrip() for line in shown)])

    def _repr_html_(self) -> Markup:
        """What notebooks show: the same as a table."""
        shown = html_table(["", *_SEEN], self._described(), n_text_columns=1)
        return element("div", element("p", self._title), shown)

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
                    "with_method": self.share_said(factor),
                }
                for factor in FACTORS
            ],
            "certain": self.n_certain,
            "not_known": self.n_unknown,
            "highest_belief": {
                "release_alone": float(self.alone.belief_of_row.max()),
                "with_method": None if self.n_unknown == self.n_rows else self.worst.belief,
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


def is_certain(posterior: Posterior) -> NDArray[np.bool_]:
    """(row) -> whether its value is known, and the belief exact."""
    return (posterior.belief_of_row >= 1 - ROUNDING) & (posterior.error_of_row == 0)


def surely_over(posterior: Posterior, bound: Chances | float) -> NDArray[np.bool_]:
    """(row) -> whether its belief is known and exceeds a bound by more than the error of the estimate."""
    over = np.greater(posterior.belief_of_row - ERRORS * posterior.error_of_row, bound + ROUNDING)
    found: NDArray[np.bool_] = over & posterior.is_known_of_row
    return found


def promised(goal: Property | None, column: str) -> Fraction | None:
    """The least bound on beliefs about a column that a goal promises to someone who sees the release."""
    bounds = [part.belief_bound(column) for part in (goal.parts if goal is not None else ())]
    return min((bound for bound in bounds if bound is not None), default=None)
