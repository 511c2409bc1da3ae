# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_bundles.py
"""Plan of bundles: which bundles of a stratum share a bucket, from the multiset of bundles alone.

Paper       Ours. Theorem F of docs/theory/safety.md: batches of g lists of alpha bundles, from which each group takes one of each list.
Implements  Alpha = 1, so that a batch is one bucket of g bundles: bundles sorted by their tightest value and dealt over the buckets, then
            exchanged wherever a value would stand in more than floor(g * bound) bundles of a bucket.
Departs     Lists of more than one bundle help a method that matches people to lists; where people are dealt blind they only bind the plan
            more tightly, since every group that the lists allow must satisfy the goal.
Guarantee   Exact. A plan is a function of the stratum's multiset of bundles, of what the other persons of its count stratum have (with
            which beta-likeness and t-closeness compare) and of public parameters; it draws no coins, and trying again tells nothing. One bucket for a whole
            stratum satisfies the goal whenever any plan does. How small buckets get is not claimed to be the least possible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.blind_buckets.why_not import remedy, rounded_up
from overt.errors import Unreachable
from overt.kernels.bundle_planning import allot_bundles
from overt.kernels.counting import starts_of
from overt.partition import Counts, Groups, Partition
from overt.persons import gather_lists
from overt.privacy.base import Property, SensitiveProperty
from overt.privacy.l_diversity import FrequencyLDiversity
from overt.table import Codes, Table

TRIES = 48  # exchanges per bundle before a number of buckets is given up
LEAST_TRIES = 4096
STEP = 1.2  # by how much buckets grow when a size is given up
SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)


@dataclass(frozen=True, eq=False)
class BundlePlan:
    """The buckets of the bundles of one stratum, bundles by their codes, each as often as it occurs."""

    bucket_of_slot: Codes
    n_buckets: int


@dataclass(frozen=True, eq=False)
class ItemLimits:
    """What the goal allows of each item, which is a value of a sensitive column: the shares of a bucket's persons who have it."""

    least: NDArray[Any]  # (count stratum, item), of fractions
    most: NDArray[Any]

    @classmethod
    def of(cls, goal: Property, everyone: Groups) -> "ItemLimits":
        """Items are the values of all sensitive columns, one column after the other. `everyone` is the table in any groups."""
        least, most = [], []
        for name, histogram in everyone.histograms.items():
            assert histogram.sets is not None
            of_column = [np.full(histogram.sets.total.shape, Fraction(bound), object) for bound in (0, 1)]
            for part in goal.parts:
                if isinstance(part, SensitiveProperty) and part.column in (None, name):
                    found = part.share_limits(histogram)
                    of_column = [np.maximum(of_column[0], found.least), np.minimum(of_column[1], found.most)]
            least.append(of_column[0])
            most.append(of_column[1])
        return cls(np.concatenate(least, axis=1), np.concatenate(most, axis=1))

    def counts(self, stratum: int, size: int) -> tuple[Counts, Counts]:
        """(item) -> how many of so many persons may, and must, have it."""
        most = [min(size, size * bound.numerator // bound.denominator) for bound in self.most[stratum]]
        least = [max(0, -(-size * bound.numerator // bound.denominator)) for bound in self.least[stratum]]
        return np.array(most, np.int64), np.array(least, np.int64)


@dataclass(frozen=True, eq=False)
class Held:
    """The items of every different bundle of a table: a bundle is a combination of the bundles of its sensitive columns."""

    first: Counts
    item: Codes
    name_of_item: tuple[str, ...]  # (item) -> the column it is a value of

    @classmethod
    def of(cls, table: Table, code_of_value: Codes) -> "Held":
        """`code_of_value` is (column, bundle) -> the bundle of that column."""
        firsts, items, names, beyond = [], [], [], 0
        for column, codes in zip(table.sensitive, code_of_value, strict=True):
            assert column.bundles is not None
            if column.bundles.carried:
                continue
            first, item = column.bundles.members(codes)
            firsts.append(first)
            items.append(item + np.int32(beyond))
            names += [column.name] * column.bundles.n_values
            beyond += column.bundles.n_values
        if len(firsts) == 1:
            return cls(firsts[0], items[0], tuple(names))
        owner = np.concatenate([np.repeat(np.arange(f.size - 1), np.diff(f)) for f in firsts])
        order = np.argsort(owner, kind="stable")
        lengths = np.sum([np.diff(f) for f in firsts], axis=0)
        return cls(starts_of(lengths), np.concatenate(items)[order], tuple(names))


def plan_bundles(
    held: Held, bundle_of_slot: Codes, limits: ItemLimits, stratum: int, bucket_size: int
) -> BundlePlan | None:
    """The plan with the most buckets that was found, each of at least `bucket_size` persons; None if not even one bucket will do."""
    first, item = gather_lists(held.first, held.item, bundle_of_slot)
    n, count = bundle_of_slot.size, np.bincount(item, minlength=len(held.name_of_item))
    most, least = limits.counts(stratum, n)
    if (count > most).any() or (count < least).any():
        return None
    for n_buckets in numbers_of_buckets(n, bucket_size):
        if n_buckets == 1:
            break
        found = _allot(first, item, count, limits, stratum, n_buckets)
        if found is not None:
            return BundlePlan(found, n_buckets)
    return BundlePlan(np.zeros(n, np.int32), 1)


def numbers_of_buckets(n: int, bucket_size: int) -> Iterator[int]:
    """The numbers that are tried, from the most down to 1."""
    size, last = float(bucket_size), 0
    while int(size) < n:
        if n // int(size) != last:
            last = n // int(size)
            yield last
        size = max(size + 1, size * STEP)
    yield 1


def _allot(first: Counts, item: Codes, count: Counts, limits: ItemLimits, stratum: int, n_buckets: int) -> Codes | None:
    n = first.size - 1
    sizes = np.full(n_buckets, n // n_buckets, np.int64)
    sizes[: n % n_buckets] += 1
    of_size = [limits.counts(stratum, n // n_buckets + more) for more in (0, 1)]
    kind = (sizes - n // n_buckets).astype(np.int32)
    n_larger = int(kind.sum())
    cap, least = (np.stack([of_size[0][i], of_size[1][i]]) for i in (0, 1))
    most_of_all, least_of_all = ((n_buckets - n_larger) * of[0] + n_larger * of[1] for of in (cap, least))
    if (count > most_of_all).any() or (count < least_of_all).any():
        return None
    binds = (count > cap.min(axis=0)) | (least.max(axis=0) > 0)
    number = np.cumsum(binds, dtype=np.int32) - np.int32(1)
    kept = binds[item]
    first, item = np.append(0, np.cumsum(kept))[first], number[item[kept]]
    cap, least, count = cap[:, binds], least[:, binds], count[binds]
    tight = count / np.maximum(1, ((n_buckets - n_larger) * cap[0] + n_larger * cap[1]))
    tightest = np.zeros(n)
    np.maximum.at(tightest, np.repeat(np.arange(n), np.diff(first)), tight[item])
    which = np.full(n, -1, np.int64)  # equally tight values keep together
    np.maximum.at(
        which,
        np.repeat(np.arange(n), np.diff(first)),
        np.where(tight[item] == tightest[np.repeat(np.arange(n), np.diff(first))], item, -1),
    )
    order = np.lexsort((np.arange(n), which, -tightest)).astype(np.int32)
    for seed in SEEDS:
        found, passed = allot_bundles(
            first, item, order, sizes, kind, cap, least, np.uint64(seed), max(LEAST_TRIES, TRIES * n)
        )
        if passed == 0:
            return np.asarray(found)
    return None


def why_not(
    table: Table,
    goal: Property,
    held: Held,
    strata: Partition,
    bundle_of_person: Codes,
    count_strata: Sequence[int],
    limits: ItemLimits,
    everyone: Groups,
) -> Unreachable:
    """How many persons have a value, and how many may: for the owner's eyes. The value itself is not named."""
    worst: tuple[Fraction, str, int, int, int] | None = None
    n_failing = 0
    for s in range(strata.n_groups):
        persons = strata.rows[strata.starts[s] : strata.starts[s + 1]]
        _, item = gather_lists(held.first, held.item, bundle_of_person[persons])
        count = np.bincount(item, minlength=len(held.name_of_item))
        most, least = limits.counts(count_strata[s], persons.size)
        wrong = np.flatnonzero((count > most) | (count < least))
        n_failing += wrong.size > 0
        for i in wrong.tolist():
            beyond = Fraction(int(max(count[i] - most[i], least[i] - count[i])), persons.size)
            if worst is None or beyond > worst[0]:
                limit = most[i] if count[i] > most[i] else least[i]
                worst = (beyond, held.name_of_item[i], int(count[i]), int(limit), persons.size)
    assert worst is not None
    _, name, n_have, limit, n_persons = worst
    share, rule = Fraction(n_have, n_persons), "at most" if n_have > limit else "at least"
    several = f" in {n_failing} of {strata.n_groups} strata" if strata.n_groups > 1 else ""
    groups = Groups.of(table, strata)
    less = [
        f"{part}: {remedy(part, groups, everyone)}."
        for part in goal.parts
        if isinstance(part, SensitiveProperty) and not part.holds(groups)
    ]
    limits_l = n_have > limit and any(isinstance(part, FrequencyLDiversity) for part in goal.parts)
    own = f"give the value a bound of its own under 'bounds' (at least {rounded_up(share)}), " if limits_l else ""
    return Unreachable(
        f"{goal} cannot be reached{several}: one value of {name!r} stands in a row of {n_have:,} of {n_persons:,} persons, and "
        f"{rule} {limit:,} may have it. {' '.join(less)} Or {own}keep fewer rows per person, or coarsen the values."
    )
