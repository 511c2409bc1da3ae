# SPDX-License-Identifier: Apache-2.0
"""One step of a logistic regression, in one pass over the rows, the same on any number of threads."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def slope_and_curvature(design, target, coefficients):
    """The gradient of the log loss, and its second derivatives."""
    n, m = design.shape
    gradient = np.zeros(m)
    curvature = np.zeros((m, m))
    for i in range(n):
        odds = 0.0
        for j in range(m):
            odds += design[i, j] * coefficients[j]
        likely = 0.5 * (1 + np.tanh(0.5 * odds))
        weight = likely * (1 - likely)
        for j in range(m):
            x = design[i, j]
            if x != 0:
                gradient[j] += x * (likely - target[i])
                scaled = x * weight
                for k in range(j + 1):
                    curvature[j, k] += scaled * design[i, k]
    for j in range(m):
        for k in range(j):
            curvature[k, j] = curvature[j, k]
    return gradient, curvature


@kernel
def log_loss(design, target, coefficients):
    """The sum over rows of the log loss."""
    total = 0.0
    for i in range(design.shape[0]):
        odds = 0.0
        for j in range(design.shape[1]):
            odds += design[i, j] * coefficients[j]
        total += max(odds, 0.0) + np.log1p(np.exp(-abs(odds))) - target[i] * odds
    return total
