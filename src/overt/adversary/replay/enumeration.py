# SPDX-License-Identifier: Apache-2.0
"""Exact posteriors by enumeration: run the method on every table that could be, and keep those that give this release.

Small tables only, and any method, handed over as a value. What is seen of a release is who is in which group (and in
which bucket), and the sensitive values of each. This is the definition, and the reference for everything faster.

A method that draws random numbers is run once for every way its coins can fall: it is given a generator whose draws
are decided one after the other, depth first, and a table counts with the total probability of the runs that end
in the release. Draws from a continuum have no such list and are refused.
"""

import itertools
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import factorial, inf, prod
from typing import Any, Protocol

import numpy as np

from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import Posterior
from overt.adversary.replay.joint_values import JointValues
from overt.adversary.replay.scripted_coins import ScriptedCoins
from overt.adversary.replay.time_limit import OutOfTime
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.partition import Partition
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Column, Table

MAX_RUNS = 100_000
STAGE = "Trying every table"


class Anonymizer(Protocol):
    """What is asked of a method: to make a release of a table."""

    def anonymize(self, table: Table, *, rng: Any) -> Release:
        """Make a release of a table, or raise `Unreachable`."""


View = Callable[[Release], Hashable]


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
    method: Anonymizer,
    *,
    knowledge: Knowledge | None = None,
    seen: View = groups_seen,
    max_runs: int = MAX_RUNS,
    deadline: float = inf,
    on_progress: Progress = silent,
) -> Posterior:
    """The exact posterior of everybody, by running the method on every table that agrees with the release.

    `seen` says what the adversary sees of a release; two releases that look the same to them are the same. It
    must show at least the values of each group. Suppressed rows are not shown, and can have any values. After the `deadline`, a time of
    `time.perf_counter`, it is given up with `OutOfTime`.
    """
    knowledge, partition = knowledge or Knowledge(), release.value_groups
    values = values_of(release)
    column = values.column
    forbidden = knowledge.forbidden(column)
    n_tables = count_tables(partition, column)
    if n_tables > max_runs:
        raise TooLarge(f"{n_tables:.3g} tables agree with the release; enumeration goes up to {max_runs:,} runs.")
    what = seen(release)
    weights: dict[tuple[int, ...], Fraction] = {}
    n_runs = 0
    for number, codes in enumerate(tables_like(partition, column)):
        if time.perf_counter() > deadline:
            raise OutOfTime
        if number % 64 == 0:
            on_progress(STAGE, number, n_tables)
        if forbidden[np.arange(codes.size), codes].any():
            continue
        weight = Fraction(1)
        if knowledge.replays:
            table, weight = values.with_codes(release.table, codes), Fraction(0)
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
    return _posterior_of(weights, values)


def values_of(release: Release) -> JointValues:
    """The sensitive values that rows show together, and that move together: with any if some rows are hidden."""
    return JointValues.of(release.table.sensitive, any_tuple=release.value_groups.n_suppressed > 0)


def count_tables(partition: Partition, column: Column) -> int:
    """In how many ways the values of each group can be handed out inside it, and any values to suppressed rows."""
    kept = partition.group_of_row >= 0
    counts = np.zeros((partition.n_groups, column.n_values), np.int64)
    np.add.at(counts, (partition.group_of_row[kept], column.codes[kept]), 1)
    ways = (factorial(int(row.sum())) // prod(factorial(n) for n in row.tolist() if n > 1) for row in counts)
    return column.n_values**partition.n_suppressed * prod(ways)


def tables_like(partition: Partition, column: Column) -> Iterator[np.ndarray[Any, np.dtype[np.int32]]]:
    """Every column with the same values in each group, whatever values suppressed rows have."""
    groups = np.split(partition.rows, partition.starts[1:-1]) if partition.n_groups else []
    ways = [list(_arrangements(sorted(column.codes[group].tolist()))) for group in groups]
    if partition.n_suppressed:
        groups.append(np.flatnonzero(partition.group_of_row < 0).astype(np.int32))
        ways.append([list(one) for one in itertools.product(range(column.n_values), repeat=partition.n_suppressed)])
    for arrangement in itertools.product(*ways):
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


def runs(method: Anonymizer, table: Table) -> Iterator[tuple[Fraction, Release | None]]:
    """Every way a method can go on a table: its probability, and the release, or None if there is none."""
    coins: ScriptedCoins | None = ScriptedCoins(())
    while coins is not None:
        try:
            release: Release | None = method.anonymize(table, rng=coins)
        except Unreachable:
            release = None
        yield coins.chance, release
        coins = coins.following()


def _posterior_of(weights: dict[tuple[int, ...], Fraction], values: JointValues) -> Posterior:
    """Weighted counts of every row's values, exact until the last division."""
    column = values.column
    n_rows = column.codes.size
    sums = [[Fraction(0)] * column.n_values for _ in range(n_rows)]
    for codes, weight in weights.items():
        for row, value in enumerate(codes):
            sums[row][value] += weight
    total = sum(weights.values(), Fraction(0))
    chance = values.told(np.array([[float(part / total) for part in row] for row in sums]))
    return Posterior(np.arange(n_rows, dtype=np.int32), chance, np.zeros_like(chance), "enumeration", len(weights))
