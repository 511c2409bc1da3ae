# SPDX-License-Identifier: Apache-2.0
"""Every privacy property as its paper defines it, for one group at a time.

A group and the table are given as `Counter`: value -> rows. Shares are fractions, entropy is decided on whole
numbers, logarithms have 60 digits, and the earth mover's distance is found by moving earth.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

Cost = Callable[[int, int], Fraction]


def shares(rows: Counter[int]) -> dict[int, Fraction]:
    return {value: Fraction(count, rows.total()) for value, count in rows.items() if count}


def logarithm(number: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (Decimal(number.numerator) / Decimal(number.denominator)).ln()


def as_decimal(number: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal(number.numerator) / Decimal(number.denominator)


def is_k_anonymous(group: Counter[int], k: int) -> bool:
    return group.total() >= k


def is_alpha_k_anonymous(group: Counter[int], alpha: Fraction, k: int) -> bool:
    return group.total() >= k and all(share <= alpha for share in shares(group).values())


def is_frequency_diverse(group: Counter[int], l: Fraction) -> bool:
    return all(share <= 1 / l for share in shares(group).values())


def is_distinct_diverse(group: Counter[int], l: int) -> bool:
    return len(shares(group)) >= l


def is_entropy_diverse(group: Counter[int], l: Fraction) -> bool:
    """-sum p ln p >= ln l, both sides times n and as powers of e, both sides times the denominators."""
    n = group.total()
    left, right = n**n * l.denominator**n, l.numerator**n
    for count in group.values():
        right *= count**count  # 0 ** 0 is 1
    return left >= right


def is_recursively_diverse(group: Counter[int], c: Fraction, l: int) -> bool:
    r = sorted(group.values(), reverse=True)
    return r[0] < c * sum(r[l - 1 :])


def least_c(group: Counter[int], l: int) -> Fraction | float:
    """The c above which (c,l)-diversity holds."""
    r = sorted(group.values(), reverse=True)
    return Fraction(r[0], sum(r[l - 1 :])) if sum(r[l - 1 :]) else float("inf")


def keeps_delta_disclosure(group: Counter[int], table: Counter[int], delta: Fraction) -> bool:
    p, q = shares(group), shares(table)
    if set(p) != set(q):
        return False  # |ln 0| is below no delta
    return all(p[v] == q[v] or abs(logarithm(p[v] / q[v])) < as_decimal(delta) for v in q)


def keeps_relative_risk(group: Counter[int], table: Counter[int], times: Fraction, positive: Sequence[int]) -> bool:
    """No value, or none of those in `positive`, is more than so many times as frequent as in the table."""
    p, q = shares(group), shares(table)
    return all(p[v] <= times * q[v] for v in p if not positive or v in positive)


def is_basic_beta_like(group: Counter[int], table: Counter[int], beta: Fraction) -> bool:
    p, q = shares(group), shares(table)
    return all((p[v] - q[v]) / q[v] <= beta for v in p)


def is_enhanced_beta_like(group: Counter[int], table: Counter[int], beta: Fraction) -> bool:
    p, q = shares(group), shares(table)
    gains = {v: (p[v] - q[v]) / q[v] for v in p}
    return all(gains[v] <= beta and (gains[v] <= 0 or as_decimal(gains[v]) <= -logarithm(q[v])) for v in p)


def equal_cost(one: int, other: int) -> Fraction:
    return Fraction(int(one != other))


def ordered_cost(table: Counter[int]) -> Cost:
    ranks = {value: rank for rank, value in enumerate(sorted(shares(table)))}
    return lambda one, other: Fraction(abs(ranks[one] - ranks[other]), max(1, len(ranks) - 1))


def hierarchical_cost(chains: Sequence[Sequence[int]]) -> Cost:
    """From the chain of each value, from itself to the root: how high two chains first meet."""

    def cost(one: int, other: int) -> Fraction:
        meeting = next(level for level, (a, b) in enumerate(zip(chains[one], chains[other], strict=True)) if a == b)
        return Fraction(meeting, max(1, len(chains[one]) - 1))

    return cost


def is_close(group: Counter[int], table: Counter[int], t: Fraction, cost: Cost) -> bool:
    return earth_movers_distance(group, table, cost) <= t


def earth_movers_distance(group: Counter[int], table: Counter[int], cost: Cost) -> Fraction:
    """The least work that turns the group's shares into the table's: cheapest detours, one after the other."""
    values = sorted(shares(table))
    supply = {v: group[v] * table.total() for v in values}
    demand = {v: table[v] * group.total() for v in values}
    moved = {(a, b): 0 for a in values for b in values}
    while any(supply.values()):
        path = cheapest_path(values, supply, demand, moved, cost)
        sent = min(
            supply[path[0]], demand[path[-1]], *(moved[a, b] for b, a in zip(path[1:-1:2], path[2::2], strict=False))
        )
        supply[path[0]] -= sent
        demand[path[-1]] -= sent
        for step, (a, b) in enumerate(pairwise(path)):
            if step % 2 == 0:
                moved[a, b] += sent
            else:
                moved[b, a] -= sent
    work = sum(cost(a, b) * amount for (a, b), amount in moved.items())
    return work / (group.total() * table.total())


def cheapest_path(values, supply, demand, moved, cost) -> list[int]:
    """From a value with earth left to one that lacks some: to, back along a move already made, to, ..."""
    at_source = {v: (Fraction(0), [v]) for v in values if supply[v]}  # cost so far and way, standing where earth is
    at_target: dict[int, tuple[Fraction, list[int]]] = {}
    changed = True
    while changed:
        changed = False
        for a, (so_far, way) in list(at_source.items()):
            for b in values:
                if b not in at_target or so_far + cost(a, b) < at_target[b][0]:
                    at_target[b] = so_far + cost(a, b), [*way, b]
                    changed = True
        for b, (so_far, way) in list(at_target.items()):
            for a in values:
                if moved[a, b] and (a not in at_source or so_far - cost(a, b) < at_source[a][0]):
                    at_source[a] = so_far - cost(a, b), [*way, a]
                    changed = True
    return min((at_target[b] for b in values if demand[b] and b in at_target), key=lambda found: found[0])[1]
