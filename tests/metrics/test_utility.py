# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.releases import cells_of, groups_of, parts_of, releases, seen_groups_of
from oracles import metrics as oracle
from overt import FrequencyLDiversity, KAnonymity, Mondrian, read_frame, samples
from overt.algorithms.anatomy import Anatomy
from overt.metrics.analysis import numbers_of, prediction
from overt.metrics.distribution_divergence import divergence, marginal_divergence, pair_divergence
from overt.metrics.entropy import entropy_of_column, non_uniform_entropy
from overt.metrics.expected_counts import is_exact, spread_of
from overt.metrics.group_size import normalised_group_size
from overt.metrics.logistic import RIDGE, fit
from overt.metrics.precision import precision, precision_of_column
from overt.metrics.utility import measure_utility
from overt.partition import Partition
from overt.release import BucketRelease, GeneralizedRelease

generalized = releases(kinds=(GeneralizedRelease,))


@given(generalized, st.sampled_from(["number", "set", "label"]))
def test_what_a_reader_expects_of_a_column(release, name):
    column = release.table.column(name)
    expected = oracle.expected_rows(parts_of(release), cells_of(release, column))
    assert spread_of(release, column).rows_of_value == pytest.approx(
        [float(expected[c]) for c in range(column.n_values)]
    )
    actual = Counter(column.codes.tolist())
    assert marginal_divergence(release, column) == pytest.approx(oracle.divergence(actual, expected), abs=1e-9)


@given(generalized, st.permutations(["number", "set", "label"]))
def test_what_a_reader_expects_of_two_columns(release, names):
    one, other = (release.table.column(name) for name in names[:2])
    cells = [cells_of(release, column) for column in (one, other)]
    expected = oracle.expected_pairs(parts_of(release), *cells)
    shape = (one.n_values, other.n_values)
    table = [[float(expected[v, w]) for w in range(shape[1])] for v in range(shape[0])]
    assert spread_of(release, one).rows_of_pair(spread_of(release, other)) == pytest.approx(np.array(table), abs=1e-9)
    actual = Counter(zip(one.codes.tolist(), other.codes.tolist(), strict=True))
    assert pair_divergence(release, one, other) == pytest.approx(oracle.divergence(actual, expected), abs=1e-9)


@given(releases(), st.sampled_from(["number", "set", "label"]))
def test_a_sensitive_column_beside_a_known_one_is_as_counted(release, name):
    column, secret = release.table.column(name), release.table.column("secret")
    table = np.zeros((column.n_values, secret.n_values))
    cells = cells_of(release, column)
    for row in parts_of(release)[release.n_groups :]:  # nothing is known of suppressed rows
        table += len(row) / table.size
    for group, cell in zip(groups_of(release), cells, strict=False):
        for row in group:
            for other in group:  # the value of another row of the group is as likely to be mine
                if is_exact(release, column):
                    table[column.codes[row], secret.codes[other]] += 1 / len(group)
                else:
                    table[list(cell), secret.codes[other]] += 1 / len(cell) / len(group)
    assert spread_of(release, column).rows_of_pair(spread_of(release, secret)) == pytest.approx(table, abs=1e-9)


@given(generalized, st.sampled_from(["number", "set", "label"]))
def test_entropy_is_the_bits_between_a_value_and_its_cell(release, name):
    column = release.table.column(name)
    lost = oracle.entropy_loss(column.codes.tolist(), parts_of(release), cells_of(release, column))
    assert entropy_of_column(release, column) == pytest.approx(lost, abs=1e-9)


@given(generalized)
def test_precision_counts_steps_of_the_hierarchy(release):
    column = release.table.column("label")
    steps = {1: 0, 2: 1, 4: 2, 8: 3}
    cells = cells_of(release, column)
    total = sum(len(group) * steps[len(cell)] / 3 for group, cell in zip(parts_of(release), cells, strict=True))
    assert precision_of_column(release, column) == pytest.approx(1 - total / release.table.n_rows)
    flat = release.table.column("set")
    exact = sum(len(g) for g, cell in zip(groups_of(release), cells_of(release, flat), strict=False) if len(cell) == 1)
    assert precision_of_column(release, flat) == pytest.approx(exact / release.table.n_rows)


@given(releases())
def test_all_metrics_together_say_the_same_as_each_alone(release):
    utility = measure_utility(release)
    assert utility.precision == pytest.approx(precision(release))
    assert utility.non_uniform_entropy == pytest.approx(non_uniform_entropy(release))
    seen = groups_of(release) if isinstance(release, BucketRelease) else seen_groups_of(release)
    sizes = [len(group) for group in seen]
    assert utility.discernibility == sum(size**2 for size in sizes) + release.n_suppressed * release.table.n_rows
    assert utility.average_group_size == pytest.approx(sum(sizes) / len(sizes))
    for pair in utility.pairs:
        one, other = (release.table.column(name) for name in pair.columns)
        assert pair.divergence == pytest.approx(pair_divergence(release, one, other), abs=1e-9)
    known = {frozenset(pair.columns) for pair in utility.pairs}
    names = ("number", "set", "label")
    within = {frozenset((a, b)) for a in names for b in names if a < b}
    across = {frozenset((a, "secret")) for a in names}
    assert known == across | (within if isinstance(release, GeneralizedRelease) else set())


@given(generalized)
def test_means_by_category_are_off_by_as_much_as_the_definition_says(release):
    number, category = release.table.column("number"), release.table.column("label")
    if number.missing_code is not None:
        return
    cells = [cells_of(release, column) for column in (category, number)]
    codes = [column.codes.tolist() for column in (category, number)]
    error = oracle.mean_errors(*codes, parts_of(release), *cells, numbers_of(number))
    pairs = {frozenset(pair.columns): pair for pair in measure_utility(release).pairs}
    assert pairs[frozenset(("number", "label"))].mean_error == pytest.approx(error, abs=1e-9)


def test_means_of_a_number_that_is_always_missing_are_not_off():
    frame = pl.DataFrame({"n": [None, None], "s": ["a", "b"]}, schema_overrides={"n": pl.Int64})
    table = read_frame(frame, quasi_identifiers=["n"], sensitive=["s"], kinds={"n": "number"})
    release = GeneralizedRelease(table, Partition(np.zeros(2, np.int32), 1), None)
    (pair,) = measure_utility(release).pairs
    assert pair.mean_error == 0


def test_groups_of_one_cost_nothing():
    table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    alone = Partition(np.arange(table.n_rows, dtype=np.int32), table.n_rows)
    utility = measure_utility(GeneralizedRelease(table, alone, None))
    losses = (utility.certainty_penalty, utility.non_uniform_entropy, utility.precision)
    assert losses == pytest.approx((0, 0, 1), abs=1e-12)
    assert utility.pair_divergence == pytest.approx(0, abs=1e-12)
    (learnt,) = utility.predictions
    assert learnt.by_release == learnt.by_original and learnt.kept == 1


def test_buckets_keep_every_column_and_lose_what_links_them():
    table = read_frame(samples.census(3000), quasi_identifiers=["Age", "Gender"], sensitive=["Income"])
    release = Anatomy(goal=FrequencyLDiversity(5)).anonymize(table, rng=np.random.default_rng(1))
    utility = measure_utility(release)
    assert isinstance(release, BucketRelease)
    assert utility.marginal_divergence == 0 and utility.precision == 1
    assert {pair.columns for pair in utility.pairs} == {("Age", "Income"), ("Gender", "Income")}
    assert 0 < utility.pair_divergence < 1


def test_the_best_average_group_is_one():
    assert normalised_group_size(Partition.from_groups([[0, 1], [2, 3]]), 2) == 1


def test_divergence_of_known_distributions():
    # half and half against three quarters and one quarter: 1/2 log2(2/3) + 1/2 log2 2
    assert divergence(np.array([1, 1]), np.array([1.5, 0.5])) == pytest.approx(0.5 * np.log2(2 / 3) + 0.5)


@given(st.integers(0, 10_000))
def test_the_regression_ends_where_nothing_improves_it(seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(40, 3))
    target = (rng.random(40) < 0.5).astype(float)
    coefficients = fit(features, target)
    design = np.column_stack([np.ones(40), features])
    residual = design.T @ (1 / (1 + np.exp(-design @ coefficients)) - target)
    assert residual + RIDGE * np.array([0, *coefficients[1:]]) == pytest.approx(np.zeros(4), abs=1e-3)


def test_the_regression_bears_targets_that_are_all_alike_and_columns_that_tell_everything():
    features = np.linspace(-1, 1, 50)[:, None]
    assert np.isfinite(fit(features, np.ones(50))).all()
    assert np.isfinite(fit(features * 1e3, (features[:, 0] > 0).astype(float))).all()


def test_a_release_that_keeps_the_pattern_predicts_like_the_original():
    table = read_frame(samples.census(8000), quasi_identifiers=["Age", "Gender", "Education"], sensitive=["Income"])
    rng = np.random.default_rng(0)
    fine = prediction(Mondrian(goal=KAnonymity(5)).anonymize(table), table.sensitive[0], rng)
    everything = prediction(Mondrian(goal=KAnonymity(8000)).anonymize(table), table.sensitive[0], rng)
    assert fine.by_original > fine.by_majority + 0.03  # the census has a pattern to find
    assert fine.kept > 0.8
    assert everything.kept < 0.2
