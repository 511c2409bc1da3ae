# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_cell_histograms.py
"""Matrices (cell, value) of a generalization, visited one by one, up to the names of interchangeable values."""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial, lcm

from overt.algorithms.sequence.engines.step_shapes import Placement, StepShape
from overt.algorithms.sequence.equal_tables import Weights

ColumnsKey = tuple[int, ...]  # the columns of a generalization, by number; in canonical order if the goal is blind
Orbit = tuple[int, int]  # (column, how many values have it)


class TooSlow(Exception):
    """One by one takes too long."""


@dataclass(frozen=True)
class CanonicalSet:
    """A disclosure set in canonical order: how many tables, and per cell the weights of the columns of its key."""

    count: int
    weights: tuple[Weights, ...]  # (cell) -> weight of every column of the key


def visit_matrices(
    orbits: list[Orbit],
    placements: list[list[Placement]],  # (orbit) -> ways to spread one of its values
    shape: StepShape,
    *,
    blind: bool,
    reaches: Callable[[list[ColumnsKey]], bool],  # whether tables with these earlier generalizations come to the step
    patience: int,  # placements that may be tried
) -> CanonicalSet | None:
    """All tables of a generalization that come to its step; None if there are none."""
    n_orbits, free, base, n_earlier = len(orbits), list(shape.sizes), shape.orderings, len(shape.n_groups) - 1
    visited = list(range(n_orbits))
    if blind:  # orbits with few placements first: what does not fit is found out early
        visited.sort(key=lambda orbit: len(placements[orbit]))
    last = n_orbits - 1
    filling = {option.cells: at for at, option in enumerate(placements[visited[last]])}  # what fills all that is free
    tables_of = [[0] * len(options) for options in placements]  # (orbit, placement) -> tables, by multiplicity
    chosen: list[tuple[int, int, int]] = []  # (orbit, placement, multiplicity)
    count = 0

    def visit(turn: int, first: int, left: int, divisor: int, namings: int) -> None:
        nonlocal count, patience
        if not left:
            turn += 1
            if turn == n_orbits:
                count += leaf(divisor, namings)
                return
            first, left = 0, orbits[visited[turn]][1]
            if left > 1:
                namings *= factorial(left)
        orbit = visited[turn]
        options = placements[orbit]
        if turn == last and left == 1:
            patience -= 1
            at = filling.get(tuple(free), -1)
            if at >= first:
                chosen.append((orbit, at, 1))
                count += leaf(divisor * options[at].orderings, namings)
                chosen.pop()
            return
        patience -= len(options) - first
        if patience < 0:
            raise TooSlow
        if left == 1:
            for at in range(first, len(options)):
                _, filled, orderings, _ = options[at]
                for cell, need in filled:
                    if free[cell] < need:
                        break
                else:
                    for cell, need in filled:
                        free[cell] -= need
                    chosen.append((orbit, at, 1))
                    visit(turn, 0, 0, divisor * orderings, namings)
                    chosen.pop()
                    for cell, need in filled:
                        free[cell] += need
            return
        for at in range(first, len(options)):
            _, filled, orderings, _ = options[at]
            fits = left
            for cell, need in filled:
                room = free[cell]
                if room < need * fits:
                    fits = room // need
                    if not fits:
                        break
            if not fits:
                continue
            for times in range(1, fits + 1):
                for cell, need in filled:
                    free[cell] -= need
                divisor *= orderings * times
                chosen.append((orbit, at, times))
                visit(turn, at + 1, left - times, divisor, namings)
                chosen.pop()
            for cell, need in filled:
                free[cell] += need * fits
            divisor //= orderings**fits * factorial(fits)

    def leaf(divisor: int, namings: int) -> int:
        keys = []
        for earlier in range(n_earlier):
            numbers: list[int] = []
            for orbit, at, times in chosen:
                number = placements[orbit][at].columns[earlier]
                if times == 1:
                    numbers.append(number)
                else:
                    numbers += [number] * times
            if blind:
                numbers.sort()
            keys.append(tuple(numbers))
        if not reaches(keys):
            return 0
        tables = base * namings // divisor
        for orbit, at, times in chosen:
            tables_of[orbit][at] += tables * times
        return tables

    visit(-1, 0, 0, 1, 1)
    return CanonicalSet(count, weights_of(orbits, placements, tables_of)) if count else None


def weights_of(
    orbits: list[tuple[int, int]], placements: list[list[Placement]], tables_of: list[list[int]]
) -> tuple[Weights, ...]:
    """Per cell the weight of every column: the rows with its value, summed over tables, shared in the orbit."""
    scale = lcm(*(times for _, times in orbits))
    n_cells = len(placements[0][0].cells)
    weights: list[list[int]] = [[] for _ in range(n_cells)]
    for (_, times), options, tables in zip(orbits, placements, tables_of, strict=True):
        rows_of_cell, unit = [0] * n_cells, scale // times
        for option, n in zip(options, tables, strict=True):
            if n:
                for cell, rows in option.filled:
                    rows_of_cell[cell] += n * rows
        for of_cell, rows in zip(weights, rows_of_cell, strict=True):
            if times == 1:
                of_cell.append(rows * unit)
            else:
                of_cell += [rows * unit] * times
    return tuple(map(tuple, weights))
