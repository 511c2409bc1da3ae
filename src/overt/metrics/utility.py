# SPDX-License-Identifier: Apache-2.0
"""Utility: everything a release cost, measured in one go. Columns are laid out once and shared by all metrics."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from overt.kernels.expected_counts import count_pairs
from overt.metrics.analysis import Prediction, mean_error, prediction
from overt.metrics.certainty_penalty import penalty_of_groups
from overt.metrics.discernibility import discernibility
from overt.metrics.distribution_divergence import MOST_CELLS, divergence, divergence_of_spread
from overt.metrics.entropy import entropy_of_spread
from overt.metrics.equal_rows import groups_as_seen
from overt.metrics.expected_counts import Expected, Spread, is_exact, spreads_of
from overt.metrics.group_size import average_group_size
from overt.metrics.precision import precision_of_column
from overt.metrics.rows_of_persons import by_rows
from overt.release import Release
from overt.table import Column, Kind, Role
from overt.threads import n_threads

Thing = TypeVar("Thing")
Returned = TypeVar("Returned")


@dataclass(frozen=True)
class ColumnUtility:
    """What became of one column. Losses and precision are None for a column whose values are published as they are."""

    name: str
    role: Role
    certainty_penalty: float | None
    non_uniform_entropy: float | None
    precision: float | None
    divergence: float  # bits between the distribution that the release suggests and the true one
    expected: Expected = field(repr=False, compare=False)  # (value) -> rows, as the release suggests


@dataclass(frozen=True)
class PairUtility:
    """What became of two columns together; `mean_error` if one is a number and the other a category."""

    columns: tuple[str, str]
    divergence: float
    mean_error: float | None


@dataclass(frozen=True)
class Utility:
    """What a release cost. Losses are 0 for nothing lost and 1 for everything; divergences are in bits.

    A suppressed row loses everything and is in no group; to discernibility it adds all rows of the table (as ARX has it).
    """

    average_group_size: float
    discernibility: int
    certainty_penalty: float
    non_uniform_entropy: float
    precision: float
    columns: tuple[ColumnUtility, ...]
    pairs: tuple[PairUtility, ...]
    pairs_left_out: tuple[tuple[str, str], ...]  # because they have too many combinations to count
    predictions: tuple[Prediction, ...]

    @property
    def marginal_divergence(self) -> float:
        """The mean over columns."""
        return _mean(column.divergence for column in self.columns)

    @property
    def pair_divergence(self) -> float:
        """The mean over pairs of columns."""
        return _mean(pair.divergence for pair in self.pairs)

    @property
    def mean_error(self) -> float | None:
        """The mean over all pairs of a number and a category; None if there is none."""
        errors = [pair.mean_error for pair in self.pairs if pair.mean_error is not None]
        return _mean(errors) if errors else None


def measure_utility(release: Release) -> Utility:
    """Everything that a release cost; where persons have several rows, of their rows.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> measure_utility(Mondrian(goal=KAnonymity(1)).anonymize(table)).certainty_penalty
    0.0
    """
    release = by_rows(release)
    table = release.table
    spreads = spreads_of(release)
    partition = groups_as_seen(release)
    columns = tuple(_each(lambda column: _measure_column(release, column, spreads[column.name]), table.columns))
    pairs, left_out = _measure_pairs(release, spreads)
    rng = np.random.default_rng(0)  # which rows learn and judge is no secret, and the same every time
    return Utility(
        average_group_size=float(average_group_size(partition)),
        discernibility=discernibility(partition) + release.n_suppressed * table.n_rows,
        certainty_penalty=_mean(c.certainty_penalty for c in columns if c.certainty_penalty is not None),
        non_uniform_entropy=_mean(c.non_uniform_entropy for c in columns if c.non_uniform_entropy is not None),
        precision=_mean(c.precision for c in columns if c.precision is not None),
        columns=columns,
        pairs=pairs,
        pairs_left_out=left_out,
        predictions=tuple(prediction(release, column, rng) for column in table.sensitive if column.n_values > 1),
    )


def _measure_column(release: Release, column: Column, spread: Spread) -> ColumnUtility:
    expected = column.total_of_value.astype(np.float64)
    if column.role is Role.SENSITIVE:
        return ColumnUtility(column.name, column.role, None, None, None, 0.0, expected)
    if is_exact(release, column):
        return ColumnUtility(column.name, column.role, 0.0, 0.0, 1.0, 0.0, expected)
    return ColumnUtility(
        column.name,
        column.role,
        penalty_of_spread(release, spread) / release.table.n_rows,
        entropy_of_spread(spread),
        precision_of_column(release, column),
        divergence_of_spread(spread),
        spread.rows_of_value,
    )


def penalty_of_spread(release: Release, spread: Spread) -> float:
    """The sum over rows of the certainty penalty of their cell, read off the spread where that shows it."""
    column = spread.column
    if column.kind is Kind.CATEGORY and column.hierarchy is None:  # a set: its members are counted already
        return float((spread.n_values_covered - 1) @ spread.sizes) / max(1, column.n_values - 1)
    boxes = np.stack([spread.least, spread.greatest], axis=1)[: release.n_groups]  # only numbers without missing ones
    return float(penalty_of_groups(column, release, boxes) @ release.partition.sizes) + release.n_suppressed


def _measure_pairs(
    release: Release, spreads: Mapping[str, Spread]
) -> tuple[tuple[PairUtility, ...], tuple[tuple[str, str], ...]]:
    pairs = list(_open_pairs(release))
    few = [(one, other) for one, other in pairs if one.n_values * other.n_values <= MOST_CELLS]
    left_out = [(one.name, other.name) for one, other in pairs if one.n_values * other.n_values > MOST_CELLS]
    measured = _each(lambda pair: _measure_pair(spreads[pair[0].name], spreads[pair[1].name]), few)
    return tuple(measured), tuple(left_out)


def _measure_pair(first: Spread, second: Spread) -> PairUtility:
    one, other = first.column, second.column
    actual: NDArray[np.int64] = count_pairs(one.codes, other.codes, one.n_values, other.n_values)
    expected = first.rows_of_pair(second)
    error = None
    if (one.kind is Kind.CATEGORY) != (other.kind is Kind.CATEGORY):
        number = other if one.kind is Kind.CATEGORY else one
        error = mean_error(actual, expected, other) if number is other else mean_error(actual.T, expected.T, one)
    return PairUtility((one.name, other.name), divergence(actual, expected), error)


def _open_pairs(release: Release) -> Iterator[tuple[Column, Column]]:
    """The pairs of columns that a release does not show together as they were."""
    for one, other in combinations(release.table.columns, 2):
        both_sensitive = one.role is other.role is Role.SENSITIVE
        both_exact = is_exact(release, one) and is_exact(release, other)
        if not (both_sensitive or both_exact):
            yield one, other


def _each(work: Callable[[Thing], Returned], things: Iterable[Thing]) -> list[Returned]:
    """Do some work on every thing, in threads: the loops release the interpreter lock."""
    with ThreadPoolExecutor(max_workers=n_threads()) as pool:
        return list(pool.map(work, things))


def _mean(numbers: "Iterator[float] | list[float]") -> float:
    listed = list(numbers)
    return float(sum(listed) / len(listed)) if listed else 0.0
