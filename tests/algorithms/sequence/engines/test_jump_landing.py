# SPDX-License-Identifier: Apache-2.0
"""Jumps that land: every table of small nested sequences is sent where the oracle sends it, and estimates cover the truth."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from algorithms.sequence.worlds import our_strategy, ours
from oracles.sequence import World, ratios
from overt.algorithms.sequence import Exclusive, Function, Inference, KJump, MaxRatio, Naive, Safe, Sequence
from overt.algorithms.sequence.engines import jump_landing as landing
from overt.algorithms.sequence.engines.jump_landing import Counter, Landing, Referee
from overt.algorithms.sequence.engines.table_tests import TableTests
from overt.algorithms.sequence.functions import deciding
from overt.errors import TooLarge

BOUNDS = [
    ("max_ratio", Fraction(1, 2), False),
    ("max_ratio", Fraction(1, 2), True),
    ("max_ratio", Fraction(2, 3), False),
    ("max_ratio", Fraction(3, 5), False),
    ("recursive", Fraction(2), 2),
]


@st.composite
def trees_of_cuts(draw, n_levels):
    """Nested functions, finest first, in which every group has one or two parts in the function before; and a table."""
    n_rows = draw(st.integers(4, 8))
    levels = [[list(range(n_rows))]]
    for _ in range(n_levels - 1):
        finer = []
        for group in levels[0]:
            at = draw(st.integers(0, len(group) - 1))
            finer += [group[:at], group[at:]] if at else [group]
        levels.insert(0, finer)
    table = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    names = sorted(set(table))
    return levels, tuple(names.index(value) for value in table)


def which_come(sequence, strategy, values, n_values, step):
    """The tables of the permutation set that our engine lets come to a step, one by one, without drawing any."""
    engine = Landing(sequence, strategy, np.random.default_rng(0))
    origins = engine.origins(step)
    trials = TableTests.of(
        Sequence((sequence.functions[origins[0] - 2], sequence.functions[step - 1]), sequence.goal), 2, values, n_values
    )
    referees = [Referee(sequence, origin, trials, values, n_values) for origin in origins]
    coarser = Counter(sequence.functions[step - 2], trials, sequence.goal.ratio_bound)
    inference = Inference(sequence, strategy, n_values)
    for table in inference.permutation(values, step).tables():
        codes = np.array(table, np.int32)
        cells = np.zeros((trials.n_cells, n_values), np.int64)
        np.add.at(cells, (trials.cell_of_row, codes), 1)
        if coarser.fails(cells) or any(one.sends_on(codes[trials.rows], cells) for one in referees):
            yield table


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(trees_of_cuts(4), st.sampled_from(BOUNDS), st.sampled_from([(1, 2, 1, 1), (1, 1, 1, 1), (1, 2, 2, 1)]))
def test_the_tables_that_come_to_a_step_are_those_of_the_definition(tree, prop, jumps):
    functions, table = tree
    strategy, values = ("jump", jumps), np.array(table, np.int32)
    sequence = ours(functions, prop, len(table))
    engine = Landing(sequence, our_strategy(strategy), np.random.default_rng(0))
    oracle = World(functions, prop, strategy)
    steps = [step for step in (3, 4) if engine.suits(step)]
    assert steps
    for step in steps:
        assume(sequence.goal.holds(Inference(sequence, Naive(), max(table) + 1).permutation(values, step).posterior))
        came = set(which_come(sequence, our_strategy(strategy), values, max(table) + 1, step))
        assert came == set(oracle.ds(table, step))


# random sequences on which a table really is sent on; few are
SENT_ON = [
    ("A B CDE FG", "AB CDE FG", "AB CDEFG", "ABCDEFG", (1, 2, 1, 1), (0, 1, 2, 1, 0, 2, 1)),
    ("ABC DE FG", "ABC DE FG", "ABCDE FG", "ABCDEFG", (1, 2, 1, 1), (1, 2, 3, 0, 0, 0, 1)),
    ("A BC DE", "ABC DE", "ABCDE", "ABCDE", (1, 2, 1, 1), (0, 1, 2, 0, 0)),
    ("ABCD E FGH", "ABCDE FGH", "ABCDEFGH", "ABCDEFGH", (1, 2, 1, 1), (3, 1, 2, 3, 3, 0, 2, 0)),
    ("AB CDE FG", "AB CDEFG", "AB CDEFG", "ABCDEFG", (1, 2, 2, 1), (0, 1, 0, 3, 0, 2, 1)),
    ("AB CD EFG", "AB CDEFG", "ABCDEFG", "ABCDEFG", (1, 2, 2, 1), (0, 0, 1, 2, 1, 1, 0)),
]


@pytest.mark.parametrize("given_sequence", SENT_ON)
def test_tables_that_are_sent_on_are_those_of_the_definition(given_sequence):
    *groups, jumps, table = given_sequence
    functions = [[["ABCDEFGH".index(row) for row in group] for group in one.split()] for one in groups]
    prop, values = ("max_ratio", Fraction(2, 3), False), np.array(table, np.int32)
    oracle = World(functions, prop, ("jump", jumps))
    reached = oracle.ds(table, 4)
    assert any(any(oracle.p_per(one, step) for step in (2, 3)) for one in reached)
    assert set(which_come(ours(functions, prop, len(table)), KJump(jumps), values, max(table) + 1, 4)) == set(reached)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(trees_of_cuts(3), st.sampled_from(BOUNDS))
def test_under_such_goals_the_safe_strategy_jumps_by_one(tree, prop):
    functions, table = tree
    sequence, values = ours(functions, prop, len(table)), np.array(table, np.int32)
    engine = Landing(sequence, Safe(), np.random.default_rng(0))
    assert engine.suits(3) and engine.origins(3) == Landing(sequence, KJump(1), engine.rng).origins(3) == [2]
    assume(sequence.goal.holds(Inference(sequence, Naive(), max(table) + 1).permutation(values, 3).posterior))
    assert set(which_come(sequence, Safe(), values, max(table) + 1, 3)) == set(
        World(functions, prop, ("safe",)).ds(table, 3)
    )


@settings(max_examples=40, deadline=None)
@given(trees_of_cuts(4), st.sampled_from(BOUNDS))
def test_where_every_jump_leads_past_a_step_the_answer_is_exact(tree, prop):
    """Distances (1, 1, 2, 1): a table that jumps from step 2 lands on 3, and from there on 5."""
    functions, table = tree
    strategy, values = ("jump", (1, 1, 2, 1)), np.array(table, np.int32)
    sequence = ours(functions, prop, len(table))
    engine = Landing(sequence, our_strategy(strategy), np.random.default_rng(0))
    assert engine.suits(4) and engine.origins(4) == []
    assume(sequence.goal.holds(Inference(sequence, Naive(), max(table) + 1).permutation(values, 4).posterior))
    known, tables = engine.disclosure(values, max(table) + 1, 4), World(functions, prop, strategy).ds(table, 4)
    assert known.count == len(tables)
    if tables:
        assert [known.posterior.of_row(row) for row in range(len(table))] == ratios(tables)


# 2 and 6 rows in 8, twice; the first two rows share a value: the naive strategy gives it away
TWINS = Sequence(
    (
        Function.from_ranges("streets", [2, 6, 2, 6]),
        Function.from_ranges("towns", [8, 8]),
        Function.from_ranges("all", [16]),
    ),
    MaxRatio("1/2"),
)
TWIN_VALUES = np.array([0, 0, *range(1, 15)], np.int32)


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_hold_the_exact_posterior(seed):
    """Chance that one of the four fails: at most 0.004."""
    exact = Inference(TWINS, KJump(1), 15).disclosure(TWIN_VALUES, 3)
    assert exact.exact and exact.posterior.highest == Fraction(1, 2)
    known = Landing(TWINS, KJump(1), np.random.default_rng(seed), max_tables=4_000).disclosure(TWIN_VALUES, 15, 3)
    assert known.confidence == 0.999 and known.method == "landing (Karp-Luby)"
    truth = exact.posterior.bounded().middle[exact.posterior.cell_of_row]
    lower, upper = (of_cell[known.posterior.cell_of_row] for of_cell in (known.posterior.lower, known.posterior.upper))
    assert (lower <= truth + 1e-12).all() and (truth <= upper + 1e-12).all()
    assert upper.max() < 0.6 and lower.max() > 0.4
    assert 10**known.count.lower_log10 <= exact.count <= 10**known.count.upper_log10


def test_without_drawing_failing_groups_first_the_bounds_hold_too(monkeypatch):
    """Where many groups fail anyway, plain rejection is used. Chance of failing: at most 0.001."""
    monkeypatch.setattr(landing, "MANY", 0.0)
    known = Landing(TWINS, KJump(1), np.random.default_rng(0), max_tables=16_000).disclosure(TWIN_VALUES, 15, 3)
    assert known.method == "landing (rejection)"
    assert known.posterior.lower[0, 0] <= 0.5 <= known.posterior.upper[0, 0] < 0.8


def test_a_verdict_that_stays_open_ends_the_run():
    """The exact ratio is the bound itself, so no sample can tell; the run must not go on as if it were told."""
    functions = (*TWINS.functions, Function.from_ranges("again", [16]))
    inference = Inference(Sequence(functions, TWINS.goal), KJump(1), 15, rng=np.random.default_rng(0))
    inference._landing.max_tables = 1_000
    inference._engines = lambda step: iter([inference._by_value, inference._landing][step == 3 :])
    outcome = inference.run(TWIN_VALUES)
    assert outcome.released is None and [visit.step for visit in outcome.visits] == [1, 2, 3]
    assert "cannot be told within its bounds" in outcome.visits[-1].decision


def test_what_the_engine_does_not_follow():
    chain = Sequence(tuple(Function.from_ranges(f"g{n}", [16 // n] * n) for n in (8, 4, 2, 1)), MaxRatio("1/2"))
    rng = np.random.default_rng(0)
    assert [step for step in range(1, 5) if Landing(chain, KJump(1), rng).suits(step)] == [3]  # 4 looks back twice
    assert [step for step in range(1, 5) if Landing(chain, KJump(2), rng).suits(step)] == [4]
    assert not any(Landing(chain, one, rng).suits(step) for one in (Exclusive(), Naive()) for step in range(1, 5))
    thirds = Sequence(
        (Function.from_ranges("g1", [2, 2, 4]), Function.from_ranges("g2", [8]), Function.from_ranges("g3", [8])),
        MaxRatio("1/2"),
    )
    with pytest.raises(TooLarge, match="has 3 parts one step before"):
        Landing(thirds, KJump(1), rng).disclosure(np.array([0, 0, 1, 2, 3, 4, 5, 6], np.int32), 7, 3)


def test_only_the_coarsest_of_nested_functions_decides():
    chain = tuple(Function.from_ranges(f"g{n}", [16 // n] * n) for n in (8, 4, 2, 1))
    sequence = Sequence((*chain, chain[0]), MaxRatio("1/2"))
    assert [function.name for function in deciding(sequence, 4)] == ["g2"]
    other = Function.from_ranges("crossing", [3, 13])
    assert [one.name for one in deciding(Sequence((chain[0], other, *chain[1:]), MaxRatio("1/2")), 4)] == [
        "crossing",
        "g4",
    ]
    at_risk = ours([[[0, 1], [2, 3]], [[0, 1, 2, 3]], [[0, 1, 2, 3]]], ("rows_at_risk", Fraction(1, 2), 1), 4)
    assert len(deciding(at_risk, 3)) == 2  # merging may break it
