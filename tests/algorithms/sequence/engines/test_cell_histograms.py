# SPDX-License-Identifier: Apache-2.0
"""The engine of cells and orbits against the enumerating oracle."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from algorithms.sequence.worlds import both, worlds
from oracles.sequence import ratios
from overt.algorithms.sequence import Function, Inference, MaxRatio, PosteriorPredicate, Safe, Sequence
from overt.algorithms.sequence.engines.cell_histograms import CellHistograms
from overt.errors import TooLarge


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_runs_and_disclosure_sets_agree_with_enumeration(world):
    require_agreement(world)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(max_rows=7))
def test_thousands_of_sequences_agree_with_enumeration(world):
    require_agreement(world)


def require_agreement(world):
    """The run, and every set it looks at, are what the oracle finds by listing tables."""
    oracle, inference, values = both(*world)
    table = world[3]
    released, path = oracle.run(table)
    outcome = inference.run(values)
    assert (outcome.released, list(outcome.path)) == (released, path)
    for visit in outcome.visits:
        tables = oracle.ds(table, visit.step)
        assert visit.permutation.count == len(oracle.per(table, visit.step))
        assert visit.disclosure.count == len(tables)
        assert [visit.disclosure.posterior.of_row(row) for row in range(len(table))] == ratios(tables)


@settings(max_examples=100, deadline=None)
@given(worlds(max_rows=5))
def test_membership_and_listing_agree_with_enumeration(world):
    oracle, inference, values = both(*world)
    table = world[3]
    last = inference.run(values).visits[-1]
    expected = oracle.ds(table, last.step)
    assert set(last.disclosure.tables()) == expected
    for other in oracle.per(table, last.step):
        assert (np.array(other) in last.disclosure) == (other in expected)
    rng = np.random.default_rng(1)
    assert tuple(last.disclosure.sample(rng).tolist()) in expected


def test_a_predicate_may_look_at_rows_and_values():
    functions = (Function.from_ranges("g1", [2, 2]), Function.from_ranges("g2", [4]))
    # only the first row and only value 0 are protected
    goal = PosteriorPredicate(lambda posterior: posterior.ratio(0, 0) <= 0.5)
    outcome = Inference(Sequence(functions, goal), Safe(), 3).run(np.array([0, 0, 1, 2], np.int32))
    assert outcome.released is None
    assert [visit.disclosure.posterior.ratio(0, 0) for visit in outcome.visits] == [1, 1]


def test_too_many_tables_are_refused():
    functions = tuple(Function.from_ranges(f"g{size}", [size] * (24 // size)) for size in (3, 4, 6))
    engine = CellHistograms(Sequence(functions, MaxRatio("1/2")), Safe(), max_placements=100)
    with pytest.raises(TooLarge, match="too many tables"):
        engine.disclosure(np.arange(24, dtype=np.int32) % 4, 4, 3)
