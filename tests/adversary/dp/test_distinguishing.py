# SPDX-License-Identifier: Apache-2.0
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from overt.adversary.dp.distinguishing import Event, Evidence, distinguish, least_chance
from overt.errors import InvalidInput

N_RUNS = 4000


def sampled(s):
    def run(records, rng):
        return Counter(record for record, kept in zip(records, rng.random(len(records)) < s, strict=True) if kept)

    return run


def noisy(epsilon):
    """Counts with two-sided geometric noise, of every value of a public list: epsilon-private, and exactly so."""

    def run(records, rng):
        counts = Counter(records)
        a = 1 - math.exp(-epsilon)
        noise = rng.geometric(a, 3) - rng.geometric(a, 3)
        return {value: max(0, counts[value] + int(z)) for value, z in zip("abc", noise, strict=True)}

    return run


def tail(n, k, p):
    """Pr[Bin(n, p) >= k], exactly."""
    p = Fraction(p)
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


@pytest.mark.parametrize(("n_hits", "n_runs"), [(1, 5), (3, 10), (10, 10), (29, 40)])
def test_the_least_chance_is_where_so_many_hits_are_as_rare_as_the_error(n_hits, n_runs):
    least = least_chance(n_hits, n_runs, 0.01)
    assert float(tail(n_runs, n_hits, least)) == pytest.approx(0.01, rel=1e-9)


def test_a_lone_record_is_found_in_a_sample():
    # chance of failing below 1e-9: the event has chances 1/2 and 0, and 1500 runs must give fewer than 0.4 of hits
    found = distinguish(
        sampled(0.5), ["a"] * 9 + ["b"], ["a"] * 9, epsilon=1, rng=np.random.default_rng(0), n_runs=3000
    )
    assert found.event == Event("b", 1, True)
    assert found.likelier == "with" and found.n_other_hits == 0
    assert found.refutes(1.0, 0.4)
    assert not found.refutes(1.0, 0.5)
    assert 0.4 < found.delta_at(1.0) < 0.5
    assert found.epsilon_at(1e-6) > 4


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_dp_mechanism_is_not_refuted_and_nearly_its_epsilon_is_found(epsilon):
    # by the guarantee a claim that is true is refuted with a chance of at most 1e-3; the seed is fixed
    found = distinguish(
        noisy(epsilon),
        ["a"] * 5 + ["b"] * 5,
        ["a"] * 5 + ["b"] * 4,
        epsilon=0.0,
        rng=np.random.default_rng(1),
        n_runs=N_RUNS,
    )
    assert not found.refutes(epsilon, 0.0)
    assert found.epsilon_at() > epsilon / 2
    assert found.refutes(epsilon / 2, 0.0)


def test_evidence_reads_both_ways():
    without = distinguish(sampled(0.5), [], ["a"], epsilon=1, rng=np.random.default_rng(0), n_runs=200)
    assert without.likelier == "without"
    assert str(without.event) in {"1 or more copies of an element", "1 or more rows"}
    none = Evidence(Event(None, 3, False), "with", 100, 0, 0, 0.99)
    assert (none.delta_at(0), none.epsilon_at()) == (0, 0)
    assert str(none.event) == "fewer than 3 rows"
    assert none.event.holds({"a": 2}) and not none.event.holds({"a": 2, "b": 1})


def test_what_makes_no_evidence_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="n_runs is 5; at least 20"):
        distinguish(sampled(0.5), [], [], epsilon=1, rng=rng, n_runs=5)
    with pytest.raises(InvalidInput, match="confidence is 1; a number between 0 and 1"):
        distinguish(sampled(0.5), [], [], epsilon=1, rng=rng, confidence=1)
