# SPDX-License-Identifier: Apache-2.0
"""The streamliner's definitions, written again the slow way, and an adversary who replays methods.

Nothing here imports the package: methods come in as functions that are handed a table and a generator.
"""

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np


def set_partitions(items):
    """Every partition of a list, by putting the first item into every block of every partition of the rest."""
    if not items:
        yield []
        return
    for blocks in set_partitions(items[1:]):
        yield [[items[0]], *blocks]
        for i in range(len(blocks)):
            yield [*blocks[:i], [items[0], *blocks[i]], *blocks[i + 1 :]]


def least_discernibility(values, l):
    """By trying every partition whose groups have no value above 1/l; None if there is none."""
    found = [
        sum(len(group) ** 2 for group in partition)
        for partition in set_partitions(list(range(len(values))))
        if all(is_diverse([values[row] for row in group], l) for group in partition)
    ]
    return min(found, default=None)


def is_diverse(values, l):
    return l * max(Counter(values).values()) <= len(values)


def are_candidates(first, second, values):
    """By trying every bijection."""
    return (
        len(first) == len(second)
        and not set(first) & set(second)
        and any(
            all(values[a] != values[b] for a, b in zip(first, images, strict=True))
            for images in itertools.permutations(second)
        )
    )


def components(links):
    """Groups of rows that are linked, by growing each from a seed."""
    neighbours = defaultdict(set)
    for row, others in links.items():
        neighbours[row].add(row)
        for other in others:
            neighbours[row].add(other)
            neighbours[other].add(row)
    found, seen = [], set()
    for row in sorted(neighbours):
        if row not in seen:
            group, frontier = set(), {row}
            while frontier:
                group |= frontier
                frontier = set().union(*(neighbours[r] for r in frontier)) - group
            seen |= group
            found.append(sorted(group))
    return found


def best_alpha(counts, beta, m):
    """The largest a that leaves an m-eligible (or empty) rest, by trying all."""
    ordered = sorted(counts, reverse=True)
    best = None
    for a in range(1, ordered[beta - 1] + 1):
        rest = [c - a for c in ordered[:beta]] + ordered[beta:]
        if m * max(rest) <= sum(rest):
            best = a
    return best


def box_loss(groups, points, scale):
    return sum(
        sum(
            (max(column) - min(column)) * s
            for column, s in zip(zip(*(points[r] for r in g), strict=True), scale, strict=True)
        )
        for g in groups
    )


class Branches:
    """A generator whose every draw takes each of its outcomes once, in some run: `all_runs` replays them all.

    It knows the draws that the methods make: permutations, whole numbers below a bound, and numbers in [0, 1), for
    which a few points stand (any law of these draws that ignores the table is as good for what is tested).
    """

    POINTS = (0.2, 0.7)

    def __init__(self, script):
        self.script, self.taken, self.widths = script, 0, []

    def choose(self, n_outcomes):
        place = self.taken
        self.taken += 1
        self.widths.append(n_outcomes)
        return self.script[place] if place < len(self.script) else 0

    def permutation(self, items):
        left = list(range(items)) if isinstance(items, int | np.integer) else list(items)
        drawn = [left.pop(self.choose(len(left))) for _ in range(len(left))]
        return np.array(drawn, np.int64)

    def choice(self, items):
        return items[self.choose(len(items))]

    def integers(self, high):
        return self.choose(int(high))

    def random(self, shape):
        size = int(np.prod(shape))
        return np.array([self.POINTS[self.choose(len(self.POINTS))] for _ in range(size)]).reshape(shape)

    def shuffle(self, items):
        items[:] = items[self.permutation(items.size)]

    def permuted(self, rows, axis):
        assert axis == 1
        return np.stack([row[self.permutation(row.size)] for row in rows])


def all_runs(run):
    """Every result of `run(rng)` with the probability of its coins."""
    script = []
    while True:
        rng = Branches(script)
        result = run(rng)
        yield result, Fraction(1, product(rng.widths))
        taken = [*script, *[0] * (len(rng.widths) - len(script))][: len(rng.widths)]
        while taken and taken[-1] == rng.widths[len(taken) - 1] - 1:
            taken.pop()
        if not taken:
            return
        taken[-1] += 1
        script = taken


def product(numbers):
    total = 1
    for number in numbers:
        total *= number
    return total


def released(group_of_row, values):
    """What anyone who can place people in groups sees: who is with whom, and which values they share; nothing of group -1."""
    groups = defaultdict(list)
    for row, group in enumerate(group_of_row):
        groups[int(group)].append(row)
    return frozenset(
        (frozenset(rows), None if group < 0 else tuple(sorted(values[row] for row in rows)))
        for group, rows in groups.items()
    )


def fits(values, release):
    """Whether a table gives each group the values that a release shows."""
    return all(shown is None or tuple(sorted(values[row] for row in rows)) == shown for rows, shown in release)


def share_in_group(row, value, release):
    """How much of the group of a row has a value; None if its group is not shown."""
    shown = next(shown for rows, shown in release if row in rows)
    return None if shown is None else Fraction(shown.count(value), len(shown))


def tables_like(values):
    return sorted(set(itertools.permutations(values)))


def law_of(group, values, runs=None):
    """(release) -> (table) -> its probability, over all tables with these values and all coins; exact.

    `group(values, rng)` gives the group of every row, or None if the method refuses or gets stuck.
    """
    law = defaultdict(lambda: defaultdict(Fraction))
    for table in tables_like(values):
        for group_of_row, chance in (runs or all_runs)(lambda rng, table=table: group(table, rng)):
            if group_of_row is not None:
                law[released(group_of_row, table)][table] += chance
    return law


def worst_posterior(group, values):
    """The largest belief of someone who knows the method, over all tables, coins and releases."""
    return max(belief for tables in law_of(group, values).values() for belief in beliefs(tables).values())


def beliefs(weight_of_table):
    total = sum(weight_of_table.values())
    belief = defaultdict(Fraction)
    for table, weight in weight_of_table.items():
        for row, value in enumerate(table):
            belief[row, value] += weight / total
    return belief


def sampled_excess(group, values, l, n_runs, rng):
    """How many standard errors the sampled belief in any (row, value) lies above 1/l, at worst.

    Tables are drawn uniformly and the method run once on each. For every release that came up often enough the
    share of runs in which a row had a value is compared with 1/l.
    """
    tables = tables_like(values)
    runs = defaultdict(Counter)
    for _ in range(n_runs):
        table = tables[rng.integers(len(tables))]
        group_of_row = group(table, rng)
        if group_of_row is not None:
            runs[released(group_of_row, table)][table] += 1
    worst = float("-inf")
    for tables_of_release in runs.values():
        n = sum(tables_of_release.values())
        if n < 50:
            continue
        for share in beliefs(tables_of_release).values():
            error = max((1 / l * (1 - 1 / l) / n) ** 0.5, 1e-9)
            worst = max(worst, (float(share) - 1 / l) / error)
    return worst
