# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt
from algorithms.record.worlds import objective_of, worlds
from overt.algorithms.record import RecordThreshold, plane_of_record, plane_of_table
from overt.algorithms.record.plane import corners_of
from overt.errors import TooLarge


def is_beyond(one, other):
    """Less risk or more utility, and not worse in either."""
    return one[0] <= other[0] and one[1] >= other[1] and one != other


@given(world=worlds())
def test_the_frontier_of_a_record_is_what_nothing_lies_beyond(world):
    plane = plane_of_record(objective_of(world))
    points = list(zip(plane.risk.tolist(), plane.utility.tolist(), strict=True))
    best = {p for p in points if np.isfinite(p[0]) and not any(is_beyond(q, p) for q in points)}
    assert [points[i] for i in plane.frontier] == sorted(best)
    assert len(plane.levels) == len(points)


@given(numbers=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_corners_are_best_for_some_exchange_rate(numbers):
    risk, utility = np.array(numbers, float).T
    corners = {tuple(corner) for corner in corners_of(risk, utility).tolist()}
    best = set()
    for rate in np.concatenate([np.linspace(0.001, 12, 400), [1e-6, 1e6]]):
        value = rate * utility - risk
        tied = np.flatnonzero(value > value.max() - 1e-9)
        if len({tuple(p) for p in np.array(numbers, float)[tied].tolist()}) == 1:
            best.add(tuple(np.array(numbers, float)[tied[0]].tolist()))
    assert best <= corners


@settings(max_examples=15)
@given(ages=st.lists(st.integers(20, 29), min_size=1, max_size=4), rate=st.floats(0.01, 10))
def test_corners_of_a_table_are_best_among_all_choices(ages, rate):
    frame = pl.DataFrame({"age": ages, "ill": ["x"] * len(ages)})
    table = overt.read_frame(
        frame, quasi_identifiers=["age"], sensitive=["ill"], hierarchies={"age": overt.Intervals(widths=(5,))}
    )
    method = RecordThreshold(c=0, utility="depth", base=0.25)
    plane = plane_of_table(table, method)
    choices = []
    tree = table.column("age").hierarchy
    for levels in itertools.product(range(3), repeat=len(ages)):
        risk = utility = 0.0
        for code, level in zip(table.column("age").codes, levels, strict=True):
            node = int(tree.node_of_leaf[level, code])
            support = sum(int(tree.node_of_leaf[level, other]) == node for other in table.column("age").codes)
            phi = 0.25 + (node != tree.root)
            risk += phi / support
            utility += float(tree.depth_of_node[node])
        choices.append((risk / len(ages), utility / len(ages)))
    best = max(rate * u - r for r, u in choices)
    assert abs(max(rate * plane.utility - plane.risk) - best) < 1e-9
    for point in zip(plane.risk, plane.utility, strict=True):
        assert any(abs(point[0] - r) < 1e-9 and abs(point[1] - u) < 1e-9 for r, u in choices)


def test_a_plane_of_too_many_points_is_refused(monkeypatch):
    monkeypatch.setitem(plane_of_table.__globals__, "MOST_POINTS", 3)
    frame = pl.DataFrame({"age": [20, 21], "ill": ["x", "y"]})
    table = overt.read_frame(frame, quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(
        TooLarge, match="^The plane of 2 different records with 2 generalizations each has too many points"
    ):
        plane_of_table(table, RecordThreshold(c=0))
