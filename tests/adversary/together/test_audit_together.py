# SPDX-License-Identifier: Apache-2.0
"""Several releases of the same people, against trying every order of the values."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from overt.adversary.together import audit_together as together
from overt.adversary.together.audit_together import audit_together
from overt.adversary.together.elimination import eliminate
from overt.adversary.together.exact_counts import TooManyStates, count_component
from overt.adversary.together.shared_cells import SharedCells
from overt.algorithms import FullDomain, Mondrian
from overt.algorithms.anatomy import Anatomy
from overt.algorithms.blind_buckets import BlindBuckets
from overt.algorithms.cross_bucket import CrossBucket
from overt.errors import InvalidInput, Unreachable
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, RelativeRisk
from overt.table import Kind, Role
from persons import table_of_persons
from tables import column_of, table_of


def shown(groups, values):
    return [sorted(values[row] for row in group) for group in groups]


def fitting(several, values):
    """Every order of the values of which all groups show the same."""
    own = [shown(groups, values) for groups in several]
    return [
        order
        for order in set(permutations(values))
        if all(shown(groups, order) == one for groups, one in zip(several, own, strict=True))
    ]


@st.composite
def worlds(draw):
    n = draw(st.integers(3, 7))
    values = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    several = []
    for _ in range(draw(st.integers(2, 3))):
        labels = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))  # -1: left out
        several.append([[row for row in range(n) if labels[row] == g] for g in sorted({g for g in labels if g >= 0})])
    return values, several


def partition_of(groups, n):
    of_row = np.full(n, -1, np.int32)
    for g, rows in enumerate(groups):
        of_row[rows] = g
    return Partition(of_row, len(groups))


@settings(max_examples=150, deadline=None)
@given(world=worlds())
def test_beliefs_and_eliminations_are_those_of_every_order(world):
    values, several = world
    n, n_values = len(values), max(values) + 1
    column = column_of("s", Role.SENSITIVE, Kind.CATEGORY, values, n_values)
    cells = SharedCells.of([partition_of(groups, n) for groups in several], column)
    tables = list(all_tables(values, n_values, several))
    least, most = eliminate(cells)
    for component in range(int(cells.component_of_cell.max()) + 1):
        members = np.flatnonzero(cells.component_of_cell == component).tolist()
        total, found = count_component(cells, members)
        assert total > 0
        for cell in members:
            rows = np.flatnonzero(cells.cell_of_row == cell)
            for value in range(n_values):
                counts = [sum(table[row] == value for row in rows) for table in tables]
                assert found[cell][value] * len(tables) * rows.size == sum(counts)
                assert least[cell, value] <= min(counts) and max(counts) <= most[cell, value]


def all_tables(values, n_values, several):
    """Tables with any values at all, of which all groups show what they show."""
    own = [shown(groups, values) for groups in several]
    for number in range(n_values ** len(values)):
        table = [number // n_values**i % n_values for i in range(len(values))]
        if all(shown(groups, table) == one for groups, one in zip(several, own, strict=True)):
            yield table


def test_two_harmless_releases_give_everybody_away_together():
    values = [0, 1, 0, 1]
    table = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], values)
    by_pairs, other = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    column = table.sensitive[0]
    cells = SharedCells.of([partition_of(by_pairs, 4), partition_of(other, 4)], column)
    least, _ = eliminate(cells)  # the second shows that 0 and 2 have the same value
    assert (least.max(axis=1) == 1).all()
    assert fitting([by_pairs, other], values) == [tuple(values)]


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data(), n=st.integers(4, 6))
def test_replaying_all_methods_is_trying_every_order(data, n):
    quasi = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    values = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    methods = [Mondrian(goal=DistinctLDiversity(2)), FullDomain(goal=FrequencyLDiversity("3/2"))]

    def publish(order):
        found = []
        for method in methods:
            try:
                release = method.anonymize(table_of([quasi], list(order)))
            except Unreachable:
                return None
            rows = np.split(release.partition.rows, release.partition.starts[1:-1])
            found.append(frozenset((tuple(one), tuple(sorted(order[row] for row in one))) for one in rows))
        return found

    own = publish(values)
    assume(own is not None and len(set(values)) == max(values) + 1)
    tables = [order for order in set(permutations(values)) if publish(order) == own]
    table = table_of([quasi], values)
    found = audit_together([method.anonymize(table) for method in methods])
    assert found.replays and found.is_known.all()
    for row in range(n):
        for value in range(max(values) + 1):
            assert np.isclose(found.chance[row, value], np.mean([one[row] == value for one in tables]))
    assert found.certain.tolist() == [len({one[row] for one in tables}) == 1 for row in range(n)]


def test_what_is_tied_together_too_widely_is_not_known_and_nobody_is_wrongly_certain():
    rng = np.random.default_rng(1)
    n = 1_200
    table = table_of([rng.integers(0, 400, n), rng.integers(0, 400, n)], rng.integers(0, 6, n).tolist())
    releases = [Anatomy(goal=FrequencyLDiversity(3)).anonymize(table, rng=rng) for _ in range(2)]
    found = audit_together(releases)
    assert not found.replays and found.n_unknown > 0 and "Not known yet" in " ".join(found.sentences())
    cells = SharedCells.of([release.partition for release in releases], table.sensitive[0])
    least, _ = eliminate(cells)
    has = np.zeros_like(least)
    np.add.at(has, (cells.cell_of_row, table.sensitive[0].codes), 1)
    assert (least <= has).all()
    assert found.to_dict()["not_known"] == found.n_unknown
    with pytest.raises(TooManyStates), pytest.MonkeyPatch.context() as patch:
        patch.setattr("overt.adversary.together.exact_counts.MOST_STEPS", 1)
        count_component(cells, np.flatnonzero(cells.component_of_cell == cells.component_of_cell[0]).tolist())


@pytest.mark.parametrize(
    ("known", "bundles"),
    [("visits", ["ab", "ab", "cd", "bc", "ad", "cc"]), ("static", ["a", "ab", "cd", "d", "ad", "b"]), ("static", ["ab", "c", "ac", "d"])],
)  # fmt: skip
def test_of_persons_whole_bundles_move_and_values_in_any_row_are_believed(known, bundles, monkeypatch):
    n, letters = len(bundles), sorted(set("".join(bundles)))
    if n > 4:  # the smallest world is replayed
        monkeypatch.setattr(together, "FEW_TABLES", 0)
    table = table_of_persons([range(n), [5 * i % (n + 1) for i in range(n)]], bundles, known=known)
    method = BlindBuckets(goal=RelativeRisk(6), k=2, rows_per_bucket=2, form="generalized")
    n_certain, n_seeds = 0, 12 if n > 4 else 2
    for seed in range(n_seeds):
        releases = [method.anonymize(table, rng=np.random.default_rng((seed, i))) for i in range(2)]
        partitions = [release.partition for release in releases]
        several = [[np.flatnonzero(one.group_of_row == g) for g in range(one.n_groups)] for one in partitions]
        tables = fitting(several, bundles)
        found = audit_together(releases)
        assert found.is_known.all() and found.replays == (n == 4)
        for row in range(n):
            has = [np.mean([letter in one[row] for one in tables]) for letter in letters]
            assert np.allclose(found.chance[row], has)
            assert found.certain[row] == (max(has) == 1)
        n_certain += int(found.certain.sum())
        if found.certain.any():
            assert "A value of s0 in the rows of" in " ".join(found.sentences())
    assert n_certain or known == "static"  # in some outcomes the two together tell


def test_a_group_with_more_different_bundles_than_calls_can_be_nested_is_counted():
    n = 1_300
    column = column_of("s", Role.SENSITIVE, Kind.CATEGORY, list(range(n)), n)
    pairs = [[i, i + 1] for i in range(0, n, 2)]
    cells = SharedCells.of([partition_of(pairs, n), partition_of(pairs, n)], column)
    total, found = count_component(cells, [0])
    assert total == 2 and sum(found[0]) == 1 and {float(one) for one in found[0]} == {0, 0.5}


def test_methods_are_run_again_only_where_few_tables_agree_with_a_release(monkeypatch):
    table = table_of([[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3])
    methods = [Mondrian(goal=DistinctLDiversity(2)), FullDomain(goal=FrequencyLDiversity("3/2"))]
    releases = [method.anonymize(table) for method in methods]
    replayed = audit_together(releases)
    monkeypatch.setattr(together, "FEW_TABLES", 1)
    assert replayed.replays and not audit_together(releases).replays


def test_what_cannot_be_put_together_is_refused():
    rng = np.random.default_rng(2)
    table = table_of([rng.integers(0, 9, 60)], rng.integers(0, 4, 60).tolist())
    method = Mondrian(goal=DistinctLDiversity(2))
    release = method.anonymize(table)
    with pytest.raises(InvalidInput, match="two or more"):
        audit_together([release])
    other = table_of([rng.integers(0, 9, 60)], np.roll(table.sensitive[0].codes, 1).tolist())
    with pytest.raises(InvalidInput, match="not of the same people"):
        audit_together([release, method.anonymize(other)])
    crossed = CrossBucket(k=2, l=2).anonymize(table, rng=rng)
    with pytest.raises(InvalidInput, match="do not show who is in which group of values"):
        audit_together([release, crossed])
