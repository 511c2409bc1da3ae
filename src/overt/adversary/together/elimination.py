# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/together/test_audit_together.py
"""Elimination: how many people of a cell have a value at least and at most, from what the groups around it leave over.

Sound and not complete: a value that is called certain is; one that is not may be.
"""

import numpy as np

from overt.adversary.together.shared_cells import Counts, SharedCells

MOST_ROUNDS = 50


def eliminate(cells: SharedCells) -> tuple[Counts, Counts]:
    """(cell, value) -> at least and at most so many of its people have it."""
    size = cells.size_of_cell[:, None]
    least, most = np.zeros((cells.n_cells, cells.n_values), np.int64), np.repeat(size, cells.n_values, axis=1)
    pairs = [(c, g) for c, groups in enumerate(cells.groups_of_cell) for g in groups]
    cell, group = np.array(pairs, np.int64).reshape(-1, 2).T
    for _ in range(MOST_ROUNDS):
        before = int(least.sum() - most.sum())
        for bound, other in ((most, least), (least, most)):
            taken = np.zeros_like(cells.counts)
            np.add.at(taken, group, other[cell])
            spare = cells.counts[group] - taken[group] + other[cell]  # what the other cells of the group leave
            (np.minimum if bound is most else np.maximum).at(bound, cell, spare)
        most = np.minimum(most, size - (least.sum(axis=1, keepdims=True) - least))
        least = np.maximum(least, size - (most.sum(axis=1, keepdims=True) - most))
        if int(least.sum() - most.sum()) == before:
            break
    return least, most
