# SPDX-License-Identifier: Apache-2.0
"""Cross-bucket generalization from its definitions, in plain Python and fractions. Slow on purpose.

A release is two lists of lists of row numbers, `groups` and `buckets`; `values[row]` is the sensitive value. The printed
algorithm is replayed with every random choice followed in all directions.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations


def breach(group, buckets, values):
    """q_G(s) for every value: the bucket of a member, then the value in it."""
    believed = defaultdict(Fraction)
    for bucket in buckets:
        inside = len(set(group) & set(bucket))
        for value, count in Counter(values[row] for row in bucket).items():
            if inside:
                believed[value] += Fraction(inside, len(group)) * Fraction(count, len(bucket))
    return dict(believed)


def box(group, quasi_identifiers, kinds):
    """What a group shows: least and greatest number, or the set of values."""
    shown = []
    for column, kind in zip(quasi_identifiers, kinds, strict=True):
        cells = [column[row] for row in group]
        shown.append((min(cells), max(cells)) if kind == "num" else frozenset(cells))
    return shown


def covers(shown, person, kinds):
    return all(
        cell[0] <= code <= cell[1] if kind == "num" else code in cell
        for cell, code, kind in zip(shown, person, kinds, strict=True)
    )


def matching_breach(person, groups, buckets, values, quasi_identifiers, kinds):
    """p(t, s) for every value, over the published records whose box contains a person's quasi-identifiers."""
    group_of_row = {row: g for g, group in enumerate(groups) for row in group}
    boxes = [box(group, quasi_identifiers, kinds) for group in groups]
    matches = [[row for row in bucket if covers(boxes[group_of_row[row]], person, kinds)] for bucket in buckets]
    total = sum(map(len, matches))
    believed = defaultdict(Fraction)
    for bucket, matching in zip(buckets, matches, strict=True):
        for value, count in Counter(values[row] for row in bucket).items():
            if matching:
                believed[value] += Fraction(len(matching) * count, total * len(bucket))
    return dict(believed)


def sum_bounds(n_certain, n_possible, numbers):
    """Least and greatest sum of any choice of m numbers of a bucket, certain <= m <= possible."""
    ordered = sorted(numbers)
    sizes = range(n_certain, n_possible + 1)
    return min(sum(ordered[:m]) for m in sizes), max(sum(ordered[len(ordered) - m :]) for m in sizes)


def largest_alpha(counts, beta, m):
    """The largest alpha by trying: the rest must be m-eligible or empty."""
    feasible = []
    for alpha in range(1, counts[beta - 1] + 1):
        rest = [count - alpha * (i < beta) for i, count in enumerate(counts)]
        if m * max(rest) <= sum(rest):
            feasible.append(alpha)
    return max(feasible, default=None)


class Coins:
    """Choices that are made in every possible way: `for weight, result in Coins.all(play)`."""

    def __init__(self, path):
        self.path, self.used, self.weight = path, 0, Fraction(1)

    def choose(self, options):
        if self.used == len(self.path):
            self.path.append([0, len(options)])
        chosen = options[self.path[self.used][0]]
        self.used += 1
        self.weight /= len(options)
        return chosen

    def shuffle(self, items):
        left, order = list(items), []
        while left:
            order.append(self.choose(left))
            left.remove(order[-1])
        return order

    @classmethod
    def all(cls, play):
        path = []
        while True:
            coins = cls(path)
            yield play(coins), coins.weight
            while path and path[-1][0] + 1 == path[-1][1]:
                path.pop()
            if not path:
                return
            path[-1][0] += 1


def printed_release(people, values, plan, k, coins, *, row, deal):
    """Algorithms 1, 3, 4 and 5 for a plan; people are tuples of numbers.

    `row` picks among rows of a value ("first" or "random"); `deal` orders a set before it is dealt ("sorted" by
    quasi-identifier, or "random" inside each group of the sorted set).
    """
    left = list(range(len(people)))
    spans = [max(p[a] for p in people) - min(p[a] for p in people) or 1 for a in range(len(people[0]))]
    groups, buckets = [], []
    for chosen, alpha in plan:
        for _ in range(alpha):
            rows = descend(people, values, left, chosen, spans)
            picked = []
            for value in chosen:
                alike = [r for r in rows if values[r] == value]
                picked.append(alike[0] if row == "first" else coins.choose(alike))
            left = [r for r in left if r not in picked]
            picked.sort(key=lambda r: people[r])
            runs, place = [], 0
            n_groups = len(picked) // k
            for g in range(n_groups):
                size = len(picked) // n_groups + (g < len(picked) % n_groups)
                runs.append(picked[place : place + size])
                place += size
            groups += runs
            dealt = [r for run in runs for r in (coins.shuffle(run) if deal == "random" else run)]
            buckets += [dealt[j::k] for j in range(k)]
    return groups, buckets


def descend(people, values, rows, chosen, spans):
    """Algorithm 3: keep the lower half if it has every value, else the upper, else drop the column."""
    columns = list(range(len(people[0])))
    while columns:
        widths = {
            a: Fraction(max(people[r][a] for r in rows) - min(people[r][a] for r in rows), spans[a]) for a in columns
        }
        column = max(columns, key=lambda a: widths[a])
        ordered = sorted(people[r][column] for r in rows)
        median = ordered[(len(ordered) - 1) // 2]
        lower, upper = [r for r in rows if people[r][column] <= median], [r for r in rows if people[r][column] > median]
        for half in (lower, upper):
            if lower and upper and set(chosen) <= {values[r] for r in half}:
                return descend(people, values, half, chosen, spans)
        columns.remove(column)
    return rows


def seen(groups, buckets, values):
    """All that an adversary sees who can also tell who is in which group."""
    group_of_row = {row: tuple(sorted(group)) for group in groups for row in group}
    shown = [
        (tuple(sorted(group_of_row[row] for row in bucket)), tuple(sorted(values[row] for row in bucket)))
        for bucket in buckets
    ]
    return tuple(sorted(shown))


def worst_posterior(values, outcomes):
    """The largest posterior over everything that can be seen; `outcomes(arrangement)` yields (seen, weight)."""
    weights = defaultdict(lambda: defaultdict(Fraction))
    for arrangement in sorted(set(permutations(values))):
        for shown, weight in outcomes(arrangement):
            for person, value in enumerate(arrangement):
                weights[shown][person, value] += weight
            weights[shown][None] += weight
    return max(of[key] / of[None] for of in weights.values() for key in of if key is not None)
