# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt import BlindBuckets, Mondrian, read_frame
from overt.errors import InvalidInput
from overt.privacy import BasicBetaLikeness, RelativeRisk
from privacy.groups import fractions, groups_of_counts, worlds

some_values = st.lists(st.integers(0, 4), unique=True, max_size=3)


@given(worlds(), fractions.filter(bool), some_values)
def test_agrees_with_the_definition(world, times, positive):
    goal = RelativeRisk(times, tuple(map(str, positive)))
    expected = [not oracle.keeps_relative_risk(group, world.table, times, positive) for group in world.counters]
    assert goal.breaks(world.groups).tolist() == expected
    q = oracle.shares(world.table)
    gains = [
        share / q[value]
        for group in world.counters
        for value, share in oracle.shares(group).items()
        if not positive or value in positive
    ]
    assert goal.measure(world.groups) == max(gains, default=0)


@given(worlds(), fractions)
def test_of_all_values_it_is_basic_beta_likeness(world, beta):
    assert (RelativeRisk(1 + beta).breaks(world.groups) == BasicBetaLikeness(beta).breaks(world.groups)).all()


def test_counts_beyond_64_bits_are_compared_exactly():
    n = 10**15
    groups = groups_of_counts([[3 * n, n], [3 * n + 1, n - 1]], table=[2 * n, 2 * n])
    assert RelativeRisk("3/2").breaks(groups).tolist() == [False, True]
    assert RelativeRisk(2).measure(groups) == Fraction(3 * n + 1, 2 * n)


def hiv(n_rows=1000, n_yes=20):
    frame = pl.DataFrame({"Age": list(range(n_rows)), "HIV": ["yes"] * n_yes + ["no"] * (n_rows - n_yes)})
    return read_frame(frame, quasi_identifiers=["Age"], sensitive=["HIV"])


@pytest.mark.parametrize("method", [Mondrian, BlindBuckets])
def test_a_rare_value_is_at_most_twice_as_frequent_in_any_group(method):
    release = method(goal=RelativeRisk(2, ("yes",), column="HIV")).anonymize(hiv(), rng=np.random.default_rng(1))
    histogram, sizes = release.groups.histograms["HIV"], release.groups.sizes
    out_of = sizes if histogram.out_of is None else histogram.out_of
    for group, size in enumerate(out_of):
        values = slice(histogram.first[group], histogram.first[group + 1])
        n_yes = histogram.count[values][histogram.value[values] == 1].sum()  # "no" sorts before "yes"
        assert n_yes * 1000 <= 2 * 20 * size
    assert release.n_groups > 1


def test_a_value_that_nobody_has_is_counted_as_unknown_and_bounds_nothing():
    groups = Mondrian(goal=RelativeRisk(2)).anonymize(hiv()).groups
    assert RelativeRisk(2, ("Yes", "yes")).names_unknown(groups) == 1
    assert RelativeRisk("0.01", ("Yes",)).holds(groups)
    assert RelativeRisk(2).names_unknown(groups) == 0


def test_codes_without_labels_are_refused():
    with pytest.raises(InvalidInput, match=r"^These groups hold codes without labels; leave out `positive`"):
        RelativeRisk(2, ("yes",)).holds(groups_of_counts([[1, 2]]))


@pytest.mark.parametrize("positive", ["yes", (1,)])
def test_refuses_values_that_are_no_list_of_texts(positive):
    with pytest.raises(InvalidInput, match=r"^positive is a list of values in quotes"):
        RelativeRisk(2, positive)


@pytest.mark.parametrize("times", [-1, "much"])
def test_refuses_a_limit_that_is_no_number_of_at_least_0(times):
    with pytest.raises(InvalidInput, match=r"a number of at least 0 is expected\.$"):
        RelativeRisk(times)


def test_str():
    assert str(RelativeRisk(2)) == "relative risk of at most 2"
    assert str(RelativeRisk("1.5", ("yes",), column="HIV")) == "relative risk of at most 1.5 of 'HIV' for 'yes'"
