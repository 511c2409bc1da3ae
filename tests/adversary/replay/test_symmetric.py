# SPDX-License-Identifier: Apache-2.0
"""Two streets of as many people, four values that are equally frequent: whatever the goal, every belief is 1/4.

The truth has one value just too often in one street, so that the cut between the streets failed. Nothing tells the values
apart, nor the streets: by symmetry everybody has each value with chance 1/4, however many people there are. Whoever takes the
reason for which the cut failed in the true table for known believes 1/3 of half of the people.
"""

import numpy as np
import pytest

from overt.adversary.audit import audit_release
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.monte_carlo import sample_posterior
from overt.algorithms import Mondrian
from overt.partition import Groups
from overt.privacy import (
    AllOf,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
)
from overt.trace import Trials
from tables import table_of

GOALS = {
    "frequency": FrequencyLDiversity(3),
    "distinct": DistinctLDiversity(4),
    "distinct of 3": AllOf((KAnonymity(2), DistinctLDiversity(3))),
    "entropy": EntropyLDiversity("7/2"),
    "recursive": RecursiveCLDiversity(1, 3),
    "recursive of 2": RecursiveCLDiversity("1/2", 2),
}
SLOW = [
    *((name, n) for name in ("frequency", "recursive of 2") for n in (1200, 4400)),
    *((name, 1200) for name in ("distinct", "distinct of 3", "entropy", "recursive")),
    ("frequency", 12000),
]
LARGEST = {("frequency", 600): 0.02, ("distinct", 600): 0.08}  # error; of others 0.15: reasons far from each other
CASES = [*((name, 600) for name in GOALS), *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]


def two_streets(name, n):
    """A table whose cut between streets fails, and would not if one person fewer had a frequent value in the first street.

    Of distinct values that street has a quarter of the people: in a half a value that is missing is a freak.
    """
    each, first = n // 4, n // 4 if name.startswith("distinct") else n // 2
    inside = np.full(4, first // 4)
    inside[0] += first - inside.sum()
    rarest_first = name in ("distinct", "distinct of 3")
    donor = 0
    while True:
        values = np.concatenate([np.repeat(np.arange(4), inside), np.repeat(np.arange(4), each - inside)])
        table = table_of([[0] * first + [1] * (n - first)], values.tolist())
        starts = np.array([0, first, n], np.int64)
        if GOALS[name].breaks(Groups.of_ranges(table.sensitive, np.arange(n, dtype=np.int32), starts)).any():
            return table
        donor = max(v for v in (1, 2, 3) if inside[v]) if rarest_first else donor % 3 + 1
        into = min(v for v in range(4) if v != donor and inside[v] < each)
        inside[donor] -= 1
        inside[into] += 1


# Statistical: fixed seeds. Errors are of 8 runs, widened for so few; three of them are passed by chance in one case of 300 or less.
@pytest.mark.parametrize(("name", "n"), CASES)
def test_every_belief_is_a_quarter(name, n):
    method, table = Mondrian(goal=GOALS[name]), two_streets(name, n)
    release, column = method.anonymize(table), table.sensitive[0]
    assert release.n_groups == 1
    facts = np.zeros((n, 4), np.bool_)
    failed = FailedTrials.of([Trials.of_cuts(method.trace(table))], release.partition, column, method.goal, facts)
    found = sample_posterior(failed, rng=np.random.default_rng(1), sweeps=16, lists=False)
    error = found.error[found.cell_of_row]
    assert (np.abs(found.chance[found.cell_of_row] - 1 / 4) <= 3 * error + 1e-9).all()
    assert found.is_known.all() and (error < LARGEST.get((name, n), 0.15)).all()


@pytest.mark.parametrize(("name", "seed"), [("frequency", 1), ("frequency", 2), ("frequency", 3), ("distinct", 1)])
def test_every_belief_of_an_audit_is_a_quarter(name, seed):
    """As users ask: through the audit, which may list what it can."""
    release = Mondrian(goal=GOALS[name]).anonymize(two_streets(name, 600))
    found = audit_release(release, rng=np.random.default_rng(seed), sweeps=16)
    beliefs, error = (one[found.replayed.cell_of_row] for one in (found.replayed.chance, found.replayed.error))
    assert (np.abs(beliefs - 1 / 4) <= 3 * error + 1e-9).all() and not found.n_unknown
    assert (error < LARGEST[name, 600]).all()
    assert not found.is_above(factor=1.01).any() and found.n_certain == 0
