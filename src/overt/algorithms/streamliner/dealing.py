# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""Dealing: rows dealt like cards, value by value, into as many groups as there can be.

Paper       ours; the idea of RDA (W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012) taken to its optimum.
Implements  floor(n / l) groups whose sizes differ by at most one: the least discernibility that any l-diverse
            partition can have (`overt.metrics.optimal_discernibility`).
Departs     Not in the paper.
Guarantee   Exact, against an adversary who also knows this code: everyone has each value of the group with the
            share it has there, at most 1/l (Theorem A of docs/theory/safety.md: people are treated alike).

A value has at most n / l rows and so at most one in each group: groups have different values only.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from numpy.random import Generator

from overt.algorithms.batches import shuffle_by_value
from overt.algorithms.streamliner.base import Streamliner
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.group_shape import GroupShape
from overt.guarantee import STRONG, Guarantee
from overt.kernels.batches import deal_in_turn
from overt.partition import Partition
from overt.progress import Progress
from overt.table import Codes, Column, Table


def deal(value_of_row: Codes, n_values: int, l: int, rng: Generator) -> Partition:
    """Deal the rows of an l-eligible table: row number p, counted value by value, goes to group p mod g."""
    rows, _ = shuffle_by_value(value_of_row, n_values, rng)
    n_groups = rows.size // l
    return Partition(deal_in_turn(rows, n_groups), n_groups)


@dataclass(frozen=True, kw_only=True)
class Dealing(Streamliner):
    """Groups of l or a few more rows with different values, as many as possible; quasi-identifiers are not used."""

    name: ClassVar[str] = "dealing"
    _proven: ClassVar[Guarantee] = STRONG  # Theorem A of docs/theory/safety.md
    _fills_places_blind: ClassVar[bool] = True

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, sizes="even", differ=self._keeps_values_apart)

    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        require_eligible(sensitive.total_of_value, self.diversity, column=sensitive.name)
        on_progress("Dealing", 0, 1)
        return deal(sensitive.codes, sensitive.n_values, self.diversity, rng)
