# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_lagrangian.py
"""Minimum cuts: the inner problem of the Lagrangian model for any number of attributes and any whole kappa.

Let z(i, s) say that attribute i is at level s or above, and y = 1 - z. Then lam * support is a sum of products of z's, one
for each profile; phi and utility are sums of y's with factors of at least 0, so phi * utility ** kappa is a sum of
products of y's, all with factors of at least 0 (of two y's of one attribute the lower level is their product); and
-alpha * phi is linear. Such a sum is greatest where a cut is least: the nodes on the source's side are the z's that hold.

Departs     The paper bisects with a general method for submodular functions; that this one is a cut is ours.
Needs       OR-Tools, the extra `flow`. Its capacities are integers: they are scaled to a sum below 2**52. The sink always
            gets an arc, without which OR-Tools answers with an empty side instead of the source's.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.lagrangian import is_whole
from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Floats, Objective
from overt.errors import InvalidInput, MissingExtra, TooLarge

MOST_TERMS = 2_000_000
TOTAL_CAPACITY = 2**52
SOURCE, SINK = 0, 1

Ends = NDArray[np.int64]
Monomial = tuple[int, ...]  # variables in ascending order, at most one of each attribute


def max_flow_solver() -> Any:
    """OR-Tools' maximum flow, or the sentence that says how to get it."""
    try:
        from ortools.graph.python.max_flow import SimpleMaxFlow
    except ImportError:
        raise MissingExtra("Minimum cuts need OR-Tools; install it with `pip install overt[flow]`.") from None
    return SimpleMaxFlow()


@dataclass(frozen=True, eq=False)
class Network:
    """Arcs with capacities; `is_open` arcs can never be cut."""

    tail: Ends
    head: Ends
    capacity: Floats
    is_open: NDArray[np.bool_]

    def source_side(self) -> NDArray[np.int64]:
        """The nodes on the source's side of a least cut."""
        total = float(self.capacity.sum())
        scale = TOTAL_CAPACITY / 2 / total if total > 0 else 1.0  # half: rounding may add one half per arc
        whole = np.rint(self.capacity * scale).astype(np.int64)
        whole[self.is_open] = TOTAL_CAPACITY
        solver = max_flow_solver()
        solver.add_arcs_with_capacity(
            np.append(self.tail, SOURCE).astype(np.int32),
            np.append(self.head, SINK).astype(np.int32),
            np.append(whole, 0),
        )
        status = solver.solve(SOURCE, SINK)
        if status != solver.OPTIMAL:
            raise TooLarge(f"OR-Tools ended a minimum cut over {self.tail.size:,} arcs with status {status}.")
        return np.asarray(solver.get_source_side_min_cut(), np.int64)


@dataclass(frozen=True, eq=False)
class Cuts:
    """The network of one objective; only the arcs of single variables depend on alpha.

    A profile that needs a level above the caps is covered nowhere and left out: most are, under most caps.
    """

    objective: Objective
    attribute: Ends  # (variable)
    level: Ends  # (variable): z is that its attribute is at this level or above
    weight_step: Floats  # (variable) -> what phi loses when it becomes true
    gain: Floats  # (variable) -> what the objective gains while it is false, alpha aside
    fixed: Network = field(repr=False)  # between variables, and of products of three or more
    profiles: "Profiles" = field(repr=False)

    @classmethod
    def of(cls, objective: Objective, lam: float, kappa: float) -> "Cuts":
        """Build all arcs but those that depend on alpha."""
        if not is_whole(kappa):
            raise InvalidInput(
                f"kappa is {kappa!r}; cuts need a whole number, the minimum-norm point takes others from 1 on."
            )
        heights = objective.heights
        attribute = np.repeat(np.arange(len(heights)), heights)
        level = np.concatenate([np.arange(1, height + 1) for height in heights]).astype(np.int64)
        first = np.append(0, np.cumsum(heights))[:-1]
        weight_step = -np.concatenate([np.diff(numbers) for numbers in objective.weight_of_level])
        utility_step = -np.concatenate([np.diff(numbers) for numbers in objective.utility_of_level])
        terms = expand(
            (objective.phi(objective.top), weight_step),
            (objective.utility(objective.top), utility_step),
            int(kappa),
            attribute,
        )
        gain = np.zeros(attribute.size)
        arcs = _Arcs(2 + attribute.size)
        for monomial, factor in terms.items():
            if len(monomial) == 1:
                gain[monomial[0]] += factor
            elif len(monomial) == 2:
                gain[list(monomial)] += factor / 2
                one, other = 2 + monomial[0], 2 + monomial[1]
                arcs.add([one, other], [other, one], factor / 2)
            elif monomial:
                node = arcs.new_node()
                arcs.add_open([2 + variable for variable in monomial], [node] * len(monomial))
                arcs.add([node], [SINK], factor)
        inner = level < np.asarray(heights)[attribute]
        lower = 2 + np.flatnonzero(inner)
        arcs.add_open(lower + 1, lower)  # at level s + 1 or above is at level s or above
        profiles = Profiles.of(objective, first, lam, arcs.n_nodes)
        return cls(objective, attribute, level, weight_step, gain, arcs.network(), profiles)

    def maximise(self, alpha: float, caps: NodeLevels) -> NodeLevels:
        """The element of the greatest inner value at no level above `caps`."""
        linear = self.gain - alpha * self.weight_step
        variable = 2 + np.arange(linear.size)
        forbidden = variable[self.level > np.asarray(caps)[self.attribute]]
        loses, gains = linear > 0, linear < 0
        arcs = _Arcs(0)
        arcs.add(variable[loses], np.full(loses.sum(), SINK), linear[loses])
        arcs.add(np.full(gains.sum(), SOURCE), variable[gains], -linear[gains])
        arcs.add_open(forbidden, np.full(forbidden.size, SINK))
        self.profiles.add_arcs(arcs, caps)
        side = join(self.fixed, arcs.network()).source_side()
        true = side[(side >= 2) & (side < 2 + linear.size)] - 2
        levels = np.zeros(len(caps), np.int64)
        np.maximum.at(levels, self.attribute[true], self.level[true])
        return tuple(int(level) for level in np.minimum(levels, caps))


def expand(
    phi: tuple[float, Floats], utility: tuple[float, Floats], kappa: int, attribute: Ends
) -> dict[Monomial, float]:
    """Phi * utility ** kappa as a sum of products of y's: (variables) -> factor, none negative."""
    terms: dict[Monomial, float] = {(): phi[0]} if phi[0] else {}
    terms |= {(variable,): float(step) for variable, step in enumerate(phi[1]) if step > 0}
    for _ in range(kappa):
        steps = [(v, float(step)) for v, step in enumerate(utility[1]) if step > 0]
        if len(terms) * (len(steps) + 1) > MOST_TERMS:
            raise TooLarge(
                f"With kappa {kappa} the objective has too many terms for a cut (more than {MOST_TERMS:,}); use "
                "the minimum-norm point, a smaller kappa or fewer attributes."
            )
        product = {monomial: factor * utility[0] for monomial, factor in terms.items()} if utility[0] else {}
        for monomial, factor in terms.items():
            for variable, step in steps:
                joined = _times(monomial, variable, attribute)
                product[joined] = product.get(joined, 0.0) + factor * step
        terms = product
    return terms


def _times(monomial: Monomial, variable: int, attribute: Ends) -> Monomial:
    """Of two variables of one attribute the lower level implies the other."""
    for other in monomial:
        if attribute[other] == attribute[variable]:
            return monomial if other <= variable else tuple(variable if v == other else v for v in monomial)
    return tuple(sorted((*monomial, variable)))


@dataclass(frozen=True, eq=False)
class Profiles:
    """One node per profile: it holds if every level that the profile needs is reached."""

    needed: NDArray[np.int32]  # (profile, attribute)
    gain: Floats  # (profile) -> what it adds while it holds
    first_node: int
    profile: Ends  # (arc)
    variable: Ends  # (arc) -> node of a level that the profile needs

    @classmethod
    def of(cls, objective: Objective, first: Ends, lam: float, first_node: int) -> "Profiles":
        asks = (objective.profiles > 0).any(axis=1) & (lam > 0)  # the others hold everywhere: a constant
        needed = objective.profiles[asks]
        profile, attribute = np.nonzero(needed)
        variable = 2 + first[attribute] + needed[profile, attribute] - 1
        gain: Floats = lam * objective.counts[asks].astype(np.float64)
        return cls(needed, gain, first_node, profile, variable)

    def add_arcs(self, arcs: "_Arcs", caps: NodeLevels) -> None:
        """The arcs of those that can hold below the caps."""
        can_hold: NDArray[np.bool_] = np.all(self.needed <= np.asarray(caps), axis=1)
        node = self.first_node + np.flatnonzero(can_hold)
        arcs.add(np.full(node.size, SOURCE), node, self.gain[can_hold])
        kept = can_hold[self.profile]
        arcs.add_open(self.first_node + self.profile[kept], self.variable[kept])


def join(one: Network, other: Network) -> Network:
    """The arcs of both."""
    return Network(
        np.concatenate([one.tail, other.tail]),
        np.concatenate([one.head, other.head]),
        np.concatenate([one.capacity, other.capacity]),
        np.concatenate([one.is_open, other.is_open]),
    )


class _Arcs:
    """Arcs as they are collected."""

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.parts: list[tuple[Ends, Ends, Floats, bool]] = []

    def new_node(self) -> int:
        self.n_nodes += 1
        return self.n_nodes - 1

    def add(self, tail: Any, head: Any, capacity: Any) -> None:
        tail = np.asarray(tail, np.int64)
        capacity = np.broadcast_to(np.asarray(capacity, np.float64), tail.shape)
        self.parts.append((tail, np.asarray(head, np.int64), capacity, False))

    def add_open(self, tail: Any, head: Any) -> None:
        tail = np.asarray(tail, np.int64)
        self.parts.append((tail, np.asarray(head, np.int64), np.zeros(tail.size), True))

    def network(self) -> Network:
        return Network(
            np.concatenate([part[0] for part in self.parts]),
            np.concatenate([part[1] for part in self.parts]),
            np.concatenate([part[2] for part in self.parts]),
            np.concatenate([np.full(part[0].size, part[3]) for part in self.parts]),
        )
