# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""BatchMatching: rows are drawn blind into batches, and matched by their quasi-identifiers inside.

Paper       The guided algorithm (GDA) of W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, without its leak.
Implements  Batches planned from counts (`overt.algorithms.batches`), rows drawn without looking at
            quasi-identifiers, and inside a batch either the paper's weighted rank or a kd split at equal ranks.
Departs     GDA chooses rows by quasi-identifier because of their values, which no tie-break repairs. Here every
            value of a batch is treated alike. Strata are ours: public quasi-identifiers, fixed by the owner, that
            no group crosses.
Guarantee   Exact, against an adversary who also knows this code: everyone has each of the group's beta >= l values
            with probability 1/beta, if they had no idea how values depend on quasi-identifiers: weak (Theorem B of
            docs/theory/safety.md: values are treated alike). A learner who replays the matching can guess far more. Never fails on a
            table whose every stratum is l-eligible. A stratum that is not is refused and never merged with
            another: whether to merge would depend on values, and say so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.batches import BatchPlan, bits_of_codes, plan_batches, plan_random_batches
from overt.algorithms.counted_strata import CountedStrata, strata_of
from overt.algorithms.streamliner.base import Streamliner
from overt.algorithms.streamliner.eligibility import require_eligible
from overt.algorithms.streamliner.family import merge_neighbours, swap_rows
from overt.algorithms.streamliner.ranks import RankBy, order_by_rank, weighted_rank, weights_of
from overt.errors import InvalidInput
from overt.group_shape import GroupShape
from overt.guarantee import MATCHED, Guarantee
from overt.kernels.batches import group_by_place_in_list, list_of_place, split_lists_at_equal_ranks
from overt.kernels.counting import order_by_code
from overt.method import MatchesAtEqualRanks
from overt.partition import Counts, Partition
from overt.progress import Progress
from overt.table import Codes, Column, Table

Matching = Literal["kd", "rank"]
ValueSets = Literal["random", "most frequent"]


@dataclass(frozen=True, kw_only=True)
class BatchMatching(Streamliner, MatchesAtEqualRanks):
    """Groups of similar people with different values; the values have no influence on who is matched with whom.

    `strata` are quasi-identifiers whose values are never mixed in a group. `matching` is "kd" (cut at equal
    ranks along the widest column) or "rank" (by weighted rank). `weights` say how much a column counts, 1 if
    not named. `value_sets` is "random" (many random sets of values, so that counts can be estimated without
    bias) or "most frequent" (fewer and larger batches). `swaps` is how many rounds of exchanges follow.
    """

    name: ClassVar[str] = "batch-matching"
    _proven: ClassVar[Guarantee] = MATCHED  # Theorem B of docs/theory/safety.md
    _fills_places_blind: ClassVar[bool] = True

    strata: tuple[str, ...] = ()
    matching: Matching = "kd"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    ranks: RankBy = "position"
    value_sets: ValueSets = "random"
    swaps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, given, known in (
            ("matching", self.matching, ("kd", "rank")),
            ("ranks", self.ranks, ("position", "value")),
            ("value_sets", self.value_sets, ("random", "most frequent")),
        ):
            if given not in known:
                raise InvalidInput(f"{name} is {given!r}; it is {known[0]!r} or {known[1]!r}.")
        if isinstance(self.strata, str):
            raise InvalidInput(f"strata is {self.strata!r}; give the names of columns in a tuple: ({self.strata!r},).")
        object.__setattr__(self, "strata", tuple(self.strata))
        if self.swaps < 0:
            raise InvalidInput(f"swaps is {self.swaps}; it is a number of rounds from 0 on.")

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, differ=self._keeps_values_apart)

    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        strata = CountedStrata.of(table, self.strata, sensitive.codes, sensitive.n_values)
        on_progress("Planning batches", 0, 1)
        plan = self.plan_strata(strata, sensitive.name, rng)
        drawn = strata.draw(plan, rng)
        on_progress("Matching", 0, 1)
        return Partition(self.match_drawn(table.quasi_identifiers, plan, drawn), plan.n_groups)

    def merge_groups(self, table: Table, partition: Partition) -> Partition:
        return merge_neighbours(table, partition, self.k, strata_of(table, self.strata)[0] if self.strata else None)

    def plan_strata(self, strata: CountedStrata, column: str, rng: Generator) -> BatchPlan:
        """The batches of all strata, from how often every value occurs in each."""
        n_strata = len(strata.counts)
        where = f"in one of the {n_strata} strata of {', '.join(map(repr, self.strata))}" if self.strata else ""

        def plan_stratum(counts: Counts) -> BatchPlan:
            require_eligible(counts, self.diversity, column=column, where=where)
            if self.value_sets == "random":
                return plan_random_batches(counts, self.diversity, rng)
            return plan_batches(counts, self.diversity)

        return strata.plan(plan_stratum).with_slots_in_random_order(rng)

    def scale_of_columns(self, table: Table) -> NDArray[np.float64] | None:
        if self.matching != "kd" or self.swaps or self.k > self.diversity:
            return None
        return self._scale(table.quasi_identifiers)

    def _scale(self, columns: tuple[Column, ...]) -> NDArray[np.float64]:
        return np.array(weights_of(columns, self.weights)) / [max(column.n_values - 1, 1) for column in columns]

    def match_drawn(self, columns: tuple[Column, ...], plan: BatchPlan, drawn: Codes) -> Codes:
        """The group of every row: the i-th rows of all lists of a batch, once lists are in a common order."""
        if self.matching == "rank":
            drawn = match_by_rank(plan, drawn, weighted_rank(columns, self.weights, self.ranks)[drawn])
        scale = self._scale(columns)
        if self.matching == "kd" or self.swaps:
            points = np.stack([column.codes[drawn] for column in columns], axis=1)
            if self.matching == "kd":
                split_lists_at_equal_ranks(plan.first, plan.alpha, points, drawn, scale, bits_of_codes(columns))
            swap_rows(plan, points, drawn, scale, self.swaps)
        group_of_row: Codes = group_by_place_in_list(plan.first, plan.alpha, drawn)
        return group_of_row


def match_by_rank(plan: BatchPlan, drawn: Codes, rank_of_place: NDArray[np.int64] | NDArray[np.float64]) -> Codes:
    """Every list of drawn rows in ascending order of rank, ties at random: lists come in random order."""
    lists = list_of_place(plan.first, plan.alpha, drawn.size)
    order: Codes = order_by_code(lists, plan.value.size, order_by_rank(rank_of_place).astype(np.int32))
    return drawn[order]
