# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
from oracles import cross_bucket as oracle
from overt.errors import InvalidInput
from overt.metrics.sum_queries import Predicate, answer_sums, draw_sum_queries
from overt.partition import Partition
from overt.release import CrossBucketRelease

COMPARE = {
    ">": lambda x, v: x > v,
    "<": lambda x, v: x < v,
    "=": lambda x, v: x == v,
    ">=": lambda x, v: x >= v,
    "<=": lambda x, v: x <= v,
    "!=": lambda x, v: x != v,
}


def possible_and_certain(cell, comparison, value):
    """Over all points of a range, by trying the ends, the value, its neighbourhood; or over a set."""
    if comparison == "in":
        return any(x in value for x in cell), all(x in value for x in cell)
    low, high = map(Fraction, cell)
    points = [low, high, (low + high) / 2]
    points += [x for x in (value, value - Fraction(1, 10**6), value + Fraction(1, 10**6)) if low <= x <= high]
    verdicts = [COMPARE[comparison](x, value) for x in points]
    return any(verdicts), all(verdicts)


@st.composite
def worlds(draw):
    n = draw(st.integers(2, 12))
    frame = {
        "a": draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)),
        "b": draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n)),
        "s": draw(st.lists(st.integers(-5, 9), min_size=n, max_size=n)),
    }
    partitions = []
    for _ in range(2):
        label = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        partitions.append([[r for r in range(n) if label[r] == g] for g in sorted(set(label))])
    numeric = st.tuples(st.just("a"), st.sampled_from(list(COMPARE)), st.sampled_from([-1, 0, 2, 3, 6, 9, 2.5]))
    category = st.tuples(st.just("b"), st.just("in"), st.sets(st.sampled_from(["x", "y", "z", "w"])).map(tuple))
    query = draw(st.tuples(numeric, category).flatmap(lambda both: st.sampled_from([both[:1], both[1:], both])))
    return frame, partitions, query


@given(world=worlds())
def test_bounds_are_those_of_the_definition_and_hold_the_actual_sum(world):
    frame, (groups, buckets), query = world
    table = overt.read_frame(
        pl.DataFrame(frame), quasi_identifiers=["a", "b"], sensitive=["s"], kinds={"b": "category", "s": "number"}
    )
    release = CrossBucketRelease(table, Partition.from_groups(groups), None, Partition.from_groups(buckets))
    answers = answer_sums(release, [tuple(Predicate(*predicate) for predicate in query)])
    verdict_of_row = {}
    for group in groups:
        box = dict(zip("ab", oracle.box(group, [frame["a"], frame["b"]], ["num", "cat"]), strict=True))
        verdicts = [possible_and_certain(box[column], comparison, value) for column, comparison, value in query]
        for row in group:
            verdict_of_row[row] = all(p for p, _ in verdicts), all(c for _, c in verdicts)
    bounds = [
        oracle.sum_bounds(
            sum(verdict_of_row[row][1] for row in bucket),
            sum(verdict_of_row[row][0] for row in bucket),
            [frame["s"][row] for row in bucket],
        )
        for bucket in buckets
    ]
    assert answers.lower(0) == sum(low for low, _ in bounds)
    assert answers.upper(0) == sum(high for _, high in bounds)
    satisfies = [
        all(
            frame[c][r] in v if comparison == "in" else COMPARE[comparison](frame[c][r], v)
            for c, comparison, v in query
        )
        for r in range(len(frame["s"]))
    ]
    assert answers.actual(0) == sum(s for s, hit in zip(frame["s"], satisfies, strict=True) if hit)
    assert answers.lower(0) <= answers.actual(0) <= answers.upper(0)


def test_decimal_numbers_are_summed_exactly_and_missing_satisfies_nothing():
    frame = pl.DataFrame({"a": [1, 2, None, 4], "s": [0.1, 0.2, 0.3, 0.4]})
    table = overt.read_frame(frame, quasi_identifiers=["a"], sensitive=["s"])
    groups = Partition.from_groups([[0, 1], [2, 3]])
    answers = answer_sums(
        CrossBucketRelease(table, groups, None, groups), [(Predicate("a", ">=", 2),), (Predicate("a", "!=", 9),)]
    )
    assert (answers.lower(0), answers.actual(0), answers.upper(0)) == (0, Fraction(6, 10), 1)
    assert (answers.lower(1), answers.actual(1)) == (Fraction(3, 10), Fraction(7, 10))


def test_drawn_queries_have_an_answer_and_the_asked_number_of_predicates():
    table = overt.read_frame(
        overt.samples.census(300), quasi_identifiers=["Age", "Gender", "Education", "Birthplace"], sensitive=["Income"]
    )
    queries = draw_sum_queries(table, 50, np.random.default_rng(1), n_predicates=3)
    assert {len(query) for query in queries} == {3}
    release = overt.Mondrian(goal=overt.KAnonymity(5)).anonymize(table)
    answers = answer_sums(release, queries)
    assert len(answers) == 50
    assert (answers.actual_sums != 0).all()
    assert (answers.lower_sums <= answers.actual_sums).all()
    assert (answers.actual_sums <= answers.upper_sums).all()
    exact_buckets = overt.Anatomy(goal=overt.FrequencyLDiversity(3)).anonymize(table, rng=np.random.default_rng(1))
    assert answer_sums(exact_buckets, queries).mean_relative_error() < answers.mean_relative_error()


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (("a", "~", 1), "compares by '~'"),
        (("a", "in", (1,)), "is no category"),
        (("b", ">", "x"), "is a category and cannot be compared"),
        (("c", ">", 1), "no column 'c'"),
    ],
)
def test_queries_that_make_no_sense_are_refused(predicate, words):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "s": [1, 2]})
    table = overt.read_frame(frame, quasi_identifiers=["a", "b"], sensitive=["s"])
    release = overt.Mondrian(goal=overt.KAnonymity(2)).anonymize(table)
    with pytest.raises(InvalidInput, match=words):
        answer_sums(release, [(Predicate(*predicate),)])


def test_suppressed_rows_leave_a_sum_without_bounds():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"], "s": [1, 2, 900]})
    table = overt.read_frame(frame, quasi_identifiers=["a", "b"], sensitive=["s"])
    release = overt.GeneralizedRelease(table, Partition(np.array([0, 0, -1], np.int32), 1), None)
    with pytest.raises(InvalidInput, match="1 rows are suppressed"):
        answer_sums(release, [(Predicate("a", ">", 0),)])
