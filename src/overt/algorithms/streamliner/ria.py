# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""RIA: random and independent. Every row chooses l - 1 candidates; whoever shares one is merged.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Tables 5 and 9.
Implements  Candidates for every row of every colour, and the minimal self-contained partition.
Departs     Colours are chosen under a look-ahead rule (`overt.kernels.stand_ins`), because free choice runs into
            dead ends on about one eligible table in eight. The rows of a colour are served in random order.
Guarantee   Exact, against an adversary who also knows this code (Theorem A of docs/theory/safety.md: people are treated
            alike). Never fails on an l-eligible table.

For completeness: candidates of different colours overlap so much that nearly all rows end up in one group. Use
`Dealing` or `BatchMatching`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from overt.algorithms.batches import shuffle_by_value
from overt.algorithms.streamliner.base import Streamliner
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.guarantee import STRONG, Guarantee
from overt.kernels.counting import count_codes
from overt.kernels.stand_ins import choose_candidates
from overt.kernels.union_find import link_rows, number_groups
from overt.partition import Counts, Partition
from overt.progress import Progress
from overt.table import Codes, Column, Table


def draw_candidates(value_of_row: Codes, n_values: int, l: int, rng: Generator) -> Iterator[tuple[Codes, Codes]]:
    """For every colour its rows, and (row, l - 1) -> their candidates: rows of different other colours."""
    rows, first = shuffle_by_value(value_of_row, n_values, rng)
    counts = np.diff(first)
    unused = counts.copy()
    n_with_unused = count_codes(counts, int(counts.max()) + 1)
    n_with_unused[0] = 0
    colours = np.flatnonzero(counts).astype(np.int32)
    place_of_colour = np.zeros(n_values, np.int64)
    place_of_colour[colours] = np.arange(colours.size)
    n_open, n_free = _open_rows(counts)
    for colour in np.flatnonzero(counts):
        served = rows[first[colour] : first[colour + 1]].copy()
        draws = rng.random((2, served.size, l - 1))
        state = (rows, first, counts, unused, colours, place_of_colour, n_with_unused)
        yield served, choose_candidates(colour, l, n_open[colour], n_free[colour], *state, *draws)


def _open_rows(counts: Counts) -> tuple[Counts, Counts]:
    """For every colour i, over the other colours j: the sum of min(n_j, n_i), and how many have n_j >= n_i."""
    ordered = np.sort(counts)
    below = np.concatenate([[0], np.cumsum(ordered)])
    n_below = np.searchsorted(ordered, counts)
    n_free = counts.size - n_below - 1
    return below[n_below] + counts * n_free, n_free


@dataclass(frozen=True, kw_only=True)
class RIA(Streamliner):
    """Every row chooses its own l - 1 candidates at random, and all that are linked form a group."""

    name: ClassVar[str] = "ria"
    _proven: ClassVar[Guarantee] = STRONG  # Theorem A of docs/theory/safety.md
    _fills_places_blind: ClassVar[bool] = False  # which links exist depends on who is merged

    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        require_eligible(sensitive.total_of_value, self.diversity, column=sensitive.name)
        parent = np.arange(table.n_rows, dtype=np.int32)
        n_served = 0
        for served, chosen in draw_candidates(sensitive.codes, sensitive.n_values, self.diversity, rng):
            link_rows(parent, served, chosen)
            n_served += served.size
            on_progress("Choosing candidates", n_served, table.n_rows)
        return Partition(*number_groups(parent))
