# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_mondrian.py
"""Trace: what a method tried on the way to a release, and how each trial ended.

A method that cuts groups in two hands it over as plain arrays, so that an adversary can see which verdicts a release
rests on without knowing the method's code.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.table import Codes

NEVER = np.iinfo(np.int64).max  # no cost is so high


@dataclass(frozen=True, eq=False)
class Trace:
    """The cuts that were tried. Cut c would have made the parts 2c and 2c + 1.

    Part p is `rows[starts[p]:starts[p + 1]]`. A cut is made if both parts satisfy the goal, and not otherwise; nothing
    else that the method did depends on sensitive values.
    """

    rows: Codes
    starts: NDArray[np.int64]  # (part + 1)
    column_of_cut: Codes  # the quasi-identifier that was cut
    is_made: NDArray[np.bool_]  # (cut)

    @classmethod
    def empty(cls) -> "Trace":
        """Nothing was tried."""
        return cls(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.bool_))

    @property
    def n_cuts(self) -> int:
        return int(self.is_made.size)


@dataclass(frozen=True, eq=False)
class Trials:
    """What was preferred to a release and had to fail for it to be made. Nothing else depends on sensitive values.

    Trial t would have made the parts from `first_part[t]` to `first_part[t + 1]`, and part p is
    `rows[starts[p]:starts[p + 1]]`. It fails if the parts that break the goal together weigh so much.
    """

    rows: Codes
    starts: NDArray[np.int64]  # (part + 1)
    first_part: NDArray[np.int64]  # (trial + 1)
    weight: NDArray[np.int64]  # (part, 2) -> its rows, and what it costs if it breaks the goal
    needed: NDArray[np.int64]  # (trial, 2) -> rows, or cost, from which on the trial fails
    words: tuple[str, ...] | None = None  # (trial) -> what it was; as in the trace it was made of if None

    @property
    def n_trials(self) -> int:
        return int(self.first_part.size - 1)

    @classmethod
    def of_cuts(cls, trace: Trace) -> "Trials":
        """The cuts that were not made; each fails if one of its parts breaks the goal."""
        sizes, is_failed = np.diff(trace.starts), ~trace.is_made
        of_parts = np.repeat(is_failed, 2)
        kept = sizes[of_parts]
        n_cuts = int(is_failed.sum())
        weight = np.column_stack([kept, np.zeros_like(kept)])
        needed = np.tile(np.array([1, NEVER], np.int64), (n_cuts, 1))
        starts = np.append(0, np.cumsum(kept))
        return cls(trace.rows[np.repeat(of_parts, sizes)], starts, np.arange(0, 2 * n_cuts + 1, 2), weight, needed)

    @classmethod
    def joined(cls, several: "Sequence[Trials]") -> "Trials":
        """All of several."""
        empty = np.zeros((0, 2), np.int64)
        sizes = [np.diff(one.starts) for one in several]
        n_parts = [np.diff(one.first_part) for one in several]
        return cls(
            np.concatenate([np.empty(0, np.int32), *(one.rows for one in several)]),
            np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]))),
            np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *n_parts]))),
            np.concatenate([empty, *(one.weight for one in several)]),
            np.concatenate([empty, *(one.needed for one in several)]),
            tuple(words for one in several for words in one.words or ("",) * one.n_trials),
        )


@dataclass(frozen=True)
class BestNode:
    """How a full-domain search chose its node: of those that reach the goal, the one that costs least."""

    optimise: str  # "loss", "discernibility", "average group size" or "precision", as `FullDomain` defines them
    most_suppressed: int  # rows that may be suppressed: all rows of groups that break the goal
    hides_suppressed: bool  # whether suppressed rows are left out; otherwise they show their sensitive values
    knows_ties: (
        bool  # whether of nodes that cost the same fewer suppressed rows, then lower levels win; or it is not known
    )


@dataclass(frozen=True, eq=False)
class Believed:
    """What a method's own inference says that someone who knows it believes of everybody."""

    cell_of_row: Codes
    chance: NDArray[np.float64]  # (cell, value)
    error: NDArray[np.float64]  # (cell, value) -> 0 if exact, else about a standard error
    how: str  # which engine found it
    n_tables: int | None  # how many tables are left, if that was counted


@dataclass(frozen=True)
class StrictCuts:
    """How a method cuts groups if nothing but their sizes decides.

    Of the columns in which a group can be cut into two parts of at least `least_rows` rows, it takes the one of whose values the
    group has the largest share, the first of equals, and cuts at the boundary between two values nearest to the middle of the
    rows, the lower of two equally near.
    """

    least_rows: int
