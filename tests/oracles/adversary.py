# SPDX-License-Identifier: Apache-2.0
"""Someone who replays a method, from the definition alone: every order of the values, and what would be published."""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import permutations


def possible_tables(values: Sequence[int], publish: Callable[[tuple[int, ...]], Hashable]) -> list[tuple[int, ...]]:
    """The tables with the same values in any order of which the same is published."""
    seen = publish(tuple(values))
    return [table for table in sorted(set(permutations(values))) if publish(table) == seen]


def posterior(tables: Sequence[tuple[int, ...]], n_values: int) -> list[list[Fraction]]:
    """(row, value) -> the share of the tables in which the row has the value."""
    return [
        [Fraction(sum(table[row] == value for table in tables), len(tables)) for value in range(n_values)]
        for row in range(len(tables[0]))
    ]
