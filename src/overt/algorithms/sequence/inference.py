# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_in_order.py
"""Inference: what an adversary who knows sequence and strategy concludes, by whichever engine fits.

One interface for all engines. It looks at the structure of a question, picks the engine, remembers the verdicts
by generalization, and hands back numbers that say how sure they are.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.random import Generator

from overt.algorithms.sequence.engines.by_value import ByValue
from overt.algorithms.sequence.engines.cell_histograms import CellHistograms
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from overt.algorithms.sequence.engines.jump_landing import Landing
from overt.algorithms.sequence.engines.sampling import Sampling
from overt.algorithms.sequence.engines.three_nested import ThreeNested
from overt.algorithms.sequence.equal_tables import EqualTables
from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.sets import DisclosureSet, PermutationSet, as_codes
from overt.algorithms.sequence.strategies.base import RELEASE, Strategy, StrategyRun, Visit, describe
from overt.errors import TooLarge
from overt.table import Codes

TINY = 20  # rows up to which cells come first
SMALL = 40  # rows up to which cells are tried at all


class Engine(Protocol):
    """Finds disclosure sets of some kind of sequence."""

    name: str

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """The tables of the permutation set whose own run reaches the step, or `TooLarge`."""


class Inference:
    """Disclosure sets of a sequence under a strategy.

    `rng` allows estimates by sampling where no exact engine fits; without it such a question raises `TooLarge`.
    """

    def __init__(self, sequence: Sequence, strategy: Strategy, n_values: int, *, rng: Generator | None = None) -> None:
        self.sequence, self.strategy, self.n_values, self.rng = sequence, strategy, n_values, rng
        self._cells = CellHistograms(sequence, strategy)
        self._sweep = FrontierSweep(sequence, strategy)
        self._by_value = ByValue(sequence, strategy)
        self._nested = ThreeNested(sequence, strategy)
        self._landing = None if rng is None else Landing(sequence, strategy, rng)
        # what is drawn is decided by exact engines, without drawing again
        self._sampling = (
            None
            if rng is None
            else Sampling(sequence, strategy, rng, reaches=Inference(sequence, strategy, n_values).reaches)
        )
        self._permutation_holds: dict[tuple[int, bytes], bool] = {}
        self._knowledge: dict[tuple[int, bytes], EqualTables] = {}
        self._out_of_reach: dict[tuple[str, int], str] = {}

    def under(self, strategy: Strategy) -> "Inference":
        """The same sequence under another strategy; what both have in common is not worked out again."""
        other = Inference(self.sequence, strategy, self.n_values, rng=self.rng)
        other._permutation_holds = self._permutation_holds
        n_steps = self.sequence.n_steps
        common = {
            step
            for step in range(1, n_steps + 1)
            if not (self.strategy.looks_back(step, n_steps) or strategy.looks_back(step, n_steps))
        }
        other._knowledge = {key: known for key, known in self._knowledge.items() if key[0] in common}
        return other

    def permutation(self, values: Codes, step: int) -> PermutationSet:
        """The tables that cannot be told from this one by the generalization of a step."""
        return PermutationSet(self.sequence.functions[step - 1], values, self.n_values)

    def permutation_holds(self, values: Codes, step: int) -> bool:
        """Whether the goal holds of the permutation set of a step."""
        key = self._key(values, step)
        if key not in self._permutation_holds:
            self._permutation_holds[key] = self.sequence.goal.holds(self.permutation(values, step).posterior)
        return self._permutation_holds[key]

    def disclosure(self, values: Codes, step: int) -> EqualTables:
        """The tables of the permutation set whose own run reaches the step."""
        key = self._key(values, step)
        if key not in self._knowledge:
            self._knowledge[key] = self._find(values, step)
        return self._knowledge[key]

    def disclosure_holds(self, values: Codes, step: int) -> bool:
        """Whether the goal holds of the disclosure set of a step. What cannot be told does not hold."""
        return bool(self.judge_disclosure(values, step))

    def judge_disclosure(self, values: Codes, step: int) -> bool | None:
        """The same; None if bounds leave it open."""
        if self.sequence.goal.shrinks_with_set and not self.permutation_holds(values, step):
            return False
        known = self.disclosure(values, step)
        return self.sequence.goal.judge(known.posterior) if known.holds is None else known.holds

    def reaches(self, values: Codes, step: int) -> bool:
        """Whether the run of a table comes to a step."""
        at = 1
        while at < step:
            at = self._move(values, at)
            if at == RELEASE:
                return False
        return at == step

    def run(self, values: Codes) -> StrategyRun:
        """Run the strategy on a table."""
        values = as_codes(values, self.sequence.n_rows, self.n_values)
        visits: list[Visit] = []
        at, n_steps = 1, self.sequence.n_steps
        while True:
            looked_at: list[int] = []
            verdicts: list[bool | None] = []

            def ask(
                which: int, step: int = at, looked_at: list[int] = looked_at, verdicts: list[bool | None] = verdicts
            ) -> bool:
                looked_at.append(which)
                verdicts.append((self.permutation_holds, self.judge_disclosure)[which](values, step))
                return bool(verdicts[-1])

            move = self.strategy.move(at, n_steps, lambda: ask(0), lambda: ask(1))
            if None in verdicts:
                # later disclosure sets are those of the true verdict: going on without it would leave the table outside
                move = n_steps + 1
            permutation = self.permutation(values, at)
            visits.append(
                Visit(
                    at,
                    self.sequence.functions[at - 1].name,
                    permutation,
                    DisclosureSet(permutation, at, self),
                    tuple(looked_at),
                    tuple(map(bool, verdicts)),
                    describe(move, at, n_steps, tuple(looked_at), tuple(verdicts)),
                )
            )
            if move == RELEASE:
                return StrategyRun(self.strategy, at, tuple(visits))
            if move > n_steps:
                return StrategyRun(self.strategy, None, tuple(visits))
            at = move

    def _move(self, values: Codes, at: int) -> int:
        return self.strategy.move(
            at,
            self.sequence.n_steps,
            lambda: self.permutation_holds(values, at),
            lambda: self.disclosure_holds(values, at),
        )

    def _key(self, values: Codes, step: int) -> tuple[int, bytes]:
        histograms = self.sequence.functions[step - 1].histograms(values, self.n_values)
        return step, histograms.astype(np.int32).tobytes()

    def _find(self, values: Codes, step: int) -> EqualTables:
        """Try the engines that suit the step, the fastest first."""
        if step == 1:
            permutation = self.permutation(values, 1)
            return EqualTables(permutation.count, permutation.posterior, "permutation set")
        reasons = []
        for engine in self._engines(step):
            if (engine.name, step) in self._out_of_reach:
                reasons.append(self._out_of_reach[engine.name, step])
                continue
            try:
                return engine.disclosure(values, self.n_values, step)
            except TooLarge as reason:
                # sampled tables ask the same of the same engine again and again
                reasons.append(f"{engine.name}: {reason}")
                self._out_of_reach[engine.name, step] = reasons[-1]
        raise TooLarge(
            f"The disclosure set of step {step} over {self.sequence.n_rows} rows is out of reach of every engine that suits "
            f"it ({' '.join(reasons) or 'none does'}). What would fit: about {SMALL} rows for any strategy and property; any "
            "number for the naive and exclusive strategies with small groups, and for three nested functions under a bound "
            "on ratios; or pass a random generator to estimate by sampling."
        )

    def _engines(self, step: int) -> Iterator[Engine]:
        if self.sequence.n_rows <= TINY:
            yield self._cells
        for engine in (self._sweep, self._by_value, self._nested):
            if engine.suits(step):
                yield engine
        if TINY < self.sequence.n_rows <= SMALL:
            yield self._cells
        if self._landing is not None and self._landing.suits(step):
            yield self._landing
        if self._sampling is not None and self._sampling.suits(step):
            yield self._sampling
