# SPDX-License-Identifier: Apache-2.0
"""Groups of rows with the nearest weighted ranks, one value after the other."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def group_with_nearest(rank_of_row, rows, first, l):
    """group_of_row (-1: left over) when each row of the lead colour takes the nearest first rows of l - 1 others.

    `rows` holds the rows colour by colour, ascending by rank, and colours are in the order that breaks ties. The
    lead is the colour with most rows left; it stays until it has none or fewer than l colours have any.
    """
    n_colours = first.size - 1
    group_of_row = np.full(rows.size, -1, np.int32)
    head = first[:-1].copy()
    nearest = np.empty(l, np.int64)
    distance = np.empty(l, np.float64)
    n_groups = 0
    n_alive = 0
    for c in range(n_colours):
        n_alive += first[c + 1] > first[c]
    while n_alive >= l:
        lead = 0
        for c in range(n_colours):
            if first[c + 1] - head[c] > first[lead + 1] - head[lead]:
                lead = c
        while head[lead] < first[lead + 1] and n_alive >= l:
            row = rows[head[lead]]
            found = 0
            for c in range(n_colours):
                if c == lead or head[c] == first[c + 1]:
                    continue
                d = abs(rank_of_row[row] - rank_of_row[rows[head[c]]])
                if found == l - 1:
                    if d >= distance[found - 1]:
                        continue
                    found -= 1
                i = found
                while i > 0 and distance[i - 1] > d:
                    distance[i] = distance[i - 1]
                    nearest[i] = nearest[i - 1]
                    i -= 1
                distance[i], nearest[i] = d, c
                found += 1
            nearest[l - 1] = lead
            for i in range(l):
                c = nearest[i]
                group_of_row[rows[head[c]]] = n_groups
                head[c] += 1
                n_alive -= head[c] == first[c + 1]
            n_groups += 1
    return group_of_row, n_groups


@kernel
def distance_to_group(row, members, colour_of_row, rank_of_row):
    """The sum of distances from a row to the members of a group, or -1 if the group has the row's colour."""
    total = 0.0
    for i in range(members.size):
        if colour_of_row[members[i]] == colour_of_row[row]:
            return -1.0
        total += abs(rank_of_row[row] - rank_of_row[members[i]])
    return total


@kernel
def is_nearer(total, size, first_row, best_total, best_size, best_first_row):
    """Whether one average is below another; sums are compared crosswise, so that ties of whole numbers are exact."""
    here, there = total * best_size, best_total * size
    return here < there or (here == there and first_row < best_first_row)


@kernel
def append_to_nearest(left_over, colour_of_row, rank_of_row, group_of_row, n_groups):
    """Append each row to the group without its colour that has the least average distance; -1, or the stuck row.

    Ties go to the group with the lesser first row. `group_of_row` is changed. No average distance is below the
    distance to the group's mean, so groups are tried from the nearest mean outwards until none can be better;
    those that were appended to, whose mean has moved, are tried all.
    """
    n_rows = group_of_row.size
    size = np.zeros(n_groups, np.int64)
    for row in range(n_rows):
        if group_of_row[row] >= 0:
            size[group_of_row[row]] += 1
    longest = 0
    for g in range(n_groups):
        longest = max(longest, size[g])
    member = np.empty((n_groups, longest), np.int64)
    mean = np.zeros(n_groups, np.float64)
    size[:] = 0
    for row in range(n_rows):
        g = group_of_row[row]
        if g >= 0:
            member[g, size[g]] = row
            mean[g] += rank_of_row[row]
            size[g] += 1
    for g in range(n_groups):
        mean[g] /= size[g]
    order = np.argsort(mean)
    ordered_mean = mean[order]
    moved = np.empty(left_over.size, np.int64)  # groups that were appended to, in that order
    n_colours = 1  # of the rows left over, which come colour by colour: so many may join one group
    for i in range(1, left_over.size):
        n_colours += colour_of_row[left_over[i]] != colour_of_row[left_over[i - 1]]
    moved_member = np.empty((left_over.size, longest + n_colours), np.int64)
    moved_size = np.zeros(left_over.size, np.int64)
    place_of_moved = np.full(n_groups, -1, np.int64)
    n_moved = 0
    for i in range(left_over.size):
        row = left_over[i]
        rank = rank_of_row[row]
        best, best_total, best_size, best_first = -1, 0.0, 1, 0
        for j in range(n_moved):
            members = moved_member[j, : moved_size[j]]
            total = distance_to_group(row, members, colour_of_row, rank_of_row)
            if total >= 0:
                first_row = members.min()
                if best < 0 or is_nearer(total, members.size, first_row, best_total, best_size, best_first):
                    best, best_total, best_size, best_first = moved[j], total, members.size, first_row
        right = np.searchsorted(ordered_mean, rank)
        left = right - 1
        while left >= 0 or right < n_groups:
            if right == n_groups or (left >= 0 and rank - ordered_mean[left] <= ordered_mean[right] - rank):
                g, bound = order[left], rank - ordered_mean[left]
                left -= 1
            else:
                g, bound = order[right], ordered_mean[right] - rank
                right += 1
            # a mean is rounded, so give the bound some room before it ends the search
            if best >= 0 and bound * best_size > best_total * (1 + 1e-9) + 1e-6:
                break
            if place_of_moved[g] >= 0:
                continue
            members = member[g, : size[g]]
            total = distance_to_group(row, members, colour_of_row, rank_of_row)
            if total >= 0 and (best < 0 or is_nearer(total, size[g], members[0], best_total, best_size, best_first)):
                best, best_total, best_size, best_first = g, total, size[g], members[0]
        if best < 0:
            return row
        if place_of_moved[best] < 0:
            place_of_moved[best] = n_moved
            moved[n_moved] = best
            moved_size[n_moved] = size[best]
            moved_member[n_moved, : size[best]] = member[best, : size[best]]
            n_moved += 1
        j = place_of_moved[best]
        moved_member[j, moved_size[j]] = row
        moved_size[j] += 1
        group_of_row[row] = best
    return -1
