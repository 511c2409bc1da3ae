# SPDX-License-Identifier: Apache-2.0
"""Loops over profiles: which level other records need, and how many a vector of levels covers."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def count_covered(profiles, counts, levels):
    """How many records (profile p stands for counts[p] of them) need no higher level anywhere than is given."""
    total = 0
    for p in range(profiles.shape[0]):
        fits = True
        for i in range(profiles.shape[1]):
            if profiles[p, i] > levels[i]:
                fits = False
                break
        if fits:
            total += counts[p]
    return total


@kernel
def accumulate(cells, sizes):
    """Prefix sums along every axis of an array of this shape that lies flat in C order, in place."""
    stride = cells.size
    for axis in range(sizes.size):
        size = sizes[axis]
        block = stride
        stride = stride // size
        for begin in range(0, cells.size, block):
            for i in range(begin + stride, begin + block):
                cells[i] += cells[i - stride]


@kernel
def add_outer(numbers, sizes, first):
    """Sums over all vectors of levels, in C order: `first` plus numbers[i, level of i] for every axis i in turn."""
    n = 1
    for axis in range(sizes.size):
        n *= sizes[axis]
    sums = np.empty(n)
    sums[0] = first
    filled = 1
    for axis in range(sizes.size):
        size = sizes[axis]
        for i in range(filled - 1, -1, -1):
            here = sums[i]
            for level in range(size - 1, -1, -1):
                sums[i * size + level] = here + numbers[axis, level]
        filled *= size
    return sums


@kernel
def least_risk(support, phi, utility, c):
    """The place of the least risk among those with utility of at least c; ties: most utility, then the first.

    Returns -1 if none has that utility. Phi = 0 is no risk; Phi > 0 without support is an infinite one, and of infinite
    ones the least utility is taken.
    """
    best, best_risk, best_worth = -1, np.inf, 0.0
    for i in range(support.size):
        if utility[i] < c:
            continue
        if phi[i] == 0:
            risk = 0.0
        elif support[i] == 0:
            risk = np.inf
        else:
            risk = phi[i] / support[i]
        worth = -utility[i] if risk == np.inf else utility[i]
        if best < 0 or risk < best_risk or (risk == best_risk and worth > best_worth):
            best, best_risk, best_worth = i, risk, worth
    return best


@kernel
def best_balance(support, phi, utility, weight, kappa):
    """The place of the most weight * support / phi + utility ** kappa among those with phi > 0; ties: least risk."""
    best, best_value, best_safety = -1, -np.inf, 0.0
    for i in range(support.size):
        if phi[i] == 0:
            continue
        safety = support[i] / phi[i]
        value = weight * safety + utility[i] ** kappa
        if value > best_value or (value == best_value and safety > best_safety):
            best, best_value, best_safety = i, value, safety
    return best


@kernel
def best_difference(support, phi, utility, weight, kappa, alpha):
    """The place of the most weight * support + phi * utility ** kappa - alpha * phi among those with phi > 0."""
    best, best_value = -1, -np.inf
    for i in range(support.size):
        if phi[i] > 0:
            value = weight * support[i] + phi[i] * utility[i] ** kappa - alpha * phi[i]
            if value > best_value:
                best, best_value = i, value
    return best
