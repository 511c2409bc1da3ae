# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""The analyst's results: whether someone who works with the release instead of the data finds the same.

Two questions that analysts ask. *Group means*: the mean of a number by category, for every number and every category
of the table. *Prediction*: a logistic regression learnt from the release, judged on rows of the original that it has
not seen, beside one learnt from the original (K. LeFevre, D. DeWitt, R. Ramakrishnan, "Workload-Aware
Anonymization", KDD 2006, judge releases so).
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.metrics.expected_counts import Spread, is_exact, spreads_of
from overt.metrics.logistic import Floats, fit, predict
from overt.release import Release
from overt.table import Column, Kind

MOST_ROWS = 20_000  # of the original that learn and judge
MOST_INDICATORS = 20  # of a category: its most frequent values


@dataclass(frozen=True)
class Prediction:
    """How often three predictions of one sensitive column are right, on the same rows of the original."""

    column: str
    question: str  # what is predicted, in words that show no value
    by_original: float
    by_release: float
    by_majority: float  # without looking at anybody

    @property
    def kept(self) -> float:
        """The share of what the original gains over the majority that the release keeps; 1 if there is nothing to gain."""
        gain = self.by_original - self.by_majority
        return 1.0 if gain <= 0 else max(0.0, min(1.0, (self.by_release - self.by_majority) / gain))


def mean_error(actual: NDArray[np.int64], expected: Floats, number: Column) -> float:
    """By how much the means of a number by category are off, in standard deviations of the number.

    Both tables are (category, number) -> rows; categories count by their rows. A missing number takes no part, and if
    all are missing nothing is off.
    """
    known = slice(0, number.n_values - (number.missing_code is not None))
    position = numbers_of(number)
    actual, expected = actual[:, known], expected[:, known]
    there = actual.sum(axis=1) > 0
    if not there.any():
        return 0.0
    n_rows = actual[there].sum(axis=1)
    off = np.abs(_means(expected[there], position) - _means(actual[there], position))
    total = actual.sum(axis=0)
    mean = (total @ position) / total.sum()
    deviation = np.sqrt((total @ (position - mean) ** 2) / total.sum())
    return float((off @ n_rows) / n_rows.sum() / deviation) if deviation > 0 else 0.0


def numbers_of(column: Column) -> Floats:
    """The values of a column of numbers or dates as floats, without the missing one."""
    return column.values.drop_nulls().to_physical().cast(float).to_numpy()


def prediction(release: Release, column: Column, rng: Generator) -> Prediction:
    """Learn to predict a sensitive column from the quasi-identifiers, of the original and of the release.

    Of a category it is predicted whether a row has one of the most frequent values, as many as make up about half of
    the rows; of a number, whether it is above the median. Half of at most `MOST_ROWS` random rows learn, half judge.
    """
    table = release.table
    spreads = spreads_of(release)
    is_so, question = _target(column)
    rows = rng.choice(table.n_rows, min(MOST_ROWS, table.n_rows), replace=False)
    learn = rows[: rows.size // 2]
    known = [(column, _base(column)) for column in table.quasi_identifiers]
    seen = np.concatenate([base[column.codes[rows]] for column, base in known], axis=1)
    shown = learn[release.partition.group_of_row[learn] >= 0]  # suppressed rows teach nobody
    published = np.concatenate(
        [_published(release, spreads[column.name], base, shown) for column, base in known], axis=1
    )
    truth = is_so[column.codes[rows]].astype(np.float64)
    share = _share_of_group(spreads[column.name], is_so)[release.partition.group_of_row[shown]]
    answers = fit(seen[: learn.size], truth[: learn.size]), fit(published, share)
    is_right = truth[learn.size :] > 0
    by_original, by_release = (float((predict(seen[learn.size :], one) == is_right).mean()) for one in answers)
    majority = max(float(is_right.mean()), 1 - float(is_right.mean()))
    return Prediction(column.name, question, by_original, by_release, majority)


def _target(column: Column) -> tuple[NDArray[np.bool_], str]:
    """(value) -> whether it is what is predicted; and the question in words."""
    if column.kind is Kind.CATEGORY:
        by_frequency = np.argsort(-column.total_of_value, kind="stable")
        share = np.cumsum(column.total_of_value[by_frequency]) / column.total_of_value.sum()
        is_so = np.zeros(column.n_values, np.bool_)
        is_so[by_frequency[: int(np.argmin(np.abs(share - 0.5))) + 1]] = True
        return is_so, f"whether {column.name!r} is one of the frequent values that make up about half of the rows"
    known = column.total_of_value[: column.n_values - (column.missing_code is not None)]
    middle = int(np.searchsorted(np.cumsum(known), known.sum() / 2))
    is_so = np.arange(column.n_values) > middle
    is_so[known.size :] = False
    return is_so, f"whether {column.name!r} is above its median"


def _base(column: Column) -> Floats:
    """(value, feature): a number as it is, in standard deviations; a category as indicators of its frequent values."""
    if column.kind is Kind.CATEGORY:
        frequent = np.argsort(-column.total_of_value, kind="stable")[1 : MOST_INDICATORS + 1]
        return (np.arange(column.n_values)[:, None] == frequent).astype(np.float64)
    position = numbers_of(column)
    count = column.total_of_value[: position.size]
    mean = (count @ position) / max(1, count.sum())
    deviation = np.sqrt((count @ (position - mean) ** 2) / max(1, count.sum())) or 1.0
    base = np.zeros((column.n_values, 1))  # a missing number is taken for the mean
    base[: position.size, 0] = (position - mean) / deviation
    return base


def _published(release: Release, spread: Spread, base: Floats, rows: NDArray[np.int64]) -> Floats:
    """(row, feature): what a reader of the release expects the features of rows to be."""
    if is_exact(release, spread.column):
        return base[spread.column.codes[rows]]
    below = np.vstack([np.zeros(base.shape[1]), np.cumsum(base, axis=0)])
    groups, place = np.unique(release.partition.group_of_row[rows], return_inverse=True)
    n_runs = spread.first[groups + 1] - spread.first[groups]
    begin = np.cumsum(n_runs) - n_runs
    runs = np.arange(n_runs.sum()) + np.repeat(spread.first[groups] - begin, n_runs)
    sums = spread.weight[runs, None] * (below[spread.greatest[runs] + 1] - below[spread.least[runs]])
    features: Floats = np.add.reduceat(sums, begin, axis=0) / spread.sizes[groups, None]
    return features[place]


def _share_of_group(spread: Spread, is_so: NDArray[np.bool_]) -> Floats:
    """(group) -> the share of its rows that have one of some values of a sensitive column."""
    sums = np.add.reduceat(spread.weight * is_so[spread.least], spread.first[:-1])
    shares: Floats = sums / spread.sizes
    return shares


def _means(rows: Floats | NDArray[np.int64], position: Floats) -> Floats:
    means: Floats = (rows @ position) / rows.sum(axis=1)
    return means
