# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""Strategy: how a sequence of functions becomes an algorithm, and what a run of it says.

At each step a strategy may ask two questions: does the goal hold of the permutation set (all tables with the
same generalization), and of the disclosure set (those of them whose own run would come this far). Its move
follows from the answers: release, go to a later step, or give up.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from overt.algorithms.sequence.sets import DisclosureSet, PermutationSet

LazyAnswer = Callable[[], bool]
RELEASE = 0  # a move: the number of the next step, or this


class Strategy(ABC):
    """A public rule that turns a sequence of functions into an algorithm."""

    name: ClassVar[str]
    safe: ClassVar[bool]  # whether the goal holds of what an adversary infers from every release

    @abstractmethod
    def move(self, step: int, n_steps: int, permutation_holds: LazyAnswer, disclosure_holds: LazyAnswer) -> int:
        """RELEASE, or the step to go to next; beyond `n_steps` nothing is released."""

    @abstractmethod
    def looks_back(self, step: int, n_steps: int) -> bool:
        """Whether reaching a step depends on earlier disclosure sets, and not only on permutation sets."""

    @abstractmethod
    def __str__(self) -> str:
        """A short phrase for reports."""


@dataclass(frozen=True, eq=False)
class Visit:
    """One step of a run: the sets that were looked at, what was decided and why."""

    step: int
    function: str
    permutation: "PermutationSet"
    disclosure: "DisclosureSet"
    looked_at: tuple[int, ...]  # 0: the permutation set, 1: the disclosure set
    answers: tuple[bool, ...]
    decision: str


@dataclass(frozen=True, eq=False)
class StrategyRun:
    """What a strategy did with a table."""

    strategy: Strategy
    released: int | None  # the step whose generalization is released
    visits: tuple[Visit, ...]

    @property
    def path(self) -> tuple[tuple[int, int], ...]:
        """The evaluation path: (i, 0) for the permutation set of step i, (i, 1) for its disclosure set."""
        return tuple((visit.step, which) for visit in self.visits for which in visit.looked_at)

    @property
    def function(self) -> str | None:
        """The name of the released function."""
        return self.visits[-1].function if self.released is not None else None


def describe(move: int, step: int, n_steps: int, looked_at: tuple[int, ...], answers: tuple[bool | None, ...]) -> str:
    """Why a strategy made its move. None is an answer that bounds leave open."""
    sets = ("permutation set", "disclosure set")
    if None in answers:
        return "nothing can be released: whether the goal holds of the disclosure set cannot be told within its bounds"
    reasons = [
        f"the goal {'holds' if answer else 'does not hold'} of the {sets[which]}"
        for which, answer in zip(looked_at, answers, strict=True)
    ]
    reason = (" but " if len(set(answers)) > 1 else " and ").join(reasons)
    if move == RELEASE:
        return f"release: {reason}"
    if move > n_steps:
        return f"nothing can be released: {reason}" + ("" if step == n_steps else ", and the jump leads past the end")
    return f"{'next step' if move == step + 1 else f'jump to step {move}'}: {reason}"
