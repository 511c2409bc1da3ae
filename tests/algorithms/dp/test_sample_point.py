# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from overt.algorithms.dp.sample_point import Body, SamplePoint
from overt.algorithms.record import Objective
from overt.algorithms.record.approx import extended_support, rounding_law
from overt.errors import InvalidInput, Unreachable

pytest.importorskip("ortools")

GIVEN = {
    "lam": 1.0,
    "kappa": 1,
    "size": 20,
    "epsilon_prime": 2.0,
    "epsilon_second": 0.6,
    "phi_l": 1.0,
    "t": 8,
    "sigma": 0.5,
}


@pytest.fixture
def objective():
    profiles = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.int32)
    return Objective(
        (np.array([1.0, 0.0]), np.array([1.0, 0.0])),
        (np.array([2.0, 0.5]), np.array([1.0, 0.5])),
        profiles,
        np.array([5, 5, 2, 8]),
    )


def law_by_grid(sampler, objective, layer, n=150):
    """The law of a layer for two chains of one level, by summing over a fine grid of the square; nothing is shared."""
    centres = (np.arange(n) + 0.5) / n
    law = {}
    total = 0.0
    least = sampler.phi_l * (1 + sampler.epsilon_second) ** layer
    (w1, w2), (u1, u2) = objective.weight_of_level, objective.utility_of_level
    for a in centres:
        for b in centres:
            phi = w1[0] - (w1[0] - w1[1]) * a + w2[0] - (w2[0] - w2[1]) * b
            if not least <= phi <= least * (1 + sampler.epsilon_second):
                continue
            support = 5 + 5 * a + 2 * b + 8 * min(a, b)
            if support < sampler.t:
                continue
            high, low = max(a, b), min(a, b)
            middle = (1, 0) if a > b else (0, 1)
            sets = [((0, 0), 1 - high), (middle, high - low), ((1, 1), low)]
            values = sum(length * (w1[i] + w2[j]) * (u1[i] + u2[j]) ** sampler.kappa for (i, j), length in sets)
            density = math.exp(sampler.epsilon_prime * (sampler.lam * support + values) / (sampler.size * least))
            counts = {(0, 0): 5, (1, 0): 10, (0, 1): 7, (1, 1): 20}
            accepted = [(x, p) for x, p in sets if counts[x] >= sampler.sigma * sampler.t]
            norm = sum(p for _, p in accepted)
            total += density
            for x, p in accepted:
                law[x] = law.get(x, 0) + density * p / norm
    return {x: p / total for x, p in law.items()}


@pytest.mark.parametrize(
    ("layer", "change"), [(0, {}), (1, {}), (1, {"sigma": 0.8, "kappa": 2, "epsilon_prime": 20.0})]
)
def test_the_law_of_a_layer_is_that_of_the_integral(objective, layer, change):
    # 4000 points, chances within 0.02: more than four standard errors, so that it fails by chance once in 10 000
    sampler = SamplePoint(**GIVEN | change)
    found = dict(sampler.law(objective, layer, rng=np.random.default_rng(0), n_points=4000))
    expected = law_by_grid(sampler, objective, layer)
    assert found.keys() == expected.keys()
    for levels, p in expected.items():
        assert found[levels] == pytest.approx(p, abs=0.02)


def test_every_point_of_a_walk_is_in_the_body(objective):
    sampler = SamplePoint(**GIVEN)
    for body in sampler.bodies(objective):
        for point in body.walk(50, np.random.default_rng(1), n_steps=20):
            chains = body.chains(point)
            assert extended_support(chains, objective.profiles, objective.counts) >= sampler.t - 1e-6
            phi = sum(p * objective.phi(levels) for levels, p in rounding_law(chains))
            assert body.least - 1e-9 <= phi <= body.most + 1e-9


def test_what_is_drawn_is_nearly_frequent(objective):
    sampler = SamplePoint(**GIVEN | {"sigma": 0.9})
    drawn = sampler.draw(objective, 60, rng=np.random.default_rng(2))
    assert len(drawn) == 60
    assert {objective.support(levels) for levels in drawn} <= {10, 20}  # 7 and 5 are below 0.9 * 8
    assert len(set(drawn)) == 2


def test_layers_go_from_the_least_weight_to_the_greatest(objective):
    assert SamplePoint(**GIVEN).n_layers(3.0) == 4  # 1 to 1.6, 2.56, 4.096; ceil(2.34) = 3 is the last
    assert SamplePoint(**GIVEN).law(objective, 3, rng=np.random.default_rng(0)) is None  # heavier than anything
    assert SamplePoint(**GIVEN | {"t": 20}).law(objective, 2, rng=np.random.default_rng(0)) is None  # nor frequent


def test_a_body_that_is_a_point_is_that_point():
    rigid = Objective((np.array([1.0, 0.0]),), (np.array([2.0, 1.0]),), np.array([[1]], np.int32), np.array([4]))
    sampler = SamplePoint(**GIVEN | {"size": 4, "t": 4, "epsilon_second": 0.99})
    body = Body.of(sampler, rigid, 0)
    assert not body.has_inside
    assert sampler.law(rigid, 0, rng=np.random.default_rng(0)) == [((1,), pytest.approx(1.0))]
    with pytest.raises(Unreachable, match="No layer of a record holds anything frequent enough"):
        SamplePoint(**GIVEN | {"phi_l": 5}).bodies(rigid)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sigma": 1}, "sigma is 1; a number between 0 and 1"),
        ({"sigma": 0}, "sigma is 0"),
        ({"epsilon_second": 0}, "epsilon'' is 0"),
        ({"epsilon_second": 1}, "epsilon'' is 1"),
        ({"epsilon_prime": -1}, "epsilon' is -1"),
        ({"lam": -1}, "lambda is -1"),
        ({"kappa": -1}, "kappa is -1"),
        ({"kappa": 0.5}, "log-concave for 0 and from 1 on"),
        ({"phi_l": 0}, "least weight of an element is 0"),
        ({"t": 0}, "t is 0"),
        ({"t": 21}, "t is 21; a number above 0 and up to the 20 records"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        SamplePoint(**GIVEN | change)
