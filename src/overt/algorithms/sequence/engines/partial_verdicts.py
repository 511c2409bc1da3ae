# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""Verdicts on groups that are only partly filled: whether they can still become good, or bad.

Both depend on how often values occur, not on which, so there is one verdict per partition of a number. They
let a sweep forget a group as soon as its fate is settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.properties import RowProperty
from overt.errors import TooLarge
from overt.kernels.frontier_sweep import DOOMED, OPEN, SAVED

LARGEST_GROUP = 26  # beyond, the partitions of the group's size are too many to tabulate
LONGEST_DENSE = 1 << 21  # entries of a table that is indexed directly


@dataclass(frozen=True, eq=False)
class VerdictTable:
    """Verdicts for groups of one size. A partial histogram has the code sum(weights[count])."""

    weights: NDArray[np.int64]  # (count) -> what a value that occurs so often adds to the code
    codes: NDArray[np.int64]  # ascending
    verdicts: NDArray[np.int8]


@lru_cache(maxsize=4096)
def tabulate(goal: RowProperty, size: int, n_values: int) -> VerdictTable:
    """Decide every partial histogram of a group, from full ones down."""
    if size > LARGEST_GROUP:
        raise TooLarge(f"A sweep follows groups of up to {LARGEST_GROUP} rows; there is one of {size}.")
    weights = [0, 1]
    for count in range(1, size):
        weights.append(weights[-1] * (size // count + 1))
    verdict_of: dict[tuple[int, ...], int] = {}
    for filled in range(size, -1, -1):
        for parts in partitions(filled, filled, n_values):
            if filled == size:
                verdict_of[parts] = SAVED if goal.good(parts + (0,) * (n_values - len(parts))) else DOOMED
                continue
            following = {verdict_of[after] for after in additions(parts, n_values)}
            verdict_of[parts] = following.pop() if len(following) == 1 else OPEN
    listed = sorted((sum(weights[part] for part in parts), verdict) for parts, verdict in verdict_of.items())
    codes, verdicts = zip(*listed, strict=True)
    return VerdictTable(np.array([*weights, 0], np.int64), np.array(codes, np.int64), np.array(verdicts, np.int8))


def partitions(number: int, largest: int, max_parts: int) -> list[tuple[int, ...]]:
    """Ways to write a number as a sum of parts, largest first."""
    if number == 0:
        return [()]
    if max_parts == 0:
        return []
    return [
        (part, *rest)
        for part in range(min(number, largest), 0, -1)
        for rest in partitions(number - part, part, max_parts - 1)
    ]


def additions(parts: tuple[int, ...], n_values: int) -> list[tuple[int, ...]]:
    """The partial histograms one more row leads to."""
    found = {tuple(sorted((*parts[:i], part + 1, *parts[i + 1 :]), reverse=True)) for i, part in enumerate(parts)}
    if len(parts) < n_values:
        found.add((*parts, 1))
    return list(found)


@dataclass(frozen=True, eq=False)
class VerdictTables:
    """The tables of several sizes, packed for a kernel."""

    weights: NDArray[np.int64]  # (table, count)
    first: NDArray[np.int64]
    codes: NDArray[np.int64]
    verdicts: NDArray[np.int8]
    dense_first: NDArray[np.int64]  # -1 where the codes are too sparse to index by
    dense: NDArray[np.int8]

    @classmethod
    def of(cls, goal: RowProperty, sizes: Sequence[int], n_values: int) -> "VerdictTables":
        """One table per size."""
        tables = [tabulate(goal, size, n_values) for size in sizes]
        width = max((table.weights.size for table in tables), default=2)
        weights = np.zeros((max(len(tables), 1), width), np.int64)
        dense_first, dense, length = [], [], 0
        for number, table in enumerate(tables):
            weights[number, : table.weights.size] = table.weights
            if table.codes[-1] < LONGEST_DENSE:
                direct = np.zeros(int(table.codes[-1]) + 1, np.int8)
                direct[table.codes] = table.verdicts
                dense_first.append(length)
                dense.append(direct)
                length += direct.size
            else:
                dense_first.append(-1)
        nothing = np.zeros(0, np.int8)
        return cls(
            weights,
            np.cumsum([0, *(table.codes.size for table in tables)], dtype=np.int64),
            np.concatenate([np.zeros(0, np.int64), *(table.codes for table in tables)]),
            np.concatenate([nothing, *(table.verdicts for table in tables)]),
            np.array(dense_first or [-1], np.int64),
            np.concatenate([nothing, *dense]),
        )
