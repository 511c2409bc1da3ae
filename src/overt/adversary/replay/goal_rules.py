# SPDX-License-Identifier: Apache-2.0
# Tested through tests/kernels/test_failed_trials.py
"""What breaks a goal, as the numbers that loops compare counts with.

Goals about one column that limit how often a value occurs, or ask how many do, are a cap for each part and a few rules. All others,
and goals about one of several columns, are rules about a view of the values: see `overt.kernels.viewed_rules`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from overt.adversary.replay.joint_values import JointValues
from overt.adversary.replay.time_limit import NotReplayed
from overt.errors import TooLarge
from overt.kernels import places_missing as lacking
from overt.kernels import viewed_rules as viewed
from overt.privacy.base import Distance, Limits, Property, SensitiveProperty

Counts = NDArray[np.int64]
LARGEST = 2**62
MOST_CELLS = 100_000_000  # of sizes times values


@dataclass(frozen=True, eq=False)
class GoalRules:
    """A goal, and the values it is about."""

    goal: Property | None
    values: JointValues

    def of(self, sizes: Counts) -> tuple[Counts, lacking.Rules]:
        """(part) -> the most places that one value may have, -1 if none may; and what else breaks the goal, for parts of such sizes."""
        different, place = np.unique(sizes, return_inverse=True)
        cap, least, views = different.copy(), 1, Views(self.values, different)
        recursive, entropy = [], []
        for part in self.goal.parts if self.goal is not None else ():
            for view in self._columns_of(part):
                limits = self._limits(part, view, different)
                if len(self.values.columns) > 1 and isinstance(part, SensitiveProperty):
                    cap = np.where(limits.cap < 0, -1, cap)
                    views.add(view, limits)
                    continue
                cap, least = np.minimum(cap, limits.cap), max(least, limits.least)
                recursive += [] if limits.recursive is None else [limits.recursive]
                entropy += [] if limits.entropy is None else [limits.entropy]
                if limits.is_beside_table:
                    views.add(view, Limits(different, most=limits.most, fewest=limits.fewest, distance=limits.distance))
        largest = int(sizes.max(initial=0)) if entropy or views.entropy else -1
        times_log = np.array([n * log(n or 1) for n in range(largest + 1)], np.float64)
        rules = np.array(recursive, np.int64).reshape(-1, 3), np.array(entropy, np.float64)
        return cap[place], lacking.Rules(least, *rules, times_log, views.for_loops())

    def _columns_of(self, part: Property) -> list[int]:
        """Which columns a part of the goal is about; of one that is about none, the first stands for all."""
        if not isinstance(part, SensitiveProperty):
            return [0]
        return [i for i, column in enumerate(self.values.columns) if part.column in (None, column.name)]

    def _limits(self, part: Property, view: int, sizes: Counts) -> Limits:
        limits = part.limits(sizes, self.values.of_table[view])
        if limits is None:
            raise NotReplayed(
                f"Sampled audits cannot follow {part}; audit a table small enough for enumeration, or another goal."
            )
        return limits

    @cached_property
    def is_beside_table(self) -> bool:
        """Whether groups are compared with the whole table."""
        one = np.ones(1, np.int64)
        return any(
            self._limits(part, view, one).is_beside_table
            for part in (self.goal.parts if self.goal is not None else ())
            for view in self._columns_of(part)
        )


@dataclass(eq=False)
class Views:
    """Rules about views, as they are added."""

    values: JointValues
    sizes: Counts  # different ones, ascending
    rules: list[tuple[int, ...]] = field(default_factory=list)
    most: list[Counts] = field(default_factory=list)
    fewest: list[Counts] = field(default_factory=list)
    entropy: list[float] = field(default_factory=list)
    node: list[Counts] = field(default_factory=list)
    total: list[Counts] = field(default_factory=list)

    def add(self, view: int, limits: Limits) -> None:
        """All that a property asks of one column."""
        n_codes = self.values.columns[view].n_values
        capped = limits.cap < self.sizes
        if capped.any() or limits.most is not None or limits.fewest is not None:
            most = np.repeat(np.maximum(limits.cap, 0)[:, None], n_codes, axis=1)
            if limits.most is not None:
                most = np.minimum(most, limits.most)
            self.rules.append((view, viewed.RANGE, sum(one.shape[1] for one in self.most), 0, 0, 0))
            self.most.append(most)
            self.fewest.append(np.zeros_like(most) if limits.fewest is None else limits.fewest)
        if limits.least > 1:
            self.rules.append((view, viewed.DISTINCT, limits.least, 0, 0, 0))
        if limits.recursive is not None:
            self.rules.append((view, viewed.RECURSIVE, *limits.recursive, 0))
        if limits.entropy is not None:
            self.rules.append((view, viewed.ENTROPY, len(self.entropy), 0, 0, 0))
            self.entropy.append(limits.entropy)
        if limits.distance is not None:
            self._add_distance(view, limits.distance)

    def _add_distance(self, view: int, distance: Distance) -> None:
        n_rows = int(self.values.column.codes.size)
        largest = int(self.sizes.max(initial=1))
        if distance.t[1] * n_rows * largest * max(1, distance.n_levels) > LARGEST:
            raise TooLarge(
                "The distances of t-closeness do not fit into whole numbers of 64 bits; give a t of fewer digits."
            )
        kind = viewed.ORDER if distance.is_ordered else viewed.TREE
        if distance.n_levels > (1 if distance.is_ordered else 0):
            self.rules.append((view, kind, sum(len(one) for one in self.node), distance.n_levels, *distance.t))
            self.node.append(distance.node.astype(np.int64))
            self.total.append(distance.total)

    def for_loops(self) -> viewed.Viewed:
        """As arrays."""
        n_codes = np.array([column.n_values for column in self.values.columns], np.int64)
        n_ranged = sum(one.shape[1] for one in self.most)
        if n_ranged * self.sizes.size > MOST_CELLS:
            raise TooLarge(
                "The groups that were tried have too many different sizes, times sensitive values, to be followed."
            )
        rows = np.zeros(int(self.sizes.max(initial=0)) + 1 if n_ranged else 0, np.int64)
        if n_ranged:
            rows[self.sizes] = np.arange(self.sizes.size)
        empty = np.zeros((self.sizes.size if n_ranged else 0, 0), np.int64)
        return viewed.Viewed(
            np.array(sorted(self.rules), np.int64).reshape(-1, 6),
            self.values.code_of.astype(np.int64),
            n_codes,
            rows,
            np.concatenate([empty, *self.most], axis=1),
            np.concatenate([empty, *self.fewest], axis=1),
            np.array(self.entropy, np.float64),
            _padded(self.node, -1),
            _padded(self.total, 0),
            int(self.values.column.codes.size),
        )


def _padded(several: list[Counts], value: int) -> Counts:
    """Rows of different lengths in one array."""
    width = max((one.shape[1] for one in several), default=0)
    rows = [np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=value) for one in several]
    return np.concatenate([np.zeros((0, width), np.int64), *rows])
