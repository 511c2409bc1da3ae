# SPDX-License-Identifier: Apache-2.0
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.partition import Groups
from overt.privacy import DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity, KAnonymity, TCloseness, exact
from privacy.groups import groups_of, groups_of_counts


@pytest.mark.parametrize(
    "number", [0.2, "0.2", "1/5", Decimal("0.2"), Fraction(1, 5), np.float64(0.2), np.float32(0.2), " 1/5 "]
)
def test_exact_reads_a_number_as_it_is_written(number):
    assert exact(number) == Fraction(1, 5)


def test_exact_takes_whole_numbers_of_numpy_without_their_limits():
    assert exact(np.int32(2**31 - 1)) * 2**60 == (2**31 - 1) * 2**60


@pytest.mark.parametrize("number", ["a third", "1/0", float("nan"), float("inf"), Decimal("NaN"), None, True, [1]])
def test_exact_refuses_what_is_no_number(number):
    with pytest.raises(InvalidInput, match=r"is not a finite number; write one as 3, 0\.2 or '1/3'\.$"):
        exact(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_is_the_shortest_decimal_of_a_float(number):
    assert exact(number) == Fraction(repr(number))


@pytest.fixture
def two_columns():
    one, other = groups_of([[0, 1], [0, 1]], column="one"), groups_of([[0, 1], [1, 1]], column="other")
    return Groups(one.sizes, {**one.histograms, **other.histograms})


def test_without_a_column_every_sensitive_column_must_hold(two_columns):
    assert FrequencyLDiversity(2).breaks(two_columns).tolist() == [False, True]
    assert FrequencyLDiversity(2, column="one").holds(two_columns)
    assert FrequencyLDiversity(2, column="other").breaks(two_columns).tolist() == [False, True]
    assert FrequencyLDiversity(2).measure(two_columns) == 1
    assert FrequencyLDiversity(2, column="one").measure(two_columns) == 2
    assert TCloseness(1).measure(two_columns) == TCloseness(1, column="other").measure(two_columns) == Fraction(1, 4)


def test_an_unknown_column_lists_the_columns_there_are(two_columns):
    with pytest.raises(InvalidInput, match=r"^There is no column 'disease'; the columns are 'one', 'other'\.$"):
        DistinctLDiversity(2, column="disease").breaks(two_columns)


def test_sensitive_properties_need_a_sensitive_column():
    nothing = Groups(np.array([3]), {})
    assert KAnonymity(3).holds(nothing)
    with pytest.raises(InvalidInput, match=r"^distinct 2-diversity looks at sensitive values and the table has no"):
        DistinctLDiversity(2).breaks(nothing)


def test_measures_are_described_rounded_towards_not_safe():
    assert FrequencyLDiversity(1).describe_measure(groups_of_counts([[3, 2, 2]])) == "l = 2.333"
    assert TCloseness(1).describe_measure(groups_of_counts([[3, 2]], table=[300, 203])) == "t = 0.003579"  # 9/2515
    assert EntropyLDiversity(1).describe_measure(groups_of_counts([[3, 2, 2]])) == "l = 2.941"  # 2.9417...
    assert KAnonymity(1).describe_measure(groups_of_counts([[12345, 2]])) == "k = 12347"
