# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""Engine: value by value. Steps that depend on permutation sets only, with large groups and few cells, under a bound on ratios.

Paper       Not in the two papers; the steps are those of the frontier sweep.
Implements  A function passes when no value exceeds the cap of its group, which is a condition on each value by itself. So
            the tables on which some functions pass are counted by placing one value after the other: the state is how
            many places are free in each cell, and a value has as many ways as the product of binomials. For a released
            group in two parts that is a product of one polynomial per value. The tables on which all functions fail follow
            by inclusion and exclusion over the functions, in integers.
Departs     nothing.
Guarantee   Counts and verdicts are exact, and posteriors up to `EXACT_BITS` bits of tables; beyond, they are floats with a
            proven error, and a verdict that this error leaves open is settled in integers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import factorial, lcm, prod

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.caps import fate_of_groups
from overt.algorithms.sequence.equal_tables import BoundedRowPosterior, EqualTables, RowPosterior, Weights
from overt.algorithms.sequence.functions import Function, Sequence, deciding
from overt.algorithms.sequence.properties import RatioBound, RowProperty
from overt.algorithms.sequence.strategies.base import Strategy
from overt.errors import TooLarge
from overt.table import Codes

MAX_FUNCTIONS = 6  # earlier functions: their subsets are gone through
EXACT_BITS = 2048  # up to 2^2048 tables, posteriors are integers; beyond, floats with a proven error
MAX_STATES = 200_000  # ways in which places can be free, after any value
MAX_WORK = 5_000_000  # placements of a value that may be visited


class ByValue:
    """Disclosure sets of steps that look back at permutation sets only, for groups of any size."""

    name = "value by value"

    def __init__(self, sequence: Sequence, strategy: Strategy) -> None:
        self.sequence, self.strategy = sequence, strategy

    def suits(self, step: int) -> bool:
        """Whether the step depends on caps of earlier groups only."""
        goal = self.sequence.goal
        return (
            not self.strategy.looks_back(step, self.sequence.n_steps)
            and isinstance(goal, RowProperty)
            and goal.ratio_bound is not None
        )

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """The tables of the permutation set on which every earlier function fails."""
        goal = self.sequence.goal
        assert isinstance(goal, RowProperty) and goal.ratio_bound is not None
        released = self.sequence.functions[step - 1]
        earlier = uncertain(goal.ratio_bound, released, deciding(self.sequence, step), values, n_values)
        if len(earlier) > MAX_FUNCTIONS:
            raise TooLarge(
                f"{len(earlier)} earlier functions may pass or fail; up to {MAX_FUNCTIONS} are gone through."
            )
        work = [MAX_WORK]
        terms = [
            ((-1) ** size, Passing(released, passing, goal.ratio_bound, values, n_values, work))
            for size in range(len(earlier) + 1)
            for passing in combinations(earlier, size)
        ]
        terms = [(sign, term) for sign, term in terms if term.count]
        count = sum(sign * term.count for sign, term in terms)
        cell_of_row = self.sequence.cells(step)
        row_of_cell = np.unique(cell_of_row, return_index=True)[1].tolist()
        if terms[0][1].count.bit_length() <= EXACT_BITS or not count:
            posterior = RowPosterior(cell_of_row, tuple(exact_weights(terms, row, n_values) for row in row_of_cell))
            return EqualTables(count, posterior, self.name, holds=None if count else False)
        shares, error = float_shares(terms, row_of_cell, n_values, count)
        bounds = BoundedRowPosterior(cell_of_row, np.maximum(shares - error, 0), np.clip(shares + error, 0, 1))
        return EqualTables(count, bounds, self.name, holds=self._settle(terms, bounds, row_of_cell))

    def _settle(self, terms: "PassingTerms", posterior: BoundedRowPosterior, row_of_cell: list[int]) -> bool:
        """The verdict: from the bounds where they decide, from integers where they do not."""
        goal = self.sequence.goal
        assert isinstance(goal, RowProperty)
        verdicts = [goal.surely_good(low, up) for low, up in zip(posterior.lower, posterior.upper, strict=True)]
        if False in verdicts:
            return False
        n_values = posterior.lower.shape[1]
        return all(
            goal.good(exact_weights(terms, row, n_values))
            for row, verdict in zip(row_of_cell, verdicts, strict=True)
            if verdict is None
        )


def uncertain(
    bound: RatioBound, released: Function, earlier: tuple[Function, ...], values: Codes, n_values: int
) -> list[Function]:
    """The functions that do not fail on every table of the permutation set anyway."""
    histograms = released.histograms(values, n_values)
    return [one for one in earlier if not fate_of_groups(bound, one, released, histograms)[1].any()]


def exact_weights(terms: "PassingTerms", row: int, n_values: int) -> Weights:
    """How many tables give a row each value, in a unit that keeps integers."""
    unit = lcm(*(term.cell_size(row) for _, term in terms))
    of_value = [0] * n_values
    for sign, term in terms:
        scale = sign * (unit // term.cell_size(row)) * term.outside(row)
        for value, rows in enumerate(term.rows_with_value(row)):
            of_value[value] += scale * rows
    return tuple(of_value)


def float_shares(
    terms: "PassingTerms", row_of_cell: list[int], n_values: int, count: int
) -> tuple[NDArray[np.float64], float]:
    """(cell, value) -> share of the tables, and how far a share can be off.

    Each number is a quotient of integers, right to a few units in the last place; terms of both signs are added,
    so the error grows by what cancels.
    """
    all_tables = terms[0][1].count
    shares = np.zeros((len(row_of_cell), n_values))
    magnitude = 0.0
    for sign, term in terms:
        weight = term.count / all_tables
        magnitude += weight
        known: dict[tuple[int, int], NDArray[np.float64]] = {}
        for cell, row in enumerate(row_of_cell):
            key = (int(term.part_of_row[row]), int(term.cell_of_row[row]))
            if key not in known:
                unit = term.part_count(row) * term.cell_size(row)
                known[key] = np.array([rows / unit for rows in term.rows_with_value(row)])
            shares[cell] += sign * weight * known[key]
    kept = count / all_tables
    return shares / kept, 1e-15 * (len(terms) + 4) * magnitude / kept


class Passing:
    """The tables of a permutation set on which some functions pass, as a product over unconnected parts."""

    def __init__(
        self,
        released: Function,
        passing: tuple[Function, ...],
        bound: RatioBound,
        values: Codes,
        n_values: int,
        work: list[int],
    ) -> None:
        self.count, labels = 0, [released.partition.group_of_row.astype(np.int64)]
        everywhere = released.histograms(values, n_values)
        for function in passing:
            may_fail, must_fail = fate_of_groups(bound, function, released, everywhere)
            if must_fail.any():
                return  # on no table does the function pass
            # only groups that may fail say anything
            of_row = function.partition.group_of_row
            labels.append(np.where(may_fail[of_row], of_row, -1).astype(np.int64))
        self.part_of_row = connected_parts(labels)
        self.cell_of_row = np.unique(np.stack(labels), axis=1, return_inverse=True)[1].reshape(-1)
        self.size_of_cell = np.bincount(self.cell_of_row)
        self.parts: list[Filled] = []
        self.place_of_cell = np.zeros(self.size_of_cell.size, np.int64)
        rows_of_part = np.split(
            np.argsort(self.part_of_row, kind="stable"), np.cumsum(np.bincount(self.part_of_row))[:-1]
        )
        known: dict[PartShape, Part] = {}
        for rows in rows_of_part:
            cells, inverse = np.unique(self.cell_of_row[rows], return_inverse=True)
            self.place_of_cell[cells] = np.arange(cells.size)
            first = rows[np.unique(inverse.reshape(-1), return_index=True)[1]]
            groups, released_of_cell = np.unique(released.partition.group_of_row[first], return_inverse=True)
            histograms = np.zeros((groups.size, n_values), np.int64)
            np.add.at(histograms, (np.searchsorted(groups, released.partition.group_of_row[rows]), values[rows]), 1)
            caps = []
            for function, label in zip(passing, labels[1:], strict=True):
                of_cell = label[first]
                for group in np.unique(of_cell[of_cell >= 0]).tolist():
                    cap = bound.largest_count(int(function.partition.sizes[group]))
                    caps.append((tuple(np.flatnonzero(of_cell == group).tolist()), cap))
            sizes = tuple(self.size_of_cell[cells].tolist())
            of_released = tuple(released_of_cell.reshape(-1).tolist())
            self.parts.append(Filled(sizes, of_released, histograms, tuple(caps), known, work))
        self.count = prod(part.count for part in self.parts)

    def cell_size(self, row: int) -> int:
        """How many rows cannot be told from a row here."""
        return int(self.size_of_cell[self.cell_of_row[row]])

    def part_count(self, row: int) -> int:
        """The ways to fill the row's part."""
        return self.parts[int(self.part_of_row[row])].count

    def outside(self, row: int) -> int:
        """The ways to fill everything but the row's part."""
        return self.count // self.part_count(row)

    def rows_with_value(self, row: int) -> list[int]:
        """(value) -> rows of the row's cell with the value, over all ways to fill its part."""
        return self.parts[int(self.part_of_row[row])].rows_with_value(int(self.place_of_cell[self.cell_of_row[row]]))


PassingTerms = list[tuple[int, Passing]]  # with the sign of inclusion and exclusion; the first has no passing function


class Filled:
    """A part and its values. Those that can exceed no cap are placed together, as if they were one.

    Among the rows that such values have in a released group, any order is as likely as any other; so each has its share.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        released_of_cell: tuple[int, ...],
        histograms: NDArray[np.int64],  # (released group, value)
        caps: tuple[tuple[tuple[int, ...], int], ...],
        known: dict["PartShape", "Part"],
        work: list[int],
    ) -> None:
        at_risk = np.zeros(histograms.shape[1], np.bool_)
        for cells, cap in caps:
            inside: dict[int, int] = {}
            for cell in cells:
                inside[released_of_cell[cell]] = inside.get(released_of_cell[cell], 0) + sizes[cell]
            at_risk |= sum(np.minimum(histograms[group], room) for group, room in inside.items()) > cap
        self._place = {value: place for place, value in enumerate(np.flatnonzero(at_risk).tolist())}
        self._histograms: list[list[int]] = histograms.tolist()
        self._rest: list[int] = histograms[:, ~at_risk].sum(axis=1).tolist()
        self._released_of_cell = released_of_cell
        columns = tuple(map(tuple, histograms[:, at_risk].T.tolist()))
        shape = PartShape(sizes, released_of_cell, (*columns, tuple(self._rest)), caps)
        if shape not in known:
            known[shape] = Part(shape, work)
        self._part = known[shape]
        alike = histograms[:, ~at_risk].tolist()
        self._orders = prod(map(factorial, self._rest)) // prod(factorial(n) for of_group in alike for n in of_group)
        self.count = self._part.count * self._orders

    def rows_with_value(self, cell: int) -> list[int]:
        """(value) -> rows of a cell with the value, over all ways to fill the part."""
        rows, group = self._part.rows[cell], self._released_of_cell[cell]
        shared, rest = rows[-1] * self._orders, self._rest[group]
        return [
            rows[self._place[value]] * self._orders if value in self._place else (shared * n // rest if n else 0)
            for value, n in enumerate(self._histograms[group])
        ]


@dataclass(frozen=True)
class PartShape:
    """A part: cells that released groups and passing groups connect."""

    sizes: tuple[int, ...]  # (cell)
    released_of_cell: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]  # (value, released group) -> rows; the last is of values that exceed no cap
    caps: tuple[tuple[tuple[int, ...], int], ...]  # cells of a passing group, and how often a value may occur in them


class Part:
    """All ways to fill a part: forward and backward over the values.

    A state is one number: the free places of every cell side by side, a spare bit after each to see a cell overflow.
    """

    def __init__(self, shape: PartShape, work: list[int]) -> None:
        self.shape, self._work = shape, work
        width = max(shape.sizes).bit_length() + 1
        spare = sum(1 << (width * cell + width - 1) for cell in range(len(shape.sizes)))
        forward: list[dict[int, int]] = [{packed(shape.sizes, width): 1}]
        placements = []
        for place, column in enumerate(shape.columns):
            caps = shape.caps if place < len(shape.columns) - 1 else ()
            options = [
                (taken, packed(taken, width), self._ways(column, taken)) for taken in self._placements(column, caps)
            ]
            after: dict[int, int] = {}
            self._spend(len(options) * len(forward[-1]))
            for free, ways in forward[-1].items():
                guarded = free | spare
                for _, code, choices in options:
                    left = guarded - code
                    if left & spare == spare:
                        left ^= spare
                        after[left] = after.get(left, 0) + ways * choices
            if len(after) > MAX_STATES:
                raise TooLarge(
                    f"A part of {sum(shape.sizes)} rows in {len(shape.sizes)} cells can be filled in too many ways."
                )
            forward.append(after)
            placements.append(options)
        # choices so far divide the rows of a value among cells; the rest is the order inside cells and among equals
        orders = prod(map(factorial, shape.sizes))
        repeated = prod(factorial(rows) for column in shape.columns for rows in column)
        self.count = sum(forward[-1].values()) * orders // repeated
        self.rows = [[0] * len(shape.columns) for _ in shape.sizes]
        backward = dict.fromkeys(forward[-1], 1)
        for value in range(len(shape.columns) - 1, -1, -1):
            through = [0] * len(placements[value])
            before: dict[int, int] = {}
            for free, ways in forward[value].items():
                guarded, total = free | spare, 0
                for number, (_, code, choices) in enumerate(placements[value]):
                    left = guarded - code
                    if left & spare == spare:
                        later = choices * backward.get(left ^ spare, 0)
                        if later:
                            total += later
                            through[number] += ways * later
                before[free] = total
            backward = before
            for (taken, _, _), ways in zip(placements[value], through, strict=True):
                for cell, rows in enumerate(taken):
                    self.rows[cell][value] += ways * rows
        self.rows = [[rows * orders // repeated for rows in of_cell] for of_cell in self.rows]

    def _ways(self, column: tuple[int, ...], taken: tuple[int, ...]) -> int:
        """In how many ways the rows of a value in each released group divide among its cells."""
        return prod(map(factorial, column)) // prod(map(factorial, taken))

    def _spend(self, n_visits: int) -> None:
        self._work[0] -= n_visits
        if self._work[0] < 0:
            raise TooLarge("The values can be placed in too many ways.")

    def _placements(
        self, column: tuple[int, ...], caps: tuple[tuple[tuple[int, ...], int], ...]
    ) -> Iterator[tuple[int, ...]]:
        """Ways to place the rows of one value, within the sizes of the cells and the caps."""
        shape, free = self.shape, self.shape.sizes
        taken = [0] * len(free)
        left = list(column)
        room = [0] * len(column)  # free places of the released group in the cells still to come
        for cell, group in enumerate(shape.released_of_cell):
            room[group] += free[cell]
        caps_of_cell: list[list[int]] = [[] for _ in free]
        for number, (cells, _) in enumerate(caps):
            for cell in cells:
                caps_of_cell[cell].append(number)
        allowed = [cap for _, cap in caps]

        def place(cell: int) -> Iterator[tuple[int, ...]]:
            if cell == len(free):
                self._spend(1)
                yield tuple(taken)
                return
            group = shape.released_of_cell[cell]
            room[group] -= free[cell]
            most = min([free[cell], left[group], *(allowed[cap] for cap in caps_of_cell[cell])])
            for n in range(max(0, left[group] - room[group]), most + 1):
                taken[cell] = n
                left[group] -= n
                for cap in caps_of_cell[cell]:
                    allowed[cap] -= n
                yield from place(cell + 1)
                left[group] += n
                for cap in caps_of_cell[cell]:
                    allowed[cap] += n
            taken[cell] = 0
            room[group] += free[cell]

        yield from place(0)


def packed(numbers: tuple[int, ...], width: int) -> int:
    """Numbers side by side in one."""
    return sum(number << (width * place) for place, number in enumerate(numbers))


def connected_parts(labels: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(row) -> part: rows that share a label, and what those share, and so on. -1 is no label."""
    part = np.arange(labels[0].size)
    while True:
        before = part
        for label in labels:
            labelled = label >= 0
            least = np.full(int(label.max(initial=-1)) + 1, part.size, np.int64)
            np.minimum.at(least, label[labelled], part[labelled])
            part = part.copy()
            part[labelled] = least[label[labelled]]
        if (part == before).all():
            return np.unique(part, return_inverse=True)[1].reshape(-1)
