# SPDX-License-Identifier: Apache-2.0
"""Mondrian as its docstring tells it, on plain lists: one group at a time, one row at a time."""

from collections.abc import Callable, Sequence

Row = tuple[int, ...]


def mondrian(
    rows: Sequence[Row],
    n_codes: Sequence[int],
    is_safe: Callable[[list[int]], bool],
    *,
    relaxed: bool,
    choose: str,
    unit: int,
    is_range: Sequence[bool],
) -> set[frozenset[int]]:
    """The groups, as sets of row positions; `is_safe` judges a list of row positions."""
    everyone = list(range(len(rows)))
    if relaxed:
        everyone.sort(key=lambda row: rows[row])
    final: set[frozenset[int]] = set()
    open_groups = [everyone]
    while open_groups:
        group = open_groups.pop()
        for column in order_of_columns(group, rows, n_codes, relaxed, choose, unit, is_range):
            parts = cut(group, rows, column, relaxed, unit)
            if parts and all(len(part) >= unit and is_safe(part) for part in parts):
                open_groups += parts
                break
        else:
            final.add(frozenset(group))
    return final


def order_of_columns(group, rows, n_codes, relaxed, choose, unit, is_range):
    present = {j: sorted({rows[row][j] for row in group}) for j in range(len(n_codes))}
    columns = [j for j in range(len(n_codes)) if len(present[j]) > 1]
    if choose == "widest":
        return sorted(columns, key=lambda j: -len(present[j]) / n_codes[j])

    def loss(column):
        parts = cut(group, rows, column, relaxed, unit)
        if not parts or min(map(len, parts)) < unit:
            return float("inf")
        return sum(len(part) * width(part, j) / (n_codes[j] - 1) for part in parts for j in columns)

    def width(part, j):
        codes = {rows[row][j] for row in part}
        return max(codes) - min(codes) if is_range[j] else len(codes) - 1

    return sorted(columns, key=lambda j: round(loss(j), 6))


def cut(group, rows, column, relaxed, unit):
    if relaxed:
        ordered = sorted(group, key=lambda row: rows[row][column])
        n_left = max(unit, unit * (len(group) // (2 * unit)))
        return [ordered[:n_left], ordered[n_left:]]
    present = sorted({rows[row][column] for row in group})
    best = None
    for bar in present[1:]:
        left = [row for row in group if rows[row][column] < bar]
        uneven = abs(2 * len(left) - len(group))
        if best is None or uneven < best[0]:
            best = uneven, left, [row for row in group if rows[row][column] >= bar]
    return [best[1], best[2]] if best else None
