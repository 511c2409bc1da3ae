# SPDX-License-Identifier: Apache-2.0
"""Top-down splitting of rows by cuts of one column at a time.

Rows lie one after the other in `rows`, a group is a range of places, and `codes[column, place]` goes with
`rows[place]`. A cut of a group is (column, bar, n_left): the rows with codes below `bar` go left, and of
those at `bar` as many as it takes to make `n_left`, in the order in which they lie. A strict cut keeps the
order of the rows on both sides; a relaxed one leaves them sorted by the column that was cut.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel

STRICT, RELAXED = 0, 1
WIDEST, GAIN = 0, 1
RUN = 24  # up to this many codes an insertion sort beats everything


class Rule(NamedTuple):
    """What a cut is."""

    n_codes: Any  # (column)
    is_range: Any  # (column) -> whether it is published as a range
    unit: int  # the fewest rows of a half
    kind: int  # STRICT or RELAXED
    choice: int  # WIDEST or GAIN


class Scratch(NamedTuple):
    """Room to work in."""

    stamp: Any  # (2, column, code)
    counts: Any  # (code)
    order: Any  # (place)
    spare: Any  # (place)


class ValueLimits(NamedTuple):
    """Which halves satisfy the goal: of no sensitive column, all of them."""

    cap: Any  # (sensitive column, size of the half) -> the most rows of one value; -1: too few rows
    least: Any  # (sensitive column) -> the fewest different values
    n_values: Any  # (sensitive column)


class Side(NamedTuple):
    """Codes, sensitive values and rows; there are two sides, and a range lies on one of them."""

    codes: Any  # (column, place)
    values: Any  # (sensitive column, place), of the columns that the verdict looks at
    rows: Any  # (place)


class Found(NamedTuple):
    """Groups, as ranges of rows."""

    rows: Any  # (place)
    is_start: Any  # (place) -> whether a group begins here


class Pieces(NamedTuple):
    """Ranges that are left for other threads."""

    place: Any  # (piece, 3) -> begin, end, and 0 or 1 for its side
    distinct: Any  # (piece, column) -> at most so many different codes


@kernel
def count_distinct(codes, begin, end, stamp, mark):
    """How many different codes lie in a range; `stamp` holds no `mark` before, and needs no clearing."""
    n_distinct = 0
    for i in range(begin, end):
        code = codes[i]
        n_distinct += stamp[code] != mark
        stamp[code] = mark
    return n_distinct


@kernel
def sort_places(codes, begin, end, order, spare):
    """order[i]: the place (from `begin` on) of the i-th code of a sorted range, ties as they lie.

    Insertion in short runs, then merging runs of twice the length each time.
    """
    size = end - begin
    for run in range(0, size, RUN):
        for i in range(run, min(run + RUN, size)):
            j = i
            while j > run and codes[begin + order[j - 1]] > codes[begin + i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    length = RUN
    while length < size:
        for low in range(0, size, 2 * length):
            middle, high = min(low + length, size), min(low + 2 * length, size)
            left, right = low, middle
            for i in range(low, high):
                if right == high or (left < middle and codes[begin + order[left]] <= codes[begin + order[right]]):
                    spare[i] = order[left]
                    left += 1
                else:
                    spare[i] = order[right]
                    right += 1
        for i in range(size):
            order[i] = spare[i]
        length *= 2


@kernel
def count_range(codes, begin, end, n_codes, counts):
    """counts[c]: how often code c lies in a range."""
    for code in range(n_codes):
        counts[code] = 0
    for i in range(begin, end):
        counts[codes[i]] += 1


@kernel
def find_even_boundary(codes, begin, end, n_codes, counts, order, spare):
    """The boundary between two codes that halves a range most evenly, the lower of two equally even ones.

    Returns (bar, n_left): `n_left` codes are below `bar`; n_left = 0 if all codes are the same.
    """
    size = end - begin
    best_bar, best_left, least = 0, 0, size  # |2 n_left - size| of a true cut is below size
    if worth_counting(size, n_codes):
        count_range(codes, begin, end, n_codes, counts)
        n_left = 0
        for code in range(n_codes):
            if counts[code] and n_left:
                if abs(2 * n_left - size) < least:
                    best_bar, best_left, least = code, n_left, abs(2 * n_left - size)
                else:
                    break  # past the middle it only gets worse
            n_left += counts[code]
        return best_bar, best_left
    sort_places(codes, begin, end, order, spare)
    for i in range(1, size):
        code = codes[begin + order[i]]
        if code != codes[begin + order[i - 1]]:
            if abs(2 * i - size) < least:
                best_bar, best_left, least = np.int64(code), i, abs(2 * i - size)
            else:
                break
    return best_bar, best_left


@kernel
def worth_counting(size, n_codes):
    """Whether a pass over all codes costs less than sorting."""
    return size > RUN and n_codes <= 4 * size


@kernel
def find_cut(codes, begin, end, n_codes, unit, kind, counts, order, spare):
    """The cut of a range in one column: (bar, n_left), n_left = 0 if there is none.

    Strict: the most even boundary between two codes. Relaxed: the multiple of `unit` next below the middle,
    `bar` being the code there. Either way both sides hold at least `unit` rows.
    """
    size = end - begin
    if kind == STRICT:
        bar, n_left = find_even_boundary(codes, begin, end, n_codes, counts, order, spare)
    else:
        bar, n_left = 0, max(unit, size // (2 * unit) * unit)
    if n_left < unit or size - n_left < unit:
        return 0, 0
    if kind == RELAXED:
        find_sorted_order(codes, begin, end, n_codes, counts, order, spare)
        bar = np.int64(codes[begin + order[n_left]])
    return bar, n_left


@kernel
def find_sorted_order(codes, begin, end, n_codes, counts, order, spare):
    """order[i]: the place (from `begin` on) of the i-th code of a sorted range, ties as they lie."""
    if not worth_counting(end - begin, n_codes):
        sort_places(codes, begin, end, order, spare)
        return
    count_range(codes, begin, end, n_codes, counts)
    before = 0
    for code in range(n_codes):
        n_here = counts[code]
        counts[code] = before
        before += n_here
    for i in range(begin, end):
        order[counts[codes[i]]] = i - begin
        counts[codes[i]] += 1


@kernel
def order_by_cut(codes, begin, end, bar, n_left, n_codes, kind, counts, order, spare):
    """order[i]: which place (from `begin` on) comes i-th when a range is cut."""
    if kind == RELAXED:
        find_sorted_order(codes, begin, end, n_codes, counts, order, spare)
        return
    left, right = 0, n_left
    for i in range(begin, end):
        goes_left = codes[i] < bar  # no branch: half of the guesses would be wrong
        order[left if goes_left else right] = i - begin
        left += goes_left
        right += not goes_left


@kernel
def move(values, begin, end, order, moved):
    """Write the values of a range in the order given."""
    for i in range(end - begin):
        moved[begin + i] = values[begin + order[i]]


@kernel
def loss_of_halves(codes, begin, end, bar, n_left, cut_column, n_codes, is_range, stamp, mark):
    """What both sides of a cut would lose: rows times the share of each column that they cover, summed.

    The share of a column that is published as ranges is (greatest - least) / (codes - 1), of any other
    (distinct codes - 1) / (codes - 1).
    """
    size = end - begin
    below = 0
    for i in range(begin, end):
        below += codes[cut_column, i] < bar
    loss = 0.0
    for column in range(codes.shape[0]):
        if n_codes[column] < 2:
            continue
        ties_left = n_left - below
        distinct_left = distinct_right = 0
        least_left = least_right = n_codes[column]
        greatest_left = greatest_right = 0
        for i in range(begin, end):
            at = codes[cut_column, i]
            goes_left = at < bar
            if at == bar and ties_left > 0:
                goes_left = True
                ties_left -= 1
            code = np.int64(codes[column, i])
            if goes_left:
                distinct_left += stamp[0, column, code] != mark
                stamp[0, column, code] = mark
                least_left = min(least_left, code)
                greatest_left = max(greatest_left, code)
            else:
                distinct_right += stamp[1, column, code] != mark
                stamp[1, column, code] = mark
                least_right = min(least_right, code)
                greatest_right = max(greatest_right, code)
        if is_range[column]:
            wide_left, wide_right = greatest_left - least_left, greatest_right - least_right
        else:
            wide_left, wide_right = distinct_left - 1, distinct_right - 1
        loss += (n_left * wide_left + (size - n_left) * wide_right) / (n_codes[column] - 1)
    return loss


@kernel
def halves_satisfy(codes, values, begin, end, bar, n_left, verdict, counts):
    """Whether both halves of a cut satisfy the goal; `codes` are those of the column that is cut.

    `counts[half, value]` is zero before and after.
    """
    size = end - begin
    below = 0
    for i in range(begin, end):
        below += codes[i] < bar
    for column in range(values.shape[0]):
        cap, least = (verdict.cap[column, size - n_left], verdict.cap[column, n_left]), verdict.least[column]
        if cap[0] < 0 or cap[1] < 0:
            return False
        n_distinct_left = n_distinct_right = 0
        ties_left = n_left - below
        holds, last = True, end
        for i in range(begin, end):
            code = codes[i]
            goes_left = code < bar
            if code == bar and ties_left > 0:
                goes_left = True
                ties_left -= 1
            half = 1 if goes_left else 0
            n = counts[half, values[column, i]] + 1
            counts[half, values[column, i]] = n
            if n == 1:
                n_distinct_left += goes_left
                n_distinct_right += not goes_left
            if n > (cap[1] if goes_left else cap[0]):
                holds, last = False, i + 1
                break
        if last - begin > verdict.n_values[column]:
            counts[:, : verdict.n_values[column]] = 0
        else:
            for i in range(begin, last):
                counts[0, values[column, i]] = 0
                counts[1, values[column, i]] = 0
        if not holds or n_distinct_left < least or n_distinct_right < least:
            return False
    return True


@kernel
def choose_cut(codes, begin, end, distinct, is_exact, tried, rule, scratch, mark):
    """The cut of a group to try next: (column, bar, n_left), column = -1 if there is none left.

    WIDEST: columns in order of the share of their codes that the group covers, the first that can be cut.
    GAIN: of all columns, the cut whose halves lose least. Ties go to the column that comes first.
    `distinct` holds upper bounds from the parent, made exact here as needed. Columns that are turned down
    are marked in `tried`. `mark` must be new; up to 2 + 2 * columns marks from it on are used.
    """
    n_columns, n_codes, stamp = codes.shape[0], rule.n_codes, scratch.stamp
    if rule.choice == GAIN:
        return choose_least_loss(codes, begin, end, tried, rule, scratch, mark)
    while True:
        column, share = -1, 0.0
        for j in range(n_columns):
            if not tried[j] and distinct[j] > 1 and distinct[j] / n_codes[j] > share:
                column, share = j, distinct[j] / n_codes[j]
        if column < 0:
            return -1, 0, 0
        if not is_exact[column]:
            distinct[column] = count_distinct(codes[column], begin, end, stamp[0, column], mark)
            is_exact[column] = True
            continue
        tried[column] = True
        bar, n_left = find_cut(
            codes[column],
            begin,
            end,
            n_codes[column],
            rule.unit,
            rule.kind,
            scratch.counts,
            scratch.order,
            scratch.spare,
        )
        if n_left:
            return column, bar, n_left


@kernel
def choose_least_loss(codes, begin, end, tried, rule, scratch, mark):
    """Of the columns not tried yet, the cut whose halves lose least."""
    n_codes, stamp = rule.n_codes, scratch.stamp
    best_column, best_bar, best_left, least = -1, 0, 0, np.inf
    for column in range(codes.shape[0]):
        if tried[column]:
            continue
        mark += 1
        if count_distinct(codes[column], begin, end, stamp[0, column], mark) < 2:
            continue
        bar, n_left = find_cut(
            codes[column],
            begin,
            end,
            n_codes[column],
            rule.unit,
            rule.kind,
            scratch.counts,
            scratch.order,
            scratch.spare,
        )
        if n_left == 0:
            continue
        mark += 1
        loss = loss_of_halves(codes, begin, end, bar, n_left, column, n_codes, rule.is_range, stamp, mark)
        if loss < least - 1e-9:
            best_column, best_bar, best_left, least = column, bar, n_left, loss
    if best_column >= 0:
        tried[best_column] = True
    return best_column, best_bar, best_left


@kernel
def split(first, second, begin, end, distinct, rule, verdict, found, done, stop, piece_size, pieces):
    """Cut a range into groups until no cut leaves `rule.unit` rows on both sides and halves that satisfy the goal.

    The range lies on the first side, and a part of it on the one or the other. The groups come out in `found`.
    `done[0]` counts rows that have found their group; `stop[0]` set from another thread ends the work.
    Parts of at most `piece_size` rows are left for other threads, while there is room in `pieces`. Returns their number.
    """
    codes, values, rows = first
    spare_codes, spare_values, spare_rows = second
    ordered, is_start = found
    n_codes, unit, kind = rule.n_codes, rule.unit, rule.kind
    n_columns = codes.shape[0]
    most = 0
    for j in range(n_columns):
        most = max(most, n_codes[j])
    stamp = np.zeros((2, n_columns, most), np.int64)
    counts = np.empty(most, np.int64)
    order, spare = np.empty(end - begin, np.int32), np.empty(end - begin, np.int32)
    scratch = Scratch(stamp, counts, order, spare)
    most_values = 0
    for j in range(verdict.n_values.size):
        most_values = max(most_values, verdict.n_values[j])
    counts_of_halves = np.zeros((2, most_values), np.int32)
    tried = np.empty(n_columns, np.bool_)
    is_exact = np.empty(n_columns, np.bool_)
    # the smaller half is always taken first, so that the stack stays below log2(rows) + 2
    stack = np.empty((66, 3), np.int64)
    stack_distinct = np.empty((66, n_columns), np.int64)
    stack[0] = begin, end, 0
    stack_distinct[0] = distinct
    height = 1
    mark = 1
    current = np.empty(n_columns, np.int64)
    n_pieces = 0
    while height and not stop[0]:
        height -= 1
        low, high, side = stack[height]
        current[:] = stack_distinct[height]
        if high - low <= piece_size and n_pieces < len(pieces.place):
            pieces.place[n_pieces] = low, high, side
            pieces.distinct[n_pieces] = current
            n_pieces += 1
            continue
        here, there = (codes, spare_codes) if side == 0 else (spare_codes, codes)
        values_here, values_there = (values, spare_values) if side == 0 else (spare_values, values)
        rows_here, rows_there = (rows, spare_rows) if side == 0 else (spare_rows, rows)
        column, bar, n_left = -1, 0, 0
        if high - low >= 2 * unit:
            for j in range(n_columns):
                tried[j] = False
                is_exact[j] = False
            while True:
                column, bar, n_left = choose_cut(here, low, high, current, is_exact, tried, rule, scratch, mark)
                mark += 2 + 2 * n_columns
                if column < 0 or halves_satisfy(
                    here[column], values_here, low, high, bar, n_left, verdict, counts_of_halves
                ):
                    break
        if column < 0:
            is_start[low] = True
            for i in range(low, high):
                ordered[i] = rows_here[i]
            done[0] += high - low
            continue
        order_by_cut(here[column], low, high, bar, n_left, n_codes[column], kind, counts, order, spare)
        for j in range(n_columns):
            if current[j] > 1:  # a column with one code left is never looked at again
                move(here[j], low, high, order, there[j])
        for j in range(values_here.shape[0]):
            move(values_here[j], low, high, order, values_there[j])
        move(rows_here, low, high, order, rows_there)
        middle = low + n_left
        left_first = n_left <= high - middle
        stack[height] = (middle, high, 1 - side) if left_first else (low, middle, 1 - side)
        stack[height + 1] = (low, middle, 1 - side) if left_first else (middle, high, 1 - side)
        stack_distinct[height] = current
        stack_distinct[height + 1] = current
        height += 2
    return n_pieces


@kernel
def propose_cuts(codes, begins, ends, distinct, tried, rule, cuts):
    """For each group the next cut to try, in `cuts[group] = column, bar, n_left`; column -1 if none is left."""
    n_columns, n_codes = codes.shape[0], rule.n_codes
    most = 0
    longest = 0
    for j in range(n_columns):
        most = max(most, n_codes[j])
    for g in range(begins.size):
        longest = max(longest, ends[g] - begins[g])
    stamp = np.zeros((2, n_columns, most), np.int64)
    counts = np.empty(most, np.int64)
    scratch = Scratch(stamp, counts, np.empty(longest, np.int32), np.empty(longest, np.int32))
    is_exact = np.empty(n_columns, np.bool_)
    mark = 1
    for g in range(begins.size):
        for j in range(n_columns):
            is_exact[j] = False
        column, bar, n_left = -1, 0, 0
        if ends[g] - begins[g] >= 2 * rule.unit:
            column, bar, n_left = choose_cut(
                codes, begins[g], ends[g], distinct[g], is_exact, tried[g], rule, scratch, mark
            )
            mark += 2 + 2 * n_columns
        cuts[g, 0], cuts[g, 1], cuts[g, 2] = column, bar, n_left


@kernel
def order_by_cuts(codes, begins, ends, cuts, n_codes, kind, starts, order):
    """Which place comes i-th when group g is cut: `order[starts[g] + i]`."""
    most = 0
    for j in range(n_codes.size):
        most = max(most, n_codes[j])
    counts = np.empty(most, np.int64)
    longest = (ends - begins).max()
    places, spare = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for g in range(begins.size):
        column, bar, n_left = cuts[g]
        order_by_cut(codes[column], begins[g], ends[g], bar, n_left, n_codes[column], kind, counts, places, spare)
        for i in range(ends[g] - begins[g]):
            order[starts[g] + i] = begins[g] + places[i]
