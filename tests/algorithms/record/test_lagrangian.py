# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from algorithms.record.worlds import objective_of, worlds
from oracles.record import close
from overt.algorithms.record import Objective, RingFamily, best_balance, best_difference, bisect
from overt.algorithms.record.cuts import Cuts, expand
from overt.algorithms.record.lagrangian import regions_with_weight
from overt.errors import InvalidInput, MissingExtra, TooLarge, Unreachable

ENDS = np.array([1.0, 0.0])
ONE = Objective((ENDS, ENDS), (ENDS, 2 * ENDS), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
NONE = Objective((ENDS,), (0 * ENDS,), np.zeros((1, 1), np.int32), np.array([1]))
LAMBDA = st.sampled_from([0, 0.01, 0.3, 1, 5])
SOLVERS = ("auto", "prefix sums", "cuts", "minimum norm")


def judge(world, objective, found, value):
    """The reported value is the greatest there is, and that of the element."""
    greatest, where = value
    assert close(found.value, greatest)
    assert found.levels in where
    assert found.risk == objective.risk(found.levels)
    assert found.utility == objective.utility(found.levels)


@given(world=worlds(), lam=LAMBDA, kappa=st.integers(0, 3))
def test_all_solvers_agree_with_enumeration(world, lam, kappa):
    objective = objective_of(world)
    best = world.best(lambda x: world.balance(x, lam, kappa))
    for solver in SOLVERS:
        if best is None:
            with pytest.raises(Unreachable, match="^Every generalization of the record has weight 0"):
                best_balance(objective, lam, kappa, solver=solver)
            continue
        found = best_balance(objective, lam, kappa, solver=solver)
        judge(world, objective, found, best)
        assert found.value == objective.balance(found.levels, lam, kappa)


@given(world=worlds(), lam=LAMBDA, kappa=st.sampled_from([1.0, 1.3, 2.5]))
def test_real_exponents_from_one_on(world, lam, kappa):
    objective = objective_of(world)
    best = world.best(lambda x: float(world.balance(x, lam, 0)) - 1 + float(world.utility(x)) ** kappa)
    assume(best is not None)
    for solver in ("prefix sums", "minimum norm"):
        judge(world, objective, best_balance(objective, lam, kappa, solver=solver), best)


@given(world=worlds(), lam=LAMBDA, kappa=st.integers(0, 2), alpha=st.floats(-2, 20))
def test_the_inner_problem(world, lam, kappa, alpha):
    objective = objective_of(world)
    best = world.best(lambda x: world.difference(x, lam, kappa, alpha))
    assume(best is not None)
    for solver in SOLVERS:
        found = best_difference(objective, lam, kappa, alpha, solver=solver)
        assert found.value == objective.difference(found.levels, lam, kappa, alpha)
        assert abs(found.value - float(best[0])) <= 1e-9 * (
            1 + abs(alpha) * objective.phi(objective.bottom) + abs(found.value)
        )


@given(world=worlds(max_attributes=2, max_nodes=4), lam=LAMBDA, kappa=st.integers(0, 2))
def test_the_papers_bisection_agrees(world, lam, kappa):
    objective = objective_of(world)
    best = world.best(lambda x: world.balance(x, lam, kappa))
    assume(best is not None)
    judge(world, objective, bisect(objective, lam, kappa), best)


@given(world=worlds(max_attributes=2, max_nodes=4), lam=LAMBDA, kappa=st.integers(0, 2), alpha=st.floats(-2, 20))
def test_the_inner_function_is_supermodular_and_keeps_its_maximum_when_extended(world, lam, kappa, alpha):
    objective = objective_of(world)
    family = RingFamily(objective.heights, lambda x: objective.difference(x, lam, kappa, alpha))
    assert family.is_supermodular()
    greatest = max(objective.difference(x, lam, kappa, alpha) for x, _ in world.elements)
    fines = family.fines()
    extended = max(family.extended(subset, fines) for subset in family.subsets())
    assert abs(extended - greatest) < 1e-9 * (1 + abs(greatest))
    assert abs(family.g(family.maximise()) - greatest) < 1e-9 * (1 + abs(greatest))


@given(world=worlds())
def test_regions_hold_exactly_the_elements_that_have_a_weight(world):
    objective = objective_of(world)
    weighty = {levels for levels, x in world.elements if world.phi(x) > 0}
    if not weighty:
        return
    regions = regions_with_weight(objective)
    within = {
        x for x, _ in world.elements if any(all(a <= b for a, b in zip(x, caps, strict=True)) for caps in regions)
    }
    assert within == weighty


@given(world=worlds(), kappa=st.integers(0, 3))
def test_the_polynomial_is_the_product_at_every_element(world, kappa):
    objective = objective_of(world)
    cuts = Cuts.of(objective, 1.0, kappa)
    utility_step = -np.concatenate([np.diff(numbers) for numbers in objective.utility_of_level])
    phi, utility = objective.phi(objective.top), objective.utility(objective.top)
    terms = expand((phi, cuts.weight_step), (utility, utility_step), kappa, cuts.attribute)
    assert all(factor >= 0 for factor in terms.values())
    for levels, _ in world.elements:
        holds = cuts.level > np.asarray(levels)[cuts.attribute]  # y: below this level
        value = sum(factor for variables, factor in terms.items() if all(holds[v] for v in variables))
        expected = objective.phi(levels) * objective.utility(levels) ** kappa
        assert abs(value - expected) <= 1e-9 * (1 + expected)


@pytest.mark.parametrize(("lam", "kappa", "name"), [(-1, 1, "lambda"), (1, -1, "kappa"), (float("nan"), 1, "lambda")])
def test_parameters_that_make_no_balance_are_refused(lam, kappa, name):
    with pytest.raises(InvalidInput, match=f"^{name} is .*; a finite number of at least 0 is expected.$"):
        best_balance(ONE, lam, kappa)


def test_solvers_refuse_what_they_cannot_do():
    with pytest.raises(
        InvalidInput, match=r"^kappa is 1\.5; cuts need a whole number, the minimum-norm point takes others"
    ):
        best_balance(ONE, 1, 1.5, solver="cuts")
    with pytest.raises(InvalidInput, match=r"^kappa is 0\.5; the minimum-norm point needs 0 or a number from 1 on"):
        best_balance(ONE, 1, 0.5, solver="minimum norm")
    with pytest.raises(InvalidInput, match="^There is no solver 'magic'; choose 'auto'"):
        best_balance(ONE, 1, 1, solver="magic")
    with pytest.raises(Unreachable, match="^Every generalization of the record has weight 0, so its balance"):
        best_balance(NONE, 1, 1)
    with pytest.raises(Unreachable, match="^Every generalization of the record has weight 0, so its balance"):
        best_difference(NONE, 1, 1, 0.5)


def test_without_or_tools_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.graph.python.max_flow", None)
    with pytest.raises(
        MissingExtra, match=r"^Minimum cuts need OR-Tools; install it with `pip install overt\[flow\]`\.$"
    ):
        best_balance(ONE, 1, 1, solver="cuts")


def test_long_work_says_how_far_it_is():
    told = []
    best_balance(ONE, 0.5, 1, solver="cuts", on_progress=lambda *how: told.append(how))
    assert told == [("Balancing risk and utility", done, 2) for done in (0, 1, 2)]


def test_large_lattices_are_cut(monkeypatch):
    monkeypatch.setitem(best_balance.__globals__, "FEW_ELEMENTS", 1)
    assert best_balance(ONE, 0.5, 1).solver == "cuts"
    assert best_balance(ONE, 0.5, 1.5).solver == "minimum norm"
    assert best_balance(ONE, 0.5, 1).levels == (0, 1)


def test_polynomials_with_too_many_terms_are_refused(monkeypatch):
    monkeypatch.setitem(expand.__globals__, "MOST_TERMS", 3)
    with pytest.raises(
        TooLarge, match="^With kappa 2 the objective has too many terms for a cut .* minimum-norm point"
    ):
        best_balance(ONE, 1, 2, solver="cuts")


def test_the_reference_enumerates_few_levels_only():
    chains = (np.linspace(1, 0, 10),) * 2
    objective = Objective(chains, chains, np.zeros((1, 2), np.int32), np.array([1]))
    with pytest.raises(
        TooLarge, match="^The record has 1[78] levels and the reference enumerates subsets of at most 16"
    ):
        bisect(objective, 1, 1)


def test_below_one_the_function_is_not_supermodular():
    # the note: with 0 < kappa < 1 supermodularity fails, which is why those exponents need prefix sums
    rng = np.random.default_rng(3)
    failures = 0
    for _ in range(60):
        chains = [np.sort(rng.integers(0, 5, 2))[::-1].astype(float) for _ in range(6)]
        objective = Objective(tuple(chains[:3]), tuple(chains[3:]), np.zeros((1, 3), np.int32), np.array([1]))
        family = RingFamily(objective.heights, lambda x, o=objective: o.difference(x, 0, 0.5, 1))
        failures += not family.is_supermodular()
    assert failures > 0
