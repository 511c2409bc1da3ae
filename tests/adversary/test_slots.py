# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from overt.adversary import slots
from overt.adversary.chain import sample_posterior
from overt.adversary.enumeration import enumerate_posterior
from overt.adversary.failed_trials import FailedTrials
from overt.algorithms import Mondrian
from overt.privacy import FrequencyLDiversity
from overt.trace import Trials
from tables import table_of

GO = np.zeros(1, np.bool_)


def failed_of(table, method):
    release, column = method.anonymize(table), table.sensitive[0]
    facts = np.zeros((table.n_rows, column.n_values), np.bool_)
    trials = [Trials.of_cuts(method.trace(table))]
    return release, FailedTrials.of(trials, release.partition, column, method.goal, facts, hidden=True)


def test_dense_components_have_a_short_ladder_and_begin_at_the_table(monkeypatch):
    rng = np.random.default_rng(3)
    table = table_of([rng.integers(0, 30, 300)], rng.integers(0, 4, 300).tolist())
    _, failed = failed_of(table, Mondrian(goal=FrequencyLDiversity(3)))
    assert not slots.find_dense(failed, np.ones(failed.n_components, np.bool_), rng, GO).any()  # none is large
    monkeypatch.setattr(slots, "find_dense", lambda failed, going, *_: going.copy())
    ladders = slots.build_ladders(failed, rng, GO)
    assert ladders.is_dense.all() and (ladders.n_rungs <= slots.FEW_RUNGS).all()
    scattered = slots.Slots.at(failed, ladders, rng, scattered=True)
    assert not scattered.state.energy_of_slot.any()  # the true table gives the release


@pytest.mark.parametrize("values", [[0, 0, 0, 1, 1, 2, 2, 1], [0, 1, 2, 3, 4, 4, 4, 0]])
def test_dense_components_are_sampled_as_others_are(monkeypatch, values):
    # within five standard errors, and 0.02 for what batches cannot see: a chance of failing below 1 in 10,000
    monkeypatch.setattr(slots, "find_dense", lambda failed, going, *_: going.copy())
    table = table_of([[0, 0, 0, 0, 1, 1, 1, 1]], values)
    method = Mondrian(goal=FrequencyLDiversity(2))
    release, failed = failed_of(table, method)
    exact = enumerate_posterior(release, method)
    found = sample_posterior(failed, rng=np.random.default_rng(4), sweeps=4000, lists=False)
    assert failed.n_components == 1 and found.sampled.n_near_truth == failed.size_of_component.sum()  # and that is said
    for row in range(8):
        error = found.error[found.cell_of_row[row]]
        assert (np.abs(found.of_row(row) - exact.of_row(row)) <= 5 * error + 0.02).all()
