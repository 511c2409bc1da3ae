# SPDX-License-Identifier: Apache-2.0
"""Metrics from their definitions, row by row and in fractions where that is possible; nothing here uses `overt`'s."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations


def allowed(form, codes, n_values, missing, leaves_of_ancestor):
    """The codes that the cell of a group with these codes allows."""
    present = set(codes)
    if form == "set":
        return present
    if form == "label":
        return leaves_of_ancestor(present)
    known = [code for code in present if code != missing]
    between = set(range(min(known), max(known) + 1)) if known else set()
    return between | ({missing} if missing in present else set())


def expected_rows(groups, cell_of_group):
    """{code: rows}: every group evenly over the codes that its cell allows."""
    rows = Counter()
    for group, cell in zip(groups, cell_of_group, strict=True):
        for code in cell:
            rows[code] += Fraction(len(group), len(cell))
    return rows


def expected_pairs(groups, cells, other_cells):
    """{(code, code): rows}: the two columns independent inside a group."""
    rows = Counter()
    for group, cell, other in zip(groups, cells, other_cells, strict=True):
        for one in cell:
            for two in other:
                rows[one, two] += Fraction(len(group), len(cell) * len(other))
    return rows


def divergence(actual, expected):
    n, m = sum(actual.values()), sum(expected.values())
    return sum(c / n * math.log2((c / n) / (expected[key] / m)) for key, c in actual.items())


def entropy_loss(column, groups, cells):
    """The bits lost, relative to publishing nothing."""
    total = Counter(column)
    lost = most = 0.0
    for group, cell in zip(groups, cells, strict=True):
        covered = sum(total[code] for code in cell)
        for row in group:
            lost += math.log2(covered / total[column[row]])
            most += math.log2(len(column) / total[column[row]])
    return lost / most if most > 0 else 0.0


def minimal_unique_sets(rows, n_columns, max_size):
    """[(row, columns)] of every minimal unique set, by looking at every set of every row."""

    def is_unique(row, columns):
        return sum(all(other[j] == row[j] for j in columns) for other in rows) == 1

    found = []
    for i, row in enumerate(rows):
        for size in range(1, max_size + 1):
            for columns in combinations(range(n_columns), size):
                smaller = [part for s in range(1, size) for part in combinations(columns, s)]
                if is_unique(row, columns) and not any(is_unique(row, part) for part in smaller):
                    found.append((i, columns))
    return found


def disclosure(values, groups):
    """(rows in groups of one value, the worst share, the share that the best guess gets right)."""
    certain, worst, right = 0, Fraction(0), 0
    for group in groups:
        counts = Counter(values[row] for row in group)
        most = max(counts.values())
        certain += len(group) if len(counts) == 1 else 0
        worst = max(worst, Fraction(most, len(group)))
        right += most
    return certain, worst, Fraction(right, len(values))


def expected_chance(f, share, n_terms=40_000):
    """E[1/F | f], term by term: F - f rows of the population that look alike were not drawn."""
    total, probability = 0.0, share**f
    for extra in range(n_terms):
        total += probability / (f + extra)
        probability *= (f + extra) / (extra + 1) * (1 - share)
    return total


def mean_errors(categories, numbers, groups, cells_of_category, cells_of_number, position):
    """By how much means by category are off, in standard deviations, weighed by rows."""
    pairs = expected_pairs(groups, cells_of_category, cells_of_number)
    n = len(numbers)
    mean = sum(position[c] for c in numbers) / n
    deviation = math.sqrt(sum((position[c] - mean) ** 2 for c in numbers) / n)
    error = 0.0
    for category, count in Counter(categories).items():
        there = [position[c] for c, k in zip(numbers, categories, strict=True) if k == category]
        weight = {two: float(w) for (one, two), w in pairs.items() if one == category}
        expected = sum(w * position[two] for two, w in weight.items()) / sum(weight.values())
        error += count * abs(expected - sum(there) / count)
    return error / n / deviation if deviation else 0.0
