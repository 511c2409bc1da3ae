# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""PermutationSet and DisclosureSet: sets of tables that are counted, sampled and asked, but not listed.

Listing is possible on request, where the set is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.equal_tables import AnyPosterior, BoundedNumber, EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Function
from overt.errors import InvalidInput, TooLarge
from overt.table import Codes

if TYPE_CHECKING:
    from overt.algorithms.sequence.inference import Inference

ValueTuple = tuple[int, ...]  # (row) -> code: one table


@dataclass(frozen=True, eq=False)
class PermutationSet:
    """All tables with the same generalization under one function (Definition 1 of the k-jump paper)."""

    function: Function
    values: Codes
    n_values: int

    @cached_property
    def _histograms(self) -> NDArray[np.int64]:
        return self.function.histograms(self.values, self.n_values)

    @cached_property
    def count(self) -> int:
        """How many tables."""
        return prod(count_orderings(histogram) for histogram in self._histograms.tolist())

    @cached_property
    def posterior(self) -> RowPosterior:
        """Every row has the distribution of its group."""
        return RowPosterior(self.function.partition.group_of_row, tuple(map(tuple, self._histograms.tolist())))

    def __contains__(self, values: object) -> bool:
        table = as_codes(values, self.function.n_rows, self.n_values)
        return bool((self.function.histograms(table, self.n_values) == self._histograms).all())

    def sample(self, rng: Generator) -> Codes:
        """One table, all equally likely: shuffle inside the groups."""
        partition, shuffled = self.function.partition, self.values.copy()
        shuffled.flags.writeable = True
        rows = partition.rows
        keys = rng.random(rows.size)
        order = np.lexsort((keys, partition.group_of_row[rows]))
        shuffled[rows] = self.values[rows[order]]
        return shuffled

    def tables(self, limit: int = 100_000) -> Iterator[ValueTuple]:
        """List the tables, in order."""
        if self.count > limit:
            raise TooLarge(
                f"The permutation set has {self.count} tables and the limit is {limit}; ask for its count instead."
            )
        left = self._histograms.tolist()
        group_of_row = self.function.partition.group_of_row.tolist()
        n_rows, table = len(group_of_row), [0] * len(group_of_row)

        def fill(row: int) -> Iterator[ValueTuple]:
            if row == n_rows:
                yield tuple(table)
                return
            here = left[group_of_row[row]]
            for value in range(self.n_values):
                if here[value]:
                    here[value] -= 1
                    table[row] = value
                    yield from fill(row + 1)
                    here[value] += 1

        yield from fill(0)


@dataclass(frozen=True, eq=False)
class DisclosureSet:
    """The tables of a permutation set whose own run reaches the step (Definition 3 of the k-jump paper)."""

    permutation: PermutationSet
    step: int
    inference: "Inference" = field(repr=False)

    @cached_property
    def knowledge(self) -> EqualTables:
        """Size and posteriors, exact or between bounds."""
        return self.inference.disclosure(self.permutation.values, self.step)

    @property
    def count(self) -> int | BoundedNumber:
        """How many tables."""
        return self.knowledge.count

    @property
    def posterior(self) -> AnyPosterior:
        """Every row's distribution."""
        return self.knowledge.posterior

    @property
    def exact(self) -> bool:
        """Whether size and posteriors are exact."""
        return self.knowledge.exact

    @property
    def holds(self) -> bool:
        """Whether the goal holds of the set. If that cannot be told, it does not."""
        return self.inference.disclosure_holds(self.permutation.values, self.step)

    def __contains__(self, values: object) -> bool:
        table = as_codes(values, self.permutation.function.n_rows, self.permutation.n_values)
        return table in self.permutation and self.inference.reaches(table, self.step)

    def sample(self, rng: Generator, *, max_tries: int = 100_000) -> Codes:
        """One table, all equally likely: draw from the permutation set until a run reaches the step."""
        for _ in range(max_tries):
            table = self.permutation.sample(rng)
            if self.inference.reaches(table, self.step):
                return table
        raise TooLarge(f"None of {max_tries} tables drawn from the permutation set reaches step {self.step}.")

    def tables(self, limit: int = 100_000) -> Iterator[ValueTuple]:
        """List the tables, in order."""
        for table in self.permutation.tables(limit):
            if self.inference.reaches(np.array(table, np.int32), self.step):
                yield table


def count_orderings(histogram: list[int]) -> int:
    """In how many orders the values of a group can stand."""
    return factorial(sum(histogram)) // prod(map(factorial, histogram))


def as_codes(values: object, n_rows: int, n_values: int) -> Codes:
    """A table as an array of codes, checked."""
    table = np.asarray(values, np.int32)
    if table.shape != (n_rows,) or (n_rows and not 0 <= table.min() <= table.max() < n_values):
        raise InvalidInput(f"A table here is {n_rows} codes from 0 to {n_values - 1}, one per row.")
    return table
