# SPDX-License-Identifier: Apache-2.0
"""Multinomial logistic regression on indicators: the loss with its slope, and what is predicted.

Row i has the features `active[i, j]`, each an index or -1 for none; `weights[f, c]` is how much feature f speaks for class c.
"""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def chances_of(active, weights):
    """(row, class) -> its chance."""
    n_rows, n_classes = active.shape[0], weights.shape[1]
    chances = np.zeros((n_rows, n_classes))
    for i in range(n_rows):
        score_to_chances(active[i], weights, chances[i])
    return chances


@kernel
def score_to_chances(features, weights, chances):
    """Fill in the chances of one row; returns the logarithm of what they were divided by."""
    chances[:] = 0.0
    for j in range(features.size):
        f = features[j]
        if f >= 0:
            for c in range(chances.size):
                chances[c] += weights[f, c]
    greatest = chances.max()
    total = 0.0
    for c in range(chances.size):
        chances[c] = np.exp(chances[c] - greatest)
        total += chances[c]
    for c in range(chances.size):
        chances[c] /= total
    return greatest + np.log(total)


@kernel
def loss_and_slope(active, class_of_row, rows, weights):
    """The log loss summed over some rows, and its derivative by every weight."""
    slope = np.zeros_like(weights)
    chances = np.empty(weights.shape[1])
    loss = 0.0
    for i in rows:
        score_to_chances(active[i], weights, chances)
        loss -= np.log(max(chances[class_of_row[i]], 1e-300))
        chances[class_of_row[i]] -= 1.0
        for j in range(active.shape[1]):
            f = active[i, j]
            if f >= 0:
                for c in range(chances.size):
                    slope[f, c] += chances[c]
    return loss, slope
