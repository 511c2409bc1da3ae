# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_mode_mixture.py
"""Swaps between cells: how often each cell of a component has each value, changed by several rows at a time.

Rows of a cell are in the same parts of all trials, so that a table is known by the counts of its cells. A move takes as many rows
with one of two values out of one cell as out of another of its group, at random, and exchanges them: that is several swaps of
rows at once, and leaves tables as likely as swaps of single rows do. See `swapping` for trials and energy; here every trial is
a PAIR, no group is free and nobody has facts.

A trial may have a *reason*: a part and a value. Then it fails only by too many rows of that part with that value.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.places_missing import CAP, COUNTS, goes_beyond, lack_of, sum_up

LARGEST = 5  # rows of a move are a power of two, up to 2 ** LARGEST


class ComponentCells(NamedTuple):
    """What never changes. Groups, cells, parts and trials are numbered inside the component."""

    first_place: Any  # (group + 1)
    group_of_place: Any
    given: Any  # (place) -> a value, so that values are proposed as often as the group has them
    cell_of_place: Any
    first_in_trials: Any  # (group + 1), of `trials`
    trials: Any  # trials that divide a group, group by group
    first_in_parts: Any  # (cell), of `part_of`
    part_of: Any  # cell by cell: the part it is in of each of these trials
    parts: Any  # (trial, 2)
    reason: Any  # (trial, 2) -> a part and a value, or -1 twice
    rules: Any  # see `places_missing`


@kernel
def lay_counts(values, cells, count, tally):
    """Fill the counts of one particle from its values, place by place, and add them to the tallies of its parts."""
    count[:] = 0
    for place in range(values.size):
        count[cells.cell_of_place[place], values[place]] += 1
    for place in range(values.size):
        g, cell = cells.group_of_place[place], cells.cell_of_place[place]
        for k in range(cells.first_in_trials[g + 1] - cells.first_in_trials[g]):
            tally[cells.part_of[cells.first_in_parts[cell] + k], COUNTS + values[place]] += 1


@kernel
def energy_of_trial(trial, tally, cells):
    """How many places are missing until a trial fails, or fails for its reason."""
    part = cells.reason[trial, 0]
    if part >= 0:
        return np.int64(max(0, tally[part, CAP] + 1 - tally[part, COUNTS + cells.reason[trial, 1]]))
    one, other = cells.parts[trial, 0], cells.parts[trial, 1]
    if cells.rules.least <= 1 and not goes_beyond(cells.rules):
        here, there = np.int32(0), np.int32(0)
        for value in range(COUNTS, tally.shape[1]):
            here = max(here, tally[one, value])
            there = max(there, tally[other, value])
        return np.int64(max(0, min(tally[one, CAP] + 1 - here, tally[other, CAP] + 1 - there)))
    sum_up(tally, one)
    sum_up(tally, other)
    return np.int64(min(lack_of(tally, one, cells.rules), lack_of(tally, other, cells.rules)))


@kernel
def judge_counts(cells, tally, energy):
    """Work out the energies of one particle; returns their sum."""
    total = np.int64(0)
    for trial in range(energy.size):
        energy[trial] = energy_of_trial(trial, tally, cells)
        total += energy[trial]
    return total


@kernel
def draw_of(uniform, n_good, n_bad, n_drawn):
    """How many good ones are among so many drawn without putting back: the quantile of a hypergeometric law."""
    least, most = max(0, n_drawn - n_bad), min(n_good, n_drawn)
    if least == most:
        return least
    chance, n = 1.0, n_good + n_bad
    if least == 0:  # all drawn are bad
        for i in range(n_drawn):
            chance *= (n_bad - i) / (n - i)
    else:  # all bad are drawn
        for i in range(n_bad):
            chance *= (n_drawn - i) / (n - i)
    k = least
    while k < most and uniform >= chance:
        uniform -= chance
        chance *= (n_good - k) * (n_drawn - k) / ((k + 1.0) * (n_bad - n_drawn + k + 1.0))
        k += 1
    return k


@kernel
def change_part(tally, part, v, w, n):
    """So many more rows of a part have v, and so many fewer w."""
    tally[part, COUNTS + v] += n
    tally[part, COUNTS + w] -= n


@kernel
def sweep_counts(draws, uniforms, coins, price, cells, count, tally, energy, total):
    """Propose a move for each pair of draws to one particle; returns its energy afterwards and how many moves were taken.

    The first draw of a move chooses two places of a group, whose cells exchange rows; the second the two values, and how many rows.
    """
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    n_places, n_taken = np.uint64(cells.given.size), 0
    after = np.empty(energy.size, np.int64)
    for move in range(coins.size):
        place = np.int64(((draws[2 * move] & low) * n_places) >> half)
        g = cells.group_of_place[place]
        begin, size = cells.first_place[g], np.uint64(cells.first_place[g + 1] - cells.first_place[g])
        a = cells.cell_of_place[place]
        b = cells.cell_of_place[begin + np.int64(((draws[2 * move] >> half) * size) >> half)]
        if a == b:
            continue
        bits = draws[2 * move + 1]
        v = cells.given[begin + np.int64((((bits >> np.uint64(3)) & low) * size) >> half)]
        w = cells.given[begin + np.int64(((((bits >> np.uint64(35)) << np.uint64(3)) & low) * size) >> half)]
        if v == w:
            continue
        in_a, in_b = count[a, v] + count[a, w], count[b, v] + count[b, w]
        rows = min(1 << min(np.int64(bits & np.uint64(7)), LARGEST), min(in_a, in_b))
        if rows == 0:
            continue
        n = draw_of(uniforms[2 * move], count[b, v], count[b, w], rows)
        n -= draw_of(uniforms[2 * move + 1], count[a, v], count[a, w], rows)
        if n == 0:
            continue
        first, last, change = cells.first_in_trials[g], cells.first_in_trials[g + 1], np.int64(0)
        of_a, of_b = cells.first_in_parts[a] - first, cells.first_in_parts[b] - first
        for k in range(first, last):
            p, q = cells.part_of[of_a + k], cells.part_of[of_b + k]
            if p != q:
                trial = cells.trials[k]
                change_part(tally, p, v, w, n)
                change_part(tally, q, v, w, -n)
                after[k - first] = energy_of_trial(trial, tally, cells)
                change += after[k - first] - energy[trial]
        is_taken = price * change < coins[move]
        for k in range(first, last):
            p, q = cells.part_of[of_a + k], cells.part_of[of_b + k]
            if p != q:
                trial = cells.trials[k]
                if is_taken:
                    energy[trial] = after[k - first]
                else:
                    change_part(tally, p, v, w, -n)
                    change_part(tally, q, v, w, n)
        if is_taken:
            total += change
            n_taken += 1
            count[a, v] += n
            count[a, w] -= n
            count[b, v] -= n
            count[b, w] += n
    return total, n_taken


@kernel
def weight_of_table(tally, modes):
    """One over how many of several choices of reasons a table has, which are (mode, trial, 2) as the reasons of trials are; 1 without any."""
    n = 0
    for mode in range(modes.shape[0]):
        has_all = True
        for trial in range(modes.shape[1]):
            part = modes[mode, trial, 0]
            if part >= 0 and tally[part, COUNTS + modes[mode, trial, 1]] <= tally[part, CAP]:
                has_all = False
                break
        n += has_all
    return 1.0 / max(1, n)
