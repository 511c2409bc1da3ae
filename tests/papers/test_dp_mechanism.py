# SPDX-License-Identifier: Apache-2.0
"""M. Fouad, K. Elbassioni, E. Bertino, CERIAS TR 2012-1, section 3: what of its proof holds, and that its theorem does not.

The auditor computes these figures from the laws of the published mechanism; that its code follows those laws is tested
with the mechanism (tests/algorithms/dp/test_as_published.py).
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from algorithms.record.worlds import model_of, objective_of, worlds
from overt.adversary.dp.distinguishing import distinguish
from overt.adversary.dp.neighbour_divergence import delta_between, hockey_stick, hockey_stick_of_cells, worst_delta
from overt.adversary.dp.output_laws import count_laws, multiset_law
from overt.algorithms.dp.conditions import LagrangianParameters, ThresholdParameters
from overt.algorithms.dp.exponential import ExponentialChoice, laws_of_records
from overt.algorithms.dp.sample_point import SamplePoint
from overt.algorithms.record import Depth, ModelII, Objective, nodes_of_labels, utility_named
from overt.algorithms.record.generalization_cube import LagrangianModel
from overt.hierarchy.parents import Parents

TREE = Parents({"a": "*", "b": "*"}).whole()


def chain_tree(h):
    """A single path of h nodes."""
    return Parents({f"n{i}": f"n{i - 1}" if i > 1 else "*" for i in range(1, h)}).whole()


def mechanism(t, epsilon_prime, beta, trees=(TREE,)):
    """Algorithm 3 for Model II, depth and lambda = kappa = 1: a database of labels -> the laws of its records."""
    choice = ExponentialChoice(LagrangianModel(1, 1), t, epsilon_prime)

    def laws(data):
        return laws_of_records(choice, beta, trees, nodes_of_labels(trees, data), Depth(), ModelII())

    return laws


@pytest.mark.parametrize(
    ("epsilon", "beta", "t", "size", "tau1", "remove", "add"),
    [
        (1.0, 0.5, 30, 98, 0.91, 0.99975, 0.9993),
        (1.0, 0.5, 96, 192, 0.5, 1 - 2.2609e-12, 1 - 6.1419e-12),
        (0.5, 0.7, 55, 164, 0.6, 0.9998, 0.9997),
    ],
)
def test_theorem_4_i_is_false_because_the_candidates_move(epsilon, beta, t, size, tau1, remove, add):
    """t records a, a0 among them, make the element a t-frequent; without a0 it cannot be published at all."""
    claimed = 0.01
    parameters = LagrangianParameters(
        epsilon=epsilon, beta=beta, delta=claimed, tau1=tau1, k=1, h=2, phi_l=1, nu=1, size=size
    )
    assert parameters.conditions(t).all_met
    laws = mechanism(t, parameters.epsilon_prime, beta)
    data = [["a"]] * t + [["b"]] * (size - t)
    law, other = count_laws(laws(data), laws(data[1:]))
    assert hockey_stick_of_cells(law, other, epsilon) == pytest.approx(remove, abs=5e-5 if t < 96 else 1e-13)
    assert hockey_stick_of_cells(other, law, epsilon) == pytest.approx(add, abs=5e-5 if t < 96 else 1e-13)
    # nearly all of it is one event: the element is there
    q = laws(data)[0][("a",)]
    assert hockey_stick_of_cells(law, other, epsilon) == pytest.approx(1 - (1 - q) ** t, abs=1e-3)


def test_theorem_4_i_the_smallest_case():
    laws = mechanism(2, 2.0, 0.5)
    found = delta_between(lambda data: multiset_law(laws(data)), [["a"], ["a"], ["b"]], 0, 1.0)
    assert found.remove == pytest.approx(Fraction(15, 32), abs=1e-15)  # 0.469
    assert found.add == 0
    worst = worst_delta(lambda data: multiset_law(laws(data)), [["a"], ["a"], ["b"]], 1.0, universe=[["a"], ["b"]])
    assert worst.worst >= found.worst


@pytest.mark.parametrize(
    ("epsilon", "beta", "k", "h", "t", "tau1", "claimed", "at_least"),
    [
        (1.0, 0.5, 5, 4, 1629, 0.23, 1e-6, 9.2e-5),
        (0.5, 0.61, 5, 4, 1987, 0.189, 1e-6, 6.3e-3),
        (1.0, 0.37, 6, 5, 10460, 0.113, 1e-6, 8.5e-3),
        (1.0, 0.37, 3, 8, 604, 0.499, 1e-9, 1.3e-3),
    ],
)
def test_theorem_4_i_is_false_even_if_the_candidates_stay(epsilon, beta, k, h, t, tau1, claimed, at_least):
    """N = t records alike, and a0 of which only the top of one attribute is known: all elements are frequent without it."""
    tree, n = chain_tree(h), t
    parameters = LagrangianParameters(
        epsilon=epsilon, beta=beta, delta=claimed, tau1=tau1, k=k, h=h, phi_l=1, nu=k * (h - 1), size=n + 1
    )
    assert parameters.conditions(t).all_met
    leaf, a0 = [f"n{h - 1}"] * k, ["n1"] + ["*"] * (k - 1)
    laws = mechanism(t, parameters.epsilon_prime, beta, [tree] * k)
    with_it, without = laws([leaf] * n + [a0]), laws([leaf] * n)
    assert with_it[0].keys() == without[0].keys()
    two = [tuple(a0), ("*",) * k]  # what a0 can become; the counts of other elements are not looked at
    law, other = count_laws(with_it, without, elements=two, most=40)
    assert hockey_stick_of_cells(law, other, epsilon) == pytest.approx(at_least, rel=0.03)
    assert hockey_stick_of_cells(law, other, epsilon) > 50 * claimed


@pytest.mark.parametrize(("beta", "odds"), [(0.5, 1.11), (0.9, 4.4)])
def test_theorem_4_ii_is_vacuous_the_choice_is_nearly_uniform(beta, odds):
    """At epsilon = 1 the best element is at most so much likelier than the worst, whatever the data and the models are."""
    bound = math.exp((1 + math.log(beta)) / (6 * (1 - beta)))
    assert bound == pytest.approx(odds, rel=0.01)
    for lam, phi_l, nu, kappa, size in ((1, 1, 5, 1, 30), (10, 0.2, 3, 2, 9), (0, 1, 50, 1, 50), (1, 1, 5, 1, 10**6)):
        found = LagrangianParameters(
            epsilon=1, beta=beta, k=5, h=4, lam=lam, kappa=kappa, phi_l=phi_l, nu=nu, size=size
        )
        best = lam * size / phi_l + nu**kappa
        assert math.exp(found.epsilon_prime * best / size) <= bound * (1 + 1e-12)


@pytest.mark.parametrize(("k", "h", "t"), [(1, 2, 4e5), (2, 3, 5e11), (5, 4, 4e29)])
def test_theorem_4_ii_is_vacuous_the_frequency_it_forces(k, h, t):
    """Its bound needs an exponent of l k ln(h l), here l = 4, which only a beta near 1 allows; (10) then asks for this t."""
    exponent = 4 * k * math.log(4 * h)
    low, high = 0.5, 1 - 1e-12
    for _ in range(200):
        beta = (low + high) / 2
        low, high = (beta, high) if (1 + math.log(beta)) / (6 * (1 - beta)) < exponent else (low, beta)
    found = LagrangianParameters(epsilon=1, beta=high, tau1=1e-9, k=k, h=h, lam=0, phi_l=1, nu=9, size=9)
    assert found.epsilon_prime * found.t_f == pytest.approx(exponent, rel=1e-3)
    assert found.t_second == pytest.approx(t, rel=0.2)


@given(world=worlds(max_attributes=2, max_nodes=5, max_theta=6, positive=True), lam=st.sampled_from([0, 0.5, 2]))
def test_lemma_2_the_sensitivity_of_a_balance(world, lam):
    """f / |D| changes by at most eta / |D| when a record leaves, so that the sum over records of I does by eta |I| / |D|."""
    assume(len(world.theta) > 1)
    whole = objective_of(world)
    less = objective_of(type(world)(world.parents, world.record, world.theta[1:], *_models(world)))
    phi_l, nu = whole.phi(whole.top), whole.utility(whole.bottom)
    size = len(world.theta)
    eta = 2 * (lam / phi_l + nu**2 / size)
    for levels in np.ndindex(*whole.sizes):
        change = abs(whole.balance(levels, lam, 2) / size - less.balance(levels, lam, 2) / (size - 1))
        assert change <= eta / size * (1 + 1e-9)


@given(world=worlds(max_attributes=2, max_nodes=5, max_theta=8, positive=True), t=st.integers(2, 3))
def test_lemma_2_the_sensitivity_of_a_risk(world, t):
    """The same for r / |D| of elements that are t-frequent in D."""
    size = len(world.theta)
    assume(size >= t)
    whole = objective_of(world)
    less = objective_of(type(world)(world.parents, world.record, world.theta[1:], *_models(world)))
    eta = ThresholdParameters(epsilon=1, beta=0.5, phi_u=whole.phi(whole.bottom), t=t, size=size).eta
    for levels in np.ndindex(*whole.sizes):
        if whole.support(levels) >= t:
            change = abs(whole.risk(levels) / size - less.risk(levels) / (size - 1))
            assert change <= eta / size * (1 + 1e-9)


@given(world=worlds(max_attributes=2, max_nodes=5, max_theta=6, positive=True), sharp=st.sampled_from([0.5, 3.0]))
def test_lemma_1_holds_while_the_candidates_stay(world, sharp):
    """With every element a candidate on both sides (t = 1 and the record itself there), chances change by e^(2 eps' eta / |D|)."""
    data = [world.record, *world.theta]
    assume(len(data) > 2)
    trees = [Parents(parent).whole() for parent in world.parents]
    choice = ExponentialChoice(LagrangianModel(1, 1), 1, sharp)
    utility, risk = utility_named(world.utility_kind), model_of(world)
    laws = [
        laws_of_records(choice, 0.5, trees, nodes_of_labels(trees, one), utility, risk)[0] for one in (data, data[:-1])
    ]
    assert laws[0].keys() == laws[1].keys()
    whole = Objective.of(trees, nodes_of_labels(trees, data)[0], nodes_of_labels(trees, data), utility, risk)
    eta = 2 * (1 / whole.phi(whole.top) + whole.utility(whole.bottom) / len(data))
    for element, p in laws[0].items():
        assert abs(math.log(p / laws[1][element])) <= 2 * sharp * eta / len(data) + 1e-9


@given(
    shares=st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=1, max_size=4),
    beta=st.sampled_from([Fraction(1, 2), Fraction(3, 4)]),
)
def test_leaving_is_paid_by_sampling_if_laws_do_not_depend_on_the_data(shares, beta):
    """Pr[A(D) = G] >= beta Pr[A(D - a) = G], so that this direction has delta 0 from epsilon = -ln beta on."""
    laws = [{e: (1 - beta) * Fraction(n, sum(one)) for e, n in zip("ab*", one, strict=True)} for one in shares]
    law, other = multiset_law(laws), multiset_law(laws[:-1])
    assert all(law[output] >= beta * chance for output, chance in other.items())
    assert hockey_stick(other, law, Fraction(math.log(1 / beta)) + Fraction(1, 10**9)) == 0


def test_lemma_3_is_false_the_rounding_depends_on_the_data():
    """t - sigma t = 1 of 4: with a0 the element is sigma t-frequent and can be returned, without it never."""
    pytest.importorskip("ortools")
    ends = np.array([1.0, 0.0])

    def law_with(n_alike):
        profiles, counts = np.array([[0], [1]], np.int32), np.array([n_alike, 8])
        sampler = SamplePoint(
            lam=1, kappa=1, size=n_alike + 8, epsilon_prime=1.0, epsilon_second=0.9, phi_l=1, t=4, sigma=0.5
        )
        objective = Objective((ends,), (np.array([1.5, 1.0]),), profiles, counts)
        return dict(sampler.law(objective, 0, rng=np.random.default_rng(0), n_points=500))

    with_it, without = law_with(2), law_with(1)
    assert with_it[(0,)] > 0.1
    assert (0,) not in without  # a ratio of infinity, where (28) bounds it near 1


def test_the_black_box_finds_the_same_by_running_the_mechanism():
    """200 runs on either of 98 and 97 records; the chance of missing it is below 1e-9: the event has chances 0.9997 and 0."""
    t, size, beta = 30, 98, 0.5
    parameters = LagrangianParameters(epsilon=1, beta=beta, delta=0.01, tau1=0.91, k=1, h=2, phi_l=1, nu=1, size=size)
    laws = mechanism(t, parameters.epsilon_prime, beta)
    data = [["a"]] * t + [["b"]] * (size - t)
    known = {size: laws(data), size - 1: laws(data[1:])}

    def run(records, rng):
        shown = {}
        for law in known[len(records)]:
            u, total = rng.random(), 0.0
            for element, p in law.items():
                total += p
                if u < total:
                    shown[element] = shown.get(element, 0) + 1
                    break
        return shown

    found = distinguish(run, data, data[1:], epsilon=1.0, rng=np.random.default_rng(0), n_runs=200)
    assert found.refutes(1.0, 0.01)
    assert found.delta_at(1.0) > 0.6
    assert found.event.element == ("a",)


def _models(world):
    return world.utility_kind, world.risk_kind, world.base
