# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.kernels.counting import count_values_in_ranges, sort_ascending
from overt.partition import Groups, Partition
from privacy.groups import groups_of
from tables import table_of


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_rows_and_starts_say_which_row_is_in_which_group(groups):
    numbers = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    partition = Partition(numbers, int(numbers.max()) + 1)
    ranges = zip(partition.starts, partition.starts[1:], strict=False)
    assert [partition.rows[a:b].tolist() for a, b in ranges] == [
        [row for row, group in enumerate(numbers) if group == g] for g in range(partition.n_groups)
    ]
    assert partition.sizes.tolist() == np.bincount(numbers).tolist()


def test_from_groups_is_the_same_partition():
    assert Partition.from_groups([[0, 2], [1]]).group_of_row.tolist() == [0, 1, 0]
    assert Partition.from_groups([]).n_groups == 0


@pytest.mark.parametrize("groups", [[[0], [2]], [[0, 1], [1]], [[0], [-1]], [[1]]])
def test_from_groups_refuses_what_does_not_hold_every_row_once(groups):
    with pytest.raises(InvalidInput, match=r"^The groups of a partition must hold every row once\.$"):
        Partition.from_groups(groups)


def test_refuses_groups_that_do_not_exist():
    for codes in ([0, 2], [0, -2]):
        with pytest.raises(
            InvalidInput,
            match=r"^A partition has rows in groups other than 0 to 1; number them from 0 \(-1 stands for a suppressed row\)\.$",
        ):
            Partition(np.array(codes, np.int32), 2)


def test_a_suppressed_row_is_in_no_group_and_suppressed_rows_are_none():
    partition = Partition(np.array([1, -1, 0, 1, -1, 0, 1], np.int32), 2)
    assert partition.sizes.tolist() == [2, 3]
    assert partition.starts.tolist() == [0, 2, 5]
    assert partition.rows.tolist() == [2, 5, 0, 3, 6]
    assert partition.kept.tolist() == [0, 2, 3, 5, 6]
    assert (partition.n_kept, partition.n_suppressed) == (5, 2)
    everyone = Partition(np.array([0, 0], np.int32), 1)
    assert everyone.kept is None and everyone.n_suppressed == 0


def test_refuses_empty_groups():
    for codes, n_groups in (([0, 2], 3), ([], 1)):
        with pytest.raises(InvalidInput, match=r"^A partition has an empty group"):
            Partition(np.array(codes, np.int32), n_groups)
    with pytest.raises(InvalidInput, match=r"^A group has no rows"):
        groups_of([[0], []])


def test_refuses_other_types():
    with pytest.raises(InvalidInput, match=r"^A partition has groups of type int64; int32 is expected\.$"):
        Partition(np.array([0, 0], np.int64), 1)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=5), st.data())
def test_histograms_count_every_value(lists, data):
    groups = groups_of(lists, unused=[5, 5, 0], n_values=7)
    histogram = groups.histograms["s"]
    for g, values in enumerate(lists):
        begin, end = histogram.first[g], histogram.first[g + 1]
        found = list(zip(histogram.value[begin:end].tolist(), histogram.count[begin:end].tolist(), strict=True))
        assert found == sorted(Counter(values).items())
    everyone = Counter([5, 5, 0, *(value for values in lists for value in values)])
    assert histogram.total_of_value.tolist() == [everyone[value] for value in range(7)]

    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))))
    some = groups_of([values for values, kept in zip(lists, chosen, strict=True) if kept], n_values=7, unused=[0])
    few = histogram.select(chosen)
    for name in ("first", "value", "count"):
        assert getattr(few, name).tolist() == getattr(some.histograms["s"], name).tolist()


@pytest.mark.parametrize("n_values", [40, 1000, 100_000])
@pytest.mark.parametrize("size", [33, 300, 3000])
def test_large_groups_of_many_values_are_counted_in_order(n_values, size):
    rng = np.random.default_rng(size)
    starts = np.array([0, size, size + 5, 2 * size])
    for values in (rng.integers(0, n_values, 2 * size), np.arange(2 * size)[::-1] % n_values):
        first, value, count = count_values_in_ranges(values.astype(np.int32), starts, n_values)
        for g in range(3):
            expected, counts = np.unique(values[starts[g] : starts[g + 1]], return_counts=True)
            assert value[first[g] : first[g + 1]].tolist() == expected.tolist()
            assert count[first[g] : first[g + 1]].tolist() == counts.tolist()


@given(st.lists(st.integers(0, 100), max_size=120), st.integers(0, 5), st.integers(0, 5))
def test_sort_leaves_the_rest_alone(numbers, before, after):
    array = np.array([9] * before + numbers + [9] * after)
    sort_ascending(array, before, before + len(numbers))
    assert array.tolist() == [9] * before + sorted(numbers) + [9] * after


def test_groups_of_a_table_count_each_sensitive_column():
    table = table_of([[0, 1, 0]], [[0, 1, 1], [2, 2, 2]])
    groups = Groups.of(table, Partition.from_groups([[0, 2], [1]]))
    assert groups.histograms["s0"].value.tolist() == [0, 1, 1]
    assert groups.histograms["s1"].count.tolist() == [2, 1]
    assert groups.sizes.tolist() == [2, 1]
