# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Logistic regression by Newton's method: what an analyst would fit, small enough to read.

Minimises the log loss plus a ridge of `RIDGE / 2` times the squared coefficients (not the intercept), which has one
minimum whatever the data. Targets may be shares between 0 and 1: in a release a group has a share of rows that are so.
"""

import numpy as np
from numpy.typing import NDArray

from overt.kernels.logistic import log_loss, slope_and_curvature

RIDGE = 1.0
MOST_STEPS = 50
TOLERANCE = 1e-8

Floats = NDArray[np.float64]


def fit(features: Floats, target: Floats) -> Floats:
    """The coefficients, the intercept first, of the log odds of the target."""
    design = np.ascontiguousarray(np.column_stack([np.ones(len(features)), features]))
    ridge = np.full(design.shape[1], RIDGE)
    ridge[0] = 1e-9  # only so that a column of equal targets has an answer
    coefficients = np.zeros(design.shape[1])
    loss = _loss(design, target, coefficients, ridge)
    for _ in range(MOST_STEPS):
        gradient, curvature = slope_and_curvature(design, target, coefficients)
        step = np.linalg.solve(curvature + np.diag(ridge), gradient + ridge * coefficients)
        scale = 1.0
        while (new := _loss(design, target, coefficients - scale * step, ridge)) > loss and scale > 1e-6:
            scale /= 2  # Newton may overshoot far from the minimum
        coefficients = coefficients - scale * step
        if loss - new <= TOLERANCE * max(1.0, abs(loss)):
            break
        loss = new
    return coefficients


def predict(features: Floats, coefficients: Floats) -> NDArray[np.bool_]:
    """Whether the target is more likely than not."""
    return features @ coefficients[1:] + coefficients[0] > 0


def _loss(design: Floats, target: Floats, coefficients: Floats, ridge: Floats) -> float:
    return float(log_loss(design, target, coefficients) + 0.5 * (ridge * coefficients**2).sum())
