# SPDX-License-Identifier: Apache-2.0
"""Engine: jumps that land, on nested functions. Large real tables; an estimate between bounds, every drawn table decided.

Paper       Definition 3 and Table 13 of the k-jump paper, for steps that a jump leads to. Nobody says there how to compute them
            at the size of real tables.
Implements  Functions are nested, and what passes still passes when it is merged; so a table has one first function that
            passes. It comes to step i with all earlier functions failing, or by a jump from a step j where it was the first to
            pass and its disclosure set failed. In both cases the function before the earliest such j fails: tables are drawn
            from those (Karp and Luby), and each is kept if it really comes to step i. That needs the verdict of its disclosure
            set of step j, which holds the tables on which g_{j-1} fails: with each group of g_j in two parts it follows from one
            polynomial per value and group, in floats with a proven error; where these leave it open, in integers.
Departs     Steps that a jump leads to from a step which a jump leads to itself are left to others.
Guarantee   Every posterior lies between its bounds at once with the stated confidence. No drawn table is decided by guessing.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from math import lgamma

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.sequence.engines.by_value import ByValue, uncertain
from overt.algorithms.sequence.engines.sampling import FEW, estimate
from overt.algorithms.sequence.engines.table_samplers import KarpLuby, Rejection
from overt.algorithms.sequence.engines.table_tests import TableTests
from overt.algorithms.sequence.equal_tables import EqualTables
from overt.algorithms.sequence.functions import Function, Sequence, is_nested
from overt.algorithms.sequence.properties import RatioBound, RowProperty
from overt.algorithms.sequence.strategies.base import Strategy
from overt.algorithms.sequence.strategies.exclusive import Exclusive
from overt.algorithms.sequence.strategies.k_jump import KJump
from overt.algorithms.sequence.strategies.safe import Safe
from overt.errors import TooLarge
from overt.kernels.group_tails import BAD, UNCLEAR, judge_if_failed
from overt.table import Codes
from overt.threads import n_threads

FIRST_LOOK = 500  # tables before the first look; each look has four times as many
MANY = 2.0  # failing groups in a table, on average, from which on drawing a failing group first is no help
TOO_NEAR = 1e-9  # how near a ratio may come to its bound before integers decide; the floats are right to about 1e-10


class Landing:
    """Disclosure sets of steps that a jump leads to."""

    name = "landing"

    def __init__(
        self,
        sequence: Sequence,
        strategy: Strategy,
        rng: Generator,
        *,
        confidence: float = 0.999,
        max_tables: int = 100_000,
    ) -> None:
        self.sequence, self.strategy, self.rng = sequence, strategy, rng
        self.confidence, self.max_tables = confidence, max_tables

    def suits(self, step: int) -> bool:
        """Whether jumps lead to the step, or past it, from steps that no jump leads to, along nested functions."""
        origins = self.origins(step)
        goal, functions = self.sequence.goal, self.sequence.functions[:step]
        return (
            isinstance(self.strategy, Safe | KJump)
            and self.strategy.looks_back(step, self.sequence.n_steps)
            and not any(self.origins(origin) for origin in origins)
            and isinstance(goal, RowProperty)
            and goal.convex
            and goal.ratio_bound is not None
            and all(is_nested(inner, outer) for inner, outer in itertools.pairwise(functions))
        )

    def origins(self, step: int) -> list[int]:
        """The steps from which a table comes here when its disclosure set fails. Under such goals Safe jumps by 1."""
        n_steps = self.sequence.n_steps
        match self.strategy:
            case Safe():
                distance = [1] * n_steps
            case KJump():
                distance = [self.strategy.distance(earlier, n_steps) for earlier in range(1, n_steps + 1)]
            case _:
                return []
        return [earlier for earlier in range(2, step) if earlier + distance[earlier - 1] == step]

    def disclosure(self, values: Codes, n_values: int, step: int) -> EqualTables:
        """Draw tables on which the function before the earliest origin fails; keep those that come to the step."""
        goal = self.sequence.goal
        assert isinstance(goal, RowProperty) and goal.ratio_bound is not None
        functions, released = self.sequence.functions, self.sequence.functions[step - 1]
        origins = [
            origin
            for origin in self.origins(step)
            if uncertain(goal.ratio_bound, released, (functions[origin - 2],), values, n_values)
        ]
        if not origins:
            # the function before every origin fails on all tables, which says nothing; so nobody is sent on from there
            return ByValue(self.sequence, Exclusive()).disclosure(values, n_values, step)
        trials = TableTests.of(Sequence((functions[origins[0] - 2], released), goal), 2, values, n_values)
        sampler: KarpLuby | Rejection = KarpLuby(trials) if KarpLuby.suits(trials) else Rejection(trials)
        if isinstance(sampler, KarpLuby) and sampler.expected > MANY:
            sampler = Rejection(trials)
        referees = [Referee(self.sequence, origin, sampler.trials, values, n_values) for origin in origins]
        coarser = Counter(functions[step - 2], sampler.trials, goal.ratio_bound)
        drawn = accepted = 0
        sums = np.zeros((trials.n_cells, n_values), np.int64)
        look, target = 1, FIRST_LOOK

        def came(table: Codes) -> NDArray[np.int64] | None:
            """The cells of a drawn table that comes to the step."""
            histograms = sampler.trials.cell_histograms(table)
            is_here = coarser.fails(histograms) or any(one.sends_on(table, histograms) for one in referees)
            return histograms if is_here else None

        while True:
            while drawn < target:
                size = min(sampler.trials.batch, target - drawn)
                drawn += size
                with ThreadPoolExecutor(max_workers=n_threads()) as pool:  # the loops release the interpreter lock
                    for histograms in pool.map(came, sampler.draw(size, self.rng)):
                        if histograms is not None:
                            accepted += 1
                            sums += histograms
            known = None
            if accepted >= FEW:
                risk = (1 - self.confidence) / 2**look
                known = estimate(sampler, drawn, accepted, sums, risk, name=self.name, confidence=self.confidence)
                if goal.judge(known.posterior) is not None:
                    return known
            if drawn >= self.max_tables:
                if known is None:
                    raise TooLarge(
                        f"Only {accepted} of {drawn} drawn tables come to step {step}; ask for more tables than "
                        f"{self.max_tables}."
                    )
                return known
            look, target = look + 1, min(target * 4, self.max_tables)


class Counter:
    """A function whose groups are made of cells: whether it fails on a table."""

    def __init__(self, function: Function, trials: TableTests, bound: RatioBound) -> None:
        self.group_of_cell = np.zeros(trials.n_cells, np.int64)
        self.group_of_cell[trials.cell_of_row] = function.partition.group_of_row
        self.n_groups = function.partition.n_groups
        self.caps = np.array([bound.largest_count(size) for size in function.partition.sizes.tolist()])

    def merged(self, histograms: NDArray[np.int64]) -> NDArray[np.int64]:
        """(group, value) -> rows, from those of the cells."""
        found = np.zeros((self.n_groups, histograms.shape[1]), np.int64)
        np.add.at(found, self.group_of_cell, histograms)
        return found

    def fails(self, histograms: NDArray[np.int64]) -> bool:
        """Whether a group exceeds its cap."""
        return bool((self.merged(histograms).max(axis=1) > self.caps).any())


class Referee:
    """Decides whether a table is sent on from an origin: it is the first that passes, and its disclosure set fails."""

    def __init__(self, sequence: Sequence, origin: int, trials: TableTests, values: Codes, n_values: int) -> None:
        goal = sequence.goal
        assert isinstance(goal, RowProperty) and goal.ratio_bound is not None
        self.sequence, self.origin, self.trials, self.values, self.n_values = sequence, origin, trials, values, n_values
        self.bound = goal.ratio_bound
        self.origin_groups = Counter(sequence.functions[origin - 1], trials, self.bound)
        self.parts = Counter(sequence.functions[origin - 2], trials, self.bound)
        self._exact = ByValue(sequence, Exclusive())
        self._split()

    def _split(self) -> None:
        inner, outer = (self.sequence.functions[self.origin - back].partition for back in (2, 1))
        outer_of_inner = np.zeros(inner.n_groups, np.int64)
        outer_of_inner[inner.group_of_row] = outer.group_of_row
        order = np.argsort(outer_of_inner, kind="stable")
        n_parts = np.bincount(outer_of_inner, minlength=outer.n_groups)
        if n_parts.max() > 2:
            raise TooLarge(
                f"A group of step {self.origin} has {n_parts.max()} parts one step before; jumps that land are followed for "
                "groups in two parts."
            )
        begin = np.concatenate([[0], np.cumsum(n_parts)[:-1]])
        self.first_of_group = inner.sizes[order[begin]].astype(np.int64)
        self.caps = np.zeros((outer.n_groups, 2), np.int64)
        self.caps[:, 0] = self.parts.caps[order[begin]]
        split = n_parts == 2
        self.caps[split, 1] = self.parts.caps[order[begin[split] + 1]]

    @cached_property
    def _log_factorial(self) -> NDArray[np.float64]:
        most = int(self.sequence.functions[self.origin - 1].partition.sizes.max())
        return np.array([lgamma(n + 1) for n in range(most + 1)])

    def sends_on(self, table: Codes, histograms: NDArray[np.int64]) -> bool:
        """Whether a table, by its values at the places of the trials, goes on from the origin."""
        merged = self.origin_groups.merged(histograms)
        if (merged.max(axis=1) > self.origin_groups.caps).any() or not self.parts.fails(histograms):
            return False
        bound = self.bound.bound
        verdict = judge_if_failed(
            merged,
            self.first_of_group,
            self.caps,
            bound.numerator,
            bound.denominator,
            self._log_factorial,
            TOO_NEAR,
        )
        if verdict != UNCLEAR:
            return bool(verdict == BAD)
        whole = self.values.copy()
        whole.flags.writeable = True
        whole[self.trials.rows] = table
        known = self._exact.disclosure(whole, self.n_values, self.origin)
        return not (self.sequence.goal.judge(known.posterior) if known.holds is None else known.holds)
