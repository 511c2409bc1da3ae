# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""Weighted rank and QI-distance: how near two people are, in one number.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, section 3.3.
Implements  rank (position of a value in its domain, from 1), weighted rank, QI-distance.
Departs     The position of a category with a hierarchy is its position among the leaves, so that siblings are
            neighbours. `ranks="value"` uses numbers and dates as they are instead of their positions.
Guarantee   Exact for whole numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.table import Column, Kind, unknown_column

RankBy = Literal["position", "value"]
Rank = NDArray[np.int64] | NDArray[np.float64]


def rank_of_code(column: Column, ranks: RankBy) -> Rank:
    """The rank of every value of a column, in code order."""
    position = np.arange(1, column.n_values + 1)
    if ranks == "position" or column.kind is Kind.CATEGORY:
        return position
    numbers = column.values.cast(float) if column.kind is Kind.NUMBER else column.values.to_physical().cast(float)
    rank = numbers.fill_null(numbers.max()).to_numpy().astype(np.float64)  # missing is last, as in the code order
    return rank if np.isfinite(rank).all() else position


def weights_of(columns: Sequence[Column], weights: Mapping[str, float]) -> list[float]:
    """The weight of every column: 1 where none is given."""
    names = [column.name for column in columns]
    for name, weight in weights.items():
        if name not in names:
            raise unknown_column(name, names)
        if not weight >= 0:
            raise InvalidInput(f"The weight of {name!r} is {weight}; weights are numbers from 0 on.")
    return [weights.get(name, 1) for name in names]


def weighted_rank(columns: Sequence[Column], weights: Mapping[str, float], ranks: RankBy = "position") -> Rank:
    """For every row the sum over columns of weight times rank: whole numbers stay whole."""
    total: NDArray[Any] = np.zeros(columns[0].codes.size, np.int64)
    for column, weight in zip(columns, weights_of(columns, weights), strict=True):
        if weight:
            total = total + (weight * rank_of_code(column, ranks))[column.codes]
    return total


def order_by_rank(rank_of_place: Rank) -> NDArray[np.int64]:
    """Places by ascending rank, ties as they are; a short range of whole numbers sorts much faster."""
    if rank_of_place.dtype == np.int64 and rank_of_place.size:
        shifted = rank_of_place - rank_of_place.min()
        if shifted.max() < 1 << 16:
            return np.argsort(shifted.astype(np.uint16), kind="stable")
    return np.argsort(rank_of_place, kind="stable")
