# SPDX-License-Identifier: Apache-2.0
"""A log-linear model: the chance of every class of sensitive values from the levels of columns and of pairs of columns.

Multinomial logistic regression, with a ridge so that what few rows say counts for little. The minimum is unique; it is found
by L-BFGS, scaled by how often each feature and class occurs.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.adversary.learner.indicators import EVERYBODY, LEVEL, PAIR, Indicators
from overt.adversary.posterior import Chances
from overt.kernels.log_linear import chances_of, loss_and_slope
from overt.table import Codes

RIDGE = {EVERYBODY: 1e-3, LEVEL: 2.0, PAIR: 20.0}  # Adult and the census are learned best with about these
MOST_STEPS = 80
REMEMBERED = 8  # steps that tell how the slope bends
TOLERANCE = 5e-5  # of the loss; below, no guess changes
SUFFICIENT = 1e-4  # of the decrease that a straight line promises
SHORTEST = 1e-10

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LogLinear:
    """What was learned."""

    weights: Chances  # (feature, class)

    @classmethod
    def fit(cls, indicators: Indicators, class_of_row: Codes, n_classes: int, rows: Rows) -> "LogLinear":
        """Learn from some rows."""
        shape = indicators.n_features, n_classes
        ridge = np.array([RIDGE[int(kind)] for kind in indicators.kind])[:, None]
        active, share = (
            indicators.active,
            (np.bincount(class_of_row[rows], minlength=n_classes) + 1) / (rows.size + n_classes),
        )
        seen = active[rows]
        n_seen = np.bincount(seen[seen >= 0], minlength=indicators.n_features)
        bend = ridge + n_seen[:, None] * share * (1 - share)

        def loss_at(flat: Chances) -> tuple[float, Chances]:
            weights = flat.reshape(shape)
            loss, slope = loss_and_slope(active, class_of_row, rows, weights)
            return loss + float((ridge * weights**2).sum()) / 2, (slope + ridge * weights).ravel()

        start = np.zeros(shape)
        start[0] = np.log(share)
        return cls(minimise(loss_at, start.ravel(), bend.ravel()).reshape(shape))

    def chances(self, indicators: Indicators, rows: Rows) -> Chances:
        """(row, class) -> its chance."""
        found: Chances = chances_of(indicators.active[rows], self.weights)
        return found


def minimise(loss_at: Callable[[Chances], tuple[float, Chances]], point: Chances, bend: Chances) -> Chances:
    """L-BFGS: a step is the slope over what is known of how it bends, first of all along each coordinate."""
    loss, slope = loss_at(point)
    known: deque[tuple[Chances, Chances]] = deque(maxlen=REMEMBERED)
    for _ in range(MOST_STEPS):
        step = _step(slope, known, bend)
        promised, length = float(slope @ step), 1.0
        while (new := loss_at(point + length * step))[0] > loss + SUFFICIENT * length * promised and length > SHORTEST:
            length /= 2
        gained = loss - new[0]
        if gained <= 0:
            break
        moved, turned = length * step, new[1] - slope
        if moved @ turned > 0:
            known.append((moved, turned))
        point, (loss, slope) = point + moved, new
        if gained <= TOLERANCE * abs(loss):
            break
    return point


def _step(slope: Chances, known: deque[tuple[Chances, Chances]], bend: Chances) -> Chances:
    """The two loops of L-BFGS."""
    direction, shares = slope.copy(), []
    for moved, turned in reversed(known):
        shares.append((moved @ direction) / (moved @ turned))
        direction -= shares[-1] * turned
    direction /= bend
    if known:
        moved, turned = known[-1]
        direction *= (moved @ turned) / (turned @ (turned / bend))
    for (moved, turned), share in zip(known, reversed(shares), strict=True):
        direction += moved * (share - (turned @ direction) / (moved @ turned))
    return -direction
