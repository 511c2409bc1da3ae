# SPDX-License-Identifier: Apache-2.0
"""Disclosure sets straight from the definitions: tables are listed, runs are simulated, ratios are counted.

A world is (n_rows, functions as lists of groups, property, strategy). Properties and strategies are plain tuples:
("max_ratio", bound, strict), ("recursive", c, l), ("entropy", l), ("distinct", l), ("rows_at_risk", bound, n),
("personal", bounds); ("naive",), ("safe",), ("exclusive",), ("jump", (k1, k2, ...)).
"""

from fractions import Fraction
from itertools import permutations


def generalize(table, groups):
    return tuple(tuple(sorted(table[row] for row in group)) for group in groups)


def tables_with(table, groups):
    """per: all tables with the same generalization (Definition 1)."""
    partial = [{}]
    for group in groups:
        arrangements = set(permutations([table[row] for row in group]))
        partial = [{**rows, **dict(zip(group, values, strict=True))} for rows in partial for values in arrangements]
    return {tuple(rows[row] for row in range(len(table))) for rows in partial}


def ratios(tables):
    """Row by row, how often each value occurs among equally likely tables."""
    tables = list(tables)
    rows = []
    for row in range(len(tables[0])):
        column = [table[row] for table in tables]
        rows.append({value: Fraction(column.count(value), len(column)) for value in set(column)})
    return rows


def holds(prop, tables):
    kind, *given = prop
    rows = ratios(tables)
    if kind == "max_ratio":
        bound, strict = given
        return all(max(row.values()) < bound or (not strict and max(row.values()) == bound) for row in rows)
    if kind == "recursive":
        c, l = given
        ordered = [sorted(row.values(), reverse=True) for row in rows]
        return all(r[0] < c * sum(r[l - 1 :], Fraction(0)) for r in ordered)
    if kind == "entropy":
        return all(entropy_reaches(row, *given) for row in rows)
    if kind == "distinct":
        return all(len(row) >= given[0] for row in rows)
    if kind == "rows_at_risk":
        bound, n = given
        return sum(max(row.values()) > bound for row in rows) <= n
    if kind == "personal":
        return all(max(row.values()) <= bound for row, bound in zip(rows, given[0], strict=True))
    raise ValueError(kind)


def entropy_reaches(row, l):
    """prod p^-p >= l, raised to the common denominator to stay in whole numbers."""
    denominator = max(p.denominator for p in row.values())
    for p in row.values():
        while denominator % p.denominator:
            denominator *= p.denominator
    left = Fraction(1)
    for p in row.values():
        left /= p ** int(p * denominator)
    return left >= Fraction(l) ** denominator


class World:
    def __init__(self, functions, prop, strategy):
        self.functions, self.prop, self.strategy = functions, prop, strategy
        self.known = {}

    def per(self, table, step):
        return tables_with(table, self.functions[step - 1])

    def ds(self, table, step):
        """Definition 3: the tables of per whose own run reaches the step."""
        key = ("ds", step, generalize(table, self.functions[step - 1]))
        if key not in self.known:
            self.known[key] = {t for t in self.per(table, step) if step in self.steps(t, step)}
        return self.known[key]

    def p_per(self, table, step):
        key = ("p per", step, generalize(table, self.functions[step - 1]))
        if key not in self.known:
            self.known[key] = holds(self.prop, self.per(table, step))
        return self.known[key]

    def p_ds(self, table, step):
        key = ("p ds", step, generalize(table, self.functions[step - 1]))
        if key not in self.known:
            self.known[key] = holds(self.prop, self.ds(table, step))
        return self.known[key]

    def steps(self, table, until):
        """The steps a run visits, up to a step whose verdict is not needed."""
        visited, at = [], 1
        while at <= until:
            visited.append(at)
            if at == until:
                break
            _, at = self.step(table, at)
            if at is None:
                break
        return visited

    def step(self, table, at):
        """(path entries, next step or None when released)."""
        kind = self.strategy[0]
        n = len(self.functions)
        if kind == "naive":
            return [(at, 0)], None if self.p_per(table, at) else at + 1
        if kind == "safe":
            return [(at, 1)], None if self.p_ds(table, at) else at + 1
        if not self.p_per(table, at):
            return [(at, 0)], at + 1
        if self.p_ds(table, at):
            return [(at, 0), (at, 1)], None
        return [(at, 0), (at, 1)], n + 1 if kind == "exclusive" else at + self.strategy[1][at - 1]

    def run(self, table):
        """(released step or None, path)."""
        path, at = [], 1
        while at <= len(self.functions):
            entries, following = self.step(table, at)
            path += entries
            if following is None:
                return at, path
            at = following
        return None, path
