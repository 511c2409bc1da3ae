# SPDX-License-Identifier: Apache-2.0
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.dp.worlds import HIERARCHIES, SEXES, VECTORS, Script, looks, multiset_of, table_of
from oracles import dp_cube
from oracles.sampling_law import delta_between, delta_of_identical, law_of_choices
from overt.algorithms.dp.accounting import Budget, exact_delta, least_tau
from overt.algorithms.dp.cube import DpCube, DpSampling
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy import Flat, Intervals, Nested, Quantiles
from overt.io.frames import read_frame
from overt.io.record import read_external
from overt.randomness import TwoSidedGeometric

PEOPLE = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "?"]), st.sampled_from(["F", "M"])), max_size=6)


def cube(**settings):
    given = {"epsilon": 2, "delta": "0.5", "s": "0.3", "hierarchies": HIERARCHIES, "levels": VECTORS}
    return DpCube(**{**given, **settings})


def sampling(**settings):
    given = {"epsilon": 1, "delta": "0.2", "s": "0.3", "hierarchies": HIERARCHIES, "levels": [(1, 0)]}
    return DpSampling(**{**given, **settings})


def word_of(noise, z):
    """A word whose draw is z: between the thresholds of z + 1 and z."""
    return (noise.threshold(z) + noise.threshold(z + 1)) // 2


@given(
    people=PEOPLE,
    noise=st.lists(st.integers(-6, 9), min_size=4, max_size=4),
    data=st.data(),
    least=st.integers(1, 6),
)
@settings(max_examples=200, deadline=None)
def test_a_run_of_the_cube_is_the_definition_with_the_same_coins(people, noise, data, least):
    method = cube(support=least)
    kept = data.draw(st.lists(st.booleans(), min_size=len(people), max_size=len(people)))
    looked = [looks(person) for person in people]
    words = []
    for level, z in enumerate(noise):
        words += [word_of(method.noise, z)] * len({look[level] for look in looked})
    words += [0 if one else 2**64 - 1 for one in kept]
    release = method.anonymize(table_of(people), rng=Script(words))
    least = method.least_support
    expected = dp_cube.release(looked, noise, least, kept, 1)
    merged = Counter()  # an element of two vectors is one element
    for (_, label), n in expected.items():
        merged[label] += n
    assert multiset_of(release) == {x: n for x, n in merged.items() if n >= method.least_copies}


@pytest.mark.slow
@given(people=PEOPLE, epsilon=st.sampled_from([0.5, 1.0, 2.0]), least=st.integers(1, 4), k=st.integers(1, 2))
@settings(max_examples=200, deadline=None)
def test_a_cube_with_a_threshold_never_exceeds_its_budget_even_if_it_is_shown(people, epsilon, least, k):
    first, second = epsilon / 2, epsilon / 2
    s = 0.9 * (1 - math.exp(-second))
    looked = [looks(person)[:2] for person in people]
    a = math.exp(-first / 2)
    bound = 2 * a ** (least - 1) / (1 + a) + exact_delta(k, s, second)
    for show_cube in (True, False):
        whole, rest = (
            dp_cube.law_of_cube(records, 2, first, least, s, k, show_cube=show_cube)
            for records in (looked, looked[:-1])
        )
        assert delta_between(whole, rest, epsilon) <= bound * (1 + 1e-9)
        assert delta_between(rest, whole, epsilon) <= bound * (1 + 1e-9)


UNIVERSE = [(0, "a"), (0, "b"), (0, "c"), (1, "all")]


@given(
    records=st.lists(st.sampled_from("abc"), min_size=1, max_size=7),
    epsilon=st.sampled_from([0.5, 1.0, 2.0]),
    share=st.sampled_from([0.2, 0.5, 0.8]),
    least=st.integers(1, 5),
    k=st.integers(1, 3),
)
@settings(max_examples=200, deadline=None)
def test_a_cube_without_a_threshold_costs_no_delta_of_its_own(records, epsilon, share, least, k):
    second = (1 - share) * epsilon
    s = 0.9 * (1 - math.exp(-second))
    looked = [(label, "all") for label in records]
    bound = exact_delta(k, s, second) * (1 + 1e-9)
    of = {"n_levels": 2, "epsilon": share * epsilon, "least": least, "s": s, "k": k}
    hidden, rest = (dp_cube.law_of_cube(one, **of, show_cube=False) for one in (looked, looked[:-1]))
    assert delta_between(hidden, rest, epsilon) <= bound and delta_between(rest, hidden, epsilon) <= bound
    # why: it is what would come out if every cell there could be had its noise, which could even be shown
    for show_cube in (True, False):
        whole, less = (
            dp_cube.law_of_cube(one, **of, show_cube=show_cube, universe=UNIVERSE) for one in (looked, looked[:-1])
        )
        assert delta_between(whole, less, epsilon) <= bound and delta_between(less, whole, epsilon) <= bound
    assert whole.keys() == hidden.keys() and all(whole[x] == pytest.approx(hidden[x], abs=1e-12) for x in hidden)


def test_sampling_attains_its_delta_with_identical_records():
    method = sampling()
    k, s, epsilon = method.least_copies, 0.3, 1.0
    worst = max(delta_of_identical(n, s, k, epsilon) for n in range(1, 60))
    assert worst == pytest.approx(exact_delta(k, "0.3", 1), rel=1e-9)


@given(people=PEOPLE, kept=st.lists(st.booleans(), min_size=6, max_size=6))
@settings(deadline=None)
def test_a_run_of_sampling_is_the_definition_with_the_same_coins(people, kept):
    method = sampling()
    kept = kept[: len(people)]
    release = method.anonymize(table_of(people), rng=Script([0 if one else 2**64 - 1 for one in kept]))
    copies = Counter(looks(person)[1] for person, one in zip(people, kept, strict=True) if one)
    assert multiset_of(release) == {x: n for x, n in copies.items() if n >= method.least_copies}


def test_releases_follow_the_law():
    # 4,000 runs against the exact law, outputs of fewer than 5 expected runs left out; at most 14 are left, so a chi-square
    # above 60 has a probability below 1e-6
    people = [("a", "F")] * 3 + [("c", "M")] * 2 + [("b", "F")]
    method = sampling(delta="0.35", levels=[(1, 1)])
    law = law_of_choices([looks(person)[2] for person in people], 0.3, method.least_copies)
    table, rng, n_runs = table_of(people), np.random.default_rng(7), 4000
    seen = Counter(frozenset(multiset_of(method.anonymize(table, rng=rng)).items()) for _ in range(n_runs))
    assert set(seen) <= set(law)
    large = {output: p * n_runs for output, p in law.items() if p * n_runs >= 5}
    statistic = sum((seen[output] - expected) ** 2 / expected for output, expected in large.items())
    assert 8 <= len(large) <= 14 and statistic < 60


def test_every_column_is_generalized_by_its_own_rule_and_strange_values_are_suppressed():
    people = pl.DataFrame({"age": ["21", "24.5", "old", None] * 50, "sex": ["F", "M", "x", "F"] * 50})
    table = read_frame(people, quasi_identifiers=["age"], sensitive=["sex"], row_by_row=True)
    method = sampling(hierarchies={"age": Intervals(widths=(5,)), "sex": SEXES}, levels=[(1, 0)])
    shown = set(multiset_of(method.anonymize(table, rng=np.random.default_rng(1))))
    assert shown == {("[20, 25)", "F"), ("[20, 25)", "M"), ("*", "*"), ("*", "F")}


def test_what_a_record_is_given_does_not_depend_on_the_other_records():
    lonely = sampling(hierarchies={"age": Intervals(widths=(5,))}, levels=[(1,)], delta="0.7", s="0.5")
    for others in ([], [22.5], ["n/a"], [10**6]):
        frame = pl.DataFrame({"age": [str(age) for age in [21, *others]]})
        release = lonely.anonymize(read_frame(frame, quasi_identifiers=["age"], row_by_row=True), rng=Script([0] * 2))
        assert ("[20, 25)",) in multiset_of(release)


def test_an_external_database_decides_how_far_records_rise():
    people = [("a", "F")] * 60 + [("c", "F")] * 60
    table, external = read_external(table_of(people), table_of([("a", "F")] * 40 + [("d", "M")]))
    method = sampling(levels=VECTORS, external=external, support=20)
    shown = set(multiset_of(method.anonymize(table, rng=np.random.default_rng(3))))
    assert shown == {("a", "F"), ("*", "*")}  # nobody outside is like c: only everyone together is 20
    assert "if the external database is public" in method.against
    assert "external" not in sampling().against
    everything = replace(method, levels=())
    assert len(everything.vectors) == 6
    assert set(multiset_of(everything.anonymize(table, rng=np.random.default_rng(3)))) == {("a", "F"), ("*", "F")}


def test_an_empty_table_is_released_like_any_other():
    for method in (sampling(), cube()):
        assert multiset_of(method.anonymize(table_of([]), rng=Script([]))) == {}


def test_a_seed_repeats_a_release_and_is_remembered():
    people = [("a", "F"), ("b", "M"), ("c", "F")] * 200
    one, two = (cube().anonymize(table_of(people), rng=np.random.default_rng(5)) for _ in range(2))
    assert multiset_of(one) == multiset_of(two) and one.coins == "seeded"
    assert cube().anonymize(table_of(people)).coins == "secret"


def test_budgets_of_both_stages_add_up():
    method = cube(share="1/4", epsilon=1, delta="1e-6", s="0.4")
    assert method.cube + method.sampling == method.budget
    assert method.cube == Budget(Fraction(1, 4), Fraction(0)) and method.tau is None
    other = replace(method, threshold=True)
    assert other.cube + other.sampling == other.budget
    assert other.cube == Budget(Fraction(1, 4), Fraction(1, 4 * 10**6))
    assert other.tau == least_tau("1/4", "2.5e-7", 4) <= other.least_support
    assert method.noise == TwoSidedGeometric(Fraction(1, 16))
    k = method.least_copies
    assert method.goal.k == k
    assert exact_delta(k, "0.4", "3/4") <= 1e-6 < exact_delta(k - 1, "0.4", "3/4")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"s": "0.9"}, "use s of at most 0.6321"),
        ({"k": 1}, "k is 1, and epsilon 1, delta 0.2 with s 0.3 needs at least 2; leave k out"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"delta": 1}, "delta is 1"),
        ({"hierarchies": {}}, "needs a public hierarchy for every column"),
        ({"hierarchies": {"age": Quantiles(counts=(4,))}}, "'age', Quantiles, is made from the data"),
        ({"hierarchies": {"age": Flat()}}, "'age', Flat, is made from the data"),
        ({"hierarchies": {"age": None}}, "'age' has no hierarchy, and one that is inferred from the data"),
        ({"levels": [(3, 0)]}, r"levels holds \[3, 0\].*place 2, sex 1"),
        ({"levels": [(1,)]}, r"levels holds \[1\]"),
        ({"levels": [(1, "x")]}, "a whole number is expected"),
        ({"levels": []}, "levels takes one vector, and 0 are given"),
        ({"levels": VECTORS}, "levels takes one vector, and 4 are given"),
        ({"support": 4}, "none is given; leave one out"),
        ({"risk": "III"}, "There is no risk model 'III'"),
        ({"utility": "beauty"}, "There is no utility 'beauty'"),
        ({"weights": (1,)}, "1 weights for 2 attributes"),
        ({"weights": (1, -1)}, "negative"),
        ({"c": -1}, "c is -1"),
        ({"hierarchies": {"age": Intervals(widths=(5,))}, "levels": [(1,)], "utility": "log-leaves"}, "lists all its"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_before_any_data(settings, words):
    with pytest.raises(InvalidInput, match=words):
        sampling(**settings)


def test_more_refusals():
    with pytest.raises(InvalidInput, match="share is 1"):
        cube(share=1)
    with pytest.raises(InvalidInput, match="support is 0"):
        cube(support=0)
    with pytest.raises(TooLarge, match="spend more epsilon"):
        cube(share="1/1000000", epsilon=1, delta="1e-6")
    with pytest.raises(TooLarge, match="at most 1,024"):
        cube(levels=[(0, 0)] * 1025)
    with pytest.raises(InvalidInput, match="'x' is only named"):
        sampling(external="x").anonymize(table_of([("a", "F")]))
    with pytest.raises(InvalidInput, match="There is no column 'sex'"):
        sampling().anonymize(read_frame(pl.DataFrame({"place": ["a"]}), quasi_identifiers=["place"], row_by_row=True))
    with pytest.raises(InvalidInput, match="read as a whole.*Read it with row_by_row=True"):
        sampling().anonymize(read_frame(pl.DataFrame({"place": ["a"]}), quasi_identifiers=["place"]))
    beside = read_frame(
        pl.DataFrame({"place": ["a"], "sex": ["F"], "ill": ["flu"]}),
        quasi_identifiers=["place", "sex"],
        sensitive=["ill"],
        row_by_row=True,
    )
    with pytest.raises(InvalidInput, match="'ill' has no hierarchy"):
        sampling().anonymize(beside)


def test_weights_utilities_and_models_choose():
    people = [("a", "F")] * 400 + [("b", "M")] * 400
    table = table_of(people)

    def chosen(**settings):
        method = cube(epsilon=6, delta="0.1", s="0.5", support=5, **settings)
        return set(multiset_of(method.anonymize(table, rng=np.random.default_rng(2))))

    assert chosen() == {("a", "F"), ("b", "M")}
    assert chosen(utility="inverse-leaves") == chosen(utility="log-leaves") == chosen()
    assert chosen(lam=10, risk="I") == {("north", "*")}  # one column weighs half of two, and counts 800
    assert chosen(lam=10, risk="harmonic") == {("north", "*")}
    assert chosen(c=1) == {("north", "*")}


def test_nested_values_can_hang_below_the_root():
    assert Nested({"*": ["F", "M"]}) == SEXES
