# SPDX-License-Identifier: Apache-2.0
"""Who of a group has which of its values, if every row leans towards some values: chances over all ways to hand them out.

`lean[i, v]` is how much row i leans to value v. A way to hand out the values, `count[v]` copies of each, has the product of
the leanings of its rows as weight. Multiplying a row or a column of `lean` by a number changes no chance.
"""

import numpy as np

from overt.kernels.compiler import kernel

LEAST_LEANING = 1e-200  # nothing that a group may hold is impossible


@kernel
def scale_to_counts(lean, count, most_rounds, tolerance):
    """Sinkhorn: multiply rows and columns until rows sum to 1 and column v to count[v]. Returns the rounds it took."""
    n_rows, n_values = lean.shape
    column = np.empty(n_values)
    for done in range(most_rounds):
        column[:] = 0.0
        for i in range(n_rows):
            for v in range(n_values):
                column[v] += lean[i, v]
        for v in range(n_values):
            column[v] = count[v] / max(column[v], 1e-300)
        off = 0.0
        for i in range(n_rows):
            total = 0.0
            for v in range(n_values):
                lean[i, v] *= column[v]
                total += lean[i, v]
            off = max(off, abs(total - 1.0))
            for v in range(n_values):
                lean[i, v] /= total
        if off < tolerance:
            return done + 1
    return most_rounds


@kernel
def exact_chances(lean, count):
    """(row, value) -> its chance over all ways, exactly: by the counts that the first rows have used up.

    A state is how many copies of each value are taken, as one number in mixed radix; its sum says how many rows have theirs.
    `lean` is scaled by `scale_to_counts`, so that weights are near 1.
    """
    n_rows, n_values = lean.shape
    stride = np.empty(n_values, np.int64)
    n_states = 1
    for v in range(n_values):
        stride[v] = n_states
        n_states *= count[v] + 1
    row_of_state = np.zeros(n_states, np.int64)
    before = np.zeros(n_states)  # weight of all ways in which the first rows come to a state
    before[0] = 1.0
    for state in range(1, n_states):
        for v in range(n_values):
            row_of_state[state] += state // stride[v] % (count[v] + 1)
        i = row_of_state[state] - 1
        for v in range(n_values):
            if state // stride[v] % (count[v] + 1) > 0:
                before[state] += before[state - stride[v]] * lean[i, v]
    after = np.zeros(n_states)  # weight of all ways to go on from it
    after[n_states - 1] = 1.0
    chances = np.zeros((n_rows, n_values))
    for state in range(n_states - 2, -1, -1):
        i = row_of_state[state]
        for v in range(n_values):
            if state // stride[v] % (count[v] + 1) < count[v]:
                weight = lean[i, v] * after[state + stride[v]]
                after[state] += weight
                chances[i, v] += before[state] * weight
    for i in range(n_rows):
        chances[i] /= chances[i].sum()
    return chances


@kernel
def chances_in_group(lean, count, most_work, most_rounds, tolerance):
    """Chances of one group, and whether they are exact: they are if that takes at most so much work per row."""
    n_rows, n_values = lean.shape
    scale_to_counts(lean, count, most_rounds, tolerance)
    work = float(n_values) / n_rows
    for v in range(n_values):
        work *= count[v] + 1
    if work <= most_work:
        return exact_chances(lean, count), True
    return lean, False


@kernel
def best_in_groups(lean, class_of_value, rows, starts, first, value, count, most_work, most_rounds, tolerance):
    """(row) -> its likeliest value given what its group holds, and the chance of that; (group) -> whether it is exact.

    Group g has the rows `rows[starts[g]:starts[g + 1]]` and the values `value[first[g]:first[g + 1]]`, `count[...]` times each.
    `lean[row, c]` is how much a row leans to values of class c. Rows in no group keep -1.
    """
    best, belief = np.full(lean.shape[0], -1, np.int32), np.zeros(lean.shape[0])
    is_exact = np.zeros(starts.size - 1, np.bool_)
    for g in range(starts.size - 1):
        n_rows, n_values = starts[g + 1] - starts[g], first[g + 1] - first[g]
        part = np.empty((n_rows, n_values))
        for i in range(n_rows):
            for j in range(n_values):
                part[i, j] = max(lean[rows[starts[g] + i], class_of_value[value[first[g] + j]]], LEAST_LEANING)
        chances, is_exact[g] = chances_in_group(part, count[first[g] : first[g + 1]], most_work, most_rounds, tolerance)
        for i in range(n_rows):
            j = chances[i].argmax()
            best[rows[starts[g] + i]], belief[rows[starts[g] + i]] = value[first[g] + j], chances[i, j]
    return best, belief, is_exact
