# SPDX-License-Identifier: Apache-2.0
"""Rows into the slots of a plan, and groups inside a batch.

A batch has beta lists, one per value, of alpha rows each, one list after the other; group i of a batch is the
i-th row of every list. Nothing here looks at what the values are: lists are treated alike.
"""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def deal_in_turn(rows, n_groups):
    """group_of_row when rows are dealt like cards, one to each group in turn."""
    group_of_row = np.empty(rows.size, np.int32)
    group = 0
    for place in range(rows.size):
        group_of_row[rows[place]] = group
        group += 1
        if group == n_groups:
            group = 0
    return group_of_row


@kernel
def fill_slots(value_of_slot, rows, next_of_value):
    """group_of_row when slot (g, s) takes the next row of its value; the rest has -1.

    `rows` holds the rows value by value and `next_of_value` where each value begins; it is moved on.
    """
    group_of_row = np.full(rows.size, -1, np.int32)
    for g in range(value_of_slot.shape[0]):
        for s in range(value_of_slot.shape[1]):
            v = value_of_slot[g, s]
            group_of_row[rows[next_of_value[v]]] = g
            next_of_value[v] += 1
    return group_of_row


@kernel
def draw_lists(first, value, alpha, rows, next_of_value):
    """The rows of every list of every batch, one list after the other: the next alpha rows of its value."""
    drawn = np.empty(rows.size, rows.dtype)
    place = 0
    for b in range(alpha.size):
        for i in range(first[b], first[b + 1]):
            begin = next_of_value[value[i]]
            for j in range(alpha[b]):
                drawn[place + j] = rows[begin + j]
            place += alpha[b]
            next_of_value[value[i]] = begin + alpha[b]
    return drawn[:place]


@kernel
def list_of_place(first, alpha, n_places):
    """Which list each place of the drawn rows belongs to, lists numbered over all batches."""
    lists = np.empty(n_places, np.int32)
    place = 0
    for b in range(alpha.size):
        for i in range(first[b], first[b + 1]):
            lists[place : place + alpha[b]] = i
            place += alpha[b]
    return lists


@kernel
def group_by_place_in_list(first, alpha, drawn):
    """group_of_row: the i-th rows of all lists of a batch form a group."""
    group_of_row = np.empty(drawn.size, np.int32)
    place, group = 0, 0
    for b in range(alpha.size):
        for _ in range(first[b], first[b + 1]):
            for i in range(alpha[b]):
                group_of_row[drawn[place + i]] = group + i
            place += alpha[b]
        group += alpha[b]
    return group_of_row


@kernel
def put_rank_in_place(keys, points, rows, begin, end, middle):
    """Reorder a range so that the keys before `middle` are not above those from `middle` on."""
    low, high = begin, end - 1
    while low < high:
        pivot = keys[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                if i < j:
                    keys[i], keys[j] = keys[j], keys[i]
                    rows[i], rows[j] = rows[j], rows[i]
                    for a in range(points.shape[1]):
                        points[i, a], points[j, a] = points[j, a], points[i, a]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def columns_by_width(least, greatest, scale, order, width):
    """Sort the columns by the width of a box times the scale of the column, widest first, ties as they are."""
    for a in range(scale.size):
        width[a] = (greatest[a] - least[a]) * scale[a]
        j = a
        while j > 0 and width[order[j - 1]] < width[a]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = a


@kernel
def split_lists_at_equal_ranks(first, alpha, points, rows, scale, bits):
    """Order every list of a batch so that the rows at the same place are near each other.

    A node is a range of places, the same in every list. All lists are cut at the same place, half of the
    node's, along the column in which all rows of the node together are widest; ties by the next widest
    columns. `points` and `rows` are reordered; `bits[a]` is how many bits a code of column a needs.
    """
    n_columns = points.shape[1]
    longest = 0
    for b in range(alpha.size):
        longest = max(longest, alpha[b])
    keys = np.empty(points.shape[0], np.int64)
    least, greatest = np.empty(n_columns, np.int32), np.empty(n_columns, np.int32)
    order, width = np.empty(n_columns, np.int64), np.empty(n_columns, np.float64)
    stack = np.empty((128, 2), np.int64)
    place = 0
    for b in range(alpha.size):
        n_lists = first[b + 1] - first[b]
        stack[0, 0], stack[0, 1] = 0, alpha[b]
        top = 1
        while top > 0:
            top -= 1
            begin, end = stack[top, 0], stack[top, 1]
            if end - begin < 2:
                continue
            for a in range(n_columns):
                least[a] = greatest[a] = points[place + begin, a]
            for s in range(n_lists):
                for p in range(place + s * alpha[b] + begin, place + s * alpha[b] + end):
                    for a in range(n_columns):
                        code = points[p, a]
                        if code < least[a]:
                            least[a] = code
                        if code > greatest[a]:
                            greatest[a] = code
            columns_by_width(least, greatest, scale, order, width)
            if width[order[0]] <= 0:
                continue
            middle = (begin + end) >> 1
            for s in range(n_lists):
                list_begin = place + s * alpha[b]
                for p in range(list_begin + begin, list_begin + end):
                    key, used = np.int64(0), 0
                    for i in range(n_columns):
                        a = order[i]
                        used += bits[a]
                        if used > 62 or width[a] <= 0:
                            break
                        key = (key << bits[a]) | points[p, a]
                    keys[p] = key
                put_rank_in_place(keys, points, rows, list_begin + begin, list_begin + end, list_begin + middle)
            stack[top, 0], stack[top, 1] = begin, middle
            stack[top + 1, 0], stack[top + 1, 1] = middle, end
            top += 2
        place += n_lists * alpha[b]


@kernel
def box_loss(points, place, step, n_lists, scale):
    """The sum over columns of the scaled width of the box around `points[place + s * step]` for all lists s."""
    loss = 0.0
    for a in range(points.shape[1]):
        least = greatest = points[place, a]
        for s in range(1, n_lists):
            code = points[place + s * step, a]
            least, greatest = min(least, code), max(greatest, code)
        loss += (greatest - least) * scale[a]
    return loss


@kernel
def swap_places(points, rows, p, q):
    """Exchange two places."""
    rows[p], rows[q] = rows[q], rows[p]
    for a in range(points.shape[1]):
        points[p, a], points[q, a] = points[q, a], points[p, a]


@kernel
def swap_while_it_helps(first, alpha, points, rows, scale, stride):
    """One pass of exchanges between groups of a batch that lie `stride` places apart.

    Two groups exchange their rows of one list where that makes their boxes smaller in sum. Returns by how much
    the boxes of all groups became smaller.
    """
    gained, place = 0.0, 0
    for b in range(alpha.size):
        n_lists, step = first[b + 1] - first[b], alpha[b]
        for p in range(place, place + step - stride):
            q = p + stride
            loss = box_loss(points, p, step, n_lists, scale) + box_loss(points, q, step, n_lists, scale)
            for s in range(n_lists):
                swap_places(points, rows, p + s * step, q + s * step)
                swapped = box_loss(points, p, step, n_lists, scale) + box_loss(points, q, step, n_lists, scale)
                if swapped < loss:
                    gained += loss - swapped
                    loss = swapped
                else:
                    swap_places(points, rows, p + s * step, q + s * step)
        place += n_lists * step
    return gained
