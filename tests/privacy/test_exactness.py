# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.privacy.exactness import exponential, floors_of_multiples, greatest_ratio, logarithm, times

LARGE = st.integers(0, 2**62)


@given(st.lists(LARGE, min_size=1, max_size=5), LARGE | st.integers(0, 10**40))
def test_times_never_overflows(numbers, factor):
    assert times(np.array(numbers), factor).tolist() == [number * factor for number in numbers]


@given(st.lists(st.tuples(LARGE, LARGE), min_size=1, max_size=5))
def test_times_multiplies_arrays(pairs):
    left, right = np.array(pairs).T
    assert times(left, right).tolist() == [a * b for a, b in pairs]


close = st.tuples(st.integers(2**60, 2**60 + 3), st.integers(2**61, 2**61 + 3))  # all equal as floats


@given(st.lists(close | st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_greatest_ratio_is_exact(pairs):
    numerators, denominators = np.array(pairs).T
    assert greatest_ratio(numerators, denominators) == max(Fraction(a, b) for a, b in pairs)


@given(st.fractions(Fraction(1, 50), 50, max_denominator=1000).filter(lambda f: f != 1), st.integers(5, 80))
def test_enclosures_hold_the_number(number, digits):
    for irrational, value in ((logarithm(number), math.log(number)), (exponential(number), math.exp(number))):
        low, high = irrational.enclose(digits)
        narrow_low, narrow_high = irrational.enclose(digits + 30)
        assert low <= narrow_low < narrow_high <= high
        assert high - low <= abs(high) * Fraction(1, 10 ** (digits - 4))
        assert float(irrational) == pytest.approx(value)


def test_comparisons_go_as_deep_as_they_must():
    e = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138")
    assert exponential(Fraction(1)) > e
    assert not exponential(Fraction(1)) > e + Fraction(1, 10**86)
    assert exponential(Fraction(1)).floor_of_multiple(Fraction(10**86)) == e * 10**86
    assert (logarithm(Fraction(2)) + 1).floor_of_multiple(Fraction(10)) == 16


@given(
    st.lists(st.integers(1, 2**30), min_size=1, max_size=4),
    st.fractions(0, 5, max_denominator=9),
    st.integers(1, 2**30),
)
def test_floors_are_exact_at_whole_numbers(factors, bound, divisor):
    found = floors_of_multiples([bound], np.array(factors)[:, None], divisor)
    assert found[:, 0].tolist() == [math.floor(bound * factor / divisor) for factor in factors]


def test_floors_end_at_what_64_bits_hold():
    assert floors_of_multiples([Fraction(10**30)], np.array([[1]]), 1).tolist() == [[2**62]]
