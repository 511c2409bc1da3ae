# SPDX-License-Identifier: Apache-2.0
"""Unbiased estimates: on average the truth, with the standard error that they claim."""

import numpy as np
import pytest

from overt.algorithms.streamliner import GDA, RDA, BatchMatching, Dealing
from overt.errors import InvalidInput, TooLarge
from overt.metrics import unbiased
from overt.metrics.query_workload import Workload, actual_counts, relative_errors, uniform_in_box
from overt.metrics.unbiased import unbiased_counts, unbiased_means
from overt.privacy import FrequencyLDiversity, KAnonymity
from tables import table_of

GOAL = FrequencyLDiversity(3)


def linked_table(n_rows, seed):
    """Ten values; those from 5 on are mostly old and of the second gender."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 10, n_rows)
    is_late = (values >= 5) & (rng.random(n_rows) < 0.8)
    gender = np.where(is_late, 1, rng.integers(0, 2, n_rows))
    age = np.where(is_late, rng.integers(10, 20, n_rows), rng.integers(0, 20, n_rows))
    return table_of([age, gender], values, n_codes=[20, 2])


@pytest.mark.parametrize(
    "method",
    [
        RDA(goal=GOAL, form="bucketized"),
        Dealing(goal=GOAL, form="bucketized"),
        BatchMatching(goal=GOAL, form="bucketized"),
        BatchMatching(goal=GOAL, form="bucketized", matching="rank", swaps=1),
        BatchMatching(goal=GOAL, form="bucketized", strata=("q1",)),
    ],
    ids=repr,
)
def test_mean_over_many_releases_is_the_truth(method):
    """Five standard errors of the mean over 60 releases, 12 queries; and 12 x 60 estimates spread as claimed.

    The chance of failing is below 1 in 10,000 per method; the seed is fixed.
    """
    rng = np.random.default_rng(3)
    table = linked_table(1500, 1)
    workload = Workload.draw(table, ["q0", "q1"], 12, rng)
    actual = actual_counts(table, workload)
    found = [unbiased_counts(method.anonymize(table, rng=rng), workload) for _ in range(60)]
    value = np.array([estimates.value for estimates in found])
    claimed = np.array([estimates.standard_error for estimates in found])
    standard_error = np.sqrt((claimed**2).mean(axis=0))
    some = standard_error > 0
    assert np.allclose(value[:, ~some], actual[~some])
    assert (np.abs(value.mean(axis=0) - actual)[some] <= 5 * standard_error[some] / 60**0.5).all()
    spread = (value.std(axis=0) / np.where(some, standard_error, 1))[some]
    assert 0.8 < spread.mean() < 1.2


def test_beats_uniform_in_box_where_values_and_people_go_together():
    rng = np.random.default_rng(0)
    table = linked_table(60_000, 2)
    release = BatchMatching(goal=GOAL, form="bucketized").anonymize(table, rng=rng)
    workload = Workload.draw(table, ["q1"], 100, rng)
    actual = actual_counts(table, workload)
    plain = relative_errors(actual, uniform_in_box(release, workload), table.n_rows).mean()
    better = relative_errors(actual, unbiased_counts(release, workload).value, table.n_rows).mean()
    assert better < 0.2 * plain


def test_uniform_in_box_is_nearer_on_a_small_table():
    """What the docs say: the price of no bias is variance."""
    rng = np.random.default_rng(0)
    table = linked_table(120, 2)
    release = BatchMatching(goal=GOAL, form="bucketized").anonymize(table, rng=rng)
    workload = Workload.draw(table, ["q0"], 200, rng)
    actual = actual_counts(table, workload)
    plain = relative_errors(actual, uniform_in_box(release, workload), table.n_rows).mean()
    assert plain < relative_errors(actual, unbiased_counts(release, workload).value, table.n_rows).mean()


def test_means_are_the_truth_on_average():
    rng = np.random.default_rng(5)
    table = linked_table(1500, 1)
    wanted = np.zeros((2, 10), np.bool_)
    wanted[0, 5:], wanted[1, :3] = True, True
    values, age = table.sensitive[0].codes, table.column("q0").codes
    actual = [age[np.isin(values, np.flatnonzero(row))].mean() for row in wanted]
    method = BatchMatching(goal=GOAL, form="bucketized")
    found = [unbiased_means(method.anonymize(table, rng=rng), "q0", wanted) for _ in range(60)]
    value = np.array([estimates.value for estimates in found])
    claimed = np.array([estimates.standard_error for estimates in found]).mean(axis=0)
    assert (np.abs(value.mean(axis=0) - actual) <= 5 * claimed / 60**0.5).all()
    assert (value.std(axis=0) / claimed > 0.7).all()
    assert (value.std(axis=0) / claimed < 1.3).all()


def test_what_the_sets_do_not_determine_is_nan():
    table = table_of([[0, 1] * 6], [0, 1, 2] * 4)
    release = Dealing(goal=GOAL, form="bucketized").anonymize(table, rng=np.random.default_rng(0))
    workload = Workload.draw(table, ["q0"], 20, np.random.default_rng(0))
    found = unbiased_counts(release, workload)
    assert np.isnan(found.value).all()  # three values that always come together
    assert np.isnan(found.standard_error).all()
    everything = Workload.draw(table, ["q0"], 5, np.random.default_rng(0), sensitive=False)
    assert unbiased_counts(release, everything).value == pytest.approx(actual_counts(table, everything))


def test_refusals(monkeypatch):
    table, rng = linked_table(300, 0), np.random.default_rng(0)
    workload = Workload.draw(table, ["q0"], 2, rng)
    for method in (GDA(goal=GOAL, mode="paper"), RDA(goal=GOAL & KAnonymity(9))):
        with pytest.raises(InvalidInput, match="did not draw rows blind"):
            unbiased_counts(method.anonymize(table, rng=rng), workload)
    boxes = RDA(goal=GOAL).anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="form='bucketized'"):
        unbiased_means(boxes, "q0", np.ones((1, 10), np.bool_))
    buckets = RDA(goal=GOAL, form="bucketized").anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="column of numbers"):
        unbiased_means(buckets, "s0", np.ones((1, 10), np.bool_))
    with pytest.raises(InvalidInput, match="yes or no"):
        unbiased_means(buckets, "q0", np.ones((1, 3), np.bool_))
    monkeypatch.setattr(unbiased, "MOST_CELLS", 10)
    with pytest.raises(TooLarge, match="different sets of 10 values"):
        unbiased_counts(buckets, workload)
