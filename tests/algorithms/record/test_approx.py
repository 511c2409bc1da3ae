# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.record.worlds import objective_of, worlds
from overt.algorithms.record import Approximation, Objective, extended_support, least_risk, rounding_law
from overt.algorithms.record.approx import least_positive_phi, round_at
from overt.errors import InvalidInput, MissingExtra, Unreachable

ENDS = np.array([1.0, 0.0])
ONE = Objective((ENDS, ENDS), (ENDS, 2 * ENDS), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))


@st.composite
def points(draw):
    """Heights, and a point that falls along every chain."""
    heights = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    numbers = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0])
    return [np.array(sorted((draw(numbers) for _ in range(height)), reverse=True)) for height in heights]


@given(point=points(), data=st.data())
def test_the_extension_is_the_expectation_of_the_rounding(point, data):
    profile = st.tuples(*(st.integers(0, chain.size) for chain in point))
    profiles = np.array(data.draw(st.lists(profile, min_size=1, max_size=5)))
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(profiles), max_size=len(profiles))))
    law = rounding_law(point)
    assert abs(sum(p for _, p in law) - 1) < 1e-12
    expected = sum(p * counts[(profiles <= levels).all(axis=1)].sum() for levels, p in law)
    assert abs(extended_support(point, profiles, counts) - expected) < 1e-9
    for theta in np.random.default_rng(0).random(20):
        assert round_at(point, theta) in {levels for levels, _ in law}


@settings(max_examples=25)
@given(world=worlds(max_attributes=2, max_nodes=4, max_theta=5), share=st.floats(0.3, 1), seed=st.integers(0, 9))
def test_it_keeps_its_share_of_the_utility_and_is_never_better_than_the_best_of_that_share(world, share, seed):
    objective = objective_of(world)
    c = share * objective.utility(objective.bottom)
    method = Approximation(sigma1=0.8, epsilon=0.5)
    found = method.least_risk(objective, c, rng=np.random.default_rng(seed))
    assert found.solver == "approximation"
    assert found.utility >= 0.8 * c - 1e-9
    assert found.risk == objective.risk(found.levels)
    assert found.risk >= least_risk(objective, 0.8 * c).risk - 1e-12


@given(world=worlds())
def test_the_least_weight_above_zero(world):
    weights = [world.phi(x) for _, x in world.elements if world.phi(x) > 0]
    if weights:
        assert abs(least_positive_phi(objective_of(world)) - float(min(weights))) < 1e-12


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": 0}, "epsilon is 0; a number above 0 is expected"),
        ({"sigma1": 1}, "sigma1 is 1; a number between 0 and 1 is expected"),
        ({"sigma2": 1}, "sigma2 is 1; a number above 1 is expected"),
    ],
)
def test_parameters_are_refused(parameters, sentence):
    with pytest.raises(InvalidInput, match=f"^{sentence}"):
        Approximation(**parameters)


def test_the_condition_of_the_sigmas_is_refused_by_its_formula():
    sentence = r"^sigma1 = 0\.9 and sigma2 = 4 are too strict for a threshold of 0\.5 .* must be below 1\. Lower sigma1"
    with pytest.raises(InvalidInput, match=sentence):
        Approximation(sigma1=0.9, sigma2=4).least_risk(ONE, 1.0, rng=np.random.default_rng(0))
    with pytest.raises(Unreachable, match="^A utility of 9 is out of reach"):
        Approximation().least_risk(ONE, 9.0, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="^A point to round must fall from at most 1 to at least 0"):
        rounding_law([np.array([0.2, 0.5])])


def test_without_or_tools_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.linear_solver", None)
    with pytest.raises(
        MissingExtra, match=r"^Linear programmes need OR-Tools; install it with `pip install overt\[flow\]`"
    ):
        Approximation().least_risk(ONE, 1.0, rng=np.random.default_rng(0))
