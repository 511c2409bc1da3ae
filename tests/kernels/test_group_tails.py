# SPDX-License-Identifier: Apache-2.0
"""Groups split in two, against counting every split in whole numbers."""

from fractions import Fraction
from itertools import product
from math import comb, lgamma, prod

import numpy as np
import pytest

from overt.kernels.group_tails import BAD, GOOD, UNCLEAR, examine_split, judge_if_failed, surely_passes

LOG_FACTORIAL = np.array([lgamma(n + 1) for n in range(400)])


def count_splits(counts, first, caps):
    """(ways to fail, ways to pass, rows with each value in the first part over those that fail, and that pass)."""
    ways = [0, 0]
    rows = [[0] * len(counts), [0] * len(counts)]
    for taken in product(*(range(n + 1) for n in counts)):
        if sum(taken) == first:
            number = prod(comb(n, x) for n, x in zip(counts, taken, strict=True))
            passed = max(taken) <= caps[0] and max(n - x for n, x in zip(counts, taken, strict=True)) <= caps[1]
            ways[passed] += number
            for value, x in enumerate(taken):
                rows[passed][value] += number * x
    return ways, rows


@pytest.mark.parametrize(
    ("counts", "first", "caps"),
    [
        ((3, 2, 1), 2, (1, 2)),
        ((30, 20, 10), 20, (10, 20)),
        ((30, 30), 20, (10, 20)),
        ((12, 12, 12, 4), 15, (7, 12)),
        ((25, 3, 2, 0), 6, (4, 24)),
        ((4, 0, 4), 4, (2, 2)),
    ],
)
def test_chances_and_means_are_those_of_all_splits(counts, first, caps):
    ways, rows = count_splits(counts, first, caps)
    fails, passes, values, rows_failed, rows_passed = examine_split(
        np.array(counts, np.int64), sum(counts), first, np.array(caps, np.int64), LOG_FACTORIAL
    )
    assert fails == pytest.approx(float(Fraction(ways[0], sum(ways))), rel=1e-12)
    assert passes == pytest.approx(float(Fraction(ways[1], sum(ways))), rel=1e-12)
    for place, value in enumerate(values.tolist()):
        for found, passed in ((rows_failed, 0), (rows_passed, 1)):
            if ways[passed]:
                assert found[place] == pytest.approx(float(Fraction(rows[passed][value], ways[passed])), rel=1e-11)
    sizes = (first, sum(counts) - first)
    left_out = set(range(len(counts))) - set(values.tolist())
    assert all(min(counts[v], size) <= cap for v in left_out for size, cap in zip(sizes, caps, strict=True))


def test_a_chance_is_negligible_only_where_it_is():
    for count, size, cap in ((100, 150, 140), (150, 200, 195), (100, 150, 80), (120, 20, 19)):
        tail = sum(comb(count, x) * comb(300 - count, size - x) for x in range(cap + 1, min(count, size) + 1))
        if surely_passes(count, 300, size, cap):
            assert Fraction(tail, comb(300, size)) < Fraction(1, 10**24)
    assert surely_passes(150, 300, 200, 195) and not surely_passes(150, 300, 200, 110)


def judged(histograms, first, caps, bound):
    bound = Fraction(bound)
    return judge_if_failed(
        np.array(histograms, np.int64),
        np.array(first, np.int64),
        np.array(caps, np.int64),
        bound.numerator,
        bound.denominator,
        LOG_FACTORIAL,
        1e-9,
    )


def exact_highest(histograms, first, caps):
    """The highest ratio in whole numbers: (f - beta f') / (1 - beta) of every part and value."""
    found = [count_splits(counts, n, cap) for counts, n, cap in zip(histograms, first, caps, strict=True)]
    beta = prod(Fraction(ways[1], sum(ways)) for ways, _ in found)
    highest = Fraction(0)
    for counts, n, (ways, rows) in zip(histograms, first, found, strict=True):
        total = sum(counts)
        for value, count in enumerate(counts):
            if ways[1]:
                inside = Fraction(rows[1][value], ways[1])
                parts = [(inside, n), (count - inside, total - n)]
            else:
                parts = [(Fraction(0), 1)]
            for passed, size in parts:
                highest = max(highest, (Fraction(count, total) - beta * passed / size) / (1 - beta))
    return highest


def test_verdicts_are_those_of_whole_numbers():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        sizes = [(int(rng.integers(2, 7)), int(rng.integers(2, 9))) for _ in range(int(rng.integers(1, 4)))]
        histograms = [rng.multinomial(a + b, [0.4, 0.3, 0.2, 0.1]).tolist() for a, b in sizes]
        caps = [(a // 2, b // 2) for a, b in sizes]
        if any(2 * max(counts) > sum(counts) for counts in histograms):
            continue
        found = [count_splits(counts, a, cap)[0] for counts, (a, _), cap in zip(histograms, sizes, caps, strict=True)]
        if not any(ways[0] for ways in found):
            continue
        highest = exact_highest(histograms, [a for a, _ in sizes], caps)
        verdict = judged(histograms, [a for a, _ in sizes], caps, "1/2")
        seen.add(verdict)
        if verdict == UNCLEAR:
            assert abs(highest - Fraction(1, 2)) < 1e-8
        else:
            assert verdict == (BAD if highest > Fraction(1, 2) else GOOD)
    assert {GOOD, BAD} <= seen


def test_on_the_bound_neither_passing_nor_failing_says_anything():
    """Half of 12 rows have value 0: parts of 4 and 8 pass only with 2 and 4 of them, so its ratio stays 1/2."""
    histograms, first, caps = [[6, 2, 2, 2], [5, 3, 2, 2]], [4, 5], [[2, 4], [2, 3]]
    assert judged(histograms, first, caps, "1/2") == (BAD if exact_highest(histograms, first, caps) > 0.5 else GOOD)
    assert exact_highest(histograms[:1], first[:1], caps[:1]) == Fraction(1, 2)
    assert judged(histograms[:1], first[:1], caps[:1], "1/2") == GOOD
