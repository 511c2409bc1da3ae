# SPDX-License-Identifier: Apache-2.0
"""Sums over people of a number times a weight of their value, from a release whose values were dealt blind.

A reader knows of every row a number z (whether it satisfies a condition, as far as its box says; or an age) and the bucket; and of every
bucket how often each value occurs. Inside a stratum, which rows of a value go to which bucket is uniform. So if n(v) rows have
value v, and m(v) is the mean of z over them, the sum y(G) of z over the rows of bucket G has

    E[ y(G) ] = sum over v of  c(G, v) m(v)                     c(G, v): how often v occurs in G

one equation for each composition that buckets have. Any coefficients a with  sum over G of a(G) c(G, v) = n(v) u(v)  for every v make
the sum of a(G) y(G) an unbiased estimate of the sum of n(v) u(v) m(v). The ones chosen here have the least variance if z varies
alike among the rows of every value. By sampling without replacement the variance is

    sum over v of  S(v)^2 * ( sum over G of c(G, v) a(G)^2  -  n(v) u(v)^2 )       S(v)^2: the variance of z over the rows of v

Paper       Ours.
Implements  The estimates, their standard errors, the estimates as if values were spread evenly inside buckets, and what is certain.
Departs     Not in a paper.
Guarantee   Unbiased over the coins of the deal for the sum of z as given; `nan` where compositions do not tell values apart. S(v) is itself
            estimated, and never taken below what the rows' own spread in the stratum, shared out, would give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.errors import TooLarge

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_CELLS = 20_000_000
TOLERANCE = 1e-6  # a weighted sum counts as determined if it is reproduced this well


@dataclass(frozen=True, eq=False)
class Sums:
    """For every question: the unbiased estimate, the variance that the deal gives it, and the answer of even spreading."""

    value: Numbers
    variance: Numbers
    even: Numbers


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The compositions of a stratum's buckets, and what turns sums over buckets into means over values."""

    value: Counts  # those that occur
    composition: Numbers  # (composition, value) -> copies
    n_buckets: Numbers  # (composition)
    turned: tuple[
        Numbers, Numbers, Numbers
    ]  # singular values and vectors of the compositions, each weighed by its buckets

    @property
    def size(self) -> Numbers:
        """(composition) -> rows of a bucket."""
        return self.composition.sum(axis=1)

    @property
    def n_of_value(self) -> Numbers:
        return self.n_buckets @ self.composition

    @classmethod
    def of(cls, composition: Numbers, n_buckets: Numbers) -> "_Stratum":
        value = np.flatnonzero(composition.any(axis=0))
        composition = np.ascontiguousarray(composition[:, value])
        weight = np.sqrt(n_buckets / composition.sum(axis=1))
        left, singular, right = np.linalg.svd(weight[:, None] * composition, full_matrices=False)
        kept = singular > 1e-9 * singular[0]
        return cls(value, composition, n_buckets, (left[:, kept], singular[kept], right[kept]))

    def sums(self, first: Numbers, second: Numbers, weights: Numbers) -> Sums:
        """Answers for (question, value) weights, from the sums of z and of its square over the rows of each composition's buckets."""
        weights, size, n_of_value = weights[:, self.value], self.size, self.n_of_value
        left, singular, right = self.turned
        root = np.sqrt(self.n_buckets * size)
        wanted = weights * n_of_value
        coefficient = (wanted @ right.T / singular) @ left.T / root  # (question, composition)
        reproduced = (coefficient * self.n_buckets) @ self.composition
        scale = np.maximum(np.abs(wanted).max(axis=1, initial=0), 1e-300)
        is_determined = np.abs(reproduced - wanted).max(axis=1, initial=0) <= TOLERANCE * scale
        n_rows, total = n_of_value.sum(), first.sum()
        pooled = max(second.sum() / n_rows - (total / n_rows) ** 2, 0.0)
        mean, square = ((sums / root) @ left / singular @ right for sums in (first, second))
        own = np.maximum(square - mean**2, 0) * n_of_value / np.maximum(n_of_value - 1, 1)
        spread = np.maximum((coefficient**2 * self.n_buckets) @ self.composition - weights**2 * n_of_value, 0)
        variance = np.maximum(spread @ own, spread.sum(axis=1) * pooled)
        value = coefficient @ first
        if pooled <= TOLERANCE * max(second.sum() / n_rows, 1e-300):  # all rows alike: nothing was mixed that matters
            value, variance = wanted.sum(axis=1) * (total / n_rows), np.zeros(len(weights))
        else:
            value[~is_determined] = variance[~is_determined] = np.nan
        even = weights @ (self.composition.T @ (first / size))
        return Sums(value, variance, even)


@dataclass(frozen=True, eq=False)
class BlindDeal:
    """Who is in which bucket, how often each bucket holds each value, and which buckets were dealt together."""

    bucket_of_row: Counts
    bucket_of_item: Counts  # items: a value in a bucket, each pair once
    value_of_item: Counts
    count_of_item: Counts
    n_values: int
    stratum_of_bucket: Counts

    @property
    def n_buckets(self) -> int:
        return self.stratum_of_bucket.size

    @cached_property
    def size(self) -> Counts:
        """(bucket) -> rows."""
        return np.bincount(self.bucket_of_row, minlength=self.n_buckets)

    @cached_property
    def _composition_of_bucket(self) -> tuple[Counts, Counts]:
        """The number of every bucket's composition in its stratum, and a bucket of each composition."""
        code = np.random.default_rng(0).integers(1, 1 << 63, (2, self.n_values), np.uint64)
        keys = np.zeros((3, self.n_buckets), np.uint64)  # sums of random numbers: equal by chance once in 2^126
        keys[0] = self.stratum_of_bucket
        for key, code_of_value in zip(keys[1:], code, strict=True):
            with np.errstate(over="ignore"):
                np.add.at(
                    key, self.bucket_of_item, code_of_value[self.value_of_item] * self.count_of_item.astype(np.uint64)
                )
        _, some_bucket, number = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        return number.reshape(-1), some_bucket

    @cached_property
    def _strata(self) -> list[tuple[Counts, _Stratum]]:
        """Of every stratum with several compositions their numbers, and its model."""
        number, some_bucket = self._composition_of_bucket
        n_buckets = np.bincount(number, minlength=some_bucket.size).astype(np.float64)
        stratum_of_composition = self.stratum_of_bucket[some_bucket]
        order = np.argsort(self.bucket_of_item, kind="stable")
        first = np.searchsorted(self.bucket_of_item[order], np.arange(self.n_buckets + 1))
        strata = []
        for stratum in np.flatnonzero(np.bincount(stratum_of_composition) > 1):
            chosen = np.flatnonzero(stratum_of_composition == stratum)
            if max(chosen.size, self.n_values) * self.n_values > MOST_CELLS:
                raise TooLarge(
                    f"The release has {chosen.size} different buckets of {self.n_values} different values or combinations, too many to "
                    "tell them apart."
                )
            composition = np.zeros((chosen.size, self.n_values))
            for place, bucket in enumerate(some_bucket[chosen]):
                items = order[first[bucket] : first[bucket + 1]]
                composition[place, self.value_of_item[items]] = self.count_of_item[items]
            strata.append((chosen, _Stratum.of(composition, n_buckets[chosen])))
        return strata

    @cached_property
    def _in_lone(self) -> NDArray[np.bool_]:
        """(bucket) -> whether all buckets of its stratum are alike, so that they tell what their stratum tells."""
        _, some_bucket = self._composition_of_bucket
        is_lone: NDArray[np.bool_] = np.bincount(self.stratum_of_bucket[some_bucket])[self.stratum_of_bucket] == 1
        return is_lone

    def sums(self, number_of_row: Numbers, weights: Numbers) -> Sums:
        """Sums over people of their number times the weight of their value, for (question, value) weights."""
        number, some_bucket = self._composition_of_bucket
        of_row = number[self.bucket_of_row]
        first, second = (
            np.bincount(of_row, number_of_row**power, some_bucket.size).astype(np.float64) for power in (1, 2)
        )
        parts = [stratum.sums(first[chosen], second[chosen], weights) for chosen, stratum in self._strata]
        if self._in_lone.any():
            parts.append(self._lone_sums(number_of_row, weights))
        each = zip(*((part.value, part.variance, part.even) for part in parts), strict=True)
        return Sums(*(np.sum(of_stratum, axis=0) for of_stratum in each))

    def _lone_sums(self, number_of_row: Numbers, weights: Numbers) -> Sums:
        """In strata of one composition: known only if all their values count alike, or all their rows."""
        in_lone = self._in_lone[self.bucket_of_row]
        stratum, n_strata = self.stratum_of_bucket[self.bucket_of_row[in_lone]], int(self.stratum_of_bucket.max()) + 1
        number = number_of_row[in_lone]
        total = np.bincount(stratum, number, n_strata)
        n_rows = np.maximum(np.bincount(stratum, minlength=n_strata), 1)
        least, greatest = np.full(n_strata, np.inf), np.full(n_strata, -np.inf)
        np.minimum.at(least, stratum, number)
        np.maximum.at(greatest, stratum, number)
        rows_alike = least >= greatest
        items = self._in_lone[self.bucket_of_item]
        stratum, value, count = (
            of[items] for of in (self.stratum_of_bucket[self.bucket_of_item], self.value_of_item, self.count_of_item)
        )
        even, known = [], []
        for of_value in weights:
            weight = of_value[value]
            least, greatest = np.full(n_strata, np.inf), np.full(n_strata, -np.inf)
            np.minimum.at(least, stratum, weight)
            np.maximum.at(greatest, stratum, weight)
            even.append(float((np.bincount(stratum, weight * count, n_strata) * total / n_rows).sum()))
            known.append(bool((rows_alike | (least >= greatest)).all()))
        value_found = np.where(known, even, np.nan)
        return Sums(value_found, np.where(known, 0.0, np.nan), np.array(even))

    def shares(self, weights: Numbers) -> Iterator[Numbers]:
        """Of every question, (bucket) -> the mean weight of the bucket's values."""
        for of_value in weights:
            total = np.bincount(self.bucket_of_item, of_value[self.value_of_item] * self.count_of_item, self.n_buckets)
            yield total / self.size

    def certain_counts(self, surely: Numbers, possibly: Numbers, wanted: NDArray[np.bool_]) -> tuple[Counts, Counts]:
        """The least and the greatest count of rows with a wanted value, whatever lies in boxes and however values go with rows.

        `surely` and `possibly` say of every row whether it is asked about.
        """
        inside = np.bincount(self.bucket_of_row, surely, self.n_buckets)
        outside = np.bincount(self.bucket_of_row, possibly, self.n_buckets)
        least, greatest = [], []
        for share in self.shares(wanted.astype(np.float64)):
            n_wanted = np.rint(share * self.size)
            least.append(np.maximum(inside + n_wanted - self.size, 0).sum())
            greatest.append(np.minimum(outside, n_wanted).sum())
        return np.array(least).astype(np.int64), np.array(greatest).astype(np.int64)
