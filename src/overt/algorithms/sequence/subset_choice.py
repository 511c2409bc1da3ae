# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""SubsetChoice: a secret choice among unsafe algorithms, and the adversary who considers every choice.

Paper       Section 7 of W. M. Liu, L. Wang, L. Zhang, S. Zhu, "k-Jump: a Strategy to Design Publicly-Known Algorithms
            for Privacy Preserving Micro-Data Disclosure": Tables 15 and 16, Theorem 8.
Implements  The naive strategy on a secretly drawn subset of the functions, and what the release still gives away.
Departs     The paper gives every subset the same weight. With table and subset drawn independently, Bayes weighs a
            subset by the tables that explain the release; both are offered.
Guarantee   None: the paper's Theorem 8 shows that a secret choice among unsafe algorithms is not safe.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from numpy.random import Generator

from overt.algorithms.sequence.equal_tables import EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.strategies.base import StrategyRun
from overt.algorithms.sequence.strategies.naive import Naive
from overt.errors import InvalidInput
from overt.table import Codes

Subset = tuple[int, ...]  # step numbers, ascending
Belief = tuple[dict[int, Fraction], ...]  # (row) -> value -> probability


@dataclass(frozen=True, eq=False)
class DrawnSubset:
    """One subset the owner may have drawn, and the tables for which it makes the release that was seen."""

    subset: Subset
    knowledge: EqualTables | None  # None: no table explains the release


@dataclass(frozen=True, eq=False)
class SecretChoices:
    """Everything an adversary considers who does not know the subset."""

    choices: tuple[DrawnSubset, ...]
    n_rows: int

    @property
    def feasible(self) -> tuple[DrawnSubset, ...]:
        """The subsets that explain the release."""
        return tuple(choice for choice in self.choices if choice.knowledge is not None)

    def average(self) -> Belief:
        """The paper's rule: every feasible subset counts the same."""
        return self._mix([Fraction(1)] * len(self.feasible))

    def bayes(self) -> Belief:
        """Table and subset uniform and independent: a subset counts by the tables that explain the release."""
        return self._mix([Fraction(self._exactly(choice).count) for choice in self.feasible])  # type: ignore[arg-type]

    def possible(self) -> tuple[tuple[int, ...], ...]:
        """(row) -> the values possible under some subset."""
        return tuple(tuple(sorted(belief)) for belief in self.average())

    def _mix(self, weights: list[Fraction]) -> Belief:
        total, beliefs = sum(weights), []
        for row in range(self.n_rows):
            mixed: dict[int, Fraction] = {}
            for choice, weight in zip(self.feasible, weights, strict=True):
                posterior = self._exactly(choice).posterior
                assert isinstance(posterior, RowPosterior)
                for value, ratio in posterior.of_row(row).items():
                    mixed[value] = mixed.get(value, Fraction(0)) + ratio * weight / total
            beliefs.append(mixed)
        return tuple(beliefs)

    @staticmethod
    def _exactly(choice: DrawnSubset) -> EqualTables:
        assert choice.knowledge is not None
        if not choice.knowledge.exact:
            raise InvalidInput("The choices of this case are only known between bounds and cannot be averaged exactly.")
        return choice.knowledge


@dataclass(frozen=True)
class SubsetChoice:
    """Draw a subset of at least `min_size` functions in secret and run the naive strategy on it."""

    min_size: int = 2

    def subsets(self, sequence: Sequence) -> Iterator[Subset]:
        """All the subsets the owner may draw."""
        steps = range(1, sequence.n_steps + 1)
        for size in range(self.min_size, sequence.n_steps + 1):
            yield from combinations(steps, size)

    def run(self, sequence: Sequence, values: Codes, n_values: int, *, rng: Generator) -> tuple[Subset, StrategyRun]:
        """What the owner does. The subset is the owner's secret; steps of the outcome count inside it."""
        subsets = list(self.subsets(sequence))
        if not subsets:
            raise InvalidInput(
                f"There are {sequence.n_steps} functions; a choice of {self.min_size} or more needs as many."
            )
        subset = subsets[int(rng.integers(len(subsets)))]
        return subset, Inference(take(sequence, subset), Naive(), n_values).run(values)

    def infer(self, sequence: Sequence, values: Codes, n_values: int, released: int) -> SecretChoices:
        """What an adversary concludes who sees the generalization of a step and does not know the subset."""
        choices = []
        for subset in self.subsets(sequence):
            if released in subset:
                inside = subset[: subset.index(released) + 1]
                choices.append(DrawnSubset(subset, self._explain(take(sequence, inside), values, n_values)))
        return SecretChoices(tuple(choices), sequence.n_rows)

    def _explain(self, sequence: Sequence, values: Codes, n_values: int) -> EqualTables | None:
        """The tables of the released generalization on which every earlier function of the subset fails."""
        inference = Inference(sequence, Naive(), n_values)
        if not inference.permutation_holds(values, sequence.n_steps):
            return None  # no run of the naive strategy releases this
        known = inference.disclosure(values, sequence.n_steps)
        return known if known.count != 0 else None


def take(sequence: Sequence, steps: Subset) -> Sequence:
    """The sequence of some of the functions."""
    return replace(sequence, functions=tuple(sequence.functions[step - 1] for step in steps))
