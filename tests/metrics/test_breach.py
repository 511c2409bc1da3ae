# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
from oracles import cross_bucket as oracle
from overt.metrics.breach import breach_of_group, identity_disclosure, largest_breach, matched_breach
from overt.metrics.query_workload import CountQuery, Workload, uniform_in_box
from overt.partition import Partition
from overt.release import CrossBucketRelease
from overt.table import Kind
from tables import table_of, tables


@st.composite
def releases(draw):
    table = draw(tables(max_rows=12, max_value=4))
    partitions = []
    for _ in range(2):
        label = draw(st.lists(st.integers(0, 3), min_size=table.n_rows, max_size=table.n_rows))
        partitions.append([[r for r, g in enumerate(label) if g == wanted] for wanted in sorted(set(label))])
    return table, *partitions


@given(case=releases())
def test_both_forms_agree_with_their_definitions(case):
    table, groups, buckets = case
    release = CrossBucketRelease(table, Partition.from_groups(groups), None, Partition.from_groups(buckets))
    values = table.sensitive[0].codes.tolist()
    believed = [oracle.breach(group, buckets, values) for group in groups]
    assert [breach_of_group(release, g) for g in range(len(groups))] == believed
    assert largest_breach(release) == max(max(of.values()) for of in believed)
    assert identity_disclosure(release) == Fraction(1, min(map(len, groups)))
    columns = [column.codes.tolist() for column in table.quasi_identifiers]
    kinds = ["num" if column.kind is Kind.NUMBER else "cat" for column in table.quasi_identifiers]
    matched = matched_breach(release)
    for row in range(table.n_rows):
        person = [column[row] for column in columns]
        by_value = oracle.matching_breach(person, groups, buckets, values, columns, kinds)
        assert matched[row] == by_value[values[row]]
        assert max(by_value.values()) <= largest_breach(release)  # a mean of the first form over matching groups
    assert matched.largest() == max(matched[row] for row in range(table.n_rows))
    assert np.allclose(matched.floats(), [float(matched[row]) for row in range(table.n_rows)])


def test_a_property_judges_what_is_believed_and_not_who_is_in_the_group():
    table = table_of([[1, 2, 3, 4]], [0, 1, 2, 3])
    release = CrossBucketRelease(
        table, Partition.from_groups([[0, 1], [2, 3]]), None, Partition.from_groups([[0, 2], [1, 3]])
    )
    assert overt.FrequencyLDiversity(4).holds(release.groups)  # though every group has two rows
    assert overt.KAnonymity(2).holds(release.groups)
    assert not overt.KAnonymity(3).holds(release.groups)
    assert not overt.AlphaKAnonymity("1/4", 3).holds(release.groups)
    assert overt.AlphaKAnonymity("1/4", 2).holds(release.groups)
    assert overt.TCloseness(0).holds(release.groups)


@given(case=releases(), seed=st.integers(0, 1000))
def test_suppressed_people_are_matched_with_what_others_published(case, seed):
    table, groups, _ = case
    kept = groups[: 1 + seed % len(groups)]
    group_of_row = np.full(table.n_rows, -1, np.int32)
    for g, group in enumerate(kept):
        group_of_row[group] = g
    matched = matched_breach(overt.GeneralizedRelease(table, Partition(group_of_row, len(kept)), None))
    values = table.sensitive[0].codes.tolist()
    columns = [column.codes.tolist() for column in table.quasi_identifiers]
    kinds = ["num" if column.kind is Kind.NUMBER else "cat" for column in table.quasi_identifiers]
    for row in range(table.n_rows):
        by_value = oracle.matching_breach([column[row] for column in columns], kept, kept, values, columns, kinds)
        assert matched[row] == by_value.get(values[row], 0)
    assert matched.largest() == max(matched[row] for row in range(table.n_rows))


@given(table=tables(min_rows=4, max_rows=12))
def test_releases_without_boxes_or_buckets_are_crossed_in_their_own_way(table):
    generalized = overt.Mondrian(goal=overt.KAnonymity(2)).anonymize(table).crossed()
    assert generalized.partition is generalized.buckets
    exact = overt.BucketRelease(table, generalized.buckets, None).crossed()
    people = {tuple(column.codes[row] for column in table.quasi_identifiers) for row in range(table.n_rows)}
    assert exact.partition.n_groups == len(people)
    matched = matched_breach(overt.BucketRelease(table, generalized.buckets, None))
    assert matched.largest() <= 1


@given(case=releases(), data=st.data())
def test_count_queries_spread_people_over_boxes_and_values_over_beliefs(case, data):
    table, groups, buckets = case
    release = CrossBucketRelease(table, Partition.from_groups(groups), None, Partition.from_groups(buckets))
    column, values = table.quasi_identifiers[0], table.sensitive[0].codes.tolist()
    low, high = sorted(data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4))))
    wanted = data.draw(st.frozensets(st.integers(0, table.sensitive[0].n_values - 1)))
    expected = Fraction(0)
    for group in groups:
        least, greatest = min(column.codes[group]), max(column.codes[group])
        share = Fraction(max(0, int(min(high, greatest) - max(low, least)) + 1), int(greatest - least) + 1)
        believed = oracle.breach(group, buckets, values)
        expected += len(group) * share * sum((believed.get(value, Fraction(0)) for value in wanted), Fraction(0))
    workload = Workload.of(table, [CountQuery({column.name: (low, high)}, wanted)])
    assert np.isclose(uniform_in_box(release, workload)[0], float(expected))


@pytest.mark.parametrize("cells", ["tight", "grid"])
def test_people_are_matched_across_many_groups(cells):
    table = overt.read_frame(
        overt.samples.census(400), quasi_identifiers=["Age", "Gender", "Education"], sensitive=["Income"]
    )
    release = overt.CrossBucket(2, 4, cells=cells).anonymize(table, rng=np.random.default_rng(1))
    groups, buckets = (
        [rows.tolist() for rows in np.split(p.rows, p.starts[1:-1])] for p in (release.partition, release.buckets)
    )
    values, columns = table.sensitive[0].codes.tolist(), [c.codes.tolist() for c in table.quasi_identifiers]
    if cells == "grid":  # a range of blocks of five years is the smallest one of their numbers
        columns[0] = [table.quasi_identifiers[0].values[code] // 5 for code in columns[0]]
    matched = matched_breach(release)
    for row in range(0, 400, 16):
        person = [column[row] for column in columns]
        believed = oracle.matching_breach(person, groups, buckets, values, columns, ["num", "cat", "cat"])
        assert matched[row] == believed[values[row]]
