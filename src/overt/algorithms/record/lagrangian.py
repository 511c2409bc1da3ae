# SPDX-License-Identifier: Apache-2.0
"""Lagrangian model: the best balance lambda / risk + utility ** kappa among the generalizations of a record.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 2.3: the fractional programme whose inner problems, one for each alpha, are supermodular.
Departs     Dinkelbach's steps replace the paper's bisection (which is in `ring`, as the reference): alpha is always the
            balance of an element, so it ends, and ends at an optimum. The inner problem is solved by prefix sums, by
            one minimum cut (whole kappa), or by the minimum-norm point (real kappa from 1 on). Elements of weight 0,
            where the balance is infinite, are left out.
Guarantee   Exact up to the rounding of floats. About the risk as modelled.

The elements of weight 0 are those that reach, in every attribute i, the first level z_i of weight 0. The others are the
union over i of the elements below z_i in attribute i: one inner problem for each of these regions, with the best alpha
so far carried along. A region whose greatest inner value is not above 0 is done.
"""

import math
from typing import Literal, Protocol

from overt.algorithms.record.nodes import NodeLevels
from overt.algorithms.record.objective import Objective, Optimum
from overt.algorithms.record.prefix_sums import MOST_ELEMENTS, WholeTable
from overt.errors import InvalidInput, Unreachable
from overt.progress import Progress, silent

STAGE = "Balancing risk and utility"
FEW_ELEMENTS = MOST_ELEMENTS  # up to here prefix sums are quicker than cuts

BalanceSolver = Literal["auto", "prefix sums", "cuts", "minimum norm"]


class Inner(Protocol):
    """A way to solve the inner problem."""

    def maximise(self, alpha: float, caps: NodeLevels) -> NodeLevels:
        """The element, at no level above `caps`, of the greatest lam * support + phi * utility ** kappa - alpha * phi."""


def best_balance(
    objective: Objective,
    lam: float,
    kappa: float,
    *,
    solver: BalanceSolver = "auto",
    on_progress: Progress = silent,
) -> Optimum:
    """The generalization of the greatest lam / risk + utility ** kappa.

    >>> import numpy as np
    >>> ends = np.array([1.0, 0.0])
    >>> one = Objective((ends, ends), (ends, 2 * ends), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
    >>> best_balance(one, 0.5, 1).levels, best_balance(one, 0.5, 1).value
    ((0, 1), 3.0)
    """
    require_parameters(lam, kappa)
    if solver == "auto":
        solver = usual_solver(objective, kappa)
    if solver == "prefix sums":
        whole = WholeTable.of(objective)
        levels = whole.best_balance(lam, kappa)
        if levels is None:
            raise no_weight()
        return objective.optimum(levels, solver, whole.n_elements, objective.balance(levels, lam, kappa))
    inner = inner_solver(objective, lam, kappa, solver)
    levels, n_solved = ascend(objective, lam, kappa, inner, on_progress)
    return objective.optimum(levels, solver, n_solved, objective.balance(levels, lam, kappa))


def best_difference(
    objective: Objective, lam: float, kappa: float, alpha: float, *, solver: BalanceSolver = "auto"
) -> Optimum:
    """The inner problem by itself: the greatest lam * support + phi * utility ** kappa - alpha * phi with phi > 0."""
    require_parameters(lam, kappa)
    if solver == "auto":
        solver = usual_solver(objective, kappa)
    if solver == "prefix sums":
        found = WholeTable.of(objective).best_difference(lam, kappa, alpha)
        if found is None:
            raise no_weight()
        candidates = [found]
    else:
        inner = inner_solver(objective, lam, kappa, solver)
        candidates = [inner.maximise(alpha, caps) for caps in regions_with_weight(objective)]
    best = max(candidates, key=lambda levels: objective.difference(levels, lam, kappa, alpha))
    return objective.optimum(best, solver, len(candidates), objective.difference(best, lam, kappa, alpha))


def ascend(
    objective: Objective, lam: float, kappa: float, inner: Inner, on_progress: Progress = silent
) -> tuple[NodeLevels, int]:
    """Dinkelbach's steps, region after region; and how many inner problems were solved."""
    regions = sorted(regions_with_weight(objective), key=lambda caps: -objective.balance(caps, lam, kappa))
    corners = [*regions, objective.bottom] if objective.phi(objective.bottom) > 0 else regions
    best = max(corners, key=lambda levels: objective.balance(levels, lam, kappa))
    alpha, n_solved = objective.balance(best, lam, kappa), 0
    for done, caps in enumerate(regions):
        on_progress(STAGE, done, len(regions))
        while True:
            found = inner.maximise(alpha, caps)
            n_solved += 1
            value = objective.balance(found, lam, kappa)  # plainly: what a solver says it reached is not compared
            if value <= alpha:
                break
            best, alpha = found, value
    on_progress(STAGE, len(regions), len(regions))
    return best, n_solved


def regions_with_weight(objective: Objective) -> list[NodeLevels]:
    """Chain products, by their highest levels, that together hold the elements with phi > 0 and no others."""
    if objective.phi(objective.top) > 0:
        return [objective.top]
    regions = []
    for i, weights in enumerate(objective.weight_of_level):
        first_zero = int((weights > 0).sum())  # weights never grow upwards
        if first_zero:
            regions.append((*objective.top[:i], first_zero - 1, *objective.top[i + 1 :]))
    if not regions:
        raise no_weight()
    return regions


def usual_solver(objective: Objective, kappa: float) -> Literal["prefix sums", "cuts", "minimum norm"]:
    """Prefix sums while they are quick, then cuts for a whole kappa, else the minimum-norm point."""
    if objective.n_elements <= FEW_ELEMENTS:
        return "prefix sums"
    return "cuts" if is_whole(kappa) else "minimum norm"


def inner_solver(objective: Objective, lam: float, kappa: float, solver: str) -> Inner:
    """The solver of this name, prepared for an objective."""
    if solver == "cuts":
        from overt.algorithms.record.cuts import Cuts

        return Cuts.of(objective, lam, kappa)
    if solver == "minimum norm":
        from overt.algorithms.record.minimum_norm import MinimumNorm

        return MinimumNorm.of(objective, lam, kappa)
    raise InvalidInput(f"There is no solver {solver!r}; choose 'auto', 'prefix sums', 'cuts' or 'minimum norm'.")


def require_parameters(lam: float, kappa: float) -> None:
    """Refuse parameters that make no balance."""
    for name, number in (("lambda", lam), ("kappa", kappa)):
        if not math.isfinite(number) or number < 0:
            raise InvalidInput(f"{name} is {number!r}; a finite number of at least 0 is expected.")


def is_whole(kappa: float) -> bool:
    """Whether kappa can be the number of times a polynomial is multiplied."""
    return float(kappa).is_integer()


def no_weight() -> Unreachable:
    """The error for a record all of whose weights are zero."""
    return Unreachable(
        "Every generalization of the record has weight 0, so its balance of risk and utility is infinite everywhere; "
        "give a weight above 0, or a base."
    )
