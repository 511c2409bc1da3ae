# SPDX-License-Identifier: Apache-2.0
"""Placing: does where somebody stands in a group say what they have? A look at methods that are claimed to be safe.

Paper       Not in a paper. It holds Theorems A and B of docs/theory/safety.md against runs of the method.
Implements  The sensitive values are dealt out anew at random, which is what the adversary takes for granted, and the method
            is run; several times. In every group the person who is first, last, nearest to or farthest from the middle, or
            at the lowest or highest row is looked at, and the value of the group that is most or least frequent in the
            table. If every value has its share for everybody, the person has it in as many groups as the shares add up to.
            Runs are independent, groups of a run need not be: means over runs are held against their spread.
Departs     nothing to depart from
Guarantee   A method whose posterior is the share passes but for chance. One that fails leaks; one that passes may leak
            elsewhere: twelve looks are not all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.posterior import Chances, crossed_shares, shares
from overt.adversary.replay.enumeration import Anonymizer, with_values
from overt.release import Release
from overt.table import Table

PLACES = ("first", "last", "nearest to the middle", "farthest from the middle", "lowest row", "highest row")
VALUES = ("most frequent", "least frequent")
RUNS = 40
MOST_ERRORS = 5  # of 40 runs and twelve looks, more than that is chance in 2 of 10,000 cases (Student's law)


@dataclass(frozen=True, eq=False)
class Placing:
    """What people at some places of their groups have more often than the shares of their groups let expect."""

    n_groups: int  # of all runs
    excess: Chances  # (run, place, value) -> share of groups in which the person there has it, less what is expected
    variance: Chances  # (run, value) -> what it would be if groups were independent

    @property
    def mean(self) -> Chances:
        """(place, value) -> the excess, over all runs."""
        mean: Chances = self.excess.mean(axis=0)
        return mean

    @property
    def error(self) -> Chances:
        """(place, value) -> the standard error of the excess: by the spread of runs, or as of independent groups if that is more."""
        n_runs = len(self.excess)
        spread, least = self.excess.std(axis=0, ddof=1) / np.sqrt(n_runs), np.sqrt(self.variance.sum(axis=0)) / n_runs
        error: Chances = np.maximum(spread, least)
        return error

    @property
    def largest(self) -> float:
        """The largest excess, up or down, in standard errors."""
        away = np.abs(self.mean)
        return float(np.divide(away, self.error, out=np.where(away > 0, np.inf, 0.0), where=self.error > 0).max())

    @property
    def is_blind(self) -> bool:
        """Whether chance explains what was seen."""
        return self.largest <= MOST_ERRORS

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "runs": len(self.excess),
            "groups": self.n_groups,
            "looks": self.mean.size,
            "largest_excess": float(np.abs(self.mean).max()),
            "standard_errors": self.largest,
        }


def place(method: Anonymizer, table: Table, *, rng: Generator, n_runs: int = RUNS) -> Placing:
    """Run a method on tables whose sensitive values are dealt out anew, and look at who has what.

    >>> import overt
    >>> frame = overt.samples.census(300)
    >>> table = overt.read_frame(frame, quasi_identifiers=["Age", "Education"], sensitive=["Occupation"])
    >>> place(overt.RDA(goal=overt.FrequencyLDiversity(3)), table, rng=np.random.default_rng(1)).is_blind
    True
    """
    column = table.the_sensitive("A look at places")
    releases = (
        method.anonymize(with_values(table, column, rng.permutation(column.codes)), rng=rng) for _ in range(n_runs)
    )
    found = [(release.n_groups, *excess_of(release, rng=rng)) for release in releases]
    sizes, excess, variance = zip(*found, strict=True)
    return Placing(sum(sizes), np.stack(excess), np.stack(variance))


def excess_of(release: Release, *, rng: Generator) -> tuple[Chances, Chances]:
    """(place, value) -> in which share of groups the person there has it, less what the shares of values let expect.

    And (value) -> the variance of that if groups were independent. Ties between people are broken by lot.
    """
    table, partition = release.table, release.partition
    column = table.the_sensitive("A look at places")
    posterior = crossed_shares(release.crossed(), column) if release.is_crossed else shares(partition, column)
    chance = posterior.chance[: partition.n_groups]
    value = _values(chance, column.total_of_value)  # (group, which)
    has = column.codes[_people(release, rng)][:, :, None] == value[:, None, :]  # (group, place, which)
    expected = np.take_along_axis(chance, value, axis=1)
    variance: Chances = (expected * (1 - expected)).sum(axis=0) / partition.n_groups**2
    return has.mean(axis=0) - expected.mean(axis=0), variance


def _values(chance: Chances, total: NDArray[np.int64]) -> NDArray[np.int64]:
    """(group, which) -> its value that is most, and least, frequent in the table."""
    is_there = chance > 0
    most = np.where(is_there, total, -1).argmax(axis=1)
    least = np.where(is_there, total, np.iinfo(np.int64).max).argmin(axis=1)
    return np.column_stack([most, least])


def _people(release: Release, rng: Generator) -> NDArray[np.int64]:
    """(group, place) -> the row that stands there."""
    table, partition = release.table, release.partition
    height = sum(
        (column.codes / max(1, column.n_values - 1) for column in table.quasi_identifiers), np.zeros(table.n_rows)
    )
    kept = partition.rows
    group, lot = partition.group_of_row[kept], rng.random(kept.size)
    mean = np.bincount(group, height[kept], partition.n_groups) / partition.sizes
    apart = np.abs(height[kept] - mean[group])
    first, last = partition.starts[:-1], partition.starts[1:] - 1
    places = []
    for order in (height[kept], apart, kept):
        ordered = kept[np.lexsort((lot, order, group))]
        places += [ordered[first], ordered[last]]
    return np.column_stack(places)
