# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""GDA: guided and dependent, as printed. **Not safe** against anyone who knows it; for comparison only.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Table 7.
Implements  Lines 1-11 as printed. Colours are ordered by size (largest first), then value; the rows of a colour
            by weighted rank, then row; the candidate of a colour is its first row that is in no group.
Departs     The prose ("with the largest weighted-rank") contradicts the listing; the listing is followed. A row
            left over goes to the compatible group of least average QI-distance, ties to the lesser row.
Guarantee   Against an adversary who sees only the release: groups with different values, at most 1/l each.
            Against one who knows the algorithm: **none**. Values a, a, b, c at ranks 0, 1, 2, 3 with l = 2 give
            groups from which all four people are read off with certainty. Can get stuck (`Stuck`).

`BatchMatching` is the guided method without the leak.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator

from overt.algorithms.streamliner.base import Streamliner
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.algorithms.streamliner.ranks import Rank, RankBy, weighted_rank
from overt.errors import InvalidInput, Stuck
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, Guarantee
from overt.kernels.counting import count_codes, order_by_code, starts_of
from overt.kernels.gda_nearest import append_to_nearest, group_with_nearest
from overt.partition import Partition
from overt.progress import Progress
from overt.table import Codes, Column, Table


def group_by_distance(value_of_row: Codes, n_values: int, rank_of_row: Rank, l: int) -> Partition:
    """The partition that the printed listing makes of values and weighted ranks, or `Stuck`."""
    counts = count_codes(value_of_row, n_values)
    require_eligible(counts, l)
    position_of_value = np.empty(n_values, np.int32)
    position_of_value[np.argsort(-counts, kind="stable")] = np.arange(n_values, dtype=np.int32)
    colour_of_row = position_of_value[value_of_row]
    rank = np.asarray(rank_of_row, np.float64)
    by_rank = np.argsort(rank, kind="stable").astype(np.int32)
    first = starts_of(count_codes(colour_of_row, n_values))
    group_of_row, n_groups = group_with_nearest(rank, order_by_code(colour_of_row, n_values, by_rank), first, l)
    remaining = np.flatnonzero(group_of_row < 0)
    left_over = remaining[np.argsort(colour_of_row[remaining], kind="stable")]
    stuck = append_to_nearest(left_over, colour_of_row, rank, group_of_row, n_groups)
    if stuck >= 0:
        raise Stuck(
            f"GDA is stuck: with l={l} a row is left over whose value is already in all {n_groups} groups. "
            "Use BatchMatching or RDA, which never get stuck.",
            row=int(stuck),
        )
    return Partition(group_of_row, n_groups)


@dataclass(frozen=True, kw_only=True)
class GDA(Streamliner):
    """The paper's guided algorithm, which reveals people's values; `mode="paper"` confirms that you know this."""

    name: ClassVar[str] = "gda"
    _proven: ClassVar[Guarantee] = RELEASE_ONLY
    _fills_places_blind: ClassVar[bool] = False

    mode: Literal["paper"]
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    ranks: RankBy = "position"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode != "paper":
            raise InvalidInput(f"The mode of GDA is {self.mode!r}; there is only 'paper', which is not safe.")

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, differ=self._keeps_values_apart)

    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        require_eligible(sensitive.total_of_value, self.diversity, column=sensitive.name)
        on_progress("Grouping by distance", 0, 1)
        rank = weighted_rank(table.quasi_identifiers, self.weights, self.ranks)
        return group_by_distance(sensitive.codes, sensitive.n_values, rank, self.diversity)
