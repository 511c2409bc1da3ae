# SPDX-License-Identifier: Apache-2.0
"""RDA, Dealing, RIA, GDA and BatchMatching on random tables, judged by an independent look at the groups."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import streamliner as oracle
from overt import Intervals, read_frame
from overt.algorithms.streamliner import GDA, RDA, RIA, BatchMatching, Dealing
from overt.algorithms.streamliner.family import merge_neighbours
from overt.algorithms.streamliner.gda import group_by_distance
from overt.algorithms.streamliner.ranks import weighted_rank
from overt.algorithms.streamliner.rda import plan_groups
from overt.algorithms.streamliner.ria import draw_candidates
from overt.errors import InvalidInput, Stuck, Unreachable
from overt.io.publication import published_tables
from overt.metrics.discernibility import discernibility, optimal_discernibility
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity, TCloseness
from overt.release import BucketRelease, GeneralizedRelease
from overt.table import Kind
from tables import column_of, table_of

SEEDS = st.integers(0, 10_000)


@st.composite
def eligible_tables(draw, max_rows=40):
    """A table that is l-eligible, and its l."""
    l = draw(st.integers(2, 4))
    counts = draw(st.lists(st.integers(1, 8), min_size=l, max_size=10).filter(lambda c: l * max(c) <= sum(c)))
    values = draw(st.permutations([value for value, count in enumerate(counts) for _ in range(count)]))
    columns = [draw(st.lists(st.integers(0, 6), min_size=len(values), max_size=len(values))) for _ in range(2)]
    return table_of(columns, values, n_codes=[7, 7]), l


def check(release, l, *, distinct=True):
    """Every row once; no value above 1/l of a group; all values different inside a group. Returns the groups."""
    values = release.table.sensitive[0].codes.tolist()
    groups = {}
    for row, group in enumerate(release.partition.group_of_row.tolist()):
        groups.setdefault(group, []).append(row)
    assert sorted(row for rows in groups.values() for row in rows) == list(range(len(values)))
    for rows in groups.values():
        counts = Counter(values[row] for row in rows)
        assert l * max(counts.values()) <= len(rows)
        assert not distinct or max(counts.values()) == 1
    return list(groups.values())


@given(case=eligible_tables(), seed=SEEDS)
def test_rda_and_dealing_make_all_the_groups_there_can_be(case, seed):
    table, l = case
    for method in (RDA(goal=FrequencyLDiversity(l)), Dealing(goal=DistinctLDiversity(l))):
        release = method.anonymize(table, rng=np.random.default_rng(seed))
        assert len(check(release, l)) == table.n_rows // l
    assert discernibility(release.partition) == optimal_discernibility(table.n_rows, l)  # Dealing


@given(case=eligible_tables(), seed=SEEDS)
def test_ria_is_diverse_and_never_meets_a_dead_end(case, seed):
    table, l = case
    check(RIA(goal=FrequencyLDiversity(l)).anonymize(table, rng=np.random.default_rng(seed)), l, distinct=False)
    values, column = table.sensitive[0].codes, table.sensitive[0]
    served_all = []
    for served, chosen in draw_candidates(column.codes, column.n_values, l, np.random.default_rng(seed)):
        served_all += served.tolist()
        assert len(set(chosen.ravel().tolist())) == chosen.size  # nobody is chosen twice by one colour
        for row, others in zip(served, chosen, strict=True):
            assert len({int(values[row]), *values[others].tolist()}) == l
    assert sorted(served_all) == list(range(table.n_rows))


def test_ria_serves_the_dead_end_of_free_choice():
    """aabbcd, l = 3: if the first a takes c and d, the second finds only b."""
    table = table_of([[0] * 6], [0, 0, 1, 1, 2, 3])
    for seed in range(200):
        check(RIA(goal=FrequencyLDiversity(3)).anonymize(table, rng=np.random.default_rng(seed)), 3, distinct=False)


@given(
    case=eligible_tables(),
    seed=SEEDS,
    matching=st.sampled_from(["kd", "rank"]),
    value_sets=st.sampled_from(["random", "most frequent"]),
    swaps=st.integers(0, 2),
)
def test_batch_matching_groups_have_different_values(case, seed, matching, value_sets, swaps):
    table, l = case
    method = BatchMatching(goal=FrequencyLDiversity(l), matching=matching, value_sets=value_sets, swaps=swaps)
    check(method.anonymize(table, rng=np.random.default_rng(seed)), l)


@given(case=eligible_tables(), seed=SEEDS, k=st.integers(2, 12))
def test_merging_keeps_groups_together_and_reaches_k(case, seed, k):
    table, l = case
    first = Dealing(goal=FrequencyLDiversity(l)).anonymize(table, rng=np.random.default_rng(seed))
    if k > table.n_rows:
        with pytest.raises(Unreachable, match=f"{k}-anonymity cannot be reached: the table has {table.n_rows} rows"):
            merge_neighbours(table, first.partition, k)
        return
    merged = merge_neighbours(table, first.partition, k)
    assert merged.sizes.min() >= k
    for group in check(first, l):
        assert len(set(merged.group_of_row[group].tolist())) == 1  # a coarsening: in the family set
    release = RDA(goal=FrequencyLDiversity(l) & KAnonymity(k)).anonymize(table, rng=np.random.default_rng(seed))
    check(release, l, distinct=False)
    assert release.partition.sizes.min() >= k


@given(case=eligible_tables(), seed=SEEDS)
def test_merging_looks_at_no_value(case, seed):
    """Other values, same groups: the same merged groups."""
    table, l = case
    partition = Dealing(goal=FrequencyLDiversity(l)).anonymize(table, rng=np.random.default_rng(seed)).partition
    other = table_of([column.codes for column in table.quasi_identifiers], [0] * table.n_rows, n_codes=[7, 7])
    k = min(8, table.n_rows)
    assert np.array_equal(
        merge_neighbours(table, partition, k).group_of_row, merge_neighbours(other, partition, k).group_of_row
    )


@given(seed=SEEDS)
def test_swaps_make_boxes_smaller(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 50, (120, 2))
    table = table_of(list(points.T), np.arange(120) % 4, n_codes=[50, 50])
    loss = []
    for swaps in (0, 3):
        method = BatchMatching(goal=FrequencyLDiversity(4), matching="rank", swaps=swaps, value_sets="most frequent")
        release = method.anonymize(table, rng=np.random.default_rng(seed))
        loss.append(oracle.box_loss(check(release, 4), points.tolist(), [1 / 49, 1 / 49]))
    assert loss[1] <= loss[0]


@settings(max_examples=20)
@given(seed=SEEDS)
def test_kd_matching_is_nearer_than_chance(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 50, (400, 2))
    table = table_of(list(points.T), np.arange(400) % 4, n_codes=[50, 50])
    loss = [
        oracle.box_loss(check(method.anonymize(table, rng=rng), 4), points.tolist(), [1, 1])
        for method in (
            BatchMatching(goal=FrequencyLDiversity(4), value_sets="most frequent"),
            Dealing(goal=FrequencyLDiversity(4)),
        )
    ]
    assert loss[0] < 0.6 * loss[1]


@given(seed=SEEDS)
def test_strata_are_never_mixed(seed):
    rng = np.random.default_rng(seed)
    gender, values = np.arange(60) % 2, np.arange(60) // 2 % 5
    table = table_of([gender, rng.integers(0, 7, 60)], values, n_codes=[2, 7])
    method = BatchMatching(goal=FrequencyLDiversity(3), strata=["q0"])
    merging = BatchMatching(goal=FrequencyLDiversity(3) & KAnonymity(10), strata=("q0",))
    for release in (method.anonymize(table, rng=rng), merging.anonymize(table, rng=rng)):
        for group in check(release, 3, distinct=release.made_by is method):
            assert len(set(gender[group].tolist())) == 1
    assert release.partition.sizes.min() >= 10
    assert method.strata == ("q0",)
    with pytest.raises(Unreachable, match="a stratum has 30 rows"):
        BatchMatching(goal=FrequencyLDiversity(3) & KAnonymity(31), strata=("q0",)).anonymize(table, rng=rng)


def test_strata_are_refused_when_they_cannot_be_used():
    rng = np.random.default_rng(0)
    table = table_of([[0, 0, 0, 0, 1, 1], [0] * 6], [0, 1, 2, 3, 0, 0])
    goal = FrequencyLDiversity(2)
    with pytest.raises(Unreachable, match="in one of the 2 strata of 'q0': one value of 's0' fills 2 of 2 rows"):
        BatchMatching(goal=goal, strata=("q0",)).anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="no column 'age'; the columns are 'q0', 'q1'"):
        BatchMatching(goal=goal, strata=("age",)).anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="must be a quasi-identifier"):
        BatchMatching(goal=goal, strata=("s0",)).anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="in a tuple"):
        BatchMatching(goal=goal, strata="q0")


@pytest.mark.parametrize("method", [RDA, Dealing, RIA, BatchMatching])
def test_bad_goals_and_tables_are_refused(method):
    table = table_of([[0, 1, 2]], [0, 0, 1])
    with pytest.raises(Unreachable, match="one value of 's0' fills 2 of 3 rows, and l=2 allows 1"):
        method(goal=FrequencyLDiversity(2)).anonymize(table, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="l to be at least 2"):
        method(goal=FrequencyLDiversity(1))
    with pytest.raises(InvalidInput, match="reaches l-diversity; add it"):
        method(goal=KAnonymity(3))
    with pytest.raises(InvalidInput, match="and not"):
        method(goal=TCloseness("0.2"))
    with pytest.raises(InvalidInput, match="'generalized' or 'bucketized'"):
        method(goal=FrequencyLDiversity(2), form="boxes")
    two = table_of([[0, 1]], [[0, 1], [1, 0]])
    with pytest.raises(InvalidInput, match="exactly one sensitive column"):
        method(goal=FrequencyLDiversity(2)).anonymize(two, rng=np.random.default_rng(0))


def test_bad_choices_of_batch_matching_are_refused():
    goal = FrequencyLDiversity(2)
    for name in ("matching", "ranks", "value_sets"):
        with pytest.raises(InvalidInput, match=f"{name} is 'other'"):
            BatchMatching(goal=goal, **{name: "other"})
    with pytest.raises(InvalidInput, match="number of rounds"):
        BatchMatching(goal=goal, swaps=-1)
    table = table_of([[0, 1]], [0, 1])
    with pytest.raises(InvalidInput, match="weights are numbers from 0 on"):
        BatchMatching(goal=goal, weights={"q0": -1}).anonymize(table, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="no column 'x'"):
        BatchMatching(goal=goal, weights={"x": 1}).anonymize(table, rng=np.random.default_rng(0))


def test_the_owner_chooses_the_form():
    table = table_of([[0, 1, 2, 3]], [0, 1, 0, 1])
    for form, kind in (("generalized", GeneralizedRelease), ("bucketized", BucketRelease)):
        release = Dealing(goal=FrequencyLDiversity(2), form=form).anonymize(table, rng=np.random.default_rng(0))
        assert isinstance(release, kind)


def test_a_fractional_l_is_rounded_up():
    assert Dealing(goal=FrequencyLDiversity(2.5)).diversity == 3


def test_rda_plans_many_values_in_linear_work():
    sets, left_over = plan_groups(np.full(60_000, 2), 8)
    assert len(sets) == 15_000
    assert not left_over.any()


def test_gda_says_that_it_is_stuck():
    values, ranks = np.array([0, 0, 2, 3, 1, 1], np.int32), np.arange(6)
    with pytest.raises(Stuck, match="already in all 1 groups. Use BatchMatching or RDA") as stuck:
        group_by_distance(values, 4, ranks, 3)
    assert stuck.value.row == 1
    with pytest.raises(InvalidInput, match="which is not safe"):
        GDA(goal=FrequencyLDiversity(2), mode="safe")


@given(case=eligible_tables(), seed=SEEDS)
def test_gda_appends_to_the_nearest_compatible_group(case, seed):
    """The kernel that searches outwards agrees with trying every group."""
    table, l = case
    values = table.sensitive[0].codes
    ranks = np.random.default_rng(seed).integers(0, 30, table.n_rows)
    try:
        found = group_by_distance(values, table.sensitive[0].n_values, ranks, l).group_of_row.tolist()
    except Stuck:
        found = None
    assert found == slow_gda(values.tolist(), ranks.tolist(), l)


def slow_gda(values, ranks, l):
    """The listing with the note's tie rules: colours by (size, value), rows by (rank, row)."""
    order = sorted(set(values), key=lambda value: (-values.count(value), value))
    queue = {c: sorted((r for r in range(len(values)) if values[r] == c), key=lambda r: (ranks[r], r)) for c in order}
    groups = []
    while sum(map(bool, queue.values())) >= l:
        lead = max(order, key=lambda c: (len(queue[c]), -order.index(c)))
        while queue[lead] and sum(map(bool, queue.values())) >= l:
            row = queue[lead].pop(0)
            others = [c for c in order if c != lead and queue[c]]
            others.sort(key=lambda c: (abs(ranks[queue[c][0]] - ranks[row]), order.index(c)))
            groups.append([row, *(queue[c].pop(0) for c in others[: l - 1])])
    for row in [row for c in order for row in sorted(queue[c])]:
        fitting = [g for g in groups if values[row] not in [values[r] for r in g]]
        if not fitting:
            return None
        best = min(fitting, key=lambda g: (np.mean([abs(ranks[row] - ranks[r]) for r in g]).round(9), min(g)))
        best.append(row)
    number = {row: i for i, group in enumerate(groups) for row in group}
    return [number[row] for row in range(len(values))]


def test_weighted_rank_is_the_papers():
    table = table_of([[2, 8, 1], [0, 1, 0], [1, 0, 4]], [0, 1, 2])
    weights = {"q0": 1, "q1": 100, "q2": 1}
    assert weighted_rank(table.quasi_identifiers, weights).tolist() == [105, 210, 107]
    assert weighted_rank(table.quasi_identifiers, {"q1": 0, "q0": 0}).tolist() == [2, 1, 5]


def test_ranks_by_value_use_numbers_as_they_are():
    import polars as pl

    from overt.table import Column, Role

    number = Column("pay", Role.QUASI_IDENTIFIER, Kind.NUMBER, np.array([0, 1, 2], np.int32), pl.Series([1, 10, 1000]))
    word = column_of("town", Role.QUASI_IDENTIFIER, Kind.CATEGORY, [0, 1, 0])
    assert weighted_rank([number, word], {}, "value").tolist() == [2, 12, 1001]
    missing = Column("pay", Role.QUASI_IDENTIFIER, Kind.NUMBER, np.array([0, 1], np.int32), pl.Series([7, None]))
    assert weighted_rank([missing], {}, "value").tolist() == [7, 7]


@pytest.mark.parametrize("kind", [Dealing, RDA, RIA, BatchMatching])
def test_boxes_are_on_a_grid_unless_asked_otherwise(kind):
    """Who is with whom does not depend on it: only what is shown is wider, and ends at nobody's value for a reason."""
    ages = np.arange(20, 80).repeat(4).tolist()
    frame = pl.DataFrame({"age": ages, "s": [f"v{row % 7}" for row in range(len(ages))]})
    table = read_frame(
        frame, quasi_identifiers=["age"], sensitive=["s"], hierarchies={"age": Intervals(widths=(5, 10))}
    )
    grid, tight = (
        kind(goal=FrequencyLDiversity(3), **cells).anonymize(table, rng=np.random.default_rng(1))
        for cells in ({}, {"cells": "tight"})
    )
    assert np.array_equal(grid.partition.group_of_row, tight.partition.group_of_row)
    assert grid.shows_on_grid and not tight.shows_on_grid
    shown = published_tables(grid)["release"]["age"].unique().to_list()
    ends = [int(end) for cell in shown for end in cell.split("..")]
    assert all(end % 5 in (0, 4) for end in ends)
    with pytest.raises(InvalidInput, match="cells is 'loose'"):
        kind(goal=FrequencyLDiversity(3), cells="loose")
