# SPDX-License-Identifier: Apache-2.0
"""Following every row to the line that its owner says it became."""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.matching import is_covered


@kernel
def sketch_groups(codes, starts, missing, number_of_code):
    """(least, greatest, has missing, sketch): what the codes of each group look like, groups one after the other.

    Least and greatest leave out the code `missing` and are -1 if nothing else occurs; the sketch is the exclusive
    or of `number_of_code` over the distinct codes of the group.
    """
    n_groups = starts.size - 1
    least, greatest = np.full(n_groups, -1, np.int64), np.full(n_groups, -1, np.int64)
    has_missing = np.zeros(n_groups, np.bool_)
    sketch = np.zeros(n_groups, np.uint64)
    last_group_with = np.full(number_of_code.size, -1, np.int64)
    for g in range(n_groups):
        for i in range(starts[g], starts[g + 1]):
            code = np.int64(codes[i])
            if last_group_with[code] == g:
                continue
            last_group_with[code] = g
            sketch[g] ^= number_of_code[code]
            if code == missing:
                has_missing[g] = True
            elif least[g] < 0:
                least[g] = greatest[g] = code
            else:
                least[g] = min(least[g], code)
                greatest[g] = max(greatest[g], code)
    return least, greatest, has_missing, sketch


@kernel
def count_uncovered(codes, starts, reading_of_group, first_run, least, greatest):
    """How many codes, group after group, the reading of their group does not cover."""
    n_uncovered = 0
    for g in range(starts.size - 1):
        reading = reading_of_group[g]
        run = first_run[reading]
        if run + 1 == first_run[reading + 1]:
            for i in range(starts[g], starts[g + 1]):
                n_uncovered += codes[i] < least[run] or codes[i] > greatest[run]
        else:
            for i in range(starts[g], starts[g + 1]):
                n_uncovered += not is_covered(np.int32(codes[i]), reading, first_run, least, greatest)
    return n_uncovered


@kernel
def count_unpaired(rows, row_starts, value_of_row, lines, line_starts, value_of_line, n_values):
    """How many lines have no row of their own in the same group with the same value, and how many rows no line."""
    surplus = np.zeros(n_values, np.int64)
    n_lines_alone = n_rows_alone = 0
    for g in range(line_starts.size - 1):
        for i in range(line_starts[g], line_starts[g + 1]):
            surplus[value_of_line[lines[i]]] += 1
        for i in range(row_starts[g], row_starts[g + 1]):
            value = value_of_row[rows[i]]
            n_rows_alone += surplus[value] <= 0
            surplus[value] -= 1
        for i in range(line_starts[g], line_starts[g + 1]):
            value = value_of_line[lines[i]]
            n_lines_alone += max(surplus[value], 0)
            surplus[value] = 0
        for i in range(row_starts[g], row_starts[g + 1]):
            surplus[value_of_row[rows[i]]] = 0
    return n_lines_alone, n_rows_alone


@kernel
def are_lists_in_order(first, item):
    """Whether no list `item[first[i]:first[i + 1]]` comes before its predecessor in the order of a dictionary."""
    for one in range(first.size - 2):
        a, b = first[one], first[one + 1]
        while a < first[one + 1] and b < first[one + 2] and item[a] == item[b]:
            a += 1
            b += 1
        if a < first[one + 1] and (b == first[one + 2] or item[b] < item[a]):
            return False
    return True


@kernel
def hulls_of_covered(points, least, greatest):
    """(box, column) -> the least and the greatest code of the points inside each box; points are sorted by their first code."""
    n_boxes, n_columns = least.shape
    lowest, highest = greatest.copy(), least.copy()
    for box in range(n_boxes):
        first = np.searchsorted(points[:, 0], least[box, 0])
        n_open = 2 * n_columns
        is_any = False
        for point in range(first, len(points)):
            if points[point, 0] > greatest[box, 0] or n_open == 0:
                break
            is_inside = True
            for column in range(n_columns):
                code = points[point, column]
                if code < least[box, column] or code > greatest[box, column]:
                    is_inside = False
                    break
            if not is_inside:
                continue
            is_any = True
            n_open = 0
            for column in range(n_columns):
                code = points[point, column]
                lowest[box, column] = min(lowest[box, column], code)
                highest[box, column] = max(highest[box, column], code)
                n_open += (lowest[box, column] > least[box, column]) + (highest[box, column] < greatest[box, column])
        if not is_any:
            for column in range(n_columns):
                lowest[box, column], highest[box, column] = greatest[box, column], least[box, column]
    return lowest, highest
