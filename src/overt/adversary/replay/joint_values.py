# SPDX-License-Identifier: Apache-2.0
"""JointValues: several sensitive columns as one, whose values are the tuples that rows show.

A release of rows shows the values of all its sensitive columns together, so that what moves inside a group is the tuple. What is
believed is told column by column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.adversary.posterior import Posterior
from overt.errors import TooLarge
from overt.partition import Groups, Histogram
from overt.table import Codes, Column, Kind, Role, Table

MOST_TUPLES = 5_000


@dataclass(frozen=True, eq=False)
class JointValues:
    """One column that stands for several; of a single column, itself."""

    columns: tuple[Column, ...]
    column: Column
    code_of: NDArray[np.int32]  # (column, value of the joint column) -> its code

    @classmethod
    def of(cls, columns: Sequence[Column], *, any_tuple: bool = False) -> "JointValues":
        """Of the tuples that occur; or of `any_tuple` that there could be, where rows are hidden that may have any."""
        (first, *others), name = columns, " and ".join(column.name for column in columns)
        if not others:
            return cls((first,), first, np.arange(first.n_values, dtype=np.int32)[None, :])
        codes = np.stack([column.codes for column in columns])
        if any_tuple:
            n_values = [column.n_values for column in columns]
            if prod(n_values) > MOST_TUPLES:
                raise TooLarge(
                    f"Suppressed rows may have any of {prod(n_values):,} combinations of {name}; up to {MOST_TUPLES:,} can be "
                    "followed. Audit a release without suppressed rows."
                )
            number = np.ravel_multi_index(list(codes), n_values).astype(np.int32)
            code_of = np.stack(np.unravel_index(np.arange(prod(n_values)), n_values)).astype(np.int32)
        else:
            code_of, place = np.unique(codes, axis=1, return_inverse=True)
            number = place.reshape(-1).astype(np.int32)
            if code_of.shape[1] > MOST_TUPLES:
                raise TooLarge(
                    f"Rows show {code_of.shape[1]:,} combinations of {name}; up to {MOST_TUPLES:,} can be followed. Make classes of "
                    "their values, or audit fewer sensitive columns together."
                )
        values = pl.Series([str(i) for i in range(code_of.shape[1])], dtype=pl.String)
        return cls(tuple(columns), Column(name, Role.SENSITIVE, Kind.CATEGORY, number, values), code_of)

    @property
    def first_shown(self) -> list[int]:
        """(column + 1) -> where its values begin if those of all columns stand one after the other."""
        return [0, *np.cumsum([column.n_values for column in self.columns]).tolist()]

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """(column, value) -> its place among the values of all columns."""
        return self.code_of.astype(np.int64) + np.array(self.first_shown[:-1])[:, None]

    @cached_property
    def of_table(self) -> tuple[Histogram, ...]:
        """(column) -> the values of the whole table."""
        n = self.column.codes.size
        everybody = Groups.of_ranges(self.columns, np.arange(n, dtype=np.int32), np.array([0, n], np.int64))
        return tuple(everybody.histograms.values())

    def told(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Amounts of values, last axis, as amounts of the values of all columns."""
        if len(self.columns) == 1:
            return amounts
        is_told = np.zeros((self.column.n_values, self.first_shown[-1]))
        for places in self.shown:
            is_told[np.arange(places.size), places] = 1
        told: NDArray[np.float64] = amounts @ is_told
        return told

    def with_codes(self, table: Table, codes: Codes) -> Table:
        """The same people with other sensitive values."""
        new = {
            id(column): replace(column, codes=np.ascontiguousarray(of[codes]))
            for column, of in zip(self.columns, self.code_of, strict=True)
        }
        return replace(table, columns=tuple(new.get(id(column), column) for column in table.columns))

    def split(self, posterior: Posterior) -> tuple[Posterior, ...]:
        """What is believed of each column."""
        if len(self.columns) == 1:
            return (posterior,)
        first = self.first_shown
        return tuple(
            replace(
                posterior,
                chance=posterior.chance[:, begin:end],
                error=posterior.error[:, begin:end],
                parts=None if posterior.parts is None else posterior.parts[..., begin:end],
            )
            for begin, end in pairwise(first)
        )
