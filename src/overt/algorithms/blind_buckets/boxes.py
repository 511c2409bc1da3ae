# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/blind_buckets/test_method.py
"""Boxes: groups of at least k people who are alike, made without ever seeing a sensitive value.

Paper       K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
Implements  Its cuts, asked for k rows on both sides and nothing else (`overt.algorithms.repeated_cuts`).
Departs     No box crosses a stratum. A bucket tells its readers which stratum its rows are in, so a box with rows of two strata would be
            two smaller ones to anybody who knows the strata. Rows that agree on every quasi-identifier come in random
            order: a relaxed cut may part them, and the order of a table that is sorted by diagnosis would say how.
Guarantee   Exact: boxes are a function of quasi-identifiers, strata and coins.
"""

from typing import Literal

import numpy as np
from numpy.random import Generator

from overt.algorithms.repeated_cuts import CutLayout, cut_by_size
from overt.partition import Partition
from overt.progress import Progress
from overt.table import Codes, Column

CutStyle = Literal["strict", "relaxed"]


def cut_into_boxes(
    columns: tuple[Column, ...], strata: Partition, k: int, cuts: CutStyle, rng: Generator, on_progress: Progress
) -> Partition:
    """The box of every row that is in a stratum; -1 for the others."""
    group_of_row = np.full(strata.group_of_row.size, -1, np.int32)
    n_groups = 0
    for s in range(strata.n_groups):
        rows = strata.rows[strata.starts[s] : strata.starts[s + 1]]
        layout = CutLayout.of_rows(columns, _as_met(rows, cuts, rng), k, relaxed=cuts == "relaxed", choose="gain")
        ordered, starts = cut_by_size(layout, on_progress)
        group_of_row[ordered] = n_groups + np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
        n_groups += starts.size - 1
    return Partition(group_of_row, n_groups)


def _as_met(rows: Codes, cuts: CutStyle, rng: Generator) -> Codes:
    """The rows in random order, where their order can matter. They are the caller's, and cuts move them about: so always a copy."""
    return rng.permutation(rows) if cuts == "relaxed" else rows.copy()
