# SPDX-License-Identifier: Apache-2.0
"""Every engine against the enumerating oracle, on the sequences it suits."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from algorithms.sequence.worlds import CONVEX, MONOTONE, both, our_strategy, ours, windows, worlds
from oracles.sequence import World, ratios
from overt.algorithms.sequence import Exclusive, Function, Inference, KJump, MaxRatio, Safe, Sequence
from overt.algorithms.sequence.engines import cell_histograms as cells
from overt.algorithms.sequence.engines.by_value import ByValue
from overt.algorithms.sequence.engines.cell_histograms import CellHistograms
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from overt.algorithms.sequence.engines.three_nested import ThreeNested
from overt.errors import TooLarge

BOUNDED = [prop for prop in CONVEX if prop[0] == "max_ratio" or (prop[0] == "recursive" and prop[2] == 2)]


def agree(known, tables, n_rows):
    """An exact answer of an engine is what the oracle lists."""
    assert known.count == len(tables)
    if tables:
        assert [known.posterior.of_row(row) for row in range(n_rows)] == ratios(tables)


@settings(max_examples=80, deadline=None)
@given(worlds(max_rows=6))
def test_cells_in_arrays_agree_with_enumeration(world):
    oracle, inference, values = both(*world)
    engine = CellHistograms(inference.sequence, inference.strategy)
    engine._sweep.suits = lambda step: False  # arrays only
    patience, cells.PATIENCE = cells.PATIENCE, -1
    try:
        for step in range(1, len(world[0]) + 1):
            agree(engine.disclosure(values, inference.n_values, step), oracle.ds(world[3], step), len(world[3]))
    finally:
        cells.PATIENCE = patience


@settings(max_examples=150, deadline=None)
@given(worlds(max_rows=7, properties=CONVEX + MONOTONE))
def test_sweep_agrees_with_enumeration(world):
    oracle, inference, values = both(*world)
    engine = FrontierSweep(inference.sequence, inference.strategy)
    for step in range(2, len(world[0]) + 1):
        if engine.suits(step):
            agree(engine.disclosure(values, inference.n_values, step), oracle.ds(world[3], step), len(world[3]))


@settings(max_examples=40, deadline=None)
@given(worlds(max_rows=7, properties=CONVEX + MONOTONE, strategies=st.just(("exclusive",))))
def test_sweep_in_floats_and_in_limbs_agree_with_words(world):
    _, inference, values = both(*world)
    engine = FrontierSweep(inference.sequence, inference.strategy)
    step = len(world[0])
    known = engine.disclosure(values, inference.n_values, step)
    assume(known.count)
    paths = engine.plan(step, inference.n_values).explore(
        inference.sequence.functions[-1].histograms(values, inference.n_values)
    )
    cell_of_row, places = inference.sequence.cells(step), engine._places[step]
    limbs = engine._in_integers(paths, cell_of_row, places, 200)
    floats = engine._in_floats(paths, cell_of_row, places, 200)
    assert limbs.count == floats.count == known.count
    assert limbs.posterior.weights == known.posterior.weights
    assert floats.holds == inference.sequence.goal.holds(known.posterior)
    exact = known.posterior.bounded().middle
    assert (floats.posterior.lower <= exact + 1e-15).all() and (exact <= floats.posterior.upper + 1e-15).all()


@settings(max_examples=100, deadline=None)
@given(worlds(max_rows=7, properties=BOUNDED))
def test_value_by_value_agrees_with_enumeration(world):
    oracle, inference, values = both(*world)
    engine = ByValue(inference.sequence, inference.strategy)
    for step in range(2, len(world[0]) + 1):
        if engine.suits(step):
            agree(engine.disclosure(values, inference.n_values, step), oracle.ds(world[3], step), len(world[3]))


def test_value_by_value_agrees_with_the_sweep_on_a_hundred_rows():
    values = np.random.default_rng(4).integers(0, 4, 96).astype(np.int32)
    functions = tuple(Function.from_ranges(f"g{size}", [size] * (96 // size)) for size in (4, 12, 24))
    sequence = Sequence(functions, MaxRatio("1/2"))
    one = ByValue(sequence, Exclusive()).disclosure(values, 4, 2)
    other = FrontierSweep(sequence, Exclusive()).disclosure(values, 4, 2)
    assert one.count == other.count
    assert all(one.posterior.of_row(row) == other.posterior.of_row(row) for row in range(96))


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(max_rows=7, properties=CONVEX + MONOTONE))
def test_thousands_of_sequences_agree_for_every_engine_that_suits(world):
    oracle, inference, values = both(*world)
    for engine in (FrontierSweep, ByValue, ThreeNested):
        one = engine(inference.sequence, inference.strategy)
        for step in range(2, len(world[0]) + 1):
            if one.suits(step):
                agree(one.disclosure(values, inference.n_values, step), oracle.ds(world[3], step), len(world[3]))


@st.composite
def nested_functions(draw):
    """Three nested functions of unequal groups, and a table."""
    labels, number = [[], [], []], [0, 0, 0]
    for _ in range(draw(st.integers(1, 2))):
        for _ in range(draw(st.integers(1, 2))):
            for size in draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)):
                for level in range(3):
                    labels[level] += [number[level]] * size
                number[0] += 1
            number[1] += 1
        number[2] += 1
    n_rows = len(labels[0])
    assume(3 <= n_rows <= 8)
    functions = [
        [[row for row in range(n_rows) if level[row] == group] for group in sorted(set(level))] for level in labels
    ]
    table = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    names = sorted(set(table))
    return functions, tuple(names.index(value) for value in table)


@settings(max_examples=80, deadline=None)
@given(
    nested_functions(),
    st.sampled_from(BOUNDED),
    st.sampled_from([("safe",), ("jump", (1, 1, 1))]),
)
def test_nested_states_agree_with_enumeration(nested, prop, strategy):
    functions, table = nested
    engine = ThreeNested(ours(functions, prop, len(table)), our_strategy(strategy))
    assert engine.suits(3)
    known = engine.disclosure(np.array(table, np.int32), max(table) + 1, 3)
    agree(known, World(functions, prop, strategy).ds(table, 3), len(table))


def test_sweep_settles_a_tie_on_two_thousand_rows_in_integers():
    """Half of the rows of every released group have value 0, so ratios of exactly 1/2 survive in untouched groups."""
    n_rows = 2000
    values = (np.arange(n_rows) % 2).astype(np.int32)
    # the first function can fail in the first four rows only: elsewhere its groups are whole released groups
    first = Function.from_ranges("g1", [2, 2] + [4] * (n_rows // 4 - 1))
    last = Function.from_ranges("g2", [4] * (n_rows // 4))
    known = {
        strict: FrontierSweep(Sequence((first, last), MaxRatio("1/2", strict)), Exclusive()).disclosure(values, 2, 2)
        for strict in (False, True)
    }
    assert not known[False].exact and known[False].holds is True
    assert known[True].holds is False
    # two of the six arrangements of the first four rows fail under the first function
    assert known[False].count == 2 * 6 ** (n_rows // 4 - 1)


def test_the_chooser_says_how_it_found_out():
    values = np.arange(600, dtype=np.int32) % 4
    known = Inference(Sequence(windows(600, 3, 4, 5), MaxRatio("1/2")), Exclusive(), 4).disclosure(values, 3)
    assert (known.method, known.exact) == ("sweep", True)
    small = Inference(Sequence(windows(12, 3, 4, 6), MaxRatio("1/2")), Safe(), 4).disclosure(values[:12], 3)
    assert (small.method, small.accuracy) == ("cells", "exact")


def test_out_of_reach_says_what_would_fit():
    values = np.arange(600, dtype=np.int32) % 4
    inference = Inference(Sequence(windows(600, 3, 4, 5), MaxRatio("1/2")), KJump(1), 4)
    with pytest.raises(TooLarge, match="What would fit: about 40 rows"):
        inference.disclosure(values, 3)
