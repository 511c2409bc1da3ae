# SPDX-License-Identifier: Apache-2.0
"""InOrder: levels of generalization tried in order, the first that a strategy lets pass released.

Paper       L. Zhang, L. Wang, S. Jajodia, A. Brodsky, "Exclusive Strategy for Generalization Algorithms in Micro-Data
            Disclosure"; W. M. Liu, L. Wang, L. Zhang, S. Zhu, "k-Jump: a Strategy to Design Publicly-Known Algorithms for
            Privacy Preserving Micro-Data Disclosure".
Implements  The naive, safe, exclusive and k-jump strategies on a sequence built from quasi-identifiers alone.
Departs     The papers take the sequence as given. k-anonymity, which no sensitive value can break, only chooses which levels
            are in the sequence. Where a disclosure set can only be estimated, a verdict that stays open counts as "not private".
Guarantee   Against an adversary who sees the release and knows the method, levels and strategy included (naive: who sees the
            release only). Exact where the engines are; where they sample, with a confidence of 0.999 at each step.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from numpy.random import Generator

from overt.algorithms.sequence.exclusive import Exclusive
from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.k_jump import KJump
from overt.algorithms.sequence.levels import full_domain, hierarchy_levels, median_cuts
from overt.algorithms.sequence.naive import Naive
from overt.algorithms.sequence.posterior import AnyPosterior, Posterior
from overt.algorithms.sequence.properties import DistinctL, EntropyL, MaxRatio, RecursiveCL, SetProperty
from overt.algorithms.sequence.safe import Safe
from overt.algorithms.sequence.strategy import Outcome, Strategy
from overt.errors import InvalidInput, NothingReleased
from overt.privacy.base import Property, SensitiveProperty, exact
from overt.privacy.entropy_l_diversity import EntropyLDiversity
from overt.privacy.k_anonymity import KAnonymity
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.progress import Progress, silent
from overt.release import GeneralizedRelease
from overt.table import Column, Table

STAGE = "Trying levels"


@dataclass(frozen=True, kw_only=True)
class InOrder:
    """Levels of generalization tried in order; the first that an adversary who knows this cannot use is released.

    Parameters
    ----------
    goal
        l-diversity of one sensitive column (by frequency, distinct, entropy or recursive), with k-anonymity or without.
    strategy
        What is asked at each level: "exclusive", "safe", "k-jump", or "naive", which does not protect from someone who
        knows the method.
    k
        The jump distance of "k-jump".
    functions
        "median cuts": the levels of a tree of cuts; "hierarchy levels": all columns raised together; "full domain": all
        combinations of hierarchy levels.
    levels
        How many levels of the tree of cuts, from the deepest up.
    smallest
        The fewest rows in a group of the tree of cuts.
    cut
        Where a group is cut: the share of its rows with lower codes. Cuts off the middle make groups of unequal size.

    """

    goal: Property
    strategy: Literal["exclusive", "safe", "k-jump", "naive"] = "exclusive"
    k: int = 2
    functions: Literal["median cuts", "hierarchy levels", "full domain"] = "median cuts"
    levels: int = 4
    smallest: int = 5
    cut: Fraction = Fraction(1, 2)

    name: ClassVar[str] = "in-order"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cut", exact(self.cut))
        strategies = {"exclusive": Exclusive(), "safe": Safe(), "k-jump": KJump(self.k), "naive": Naive()}
        if self.strategy not in strategies:
            raise InvalidInput(f"There is no strategy {self.strategy!r}; there are {', '.join(strategies)}.")
        if self.functions not in ("median cuts", "hierarchy levels", "full domain"):
            raise InvalidInput(
                f"There are no functions {self.functions!r}; use median cuts, hierarchy levels or full domain."
            )
        as_set_property(self._sensitive_goal)

    @property
    def against(self) -> str:
        """Whom a release protects from."""
        if self.strategy == "naive":
            return "someone who sees the release, but not someone who replays the method"
        return "someone who sees the release and knows this method, its levels and its strategy"

    @property
    def rule(self) -> Strategy:
        """The strategy as a value."""
        return {"exclusive": Exclusive(), "safe": Safe(), "k-jump": KJump(self.k), "naive": Naive()}[self.strategy]

    @cached_property
    def _sensitive_goal(self) -> SensitiveProperty:
        parts = [part for part in self.goal.parts if not isinstance(part, KAnonymity)]
        if len(parts) != 1 or not isinstance(parts[0], SensitiveProperty):
            raise InvalidInput(
                f"Levels in order were asked for {self.goal}; they reach one l-diversity, with k-anonymity or without."
            )
        return parts[0]

    @property
    def _k(self) -> int:
        return max((part.k for part in self.goal.parts if isinstance(part, KAnonymity)), default=1)

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> GeneralizedRelease:
        """Release the first level that the strategy lets pass, or raise `NothingReleased` with what was found."""
        sequence, column = self.sequence(table), self._column(table)
        on_progress(STAGE, 0, 0)
        outcome = Inference(sequence, self.rule, column.n_values, rng=rng).run(column.codes)
        if outcome.released is None:
            raise NothingReleased(explain_nothing(outcome, sequence))
        return GeneralizedRelease(table, sequence.functions[outcome.released - 1].partition, made_by=self)

    def sequence(self, table: Table) -> Sequence:
        """The levels and the property, from quasi-identifiers and parameters alone."""
        if self.functions == "median cuts":
            functions = median_cuts(table, levels=self.levels, smallest=max(self.smallest, self._k), cut=self.cut)
        else:
            functions = hierarchy_levels(table) if self.functions == "hierarchy levels" else full_domain(table)
        kept = tuple(function for function in functions if function.partition.sizes.min(initial=self._k) >= self._k)
        if not kept:
            raise NothingReleased(f"Nothing can be released: none of {len(functions)} levels is {self._k}-anonymous.")
        return Sequence(kept, as_set_property(self._sensitive_goal))

    def _column(self, table: Table) -> Column:
        named = self._sensitive_goal.column
        return table.column(named) if named is not None else table.the_sensitive("A sequence of levels")

    def compare(self, table: Table, *, rng: Generator) -> "Levels":
        """Every level with and without knowledge of the method, and what the naive strategy would have released."""
        sequence, column = self.sequence(table), self._column(table)
        inference = Inference(sequence, self.rule, column.n_values, rng=rng)
        outcome = inference.run(column.codes)
        for visit in outcome.visits:
            visit.disclosure.knowledge  # noqa: B018 worked out here, so that the naive strategy can share it
        naive = inference.under(Naive()).run(column.codes)
        return Levels(sequence, outcome, naive)


def as_set_property(goal: Property) -> SetProperty:
    """The property of sets of tables that a property of groups becomes."""
    match goal:
        case FrequencyLDiversity():
            return MaxRatio(1 / exact(goal.l))
        case DistinctLDiversity():
            return DistinctL(int(goal.l))
        case EntropyLDiversity():
            return EntropyL(exact(goal.l))
        case RecursiveCLDiversity():
            return RecursiveCL(exact(goal.c), int(goal.l))
    raise InvalidInput(f"Levels in order were asked for {goal}; they reach l-diversity of any form.")


def explain_nothing(outcome: Outcome, sequence: Sequence) -> str:
    """Which levels were tried, and why none of them can be released."""
    tried = "; ".join(f"{visit.function}: {visit.decision}" for visit in outcome.visits)
    return (
        f"Nothing can be released by the {outcome.strategy} strategy with {sequence.goal} ({tried}). "
        "Try coarser levels, another strategy, or a weaker goal; each choice must not depend on this answer."
    )


@dataclass(frozen=True, eq=False)
class Levels:
    """What a strategy found at each level it visited, beside the naive strategy."""

    sequence: Sequence
    outcome: Outcome
    naive: Outcome

    def rows(self) -> list[tuple[str, ...]]:
        """A table for a report: level, groups, the highest ratio without and with knowledge of the method, the decision."""
        lines: list[tuple[str, ...]] = [
            ("level", "groups", "highest ratio", "knowing the method", "how sure", "decision")
        ]
        for visit in self.outcome.visits:
            known = visit.disclosure.knowledge
            lines.append(
                (
                    visit.function,
                    f"{visit.permutation.function.partition.n_groups:,}",
                    f"{float(visit.permutation.posterior.highest):.4f}",
                    in_words(known.posterior),
                    f"{known.accuracy} ({known.method})",
                    visit.decision,
                )
            )
        return lines

    def distance(self) -> int | None:
        """How many levels coarser than the naive release; None if one of the two releases nothing."""
        if self.outcome.released is None or self.naive.released is None:
            return None
        return self.outcome.released - self.naive.released


def in_words(posterior: AnyPosterior) -> str:
    """The highest ratio, or between which bounds it lies."""
    if isinstance(posterior, Posterior):
        return f"{float(posterior.highest):.4f}"
    low, up = f"{posterior.highest_at_least:.4f}", f"{posterior.highest:.4f}"
    return low if low == up else f"{low} to {up}"
