# SPDX-License-Identifier: Apache-2.0
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.dp.worlds import HIERARCHIES, multiset_of, table_of
from overt.adversary.dp.neighbour_divergence import hockey_stick
from overt.adversary.dp.output_laws import multiset_law
from overt.algorithms.dp.accounting import exact_delta
from overt.algorithms.dp.elements import Records
from overt.algorithms.dp.full_domain import GRAIN, DpFullDomain
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy import Intervals, Nested
from overt.hierarchy.value_rules import PublicColumn, public_tree
from overt.randomness import SeededCoins

PEOPLE = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "?"]), st.sampled_from(["F", "M"])), max_size=7)


def method(**settings):
    given = {"epsilon": 2, "delta": "0.4", "s": "0.5", "share": "1/2", "hierarchies": HIERARCHIES}
    return DpFullDomain(**{**given, **settings})


def records_of(one, people):
    table = table_of(people)
    columns = [PublicColumn.of(tree, table.column(name).values) for name, tree in one.trees.items()]
    return Records.of(columns, [table.column(name).codes for name in one.trees])


def looks(one, person, vector):
    """What a person looks like at a vector of levels, by the public rules alone."""
    chains = [tree.chain(text) for tree, text in zip(one.trees.values(), person, strict=True)]
    return tuple(chain[level] for chain, level in zip(chains, vector, strict=True))


def score_by_definition(one, people, vector):
    total = 0
    for cell, n in Counter(looks(one, person, vector) for person in people).items():
        weight = 0
        for label, tree in zip(cell, one.trees.values(), strict=True):
            most = tree.n_leaves[tree.root]
            tells = 1 - (tree.n_leaves[label] - 1) / (most - 1)
            rows = float(Fraction(one.rows))
            weight += round(GRAIN * (rows + (1 - rows) * tells))
        total += weight * max(0, n - one.spared)
    return total


def law_of_noisy_max(scores, epsilon, reach=400):
    """Chances of winning, ties to the first, by summing over the winner's noise; nothing is shared with the package."""
    a = math.exp(-epsilon)
    mass = lambda z: (1 - a) / (1 + a) * a ** abs(z)  # noqa: E731
    below = lambda x: 1 - a ** (x + 1) / (1 + a) if x >= 0 else a ** (-x) / (1 + a)  # noqa: E731  Pr[Z <= x]
    law = []
    for i, mine in enumerate(scores):
        chance = 0.0
        for z in range(-reach, reach + 1):
            others = 1.0
            for j, other in enumerate(scores):
                if j != i:
                    others *= below(mine + z - other - (j < i))
            chance += mass(z) * others
        law.append(chance)
    return law


@given(people=PEOPLE, rows=st.sampled_from(["0", "1/4", "1"]))
@settings(deadline=None)
def test_scores_are_those_of_the_definition(people, rows):
    one = method(rows=rows, delta="0.9")
    scores = one.scores(records_of(one, people))
    assert scores.tolist() == [score_by_definition(one, people, vector) for vector in one.vectors]


@given(people=PEOPLE.filter(bool))
@settings(max_examples=40, deadline=None)
def test_one_record_only_raises_scores_and_by_at_most_its_weight(people):
    one = method(delta="0.9")
    whole = [score_by_definition(one, people, v) for v in one.vectors]
    less = [score_by_definition(one, people[1:], v) for v in one.vectors]
    assert all(0 <= w - l <= one.most_weight for w, l in zip(whole, less, strict=True))


@given(
    scores=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=2, max_size=4),
    epsilon=st.sampled_from([0.2, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_chance_to_be_chosen_changes_by_no_more_than_was_paid(scores, epsilon):
    less, more = [q for q, _ in scores], [q + raised for q, raised in scores]
    law, other = (law_of_noisy_max(one, epsilon / 4, reach=600) for one in (less, more))
    assert sum(law) == pytest.approx(1)
    for p, q in zip(law, other, strict=True):
        assert p <= math.exp(epsilon) * q * (1 + 1e-9)
        assert q <= math.exp(epsilon) * p * (1 + 1e-9)


@given(people=PEOPLE.filter(bool), share=st.sampled_from(["1/4", "3/4"]))
@settings(max_examples=25, deadline=None)
def test_the_whole_mechanism_never_exceeds_its_budget_on_tiny_tables(people, share):
    one = method(delta="0.5", s="0.2", share=share)
    s, k = Fraction(1, 5), one.least_copies

    def law(records):
        chances = law_of_noisy_max(
            [score_by_definition(one, records, v) for v in one.vectors], float(one.noise.epsilon), reach=1500
        )
        total = Counter()
        for vector, chance in zip(one.vectors, chances, strict=True):
            for output, p in multiset_law([{looks(one, r, vector): s} for r in records], suppress=k).items():
                total[vector, output] += Fraction(chance) * p  # even if the chosen levels are told
        return total

    whole, less = law(people), law(people[1:])
    bound = float(exact_delta(k, s, one.sampling.epsilon)) + 1e-9
    assert bound <= 0.5 + 1e-9
    assert float(hockey_stick(whole, less, 2)) <= bound
    assert float(hockey_stick(less, whole, 2)) <= bound


def test_everybody_is_at_the_same_levels_and_nothing_is_rare():
    people = list(product(["a", "b", "c"], ["F", "M"])) * 40
    one = DpFullDomain(epsilon=2, delta="1/1000", s="0.5", hierarchies=HIERARCHIES)
    release = one.anonymize(table_of(people), rng=np.random.default_rng(0))
    shown = multiset_of(release)
    assert min(shown.values()) >= one.least_copies
    assert any({looks(one, p, v) for p in people} >= set(shown) for v in one.vectors)
    assert "chosen by its score" in release.remarks["Levels"]
    assert one.choosing + one.sampling == one.budget


def test_the_choice_follows_the_noise_that_was_paid_for():
    # 300 seeds; the counts lie within 5 standard deviations of the law but for a chance below 1e-4
    people = [("a", "F")] * 30 + [("b", "M")] * 12
    one = DpFullDomain(epsilon=2, delta="1/4", s="0.5", share="1/4", hierarchies=HIERARCHIES)
    records = records_of(one, people)
    scores = one.scores(records)
    law = law_of_noisy_max(scores.tolist(), float(one.noise.epsilon), reach=1500)
    rng, n = np.random.default_rng(1), 300
    chosen = Counter(int(np.argmax(scores + one.noise.draw(scores.size, SeededCoins(rng)))) for _ in range(n))
    for i, p in enumerate(law):
        assert abs(chosen[i] - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1


def test_an_empty_table_and_unknown_values_make_nothing_fail():
    assert method().anonymize(table_of([]), rng=np.random.default_rng(0)).n_groups == 0
    assert method().anonymize(table_of([("?", "?")]), rng=np.random.default_rng(0)).n_groups <= 1


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidInput, match="rows is 2; a number from 0 to 1"):
        method(rows=2)
    for change in ({"lam": 1}, {"c": 1}, {"utility": "log-leaves"}, {"weights": (1, 1)}):
        with pytest.raises(
            InvalidInput, match="says how an element is chosen for each record; here all records have the same"
        ):
            method(**change)
    with pytest.raises(InvalidInput, match="share is 1; a number below 1"):
        method(share=1)
    with pytest.raises(InvalidInput, match="levels holds"):
        method(levels=[(9, 9)])
    many = {f"c{i}": Nested({"*": ["a", "b"]}) for i in range(17)}
    with pytest.raises(TooLarge, match="131,072 vectors of levels, and at most 65,536 are looked at; name some"):
        method(hierarchies=many)


def test_a_rule_without_a_list_of_values_is_weighed_by_depth():
    one = method(hierarchies={"age": Intervals(widths=(5, 20))})
    tree = public_tree(one.hierarchies["age"], "age")
    column = PublicColumn.of(tree, pl.Series(["23", "61"]))
    weights = dict(zip(column.labels, one._weights_of_nodes(column).tolist(), strict=True))
    assert weights["*"] == 0 and weights["23"] == GRAIN
