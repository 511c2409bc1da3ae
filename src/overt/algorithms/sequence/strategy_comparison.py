# SPDX-License-Identifier: Apache-2.0
"""Strategies compared: which releases earlier on a table, and tables on which one beats another.

Paper       Theorems 2 to 6 of the k-jump paper: the data utility of different strategies is incomparable.
Implements  The comparison of two runs, and a search that constructs witnesses: random sequences of functions, every table of
            each decided under both strategies by a forward pass.
Departs     The paper constructs its witnesses by hand. Theorem 4 names any two jump vectors; vectors that differ only in
            entries that never matter (the first, or jumps that both lead past the end) have no witness.
Guarantee   A witness is exact. That none was found proves nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from overt.algorithms.sequence.engines.forward_pass import ForwardPass
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.properties import SetProperty
from overt.algorithms.sequence.strategies.base import Strategy, StrategyRun
from overt.table import Codes


@dataclass(frozen=True, eq=False)
class StrategyComparison:
    """Runs of several strategies on one table."""

    outcomes: tuple[StrategyRun, ...]

    @cached_property
    def best(self) -> tuple[Strategy, ...]:
        """The strategies that release earliest; none if no strategy releases anything."""
        steps = [outcome.released for outcome in self.outcomes if outcome.released is not None]
        return tuple(outcome.strategy for outcome in self.outcomes if steps and outcome.released == min(steps))


def compare(
    sequence: Sequence, strategies: tuple[Strategy, ...], values: Codes, n_values: int, *, rng: Generator | None = None
) -> StrategyComparison:
    """Run strategies on the same table."""
    return StrategyComparison(tuple(Inference(sequence, one, n_values, rng=rng).run(values) for one in strategies))


@dataclass(frozen=True, eq=False)
class StrategyWitness:
    """A table that one strategy releases earlier than another, or that only the one releases."""

    sequence: Sequence
    values: Codes
    n_values: int
    better: int  # the step at which the better strategy releases
    worse: int | None


def find_witness(
    better: Strategy,
    worse: Strategy,
    goal: SetProperty,
    *,
    rng: Generator,
    n_rows: int = 6,
    n_values: int = 3,
    n_functions: int = 3,
    max_sequences: int = 2_000,
) -> StrategyWitness | None:
    """Search for a table that `better` releases earlier than `worse`."""
    for _ in range(max_sequences):
        functions = tuple(random_function(f"g{step + 1}", n_rows, rng) for step in range(n_functions))
        values = rng.integers(0, n_values, n_rows).astype(np.int32)
        values = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int32)
        found = beaten(Sequence(functions, goal), better, worse, values)
        if found is not None:
            return found
    return None


def beaten(sequence: Sequence, better: Strategy, worse: Strategy, values: Codes) -> StrategyWitness | None:
    """The first table with these values, in any order, on which one strategy beats the other."""
    n_values = int(values.max()) + 1
    one = ForwardPass(sequence, better, values, n_values)
    other = ForwardPass(sequence, worse, values, n_values)
    wins = np.flatnonzero((one.released > 0) & ((other.released == 0) | (one.released < other.released)))
    if not wins.size:
        return None
    table = int(wins[0])
    later = int(other.released[table])
    return StrategyWitness(
        sequence, one.tables[table].astype(np.int32), n_values, int(one.released[table]), later or None
    )


def random_function(name: str, n_rows: int, rng: Generator) -> Function:
    """Consecutive rows cut at random, or rows thrown into groups at random."""
    if rng.random() < 0.5:
        cuts = np.sort(rng.choice(np.arange(1, n_rows), int(rng.integers(0, n_rows // 2 + 1)), replace=False))
        return Function.from_ranges(name, np.diff([0, *cuts.tolist(), n_rows]).tolist())
    return Function.from_labels(name, rng.integers(0, max(2, n_rows // 2), n_rows).tolist())
