# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_level_sequences.py
"""Function and Sequence: which generalizations are tried, in which order, and what must hold.

A generalization function is a partition of the rows. It is fixed before anyone looks at a sensitive value, so
an adversary who knows the quasi-identifiers knows it too.
"""

from collections.abc import Hashable, Iterable
from collections.abc import Sequence as Listing
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.properties import SetProperty
from overt.errors import InvalidInput
from overt.partition import Partition
from overt.table import Codes


@dataclass(frozen=True, eq=False)
class Function:
    """One generalization function: its name, and the group every row falls into."""

    name: str
    partition: Partition = field(repr=False)

    @classmethod
    def from_groups(cls, name: str, groups: Listing[Listing[int]]) -> "Function":
        """From lists of row positions: `Function.from_groups("g1", [[0, 1], [2, 3, 4]])`."""
        n_rows = sum(map(len, groups))
        if sorted(row for group in groups for row in group) != list(range(n_rows)):
            raise InvalidInput(f"The groups of {name!r} must hold every row from 0 to {n_rows - 1} once.")
        return cls(name, Partition.from_groups(groups))

    @classmethod
    def from_labels(cls, name: str, label_of_row: Iterable[Hashable]) -> "Function":
        """From one label per row, such as the generalized value of a hierarchy: equal labels, one group."""
        number: dict[Hashable, int] = {}
        group_of_row = np.array([number.setdefault(label, len(number)) for label in label_of_row], np.int32)
        return cls(name, Partition(group_of_row, len(number)))

    @classmethod
    def from_ranges(cls, name: str, sizes: Listing[int]) -> "Function":
        """Consecutive rows: `Function.from_ranges("g1", [2, 3])` groups rows 0-1 and 2-4."""
        return cls(name, Partition(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), len(sizes)))

    @property
    def n_rows(self) -> int:
        return int(self.partition.group_of_row.size)

    def histograms(self, values: Codes, n_values: int) -> NDArray[np.int64]:
        """(group, value) -> rows of the group with the value: the generalization of a table."""
        shape = (self.partition.n_groups, n_values)
        flat = self.partition.group_of_row.astype(np.int64) * n_values + values
        return np.bincount(flat, minlength=shape[0] * n_values).reshape(shape)


@dataclass(frozen=True, eq=False)
class Sequence:
    """Functions in the order in which they are tried, and the property a release must have. Reuse is allowed."""

    functions: tuple[Function, ...]
    goal: SetProperty

    def __post_init__(self) -> None:
        if not self.functions:
            raise InvalidInput("A sequence needs at least one function.")
        if len({function.n_rows for function in self.functions}) > 1:
            raise InvalidInput("The functions of a sequence are partitions of different numbers of rows.")

    @property
    def n_steps(self) -> int:
        return len(self.functions)

    @property
    def n_rows(self) -> int:
        return self.functions[0].n_rows

    def before(self, step: int) -> tuple[Function, ...]:
        """The functions tried before a step (steps are numbered from 1)."""
        return self.functions[: step - 1]

    def cells(self, step: int) -> Codes:
        """Rows that no function up to a step tells apart, and that the goal treats alike, are one cell."""
        return self._cells_of_step[step - 1]

    @cached_property
    def _cells_of_step(self) -> list[Codes]:
        cell_of_row = np.unique(np.asarray(self.goal.class_of_row(self.n_rows)), return_inverse=True)[1]
        found: list[Codes] = []
        for function in self.functions:
            joint = cell_of_row.astype(np.int64) * function.partition.n_groups + function.partition.group_of_row
            cell_of_row = np.unique(joint, return_inverse=True)[1].reshape(-1)
            found.append(number_by_appearance(cell_of_row))
        return found


def number_by_appearance(labels: NDArray[np.integer]) -> Codes:
    """Renumber labels 0, 1, 2, ... in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size, dtype=np.int32)
    return rank[inverse.reshape(-1)]


def is_nested(inner: Function, outer: Function) -> bool:
    """Whether every group of `inner` lies inside one group of `outer`."""
    order = inner.partition.rows
    outer_of_place = outer.partition.group_of_row[order]
    same_inner = np.diff(inner.partition.group_of_row[order]) == 0
    return not bool((np.diff(outer_of_place)[same_inner] != 0).any())


def deciding(sequence: Sequence, step: int) -> tuple[Function, ...]:
    """The functions before a step that all have to fail for every one of them to fail.

    A function that is used again fails exactly when it failed before. Where groups that pass still pass when they are
    merged, a function whose groups lie inside those of another fails whenever the other does.
    """
    different: dict[bytes, Function] = {}
    for function in sequence.before(step):
        different.setdefault(number_by_appearance(function.partition.group_of_row).tobytes(), function)
    earlier = tuple(different.values())
    if not sequence.goal.survives_merging:
        return earlier
    return tuple(one for one in earlier if not any(is_nested(one, other) for other in earlier if other is not one))
