# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/together/test_audit_together.py
"""Exact beliefs of a component: all ways to give its cells counts of values, added up cell by cell.

Paper       Not in a paper; the forward-backward recursion of hidden Markov models, over what open groups have left.
Implements  Cells come one after the other. All that later cells need to know of earlier ones is how many of each value the groups
            that are not finished have left. A way counts with the number of tables that it stands for.
Departs     nothing to depart from
Guarantee   Exact, in whole numbers; a component with too many such states is given up, and nothing is said of it.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import factorial, prod

from overt.adversary.together.shared_cells import SharedCells

MOST_STEPS = 200_000  # of a component; of long states fewer
LONG = 32  # numbers

OpenGroups = tuple[int, ...]
Left = dict[int, tuple[int, ...]]  # (open group) -> of each value


class TooManyStates(Exception):
    """A component cannot be counted."""


def count_component(cells: SharedCells, members: list[int]) -> tuple[int, dict[int, list[Fraction]]]:
    """How many tables a component has, and (cell) -> the chance of every value for each of its people."""
    order = _in_order(cells, members)
    last = {g: i for i, cell in enumerate(order) for g in cells.groups_of_cell[cell]}
    budget = [MOST_STEPS]
    opened: list[list[int]] = []  # (step) -> groups that are open before it
    live: list[int] = []
    for i, cell in enumerate(order):
        live += [g for g in cells.groups_of_cell[cell] if g not in live]
        opened.append(list(live))
        live = [g for g in live if last[g] > i]
    forward: list[dict[OpenGroups, int]] = [_with_new({(): 1}, [], opened[0], cells)]
    for i, cell in enumerate(order):
        after: dict[OpenGroups, int] = {}
        for state, weight in forward[i].items():
            for _, ways, new in _steps(cells, cell, i, state, opened[i], last, budget):
                after[new] = after.get(new, 0) + weight * ways
        kept = [g for g in opened[i] if last[g] > i]
        forward.append(_with_new(after, kept, opened[i + 1], cells) if i + 1 < len(order) else after)
    total = sum(forward[-1].values())
    if not total:
        return 0, {}
    backward: dict[OpenGroups, int] = dict.fromkeys(forward[-1], 1)
    chance: dict[int, list[Fraction]] = {}
    for i in range(len(order) - 1, -1, -1):
        cell, before = order[i], {}
        sums = [0] * cells.n_values
        n_kept = sum(last[g] > i for g in opened[i]) * cells.n_values
        rest = {state[:n_kept]: value for state, value in backward.items()} if i + 1 < len(order) else backward
        for state, weight in forward[i].items():
            here = 0
            for counts, ways, new in _steps(cells, cell, i, state, opened[i], last, budget):
                onward = ways * rest.get(new, 0)
                here += onward
                for value, n in enumerate(counts):
                    if n:
                        sums[value] += weight * onward * n
            if here:
                before[state] = here
        size = int(cells.size_of_cell[cell])
        chance[cell] = [Fraction(one, total * size) for one in sums]
        backward = before
    return total, chance


def _in_order(cells: SharedCells, members: list[int]) -> list[int]:
    """Cells so that groups are finished soon after they are begun."""
    left = {g: 0 for cell in members for g in cells.groups_of_cell[cell]}
    for cell in members:
        for g in cells.groups_of_cell[cell]:
            left[g] += 1
    cells_of: dict[int, list[int]] = {g: [] for g in left}
    for cell in members:
        for g in cells.groups_of_cell[cell]:
            cells_of[g].append(cell)
    waiting = set(members)
    near: set[int] = set()
    begun: set[int] = set()
    order: list[int] = []
    while waiting:
        pool = near or {min(waiting, key=lambda c: sum(left[g] for g in cells.groups_of_cell[c]))}
        cell = min(
            pool,
            key=lambda c: (
                sum(g not in begun for g in cells.groups_of_cell[c]),
                sum(left[g] for g in cells.groups_of_cell[c]),
                c,
            ),
        )
        order.append(cell)
        waiting.discard(cell)
        near.discard(cell)
        for g in cells.groups_of_cell[cell]:
            begun.add(g)
            left[g] -= 1
            near.update(c for c in cells_of[g] if c in waiting)
    return order


def _with_new(
    states: dict[OpenGroups, int], kept: list[int], groups: list[int], cells: SharedCells
) -> dict[OpenGroups, int]:
    """The same states, with groups that begin now: these have all their values left."""
    new = [g for g in groups if g not in kept]
    full = tuple(int(n) for g in new for n in cells.counts[g])
    return {state + full: weight for state, weight in states.items()}


def _steps(
    cells: SharedCells, cell: int, i: int, state: OpenGroups, groups: list[int], last: dict[int, int], budget: list[int]
) -> Iterator[tuple[tuple[int, ...], int, OpenGroups]]:
    """Every way to give one cell counts of values: the counts, how many tables that is, and what groups still open have left."""
    n, own = cells.n_values, cells.groups_of_cell[cell]
    place = {g: k * n for k, g in enumerate(groups)}
    size = int(cells.size_of_cell[cell])
    most = [min((state[place[g] + v] for g in own), default=size) for v in range(n)]
    closes = [g for g in own if last[g] == i]
    ways_of_size = factorial(size)
    some = [v for v in range(n) if most[v]]  # of bundles there may be thousands, of which a group shows a few
    for few in _compositions(size, [most[v] for v in some]):
        counts = [0] * n
        for v, one in zip(some, few, strict=True):
            counts[v] = one
        budget[0] -= 1 + len(state) // LONG
        if budget[0] < 0:
            raise TooManyStates
        if any(state[place[g] + v] != counts[v] for g in closes for v in range(n)):
            continue
        new: list[int] = []
        for g in groups:
            if last[g] > i:
                part = state[place[g] : place[g] + n]
                new += [a - b for a, b in zip(part, counts, strict=True)] if g in own else part
        yield tuple(counts), ways_of_size // prod(factorial(one) for one in few), tuple(new)


def _compositions(size: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of one term for each value, none larger than its limit."""
    if not most:
        if size == 0:
            yield ()
        return
    rest = sum(most[1:])
    for first in range(max(0, size - rest), min(size, most[0]) + 1):
        for others in _compositions(size - first, most[1:]):
            yield first, *others
