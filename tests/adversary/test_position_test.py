# SPDX-License-Identifier: Apache-2.0
"""Methods that are claimed to be safe show no excess on generated data, and those that leak do.

Each test of a safe method fails by chance with 2 of 10,000 seeds (Student's law with 39 degrees of freedom, twelve looks); seeds
are fixed.
"""

import numpy as np
import pytest

from overt.adversary.position_test import Placing, excess_of, place
from overt.algorithms import GDA, RDA, RIA, BatchMatching, CrossBucket, Dealing
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity
from overt.release import GeneralizedRelease
from tables import table_of


def crowd(n_rows=400, seed=7):
    """Values go with quasi-identifiers, as in life; the look deals them out anew."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(0, 60, n_rows), rng.integers(0, 2, n_rows)
    values = np.minimum(rng.geometric(0.25, n_rows) - 1 + (age > 40), 9)
    return table_of([age, sex], np.unique(values, return_inverse=True)[1].tolist())


SAFE = [
    *(kind(goal=FrequencyLDiversity(l)) for kind in (RDA, RIA, BatchMatching, Dealing) for l in (2, 3)),
    *(CrossBucket(k, l) for k, l in ((2, 3), (3, 3), (2, 2))),
]


@pytest.mark.parametrize("method", SAFE, ids=str)
def test_methods_that_are_claimed_safe_show_no_excess(method):
    found = place(method, crowd(), rng=np.random.default_rng(11))
    assert found.is_blind, f"{found.largest:.1f} standard errors"
    assert found.excess.shape == (40, 6, 2)


def test_a_method_that_leaks_is_seen():
    found = place(GDA(goal=DistinctLDiversity(3), mode="paper"), crowd(), rng=np.random.default_rng(11))
    assert not found.is_blind
    assert found.mean[0, 0] > 0.05  # whoever is first has the most frequent value more often than he should


def test_by_hand():
    # three groups of two; the person with the lower quasi-identifier always has value 0, the most frequent one
    table = table_of([[0, 1, 2, 3, 4, 5]], [0, 1, 0, 1, 0, 2])
    release = GeneralizedRelease(table, Partition.from_groups([[0, 1], [2, 3], [4, 5]]), None)
    excess, variance = excess_of(release, rng=np.random.default_rng(0))
    assert excess[[0, 1, 4, 5]] == pytest.approx(np.array([[0.5, -0.5], [-0.5, 0.5]] * 2))
    assert variance == pytest.approx([3 * 0.25 / 9] * 2)


def test_the_error_is_the_spread_of_runs():
    excess = np.zeros((4, 6, 2))
    excess[:, 2, 1] = [0.1, 0.3, 0.1, 0.3]
    found = Placing(10, excess, np.zeros((4, 2)))
    assert found.largest == pytest.approx(0.2 / (np.std([0.1, 0.3, 0.1, 0.3], ddof=1) / 2))
    assert found.to_dict() == {
        "runs": 4,
        "groups": 10,
        "looks": 12,
        "largest_excess": pytest.approx(0.2),
        "standard_errors": found.largest,
    }
    excess[:, 0, 0] = 0.01  # the same in every run is no chance, unless there are few groups
    assert Placing(10, excess, np.zeros((4, 2))).largest == np.inf
    few = Placing(4, excess, np.full((4, 2), 0.25))
    assert few.error[0, 0] == pytest.approx(np.sqrt(4 * 0.25) / 4) and few.is_blind


def test_values_that_go_with_people_are_dealt_out_anew():
    table = table_of([[0] * 30 + [1] * 30], [0] * 30 + [1] * 30)  # who is who tells everything
    assert place(RDA(goal=FrequencyLDiversity(2)), table, rng=np.random.default_rng(3)).is_blind
