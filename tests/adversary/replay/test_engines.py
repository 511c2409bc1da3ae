# SPDX-License-Identifier: Apache-2.0
"""Levels in order, GDA as printed, and any method at all, against enumeration."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from overt.adversary.audit import audit_release
from overt.adversary.knowledge import Knowledge
from overt.adversary.replay import time_limit
from overt.adversary.replay.engines import SMALL, preferred_of, replay
from overt.adversary.replay.enumeration import count_tables, enumerate_posterior
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.monte_carlo import sample_posterior
from overt.adversary.replay.preferred_nodes import PreferredNodes
from overt.adversary.replay.rerun_chain import wander
from overt.adversary.replay.time_limit import OutOfTime, in_time
from overt.algorithms import GDA, FullDomain, InOrder, Mondrian
from overt.errors import InvalidInput, Stuck, Unreachable
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity
from overt.progress import silent
from overt.release import BucketRelease
from overt.report.leak import how_found
from overt.report.leak_verdict import LeakVerdict, verdict_of
from tables import table_of

FEW = [HealthCheck.filter_too_much, HealthCheck.too_slow]
STRATEGIES = [{"strategy": "naive"}, {"strategy": "safe"}, {"strategy": "exclusive"}, {"strategy": "k-jump", "k": 2}]


@st.composite
def people(draw, max_rows=8):
    """A column of numbers, and values that are spread evenly."""
    n = draw(st.integers(4, max_rows))
    numbers = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    values = draw(st.permutations([row % 3 for row in range(n)]))
    return table_of([numbers], list(values), n_codes=[7])


def rng(seed=1):
    return np.random.default_rng(seed)


def released(method, table):
    try:
        release = method.anonymize(table, rng=rng())
    except (Unreachable, Stuck):
        assume(False)
    assume(count_tables(release.partition, table.sensitive[0]) <= 300)
    return release


def in_order(options, goal):
    return InOrder(goal=goal, levels=3, smallest=1, **options)


@pytest.mark.parametrize("options", STRATEGIES, ids=lambda options: options["strategy"])
@settings(max_examples=20, suppress_health_check=FEW)
@given(
    table=people(max_rows=7),
    goal=st.sampled_from([FrequencyLDiversity(2), FrequencyLDiversity("3/2"), DistinctLDiversity(2)]),
)
def test_levels_in_order_agree_with_enumeration(options, table, goal):
    method = in_order(options, goal)
    release = released(method, table)
    exact = enumerate_posterior(release, method)
    found = replay(release, Knowledge(), rng=rng(), seconds=1).posterior
    assert found.is_exact and found.n_tables == exact.n_tables
    assert np.allclose(found.chance[found.cell_of_row], exact.chance[exact.cell_of_row])


# Statistical: as in test_chain, 5 standard errors and 0.02.
@pytest.mark.parametrize("options", STRATEGIES, ids=lambda options: options["strategy"])
@settings(max_examples=12, derandomize=True, suppress_health_check=FEW)
@given(table=people(max_rows=7), data=st.data())
def test_failed_levels_make_a_chain(options, table, data):
    method = in_order(options, FrequencyLDiversity(2))
    release = released(method, table)
    levels, column = method.failed_levels(release, rng=rng()), table.sensitive[0]
    assume(levels is not None)
    knowledge = Knowledge(known=tuple(data.draw(st.lists(st.integers(0, table.n_rows - 1), max_size=1))))
    exact = enumerate_posterior(release, method, knowledge=knowledge)
    failed = FailedTrials.of([levels], release.partition, column, method.goal, knowledge.forbidden(column))
    listed = sample_posterior(failed, rng=rng())
    assert listed.n_tables == exact.n_tables
    assert np.allclose(listed.chance[listed.cell_of_row], exact.chance[exact.cell_of_row])
    if failed.n_components:
        found = sample_posterior(failed, rng=rng(2), sweeps=400, lists=False)
        off = np.abs(found.chance[found.cell_of_row] - exact.chance[exact.cell_of_row])
        assert (off <= 5 * found.error[found.cell_of_row] + 0.02).all()


METHODS = [
    GDA(goal=DistinctLDiversity(2), mode="paper"),
    Mondrian(goal=DistinctLDiversity(2)),
    FullDomain(goal=FrequencyLDiversity(2), max_suppressed="1/3"),
    in_order({"strategy": "safe"}, FrequencyLDiversity(2)),
]


# Statistical: as above; fixed examples and seeds. Single swaps reach all tables of these few rows.
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@settings(max_examples=5, derandomize=True, suppress_health_check=FEW, deadline=None)
@given(table=people(max_rows=6))
def test_running_any_method_again_agrees_with_enumeration(method, table):
    release = released(method, table)
    assume(count_tables(release.partition, table.sensitive[0]) <= 60)
    exact = enumerate_posterior(release, method)
    found = wander(release, method, rng=rng(3), sweeps=40)
    off = np.abs(found.chance[found.cell_of_row] - exact.chance[exact.cell_of_row])
    assert (off <= 5 * found.error[found.cell_of_row] + 0.05).all()


class Tosses:
    """Groups people in pairs: by a coin, unless the first two have the same value."""

    def anonymize(self, table, *, rng):
        values = table.sensitive[0].codes
        apart = values[0] == values[1] or rng.integers(0, 3) == 0
        return BucketRelease(table, Partition.from_groups([[0, 2], [1, 3]] if apart else [[0, 1], [2, 3]]), self)


def test_tables_count_with_the_chance_of_their_coins():
    table = table_of([[0, 1, 2, 3]], [0, 0, 1, 1])
    release = Tosses().anonymize(table, rng=rng())
    found = wander(release, Tosses(), rng=rng(4), sweeps=2000, knowledge=Knowledge(known=(0,)))
    assert found.of_row(1) == pytest.approx(
        [3 / 4, 1 / 4], abs=0.05
    )  # exact in test_enumeration; 8,000 steps, error 0.01


def test_gda_leaks_on_more_rows_than_can_be_listed():
    generator = rng(5)
    table = table_of([generator.integers(0, 50, 60)], [row % 4 for row in range(60)])
    release = GDA(goal=DistinctLDiversity(3), mode="paper").anonymize(table, rng=generator)
    found = audit_release(release, rng=generator, sweeps=20)
    assert found.replayed.how == "chain" and found.replayed.belief_of_row.max() > found.alone.belief_of_row.max()
    # All chains begin at the true table, and may keep its reasons: no conclusion is drawn from them.
    assert found.n_unknown == 60 and found.share_above() == 0 and verdict_of(found) is LeakVerdict.UNKNOWN
    assert found.guesses[1] == pytest.approx(found.guesses[0]) and "no conclusion is drawn" in how_found(found)
    assert found.risks[0].replayed == found.risks[0].alone


def test_a_full_domain_release_with_suppressed_rows_is_audited():
    generator = rng(6)
    streets = generator.integers(0, 6, 300)
    values = np.where((streets == 0) & (generator.random(300) < 0.6), 0, generator.integers(0, 5, 300))
    release = FullDomain(goal=FrequencyLDiversity("5/2"), max_suppressed="1/3").anonymize(
        table_of([streets], values.tolist())
    )
    hidden = release.partition.group_of_row < 0
    assert hidden.sum() == (streets == 0).sum()  # one street is left out, and the others are shown as they are
    found = audit_release(release, rng=generator, sweeps=400)
    assert np.allclose(found.replayed.chance.sum(axis=1), 1)
    assert np.allclose(found.alone.belief_of_row[hidden], 1 / 5)  # the release alone says nothing of them
    # That they were left out says that some value has more than two fifths, but not which: nobody is above his share.
    assert np.allclose(found.replayed.chance[found.replayed.cell_of_row[hidden]], 1 / 5, atol=0.05)


def test_what_cannot_be_followed_is_not_known_and_says_why():
    generator = rng(7)
    table = table_of([generator.integers(0, 50, SMALL + 1)], [row % 4 for row in range(SMALL + 1)])
    release = GDA(goal=DistinctLDiversity(2), mode="paper").anonymize(table, rng=generator)
    found = audit_release(release, rng=generator)
    assert found.n_unknown == SMALL + 1 and found.share_above() == found.n_certain == 0
    assert "GDA is none of these" in found.replayed.sampled.why and found.replayed.sampled.needed is None
    assert found.guesses[1] == pytest.approx(found.guesses[0]) and found.risks[0].replayed == found.risks[0].alone
    small = table_of([[0, 1, 2, 3]], [0, 0, 1, 2])
    release = GDA(goal=DistinctLDiversity(2), mode="paper").anonymize(small, rng=generator)
    with pytest.raises(InvalidInput, match="does not lead to this release"):
        wander(release, Mondrian(goal=KAnonymity(1)), rng=generator)
    searched = FullDomain(goal=FrequencyLDiversity(2), seconds=1e-9)
    wide = table_of([generator.integers(0, 5, 300) for _ in range(5)], [row % 4 for row in range(300)])
    release = searched.anonymize(wide)
    if not release.search.is_complete:
        assert "ran out of time" in audit_release(release, rng=generator).replayed.sampled.why


def test_what_cannot_be_replayed_in_the_time_is_not_known_yet():
    generator = rng(8)
    wide = table_of([generator.integers(0, 5, 300) for _ in range(3)], [row % 4 for row in range(300)])
    release = FullDomain(goal=FrequencyLDiversity(3)).anonymize(wide)
    found = audit_release(release, rng=generator, seconds=1e-6)
    assert found.n_unknown == 300 and not found.is_known and found.n_certain == 0 and found.share_above() == 0
    assert found.worst.belief == found.alone.belief_of_row.max() and found.replayed.sampled.needed > 0
    assert not audit_release(release, rng=generator, seconds=5).n_unknown


def test_nodes_that_are_passed_over_take_no_time_that_there_is_not(monkeypatch):
    """Of most nodes of a search nothing is handed over, and their groups are made all the same: the clock is looked at before each."""
    generator = rng(8)
    wide = table_of([generator.integers(0, 2, 300) for _ in range(6)], [row % 4 for row in range(300)])
    release = FullDomain(goal=FrequencyLDiversity(2), optimise="discernibility").anonymize(wide)
    made, partition = [], PreferredNodes.partition

    def count(nodes, node):
        made.append(node)
        return partition(nodes, node)

    monkeypatch.setattr(PreferredNodes, "partition", count)
    n_handed = len(list(preferred_of(release, release.method, silent)))
    assert len(made) > 5 * n_handed  # so many are passed over
    made.clear()
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(perf_counter=lambda: float(len(made))))
    with pytest.raises(OutOfTime):
        list(preferred_of(release, release.method, in_time(5.0, silent)))
    assert 5 <= len(made) <= 6
    monkeypatch.undo()
    monkeypatch.setattr(PreferredNodes, "partition", count)
    made.clear()
    assert audit_release(release, rng=generator, seconds=1e-6).n_unknown == 300 and made == [release.node]


def test_nobody_is_certain_above_or_below_by_what_runs_do_not_agree_about():
    generator = rng(9)
    table = table_of([[0] * 3000 + [1] * 3000], generator.integers(0, 4, 6000).tolist())
    table = table_of([[0] * 3000 + [1] * 3000], np.sort(table.sensitive[0].codes % 4).tolist())
    release = Mondrian(goal=FrequencyLDiversity(3)).anonymize(table)
    found = audit_release(
        release, rng=generator, seconds=0.3
    )  # half of the values on each side: no run comes so far so soon
    assert found.n_unknown == 6000 and not found.is_known and found.share_above() == 0 and found.n_certain == 0
    assert found.replayed.sampled.needed > 0.3


@pytest.mark.parametrize(
    "method", [FullDomain(goal=FrequencyLDiversity(2)), GDA(goal=FrequencyLDiversity(2), mode="paper")]
)
def test_trying_every_table_ends_with_the_time(method):
    """A few thousand runs of a slow method are minutes. What failed is then listed without any run, or nothing is known yet."""
    table = table_of([[0, 0, 1, 1, 2, 2, 3, 3]], [0, 1, 2, 3, 0, 1, 2, 3])
    release = method.anonymize(table, rng=np.random.default_rng(1))
    assert count_tables(release.partition, table.sensitive[0]) <= 5_000
    said = []
    found = audit_release(
        release, rng=np.random.default_rng(1), seconds=60, on_progress=lambda *what: said.append(what)
    )
    assert found.replayed.how == "enumeration" and any(total > 1 for _, _, total in said)
    hurried = audit_release(release, rng=np.random.default_rng(1), seconds=1e-6)
    assert hurried.replayed.how != "enumeration"
    if isinstance(method, GDA):
        assert hurried.n_unknown == table.n_rows and hurried.replayed.sampled.needed
