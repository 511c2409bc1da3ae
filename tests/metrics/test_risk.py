# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.releases import groups_of, releases, seen_groups_of
from oracles import metrics as oracle
from overt.errors import InvalidInput
from overt.metrics.equal_rows import rows_alike
from overt.metrics.risk import expected_chance, identification_of, risk_of_release, risk_of_table
from overt.metrics.utility import measure_utility
from overt.partition import Partition
from overt.release import BucketRelease, CrossBucketRelease, GeneralizedRelease
from tables import table_of


def alike(table):
    """Lists of rows that agree on every quasi-identifier."""
    groups = {}
    for row in range(table.n_rows):
        groups.setdefault(tuple(int(c.codes[row]) for c in table.quasi_identifiers), []).append(row)
    return list(groups.values())


@given(releases())
def test_risk_before_is_that_of_rows_that_agree(release):
    table, groups = release.table, alike(release.table)
    risk = risk_of_table(table)
    assert sorted(risk.sizes.tolist()) == sorted(map(len, groups))
    assert risk.identification.prosecutor == Fraction(1, min(map(len, groups)))
    assert risk.identification.marketer == sum(len(g) * Fraction(1, len(g)) for g in groups) / table.n_rows
    assert risk.identification.n_unique == sum(len(group) == 1 for group in groups)
    for size, n_rows in risk.identification.below:
        assert n_rows == sum(len(group) for group in groups if len(group) < size)
    (disclosure,) = risk.disclosures
    certain, worst, guess = oracle.disclosure(table.column("secret").codes.tolist(), groups)
    assert (disclosure.n_certain, disclosure.worst) == (certain, worst)
    assert disclosure.best_guess == pytest.approx(float(guess))


@given(releases())
def test_risk_after_is_that_of_groups_and_in_buckets_people_are_found_as_before(release):
    risk = risk_of_release(release)
    in_buckets = isinstance(release, BucketRelease)
    groups = groups_of(release) if in_buckets else seen_groups_of(release)
    found = alike(release.table) if in_buckets else groups
    assert sorted(risk.sizes.tolist()) == sorted(map(len, found))
    assert risk.identification.prosecutor == Fraction(1, min(map(len, found)))
    (disclosure,) = risk.disclosures
    certain, worst, _ = oracle.disclosure(release.table.column("secret").codes.tolist(), groups)
    assert (disclosure.n_certain, disclosure.worst) == (certain, worst)


@given(releases(kinds=(GeneralizedRelease,)))
def test_rows_that_are_alike_are_together_and_others_are_not(release):
    partition = rows_alike(release.table)
    expected = {row: number for number, group in enumerate(alike(release.table)) for row in group}
    assert partition.group_of_row.tolist() == [expected[row] for row in range(release.table.n_rows)]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.51, 0.9])
@pytest.mark.parametrize("f", [1, 2, 3, 7, 40])
def test_the_expected_chance_is_the_sum_over_all_populations(f, share):
    assert expected_chance(np.array([f]), share)[0] == pytest.approx(oracle.expected_chance(f, share), rel=1e-7)


def test_the_whole_population_leaves_no_doubt():
    sizes = np.array([1, 4])
    assert expected_chance(sizes, 1.0).tolist() == [1, 0.25]
    identification = identification_of(sizes, population_share=1.0)
    assert identification.journalist == 1
    assert identification.population_marketer == pytest.approx(float(identification.marketer))


@given(st.floats(0.001, 0.999), st.lists(st.integers(1, 300), min_size=1, max_size=8))
def test_a_journalist_never_knows_more_than_a_prosecutor(share, sizes):
    identification = identification_of(np.array(sizes), population_share=share)
    assert 0 < identification.journalist <= float(identification.prosecutor) + 1e-12
    assert identification.population_marketer <= float(identification.marketer) + 1e-12


def test_a_population_that_is_known_is_used_as_it_is():
    identification = identification_of(np.array([1, 2]), population_sizes=np.array([4, 2]))
    assert identification.journalist == 0.5
    assert identification.population_marketer == pytest.approx((1 / 4 + 2 / 2) / 3)
    with pytest.raises(InvalidInput, match="at least as many rows in every group"):
        identification_of(np.array([1, 2]), population_sizes=np.array([1, 1]))


def test_a_share_outside_its_bounds_is_refused():
    with pytest.raises(InvalidInput, match="The share of the population is 0; a number above 0 and of at most 1"):
        expected_chance(np.array([1]), 0)


def test_crossed_groups_are_found_by_their_boxes_and_believed_by_their_buckets():
    table = table_of([[0, 0, 1, 1, 2, 2, 3, 3]], [0, 1, 0, 1, 0, 1, 0, 1])
    groups = Partition.from_groups([[0], [1], [2, 3], [4, 5, 6, 7]])  # the first two show the same
    buckets = Partition.from_groups([[0, 2, 4, 6], [1, 3, 5, 7]])  # a bucket of one value each
    risk = risk_of_release(CrossBucketRelease(table, groups, None, buckets))
    assert sorted(risk.sizes.tolist()) == [2, 2, 4]
    assert risk.disclosures[0].n_certain == 2  # rows 0 and 1 are each in one group, and in one bucket
    assert measure_utility(CrossBucketRelease(table, groups, None, buckets)).average_group_size == pytest.approx(8 / 3)
