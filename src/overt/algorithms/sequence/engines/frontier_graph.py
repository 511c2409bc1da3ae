# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_engines.py
"""The graph of a frontier sweep: in which order rows are taken, and all partial tables along it, merged.

A path from the first layer to an accepted state of the last is one table of the disclosure set.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.partial_verdicts import VerdictTables
from overt.algorithms.sequence.equal_tables import Weights
from overt.algorithms.sequence.functions import Function
from overt.algorithms.sequence.properties import RowProperty
from overt.errors import TooLarge
from overt.kernels.frontier_sweep import (
    FrontierPlaces,
    Packing,
    Verdicts,
    count_backward_in_limbs,
    count_forward_in_limbs,
    explore_frontier,
)
from overt.table import Codes

MAX_STATES = 1 << 20
MAX_TRANSITIONS = 1 << 26


class Graph(NamedTuple):
    """Transition i of place t leads from state source[i] to state target[i] by giving the row there a value."""

    first_transition: NDArray[np.int64]  # (place + 1)
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    value: NDArray[np.int16]
    n_states: NDArray[np.int64]  # (place + 1)
    accepted: NDArray[np.bool_]  # of the last states


class SweepPlan:
    """What a sweep needs to know about the functions, whatever the table: order, slots and verdict tables."""

    def __init__(self, goal: RowProperty, released: Function, earlier: tuple[Function, ...], n_values: int) -> None:
        self.released, self.n_values = released, n_values
        self.order = order = narrowest_order(released, earlier)
        frontier = Frontier((*earlier, released), order)
        sizes = sorted({int(size) for function in earlier for size in function.partition.sizes})
        tables = VerdictTables.of(goal, sizes, n_values)
        largest = max(int(function.partition.sizes.max(initial=1)) for function in (*earlier, released))
        self.bits = largest.bit_length()
        self.per_word = 62 // self.bits
        table_of_size = np.zeros(largest + 1, np.int64)
        table_of_size[sizes] = np.arange(len(sizes))
        table_of_function = np.zeros((len(earlier), order.size), np.int64)
        for number, function in enumerate(earlier):
            partition = function.partition
            table_of_function[number] = table_of_size[partition.sizes[partition.group_of_row[order]]]
        self.group_of_place = released.partition.group_of_row[order]
        self.places = FrontierPlaces(
            slot_of_released=frontier.slots[-1],
            opens_released=np.where(frontier.opens[-1], self.group_of_place, -1).astype(np.int64),
            slot_of_function=frontier.slots[:-1],
            slots_of_function=np.array(frontier.first_slot, np.int64),
            closes=frontier.closes[:-1],
            table_of_function=table_of_function,
        )
        self.verdicts = Verdicts(
            tables.weights, tables.first, tables.codes, tables.verdicts, tables.dense_first, tables.dense
        )
        self.n_slots = frontier.first_slot[-1]

    def explore(self, histograms: NDArray[np.int64], *, max_transitions: int = MAX_TRANSITIONS) -> "FrontierPaths":
        """Build the graph of all tables with these histograms of the released groups."""
        words = ceil(self.n_values / self.per_word)
        starts = np.zeros((histograms.shape[0], words), np.int64)
        for value in range(self.n_values):
            starts[:, value // self.per_word] |= histograms[:, value] << (self.bits * (value % self.per_word))
        packing = Packing(self.n_values, self.bits, words, self.n_slots)
        ok, *arrays = explore_frontier(packing, self.places, self.verdicts, starts, MAX_STATES, max_transitions)
        if not ok:
            raise TooLarge(
                f"A sweep over {self.order.size} rows has more than {MAX_STATES} states at a place or {max_transitions} "
                "transitions; smaller groups, fewer values or functions that cross less would fit."
            )
        return FrontierPaths(self, Graph(*arrays), histograms)


@dataclass(frozen=True, eq=False)
class FrontierPaths:
    """All partial tables of a sweep, merged: a layered graph whose accepted paths are the tables of the set."""

    plan: SweepPlan
    graph: Graph
    histograms: NDArray[np.int64]

    @property
    def n_places(self) -> int:
        return int(self.plan.order.size)

    @property
    def n_values(self) -> int:
        return self.plan.n_values

    @cached_property
    def limb_bound(self) -> NDArray[np.float64]:
        """(place) -> bits that a count of partial tables up to here can have."""
        distinct_values = (self.histograms > 0).sum(axis=1)[self.plan.group_of_place]
        return np.concatenate([[0.0], np.cumsum(np.log2(distinct_values))])

    def exact_count(self, bits: int) -> int:
        """How many tables are accepted."""
        first, source, target, _, n_states, accepted = self.graph
        limbs = bits // 64 + 1
        last = count_forward_in_limbs(
            first, source, target, n_states, limbs, self._limbs_up_to(limbs), np.array([self.n_places], np.int64)
        )
        return sum(as_integer(row) for row in last[accepted])

    def exact_weights(self, places: NDArray[np.int64], bits: int) -> tuple[Weights, ...]:
        """For each place, how many accepted tables give its row each value."""
        first, source, target, value, n_states, accepted = self.graph
        limbs = bits // 64 + 1
        keep, back = np.unique(places, return_inverse=True)
        forward = count_forward_in_limbs(first, source, target, n_states, limbs, self._limbs_up_to(limbs), keep)
        backward = count_backward_in_limbs(
            first, source, target, n_states, accepted, limbs, self._limbs_from(limbs), keep + 1
        )
        weights, f, b = [], 0, 0
        for place in keep.tolist():
            before = [as_integer(row) for row in forward[f : f + n_states[place]]]
            after = [as_integer(row) for row in backward[b : b + n_states[place + 1]]]
            f, b = f + n_states[place], b + n_states[place + 1]
            counts = [0] * self.n_values
            span = slice(first[place], first[place + 1])
            for s, t, v in zip(source[span].tolist(), target[span].tolist(), value[span].tolist(), strict=True):
                counts[v] += before[s] * after[t]
            weights.append(tuple(counts))
        return tuple(weights[i] for i in back.tolist())

    def _limbs_up_to(self, limbs: int) -> NDArray[np.int64]:
        return np.minimum(self.limb_bound // 64 + 2, limbs).astype(np.int64)

    def _limbs_from(self, limbs: int) -> NDArray[np.int64]:
        rest = self.limb_bound[-1] - self.limb_bound
        return np.minimum(rest // 64 + 2, limbs).astype(np.int64)


class Frontier:
    """Which groups are open at each place of an order, and which slot each of them uses."""

    def __init__(self, functions: tuple[Function, ...], order: Codes) -> None:
        shape = (len(functions), order.size)
        self.slots = np.zeros(shape, np.int64)
        self.opens = np.zeros(shape, np.bool_)
        self.closes = np.zeros(shape, np.bool_)
        self.first_slot = [0]
        for number, function in enumerate(functions):
            group_of_place = function.partition.group_of_row[order]
            first, last = span_of_groups(group_of_place, function.partition.n_groups)
            self.opens[number, first] = True
            self.closes[number, last] = True
            used = self._share_slots(number, group_of_place)
            self.slots[number] += self.first_slot[-1]
            self.first_slot.append(self.first_slot[-1] + used)

    def _share_slots(self, number: int, group_of_place: Codes) -> int:
        opens, closes = self.opens[number], self.closes[number]
        open_now = np.cumsum(opens) - np.concatenate([[0], np.cumsum(closes)[:-1]])
        if open_now.max(initial=0) <= 1:
            return 1
        free: list[int] = []
        used, slot_of_group = 0, {}
        for place, group in enumerate(group_of_place.tolist()):
            if opens[place]:
                if not free:
                    free.append(used)
                    used += 1
                slot_of_group[group] = free.pop()
            self.slots[number, place] = slot_of_group[group]
            if closes[place]:
                free.append(slot_of_group[group])
        return used


def span_of_groups(group_of_place: Codes, n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last place of every group."""
    places = np.arange(group_of_place.size)
    first = np.full(n_groups, group_of_place.size, np.int64)
    last = np.zeros(n_groups, np.int64)
    np.minimum.at(first, group_of_place, places)
    np.maximum.at(last, group_of_place, places)
    return first, last


def narrowest_order(released: Function, earlier: tuple[Function, ...]) -> Codes:
    """The order of rows, among a few natural ones, in which the fewest groups are open at a time."""
    functions = (*earlier, released)
    groups = [function.partition.group_of_row for function in functions]
    candidates = [
        np.arange(released.n_rows),
        np.lexsort(groups),  # by released group, then the last earlier function, ...
        np.lexsort([*groups[-2::-1], groups[-1]]),  # by released group, then the first function, ...
        np.lexsort(groups[::-1]),  # by the first function, then the second, ...
    ]
    return min(candidates, key=lambda order: frontier_width(groups, order)).astype(np.int32)


def frontier_width(groups: list[Codes], order: NDArray[np.int64]) -> float:
    """How many groups are open on average, those open long counting more."""
    width = 0.0
    for group_of_row in groups:
        first, last = span_of_groups(group_of_row[order], int(group_of_row.max()) + 1)
        width += float(((last - first + 1) ** 1.5).sum())
    return width


def as_integer(limbs: NDArray[np.uint64]) -> int:
    """The number that 64-bit limbs stand for, lowest first."""
    return int.from_bytes(limbs.tobytes(), "little")
