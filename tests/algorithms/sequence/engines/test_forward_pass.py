# SPDX-License-Identifier: Apache-2.0
"""The forward pass: every table at once, as the oracle decides them one by one."""

import numpy as np
import pytest
from hypothesis import given, settings

from algorithms.sequence.worlds import both, worlds
from oracles.sequence import ratios
from overt.algorithms.sequence import Function, MaxRatio, Safe, Sequence
from overt.algorithms.sequence.engines.forward_pass import ForwardPass, all_tables
from overt.errors import TooLarge


@settings(max_examples=120, deadline=None)
@given(worlds(max_rows=5))
def test_every_table_is_decided_as_by_enumeration(world):
    oracle, inference, values = both(*world)
    forward = ForwardPass(inference.sequence, inference.strategy, values, inference.n_values)
    for table, released in zip(forward.tables.tolist(), forward.released.tolist(), strict=True):
        assert oracle.run(tuple(table))[0] == (released or None)
    step = len(world[0])
    known, expected = forward.disclosure(values, inference.n_values, step), oracle.ds(world[3], step)
    assert known.count == len(expected)
    if expected:
        assert [known.posterior.of_row(row) for row in range(len(world[3]))] == ratios(expected)


def test_all_tables_are_listed_once():
    tables = all_tables([2, 1, 1])
    assert len(tables) == 12 == len({tuple(table) for table in tables.tolist()})
    assert all(sorted(table) == [0, 0, 1, 2] for table in tables.tolist())


def test_too_many_tables_are_refused_with_what_fits():
    sequence = Sequence((Function.from_ranges("g1", [20]),), MaxRatio("1/2"))
    with pytest.raises(TooLarge, match="10000000 tables fit"):
        ForwardPass(sequence, Safe(), np.arange(20, dtype=np.int32) % 5, 5)
