# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_cell_histograms.py
"""All ways to fill the cells of a generalization, as arrays: group by group, up to the names of equal values.

Groups of the released function are filled independently, so the matrices (cell, value) of the whole are a
product of small ones. Of values with equal columns only fillings in ascending order are kept: as long as two
neighbours were filled alike, the next group may not fill the second before the first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from overt.errors import TooLarge

Counts = NDArray[np.int64]
CHUNK = 1 << 19  # leaves that are held at a time
LARGEST_CODE = 1 << 62


@dataclass(frozen=True, eq=False)
class Filling:
    """Every filling of one group's cells."""

    matrices: Counts  # (filling, cell of the group, value)
    tables: Counts  # (filling) -> in how many orders its rows can stand
    columns: Counts  # (filling, value) -> code of the value's column, for comparing values
    earlier: Counts  # (earlier function, filling, value) -> what it adds to the code of the value's column there


@dataclass(frozen=True, eq=False)
class Leaves:
    """A chunk of complete fillings."""

    choice: NDArray[np.int32]  # (leaf, group) -> which filling
    tables: Counts  # (leaf) -> tables, counted for all names of equal values
    codes: Counts  # (earlier function, leaf, value) -> code of the value's column


def fill_group(
    histogram: list[int], sizes: list[int], place_of_cell: NDArray[np.int64], max_fillings: int = 1 << 20
) -> Filling:
    """Fill one group. `place_of_cell[f, c]`: the weight of cell c's group in the column codes of function f."""
    partial: list[tuple[tuple[int, ...], ...]] = [()]
    free = [tuple(sizes)]
    for rows in histogram:
        grown, left = [], []
        for columns, room in zip(partial, free, strict=True):
            for spread in spread_rows(rows, room):
                grown.append((*columns, spread))
                left.append(tuple(have - used for have, used in zip(room, spread, strict=True)))
        if len(grown) > max_fillings:
            raise TooLarge("A released group can be filled in too many ways to list.")
        partial, free = grown, left
    complete = [columns for columns, room in zip(partial, free, strict=True) if not any(room)]
    matrices = np.array(complete, np.int64).reshape(len(complete), len(histogram), len(sizes)).transpose(0, 2, 1)
    orderings = prod(map(factorial, sizes))
    tables = [orderings // prod(factorial(rows) for column in columns for rows in column) for columns in complete]
    radix = np.cumprod([1, *(size + 1 for size in sizes[:-1])])
    columns = np.einsum("fcv,c->fv", matrices, radix)
    earlier = np.einsum("fcv,jc->jfv", matrices, place_of_cell)
    return Filling(matrices, np.array(tables, np.int64), columns, earlier)


def spread_rows(rows: int, room: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to put a number of rows into cells with so much room."""
    if len(room) == 1:
        if rows <= room[0]:
            yield (rows,)
        return
    for here in range(min(rows, room[0]) + 1):
        for rest in spread_rows(rows - here, room[1:]):
            yield (here, *rest)


def fill_all(fillings: list[Filling], same_as_next: NDArray[np.bool_], n_earlier: int) -> Iterator[Leaves]:
    """Join the fillings of all groups. `same_as_next[v]`: values v and v + 1 have equal columns."""
    n_values = same_as_next.size + 1
    start = Leaves(np.zeros((1, 0), np.int32), np.ones(1, np.int64), np.zeros((n_earlier, 1, n_values), np.int64))
    yield from join(start, np.tile(same_as_next, (1, 1)), fillings, same_as_next)


def join(
    leaves: Leaves, tied: NDArray[np.bool_], fillings: list[Filling], same_as_next: NDArray[np.bool_]
) -> Iterator[Leaves]:
    """Add the next group to a chunk, and go on chunk by chunk."""
    group = leaves.choice.shape[1]
    if group == len(fillings):
        yield Leaves(leaves.choice, leaves.tables * namings(tied, same_as_next), leaves.codes)
        return
    filling = fillings[group]
    n_fillings = filling.tables.size
    step = max(1, CHUNK // n_fillings)
    in_order = filling.columns[:, :-1] <= filling.columns[:, 1:]
    alike = filling.columns[:, :-1] == filling.columns[:, 1:]
    for first in range(0, leaves.tables.size, step):
        here = slice(first, first + step)
        allowed = (in_order[None] | ~tied[here, None, :]).all(axis=2)
        leaf, which = np.nonzero(allowed)
        leaf += first
        grown = Leaves(
            np.column_stack([leaves.choice[leaf], which.astype(np.int32)]),
            leaves.tables[leaf] * filling.tables[which],
            leaves.codes[:, leaf] + filling.earlier[:, which],
        )
        yield from join(grown, tied[leaf] & alike[which], fillings, same_as_next)


def namings(tied: NDArray[np.bool_], same_as_next: NDArray[np.bool_]) -> Counts:
    """In how many ways the names of equal values can be given to the fillings of each leaf."""
    found = np.ones(len(tied), np.int64)
    run = np.ones(len(tied), np.int64)  # values filled alike so far
    orbit = 1
    for v in range(same_as_next.size):
        if same_as_next[v]:
            orbit += 1
            run = np.where(tied[:, v], run + 1, 1)
            found = found * orbit // run  # builds orbit! / product of run! one value at a time
        else:
            orbit, run = 1, np.ones_like(run)
    return found
