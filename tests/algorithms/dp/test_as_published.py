# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from overt.adversary.dp.output_laws import law_of_runs, multiset_law
from overt.algorithms.dp import element_draws
from overt.algorithms.dp.as_published import Algorithm3, Algorithm3Threshold, Algorithm4
from overt.algorithms.dp.exponential import ExponentialChoice, laws_of_records
from overt.algorithms.record import Depth, ModelII
from overt.algorithms.record.generalization_cube import LagrangianModel, ThresholdModel
from overt.algorithms.record.methods import People
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.hierarchy import Levels
from overt.io.frames import read_frame

YES = {"i_know_it_is_not_dp": True}
PLACES = {"a1": ["a", "*"], "a2": ["a", "*"], "b": ["*", "*"]}  # b is a branch that ends early


def table_of(places, sexes):
    hierarchy = Levels([[value, *above] for value, above in PLACES.items()])
    frame = pl.DataFrame({"place": places, "sex": sexes})
    return read_frame(frame, quasi_identifiers=["place", "sex"], hierarchies={"place": hierarchy})


TINY = (["a1", "a1", "a2", "b"], ["F", "F", "M", "M"])


def multiset_of(release):
    """What a release shows: how often which ranges of codes."""
    sizes = release.partition.sizes
    return frozenset((release.shown[:, group].tobytes(), int(n)) for group, n in enumerate(sizes))


def expected_law(method, table, choice):
    people = People.of(table, method)
    laws = laws_of_records(choice, method.drop, people.trees, people.codes.T, Depth(), ModelII())
    named = []
    for law in laws:
        named.append({})
        for element, p in law.items():
            nodes = [tree.labels.to_list().index(label) for tree, label in zip(people.trees, element, strict=True)]
            shown = [
                [t.first_leaf_of_node[n], t.first_leaf_of_node[n] + t.n_leaves_of_node[n] - 1]
                for t, n in zip(people.trees, nodes, strict=True)
            ]
            named[-1][np.array(shown, np.int32).tobytes()] = Fraction(p)
    return multiset_law(named)


@pytest.mark.parametrize(
    ("method", "model"),
    [
        (Algorithm3(**YES, t=2, beta="1/2", lam=2, kappa=1), LagrangianModel(2, 1)),
        (Algorithm3Threshold(**YES, t=2, beta="1/2", c=1), ThresholdModel(1)),
    ],
)
def test_running_through_every_coin_of_the_method_gives_the_law_of_the_paper(method, model):
    table = table_of(*([column[1:] for column in TINY] if model == LagrangianModel(2, 1) else TINY))
    choice = ExponentialChoice(model, 2, method.parameters(People.of(table, method)).epsilon_prime)
    found = law_of_runs(lambda coins: multiset_of(method.anonymize(table, rng=coins)))
    expected = expected_law(method, table, choice)
    assert found.keys() == expected.keys()
    for output, chance in expected.items():
        assert float(found[output]) == pytest.approx(float(chance), rel=1e-9)


def test_large_tables_are_drawn_from_the_same_law(monkeypatch):
    # 1500 runs; the counts of each output lie within 5 standard deviations but for a chance of 1e-4 in all
    method, table = Algorithm3(**YES, t=2, beta="1/2"), table_of(*TINY)
    choice = ExponentialChoice(LagrangianModel(1, 1), 2, method.parameters(People.of(table, method)).epsilon_prime)
    expected = expected_law(method, table, choice)
    monkeypatch.setattr(element_draws, "MOST_WEIGHTS", 0)
    rng, n = np.random.default_rng(0), 1500
    found = Counter(multiset_of(method.anonymize(table, rng=rng)) for _ in range(n))
    assert found.keys() <= expected.keys()
    for output, chance in expected.items():
        p = float(chance)
        assert abs(found[output] - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1


def test_the_release_says_that_it_is_not_dp_and_shows_its_conditions():
    method = Algorithm3(**YES, t=2)
    release = method.anonymize(table_of(*TINY), rng=np.random.default_rng(0))
    assert "NOT differentially private" in release.cautions[0]
    assert "does not hold" in method.against
    assert "not-dp" in method.name
    assert release.remarks["Needs 1"] == "beta: at least e^-epsilon = 0.367879, given 0.551819 (met)"
    assert "NOT met" in release.remarks["Needs 2"]
    assert release.n_suppressed == int((release.partition.group_of_row < 0).sum())
    kept = release.partition.group_of_row >= 0
    assert (release.support_of_row[kept] >= 2).all()
    np.testing.assert_allclose(release.risk_of_row[kept], 1 / release.support_of_row[kept])


def test_without_a_t_the_least_that_the_paper_allows_is_taken():
    rows = ["a1"] * 60 + ["b"] * 60
    method = Algorithm3(**YES)
    table = table_of(rows, ["F"] * 120)
    release = method.anonymize(table, rng=np.random.default_rng(0))
    assert all(part.met for part in release.conditions if part.name.startswith("t,"))
    assert release.support_of_row.max() == 120


def test_algorithm_4_gives_elements_that_are_nearly_frequent():
    pytest.importorskip("ortools")
    rows = ["a1"] * 20 + ["a2"] * 10 + ["b"] * 10
    table = table_of(rows, ["F", "M"] * 20)
    release = Algorithm4(**YES, theta="1/2", sigma="1/2", base="1/2", risk="I").anonymize(
        table, rng=np.random.default_rng(0)
    )
    kept = release.partition.group_of_row >= 0
    assert (release.support_of_row[kept] >= 10).all()
    assert release.solver == "Algorithm 4"
    for row in np.flatnonzero(kept):  # every row is covered by what it shows
        low, high = release.shown[:, release.partition.group_of_row[row]].T
        codes = [column.codes[row] for column in table.quasi_identifiers]
        assert (low <= codes).all() and (codes <= high).all()


@pytest.mark.parametrize("kind", [Algorithm3, Algorithm4])
def test_it_must_be_asked_for_by_name(kind):
    with pytest.raises(InvalidInput, match="is not differentially private, whatever its paper says. To study it, set"):
        kind()
    with pytest.raises(InvalidInput, match="i_know_it_is_not_dp"):
        kind(i_know_it_is_not_dp=1)


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        (Algorithm3(**YES, t=1), InvalidInput, "t is 1; elements"),
        (Algorithm3(**YES, t=5), Unreachable, "t is 5, and"),
        (Algorithm3(**YES, t=2, risk="I"), InvalidInput, "has weight 0, where the Lagrangian"),
        (Algorithm3(**YES, t=2, beta="1/4"), InvalidInput, "beta is 0.25, below"),
        (Algorithm3(**YES, t=2, beta=1), InvalidInput, "beta is 1.0; a number between 0 and 1"),
        (Algorithm3(**YES, t=2, delta=0), InvalidInput, "delta is 0.0; a number"),
        (Algorithm3(**YES, t=2, tau1=1), InvalidInput, "tau1 is 1.0; a number"),
        (Algorithm3Threshold(**YES, t=4, c=3), Unreachable, "For 4 records no generalization is frequent and useful"),
        (Algorithm3Threshold(**YES, t=1, c=1), InvalidInput, "t is 1; elements"),
        (Algorithm4(**YES, risk="I"), InvalidInput, "has weight 0"),
    ],
)
def test_what_the_paper_cannot_do_is_refused(method, error, words):
    for most in (element_draws.MOST_WEIGHTS, 0):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(error, match=words):
            patch.setattr(element_draws, "MOST_WEIGHTS", most)
            method.anonymize(table_of(*TINY), rng=np.random.default_rng(0))


def test_parameters_that_make_no_sense_are_refused_at_once():
    for change, words in (
        ({"lam": -1}, "lambda is -1"),
        ({"kappa": -1}, "kappa is -1"),
        ({"utility": "beauty"}, "no utility 'beauty'"),
        ({"risk": "IV"}, "no risk model 'IV'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            Algorithm3(**YES, **change)
    for name in ("theta", "sigma", "epsilon_second"):
        with pytest.raises(InvalidInput, match=f"{name} is 1; a number between 0 and 1"):
            Algorithm4(**YES, **{name: 1})


def test_columns_that_are_not_generalized_are_refused():
    frame = pl.DataFrame({"sex": ["F", "M"], "disease": ["flu", "flu"]})
    table = read_frame(frame, quasi_identifiers=["sex"], sensitive=["disease"])
    with pytest.raises(InvalidInput, match="'disease' would be attached as it is; give the column"):
        Algorithm3(**YES, t=2).anonymize(table)
    with pytest.raises(InvalidInput, match="The table has no rows"):
        Algorithm3(**YES, t=2).anonymize(read_frame(frame.clear()[["sex"]], quasi_identifiers=["sex"]))


def test_too_many_vectors_of_levels_name_algorithm_4():
    frame = pl.DataFrame({f"c{i}": ["x", "y"] for i in range(17)})
    with pytest.raises(TooLarge, match="131,072 vectors of levels.*use Algorithm4"):
        Algorithm3(**YES, t=2).anonymize(read_frame(frame, quasi_identifiers=frame.columns))


def test_a_method_is_a_value():
    one = Algorithm3(**YES, t=2)
    assert one == replace(one) and hash(one) == hash(replace(one))
