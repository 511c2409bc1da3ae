# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""Engine: three nested functions under the safe strategy or jumps of 1. Thousands of rows, exact.

Paper       The recursion of the k-jump paper for step 3, where it looks back at disclosure sets of step 2.
Implements  Let q be the share of the arrangements of a g2-group on which all g1-groups inside pass, and beta the product
            of all q. A row of the group has the posterior (f - beta f') / (1 - beta) in ds_2, f being the group's own
            distribution and f' the one given that the g1-groups pass. Under a bound on ratios that is good exactly
            while beta stays within some theta of the group. So a table stops at step 2 exactly when all g2-groups are good
            and beta is within the least theta, and ds_3 is a sum over states (beta, theta) of the g3-groups, taken one
            after the other. Once beta is under every positive theta it no longer matters, so the states stay few.
Departs     nothing.
Guarantee   Exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import factorial, prod

import numpy as np

from overt.algorithms.sequence.equal_tables import EqualTables, RowPosterior, Weights
from overt.algorithms.sequence.functions import Sequence, is_nested
from overt.algorithms.sequence.properties import RatioBound, RowProperty
from overt.algorithms.sequence.strategies.base import Strategy
from overt.errors import TooLarge
from overt.table import Codes

HistogramKey = tuple[int, ...]
Structure = tuple[int, ...]  # sizes of the g1-groups inside a g2-group, ascending
ANY = Fraction(2)  # a theta that never binds
MAX_PARTS = 100_000  # histograms of one g2-group
MAX_WORK = 30_000_000  # histograms of g2-groups that may be visited


@dataclass(frozen=True)
class GroupsState:
    """What matters of some g2-groups: whether one of them is bad, the product of their q, their least theta."""

    bad: bool
    beta: Fraction
    theta: Fraction


BAD = GroupsState(bad=True, beta=Fraction(0), theta=Fraction(0))
StateSums = dict[GroupsState, tuple[int, int]]  # state -> (all arrangements, those on which every g1-group passes)


class ThreeNested:
    """Disclosure sets of step 3 where each group of a function lies inside one of the next."""

    name = "nested"

    def __init__(self, sequence: Sequence, strategy: Strategy) -> None:
        self.sequence, self.strategy = sequence, strategy

    def suits(self, step: int) -> bool:
        """Whether this is step 3 of nested functions, looked at through disclosure sets, under a bound on ratios."""
        goal, functions = self.sequence.goal, self.sequence.functions
        return (
            step == 3
            and self.strategy.looks_back(step, self.sequence.n_steps)
            and isinstance(goal, RowProperty)
            and goal.ratio_bound is not None
            and is_nested(functions[0], functions[1])
            and is_nested(functions[1], functions[2])
        )

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """The tables of the permutation set that are released neither at step 1 nor at step 2."""
        goal = self.sequence.goal
        assert isinstance(goal, RowProperty) and goal.ratio_bound is not None
        families = self._families(values, n_values)
        kinds = [(family.structures, family.canonical) for family in families]
        require_few(set(kinds))
        tree = ArrangementTree(goal.ratio_bound, sorted(set(kinds)))
        line = Line(tree, kinds)
        cell_of_row = self.sequence.cells(step)
        first_row = np.unique(cell_of_row, return_index=True)[1]
        inner, middle, outer = (function.partition for function in self.sequence.functions[:3])
        beliefs: dict[tuple[int, Structure, int], Weights] = {}
        weights: list[Weights] = []
        count = line.count()
        if not count:
            nothing = (0,) * n_values
            return EqualTables(0, RowPosterior(cell_of_row, (nothing,) * len(first_row)), self.name, holds=False)
        for row in first_row.tolist():
            family = families[int(outer.group_of_row[row])]
            structure = family.structure_of[int(middle.group_of_row[row])]
            size = int(inner.sizes[inner.group_of_row[row]])
            key = (kinds.index((family.structures, family.canonical)), structure, size)
            if key not in beliefs:
                beliefs[key] = line.belief(*key)
            canonical = beliefs[key]
            of_value = [0] * n_values
            for position, value in enumerate(family.order):
                of_value[value] = canonical[position] if position < len(canonical) else 0
            weights.append(tuple(of_value))
        return EqualTables(count, RowPosterior(cell_of_row, tuple(weights)), self.name)

    def _families(self, values: Codes, n_values: int) -> list["Family"]:
        inner, middle, outer = (function.partition for function in self.sequence.functions[:3])
        sizes: list[list[int]] = [[] for _ in range(middle.n_groups)]
        parent = np.zeros(inner.n_groups, np.int64)
        parent[inner.group_of_row] = middle.group_of_row
        for group, size in zip(parent.tolist(), inner.sizes.tolist(), strict=True):
            sizes[group].append(size)
        grand = np.zeros(middle.n_groups, np.int64)
        grand[middle.group_of_row] = outer.group_of_row
        histograms = self.sequence.functions[2].histograms(values, n_values)
        families = [Family(tuple(histogram)) for histogram in histograms.tolist()]
        for group, family in enumerate(grand.tolist()):
            families[family].structure_of[group] = tuple(sorted(sizes[group]))
        return families


@dataclass(frozen=True, eq=False)
class Family:
    """A g3-group: its histogram, and the structure of every g2-group inside."""

    histogram: HistogramKey
    structure_of: dict[int, Structure] = field(default_factory=dict)

    @cached_property
    def order(self) -> list[int]:
        """Values in canonical order: the most frequent first."""
        return sorted(range(len(self.histogram)), key=lambda value: -self.histogram[value])

    @cached_property
    def canonical(self) -> HistogramKey:
        return tuple(self.histogram[value] for value in self.order if self.histogram[value])

    @cached_property
    def structures(self) -> tuple[Structure, ...]:
        return tuple(sorted(self.structure_of.values()))


GroupKind = tuple[tuple[Structure, ...], HistogramKey]


class ArrangementTree:
    """Arrangements inside g3-groups, by kind; everything is remembered by histogram in canonical order."""

    def __init__(self, bound: RatioBound, kinds: list[GroupKind]) -> None:
        self.bound, self.work = bound, MAX_WORK
        self._ways: dict[tuple[Structure, HistogramKey], int] = {}
        self._group: dict[tuple[Structure, HistogramKey], Group] = {}
        self._combined: dict[tuple[tuple[Structure, ...], HistogramKey], StateSums] = {}
        thetas = {
            self.group(structure, part).theta
            for structures, histogram in kinds
            for structure in set(structures)
            for part in parts_of(histogram, sum(structure))
        }
        self.low = min((theta for theta in thetas if theta > 0), default=ANY) / 2  # under every positive theta

    def ways(self, sizes: Structure, histogram: HistogramKey) -> int:
        """Arrangements of a histogram over g1-groups of these sizes on which every one of them passes."""
        if not sizes:
            return 1
        key = (sizes, ordered(histogram))
        if key not in self._ways:
            cap = self.bound.largest_count(sizes[0])
            self._ways[key] = sum(
                orderings(part) * self.ways(sizes[1:], minus(key[1], part))
                for part in parts_of(key[1], sizes[0])
                if max(part) <= cap
            )
        return self._ways[key]

    def group(self, structure: Structure, histogram: HistogramKey) -> "Group":
        """The numbers of one g2-group."""
        order = sorted(range(len(histogram)), key=lambda value: -histogram[value])
        key = (structure, tuple(histogram[value] for value in order))
        if key not in self._group:
            self._group[key] = self._examine(*key)
        found = self._group[key]
        if key[1] == histogram:
            return found
        place = [0] * len(order)
        for position, value in enumerate(order):
            place[value] = position
        passing = {size: tuple(rows[place[v]] for v in range(len(order))) for size, rows in found.passing_rows.items()}
        return Group(found.arrangements, found.passing, passing, found.theta, found.bad)

    def _examine(self, structure: Structure, histogram: HistogramKey) -> "Group":
        arrangements, passing = orderings(histogram), self.ways(structure, histogram)
        size, bound = sum(structure), self.bound.bound
        bad = not self.bound.admits(Fraction(max(histogram), size))
        rows: dict[int, Weights] = {}
        theta = ANY
        for inner in set(structure):
            rest = list(structure)
            rest.remove(inner)
            cap, of_value = self.bound.largest_count(inner), [0] * len(histogram)
            for part in parts_of(histogram, inner):
                if max(part) <= cap:
                    tables = orderings(part) * self.ways(tuple(rest), minus(histogram, part))
                    for value, n in enumerate(part):
                        of_value[value] += tables * n
            rows[inner] = tuple(of_value)
            if passing and not bad:
                for value, n in enumerate(histogram):
                    given_pass = Fraction(of_value[value], passing * inner)
                    if given_pass < bound:
                        theta = min(theta, (bound - Fraction(n, size)) / (bound - given_pass))
        return Group(arrangements, passing, rows, theta if theta < 1 else ANY, bad)

    def state(self, group: "Group") -> GroupsState:
        """The state of one g2-group."""
        return BAD if group.bad else GroupsState(bad=False, beta=self.lowered(group.share), theta=group.theta)

    def lowered(self, beta: Fraction) -> Fraction:
        """A beta that can no longer matter is as good as any other such."""
        return self.low if 0 < beta < self.low else beta

    def merged(self, first: GroupsState, second: GroupsState) -> GroupsState:
        """The state of two sets of g2-groups together."""
        if first.bad or second.bad:
            return BAD
        return GroupsState(bad=False, beta=self.lowered(first.beta * second.beta), theta=min(first.theta, second.theta))

    def stops(self, state: GroupsState) -> bool:
        """Whether a table in this state that comes to step 2 is released there."""
        if state.bad:
            return False
        return state.beta < state.theta or (state.beta == state.theta and not self.bound.strict)

    def combined(self, structures: tuple[Structure, ...], histogram: HistogramKey) -> StateSums:
        """All arrangements of a histogram over some g2-groups, by state."""
        if not structures:
            return {GroupsState(bad=False, beta=Fraction(1), theta=ANY): (1, 1)}
        key = (structures, ordered(histogram))
        if key not in self._combined:
            sums: StateSums = {}
            for part in parts_of(key[1], sum(structures[0])):
                self._spend()
                group = self.group(structures[0], part)
                own = self.state(group)
                for other, (tables, passing) in self.combined(structures[1:], minus(key[1], part)).items():
                    add(sums, self.merged(own, other), group.arrangements * tables, group.passing * passing)
            self._combined[key] = sums
        return self._combined[key]

    def _spend(self) -> None:
        self.work -= 1
        if self.work < 0:
            raise TooLarge("The groups of the second and third function hold too many histograms to go through.")


@dataclass(frozen=True, eq=False)
class Group:
    """A g2-group with a histogram: arrangements, those that pass, and rows with each value among those that pass."""

    arrangements: int
    passing: int
    passing_rows: dict[int, Weights]  # size of a g1-group -> rows of one such group with each value, over arrangements
    theta: Fraction
    bad: bool

    @property
    def share(self) -> Fraction:
        return Fraction(self.passing, self.arrangements)


class Line:
    """All g3-groups in a row: what the others say, for any one of them."""

    def __init__(self, tree: ArrangementTree, kinds: list[GroupKind]) -> None:
        self.tree, self.kinds = tree, kinds
        sums = [tree.combined(*kind) for kind in kinds]
        self.before: list[StateSums] = [{GroupsState(bad=False, beta=Fraction(1), theta=ANY): (1, 1)}]
        for one in sums:
            self.before.append(self._joined(self.before[-1], one))
        self.after: list[StateSums] = [{GroupsState(bad=False, beta=Fraction(1), theta=ANY): (1, 1)}]
        for one in reversed(sums):
            self.after.append(self._joined(one, self.after[-1]))
        self.after.reverse()

    def count(self) -> int:
        """The tables that reach step 3: those that fail at step 1 and do not stop at step 2."""
        return sum(
            tables - passing for state, (tables, passing) in self.before[-1].items() if not self.tree.stops(state)
        )

    def belief(self, at: int, structure: Structure, size: int) -> Weights:
        """Weights of the values for a row of the g3-group `at`, in a g2-group of some structure, g1-group of some size."""
        structures, histogram = self.kinds[at]
        others = list(structures)
        others.remove(structure)
        outside = self._joined(self.before[at], self.after[at + 1])
        weights, n_middle = [0] * len(histogram), sum(structure)
        going_on: dict[GroupsState, tuple[int, int]] = {}
        for part in parts_of(histogram, n_middle):
            group = self.tree.group(structure, part)
            own = self.tree.state(group)
            all_tables = all_passing = 0
            for other, (tables, passing) in self.tree.combined(tuple(others), minus(histogram, part)).items():
                state = self.tree.merged(own, other)
                if state not in going_on:
                    going_on[state] = self._going_on(state, outside)
                out_tables, out_passing = going_on[state]
                all_tables += tables * out_tables
                all_passing += passing * out_passing
            of_passing = group.passing_rows[size]
            for value, n in enumerate(part):
                # shares n / n_middle and of_passing / size, in the common unit 1 / (n_middle size)
                weights[value] += (
                    all_tables * group.arrangements * n * size - all_passing * of_passing[value] * n_middle
                )
        return tuple(weights)

    def _going_on(self, state: GroupsState, outside: StateSums) -> tuple[int, int]:
        """What the other g3-groups contribute to the tables that do not stop at step 2."""
        all_tables = all_passing = 0
        for other, (tables, passing) in outside.items():
            if not self.tree.stops(self.tree.merged(state, other)):
                all_tables += tables
                all_passing += passing
        return all_tables, all_passing

    def _joined(self, first: StateSums, second: StateSums) -> StateSums:
        sums: StateSums = {}
        for one, (tables, passing) in first.items():
            for other, (more_tables, more_passing) in second.items():
                add(sums, self.tree.merged(one, other), tables * more_tables, passing * more_passing)
        return sums


def add(sums: StateSums, state: GroupsState, tables: int, passing: int) -> None:
    """Count arrangements under a state."""
    have_tables, have_passing = sums.get(state, (0, 0))
    sums[state] = (have_tables + tables, have_passing + passing)


@lru_cache(maxsize=1 << 18)
def orderings(histogram: HistogramKey) -> int:
    """In how many orders the values of a group can stand."""
    return factorial(sum(histogram)) // prod(map(factorial, histogram))


def ordered(histogram: HistogramKey) -> HistogramKey:
    """Counts in canonical order, values that do not occur left out."""
    return tuple(sorted((n for n in histogram if n), reverse=True))


def minus(histogram: HistogramKey, part: HistogramKey) -> HistogramKey:
    """What is left of a histogram."""
    return tuple(have - taken for have, taken in zip(histogram, part, strict=True))


def require_few(kinds: set[GroupKind]) -> None:
    """The histograms that a g2-group can have are listed, so they must not be too many."""
    for structures, histogram in kinds:
        for size in {sum(structure) for structure in structures}:
            n_parts = np.ones(1)  # (rows) -> histograms of so many rows that fit, of the values so far
            for count in histogram:
                n_parts = np.convolve(n_parts, np.ones(count + 1))[: size + 1]
            if n_parts[size] > MAX_PARTS:
                raise TooLarge(
                    f"A group of {size} rows of the second function can have {n_parts[size]:.3g} histograms; nested functions "
                    f"are followed up to {MAX_PARTS:,}."
                )


@lru_cache(maxsize=1 << 14)
def parts_of(histogram: HistogramKey, size: int) -> tuple[HistogramKey, ...]:
    """All histograms of so many rows that fit into a histogram."""
    return tuple(spread(histogram, size))


def spread(histogram: HistogramKey, size: int) -> Iterator[HistogramKey]:
    """The same, one by one."""
    if len(histogram) == 1:
        if size <= histogram[0]:
            yield (size,)
        return
    for here in range(max(0, size - sum(histogram[1:])), min(size, histogram[0]) + 1):
        for rest in spread(histogram[1:], size - here):
            yield (here, *rest)
