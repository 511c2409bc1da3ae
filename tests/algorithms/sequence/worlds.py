# SPDX-License-Identifier: Apache-2.0
"""Random small sequences, in the form of the oracle and in ours."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from oracles.sequence import World
from overt.algorithms.sequence import (
    DistinctL,
    EntropyL,
    Exclusive,
    Function,
    KJump,
    MaxRatio,
    Naive,
    PersonalRatio,
    RecursiveCL,
    RowsAtRisk,
    Safe,
    Sequence,
)

CONVEX = [
    ("max_ratio", Fraction(1, 2), False),
    ("max_ratio", Fraction(1, 2), True),
    ("max_ratio", Fraction(2, 3), False),
    ("max_ratio", Fraction(3, 5), False),
    ("recursive", Fraction(2), 2),
    ("recursive", Fraction(3), 3),
    ("recursive", Fraction(3, 2), 2),
    ("entropy", Fraction(2)),
    ("entropy", Fraction(3, 2)),
]
MONOTONE = [("distinct", 2), ("distinct", 3)]
OTHER = [("rows_at_risk", Fraction(3, 5), 2), ("rows_at_risk", Fraction(1, 2), 3)]


def ours(functions, prop, n_rows):
    kind, *given = prop
    goal = {
        "max_ratio": MaxRatio,
        "recursive": RecursiveCL,
        "entropy": EntropyL,
        "distinct": DistinctL,
        "rows_at_risk": RowsAtRisk,
        "personal": PersonalRatio,
    }[kind](*given)
    return Sequence(tuple(Function.from_groups(f"g{i + 1}", groups) for i, groups in enumerate(functions)), goal)


def our_strategy(strategy):
    kind, *given = strategy
    return {"naive": Naive, "safe": Safe, "exclusive": Exclusive, "jump": KJump}[kind](*given)


@st.composite
def partitions(draw, n_rows):
    """A partition of the rows: contiguous or not, coarse or fine."""
    if draw(st.booleans()):
        cuts = sorted(draw(st.sets(st.integers(1, n_rows - 1), max_size=n_rows // 2)))
        bounds = [0, *cuts, n_rows]
        return [list(range(a, b)) for a, b in pairwise(bounds)]
    labels = draw(st.lists(st.integers(0, max(1, n_rows // 2)), min_size=n_rows, max_size=n_rows))
    return [[row for row in range(n_rows) if labels[row] == label] for label in sorted(set(labels))]


@st.composite
def worlds(draw, *, max_rows=6, max_functions=4, properties=None, strategies=None):
    """(functions, property, strategy, table)."""
    n_rows = draw(st.integers(3, max_rows))
    functions = draw(st.lists(partitions(n_rows), min_size=2, max_size=max_functions))
    if draw(st.integers(0, 3)) == 0:
        functions.append(draw(st.sampled_from(functions)))  # reuse
    prop = draw(st.sampled_from(properties or CONVEX + MONOTONE + OTHER + ["personal"]))
    if prop == "personal":
        bound = st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(1)])
        prop = ("personal", tuple(draw(st.lists(bound, min_size=n_rows, max_size=n_rows))))
    n = len(functions)
    jump = st.tuples(*[st.integers(1, n)] * n).map(lambda k: ("jump", k))
    if strategies is None:
        strategies = st.one_of(st.sampled_from([("naive",), ("safe",), ("exclusive",)]), jump)
    strategy = draw(strategies)
    table = tuple(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)))
    # values are numbered without gaps, as in a column
    names = sorted(set(table))
    return functions, prop, strategy, tuple(names.index(value) for value in table)


def both(functions, prop, strategy, table):
    """The oracle's world and our inference for the same sequence."""
    from overt.algorithms.sequence import Inference

    inference = Inference(ours(functions, prop, len(table)), our_strategy(strategy), max(table) + 1)
    return World(functions, prop, strategy), inference, np.array(table, np.int32)


def windows(n_rows, *sizes):
    """Functions of consecutive groups of one size each, the last group taking the rest."""
    found = []
    for size in sizes:
        groups = [size] * (n_rows // size)
        groups[-1] += n_rows % size
        found.append(Function.from_ranges(f"g{size}", groups))
    return tuple(found)
