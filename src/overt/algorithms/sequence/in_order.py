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

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from numpy.random import Generator

from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.level_sequences import full_domain, hierarchy_levels, median_cuts
from overt.algorithms.sequence.levels_tried import InOrderRelease, TriedLevels, explain_nothing
from overt.algorithms.sequence.properties import DistinctL, EntropyL, MaxRatio, RecursiveCL, SetProperty
from overt.algorithms.sequence.sequence_trace import as_believed, levels_before
from overt.algorithms.sequence.strategies.base import Strategy
from overt.algorithms.sequence.strategies.exclusive import Exclusive
from overt.algorithms.sequence.strategies.k_jump import KJump
from overt.algorithms.sequence.strategies.naive import Naive
from overt.algorithms.sequence.strategies.safe import Safe
from overt.errors import InvalidInput, NothingReleased
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, Adversary, Beliefs, Guarantee
from overt.method import Inferring
from overt.privacy.base import Property, SensitiveProperty, exact
from overt.privacy.entropy_l_diversity import EntropyLDiversity
from overt.privacy.k_anonymity import KAnonymity
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Column, Table
from overt.trace import Believed, Trials

STAGE = "Trying levels"
SAMPLED = "if there were too many tables for an exact answer, they were sampled, and it holds with confidence 0.999"


@dataclass(frozen=True, kw_only=True)
class InOrder(Inferring):
    """Levels of generalization tried in order; the first that is safe against an adversary who knows the method is released.

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
    depth
        How deep the tree of cuts is at most; as deep as `smallest` lets it grow if not given.

    """

    goal: Property
    strategy: Literal["exclusive", "safe", "k-jump", "naive"] = "exclusive"
    k: int = 2
    functions: Literal["median cuts", "hierarchy levels", "full domain"] = "median cuts"
    levels: int = 4
    smallest: int = 5
    cut: Fraction = Fraction(1, 2)
    depth: int | None = None

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
    def guarantee(self) -> Guarantee:
        """The goal holds of disclosure sets, in which every table counts the same: docs/theory/sequences.md."""
        if self.strategy == "naive":
            return RELEASE_ONLY
        return Guarantee(Adversary.REPLAYER, Beliefs.FLAT, besides=SAMPLED)

    @property
    def file_shape(self) -> GroupShape:
        shape = replace(super().file_shape, tight=True)
        if self.functions == "median cuts":
            return replace(shape, cuts=True)
        return replace(shape, levels="together" if self.functions == "hierarchy levels" else "each")

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

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> InOrderRelease:
        """Release the first level that the strategy lets pass, or raise `NothingReleased` with what was found."""
        on_progress(STAGE, 0, 0)
        levels = self.compare(table, rng=rng)
        if levels.outcome.released is None:
            raise NothingReleased(explain_nothing(levels))
        return InOrderRelease(table, levels.released.partition, self, levels)

    def believed(self, release: Release, *, rng: Generator) -> Believed:
        """What someone who knows the levels and the strategy believes of a release, for an audit."""
        return as_believed(self._levels(release, rng).outcome.visits[-1].disclosure.knowledge)

    def failed_levels(self, release: Release, *, rng: Generator) -> Trials | None:
        """The levels that failed before the one that was released; None if more than that decided."""
        levels = self._levels(release, rng)
        step = levels.outcome.visits[-1].step
        if self.rule.looks_back(step, levels.sequence.n_steps):
            return None
        return levels_before(levels.sequence, step)

    def _levels(self, release: Release, rng: Generator) -> TriedLevels:
        return release.levels if isinstance(release, InOrderRelease) else self.compare(release.table, rng=rng)

    def sequence(self, table: Table) -> Sequence:
        """The levels and the property, from quasi-identifiers and parameters alone."""
        if self.functions == "median cuts":
            smallest = max(self.smallest, self._k)
            functions = median_cuts(table, levels=self.levels, smallest=smallest, cut=self.cut, depth=self.depth)
        else:
            functions = hierarchy_levels(table) if self.functions == "hierarchy levels" else full_domain(table)
        kept = tuple(function for function in functions if function.partition.sizes.min(initial=self._k) >= self._k)
        if not kept:
            raise NothingReleased(f"Nothing can be released: none of {len(functions)} levels is {self._k}-anonymous.")
        return Sequence(kept, as_set_property(self._sensitive_goal))

    def _column(self, table: Table) -> Column:
        named = self._sensitive_goal.column
        return table.column(named) if named is not None else table.the_sensitive("A sequence of levels")

    def compare(self, table: Table, *, rng: Generator) -> TriedLevels:
        """Every level with and without knowledge of the method, and what the naive strategy would have released."""
        sequence, column = self.sequence(table), self._column(table)
        inference = Inference(sequence, self.rule, column.n_values, rng=rng)
        return TriedLevels(sequence, inference.run(column.codes), inference.under(Naive()).run(column.codes))


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
