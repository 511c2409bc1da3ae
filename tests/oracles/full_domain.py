# SPDX-License-Identifier: Apache-2.0
"""Full-domain generalization by trying every node, from the definitions alone.

A row is a tuple of values. A hierarchy is a list of levels, each a list: value -> label. A group is good or not by
itself (`is_good`, given the positions of its rows). Costs are fractions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Hierarchy = Sequence[Sequence[int]]  # (level, value) -> label


@dataclass(frozen=True)
class Tried:
    """One node: the groups that are published, and the rows that are not."""

    node: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]
    suppressed: tuple[int, ...]


def try_every_node(
    rows: Sequence[Sequence[int]], hierarchies: Sequence[Hierarchy], is_good: Callable[[tuple[int, ...]], bool]
) -> Iterator[Tried]:
    for node in product(*(range(len(levels)) for levels in hierarchies)):
        groups = defaultdict(list)
        for position, row in enumerate(rows):
            cells = zip(row, hierarchies, node, strict=True)
            groups[tuple(levels[level][value] for value, levels, level in cells)].append(position)
        good = [tuple(group) for group in groups.values() if is_good(tuple(group))]
        bad = [position for group in groups.values() if not is_good(tuple(group)) for position in group]
        yield Tried(node, tuple(sorted(good)), tuple(sorted(bad)))


def reaches(tried: Tried, max_suppressed: Fraction) -> bool:
    n_rows = len(tried.suppressed) + sum(map(len, tried.kept))
    return bool(tried.kept) and Fraction(len(tried.suppressed), n_rows) <= max_suppressed


def discernibility(tried: Tried, rows, hierarchies) -> Fraction:
    return Fraction(sum(len(group) ** 2 for group in tried.kept) + len(tried.suppressed) * len(rows))


def average_group_size(tried: Tried, rows, hierarchies) -> Fraction:
    return Fraction(len(rows), len(tried.kept))


def precision(tried: Tried, rows, hierarchies) -> Fraction:
    """One minus Sweeney's Prec, a suppressed row counting as one at the top."""
    climbed = sum(Fraction(level, len(levels) - 1) for level, levels in zip(tried.node, hierarchies, strict=True))
    n_kept = len(rows) - len(tried.suppressed)
    return (n_kept * climbed + len(tried.suppressed) * len(hierarchies)) / (len(rows) * len(hierarchies))


def loss(tried: Tried, rows, hierarchies) -> Fraction:
    """The mean over cells of columns that have two values or more; a suppressed cell counts 1."""
    penalties = []
    for j, (levels, level) in enumerate(zip(hierarchies, tried.node, strict=True)):
        n_values = len(levels[0])
        if n_values < 2:
            continue
        labels = levels[level]
        for position, row in enumerate(rows):
            n_alike = sum(label == labels[row[j]] for label in labels)
            is_suppressed = position in tried.suppressed
            penalties.append(Fraction(1) if is_suppressed else Fraction(n_alike - 1, n_values - 1))
    return sum(penalties, Fraction(0)) / len(penalties) if penalties else Fraction(0)


COSTS = {
    "loss": loss,
    "discernibility": discernibility,
    "average group size": average_group_size,
    "precision": precision,
}


def best_node(rows, hierarchies, is_good, max_suppressed: Fraction, optimise: str) -> tuple[Tried, Fraction] | None:
    """The node with the least cost; of several the one with fewer suppressed rows, lower levels in all, lower levels."""
    cost = COSTS[optimise]
    reached = [tried for tried in try_every_node(rows, hierarchies, is_good) if reaches(tried, max_suppressed)]
    if not reached:
        return None

    def rank(tried: Tried):
        return cost(tried, rows, hierarchies), len(tried.suppressed), sum(tried.node), tried.node

    best = min(reached, key=rank)
    return best, cost(best, rows, hierarchies)


def minimal_nodes(rows, hierarchies, is_good, max_suppressed: Fraction) -> set[tuple[int, ...]]:
    reached = {tried.node for tried in try_every_node(rows, hierarchies, is_good) if reaches(tried, max_suppressed)}

    def is_below(one, other):
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return {node for node in reached if not any(is_below(other, node) for other in reached)}
