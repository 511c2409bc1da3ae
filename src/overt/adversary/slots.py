# SPDX-License-Identifier: Apache-2.0
"""Slots: the copies of every component that a chain keeps, one for each rung of its ladder of prices.

A ladder goes down from COLD, where hardly anything but tables that give the release occurs, to 0, where anything does.
Rungs are as far apart as the energy varies little enough for slots to be exchanged now and then.

A component that ties many rows together does not get from a random table to one that gives the release in the time there is.
Such a dense one has a short ladder, and all its slots begin at the table as it was handed over.
"""

import time
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.failed_trials import FailedTrials
from overt.adversary.open_parts import Counts
from overt.kernels import lacking, swapping
from overt.table import Codes

COLD = 4.0  # the highest price of a unit of energy
LARGE = 4_000  # places, from which on a component may be dense
MOST_RUNGS = 24
FEW_RUNGS = 3  # of dense components
STEP = 1.4  # between rungs, in standard deviations of the energy
FARTHEST = 2.0  # and not so far that the price of the difference is more than this
SHORTEST = 0.02
LEAST_SPREAD = 0.7  # of the energy, so that no step is too long
PROBE = 24  # sweeps that show how the energy varies at a price
AT_ONCE = 1 << 18  # proposals between two looks at the clock


@dataclass(frozen=True, eq=False)
class Ladders:
    """The prices of every component, falling."""

    first: Counts  # (component + 1)
    price: NDArray[np.float64]  # (rung)
    is_dense: NDArray[np.bool_]  # (component)

    @classmethod
    def of(cls, prices: list[list[float]], is_dense: NDArray[np.bool_] | None = None) -> "Ladders":
        """From a list for each component."""
        first = np.append(0, np.cumsum([len(one) for one in prices], dtype=np.int64))
        price = np.array([price for one in prices for price in one], np.float64)
        return cls(first, price, np.zeros(len(prices), np.bool_) if is_dense is None else is_dense)

    @property
    def n_rungs(self) -> Counts:
        return np.diff(self.first)


@dataclass(eq=False)
class Slots:
    """Where a chain is, and what it has seen since it was last asked."""

    failed: FailedTrials
    rng: Generator
    state: swapping.State
    seen: swapping.Seen
    bases: tuple[Counts, Counts, Counts]  # (slot) -> what to add to the numbers of places, parts and trials
    n_proposed: int = 0
    n_taken: int = 0

    @classmethod
    def at(cls, failed: FailedTrials, ladders: Ladders, rng: Generator, *, scattered: bool) -> "Slots":
        """All slots at the table as it was handed over; or each at one of its own, shuffled inside the groups.

        Dense components are at the table as it was handed over in any case.
        """
        n_rungs, layout = ladders.n_rungs, failed.layout
        sizes = failed.size_of_component
        n_parts, n_trials = np.diff(failed.first_part), np.diff(layout.first_trial)
        component = np.repeat(np.arange(failed.n_components), n_rungs)
        number = np.arange(component.size) - ladders.first[component]
        bases = tuple(
            np.append(0, np.cumsum(n_rungs * size))[component] + number * size[component] - first[component]
            for size, first in (
                (sizes, failed.first_place[failed.first_group]),
                (n_parts, failed.first_part),
                (n_trials, layout.first_trial),
            )
        )
        total = int((n_rungs * n_trials).sum())
        kinds = set(layout.kind.tolist())
        state = swapping.State(
            ladders.first,
            number.copy(),
            ladders.price,
            np.empty(int((n_rungs * sizes).sum()), np.int32),
            np.zeros((int((n_rungs * n_parts).sum()), lacking.COUNTS + failed.n_values), np.int32),
            np.zeros(total, np.int64),
            np.zeros((total if swapping.AMOUNT in kinds else 0, 2), np.int64),
            np.zeros((total if swapping.ANY in kinds else 0, swapping.FAR + 1), np.int32),
            np.zeros(component.size, np.int64),
        )
        shape = failed.size_of_cell.size, failed.n_values
        seen = swapping.Seen(
            np.zeros(shape, np.int32),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
            np.zeros(failed.n_components, np.int64),
            np.zeros((failed.n_components, 2), np.int64),
        )
        slots = cls(failed, rng, state, seen, (bases[0], bases[1], bases[2]))
        given, stays = failed.column.codes[failed.rows], np.repeat(ladders.is_dense, sizes)
        for i in range(int(n_rungs.max(initial=0))):
            slots._put(i, np.where(stays, given, scatter(failed, rng)) if scattered else given)
        swapping.judge_slots(layout, state, *slots.bases)
        return slots

    def _put(self, number: int, values: Codes) -> None:
        """Let every component's slot of this number have these values."""
        failed, first = self.failed, self.state.first_slot
        value_of_row = failed.column.codes.copy()
        value_of_row[failed.rows] = values
        tally = np.zeros((failed.starts.size - 1, self.state.tally.shape[1]), np.int32)
        tally[:, lacking.CAP] = failed.cap
        lacking.tally_parts(value_of_row[failed.rows_of_parts], failed.starts, tally)
        place_of_component = failed.first_place[failed.first_group]
        for component in np.flatnonzero(np.diff(first) > number):
            slot = first[component] + number
            begin, end = place_of_component[component : component + 2]
            self.state.value[self.bases[0][slot] + begin : self.bases[0][slot] + end] = values[begin:end]
            begin, end = failed.first_part[component : component + 2]
            self.state.tally[self.bases[1][slot] + begin : self.bases[1][slot] + end] = tally[begin:end]

    def forget(self) -> None:
        """Begin anew to add up what is seen."""
        for array in (self.seen.total, self.seen.square, self.seen.n_seen, self.seen.moments):
            array[:] = 0

    def run(self, sweeps: Counts, stop: NDArray[np.bool_]) -> None:
        """So many sweeps of every component."""
        cost = self.failed.work_of_component * np.diff(self.state.first_slot)
        component, n_components = 0, sweeps.size
        left = sweeps.copy()
        while component < n_components and not stop[0]:
            now, room = np.zeros_like(left), AT_ONCE
            while component < n_components and room > 0:
                n = min(int(left[component]), max(1, int(room // max(1, cost[component]))))
                now[component] = n
                left[component] -= n
                room -= n * int(cost[component])
                if left[component]:
                    break
                component += 1
            n_draws = int((now * cost).sum())
            n_exchanges = int((now * (np.diff(self.state.first_slot) // 2 + 1)).sum())
            draws = self.rng.integers(0, 2**64, n_draws, np.uint64)
            coins = self.rng.standard_exponential(n_draws + n_exchanges)
            n_proposed, n_taken = swapping.sweep_components(
                draws, coins, now, self.failed.layout, self.state, self.seen, *self.bases, stop
            )
            self.n_proposed += n_proposed
            self.n_taken += n_taken


def scatter(failed: FailedTrials, rng: Generator) -> Codes:
    """(place) -> a value, shuffled inside every group; any value at all in groups that are free."""
    groups = np.repeat(np.arange(failed.n_groups), np.diff(failed.first_place))
    values = failed.column.codes[failed.rows]
    is_free = failed.layout.is_free[groups]
    shuffled = values[np.lexsort([rng.random(groups.size), groups])]
    return np.where(is_free, rng.integers(0, failed.n_values, groups.size, np.int32), shuffled)


def build_ladders(
    failed: FailedTrials,
    rng: Generator,
    stop: NDArray[np.bool_],
    *,
    skipped: NDArray[np.bool_] | None = None,
    deadline: float = inf,
) -> Ladders:
    """Go down from COLD in steps over which the energy of each component does not jump; one rung for those skipped.

    After the deadline ladders end where they are.
    """
    n = failed.n_components
    prices: list[list[float]] = [[] for _ in range(n)]
    slots = Slots.at(failed, Ladders.of([[COLD]] * n), rng, scattered=False)
    price, last_mean = slots.state.price, np.zeros(n)
    going = np.ones(n, np.bool_) if skipped is None else ~skipped
    for component in np.flatnonzero(~going):
        prices[component] = [COLD]
    is_dense = find_dense(failed, going, rng, stop)
    while going.any():
        slots.run(going * (PROBE // 3), stop)
        slots.forget()
        slots.run(going * PROBE, stop)
        mean, square = (slots.seen.moments / PROBE).T
        spread = np.maximum(LEAST_SPREAD, np.sqrt(np.maximum(0, square - mean * mean)))
        for component in np.flatnonzero(going):
            ladder = prices[component]
            step = ladder[-1] - price[component] if ladder else 0.0
            is_long = step * (mean[component] - last_mean[component]) > FARTHEST and step > SHORTEST
            if is_long and time.perf_counter() < deadline:
                price[component] += step / 2
                continue
            ladder.append(float(price[component]))
            last_mean[component] = mean[component]
            most = FEW_RUNGS if is_dense[component] else MOST_RUNGS
            going[component] = ladder[-1] > 0 and len(ladder) < most and time.perf_counter() < deadline
            below = ladder[-1] - STEP / spread[component]
            price[component] = below if below > SHORTEST else 0.0
    return Ladders.of(prices, is_dense)


def find_dense(
    failed: FailedTrials, going: NDArray[np.bool_], rng: Generator, stop: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """(component) -> whether it is large, and a random table of it does not become one that gives the release."""
    is_large: NDArray[np.bool_] = going & (failed.size_of_component >= LARGE)
    if not is_large.any():
        return is_large
    tried = Slots.at(failed, Ladders.of([[COLD]] * failed.n_components), rng, scattered=True)
    tried.run(is_large * (2 * PROBE), stop)
    return is_large & (tried.seen.n_seen == 0)
