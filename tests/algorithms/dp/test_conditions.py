# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.algorithms.dp.conditions import LagrangianParameters, ThresholdParameters
from overt.errors import InvalidInput, OvertError

GIVEN = {"epsilon": 1, "beta": 0.5, "delta": 0.01, "tau1": 0.5, "k": 2, "h": 3, "phi_l": 1, "nu": 4, "size": 500}


@given(
    epsilon=st.floats(0.1, 3),
    room=st.floats(0, 1),
    delta=st.floats(1e-9, 0.5),
    tau1=st.floats(0.05, 0.95),
    k=st.integers(1, 5),
    h=st.integers(1, 5),
)
def test_the_least_t_and_size_are_the_least_that_meet_their_conditions(epsilon, room, delta, tau1, k, h):
    beta = math.exp(-epsilon) + room * (0.95 - math.exp(-epsilon))
    found = LagrangianParameters(
        epsilon=epsilon, beta=beta, delta=delta, tau1=tau1, k=k, h=h, phi_l=0.5, nu=k * h, size=10_000
    )
    t = found.least_t
    first = 2 / (beta * tau1**2) * (math.log(2 / delta) + k * math.log(h))
    second = beta * h**k * math.exp(found.epsilon_prime * found.t_f) / ((1 - beta) * (1 - tau1))
    assert t > first and t > second * (1 - 1e-9)
    assert t - 1 <= max(first, second) * (1 + 1e-9)
    chernoff = math.exp(0.5) / 1.5**1.5
    size = found.least_size
    assert chernoff ** ((1 - beta) * size) <= delta / 2 * (1 + 1e-9)
    assert chernoff ** ((1 - beta) * (size - 1)) >= delta / 2 * (1 - 1e-9)
    assert {part.name for part in found.conditions(t) if not part.met} <= {"size of the database"}


def test_every_condition_is_shown_with_what_it_asks_for_and_what_was_given():
    conditions = LagrangianParameters(**GIVEN).conditions(20)
    assert [part.met for part in conditions] == [True, False, False, True, True]
    assert not conditions.all_met
    assert str(conditions.parts[0]) == "beta: at least e^-epsilon = 0.367879, given 0.5 (met)"
    assert str(conditions.parts[1]) == "t, by the records that are dropped: above 119.929, given 20 (NOT met)"
    assert str(conditions).count(";") == 4
    threshold = ThresholdParameters(epsilon=1, beta=0.5, phi_u=1, t=500, size=1000).conditions()
    assert threshold.all_met and len(threshold.parts) == 4


def test_beta_may_be_as_small_as_e_to_the_minus_epsilon():
    found = LagrangianParameters(**GIVEN | {"beta": math.exp(-1)})
    assert found.epsilon_prime == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0}, "epsilon is 0; a finite number above 0"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"beta": 0}, "beta is 0; a number between 0 and 1"),
        ({"beta": 1}, "beta is 1; a number between 0 and 1"),
        ({"beta": 0.3}, "beta is 0.3, below e\\^-epsilon = 0.367879"),
        ({"delta": 0}, "delta is 0; a number between 0 and 1"),
        ({"delta": 1}, "delta is 1; a number between 0 and 1"),
        ({"tau1": 1}, "tau1 is 1; a number between 0 and 1"),
        ({"tau1": 0}, "tau1 is 0; a number between 0 and 1"),
        ({"lam": -1}, "lambda is -1; a finite number of at least 0"),
        ({"kappa": -1}, "kappa is -1; a finite number of at least 0"),
        ({"phi_l": 0}, "least weight of an element is 0, and Algorithm 3 divides by it"),
        ({"lam": 0, "nu": 0}, "there is nothing to choose by"),
        ({"size": 0}, "The database is empty"),
        ({"k": 0}, "must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        LagrangianParameters(**GIVEN | change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"t": 1}, "t is 1; elements must generalize at least t records, so give a whole number of at least 2"),
        ({"t": 501}, "t is 501, and no element generalizes more than the 500 records there are; lower t"),
        ({"phi_u": 0}, "greatest weight of an element is 0"),
    ],
)
def test_what_makes_no_sense_of_the_threshold_model_is_refused(change, words):
    with pytest.raises(OvertError, match=words):
        ThresholdParameters(**{"epsilon": 1, "beta": 0.5, "phi_u": 1, "t": 20, "size": 500} | change)
