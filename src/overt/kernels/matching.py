# SPDX-License-Identifier: Apache-2.0
"""Maximum matching of points to seats in boxes, without writing down which point fits which box.

A point is a distinct row: its codes, its value, and how many rows are alike (its supply). A seat is a group
together with one value that the group shows, and how often it shows it (its capacity). A point may take a
seat of its own value whose group covers its codes in every column. Values never mix, so each is solved by
itself: a tree over the boxes of its seats finds the seats of a point, points that fit one seat take it,
and the rest is decided by augmenting paths (Pothen and Fan's order: in one phase no seat is tried twice).
Memory is linear in points and seats even where every box covers every point.
"""

import numpy as np

from overt.kernels.compiler import kernel

LEAF = 4  # seats in a leaf of the tree: below this a scan is faster than another level
SAMPLE = 64  # boxes that are looked at to choose where a node is cut
UNREACHED, DONE = 0, -1  # levels of a seat that no search has met, and of one that this phase needs no more
POINT, AMOUNT, NEXT, BEFORE = 0, 1, 2, 3  # of an entry: who sits there, how many, and its neighbours in the list
FLOW, SEAT, FOLLOWING = 1, 2, 3  # of a step of a path, after its POINT: how it was reached, and where it leads


@kernel
def is_covered(code, reading, first_run, least, greatest):
    """Whether a code lies in one of the runs of a reading (ascending, apart)."""
    low, high = first_run[reading], first_run[reading + 1]
    while low < high:
        middle = (low + high) // 2
        if greatest[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low < first_run[reading + 1] and least[low] <= code


@kernel
def put_median_in_place(order, key, begin, end, middle):
    """Reorder `order[begin:end]` so that what belongs at `middle` by key is there, lesser keys before it."""
    low, high = begin, end - 1
    while low < high:
        pivot = key[order[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while key[order[i]] < pivot:
                i += 1
            while key[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def find_cut(sample, n, box_least, box_greatest, key):
    """The column in which boxes, cut in two at their median centre, overlap least; -1 if no cut parts them.

    Counted is for how many centres each side would have to be searched.
    """
    cut, fewest = -1, 2 * n
    middle = n // 2
    for c in range(box_least.shape[1]):
        for i in range(n):
            key[sample[i]] = box_least[sample[i], c] + box_greatest[sample[i], c]
        put_median_in_place(sample, key, 0, n, middle)
        end_of_left, begin_of_right = box_greatest[sample[0], c], box_least[sample[n - 1], c]
        for i in range(middle):
            end_of_left = max(end_of_left, box_greatest[sample[i], c])
        for i in range(middle, n):
            begin_of_right = min(begin_of_right, box_least[sample[i], c])
        n_searched = 0
        for i in range(n):
            n_searched += key[sample[i]] <= 2 * end_of_left
            n_searched += key[sample[i]] >= 2 * begin_of_right
        if n_searched < fewest:
            cut, fewest = c, n_searched
    return cut


@kernel
def grow_tree(group_at, n, box_least, box_greatest, tree, key, stack):
    """A balanced tree over the boxes of the groups `group_at[:n]`, which it reorders; returns its number of nodes.

    Node i has the children 2i and 2i + 1. It is cut at the median centre of the column that is best for a sample.
    """
    bounds, leaf, leaf_at = tree
    sample = np.empty(SAMPLE, np.int64)
    n_nodes = 2
    stack[0, 0], stack[0, 1], stack[0, 2] = 1, 0, n
    top = 1
    while top > 0:
        top -= 1
        node, begin, end = stack[top, 0], stack[top, 1], stack[top, 2]
        n_nodes = max(n_nodes, node + 1)
        for c in range(box_least.shape[1]):
            lowest = box_least[group_at[begin], c]
            highest = box_greatest[group_at[begin], c]
            for i in range(begin, end):
                lowest = min(lowest, box_least[group_at[i], c])
                highest = max(highest, box_greatest[group_at[i], c])
            bounds[node, 0, c], bounds[node, 1, c] = lowest, highest
        if end - begin <= LEAF:
            leaf[node, 0], leaf[node, 1] = begin, end
            for i in range(begin, end):
                leaf_at[i] = node
            continue
        leaf[node, 1] = -1  # not a leaf
        n_sample = min(end - begin, SAMPLE)
        for i in range(n_sample):
            sample[i] = group_at[begin + i * (end - begin) // n_sample]
        cut = find_cut(sample, n_sample, box_least, box_greatest, key)
        middle = (begin + end) // 2
        if cut >= 0:
            for i in range(begin, end):
                key[group_at[i]] = box_least[group_at[i], cut] + box_greatest[group_at[i], cut]
            put_median_in_place(group_at, key, begin, end, middle)
        stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node, begin, middle
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = 2 * node + 1, middle, end
        top += 2
    return n_nodes


@kernel
def bit_of(level):
    """The bit of a level in the set of levels that a node keeps; high levels share the last one."""
    return np.uint64(0) if level == DONE else np.uint64(1) << np.uint64(min(level, 63))


@kernel
def note_levels(level_at, n, n_nodes, levels_below, leaf_at):
    """levels_below[i]: the set of levels of the seats below node i."""
    for node in range(n_nodes):
        levels_below[node] = 0
    for place in range(n):
        levels_below[leaf_at[place]] |= bit_of(level_at[place])
    for node in range(n_nodes - 1, 1, -1):
        levels_below[node // 2] |= levels_below[node]


@kernel
def set_level(place, level, level_at, levels_below, tree):
    """Give a seat another level, and tell the nodes above it."""
    _, leaf, leaf_at = tree
    level_at[place] = level
    node = leaf_at[place]
    levels = np.uint64(0)
    for i in range(leaf[node, 0], leaf[node, 1]):
        levels |= bit_of(level_at[i])
    while levels_below[node] != levels:
        levels_below[node] = levels
        if node == 1:
            return
        levels |= levels_below[node ^ 1]
        node //= 2


@kernel
def box_covers(group, point, boxes):
    """Whether the box of a group covers a point: the hull in every column, and the runs where it has gaps."""
    box_least, box_greatest, box_is_full, reading_of_box, first_run, least, greatest = boxes
    for c in range(point.size):
        if point[c] < box_least[group, c] or point[c] > box_greatest[group, c]:
            return False
    if not box_is_full[group]:
        for c in range(point.size):
            if not is_covered(point[c], reading_of_box[group, c], first_run, least, greatest):
                return False
    return True


@kernel
def find_seats(point, level, found, level_at, levels_below, group_at, boxes, tree, stack):
    """Places of a level whose boxes cover the point, as many as `found` holds; returns how many."""
    bounds, leaf, _ = tree
    wanted = bit_of(level)
    n_found = 0
    stack[0, 0] = 1
    top = 1
    while top > 0:
        top -= 1
        node = stack[top, 0]
        if levels_below[node] & wanted == 0:
            continue
        inside = True
        for c in range(point.size):
            if point[c] < bounds[node, 0, c] or point[c] > bounds[node, 1, c]:
                inside = False
                break
        if not inside:
            continue
        if leaf[node, 1] < 0:
            stack[top, 0], stack[top + 1, 0] = 2 * node, 2 * node + 1
            top += 2
            continue
        for place in range(leaf[node, 0], leaf[node, 1]):
            if level_at[place] == level and box_covers(group_at[place], point, boxes):
                found[n_found] = place
                n_found += 1
                if n_found == found.size:
                    return n_found
    return n_found


@kernel
def sit_down(point, place, amount, flows):
    """Write down that `amount` rows of a point take a seat."""
    head, entry, spare = flows
    flow = spare[spare[0]]  # spare[0] counts the unused entries, which follow it
    spare[0] -= 1
    entry[flow, POINT], entry[flow, AMOUNT] = point, amount
    entry[flow, BEFORE], entry[flow, NEXT] = -1, head[place]
    if head[place] >= 0:
        entry[head[place], BEFORE] = flow
    head[place] = flow


@kernel
def stand_up(flow, place, amount, flows):
    """Take `amount` rows away from an entry of a seat, and the entry if nothing is left of it."""
    head, entry, spare = flows
    entry[flow, AMOUNT] -= amount
    if entry[flow, AMOUNT] > 0:
        return
    before, following = entry[flow, BEFORE], entry[flow, NEXT]
    if before >= 0:
        entry[before, NEXT] = following
    else:
        head[place] = following
    if following >= 0:
        entry[following, BEFORE] = before
    spare[0] += 1
    spare[spare[0]] = flow


@kernel
def lay_out_levels(n, n_nodes, codes, standing, free, level_of_point, level_at, levels_below, queue, flows, group_at,
                   boxes, tree, stack):  # fmt: skip
    """Search from all standing points at once, level by level, to the first level with a free seat, if there is one.

    A seat of level d + 1 covers a point of level d; who sits there is of level d + 1 too.
    """
    head, entry, _ = flows
    found = np.empty(64, np.int64)
    for place in range(n):
        level_at[place] = UNREACHED
    note_levels(level_at, n, n_nodes, levels_below, tree[2])
    n_queued = 0
    for p in range(standing.size):
        level_of_point[p] = 0 if standing[p] > 0 else DONE
        if standing[p] > 0:
            queue[n_queued] = p
            n_queued += 1
    level = begin = 0
    is_reached = False
    while begin < n_queued and not is_reached:
        end = n_queued
        for i in range(begin, end):
            n_found = found.size
            while n_found == found.size:
                n_found = find_seats(
                    codes[queue[i]], UNREACHED, found, level_at, levels_below, group_at, boxes, tree, stack
                )
                for j in range(n_found):
                    place = found[j]
                    set_level(place, level + 1, level_at, levels_below, tree)
                    if free[place] > 0:
                        is_reached = True
                    flow = head[place]
                    while flow >= 0:
                        point = entry[flow, POINT]
                        if level_of_point[point] == DONE:
                            level_of_point[point] = level + 1
                            queue[n_queued] = point
                            n_queued += 1
                        flow = entry[flow, NEXT]
        begin = end
        level += 1
    if is_reached:
        for place in range(n):  # on the last level only free seats lead anywhere
            if level_at[place] == UNREACHED or (level_at[place] == level and free[place] == 0):
                level_at[place] = DONE
        note_levels(level_at, n, n_nodes, levels_below, tree[2])
    return is_reached


@kernel
def augment(start, codes, standing, free, level_of_point, level_at, levels_below, path, flows, group_at, boxes, tree,
            stack):  # fmt: skip
    """Seat rows of a standing point, moving others along a shortest path; returns how many sat down."""
    head, entry, _ = flows
    found = np.empty(1, np.int64)
    depth = 0
    path[0, POINT], path[0, FOLLOWING] = start, -1
    while depth >= 0:
        flow = path[depth, FOLLOWING]
        while flow >= 0 and level_of_point[entry[flow, POINT]] != depth + 1:
            flow = entry[flow, NEXT]
        if flow >= 0:
            path[depth, FOLLOWING] = entry[flow, NEXT]
            depth += 1
            path[depth, POINT], path[depth, FLOW], path[depth, FOLLOWING] = entry[flow, POINT], flow, -1
            level_of_point[entry[flow, POINT]] = DONE
            continue
        point = codes[path[depth, POINT]]
        if not find_seats(point, depth + 1, found, level_at, levels_below, group_at, boxes, tree, stack):
            depth -= 1
            continue
        place = found[0]
        path[depth, SEAT] = place
        if free[place] == 0:
            set_level(place, DONE, level_at, levels_below, tree)
            path[depth, FOLLOWING] = head[place]
            continue
        amount = min(standing[start], free[place])
        for d in range(1, depth + 1):
            amount = min(amount, entry[path[d, FLOW], AMOUNT])
        free[place] -= amount
        if free[place] == 0:
            set_level(place, DONE, level_at, levels_below, tree)
        standing[start] -= amount
        for d in range(1, depth + 1):
            stand_up(path[d, FLOW], path[d - 1, SEAT], amount, flows)
        for d in range(depth + 1):
            sit_down(path[d, POINT], path[d, SEAT], amount, flows)
        return amount
    return 0


@kernel
def seat_points(codes, standing_of_point, first_point, group_of_seat, capacity, first_seat, boxes):
    """Seat as many rows as can be, leaving in `standing_of_point` who finds no seat; returns how many had a choice.

    Points and seats lie value by value: value v has the points `first_point[v]:first_point[v + 1]` of
    `codes` (point, column) and the seats `first_seat[v]:first_seat[v + 1]`. Boxes are those of groups: hulls,
    whether the hull is all, and for each column a reading, whose runs follow.
    """
    box_least, box_greatest = boxes[0], boxes[1]
    n_groups, n_columns = box_least.shape
    most_points = most_seats = most_rows = 0
    for v in range(first_point.size - 1):
        most_points = max(most_points, first_point[v + 1] - first_point[v])
        most_seats = max(most_seats, first_seat[v + 1] - first_seat[v])
        n_rows = 0
        for p in range(first_point[v], first_point[v + 1]):
            n_rows += standing_of_point[p]
        most_rows = max(most_rows, n_rows)

    n_nodes = 2
    while n_nodes < most_seats:  # a leaf has 2 seats or more, unless it is the root
        n_nodes *= 2
    tree = (
        np.empty((n_nodes, 2, n_columns), np.int32),
        np.empty((n_nodes, 2), np.int64),
        np.empty(most_seats, np.int64),
    )
    levels_below = np.empty(n_nodes, np.uint64)
    group_at, free, level_at = (
        np.empty(most_seats, np.int64),
        np.empty(most_seats, np.int64),
        np.empty(most_seats, np.int64),
    )
    flows = (
        np.empty(most_seats, np.int64),
        np.empty((most_rows, 4), np.int64),
        np.empty(most_rows + 1, np.int64),
    )
    head, spare = flows[0], flows[2]
    path = np.empty((most_points + 1, 4), np.int64)
    level_of_point, queue = np.empty(most_points, np.int64), np.empty(most_points, np.int64)
    stack = np.empty((128, 3), np.int64)
    found = np.empty(2, np.int64)
    key = np.empty(n_groups, np.int64)
    capacity_of_group = np.zeros(n_groups, np.int64)
    n_with_choice = 0

    for v in range(first_point.size - 1):
        begin, end = first_point[v], first_point[v + 1]
        n = first_seat[v + 1] - first_seat[v]
        if n == 0 or begin == end:
            continue
        standing = standing_of_point[begin:end]
        for i in range(n):
            seat = first_seat[v] + i
            group_at[i] = group_of_seat[seat]
            capacity_of_group[group_of_seat[seat]] = capacity[seat]
        n_nodes = grow_tree(group_at, n, box_least, box_greatest, tree, key, stack)
        for i in range(n):
            free[i] = capacity_of_group[group_at[i]]
            level_at[i] = UNREACHED
        note_levels(level_at, n, n_nodes, levels_below, tree[2])

        n_rows_with_choice = 0
        for p in range(end - begin):
            point = codes[begin + p]
            n_found = find_seats(point, UNREACHED, found, level_at, levels_below, group_at, boxes, tree, stack)
            if n_found == 2:
                n_rows_with_choice += standing[p]
            elif n_found == 1:
                amount = min(standing[p], free[found[0]])
                free[found[0]] -= amount
                standing[p] -= amount
        n_with_choice += n_rows_with_choice
        if n_rows_with_choice == 0:
            continue

        for i in range(n):
            head[i] = -1
        spare[0] = n_rows_with_choice
        for i in range(n_rows_with_choice):
            spare[i + 1] = i
        while lay_out_levels(
            n, n_nodes, codes[begin:end], standing, free, level_of_point, level_at, levels_below, queue, flows,
            group_at, boxes, tree, stack,
        ):  # fmt: skip
            for p in range(end - begin):
                amount = 1
                while amount > 0 and standing[p] > 0:
                    amount = augment(
                        p, codes[begin:end], standing, free, level_of_point, level_at, levels_below, path, flows,
                        group_at, boxes, tree, stack,
                    )  # fmt: skip
    return n_with_choice
