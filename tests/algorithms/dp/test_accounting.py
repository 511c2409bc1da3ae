# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.sampling_law import delta_between, delta_of_identical, law_of_laws
from overt.algorithms.dp.accounting import (
    NEGLIGIBLE,
    Budget,
    exact_delta,
    gamma_of,
    largest_s,
    least_k,
    least_tau,
    li_bound,
)
from overt.errors import InvalidInput, TooLarge

# epsilon as a multiple of what sampling at rate s costs at least
RATES = st.sampled_from(["0.05", "0.1", "0.2", "0.35", "0.5", "0.7"])
MARGINS = st.sampled_from([1.001, 1.1, 1.5, 2.5, 6.0])


def epsilon_of(s, margin):
    return round(-math.log1p(-float(s)) * margin, 6)


@given(s=RATES, margin=MARGINS, k=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_exact_delta_is_the_worst_number_of_identical_records(s, margin, k):
    epsilon = epsilon_of(s, margin)
    farthest = math.ceil(3 * k / gamma_of(s, epsilon)) + 40
    worst = max(delta_of_identical(n, float(s), k, epsilon) for n in range(1, farthest))
    assert exact_delta(k, s, epsilon) == pytest.approx(worst, rel=1e-9)


@given(s=RATES, margin=MARGINS, k=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_the_bound_of_li_is_the_greatest_tail_from_its_first_n_on(s, margin, k):
    epsilon = epsilon_of(s, margin)
    gamma, rate = gamma_of(s, epsilon), float(s)

    def tail(n):
        return math.fsum(
            math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(math.floor(gamma * n) + 1, n + 1)
        )

    first = math.ceil(k / gamma - 1)
    assert li_bound(k, s, epsilon) == pytest.approx(max(tail(n) for n in range(first, first + 200)), rel=1e-9)
    assert exact_delta(k, s, epsilon) <= li_bound(k, s, epsilon) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("epsilon", "s", "tight", "li"),
    [
        (0.5, 0.393, 46, 63),
        (0.5, 0.197, 18, 24),
        (0.5, 0.039, 6, 8),
        (1, 0.632, 58, 74),
        (1, 0.316, 18, 23),
        (1, 0.063, 6, 7),
        (2, 0.8646, 114, 131),
        (2, 0.432, 19, 20),
        (2, 0.087, 6, 6),
    ],
)
def test_the_table_of_the_note(epsilon, s, tight, li):
    assert (least_k(epsilon, 1e-6, s), least_k(epsilon, 1e-6, s, bound="li")) == (tight, li)


@given(s=RATES, margin=MARGINS, delta=st.sampled_from([0.3, 1e-2, 1e-4, 1e-7]), bound=st.sampled_from(["exact", "li"]))
@settings(max_examples=60, deadline=None)
def test_least_k_is_enough_and_one_less_is_not(s, margin, delta, bound):
    epsilon = epsilon_of(s, margin)
    cost = exact_delta if bound == "exact" else li_bound
    k = least_k(epsilon, delta, s, bound=bound)
    assert cost(k, s, epsilon) <= delta * (1 + 1e-12)
    assert k == 1 or cost(k - 1, s, epsilon) > delta


def test_a_delta_that_is_met_exactly_is_enough():
    # n identical records, K = 1: delta is s; so s itself is a delta that one copy meets
    assert exact_delta(1, "0.3", 2) == pytest.approx(0.3)
    assert least_k(2, Fraction(3, 10), "0.3") == 1
    assert least_k(2, Fraction(3, 10) - Fraction(1, 10**15), "0.3") == 2


@given(
    laws=st.lists(
        st.lists(st.integers(0, 4), min_size=3, max_size=3)
        .filter(any)
        .map(lambda weights: {x: w / (sum(weights) + 1) for x, w in enumerate(weights) if w}),
        min_size=1,
        max_size=4,
    ),
    s=RATES,
    margin=MARGINS,
    k=st.integers(1, 3),
)
@settings(max_examples=300, deadline=None)
def test_no_database_with_any_laws_exceeds_the_exact_delta(laws, s, margin, k):
    epsilon = epsilon_of(s, margin)
    whole, rest = law_of_laws(laws, float(s), k), law_of_laws(laws[:-1], float(s), k)
    assert delta_between(whole, rest, epsilon) <= exact_delta(k, s, epsilon) * (1 + 1e-9)
    assert delta_between(rest, whole, epsilon) <= 1e-12  # adding a record is free: s <= 1 - exp(-epsilon)


@given(epsilon=st.sampled_from([0.1, 0.5, 1, 3]), delta=st.sampled_from([0.4, 1e-3, 1e-8]), n=st.integers(1, 40))
@settings(deadline=None)
def test_tau_is_the_least_that_hides_a_lone_record(epsilon, delta, n):
    a = math.exp(-epsilon / n)
    tau = least_tau(epsilon, delta, n)
    assert n * a ** (tau - 1) / (1 + a) <= delta * (1 + 1e-9)
    assert tau == 1 or n * a ** (tau - 2) / (1 + a) > delta * (1 - 1e-9)


def test_thousands_of_copies_are_no_matter():
    assert 0 < exact_delta(3000, "0.994", 5.2) <= li_bound(3000, "0.994", 5.2) < 1
    assert exact_delta(5000, 0.2, 1) == NEGLIGIBLE  # far below any float that matters, and not below the truth
    assert least_k(5, 1e-9, "0.993") > 2000


@pytest.mark.parametrize("epsilon", [30, 36, 37, 40, 100])
def test_a_large_epsilon_does_not_hide_a_record_that_stands_alone(epsilon):
    # exp(-epsilon) is lost beside 1 in floats; n records that all stay are as telling as s**n
    assert least_k(epsilon, "1e-6", 0.5) == 20
    assert exact_delta(20, 0.5, epsilon) == pytest.approx(0.5**20, rel=1e-9)


@pytest.mark.parametrize(
    ("k", "s", "epsilon", "words"),
    [
        (5, 0.6, 0.5, "use s of at most 0.3934"),
        (5, 1, 5, "s is 1 or more"),
        (5, 0, 5, "s is 0"),
        (0, 0.1, 5, "k is 0"),
        (2.5, 0.1, 5, "k is 2.5"),
        (5, 0.1, 0, "epsilon is 0"),
        (5, "nan", 1, "s is 'nan'"),
        (5, 0.1, 101, "epsilon is 101; at most 100"),
        (5, 0.1, "1e400", "epsilon is '1e400'; at most 1,000,000"),
    ],
)
def test_what_cannot_be_dp_is_refused(k, s, epsilon, words):
    for cost in (exact_delta, li_bound):
        with pytest.raises(InvalidInput, match=words):
            cost(k, s, epsilon)


def test_other_refusals():
    with pytest.raises(InvalidInput, match="delta is 1"):
        least_k(1, 1, 0.1)
    with pytest.raises(InvalidInput, match="delta is '1e-400'; at least 1e-300"):
        least_k(1, "1e-400", 0.1)
    with pytest.raises(InvalidInput, match="There is no bound 'loose'"):
        least_k(1, 0.1, 0.1, bound="loose")
    with pytest.raises(InvalidInput, match="vectors of levels is 0"):
        least_tau(1, 0.1, 0)
    with pytest.raises(TooLarge, match="cells of"):
        exact_delta(10**6, "0.001", "0.0011")


@given(epsilon=st.fractions("1/100", 5), delta=st.fractions("1/10000", "1/2"), share=st.fractions("1/10", "9/10"))
def test_the_parts_of_a_budget_add_up_to_the_whole(epsilon, delta, share):
    assume(0 < share < 1)
    whole = Budget.of(epsilon, delta)
    first, second = whole.split(share)
    assert first + second == whole and first <= whole and second <= whole
    replaced = whole.if_replaced()
    assert replaced.epsilon == 2 * epsilon
    assert replaced.delta >= min(1, (1 + math.exp(epsilon)) * delta * (1 - 1e-12))


@pytest.mark.parametrize("share", [0, 1, 1.5, -1])
def test_a_share_leaves_something_for_both(share):
    with pytest.raises(InvalidInput, match="share is"):
        Budget.of(1, 0.1).split(share)


@given(st.fractions("1/50", 6))
def test_largest_s_is_the_largest(epsilon):
    s = largest_s(epsilon)
    assert s <= 1 - math.exp(-epsilon) < s + Fraction(1, 10**4)


def test_parameters_that_need_cells_of_millions_of_records_are_refused_at_once():
    with pytest.raises(TooLarge, match="use a smaller s"):
        least_k(12, "1e-6", "0.9999932")
