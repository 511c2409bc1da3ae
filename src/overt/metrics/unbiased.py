# SPDX-License-Identifier: Apache-2.0
"""Unbiased estimates from a release whose rows were drawn blind: undo the mixing of values.

Inside a group, or a batch of groups, nothing tells which value belongs to whom; that is what makes it safe.
But groups with different sets of values differ, and the law by which rows came there is known: every row of a
value is equally likely to be in any place of that value. So if y(G) rows of group G satisfy a predicate on
quasi-identifiers, and p(s) is the share of all rows of value s that do,

    E[ y(G) ] = sum over the values s of G of p(s)

(summed over the groups of one batch where rows are matched inside it). That is a linear model with one unknown per
value and one equation per group, and least squares solves it: the estimate of p(s) is unbiased, and so is that
of any sum over values of n(s) p(s), because n(s), the number of rows of s, is shown by the release. The variance
is known too, from sampling without replacement: with coefficients a(G) such that the estimate is the sum of
a(G) y(G),

    Var = sum over s of  n(s) p(s) (1 - p(s)) / (n(s) - 1)  *  ( sum over places of s of a(G)^2  -  w(s)^2 / n(s) )

where w(s) is what the estimate should count for one p(s). Standard errors put the estimated p(s) in.

Paper       ours.
Implements  Counts by quasi-identifier and sensitive value; means of a number by sensitive value.
Departs     Not in a paper.
Guarantee   Unbiased over the coins of the method for a bucketized release (exact quasi-identifiers). From boxes,
            y(G) is itself estimated as uniform in the box, and that part of the bias remains. Where the sets of
            values cannot tell values apart the answer is `nan`, never a guess. The price is variance: on small
            tables, for few rows per value, or where sets hardly vary (`Dealing`), uniform-in-box is nearer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput, TooLarge
from overt.metrics.query_workload import Estimate, Reading, Workload, the_sensitive
from overt.release import BucketRelease, Release
from overt.table import Codes, Kind

MOST_CELLS = 20_000_000
TOLERANCE = 1e-6  # a combination of values counts as determined if it is reproduced this well


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates with their standard errors; `nan` where the release does not determine the answer."""

    value: Estimate
    standard_error: Estimate


@dataclass(frozen=True, eq=False)
class Mixing:
    """The linear model of one stratum: which sets of values there are, and how many groups have each."""

    sets: NDArray[np.float64]  # (set, value) -> 1 if the set has the value: the distinct rows of X
    n_groups: NDArray[np.float64]  # (set) -> groups with this set
    product: NDArray[np.float64]  # (value, value): X'X
    inverse: NDArray[np.float64]

    @classmethod
    def of(cls, slots: Codes, n_values: int) -> "Mixing":
        """From (group, place) -> value, where -1 fills up smaller groups."""
        distinct, n_groups = np.unique(slots, axis=0, return_counts=True)
        if distinct.shape[0] * n_values > MOST_CELLS:
            raise TooLarge(
                f"The release has {distinct.shape[0]} different sets of {n_values} values, too many to tell the values "
                "apart; ask for sums over fewer, coarser sensitive values."
            )
        sets = np.zeros((distinct.shape[0], n_values + 1))
        sets[np.arange(distinct.shape[0])[:, None], distinct] = 1
        sets = np.ascontiguousarray(sets[:, :-1])  # the last column took the -1
        product = sets.T @ (n_groups[:, None] * sets)
        inverse = np.linalg.pinv(product, hermitian=True).astype(np.float64)
        return cls(sets, n_groups.astype(np.float64), product, inverse)

    @property
    def n_of_value(self) -> Estimate:
        """(value) -> rows: every group has a value at most once."""
        return self.n_groups @ self.sets

    def spread(self, weights: Estimate) -> tuple[Estimate, NDArray[np.bool_]]:
        """(question, value): what the variance of a row of the value counts in the answer; and what is determined.

        An answer is the sum of `weights` times the means of values.
        """
        coefficient = weights @ self.inverse
        largest = np.abs(weights).max(axis=1, initial=0)
        is_determined = np.abs(coefficient @ self.product - weights).max(axis=1) <= TOLERANCE * np.maximum(
            largest, 1e-300
        )
        spread = np.empty_like(weights)
        step = max(1, MOST_CELLS // len(self.sets))
        for begin in range(0, len(weights), step):
            weight_of_set = coefficient[begin : begin + step] @ self.sets.T
            spread[begin : begin + step] = (weight_of_set**2 * self.n_groups) @ self.sets
        spread -= weights**2 / np.maximum(self.n_of_value, 1)
        return np.maximum(spread, 0), is_determined


@dataclass(frozen=True, eq=False)
class Mixings:
    """The models of all strata of a release whose method drew rows blind."""

    reading: Reading
    strata: tuple[Mixing, ...]

    @classmethod
    def of(cls, release: Release) -> "Mixings":
        method = release.method
        if not method.draws_blind:
            raise InvalidInput(
                f"{type(method).__name__} did not draw rows blind, or merged groups by what they look like, so that the "
                "law of its groups is not known; use Dealing, RDA or BatchMatching with k <= l."
            )
        reading = Reading(release, method.strata)
        histogram = reading.histogram
        slots = np.full((release.n_groups, int(release.partition.sizes.max())), -1, np.int32)
        lengths = np.diff(histogram.first)
        groups = np.repeat(np.arange(release.n_groups), lengths)
        slots[groups, np.arange(groups.size) - np.repeat(histogram.first[:-1], lengths)] = histogram.value
        of_stratum = [slots[reading.stratum_of_group == stratum] for stratum in range(reading.n_strata)]
        return cls(reading, tuple(Mixing.of(chosen, histogram.n_values) for chosen in of_stratum))

    @property
    def n_of_value(self) -> Estimate:
        """(stratum, value) -> rows."""
        return np.stack([mixing.n_of_value for mixing in self.strata])

    def means(self, sums: Estimate) -> Estimate:
        """(..., stratum, value): the mean over the rows of a value, from sums over the groups that have it."""
        return np.stack([sums[..., t, :] @ mixing.inverse for t, mixing in enumerate(self.strata)], axis=-2)

    def estimate(self, means: Estimate, variances: Estimate, weights: Estimate) -> Estimates:
        """Sums over strata and values of weight times mean, for (question, stratum, value) arrays.

        `variances` are those of single rows of a value, with the divisor n - 1.
        """
        value = (weights * means).sum(axis=(1, 2))
        variance = np.zeros(len(weights))
        for t, mixing in enumerate(self.strata):
            spread, is_determined = mixing.spread(weights[:, t])
            variance += (variances[:, t] * spread).sum(axis=1)
            value[~is_determined] = np.nan
        return Estimates(value, np.where(np.isnan(value), np.nan, np.sqrt(variance)))


def unbiased_counts(release: Release, workload: Workload) -> Estimates:
    """Answers to count queries without the bias of mixing, with standard errors."""
    mixing = Mixings.of(release)
    share = mixing.means(mixing.reading.answer(workload).hits)
    weights = workload.wanted[:, None, :] * mixing.n_of_value
    likely = np.clip(share, 0, 1)
    n_rows = np.maximum(mixing.n_of_value, 2)
    return mixing.estimate(share, likely * (1 - likely) * n_rows / (n_rows - 1), weights)


def unbiased_means(release: BucketRelease, column: str, wanted: NDArray[np.bool_]) -> Estimates:
    """The mean of a number among the rows with certain sensitive values, one mean per row of `wanted`.

    `wanted` is (question, value) -> whether the question asks for this sensitive value. Needs exact
    quasi-identifiers, so a bucketized release.
    """
    if not release.shows_exactly:
        raise InvalidInput("Means without bias need exact quasi-identifiers; make the release with form='bucketized'.")
    asked = release.table.column(column)
    if asked.kind is not Kind.NUMBER or asked.missing_code is not None:
        raise InvalidInput(f"The mean of {column!r} is asked for; it must be a column of numbers without missing ones.")
    if wanted.ndim != 2 or wanted.shape[1] != the_sensitive(release.table).n_values:
        raise InvalidInput("The values that a mean is asked for must be given as (question, value) -> yes or no.")
    mixing = Mixings.of(release)
    number = asked.values.cast(float).to_numpy()[asked.codes]
    first, second = (mixing.means(_sums_by_value(mixing.reading, number**power)) for power in (1, 2))
    n_rows = np.maximum(mixing.n_of_value, 2)
    variance = np.maximum(second - first**2, 0) * n_rows / (n_rows - 1)
    weights = wanted[:, None, :] * mixing.n_of_value
    share = weights / np.maximum(weights.sum(axis=(1, 2), keepdims=True), 1)
    shape = weights.shape
    return mixing.estimate(np.broadcast_to(first, shape), np.broadcast_to(variance, shape), share)


def _sums_by_value(reading: Reading, number_of_row: Estimate) -> Estimate:
    """(stratum, value): the sum over groups of the group's total of a number times the value's count."""
    partition, histogram = reading.release.partition, reading.histogram
    total_of_group = np.bincount(partition.group_of_row, number_of_row, partition.n_groups)
    lengths = np.diff(histogram.first)
    sums = np.zeros((reading.n_strata, histogram.n_values))
    places = (np.repeat(reading.stratum_of_group, lengths), histogram.value)
    np.add.at(sums, places, np.repeat(total_of_group, lengths) * histogram.count)
    return sums
