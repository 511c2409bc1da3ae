# SPDX-License-Identifier: Apache-2.0
"""Random tables with given group histograms: shuffle, see which groups fail, add up what the accepted ones show.

The random numbers are drawn by the caller. A place is drawn without bias: a draw that would favour some places is
thrown away and the next one used, so rows of draws are a little longer than the number of places.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel

CAP, DISTINCT, RECURSIVE, ENTROPY = 0, 1, 2, 3


class Shuffled(NamedTuple):
    """What is shuffled: the values of places, inside groups of places that lie side by side."""

    value_of_place: Any
    group_first: Any  # (group + 1)
    cell_of_place: Any
    n_cells: int
    n_values: int


class Tested(NamedTuple):
    """The groups of earlier functions that may fail, one function after the other, and when they do."""

    first: Any  # (tested group + 1), of `places`
    places: Any
    size: Any  # (tested group)
    cap: Any  # (tested group) -> the most rows that one value may have, where the property is a cap
    function: Any  # (tested group)
    n_functions: int
    kind: int  # of property: CAP, DISTINCT, RECURSIVE or ENTROPY; with its parameters
    numerator: int
    denominator: int
    l: int


class Forced(NamedTuple):
    """Which tested group is made to fail in each table, and with which values; nothing is forced where `chosen` is negative."""

    chosen: Any  # (table) -> number of the places below
    places: Any  # (number, 2) -> the first place, and the one after the last
    counts: Any  # (table, value)
    coins: Any  # (table)
    function: int  # whose failing groups are counted


@kernel
def draw_below(span, draws, used):
    """A number from 0 to span - 1 from 32-bit draws: (number, draws used)."""
    while used < draws.size:
        product = np.uint64(draws[used]) * np.uint64(span)
        used += 1
        low = product & np.uint64(0xFFFFFFFF)
        if low >= np.uint64(span) or low >= (np.uint64(0x100000000) - np.uint64(span)) % np.uint64(span):
            return np.int64(product >> np.uint64(32)), used
    return np.int64(-1), used


@kernel
def fails(counts, size, kind, numerator, denominator, l):
    """Whether a group with these counts breaks a property other than a cap."""
    if kind == 1:
        present = 0
        for v in range(counts.size):
            present += counts[v] > 0
        return present < l
    if kind == 2:
        ordered = np.sort(counts)[::-1]
        rest = 0
        for v in range(l - 1, ordered.size):
            rest += ordered[v]
        return ordered[0] * denominator >= numerator * rest
    entropy = size * np.log(size) - size * np.log(numerator / denominator)
    for v in range(counts.size):
        if counts[v] > 1:
            entropy -= counts[v] * np.log(counts[v])
    return entropy < -1e-9 * size


@kernel
def sample_tables(shuffled, tested_groups, force, draws, keep):
    """Shuffle tables and add up the accepted ones.

    Table b uses the draws of row b. If one of its groups is forced, the places of that group get exactly the values that
    are forced upon it. A table is accepted if every function has a failing group and, if it was forced, its coin times the
    number of failing groups of the forced function is below 1.
    Returns (accepted tables, rows with each value per cell over them, values by place of the first `keep` of them, ran
    out of draws).
    """
    value_of_place, group_first, cell_of_place, n_cells, n_values = shuffled
    tested_first, tested_places, size_of_tested = tested_groups.first, tested_groups.places, tested_groups.size
    cap_of_tested, function_of_tested = tested_groups.cap, tested_groups.function
    n_functions, kind = tested_groups.n_functions, tested_groups.kind
    numerator, denominator, l = tested_groups.numerator, tested_groups.denominator, tested_groups.l
    forced, forced_first, forced_counts, coins, rare = force
    n_places = value_of_place.size
    values = value_of_place.copy()
    counts = np.zeros(n_values, np.int64)
    sums = np.zeros((n_cells, n_values), np.int64)
    kept = np.zeros((keep, n_places), np.int32)
    full = (np.int64(1) << n_functions) - 1
    accepted = 0
    scratch = np.zeros(n_places, np.int32)
    left = np.zeros(n_values, np.int64)
    for b in range(draws.shape[0]):
        used = np.int64(0)
        row = draws[b]
        chosen = forced[b]
        first_forced, last_forced = 0, 0
        if chosen >= 0:
            first_forced, last_forced = forced_first[chosen, 0], forced_first[chosen, 1]
        for g in range(group_first.size - 1):
            begin, end = group_first[g], group_first[g + 1]
            if chosen >= 0 and begin <= first_forced < end:
                for v in range(n_values):
                    left[v] = 0
                for j in range(begin, end):
                    left[values[j]] += 1
                at = first_forced
                for v in range(n_values):
                    left[v] -= forced_counts[b, v]
                    for _ in range(forced_counts[b, v]):
                        values[at] = v
                        at += 1
                at = begin
                for v in range(n_values):
                    for _ in range(left[v]):
                        if at == first_forced:
                            at = last_forced
                        values[at] = v
                        at += 1
                for j in range(first_forced, last_forced):
                    step, used = draw_below(last_forced - j, draws[b], used)
                    if step < 0:
                        return accepted, sums, kept, True
                    values[j], values[j + step] = values[j + step], values[j]
                outside = end - begin - (last_forced - first_forced)
                for j in range(outside):
                    scratch[j] = (
                        values[begin + j]
                        if begin + j < first_forced
                        else values[begin + j + last_forced - first_forced]
                    )
                for j in range(outside):
                    step, used = draw_below(outside - j, draws[b], used)
                    if step < 0:
                        return accepted, sums, kept, True
                    scratch[j], scratch[j + step] = scratch[j + step], scratch[j]
                    place = begin + j if begin + j < first_forced else begin + j + last_forced - first_forced
                    values[place] = scratch[j]
                continue
            if used + end - begin + 32 > row.size:
                return accepted, sums, kept, True
            for j in range(begin, end - 1):
                # the same as draw_below, written out: this is where the time goes
                span = np.uint64(end - j)
                product = np.uint64(row[used]) * span
                used += 1
                if np.uint64(np.uint32(product)) < span:
                    unfair = (np.uint64(0x100000000) - span) % span
                    while np.uint64(np.uint32(product)) < unfair and used < row.size:
                        product = np.uint64(row[used]) * span
                        used += 1
                other = np.uint64(j) + (product >> np.uint64(32))
                held = values[np.uint64(j)]
                values[np.uint64(j)] = values[other]
                values[other] = held
        mask = np.int64(0)
        n_failed = 0
        for tested in range(size_of_tested.size):
            bit = np.int64(1) << function_of_tested[tested]
            if mask & bit and (chosen < 0 or function_of_tested[tested] != rare):
                continue  # one failing group settles the function
            for v in range(n_values):
                counts[v] = 0
            begin, end = tested_first[tested], tested_first[tested + 1]
            if tested_places[end - 1] - tested_places[begin] == end - begin - 1:  # neighbours
                for j in range(tested_places[begin], tested_places[begin] + end - begin):
                    counts[values[j]] += 1
            else:
                for i in range(begin, end):
                    counts[values[tested_places[i]]] += 1
            if kind == 0:
                bad = False
                for v in range(n_values):
                    bad = bad or counts[v] > cap_of_tested[tested]
            else:
                bad = fails(counts, size_of_tested[tested], kind, numerator, denominator, l)
            if bad:
                n_failed += function_of_tested[tested] == rare
                mask |= bit
        if mask == full and (chosen < 0 or coins[b] * n_failed < 1.0):
            for j in range(n_places):
                sums[cell_of_place[j], values[j]] += 1
            if accepted < keep:
                kept[accepted] = values
            accepted += 1
    return accepted, sums, kept, False
