# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_engines.py
"""What a full-domain search preferred to the node it chose: every such node must have failed.

The search is replayed from its description alone, without the code of any method: groups of a node from the hierarchies,
costs from their definitions, in whole numbers. A node fails if more rows than allowed are in groups that break the goal, or
if suppressing those makes it cost as much as the chosen one. Without suppression and with a goal that holds for unions of
groups it holds for, only the highest of these nodes matter: where they fail, so does everything below.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import lcm

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput, TooLarge
from overt.lattice import Lattice, Node, nodes_of_levels
from overt.partition import Counts, Partition
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.table import Codes, Table
from overt.trace import NEVER, BestNode, Trials

MOST_NODES = 100_000
LARGEST = 2**62
STAGE = "Replaying the search"


@dataclass(frozen=True, eq=False)
class PreferredNodes:
    """The lattice of a table: the groups of a node, and what they cost."""

    table: Table
    optimise: str

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice.of(self.table.quasi_identifiers)

    @cached_property
    def _levels(self) -> list[NDArray[np.int32]]:
        return [nodes_of_levels(column) for column in self.table.quasi_identifiers]

    @cached_property
    def _people(self) -> tuple[Codes, NDArray[np.int32]]:
        """(row) -> its number among people who are told apart; (person, column) -> code."""
        codes = np.stack([column.codes for column in self.table.quasi_identifiers], axis=1)
        people, number = np.unique(codes, axis=0, return_inverse=True)
        return number.reshape(-1).astype(np.int32), people

    def partition(self, node: Node) -> Partition:
        """Who is in which group."""
        person_of_row, people = self._people
        key = np.zeros(len(people), np.int64)
        for j, level in enumerate(node):
            shown = self._levels[j][level]
            n_shown = int(shown.max(initial=0)) + 1
            if int(key.max(initial=0)) >= LARGEST // n_shown:
                key = np.unique(key, return_inverse=True)[1]
            key = key * n_shown + shown[people[:, j]]
        _, group = np.unique(key, return_inverse=True)
        groups = group.astype(np.int32)[person_of_row]
        groups.flags.writeable = False
        return Partition(groups, int(group.max(initial=-1)) + 1)

    def cost(self, node: Node, partition: Partition) -> tuple[int, Counts]:
        """What a node costs if nothing is suppressed, and what suppressing each of its groups adds."""
        sizes, n_rows = partition.sizes, self.table.n_rows
        if self.optimise == "discernibility":
            return int(sizes @ sizes), sizes * (n_rows - sizes)
        if self.optimise == "average group size":
            return -partition.n_groups, np.ones_like(sizes)
        person = partition.rows[partition.starts[:-1]]  # one of each group; its people show the same
        spent = np.zeros(partition.n_groups, np.int64)
        for column, cells, level in zip(self.table.quasi_identifiers, self._cells, node, strict=True):
            spent += cells[level][column.codes[person]]
        return int(sizes @ spent), sizes * (self._most_of_row - spent)

    def cheapest(self, node: Node) -> int | None:
        """The same without counting groups; None if it takes that."""
        if self.optimise in ("discernibility", "average group size"):
            return None
        return sum(
            int(cells[level] @ column.total_of_value)
            for column, cells, level in zip(self.table.quasi_identifiers, self._cells, node, strict=True)
        )

    @cached_property
    def _unit(self) -> int:
        """A cell costs at most so much, and every cost is whole."""
        columns = self.table.quasi_identifiers
        most = [column.n_values - 1 for column in columns] if self.optimise == "loss" else self.lattice.top
        unit = lcm(*(n for n in most if n))
        if unit * self.table.n_rows * (self.table.n_rows + 1) * len(columns) > LARGEST:
            raise TooLarge("The costs of nodes do not fit into whole numbers of 64 bits; use fewer or smaller columns.")
        return unit

    @cached_property
    def _cells(self) -> list[NDArray[np.int64]]:
        """(column)(level, code) -> what the cell costs."""
        cells = []
        for column, levels in zip(self.table.quasi_identifiers, self._levels, strict=True):
            if self.optimise == "loss":
                wide = np.stack([np.bincount(shown)[shown] - 1 for shown in levels])
                most = column.n_values - 1
            elif self.optimise == "precision":
                wide, most = np.repeat(np.arange(len(levels))[:, None], column.n_values, axis=1), len(levels) - 1
            else:
                raise InvalidInput(
                    f"A search for the least {self.optimise!r} cannot be replayed; loss, precision, discernibility "
                    "and average group size can."
                )
            cells.append(wide * (self._unit // most) if most else np.zeros_like(wide))
        return cells

    @cached_property
    def _most_of_row(self) -> int:
        return sum(int(cells.max(initial=0)) and self._unit for cells in self._cells)


def preferred_nodes(
    table: Table,
    chosen: Node,
    released: Partition,
    search: BestNode,
    goal: Property,
    *,
    on_progress: Progress = silent,
) -> Iterator[Trials]:
    """The nodes that would have been taken instead if they had not failed, and the groups that were suppressed.

    Progress is said before the groups of each node are made, also of nodes that are then passed over: most nodes are, and there
    may be many.
    """
    nodes = PreferredNodes(table, search.optimise)
    lattice = nodes.lattice
    if lattice.n_nodes > MOST_NODES:
        raise TooLarge(f"The lattice has {lattice.n_nodes:,} nodes; searches of up to {MOST_NODES:,} can be replayed.")
    partition = nodes.partition(chosen)
    suppressed = released.group_of_row[partition.rows[partition.starts[:-1]]] < 0  # (group) of the chosen node
    if not _is_from(partition, released, suppressed):
        raise InvalidInput("The groups of the release are not those of its levels.")
    n_suppressed = int(partition.sizes[suppressed].sum())
    if n_suppressed > search.most_suppressed:
        raise InvalidData(
            f"{n_suppressed:,} rows are suppressed, and the search was allowed {search.most_suppressed:,}."
        )
    per_cost = table.n_rows + 1 if search.knows_ties else 1  # so many suppressed rows are worth one unit of cost
    base, excess = nodes.cost(chosen, partition)
    limit = (base + int(excess[suppressed].sum())) * per_cost + (n_suppressed if search.knows_ties else 0)
    yield from _kept_broken(partition, suppressed, lattice, chosen)

    highest_only = search.most_suppressed == 0 and goal.monotone
    kept: list[Node] = []
    every = sorted(product(*(range(n) for n in lattice.n_levels)), key=lambda node: (-sum(node), node))
    for i, node in enumerate(every):
        if i % 64 == 0:
            on_progress(STAGE, i, len(every))
        loses_ties = not search.knows_ties or (sum(node), node) > (sum(chosen), chosen)
        spare = limit if loses_ties else limit + 1  # from this cost on the node is not taken
        cheapest = nodes.cheapest(node)
        if node == chosen or (cheapest is not None and cheapest * per_cost >= spare):
            continue
        if highest_only and any(all(a <= b for a, b in zip(node, other, strict=True)) for other in kept):
            continue
        on_progress(STAGE, i, len(every))
        other = nodes.partition(node)
        base, excess = nodes.cost(node, other)
        if base * per_cost >= spare:
            continue
        kept.append(node)
        cost = excess * per_cost + (other.sizes if search.knows_ties else 0)
        needed = [search.most_suppressed + 1, spare - base * per_cost if search.most_suppressed else NEVER]
        yield _trial(other, np.column_stack([other.sizes, cost]), needed, lattice, node)


def first_nodes(table: Table, path: list[Node]) -> Iterator[Trials]:
    """The nodes of a path that were tried and failed before the last one was taken; the others fail with the last of them."""
    if len(path) > 1:
        nodes = PreferredNodes(table, "discernibility")
        partition, node = nodes.partition(path[-2]), path[-2]
        weight = np.column_stack([partition.sizes, np.zeros_like(partition.sizes)])
        yield _trial(partition, weight, [1, NEVER], nodes.lattice, node)


def _trial(partition: Partition, weight: Counts, needed: list[int], lattice: Lattice, node: Node) -> Trials:
    levels = ", ".join(f"{name} {level}" for name, level in zip(lattice.columns, node, strict=True))
    return Trials(
        partition.rows,
        partition.starts,
        np.array([0, partition.n_groups], np.int64),
        weight.astype(np.int64),
        np.array([needed], np.int64),
        (f"the levels {levels} were preferred and failed",),
    )


def _kept_broken(partition: Partition, suppressed: NDArray[np.bool_], lattice: Lattice, node: Node) -> Iterator[Trials]:
    """Every group that was suppressed must break the goal."""
    for group in np.flatnonzero(suppressed):
        rows = partition.rows[partition.starts[group] : partition.starts[group + 1]]
        yield Trials(
            rows,
            np.array([0, rows.size], np.int64),
            np.array([0, 1], np.int64),
            np.array([[rows.size, 0]], np.int64),
            np.array([[1, NEVER]], np.int64),
            ("a group of suppressed rows must break the goal",),
        )


def _is_from(partition: Partition, released: Partition, suppressed: NDArray[np.bool_]) -> bool:
    """Whether the groups that were released are those of a node, without the suppressed ones."""
    seen = np.where(suppressed[partition.group_of_row], -1, partition.group_of_row)
    if not np.array_equal(seen < 0, released.group_of_row < 0):
        return False
    pairs = np.unique(np.column_stack([seen, released.group_of_row])[seen >= 0], axis=0)
    return bool(len(pairs) == released.n_groups == np.unique(pairs[:, 0]).size)
