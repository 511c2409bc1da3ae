# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""Utility within the family set: merge groups, or exchange rows inside a batch, for better boxes.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012: stage two, "optimizing among the family set".
Implements  `merge_neighbours`: a self-contained coarsening with groups of at least k rows and small boxes.
            `swap_rows`: exchanges inside a batch that make boxes smaller.
Departs     The paper names the idea and gives no algorithm; both are ours.
Guarantee   Both keep the guarantee of the method before them, exactly, also against an adversary who knows them.

Why merging is safe (Theorem C of docs/theory/safety.md): it looks at who is with whom and at quasi-identifiers, never
at values. So the merged release is a function of the first one and of what the adversary knows anyway. What
can be concluded from it is an average of what could be concluded from the first releases that lead to it,
and each of these left at most 1/l.

Why exchanging is safe (Theorem B): two groups of one batch exchange their rows of the same list. Lists stand in
a random order that has nothing to do with what their values are, and are treated alike, so the procedure
commutes with every permutation of the batch's values. Rows of different batches are never exchanged: that
would look at values.

Merging never makes boxes or discernibility better, each for itself; it serves a least size of groups.
"""

import numpy as np

from overt.algorithms.batches import BatchPlan
from overt.errors import Unreachable
from overt.kernels.batches import swap_while_it_helps
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.family_merging import merge_to_size
from overt.partition import Partition
from overt.table import Codes, Table

STRIDES = (1, 2, 3)


def merge_neighbours(table: Table, partition: Partition, k: int, stratum_of_row: Codes | None = None) -> Partition:
    """Merge groups whose boxes lie near each other until each has at least k rows, without looking at values.

    Groups are cut in two, again and again, at the middle of the column in which their centres are widest apart,
    as long as both sides keep k rows. Groups of different strata are never merged.
    """
    rows, starts = partition.rows, partition.starts
    columns = table.quasi_identifiers
    boxes = [bounds_of_groups(column.codes, rows, starts) for column in columns]
    centres = np.stack([box.sum(axis=1, dtype=np.int32) for box in boxes], axis=1)
    scale = np.array([1 / max(column.n_values - 1, 1) for column in columns])
    merged, n_groups = np.empty(partition.n_groups, np.int32), 0
    strata = np.zeros(1, np.int32) if stratum_of_row is None else stratum_of_row
    stratum_of_group = strata[rows[starts[:-1]]] if strata.size > 1 else np.zeros(partition.n_groups, np.int32)
    for stratum in range(int(stratum_of_group.max(initial=0)) + 1):
        members = np.flatnonzero(stratum_of_group == stratum)
        sizes = partition.sizes[members]
        if sizes.sum() < k:
            where = "the table" if stratum_of_row is None else "a stratum"
            raise Unreachable(f"{k}-anonymity cannot be reached: {where} has {sizes.sum()} rows; use a smaller k.")
        found, n_found = merge_to_size(centres[members], sizes, k, scale)
        merged[members] = found + np.int32(n_groups)
        n_groups += n_found
    return Partition(merged[partition.group_of_row], n_groups)


def swap_rows(plan: BatchPlan, points: Codes, drawn: Codes, scale: np.ndarray, n_rounds: int) -> None:
    """Exchange rows between groups of a batch, in place, as long as boxes become smaller and rounds are left.

    The lists of `plan` must stand in random order inside a batch.
    """
    for _ in range(n_rounds):
        gained = sum(swap_while_it_helps(plan.first, plan.alpha, points, drawn, scale, stride) for stride in STRIDES)
        if gained <= 0:
            return
