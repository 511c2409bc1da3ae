# SPDX-License-Identifier: Apache-2.0
"""Rolling up from any remembered node gives what counting from the rows gives, and the memory stays bounded."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.full_domain.worlds import worlds
from overt.algorithms.full_domain.rolling import Memory, RolledRows, size_of


def groups_of(world, node):
    """(labels) -> the sensitive values of the group, from the rows."""
    groups = defaultdict(list)
    for row, value in zip(world.rows, world.sensitive, strict=True):
        labels = tuple(levels[level][v] for v, levels, level in zip(row, world.hierarchies, node, strict=True))
        groups[labels].append(value)
    return sorted(sorted(Counter(values).items()) for values in groups.values())


def found(rolled):
    histogram = rolled.groups.histograms["s"]
    first = histogram.first
    pairs = list(zip(histogram.value.tolist(), histogram.count.tolist(), strict=True))
    assert [sum(n for _, n in pairs[a:b]) for a, b in pairwise(first)] == rolled.sizes.tolist()
    return sorted(pairs[a:b] for a, b in pairwise(first))


@settings(max_examples=80, deadline=None)
@given(world=worlds(), data=st.data())
def test_nodes_in_any_order_are_counted_as_from_the_rows(world, data):
    rows = RolledRows(world.table)
    levels = st.tuples(*(st.integers(0, len(levels) - 1) for levels in world.hierarchies))
    for node in data.draw(st.lists(levels, min_size=1, max_size=6)):
        assert found(rolled := rows.at(node)) == groups_of(world, node)
        group_of_distinct = rows.group_of_distinct(node)  # numbered alike, though counted from the distinct rows
        assert group_of_distinct[rolled.representative].tolist() == list(range(rolled.n_groups))


@settings(max_examples=40, deadline=None)
@given(world=worlds(), data=st.data())
def test_the_memory_stays_within_its_size_and_finds_the_fewest_groups_below(world, data):
    rows = RolledRows(world.table)
    nodes = data.draw(
        st.lists(st.tuples(*(st.integers(0, len(levels) - 1) for levels in world.hierarchies)), max_size=8)
    )
    memory = Memory(2 * size_of(rows.finest))
    for node in nodes:
        memory.keep(rows.at(node))
        assert memory.total == sum(map(size_of, memory.kept)) <= memory.most
        places = [tuple(levels) for levels in memory.levels[: len(memory.kept)].tolist()]
        assert places == [rolled.node for rolled in memory.kept]
    for node in nodes:
        below = [rolled.n_groups for rolled in memory.kept if all(np.array(rolled.node) <= node)]
        best = memory.coarsest_below(node)
        assert (best.n_groups if best else None) == min(below, default=None)


def test_rows_that_agree_on_every_column_are_one_distinct_row():
    from tables import table_of

    rows = RolledRows(table_of([[1, 0, 1, 1], [2, 2, 2, 0]], [0, 1, 2, 0]))
    assert rows.finest.sizes.tolist() == [2, 1, 1]
    assert rows.distinct_of_row.tolist() == [0, 1, 0, 2]
