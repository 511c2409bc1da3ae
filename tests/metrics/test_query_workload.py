# SPDX-License-Identifier: Apache-2.0
"""Count queries: true answers, estimates from boxes and buckets, and their error, against the definitions."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
from overt.errors import InvalidInput
from overt.metrics import query_workload
from overt.metrics.query_workload import (
    CountQuery,
    Workload,
    actual_counts,
    even_in_cells,
    predicate_types,
    query_workload_error,
    relative_error,
    relative_errors,
    uniform_in_box,
    uniform_in_box_exactly,
)
from overt.partition import Partition
from overt.release import BucketRelease, GeneralizedRelease
from overt.table import Kind
from tables import table_of, tables

SEEDS = st.integers(0, 10_000)


def random_release(table, seed, kind=GeneralizedRelease):
    """Random groups; how they were made does not matter here."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, max(1, table.n_rows // 3), table.n_rows)
    _, group_of_row = np.unique(numbers, return_inverse=True)
    return kind(table, Partition(group_of_row.astype(np.int32), int(group_of_row.max()) + 1), None)


def matches(table, row, workload, q):
    inside = all(
        workload.least[q, a] <= table.column(name).codes[row] <= workload.greatest[q, a]
        for a, name in enumerate(workload.columns)
    )
    return inside and workload.wanted[q, table.sensitive[0].codes[row]]


@given(table=tables(max_rows=20), seed=SEEDS, sensitive=st.booleans())
def test_actual_counts_are_the_rows_that_match(table, seed, sensitive):
    rng = np.random.default_rng(seed)
    for columns in predicate_types(table):
        workload = Workload.draw(table, columns, 5, rng, sensitive=sensitive)
        expected = [sum(matches(table, row, workload, q) for row in range(table.n_rows)) for q in range(5)]
        assert actual_counts(table, workload).tolist() == expected


@given(table=tables(max_rows=20), seed=SEEDS, most_cells=st.sampled_from([0, 8_000_000]))
def test_estimates_from_boxes_agree_with_fractions(table, seed, most_cells):
    rng = np.random.default_rng(seed)
    release = random_release(table, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_workload, "MOST_CELLS", most_cells)  # both ways of answering
        for columns in predicate_types(table):
            workload = Workload.draw(table, columns, 4, rng)
            exact = [
                uniform_in_box_exactly(
                    release,
                    CountQuery(
                        {n: (workload.least[q, a], workload.greatest[q, a]) for a, n in enumerate(workload.columns)},
                        frozenset(np.flatnonzero(workload.wanted[q]).tolist()),
                    ),
                )
                for q in range(4)
            ]
            assert uniform_in_box(release, workload) == pytest.approx([float(e) for e in exact], rel=1e-12, abs=1e-12)


@given(table=tables(max_rows=20), seed=SEEDS, most_cells=st.sampled_from([0, 8_000_000]))
def test_estimates_from_buckets_spread_values_over_the_rows_of_a_bucket(table, seed, most_cells):
    release = random_release(table, seed, BucketRelease)
    workload = Workload.draw(table, [table.quasi_identifiers[0].name], 4, np.random.default_rng(seed))
    values, groups = table.sensitive[0].codes, release.partition.group_of_row
    expected = []
    for q in range(4):
        total = 0.0
        for g in range(release.n_groups):
            rows = np.flatnonzero(groups == g)
            codes = table.column(workload.columns[0]).codes[rows]
            hits = ((codes >= workload.least[q, 0]) & (codes <= workload.greatest[q, 0])).sum()
            total += hits * workload.wanted[q, values[rows]].mean()
        expected.append(total)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_workload, "MOST_CELLS", most_cells)
        assert uniform_in_box(release, workload) == pytest.approx(expected)


def allowed(column, rows):
    """The codes that a published cell allows: a set holds its members, a range all between."""
    codes = sorted({int(column.codes[row]) for row in rows})
    return codes if column.kind is Kind.CATEGORY else list(range(codes[0], codes[-1] + 1))


@given(table=tables(max_rows=20), seed=SEEDS)
def test_answers_from_published_cells_spread_rows_over_what_a_cell_allows(table, seed):
    rng = np.random.default_rng(seed)
    release = random_release(table, seed)
    values = table.sensitive[0].codes
    for names in predicate_types(table):
        workload = Workload.draw(table, names, 4, rng)
        expected = [Fraction(0)] * 4
        for group in range(release.n_groups):
            rows = np.flatnonzero(release.partition.group_of_row == group)
            for q in range(4):
                share = Fraction(int(workload.wanted[q, values[rows]].sum()))
                for a, name in enumerate(workload.columns):
                    codes = allowed(table.column(name), rows)
                    inside = [c for c in codes if workload.least[q, a] <= c <= workload.greatest[q, a]]
                    share *= Fraction(len(inside), len(codes))
                expected[q] += share
        assert even_in_cells(release, workload) == pytest.approx([float(e) for e in expected], rel=1e-9, abs=1e-9)


def test_a_set_says_nothing_of_values_between_its_members():
    """Two rows with the first and the last of three categories: nobody has the one between, which a range would count."""
    table = table_of([[0, 2]], [0, 1], n_codes=[3], kinds=[Kind.CATEGORY])
    release = GeneralizedRelease(table, Partition.from_groups([[0, 1]]), None)
    between = Workload.of(table, [CountQuery({"q0": (1, 1)}), CountQuery({"q0": (0, 1)})])
    assert even_in_cells(release, between).tolist() == [0, 1]
    assert uniform_in_box(release, between) == pytest.approx([2 / 3, 4 / 3])
    assert query_workload_error(release, between) == 0


def test_answers_from_cells_are_those_of_an_analyst_with_the_published_files():
    """`overt.estimate` reads the texts of published cells; spread evenly, it must answer the same."""
    rng = np.random.default_rng(3)
    age, town = rng.integers(20, 80, 400), rng.integers(0, 5, 400)
    frame = pl.DataFrame(
        {"age": age, "town": [f"t{t}" for t in town], "ill": [f"i{i}" for i in rng.integers(0, 6, 400)]}
    )
    table = overt.read_frame(frame, quasi_identifiers=["age", "town"], sensitive=["ill"])
    for cells in ("tight", "grid"):
        method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), cells=cells, stratify=overt.Halvings(1))
        release = method.anonymize(table, rng=rng)
        opened = overt.open_release(release)
        towns, ages = table.column("town").values.to_list(), table.column("age").values.to_list()
        for low, high, first, last, ill in ((25, 47, 1, 2, "i0"), (33, 33, 0, 0, "i3"), (60, 79, 2, 4, "i5")):
            at = ages.index(low), ages.index(high)
            asked = CountQuery({"age": at, "town": (first, last)}, frozenset([int(ill[1])]))
            even = overt.estimate(opened, where={"age": (low, high), "town": towns[first : last + 1], "ill": ill})[
                "even"
            ][0]
            assert even_in_cells(release, Workload.of(table, [asked]))[0] == pytest.approx(even, rel=1e-9)


def test_random_ranges_never_cover_everything_and_random_sets_are_proper():
    table = table_of([[0, 1], [0, 4]], [0, 1], n_codes=[2, 5])
    workload = Workload.draw(table, ["q0", "q1"], 500, np.random.default_rng(0))
    widths = workload.greatest - workload.least + 1
    assert widths.min() == 1
    assert widths[:, 0].max() == 1
    assert widths[:, 1].max() == 4
    assert set(workload.wanted.sum(axis=1)) == {1}


def test_errors_are_relative_to_the_answer_or_half_a_percent():
    assert relative_error(10, Fraction(15), 100) == Fraction(1, 2)
    assert relative_error(0, Fraction(1), 1000) == Fraction(1, 5)
    assert relative_errors(np.array([10, 0]), np.array([15.0, 1.0]), 1000).tolist() == [0.5, 0.2]


def test_a_release_of_single_rows_has_no_error():
    table = table_of([[0, 1, 2, 3]], [0, 1, 0, 1])
    release = GeneralizedRelease(table, Partition.from_groups([[0], [1], [2], [3]]), None)
    assert query_workload_error(release, Workload.draw(table, ["q0"], 50, np.random.default_rng(0))) == 0


def test_unknown_columns_are_named():
    table = table_of([[0, 1]], [0, 1])
    with pytest.raises(InvalidInput, match="no column 'x'; the columns are 'q0'"):
        Workload.draw(table, ["x"], 1, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="no column 's0'"):
        Workload.of(table, [CountQuery({"s0": (0, 1)})])
