# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""RDA: random and dependent. A row of the most frequent value takes a row of each of the next most frequent.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Table 6.
Implements  Which values form groups (lines 4-13), the rows that fill them, and appending what is left over.
Departs     All rows are shuffled once with the caller's `rng`, so that the order in which leads are served says
            nothing: served in row order, as the listing can be read, the method gives people away from four rows
            on. Lines 16-17 (choose l - 1 members of a compatible group and merge) are done as "append", and the
            group is drawn among the compatible ones of least size. Ties between values: the lesser code.
Guarantee   Exact, against an adversary who also knows this code (Theorem A of docs/theory/safety.md: people are treated
            alike). Never fails on an l-eligible table; exactly floor(n / l) groups with different values.

Why it never fails: with gamma rows left, f = floor(gamma / l) and r = gamma mod l, no value has more than f + 1
rows and at most r values have f + 1. This holds at the start and survives every group, because the at most
r <= l - 1 values with f + 1 rows are all served. When fewer than l values are left, l f + r = gamma <=
(l - 1) f + r forces f = 0: at most one row of each value is left over, and it finds a group without its value
because no value has more rows than there are groups.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from overt.algorithms.batches import shuffle_by_value
from overt.algorithms.streamliner.base import Streamliner
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.group_shape import GroupShape
from overt.guarantee import STRONG, Guarantee
from overt.kernels.batches import fill_slots
from overt.kernels.counting import count_codes
from overt.kernels.planning import sets_led_by_most_frequent
from overt.partition import Counts, Partition
from overt.progress import Progress
from overt.table import Codes, Column, Table


def plan_groups(counts: Counts, l: int) -> tuple[Codes, Counts]:
    """Lines 4-13, from counts alone: (group, slot) -> value with the lead first, and what each value has left over.

    >>> sets, left_over = plan_groups(np.array([3, 3, 1, 1]), 2)
    >>> sets.tolist(), left_over.tolist()
    ([[0, 1], [0, 1], [0, 1], [2, 3]], [0, 0, 0, 0])
    """
    require_eligible(counts, l)
    value_of_slot, left_over = sets_led_by_most_frequent(np.asarray(counts, np.int64), l)
    return value_of_slot, left_over


def fill_groups(value_of_row: Codes, n_values: int, l: int, rng: Generator) -> Partition:
    """Random rows into the planned groups, and each row that is left over into one without its value."""
    value_of_slot, left_over = plan_groups(count_codes(value_of_row, n_values), l)
    rows, first_of_value = shuffle_by_value(value_of_row, n_values, rng)
    next_of_value = first_of_value[:-1].copy()
    group_of_row = fill_slots(value_of_slot, rows, next_of_value)
    sizes = np.full(len(value_of_slot), l)
    for value in np.flatnonzero(left_over):  # at most l - 1 of them, each with one row
        compatible = ~(value_of_slot == value).any(axis=1)
        smallest = np.flatnonzero(compatible & (sizes == sizes[compatible].min()))
        group = smallest[rng.integers(smallest.size)]
        group_of_row[rows[next_of_value[value]]] = group
        sizes[group] += 1
    return Partition(group_of_row, len(value_of_slot))


@dataclass(frozen=True, kw_only=True)
class RDA(Streamliner):
    """Groups of l rows, the most frequent values first; quasi-identifiers are not used."""

    name: ClassVar[str] = "rda"
    _proven: ClassVar[Guarantee] = STRONG  # Theorem A of docs/theory/safety.md
    _fills_places_blind: ClassVar[bool] = True

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, sizes="least", differ=self._keeps_values_apart)

    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        require_eligible(sensitive.total_of_value, self.diversity, column=sensitive.name)
        on_progress("Filling groups", 0, 1)
        return fill_groups(sensitive.codes, sensitive.n_values, self.diversity, rng)
