# SPDX-License-Identifier: Apache-2.0
"""Lemmas and theorems of the k-jump paper as properties of random sequences, and where they need care.

Every table of a sequence is decided at once by a forward pass, which test_forward.py holds against the oracle.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algorithms.sequence.worlds import CONVEX, MONOTONE, our_strategy, ours, worlds
from overt.algorithms.sequence import (
    DistinctL,
    EntropyL,
    Exclusive,
    Function,
    Inference,
    KJump,
    MaxRatio,
    Naive,
    PossibleValues,
    RecursiveCL,
    RowsAtRisk,
    Safe,
    Sequence,
)
from overt.algorithms.sequence.engines.forward_pass import ForwardPass
from overt.algorithms.sequence.equal_tables import RowPosterior
from overt.algorithms.sequence.strategy_comparison import random_function

EXAMPLES = settings(max_examples=40, deadline=None)


def passed(world, *strategies):
    functions, prop, _, table = world
    sequence = ours(functions, prop, len(table))
    values = np.array(table, np.int32)
    return [ForwardPass(sequence, strategy, values, max(table) + 1) for strategy in strategies]


def earlier_or_same(one, other):
    """On every table `one` releases no later than `other`."""
    return bool(((other.released == 0) | ((one.released > 0) & (one.released <= other.released))).all())


@EXAMPLES
@given(worlds(max_rows=6))
def test_section_4_2_2_the_first_disclosure_set_is_the_permutation_set(world):
    functions, prop, strategy, table = world
    inference = Inference(ours(functions, prop, len(table)), our_strategy(strategy), max(table) + 1)
    values = np.array(table, np.int32)
    assert inference.disclosure(values, 1).count == inference.permutation(values, 1).count


@EXAMPLES
@given(worlds(max_rows=6), st.integers(1, 4), st.integers(1, 4))
def test_section_4_2_2_the_second_disclosure_set_does_not_depend_on_the_distances(world, k, other):
    one, two = passed(world, KJump(k), KJump(other))
    assert (one.reached[1] == two.reached[1]).all()


@EXAMPLES
@given(worlds(max_rows=6, max_functions=4), st.integers(2, 4))
def test_lemma_1_jumping_shrinks_the_third_disclosure_set(world, k):
    assume(len(world[0]) >= 3)
    one, jumping = passed(world, KJump(1), KJump(k))
    assert not (jumping.reached[2] & ~one.reached[2]).any()


@EXAMPLES
@given(worlds(max_rows=6, properties=MONOTONE), st.integers(2, 4))
def test_lemma_2_without_jumps_is_never_worse_for_three_functions_and_a_monotonic_property(world, k):
    functions, prop, strategy, table = world
    one, jumping = passed((functions[:3], prop, strategy, table), KJump(1), KJump(k))
    assert earlier_or_same(one, jumping)


@EXAMPLES
@given(worlds(max_rows=6, properties=CONVEX + MONOTONE), st.randoms(use_true_random=False))
def test_lemma_3_a_failing_permutation_set_has_only_failing_subsets(world, random):
    """For every convex property, not only for the highest ratio that the paper proves it for."""
    functions, prop, _, table = world
    sequence = ours(functions, prop, len(table))
    permutation = Inference(sequence, Safe(), max(table) + 1).permutation(np.array(table, np.int32), 1)
    assume(not sequence.goal.holds(permutation.posterior))
    tables = list(permutation.tables())
    subset = random.sample(tables, random.randint(1, len(tables)))
    assert not sequence.goal.holds(posterior_of(subset))


def posterior_of(tables):
    n_values = max(map(max, tables)) + 1
    counts = [[[t[row] for t in tables].count(value) for value in range(n_values)] for row in range(len(tables[0]))]
    return RowPosterior(np.arange(len(tables[0]), dtype=np.int32), tuple(map(tuple, counts)))


@EXAMPLES
@given(worlds(max_rows=6, properties=CONVEX + MONOTONE))
def test_corollary_1_safe_and_jump_1_release_the_same(world):
    safe, jump = passed(world, Safe(), KJump(1))
    assert (safe.released == jump.released).all()


@EXAMPLES
@given(worlds(max_rows=6))
def test_lemma_4_the_third_disclosure_set_of_safe_is_within_that_of_jump_1(world):
    assume(len(world[0]) >= 3)
    safe, jump = passed(world, Safe(), KJump(1))
    assert not (safe.reached[2] & ~jump.reached[2]).any()


@EXAMPLES
@given(worlds(max_rows=6, properties=MONOTONE))
def test_proposition_1_reuse_changes_nothing_for_a_monotonic_property(world):
    functions, prop, strategy, table = world
    again = [*functions, functions[0]]
    plain, reused = passed(world, KJump(1))[0], passed((again, prop, strategy, table), KJump(1))[0]
    assert (plain.released == reused.released).all()


@EXAMPLES
@given(worlds(max_rows=6))
def test_exclusive_is_the_jump_past_the_end(world):
    n = len(world[0])
    exclusive, jump = passed(world, Exclusive(), KJump(tuple(range(n, 0, -1))))
    assert (exclusive.released == jump.released).all() and (exclusive.reached == jump.reached).all()


@EXAMPLES
@given(worlds(max_rows=6))
def test_definition_4_what_safe_strategies_release_is_private(world):
    """The tables that make a release are exactly its disclosure set, and the goal holds of them."""
    functions, _, strategy, table = world
    assume(strategy[0] != "naive")
    forward = passed(world, our_strategy(strategy))[0]
    for step in range(1, len(functions) + 1):
        made = forward.tables[forward.released == step]
        by_release = {}
        for one in made.tolist():
            key = tuple(tuple(sorted(one[row] for row in group)) for group in functions[step - 1])
            by_release.setdefault(key, []).append(tuple(one))
        for tables in by_release.values():
            assert forward.sequence.goal.holds(posterior_of(tables))
            reach = forward.disclosure(np.array(tables[0], np.int32), max(table) + 1, step)
            assert reach.count == len(tables)


def test_definition_4_the_naive_strategy_is_not_safe():
    sequence = Sequence(
        tuple(Function.from_ranges(name, sizes) for name, sizes in (("g1", [2, 2, 2]), ("g2", [3, 3]))), DistinctL(2)
    )
    run = Inference(sequence, Naive(), 5).run(np.array([0, 1, 2, 2, 3, 4], np.int32))
    assert run.released == 2 and not run.visits[-1].disclosure.holds


@EXAMPLES
@given(worlds(max_rows=6, max_functions=3), st.integers(2, 5))
def test_theorem_4_case_1_the_first_difference_without_a_jump(world, k):
    """Vectors that first differ at step 2, where one has distance 1: its next disclosure set is the larger."""
    n = len(world[0])
    assume(n >= 3)
    one, other = passed(world, KJump((1,) * n), KJump((1, k, *(1,) * (n - 2))))
    assert not (other.reached[2] & ~one.reached[2]).any()


@EXAMPLES
@given(worlds(max_rows=6))
def test_distances_that_never_matter(world):
    """The first distance, and distances that both lead past the end: Theorem 4 cannot hold for such vectors."""
    n = len(world[0])
    one, other = passed(world, KJump((1,) * (n - 1) + (1,)), KJump((n,) + (1,) * (n - 2) + (n,)))
    assert (one.released == other.released).all()


@EXAMPLES
@given(worlds(max_rows=6, max_functions=3))
def test_reuse_under_jump_1_shrinks_the_disclosure_set(world):
    functions, prop, strategy, table = world
    again = [*functions, functions[0]]
    forward = passed((again, prop, strategy, table), KJump(1))[0]
    assert not (forward.reached[-1] & ~forward.reached[0]).any()


@pytest.mark.parametrize("strategy", [Safe(), Exclusive(), KJump(2)])
@pytest.mark.parametrize("goal", [MaxRatio("1/2"), DistinctL(2), RecursiveCL(2, 2)])
def test_theorem_1_nothing_released_says_nothing_to_who_knows_only_the_domain(strategy, goal):
    n_rows, n_values, rng = 5, 3, np.random.default_rng(3)
    for _ in range(6):
        sequence = Sequence(tuple(random_function(f"g{i}", n_rows, rng) for i in range(3)), goal)
        counts = np.zeros((n_rows, n_values), int)
        for multiset in {tuple(sorted(t)) for t in product(range(n_values), repeat=n_rows)}:
            forward = ForwardPass(sequence, strategy, np.array(multiset, np.int32), n_values)
            for table in forward.tables[forward.released == 0].tolist():
                counts[np.arange(n_rows), table] += 1
        assert (counts == counts[0, 0]).all()


def test_theorem_1_fails_for_who_knows_how_often_each_value_occurs():
    """The set T of the paper's own definition has the multiset in it; then silence can give everybody away."""
    found = None
    rng = np.random.default_rng(1)
    for _ in range(300):
        sequence = Sequence(tuple(random_function(f"g{i}", 5, rng) for i in range(3)), MaxRatio("1/2"))
        forward = ForwardPass(sequence, Safe(), np.array([0, 0, 1, 1, 2], np.int32), 3)
        silent = forward.tables[forward.released == 0]
        if len(silent) > 0 and not sequence.goal.holds(posterior_of([tuple(t) for t in silent.tolist()])):
            found = sequence
            break
    assert found is not None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.sampled_from(CONVEX + MONOTONE))
def test_balanced_nested_groups_make_all_strategies_coincide(table, prop):
    """Groups of equal size nested in groups of equal size: benchmarks on such sequences show no difference."""
    names = sorted(set(table))
    values = tuple(names.index(value) for value in table)
    functions = [[[*range(i, i + size)] for i in range(0, 8, size)] for size in (2, 4, 8)]
    runs = passed((functions, prop, None, values), Naive(), Safe(), Exclusive(), KJump(1), KJump(2))
    assert all((run.released == runs[0].released).all() for run in runs)


@settings(max_examples=60, deadline=None)
@given(worlds(max_rows=6, properties=MONOTONE), st.randoms(use_true_random=False))
def test_declared_set_monotonic_properties_survive_every_larger_set(world, random):
    functions, prop, _, table = world
    sequence = ours(functions, prop, len(table))
    assert sequence.goal.set_monotonic
    tables = list(Inference(sequence, Safe(), max(table) + 1).permutation(np.array(table, np.int32), 1).tables())
    subset = random.sample(tables, random.randint(1, len(tables)))
    if sequence.goal.holds(posterior_of(subset)):
        larger = subset + random.sample(tables, random.randint(1, len(tables)))
        assert sequence.goal.holds(posterior_of(list(dict.fromkeys(larger))))


@pytest.mark.parametrize("goal", [MaxRatio("1/2"), RecursiveCL(2, 2), EntropyL("3/2"), RowsAtRisk("1/2", 1)])
def test_properties_declared_not_set_monotonic_are_not(goal):
    """A set of two tables is private, a larger one is not."""
    private = [(0, 1, 0), (1, 0, 1)]
    larger = [*private, *[(0, 0, 0)] * 7]
    assert not goal.set_monotonic
    assert goal.holds(posterior_of(private)) and not goal.holds(posterior_of(larger))


@pytest.mark.parametrize("goal", [DistinctL(2), PossibleValues(2)])
def test_possible_values_are_set_monotonic(goal):
    assert goal.set_monotonic and goal.holds(posterior_of([(0, 1, 0), (1, 0, 1), (0, 0, 0)]))
