# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_bundles.py
"""Persons: tables in which a person has several rows, and what such a table knows of them.

Such a table has one row per person. Static quasi-identifiers are ordinary columns. How many rows a person has, and a varying
quasi-identifier at the first, second, third row, are quasi-identifiers too. What is sensitive is the *bundle*: the values of all
rows of a person, in the order of the rows. Every count of rows of such a table is so a count of persons.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

COUNT = "number of rows"  # the column that says how many rows a person has
Which = Literal["random", "latest", "first"]
Known = Literal["visits", "static"]


@dataclass(frozen=True, eq=False)
class Bundles:
    """What the bundles of one sensitive column hold: bundle b the values `code[first[b]:first[b + 1]]`, row by row."""

    first: NDArray[np.int64]  # (bundle + 1)
    code: NDArray[np.int32]
    values: "pl.Series" = field(repr=False)  # the dictionary of single values; a null, if any, is last
    dtype: "pl.DataType | None" = field(default=None, repr=False)  # what came in and goes out
    by_length: bool = (
        True  # whether how many rows a person has is known, so that only equally long bundles are compared
    )
    kind: str = "category"  # of single values
    carried: bool = False  # shown with what is sensitive, and no goal speaks of it: dates of visits that nobody knows

    @property
    def n_bundles(self) -> int:
        return int(self.first.size - 1)

    @property
    def n_values(self) -> int:
        return len(self.values)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(bundle) -> its rows."""
        return np.diff(self.first)

    @cached_property
    def stratum_of_bundle(self) -> NDArray[np.int32]:
        """(bundle) -> the count stratum: bundles that can be told apart by their length are compared with their like."""
        if not self.by_length:
            return np.zeros(self.n_bundles, np.int32)
        return np.unique(self.lengths, return_inverse=True)[1].astype(np.int32)

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(first, code): the different values of every bundle, ascending, whatever row they stand in."""
        bundle = np.repeat(np.arange(self.n_bundles, dtype=np.int64), self.lengths)
        held = np.unique(bundle * max(1, self.n_values) + self.code)
        bundle, code = np.divmod(held, max(1, self.n_values))
        return np.searchsorted(bundle, np.arange(self.n_bundles + 1)), code.astype(np.int32)

    def members(self, bundles: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(first, code): the different values of each of some bundles, one after the other."""
        return gather_lists(*self.distinct, bundles)

    def rows(self, bundles: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(first, code): the values of the rows of each of some bundles, one after the other."""
        return gather_lists(self.first, self.code, bundles)


@dataclass(frozen=True)
class Persons:
    """Who the rows of a table are about, and what became of their rows on the way in.

    `known` says what an adversary is taken to know: "visits", all quasi-identifiers of all rows and how many there are, or "static", the
    static ones alone.
    """

    column: str
    n_rows: int  # of the source
    n_cut: int  # of them that were not kept
    keep: int | None = None  # rows per person at most; None: all
    which: Which = "random"
    order: str | None = None
    known: Known = "visits"
    positions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # varying column -> its columns by position
    names: tuple[str, ...] = ()  # the columns of the source that have a role, in its order
    key: int | None = field(default=None, repr=False)  # the owner's: repeats which rows were cut at random
    draws: bool = False  # whether coins decided which rows were cut, or which of them is which
    n_alike: int = 0  # persons whose name is that of another one but for upper and lower case

    def expanded(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """What is said of a varying column, said of each of its columns by position."""
        found: dict[str, Any] = {}
        for name, choice in choices.items():
            found |= dict.fromkeys(self.positions.get(name, (name,)), choice)
        return found


def position_name(name: str, place: int) -> str:
    """What a varying column is called at a person's first row (place 0), second, third."""
    return f"{name} ({place + 1})"


def gather_lists(
    first: NDArray[np.int64], item: NDArray[np.int32], chosen: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Some of many lists, one after the other: where each begins, and what they hold."""
    lengths = np.diff(first)[chosen]
    starts = np.append(0, np.cumsum(lengths))
    at = np.arange(starts[-1]) - np.repeat(starts[:-1] - first[:-1][chosen], lengths)
    return starts, item[at]
