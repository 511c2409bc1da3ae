# SPDX-License-Identifier: Apache-2.0
"""The matching of rows to lines against an oracle that tries every pair."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles.matching import most_true_lines
from overt.checks.matching import Boxes, match_rows, share_out
from overt.checks.reading import Readings
from overt.partition import Partition
from tables import table_of


def readings_of(sets):
    """Readings of one column from sets of codes."""
    runs = []
    for text, codes in enumerate(sets):
        for code in sorted(codes):
            if runs and runs[-1][0] == text and runs[-1][2] == code - 1:
                runs[-1][2] = code
            else:
                runs.append([text, code, code])
    first = np.searchsorted([text for text, _, _ in runs], np.arange(len(sets) + 1))
    least, greatest = (np.array([run[i] for run in runs], np.int32) for i in (1, 2))
    return Readings(first, least, greatest)


@st.composite
def worlds(draw, max_rows=9, max_code=4, max_value=1):
    """Rows, and lines in groups of sets: often true lines, so that near misses are as common as clear ones."""
    n_columns = draw(st.integers(1, 3))
    code = st.integers(0, max_code)
    rows = draw(
        st.lists(st.tuples(st.tuples(*[code] * n_columns), st.integers(0, max_value)), min_size=1, max_size=max_rows)
    )
    n_groups = draw(st.integers(1, 4))
    boxes = [[draw(st.sets(code)) for _ in range(n_columns)] for _ in range(n_groups)]
    group_of_line = draw(st.lists(st.integers(0, n_groups - 1), min_size=len(rows), max_size=len(rows)))
    is_true = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    values = draw(st.lists(st.integers(0, max_value), min_size=len(rows), max_size=len(rows)))
    for line, (codes, value) in enumerate(rows):
        if is_true[line]:
            values[line] = value
            for column, one in enumerate(codes):
                boxes[group_of_line[line]][column] |= {one}
    return rows, boxes, group_of_line, values


def match(rows, boxes, group_of_line, values):
    used = sorted(set(group_of_line))
    boxes, group_of_line = [boxes[g] for g in used], [used.index(g) for g in group_of_line]
    codes = list(zip(*(codes for codes, _ in rows), strict=True))
    table = table_of(codes, [value for _, value in rows], n_codes=[5] * len(codes))
    readings = [readings_of([box[column] for box in boxes]) for column in range(len(codes))]
    numbers = np.arange(len(used), dtype=np.int32)
    return match_rows(
        table,
        np.array([value for _, value in rows], np.int32),
        Partition(np.array(group_of_line, np.int32), len(used)),
        Boxes.of(readings, [numbers] * len(codes)),
        np.array(values, np.int32),
        2,
    )


@given(worlds())
def test_matching_agrees_with_trying_everything(world):
    rows, boxes, group_of_line, values = world
    lines = [(boxes[group], value) for group, value in zip(group_of_line, values, strict=True)]
    assert match(*world).n_matched == most_true_lines(rows, lines)


def test_a_long_chain_of_moves_is_found():
    n = 300
    rows = [((i,), 0) for i in range(n)]
    sets = [{i, (i + 1) % n} for i in range(n)]
    table = table_of([[codes[0] for codes, _ in rows]], [0] * n, n_codes=[n])
    numbers = np.arange(n, dtype=np.int32)
    zeros = np.zeros(n, np.int32)
    boxes = Boxes.of([readings_of(sets)], [numbers])
    found = match_rows(table, zeros, Partition(numbers.copy(), n), boxes, zeros, 1)
    assert (found.n_matched, found.n_with_choice) == (n, n)


def test_many_points_and_boxes_agree_with_the_oracle():
    rng = np.random.default_rng(7)
    n, n_groups = 400, 60
    codes = rng.integers(0, 12, (n, 3))
    group_of_line = rng.integers(0, n_groups, n)
    group_of_line[:n_groups] = np.arange(n_groups)
    values = rng.integers(0, 3, n)
    sets = [[set(codes[group_of_line == g, c].tolist()) for g in range(n_groups)] for c in range(3)]
    shown = values.copy()
    shown[:40] = rng.permutation(shown[:40])
    rows = [(tuple(codes[i].tolist()), int(values[i])) for i in range(n)]
    lines = [([sets[c][group_of_line[i]] for c in range(3)], int(shown[i])) for i in range(n)]
    table = table_of(list(codes.T), values, n_codes=[12] * 3)
    numbers = np.arange(n_groups, dtype=np.int32)
    found = match_rows(
        table,
        values.astype(np.int32),
        Partition(group_of_line.astype(np.int32), n_groups),
        Boxes.of([readings_of(column) for column in sets], [numbers] * 3),
        shown.astype(np.int32),
        3,
    )
    assert found.n_matched == most_true_lines(rows, lines)


def test_work_is_shared_out_in_ranges_that_cover_every_value():
    first_point = np.array([0, 5, 5, 6, 20, 21])
    for n_shares in range(1, 8):
        shares = share_out(first_point, n_shares)
        assert shares[0][0] == 0 and shares[-1][1] == 5
        assert all(one[1] == other[0] for one, other in pairwise(shares))
    assert share_out(np.array([0]), 4) == []
