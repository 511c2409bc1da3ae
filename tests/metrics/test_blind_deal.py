# SPDX-License-Identifier: Apache-2.0
"""Estimates from blind deals: every way to deal a small table gone through, so that mean and variance are exact."""

from itertools import permutations

import numpy as np
import pytest

from overt.errors import TooLarge
from overt.metrics import blind_deal
from overt.metrics.blind_deal import BlindDeal

BUCKETS = ["ab", "aab", "bc"]  # what the buckets of a stratum hold
NUMBER = np.array([1.0, 0, 3, 1, 0, 2, 5])  # of each person
VALUE = ["a", "a", "a", "b", "b", "b", "c"]
WEIGHTS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0.5, 0, 2]])


def deal_of(buckets, bucket_of_row, strata=None):
    items = [(g, "abc".index(v), held.count(v)) for g, held in enumerate(buckets) for v in sorted(set(held))]
    bucket, value, count = (np.array(of) for of in zip(*items, strict=True))
    stratum = np.zeros(len(buckets), np.int64) if strata is None else np.array(strata)
    return BlindDeal(np.array(bucket_of_row), bucket, value, count, 3, stratum)


def every_deal():
    """The bucket of every person, once for each way to hand the places of every value to its people."""
    places = [g for value in "abc" for g, held in enumerate(BUCKETS) for _ in range(held.count(value))]
    a, b, c = places[:3], places[3:6], places[6:]
    for of_a in permutations(a):
        for of_b in permutations(b):
            yield [*of_a, *of_b, *c]


def test_over_all_deals_the_mean_is_the_truth_and_the_variance_at_most_what_is_claimed_on_average():
    found = [deal_of(BUCKETS, buckets).sums(NUMBER, WEIGHTS) for buckets in every_deal()]
    value = np.array([sums.value for sums in found])
    truth = WEIGHTS @ [sum(n for n, v in zip(NUMBER, VALUE, strict=True) if v == wanted) for wanted in "abc"]
    assert np.allclose(value.mean(axis=0), truth, atol=1e-9)
    claimed = np.array([sums.variance for sums in found]).mean(axis=0)
    assert (value.var(axis=0) <= claimed + 1e-9).all()
    assert value.var(axis=0)[:3].min() > 0.1  # they do vary
    assert claimed[3] == pytest.approx(0, abs=1e-9)  # everybody's sum is known


def test_what_compositions_do_not_tell_apart_is_not_guessed():
    alike = deal_of(["ab", "ab", "ab"], [0, 0, 1, 1, 2, 2])
    number = np.array([1.0, 0, 1, 1, 0, 0])
    sums = alike.sums(number, np.array([[1.0, 0, 0], [1, 1, 0], [2, 2, 7]]))
    assert np.isnan(sums.value[0])
    assert sums.value[1:].tolist() == [3, 6]
    assert sums.variance[1:].tolist() == [0, 0]
    assert sums.even.tolist() == [1.5, 3, 6]
    everybody = alike.sums(np.ones(6), np.array([[1.0, 0, 0]]))
    assert (everybody.value.tolist(), everybody.variance.tolist()) == ([3], [0])


def test_a_stratum_that_tells_nothing_is_no_reason_to_guess_the_whole():
    two = deal_of(["a", "b", "ab"], [0, 1, 2, 2], strata=[0, 0, 1])
    number = np.array([1.0, 0, 1, 0])
    sums = two.sums(number, np.array([[1.0, 0, 0], [1, 1, 0]]))
    assert np.isnan(sums.value[0])
    assert sums.value[1] == pytest.approx(2)


def test_certain_counts_are_reached_by_some_way_to_give_values_to_rows():
    deal = deal_of(BUCKETS, [0, 0, 1, 1, 1, 2, 2])
    surely, possibly = np.array([1.0, 0, 1, 1, 0, 0, 0]), np.array([1.0, 0, 1, 1, 1, 0, 1])
    wanted = np.array([[True, False, False], [False, True, True], [False, False, False]])
    least, greatest = deal.certain_counts(surely, possibly, wanted)
    for of_wanted, low, high in zip(wanted, least, greatest, strict=True):
        counts = []
        for rows in (surely, possibly):
            asked = set()
            for order in {o for held in [BUCKETS] for o in _orders(held)}:
                asked.add(sum(bool(row) and of_wanted["abc".index(v)] for row, v in zip(rows, order, strict=True)))
            counts.append(asked)
        assert (low, high) == (min(counts[0]), max(counts[1]))


def _orders(buckets):
    """Every way to give the values of each bucket to its rows, bucket after bucket."""
    if not buckets:
        return [()]
    return [tuple(first) + rest for first in set(permutations(buckets[0])) for rest in _orders(buckets[1:])]


def test_too_many_values_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(blind_deal, "MOST_CELLS", 5)
    with pytest.raises(TooLarge, match="3 different buckets of 3 different values"):
        deal_of(BUCKETS, [0, 0, 1, 1, 1, 2, 2]).sums(NUMBER, WEIGHTS)
