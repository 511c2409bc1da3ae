# SPDX-License-Identifier: Apache-2.0
"""What a release of persons with several rows says, from the definition: all tables, all coins, fractions, plain Python.

A person's bundle is a text (a row is a letter) or a tuple of texts, one per sensitive column. A release is what is seen: groups of
persons, each with the bundles that it shows. `make(table, coins)` gives one, or None where a method refuses.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

from oracles.blind import EveryCoin


def tables_of(bundles, counts=None):
    """Every way to hand bundles to persons; with `counts`, a person's number of rows is known."""
    every = sorted(set(permutations(bundles)))
    return [t for t in every if counts is None or all(length(b) == n for b, n in zip(t, counts, strict=True))]


def length(bundle):
    return len(bundle if isinstance(bundle, str) else bundle[0])


def laws(make, tables):
    """(what is seen) -> (table) -> its probability."""
    law = defaultdict(lambda: defaultdict(Fraction))
    for table in tables:
        for seen, probability in EveryCoin.replay(lambda coins, table=table: make(table, coins)):
            if seen is not None:
                law[seen][table] += probability
    return law


def posterior(of_table, statement):
    """The probability of a statement about a table, all tables equally likely before."""
    return sum(w for table, w in of_table.items() if statement(table)) / sum(of_table.values())


def fits(table, seen):
    return all(Counter(table[p] for p in people) == Counter(shown) for people, shown in seen)


def is_strong(law, tables):
    """Whether every release is equally likely under all tables that fit it."""
    return all(len({of_table.get(t, 0) for t in tables if fits(t, seen)}) == 1 for seen, of_table in law.items())


def values_of(bundle):
    """(column, value) of every row."""
    columns = [bundle] if isinstance(bundle, str) else bundle
    return {(j, letter) for j, of_column in enumerate(columns) for letter in of_column}


def differences(law):
    """Every posterior of "x has bundle b", "x has v in any row" and "x has v in row j" that is not the share in the group of x."""
    wrong, n_asked = [], 0
    for seen, of_table in law.items():
        for people, shown in seen:
            bundles = set().union(*(table for table in of_table))
            values = set().union(*(values_of(bundle) for bundle in bundles))
            rows = {(j, letter) for b in bundles if isinstance(b, str) for j, letter in enumerate(b)}
            for x in people:
                asked = [(b, lambda held, b=b: held == b) for b in bundles]
                asked += [(v, lambda held, v=v: v in values_of(held)) for v in values]
                asked += [(r, lambda held, r=r: r[0] < len(held) and held[r[0]] == r[1]) for r in rows]
                for what, holds in asked:
                    n_asked += 1
                    believed = posterior(of_table, lambda table, x=x, holds=holds: holds(table[x]))
                    if believed != Fraction(sum(map(holds, shown)), len(shown)):
                        wrong.append((seen, x, what, believed))
    return wrong, n_asked


def any_certain(of_table, persons, statements):
    """Whether somebody is certain to be as one of the statements says, and was not before."""
    return any(posterior(of_table, lambda t, x=x, s=s: s(t[x])) == 1 for x in persons for s in statements)
