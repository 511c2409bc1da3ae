# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_mode_mixture.py
"""How likely it is that random tables fail all trials for given reasons, about: the nearest law that expects what the reasons ask.

Of all tables whose cells have `size_of_cell` rows and whose groups have the values of `in_group`, those with `needed[t]` rows or
more of value `value[t]` in the cells of trial t. The law that expects these counts and is nearest to uniform (I-projection:
I. Csiszar, Annals of Probability 3, 1975) is found by scaling in turns. Its distance is the exponent of the chance; fluctuations of each
count are added as if they were normal and independent of each other.
"""

from math import erfc, exp, log, pi, sqrt

import numpy as np

from overt.kernels.compiler import kernel

CLOSE = 0.02  # rows
STEP = 1.5  # of a logarithm, at most
SEEN = 1e-3  # a price of a reason that binds
HOPELESS = -1e6
FAR = 20.0  # standard deviations, beyond which a tail is too small for a float


@kernel
def log_chance(size_of_cell, group_of_cell, in_group, first, cells, value, needed, n_cycles, prices, weight):
    """About the logarithm of the chance; `prices` is filled with how much each reason binds, `weight` is scratch.

    The cells of trial t are cells[first[t]:first[t + 1]].
    """
    n_cells, n_values = weight.shape
    n_groups, n_trials = in_group.shape[0], needed.size
    scale = np.zeros((n_groups, n_values))
    n_rows = np.zeros(n_groups)
    for c in range(n_cells):
        n_rows[group_of_cell[c]] += size_of_cell[c]
    base = 0.0
    for g in range(n_groups):
        for v in range(n_values):
            if in_group[g, v] > 0:
                scale[g, v] = log(in_group[g, v] / n_rows[g])
                base -= in_group[g, v] * scale[g, v]
    total, held = np.empty(n_cells), np.empty((n_groups, n_values))
    for c in range(n_cells):
        for v in range(n_values):
            weight[c, v] = exp(scale[group_of_cell[c], v]) if in_group[group_of_cell[c], v] > 0 else 0.0
    prices[:] = 0
    for _ in range(n_cycles):
        worst = 0.0
        for c in range(n_cells):
            total[c] = weight[c].sum()
        for t in range(n_trials):
            v, mean, variance = value[t], 0.0, 0.0
            for i in range(first[t], first[t + 1]):
                c = cells[i]
                share = weight[c, v] / total[c]
                mean += size_of_cell[c] * share
                variance += size_of_cell[c] * share * (1 - share)
            gap = needed[t] - mean
            if gap > 0 or prices[t] > 0:
                worst = max(worst, abs(gap))
            step = max(-prices[t], min(STEP, max(-STEP, gap / max(variance, 1e-9))))
            if step != 0:
                prices[t] += step
                factor = exp(step) - 1
                for i in range(first[t], first[t + 1]):
                    c = cells[i]
                    more = weight[c, v] * factor
                    weight[c, v] += more
                    total[c] += more
        held[:] = 0
        for c in range(n_cells):
            for v in range(n_values):
                held[group_of_cell[c], v] += size_of_cell[c] * weight[c, v] / total[c]
        for g in range(n_groups):
            for v in range(n_values):
                if in_group[g, v] > 0:
                    worst = max(worst, abs(held[g, v] - in_group[g, v]))
                    held[g, v] = in_group[g, v] / held[g, v]
                    scale[g, v] += log(held[g, v])
        for c in range(n_cells):
            for v in range(n_values):
                weight[c, v] *= held[group_of_cell[c], v]
        if worst < CLOSE:
            break
    found = -base
    for c in range(n_cells):
        total[c] = weight[c].sum()
        found += size_of_cell[c] * log(total[c])
    for g in range(n_groups):
        for v in range(n_values):
            found -= in_group[g, v] * scale[g, v]
    for t in range(n_trials):
        found -= prices[t] * needed[t]
        v, mean, variance = value[t], 0.0, 0.0
        for i in range(first[t], first[t + 1]):
            c = cells[i]
            share = weight[c, v] / total[c]
            mean += size_of_cell[c] * share
            variance += size_of_cell[c] * share * (1 - share)
        found += fluctuation(mean - needed[t] + 0.5, sqrt(max(variance, 1e-6)), prices[t])
    return found if found > HOPELESS else HOPELESS


@kernel
def fluctuation(mean, deviation, price):
    """The logarithm of what exp(-price * y) is expected to be on y >= 0, and nothing below, for a normal y; the mean is as if at 0 where it binds."""
    if price > SEEN:
        mean = 0.5
    at = (price * deviation * deviation - mean) / deviation
    far = at > FAR
    tail = -log(at * sqrt(2 * pi)) - at * at / 2 if far else log(max(1e-300, 0.5 * erfc(at / sqrt(2.0))))
    return price * price * deviation * deviation / 2 - price * mean + tail
