# SPDX-License-Identifier: Apache-2.0
"""Risk-utility plane: every generalization as a point, and the frontier that nothing lies beyond.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Figure 1, which the paper only sketches: for one record exactly, for a table its corners.
Departs     The frontier of a table has as many points as there are ways to choose for every row. Its corners are those
            that are best for some exchange rate between risk and utility. They are exact: at a given rate the rows are
            chosen each by itself, so the corners of the table are the steps of all rows, the cheapest first.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.record.methods import People, RecordLagrangian, RecordThreshold
from overt.algorithms.record.objective import Floats, Objective
from overt.algorithms.record.prefix_sums import WholeTable
from overt.errors import TooLarge
from overt.progress import Progress, silent
from overt.table import Table

MOST_POINTS = 200_000_000


@dataclass(frozen=True, eq=False)
class Plane:
    """Points of risk and utility. On the frontier none has less risk without less utility."""

    risk: Floats = field(repr=False)
    utility: Floats = field(repr=False)
    frontier: NDArray[np.int64]  # the points on it, by growing risk and utility
    levels: NDArray[np.int64] | None = field(default=None, repr=False)  # (point, attribute), of one record


def plane_of_record(objective: Objective) -> Plane:
    """All generalizations of a record, and the exact Pareto frontier among them.

    >>> ends = np.array([1.0, 0.0])
    >>> one = Objective((ends, ends), (ends, 2 * ends), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
    >>> plane = plane_of_record(one)
    >>> plane.risk[plane.frontier].tolist(), plane.utility[plane.frontier].tolist()
    ([0.0, 0.25, 3.0], [0.0, 1.0, 2.0])
    """
    whole = WholeTable.of(objective)
    risk, utility = whole.risk, whole.utility
    return Plane(risk, utility, pareto(risk, utility), whole.levels)


def plane_of_table(
    table: Table, method: RecordThreshold | RecordLagrangian, *, on_progress: Progress = silent
) -> Plane:
    """The corners of a table's frontier, as mean risk and mean utility of its rows.

    >>> import overt
    >>> table = overt.read_frame(
    ...     overt.samples.hospital(), quasi_identifiers=["Sex"], hierarchies={"Sex": overt.Flat()}
    ... )
    >>> plane = plane_of_table(table, overt.RecordThreshold(c=0, utility="depth"))
    >>> bool(plane.risk.min() < plane.risk.max())
    True
    """
    people = People.of(table, method)
    alike, n_people, some_row = people.distinct()
    if n_people * people.n_vectors > MOST_POINTS:
        raise TooLarge(
            f"The plane of {n_people:,} different records with {people.n_vectors:,} generalizations each has too many "
            "points; take a sample of the rows, or fewer attributes."
        )
    n_alike = np.bincount(alike, minlength=n_people)
    external = (people.codes if people.external is None else people.external).T
    steps: list[NDArray[np.float64]] = []
    start = np.zeros(2)
    for person, row in enumerate(some_row):
        own = None if people.personal is None else people.personal[row]
        whole = WholeTable.of(
            Objective.of(people.trees, people.codes[:, row], external, people.utility, people.risk, own)
        )
        corners = corners_of(whole.risk, whole.utility) * n_alike[person]
        start += corners[0]
        steps.append(np.diff(corners, axis=0))
        on_progress("Drawing the plane", person + 1, n_people)
    edges = np.concatenate([*steps, np.empty((0, 2))])
    order = np.argsort(-edges[:, 1] / edges[:, 0], kind="stable")  # the most utility for its risk first
    points = np.concatenate([start[None, :], start + np.cumsum(edges[order], axis=0)]) / max(1, table.n_rows)
    return Plane(points[:, 0], points[:, 1], np.arange(len(points)))


def pareto(risk: Floats, utility: Floats) -> NDArray[np.int64]:
    """The points than which none has as little risk and as much utility, and less or more of one."""
    order = np.lexsort((-utility, risk))
    best = np.maximum.accumulate(utility[order])
    beyond = np.append(True, utility[order][1:] > best[:-1])[: order.size]
    return order[beyond & np.isfinite(risk[order])]


def corners_of(risk: Floats, utility: Floats) -> Floats:
    """(corner, 2): the Pareto points that are best for some exchange rate, by growing risk; slopes fall."""
    corners: list[tuple[float, float]] = []
    for i in pareto(risk, utility):
        point = (float(risk[i]), float(utility[i]))
        while len(corners) > 1 and _is_below(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return np.array(corners)


def _is_below(one: tuple[float, float], middle: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether the middle one of three points lies on or below the line between the others."""
    rise = (middle[1] - one[1]) * (other[0] - one[0])
    return rise <= (other[1] - one[1]) * (middle[0] - one[0])
