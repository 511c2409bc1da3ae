# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_in_order.py
"""What a sequence of levels hands over to someone who audits a release: earlier levels that failed, and its own inference."""

import numpy as np

from overt.algorithms.sequence.equal_tables import EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Sequence
from overt.trace import NEVER, Believed, Trials

WIDTH = 3.3  # half an interval that holds with a confidence of 0.999, in standard errors


def levels_before(sequence: Sequence, step: int) -> Trials:
    """The levels before a step, each of which failed because of some group.

    Only for strategies that come to the step by way of failed permutation sets alone: see `Strategy.looks_back`.
    """
    several = []
    for function in sequence.functions[: step - 1]:
        partition = function.partition
        several.append(
            Trials(
                partition.rows,
                partition.starts,
                np.array([0, partition.n_groups], np.int64),
                np.column_stack([partition.sizes, np.zeros_like(partition.sizes)]),
                np.array([[1, NEVER]], np.int64),
                (f"the level {function.name!r} was tried and failed",),
            )
        )
    return Trials.joined(several)


def as_believed(known: EqualTables) -> Believed:
    """What an engine found, as plain numbers."""
    if isinstance(known.posterior, RowPosterior):
        weights, totals = known.posterior.weights, known.posterior.totals
        chance = np.array([[weight / total for weight in cell] for cell, total in zip(weights, totals, strict=True)])
        n_tables = known.count if isinstance(known.count, int) else None
        return Believed(known.posterior.cell_of_row, chance, np.zeros_like(chance), known.method, n_tables)
    bounds = known.posterior
    half = (bounds.upper - bounds.lower) / 2
    error = half if known.confidence is None else half / WIDTH
    return Believed(bounds.cell_of_row, bounds.middle, np.where(error < 1e-12, 0.0, error), known.method, None)
