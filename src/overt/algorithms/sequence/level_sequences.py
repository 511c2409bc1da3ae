# SPDX-License-Identifier: Apache-2.0
"""Sequences of functions from quasi-identifiers alone: whoever knows those can repeat every choice made here.

`median_cuts` grows a tree of cuts and takes its levels, finest first; `hierarchy_levels` raises all columns together;
`full_domain` takes every combination of hierarchy levels, ordered by discernibility. Rows with equal quasi-identifiers
are never told apart.
"""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.functions import Function, number_by_appearance
from overt.errors import InvalidInput, TooLarge
from overt.partition import Partition
from overt.table import Codes, Table

MAX_NODES = 4096  # combinations of hierarchy levels that are tried


def median_cuts(
    table: Table, *, levels: int, smallest: int, cut: Fraction = Fraction(1, 2), depth: int | None = None
) -> tuple[Function, ...]:
    """The last levels of a tree of cuts, the deepest first.

    A group is cut along the column whose codes spread widest there, relative to the whole column (the first of equals),
    between two codes so that the part with lower codes has the share `cut` of the rows or just more; if that leaves a part
    with fewer than `smallest` rows the next column is tried, and a group that no column can cut stays as it is. So groups
    differ in size. Level d is what d rounds of cuts leave; with `depth` there are no more rounds than that.
    """
    if levels < 1 or smallest < 1 or not 0 < cut < 1 or (depth is not None and depth < 1):
        raise InvalidInput(
            f"{levels} levels, groups of {smallest} rows, a cut at {cut} and depth {depth} do not describe a tree of cuts."
        )
    columns = [column.codes for column in table.quasi_identifiers]
    widths = [max(1, int(codes.max(initial=0)) - int(codes.min(initial=0))) for codes in columns]
    group_of_row = np.zeros(table.n_rows, np.int32)
    found = [group_of_row]
    growing = [np.arange(table.n_rows)]
    settled: list[NDArray[np.int64]] = []
    while growing and (depth is None or len(found) <= depth):
        parts = []
        for rows in growing:
            halves = cut_group(rows, columns, widths, smallest, cut)
            if halves is None:
                settled.append(rows)
            else:
                parts += halves
        growing = parts
        if parts:
            group_of_row = np.zeros(table.n_rows, np.int32)
            for number, rows in enumerate([*settled, *parts]):
                group_of_row[rows] = number
            found.append(group_of_row)
    chosen = found[::-1][:levels]
    deepest = len(found) - 1
    return tuple(as_function(cuts_deep(deepest - place), groups) for place, groups in enumerate(chosen))


def cuts_deep(depth: int) -> str:
    """The name of a level."""
    return f"{depth} cut{'' if depth == 1 else 's'} deep"


def cut_group(
    rows: NDArray[np.int64], columns: list[Codes], widths: list[int], smallest: int, cut: Fraction
) -> list[NDArray[np.int64]] | None:
    """Two parts of a group, or nothing if no column can be cut."""
    if rows.size < 2 * smallest:
        return None
    spreads = [Fraction(int(np.ptp(codes[rows])), width) for codes, width in zip(columns, widths, strict=True)]
    for column in sorted(range(len(columns)), key=lambda place: -spreads[place]):
        codes = columns[column][rows]
        counts = np.bincount(codes - codes.min())
        below = np.cumsum(counts)
        least = -(-rows.size * cut.numerator // cut.denominator)  # rounded up
        place = int(np.searchsorted(below, least))
        for at in (place, place - 1):
            if 0 <= at < below.size and smallest <= below[at] <= rows.size - smallest:
                low = codes - codes.min() <= at
                return [rows[low], rows[~low]]
    return None


def hierarchy_levels(table: Table) -> tuple[Function, ...]:
    """All columns at level 0, at level 1, and so on; a column without a hierarchy goes from its values to everything."""
    nodes = nodes_of_columns(table)
    top = max(len(levels) for levels in nodes)
    combinations = [tuple(min(level, len(levels) - 1) for levels in nodes) for level in range(top)]
    return tuple(full_domain_function(nodes, combination) for combination in combinations)


def full_domain(table: Table) -> tuple[Function, ...]:
    """Every combination of hierarchy levels, the least discernibility (the sum of squared group sizes) first."""
    nodes = nodes_of_columns(table)
    n_nodes = prod(map(len, nodes))
    if n_nodes > MAX_NODES:
        raise TooLarge(f"The hierarchies have {n_nodes} combinations of levels; up to {MAX_NODES} are tried.")
    functions = [full_domain_function(nodes, levels) for levels in product(*(range(len(levels)) for levels in nodes))]
    return tuple(sorted(functions, key=lambda function: int((function.partition.sizes**2).sum())))


def nodes_of_columns(table: Table) -> list[list[NDArray[np.int32]]]:
    """(column, level, row) -> node."""
    found = []
    for column in table.quasi_identifiers:
        if column.hierarchy is None:
            found.append([column.codes, np.zeros_like(column.codes)])
        else:
            found.append([nodes[column.codes] for nodes in column.hierarchy.node_of_leaf])
    return found


def full_domain_function(nodes: list[list[NDArray[np.int32]]], levels: tuple[int, ...]) -> Function:
    """The function that raises every column to its level."""
    joint = np.zeros(nodes[0][0].size, np.int64)
    for of_level, level in zip(nodes, levels, strict=True):
        joint = np.unique(joint * (int(of_level[level].max(initial=0)) + 1) + of_level[level], return_inverse=True)[1]
        joint = joint.reshape(-1)
    return as_function(f"levels {', '.join(map(str, levels))}", joint)


def as_function(name: str, label_of_row: NDArray[np.integer]) -> Function:
    """A function from one number per row."""
    group_of_row = number_by_appearance(label_of_row)
    return Function(name, Partition(group_of_row, int(group_of_row.max(initial=-1)) + 1))
