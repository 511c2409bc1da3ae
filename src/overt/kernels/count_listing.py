# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_mode_mixture.py
"""All ways to fill the cells of a component with counts, each with how many tables it stands for: for components of few cells.

See `cell_counts` for what a component is. There are far fewer counts than tables.
"""

from math import exp, inf

import numpy as np

from overt.kernels.cell_counts import judge_counts
from overt.kernels.compiler import kernel
from overt.kernels.places_missing import COUNTS


@kernel
def list_counts(cells, first_cell, room, in_group, log_factorial, tally, energy, most, held):
    """Add up the counts of cells in tables of energy 0, by how many tables they stand for.

    Cells of group g are those from first_cell[g] on, `room` is their size. A step fills one cell with one value. `held` is (cell, value).
    Returns the weight of all, or -1 if there are too many, and how many were listed. Weights are relative to that of the likeliest counts among
    those of energy 0, which may be e^-1000 of the likeliest of all.
    """
    n_groups, n_values = in_group.shape
    n_cells = room.size
    n_steps, logs, total, n_listed = n_cells * n_values, 0.0, 0.0, 0
    group, value, cell = np.empty(n_steps, np.int64), np.empty(n_steps, np.int64), np.empty(n_steps, np.int64)
    step = 0
    for g in range(n_groups):
        for v in range(n_values):
            for c in range(first_cell[g], first_cell[g + 1]):
                group[step], value[step], cell[step] = g, v, c
                step += 1
    here, highest = np.zeros(n_steps, np.int64), np.zeros(n_steps, np.int64)
    free, left, count = room.copy(), in_group.copy(), np.zeros((n_cells, n_values), np.int64)
    top = -inf  # the logarithm of the weight of the likeliest counts so far
    step, goes_down, is_done = 0, True, False
    while step >= 0:
        if step == n_steps:
            n_listed += 1
            if n_listed > most:
                return -1.0, n_listed
            if judge_counts(cells, tally, energy) == 0:
                if logs > top:
                    total *= exp(top - logs)
                    held *= exp(top - logs)
                    top = logs
                weight = exp(logs - top)
                total += weight
                for c in range(n_cells):
                    for v in range(n_values):
                        held[c, v] += weight * count[c, v]
            step, goes_down = step - 1, False
            continue
        g, v, c = group[step], value[step], cell[step]
        if goes_down:
            later = 0
            for other in range(c + 1, first_cell[g + 1]):
                later += free[other]
            fewest = free[c] if v == n_values - 1 else max(0, left[g, v] - later)
            highest[step] = fewest if v == n_values - 1 else min(free[c], left[g, v])
            change = fewest
            here[step] = fewest
        else:
            is_done = here[step] == highest[step]
            change = -here[step] if is_done else 1
            logs += log_factorial[here[step]]
            here[step] += change
        count[c, v] += change
        free[c] -= change
        left[g, v] -= change
        first = cells.first_in_trials[g]
        for k in range(cells.first_in_trials[g + 1] - first):
            tally[cells.part_of[cells.first_in_parts[c] + k], COUNTS + v] += change
        if not goes_down and is_done:
            step -= 1
            continue
        logs -= log_factorial[here[step]]
        step, goes_down = step + 1, True
    return total, n_listed
