# SPDX-License-Identifier: Apache-2.0
"""Swaps of values inside groups that leave every failed cut failed.

Places lie group by group. Cut c has the parts 2c and 2c + 1, and `tally[part]` holds what is known of a part: the most
places that one value may have there (CAP), how many values have more (OVER), how many different values there are
(DISTINCT), and from COUNTS on how often each occurs. A part is broken if OVER is not 0 or DISTINCT is below
`least`; a cut fails if one of its parts is broken, and is sound otherwise. Only cuts that divide a group matter to it:
`cuts[g, i]`, and bit i % 64 of `sides[place, i // 64]` tells the part that a place of the group is in.
"""

import numpy as np

from overt.kernels.compiling import kernel

CAP, OVER, DISTINCT, COUNTS = 0, 1, 2, 3
SEVERAL = 3  # swaps at once, which get through where one at a time is stuck
SEVERAL_EVERY = 8  # proposals
SHUFFLE_EVERY = 16  # sweeps; in such a one groups propose to shuffle all their values
SMALL = 64  # places; up to here all groups are also shuffled at once, so that every possible table is reached
ONE = np.uint64(1)
BIT_OF_REMAINDER = np.zeros(67, np.int64)  # no two powers of 2 below 2**64 have the same remainder by 67
for _bit in range(64):
    BIT_OF_REMAINDER[(1 << _bit) % 67] = _bit


@kernel
def find_doomed(groups_of_rows, starts, in_group, size_of_group, cap, least):
    """is_doomed[cut]: whether a cut fails however values lie inside the groups, by bounds on the counts in its parts.

    in_group[g, v] is how often group g has value v. Of the cuts of a trace whole groups go either way or are divided.
    """
    n_groups, n_values = in_group.shape
    is_doomed = np.zeros(starts.size // 2, np.bool_)
    n_here, touched = np.zeros((2, n_groups), np.int64), np.empty(n_groups, np.int64)
    for cut in range(is_doomed.size):
        n_touched = 0
        for side in range(2):
            for i in range(starts[2 * cut + side], starts[2 * cut + side + 1]):
                g = groups_of_rows[i]
                if n_here[0, g] + n_here[1, g] == 0:
                    touched[n_touched] = g
                    n_touched += 1
                n_here[side, g] += 1
        for side in range(2):
            part = 2 * cut + side
            n_possible, room = 0, starts[part] - starts[part + 1]
            for v in range(n_values):
                fewest, most = 0, 0
                for g in touched[:n_touched]:
                    fewest += max(0, n_here[side, g] + in_group[g, v] - size_of_group[g])
                    most += min(n_here[side, g], in_group[g, v])
                is_doomed[cut] |= fewest > cap[part]
                n_possible += most > 0
                room += min(most, cap[part])
            is_doomed[cut] |= n_possible < least or room < 0
        for g in touched[:n_touched]:
            n_here[0, g] = n_here[1, g] = 0
    return is_doomed


@kernel
def count_divided(groups_of_rows, starts, n_groups):
    """n_cuts[g]: how many cuts have rows of group g on both sides; `starts` as in a trace."""
    n_cuts = np.zeros(n_groups, np.int64)
    left, both = np.full(n_groups, -1, np.int64), np.full(n_groups, -1, np.int64)
    for cut in range(starts.size // 2):
        for i in range(starts[2 * cut], starts[2 * cut + 1]):
            left[groups_of_rows[i]] = cut
        for i in range(starts[2 * cut + 1], starts[2 * cut + 2]):
            g = groups_of_rows[i]
            if left[g] == cut and both[g] != cut:
                both[g] = cut
                n_cuts[g] += 1
    return n_cuts


@kernel
def find_sides(groups_of_rows, places, starts, n_groups, cuts, sides):
    """Fill `cuts` and `sides`; `places[i]` is where the i-th row of the trace lies."""
    n_cuts = np.zeros(n_groups, np.int64)
    left, both = np.full(n_groups, -1, np.int64), np.full(n_groups, -1, np.int64)
    for cut in range(starts.size // 2):
        for i in range(starts[2 * cut], starts[2 * cut + 1]):
            left[groups_of_rows[i]] = cut
        for i in range(starts[2 * cut + 1], starts[2 * cut + 2]):
            g = groups_of_rows[i]
            if left[g] != cut:
                continue
            if both[g] != cut:
                both[g] = cut
                cuts[g, n_cuts[g]] = cut
                n_cuts[g] += 1
            bit = n_cuts[g] - 1
            sides[places[i], bit // 64] |= np.uint64(1) << np.uint64(bit % 64)


@kernel
def tally_parts(values, starts, tally):
    """Fill all of a tally but CAP; part p is `values[starts[p]:starts[p + 1]]`."""
    for part in range(starts.size - 1):
        tally[part, OVER:] = 0
        for i in range(starts[part], starts[part + 1]):
            tally[part, COUNTS + values[i]] += 1
        for count in tally[part, COUNTS:]:
            tally[part, OVER] += count > tally[part, CAP]
            tally[part, DISTINCT] += count > 0


@kernel
def change_of_sound(a, b, x, y, g, cuts, sides, tally, least, is_sound):
    """By how much the number of sound cuts would grow if places a (with value x) and b (with value y) swapped."""
    change = 0
    for word in range(sides.shape[1]):
        different = sides[a, word] ^ sides[b, word]
        while different:
            rest = different & (different - ONE)
            bit = BIT_OF_REMAINDER[(different ^ rest) % np.uint64(67)]
            different = rest
            cut = cuts[g, 64 * word + bit]
            p = 2 * cut + np.int64((sides[a, word] >> np.uint64(bit)) & ONE)
            q = p ^ 1
            px, py, qx, qy = tally[p, COUNTS + x], tally[p, COUNTS + y], tally[q, COUNTS + x], tally[q, COUNTS + y]
            at_p, at_q = tally[p, CAP], tally[q, CAP]
            grown = np.int64(py == at_p) + np.int64(qx == at_q)
            shrunk = np.int64(px == at_p + 1) + np.int64(qy == at_q + 1)
            sound = tally[p, OVER] + tally[q, OVER] + grown == shrunk
            if sound and least > 1:
                distinct_p = tally[p, DISTINCT] + np.int64(py == 0) - np.int64(px == 1)
                distinct_q = tally[q, DISTINCT] + np.int64(qx == 0) - np.int64(qy == 1)
                sound = distinct_p >= least and distinct_q >= least
            change += np.int64(sound) - np.int64(is_sound[cut])
    return change


@kernel
def swap(a, b, g, value, cuts, sides, tally, least, is_sound):
    """Swap the values of two places and bring all counters up to date."""
    x, y = value[a], value[b]
    value[a], value[b] = y, x
    for word in range(sides.shape[1]):
        different = sides[a, word] ^ sides[b, word]
        while different:
            rest = different & (different - ONE)
            bit = BIT_OF_REMAINDER[(different ^ rest) % np.uint64(67)]
            different = rest
            cut = cuts[g, 64 * word + bit]
            p = 2 * cut + np.int64((sides[a, word] >> np.uint64(bit)) & ONE)
            q = p ^ 1
            replace_in_part(tally, p, x, y)
            replace_in_part(tally, q, y, x)
            is_sound[cut] = (
                tally[p, OVER] + tally[q, OVER] == 0 and tally[p, DISTINCT] >= least and tally[q, DISTINCT] >= least
            )


@kernel
def replace_in_part(tally, part, x, y):
    """One place of a part has value y instead of x."""
    n_x, n_y, cap = tally[part, COUNTS + x], tally[part, COUNTS + y], tally[part, CAP]
    tally[part, OVER] += np.int32(n_y == cap) - np.int32(n_x == cap + 1)
    tally[part, DISTINCT] += np.int32(n_y == 0) - np.int32(n_x == 1)
    tally[part, COUNTS + x] = n_x - 1
    tally[part, COUNTS + y] = n_y + 1


@kernel
def swap_inside_groups(
    draws, sweeps, first, value, forbidden, cuts, sides, tally, least, is_sound, cell_of_place, held, total, square
):
    """Propose as many swaps as there are places, group by group, once for every number in `sweeps`.

    Every cut fails at the beginning, and a proposal after which one would not is turned down. In a sweep whose number is
    a multiple of SHUFFLE_EVERY, windows of neighbouring groups propose to shuffle each of their groups. `draws`
    holds 64 bits for each place and sweep: a pair of places. After a sweep `total[cell, v]` grows by how many
    places of the cell have value v, and `square` by its square. Returns how many swaps were made, and in how many
    groups values were shuffled.
    """
    at, n_swapped, n_shuffled = 0, 0, 0
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    n_groups = first.size - 1
    moved = np.empty((value.size + SEVERAL, 3), np.int64)
    for sweep in sweeps:
        shuffling = sweep % SHUFFLE_EVERY == 0
        span = window_of(sweep // SHUFFLE_EVERY, n_groups, value.size) if shuffling else 1
        g, h = 0, 0
        while h < n_groups:
            g, h = h, min(n_groups, h + span)
            begin, size = first[g], first[h] - first[g]
            left = size
            while left > 0:
                n_swaps = 1
                if shuffling:
                    n_swaps = size
                elif left >= SEVERAL and left % SEVERAL_EVERY == 0:
                    n_swaps = SEVERAL
                left -= n_swaps
                group, n_moved, change = g, 0, 0
                for j in range(n_swaps):
                    draw = draws[at + j]
                    if shuffling:
                        a = begin + j
                        while first[group + 1] <= a:
                            group += 1
                        b = a + np.int64(((draw & low) * np.uint64(first[group + 1] - a)) >> half)
                    else:
                        a = begin + np.int64(((draw & low) * np.uint64(size)) >> half)
                        b = begin + np.int64(((draw >> half) * np.uint64(size)) >> half)
                    x, y = value[a], value[b]
                    if x == y:
                        continue
                    change += change_of_sound(a, b, x, y, group, cuts, sides, tally, least, is_sound)
                    if change > 0 and j == n_swaps - 1:
                        break  # turned down, and the last one need not even be tried
                    swap(a, b, group, value, cuts, sides, tally, least, is_sound)
                    moved[n_moved, 0], moved[n_moved, 1], moved[n_moved, 2] = a, b, group
                    n_moved += 1
                at += n_swaps
                turned_down = change > 0
                if forbidden.size:
                    for j in range(n_moved):
                        a, b = moved[j, 0], moved[j, 1]
                        turned_down |= forbidden[a, value[a]] or forbidden[b, value[b]]
                if turned_down:
                    for j in range(n_moved - 1, -1, -1):
                        swap(moved[j, 0], moved[j, 1], moved[j, 2], value, cuts, sides, tally, least, is_sound)
                else:
                    n_swapped += n_moved
                    n_shuffled += h - g if shuffling else 0
        record(value, cell_of_place, held, total, square)
    return n_swapped, n_shuffled


@kernel
def window_of(turn, n_groups, n_places):
    """How many neighbouring groups are shuffled together: mostly one; of a small table now and then all."""
    if turn % 4 == 1:
        return 2
    if turn % 4 == 3:
        return n_groups if n_places <= SMALL else 3
    return 1


@kernel
def record(value, cell_of_place, held, total, square):
    """Add what every cell holds now, and its square; `held` is scratch."""
    held[:] = 0
    for place in range(value.size):
        held[cell_of_place[place], value[place]] += 1
    for cell in range(held.shape[0]):
        for v in range(held.shape[1]):
            n = np.int64(held[cell, v])
            total[cell, v] += n
            square[cell, v] += n * n
