# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/full_domain/test_minimal.py
"""Checking a node: which groups break the goal, whether they are few enough to suppress, and what that costs.

Where pruning stays sound. Going up merges groups, so without suppression a monotone goal that fails at a node fails at
every node below. With suppression that is not enough: a good group to which a bad one is added may turn bad as a
whole (two of a, one of b is good for 1.5-diversity; with five more of a it is not), and more rows are suppressed
above than below. What does stay is `Property.necessary`: a group that breaks it has only parts that break it. So with
suppression the rows that break what is necessary are counted for the nodes below, and the rows that break the goal only
for the node itself. For k-anonymity and distinct l-diversity the two are the same.

t-closeness and its kin compare a group with the whole table, suppressed rows included, as ARX does: the table is
what the owner knows the population by, and a reference that moved with every node would let suppression pay twice.
"""

from dataclasses import dataclass
from functools import cached_property

from overt.algorithms.full_domain.costs import Cost
from overt.algorithms.full_domain.rolling import Rolled, RolledRows
from overt.lattice import Node
from overt.privacy.base import Broken, Property


@dataclass(frozen=True, eq=False)
class Check:
    """What was found at a node."""

    rolled: Rolled
    broken: Broken  # (group) -> whether its rows are suppressed
    n_suppressed: int
    reaches: bool  # whether that is within the limit and leaves a row to publish
    fails_below: bool  # whether every node below fails too
    base: int
    cost: int  # without suppressed rows if every node below fails
    excess_below: int  # what suppression costs at least in every node below, unless all of them fail

    @property
    def node(self) -> Node:
        return self.rolled.node

    @property
    def rank(self) -> tuple[int, int, int, Node]:
        """The less the better: cost, then suppressed rows, then levels in all, then the levels one by one."""
        return self.cost, self.n_suppressed, sum(self.node), self.node


@dataclass(frozen=True, eq=False)
class Checker:
    """What a node must reach, and what it costs."""

    rows: RolledRows
    goal: Property
    most_suppressed: int
    cost: Cost

    def check(self, node: Node) -> Check:
        """Count a node and judge it."""
        rolled = self.rows.at(node)
        broken = self.goal.breaks(rolled.groups)
        n_suppressed = int(rolled.sizes @ broken)
        reaches = n_suppressed <= self.most_suppressed and n_suppressed < self.rows.n_rows
        base = self.cost.base(rolled)
        if n_suppressed == 0:
            return Check(rolled, broken, 0, True, False, base, base, 0)
        stays_broken = broken if self._concludes else self._necessary.breaks(rolled.groups)
        n_below = n_suppressed if self._concludes else int(rolled.sizes @ stays_broken)
        if n_below > self.most_suppressed:  # then what it costs is of no interest
            return Check(rolled, broken, n_suppressed, False, True, base, base, 0)
        excess = self.cost.excess(rolled, broken)
        excess_below = excess if self._concludes else self.cost.excess(rolled, stays_broken)
        return Check(rolled, broken, n_suppressed, reaches, False, base, base + excess, excess_below)

    @cached_property
    def _necessary(self) -> Property:
        return self.goal.necessary(self.rows.at(self.rows.lattice.top).groups)

    @cached_property
    def _concludes(self) -> bool:
        """Whether the rows that are suppressed at a node say as much of the nodes below."""
        return self._necessary == self.goal or (self.goal.monotone and self.most_suppressed == 0)
