# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_in_order.py
"""Levels that were tried: what a strategy found at each of them, beside the naive strategy, and the release it led to.

For the owner alone. Which levels were visited, and what was found there, says more about the table than the release does.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from overt.algorithms.sequence.equal_tables import AnyPosterior, EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.strategies.base import StrategyRun, Visit
from overt.errors import TooLarge
from overt.release import GeneralizedRelease

Between = tuple[float, float]  # the least and the most that a number can be; equal where it is exact


@dataclass(frozen=True, eq=False)
class TriedLevels:
    """What a strategy found at each level it visited, beside the naive strategy."""

    sequence: Sequence
    outcome: StrategyRun
    naive: StrategyRun

    @property
    def released(self) -> Function:
        """The level that is released; asked only if one is."""
        assert self.outcome.released is not None
        return self.sequence.functions[self.outcome.released - 1]

    @property
    def naive_level(self) -> Function | None:
        """The level that the naive strategy releases."""
        return None if self.naive.released is None else self.sequence.functions[self.naive.released - 1]

    @cached_property
    def tried(self) -> tuple["Tried", ...]:
        """The levels that were visited, in order. What the strategy did not need to know is worked out here."""
        return tuple(Tried.of(visit) for visit in self.outcome.visits)

    def rows(self) -> list[tuple[str, ...]]:
        """A table for a report: level, groups, the highest ratio without and with knowledge of the method, the decision."""
        header = ("level", "groups", "highest ratio", "knowing the method", "how sure", "decision")
        return [
            header,
            *(
                (
                    one.function.name,
                    f"{one.function.partition.n_groups:,}",
                    f"{one.highest:.4f}",
                    in_words(one.knowing.posterior) if one.knowing else "",
                    f"{one.knowing.accuracy} ({one.knowing.method})" if one.knowing else one.out_of_reach,
                    one.decision,
                )
                for one in self.tried
            ),
        ]

    def distance(self) -> int | None:
        """How many levels coarser than the naive release; None if one of the two releases nothing."""
        if self.outcome.released is None or self.naive.released is None:
            return None
        return self.outcome.released - self.naive.released


@dataclass(frozen=True, eq=False)
class Tried:
    """One level that was visited."""

    step: int
    function: Function
    without: RowPosterior = field(repr=False)  # what the release alone says
    knowing: EqualTables | None = field(repr=False)  # what someone who knows the method infers
    out_of_reach: str  # why that is not known
    decision: str

    @classmethod
    def of(cls, visit: Visit) -> "Tried":
        """Work out what is known at a level. A level that the strategy passed by may be out of reach."""
        knowing, why = None, ""
        try:
            knowing = visit.disclosure.knowledge
        except TooLarge:
            if 1 in visit.looked_at:
                raise
            why = "out of reach, and not needed"
        permutation = visit.permutation
        return cls(visit.step, permutation.function, permutation.posterior, knowing, why, visit.decision)

    @property
    def highest(self) -> float:
        """The highest ratio of any value for any row, by the release alone."""
        return float(self.without.highest)

    @property
    def best_guess(self) -> float:
        """How often the best guess is right, by the release alone."""
        return best_guess(self.without)[0]


def highest_between(posterior: AnyPosterior) -> Between:
    """Between which bounds the highest ratio lies."""
    if isinstance(posterior, RowPosterior):
        return float(posterior.highest), float(posterior.highest)
    return posterior.highest_at_least, posterior.highest


def best_guess(posterior: AnyPosterior) -> Between:
    """How often guessing everyone's most likely value is right, on average over the rows."""
    bounds = posterior.bounded() if isinstance(posterior, RowPosterior) else posterior
    n_rows = np.bincount(bounds.cell_of_row, minlength=len(bounds.lower))
    low, up = (float(n_rows @ shares.max(axis=1) / n_rows.sum()) for shares in (bounds.lower, bounds.upper))
    return low, min(up, 1.0)


def in_words(posterior: AnyPosterior) -> str:
    """The highest ratio, or between which bounds it lies."""
    low, up = (f"{bound:.4f}" for bound in highest_between(posterior))
    return low if low == up else f"{low} to {up}"


def counted(n_groups: int) -> str:
    """So many groups."""
    return f"{n_groups:,} group{'' if n_groups == 1 else 's'}"


def explain_nothing(levels: TriedLevels) -> str:
    """Which levels were tried, and why none of them can be released."""
    outcome, naive = levels.outcome, levels.naive_level
    tried = "; ".join(f"{visit.function}: {visit.decision}" for visit in outcome.visits)
    instead = f" The naive strategy would have released {naive.name!r}, which is not safe." if naive else ""
    return (
        f"Nothing can be released by the {outcome.strategy} strategy with {levels.sequence.goal} ({tried}).{instead} "
        "Try coarser levels, another strategy, or a weaker goal; each choice must not depend on this answer."
    )


@dataclass(frozen=True, eq=False)
class InOrderRelease(GeneralizedRelease):
    """A level that a strategy let pass, and what it found on the way there."""

    levels: TriedLevels = field(repr=False)

    @property
    def remarks(self) -> dict[str, str]:
        levels, sizes = self.levels, self.partition.sizes
        n_tried = len(levels.outcome.visits)
        remarks = {
            "Levels": f"{n_tried} tried of {levels.sequence.n_steps}; released: {levels.released.name}, "
            f"{counted(sizes.size)}, the smallest of {sizes.min():,} rows"
        }
        last = levels.outcome.visits[-1]
        if 1 in last.looked_at:  # the strategy has worked it out
            known = last.disclosure.knowledge
            remarks["Inferred"] = (
                f"highest ratio {float(last.permutation.posterior.highest):.4f} by the release alone, "
                f"{in_words(known.posterior)} knowing the method ({known.accuracy})"
            )
        return remarks | {"Naive": self._beside_naive()}

    def _beside_naive(self) -> str:
        naive, distance = self.levels.naive_level, self.levels.distance()
        if naive is None or distance is None:
            return "would have released nothing"
        if not distance:
            return "would have released the same level"
        levels = f"{distance} level{'s' if distance > 1 else ''} finer"
        return f"would have released {naive.name} ({counted(naive.partition.n_groups)}), {levels}; that is not safe"
