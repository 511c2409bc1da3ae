# SPDX-License-Identifier: Apache-2.0
"""What is left out of a chain because it cannot change, or has no chance to."""

import numpy as np
import pytest

from overt.adversary.knowledge import Knowledge
from overt.adversary.replay import open_trials as open_parts
from overt.adversary.replay.engines import preferred_of
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.goal_rules import GoalRules
from overt.adversary.replay.joint_values import JointValues
from overt.adversary.replay.monte_carlo import sample_posterior
from overt.adversary.replay.open_trials import count_values, scatter_tables
from overt.algorithms import FullDomain
from overt.kernels import failed_trials as kernels
from overt.partition import Partition
from overt.privacy import AllOf, DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.progress import silent
from tables import table_of

GOALS = [
    FrequencyLDiversity(2),
    DistinctLDiversity(3),
    RecursiveCLDiversity(2, 3),
    AllOf((DistinctLDiversity(2), FrequencyLDiversity("3/2"))),
]


# Statistical: 4,000 random tables with a fixed seed, one chance in a thousand for each of 80 parts to lie 3 errors above.
@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_chances_of_parts_are_bounded_and_verdicts_are_right(goal, monkeypatch):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(3, dtype=np.int32), [8, 12, 20])
    column = table_of([groups], rng.choice(4, 40, p=[0.4, 0.3, 0.2, 0.1]).tolist()).sensitive[0]
    partition, free = Partition(groups, 3), np.zeros(3, np.bool_)
    monkeypatch.setattr(open_parts, "N_RANDOM", 4_000)
    tables = scatter_tables(partition, column, free)
    parts = [rng.choice(40, size, replace=False).astype(np.int32) for size in rng.integers(2, 20, 80)]
    parts[0] = np.arange(8, dtype=np.int32)  # a whole group never changes
    rows, starts = np.concatenate(parts), np.append(0, np.cumsum([part.size for part in parts]))
    cap, rules = GoalRules(goal, JointValues.of([column])).of(np.diff(starts))
    weight = np.ones((len(parts), 2), np.int64)
    each = np.arange(len(parts) + 1)
    broken = kernels.weigh_broken(tables, rows, each, starts, cap, rules, weight, column.n_values)[:, :, 0].mean(axis=0)
    top_share = np.zeros((3, column.n_values + 1))
    in_group = count_values(partition, column)
    top_share[:, 1:] = np.cumsum(-np.sort(-in_group, axis=1) / partition.sizes[:, None], axis=1)
    bound = np.exp(kernels.bound_chances(groups[rows], starts, top_share, cap, rules))
    assert (broken <= bound + 3 * np.sqrt(bound / len(tables)) + 1e-12).all()
    verdict = kernels.judge_parts(groups[rows], starts, in_group, partition.sizes, free, cap, rules)
    assert (broken[verdict == kernels.ALWAYS] == 1).all() and (broken[verdict == kernels.NEVER] == 0).all()
    assert verdict[0] != kernels.OPEN


# Statistical: two runs with fixed seeds on the same release, 5 standard errors of both and 0.02.
@pytest.mark.slow
def test_what_is_left_out_has_no_weight(monkeypatch):
    rng = np.random.default_rng(8)
    age, sex = rng.integers(0, 12, 400), rng.integers(0, 2, 400)
    values = np.where(rng.random(400) < 0.3 * (age == 3), 0, rng.integers(0, 6, 400))
    method = FullDomain(goal=DistinctLDiversity(5), optimise="discernibility", max_suppressed="1/10")
    release = method.anonymize(table_of([age, sex, rng.integers(0, 3, 400)], values.tolist()))
    column = release.table.sensitive[0]
    found = []
    for by_far, no_chance in ((open_parts.BY_FAR, open_parts.NO_CHANCE), (1e9, -np.inf)):
        monkeypatch.setattr(open_parts, "BY_FAR", by_far)
        monkeypatch.setattr(open_parts, "NO_CHANCE", no_chance)
        several = preferred_of(release, method, silent)
        failed = FailedTrials.of(
            several, release.partition, column, method.goal, Knowledge().forbidden(column), hidden=True
        )
        found.append((failed.starts.size, sample_posterior(failed, rng=rng, sweeps=100, lists=False)))
    (fewer, one), (more, other) = found
    assert fewer < more
    error = one.error[one.cell_of_row] + other.error[other.cell_of_row]
    assert (np.abs(one.chance[one.cell_of_row] - other.chance[other.cell_of_row]) <= 5 * error + 0.02).all()


@pytest.mark.parametrize("run", [kernels.find_divided, getattr(kernels.find_divided, "py_func", kernels.find_divided)])
def test_where_nothing_is_divided_there_are_no_numbers_with_the_compiler_off_too(run):
    """A trial that has all of a group in one part: lists that stay empty are still of whole numbers, which are used as places."""
    groups, first_part, starts = np.zeros(3, np.int32), np.array([0, 2]), np.array([0, 3, 3])
    found = run(groups, first_part, starts, np.array([3]), np.zeros(1, np.bool_))
    assert [one.size for one in found] == [0, 0, 0]
    assert [one.dtype for one in found] == [np.int64, np.int64, np.bool_]
