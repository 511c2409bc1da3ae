# SPDX-License-Identifier: Apache-2.0
"""Exact posteriors by enumeration: run the method on every table that could be, and keep those that give this release.

Small tables only, and any method, handed over as a value. What is seen of a release is who is in which group (and in
which bucket), and the sensitive values of each. This is the definition, and the reference for everything faster.

A method that draws random numbers is run once for every way its coins can fall: it is given a generator whose draws
are decided one after the other, depth first, and a table counts with the total probability of the runs that end
in the release. Draws from a continuum have no such list and are refused.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import Any, Protocol

import numpy as np

from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import Posterior
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.partition import Partition
from overt.release import CrossBucketRelease, Release
from overt.table import Column, Table

MAX_RUNS = 100_000


class Method(Protocol):
    """What is asked of a method: to make a release of a table."""

    def anonymize(self, table: Table, *, rng: Any) -> Release:
        """Make a release of a table, or raise `Unreachable`."""


Seen = Callable[[Release], Hashable]


def groups_seen(release: Release) -> Hashable:
    """Who is with whom, and which values they have together."""
    witness = release.witness
    partitions = witness if isinstance(witness, tuple) else (witness,)
    return tuple(
        frozenset(
            (tuple(rows.tolist()), *(tuple(sorted(column.codes[rows].tolist())) for column in release.table.sensitive))
            for rows in np.split(partition.rows, partition.starts[1:-1])
        )
        for partition in partitions
    )


def enumerate_posterior(
    release: Release,
    method: Method,
    *,
    knowledge: Knowledge | None = None,
    seen: Seen = groups_seen,
    max_runs: int = MAX_RUNS,
) -> Posterior:
    """The exact posterior of everybody, by running the method on every table that agrees with the release.

    `seen` says what the adversary sees of a release; two releases of which he sees the same are the same to him. It
    must show at least the values of each group.
    """
    knowledge = knowledge or Knowledge()
    column = release.table.the_sensitive("An adversary")
    if release.n_suppressed:
        raise InvalidInput(
            f"{release.n_suppressed} rows are suppressed and their values are not published; enumeration needs a "
            "release of all rows."
        )
    forbidden = knowledge.forbidden(column)
    partition = release.buckets if isinstance(release, CrossBucketRelease) else release.partition
    n_tables = count_tables(partition, column)
    if n_tables > max_runs:
        raise TooLarge(f"{n_tables:.3g} tables agree with the release; enumeration goes up to {max_runs:,} runs.")
    what = seen(release)
    weights: dict[tuple[int, ...], Fraction] = {}
    n_runs = 0
    for codes in tables_like(partition, column):
        if forbidden[np.arange(codes.size), codes].any():
            continue
        weight = Fraction(1)
        if knowledge.replays:
            table, weight = with_values(release.table, column, codes), Fraction(0)
            for chance, other in runs(method, table):
                n_runs += 1
                if n_runs > max_runs:
                    raise TooLarge(f"The method can go more than {max_runs:,} ways on these tables; use fewer rows.")
                if other is not None and seen(other) == what:
                    weight += chance
        if weight:
            weights[tuple(codes.tolist())] = weight
    if not weights:
        raise InvalidInput("No table gives this release by this method; was it made by another one?")
    return _posterior_of(weights, column)


def count_tables(partition: Partition, column: Column) -> int:
    """In how many ways the values of each group can be handed out inside it."""
    counts = np.zeros((partition.n_groups, column.n_values), np.int64)
    np.add.at(counts, (partition.group_of_row, column.codes), 1)
    return prod(factorial(int(row.sum())) // prod(factorial(n) for n in row.tolist() if n > 1) for row in counts)


def tables_like(partition: Partition, column: Column) -> Iterator[np.ndarray[Any, np.dtype[np.int32]]]:
    """Every column with the same values in each group."""
    groups = np.split(partition.rows, partition.starts[1:-1])
    for arrangement in itertools.product(*(list(_arrangements(sorted(column.codes[g].tolist()))) for g in groups)):
        codes = np.empty(column.codes.size, np.int32)
        for rows, values in zip(groups, arrangement, strict=True):
            codes[rows] = values
        yield codes


def with_values(table: Table, column: Column, codes: np.ndarray[Any, np.dtype[np.int32]]) -> Table:
    """The same people with other sensitive values."""
    new = replace(column, codes=codes)
    return replace(table, columns=tuple(new if one is column else one for one in table.columns))


def _arrangements(values: Sequence[int]) -> Iterator[list[int]]:
    """Every different order of sorted values."""
    if not values:
        yield []
    for i, value in enumerate(values):
        if i == 0 or value != values[i - 1]:
            for rest in _arrangements([*values[:i], *values[i + 1 :]]):
                yield [value, *rest]


def runs(method: Method, table: Table) -> Iterator[tuple[Fraction, Release | None]]:
    """Every way a method can go on a table: its probability, and the release, or None if there is none."""
    falls: list[tuple[int, int]] = []  # how each coin fell, and of how many ways
    while True:
        coins = Coins(falls)
        try:
            release: Release | None = method.anonymize(table, rng=coins)
        except Unreachable:
            release = None
        falls = coins.falls
        yield Fraction(1, prod(ways for _, ways in falls)), release
        while falls and falls[-1][0] == falls[-1][1] - 1:
            falls.pop()
        if not falls:
            return
        falls[-1] = falls[-1][0] + 1, falls[-1][1]


class Coins:
    """A generator whose draws are decided beforehand, and otherwise fall on their first side."""

    def __init__(self, falls: Sequence[tuple[int, int]]) -> None:
        self.falls = list(falls)
        self.at = 0

    def _fall(self, ways: int) -> int:
        if ways == 1:
            return 0
        if self.at == len(self.falls):
            self.falls.append((0, ways))
        self.at += 1
        return self.falls[self.at - 1][0]

    def permutation(self, x: Any) -> Any:
        """As `Generator.permutation`, of a number or along the first axis."""
        items = np.arange(x) if isinstance(x, int | np.integer) else np.asarray(x)
        left, order = list(range(len(items))), []
        while left:
            order.append(left.pop(self._fall(len(left))))
        return items[order]

    def shuffle(self, x: Any) -> None:
        """As `Generator.shuffle`, in place."""
        x[:] = self.permutation(np.array(x))

    def integers(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:
        """As `Generator.integers`, without an end point."""
        low, high = (0, low) if high is None else (low, high)
        lows, highs = np.broadcast_arrays(low, high)
        if size is None and lows.ndim == 0:
            return int(low) + self._fall(int(high) - int(low))
        shape = lows.shape if size is None else size
        lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        drawn = [int(a) + self._fall(int(b) - int(a)) for a, b in zip(lows.ravel(), highs.ravel(), strict=True)]
        return np.array(drawn, np.int64).reshape(lows.shape)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """As `Generator.choice` with equal chances."""
        if p is not None:
            raise _no_list("choice with chances of its own")
        items = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        if size is None:
            return items[self._fall(len(items))]
        if replace:
            return items[self.integers(0, len(items), size)]
        left = list(range(len(items)))
        return items[[left.pop(self._fall(len(left))) for _ in range(int(size))]]

    def __getattr__(self, name: str) -> Any:
        raise _no_list(name)


def _no_list(draw: str) -> InvalidInput:
    return InvalidInput(
        f"The method draws random numbers by {draw!r}, whose outcomes cannot be listed one by one; enumeration knows "
        "permutation, shuffle, integers and choice."
    )


def _posterior_of(weights: dict[tuple[int, ...], Fraction], column: Column) -> Posterior:
    """Weighted counts of every row's values, exact until the last division."""
    n_rows = column.codes.size
    sums = [[Fraction(0)] * column.n_values for _ in range(n_rows)]
    for codes, weight in weights.items():
        for row, value in enumerate(codes):
            sums[row][value] += weight
    total = sum(weights.values(), Fraction(0))
    chance = np.array([[float(part / total) for part in row] for row in sums])
    return Posterior(np.arange(n_rows, dtype=np.int32), chance, np.zeros_like(chance), "enumeration", len(weights))
