# SPDX-License-Identifier: Apache-2.0
"""FailedCuts: what must stay as it is for a method that cuts to give the same release.

Swap two values inside a released group: the parts of every cut that was made hold the same values as before, since
the group lies in one of them. So only cuts that failed can change their verdict, and of these only such as divide
the group. Cuts that fail however the values lie are left out, by bounds on what their parts can hold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels import swapping
from overt.partition import Partition
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, exact
from overt.privacy.exactness import times
from overt.privacy.k_anonymity import KAnonymity
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity
from overt.table import Codes, Column
from overt.trace import Trace

Counts = NDArray[np.int64]


def limits_of(goal: Property | None, sizes: Counts) -> tuple[Counts, int]:
    """(part) -> the most places that one value may have, -1 if none may be; and the least number of different values."""
    cap, least = sizes.copy(), 1
    for part in goal.parts if goal is not None else ():
        if isinstance(part, FrequencyLDiversity | AlphaKAnonymity):
            share = exact(part.alpha) if isinstance(part, AlphaKAnonymity) else 1 / exact(part.l)
            cap = np.minimum(cap, (times(sizes, share.numerator) // share.denominator).astype(np.int64))
        elif isinstance(part, DistinctLDiversity):
            least = max(least, int(part.l))
        elif not isinstance(part, KAnonymity):
            raise InvalidInput(
                f"The chain of swaps follows k-anonymity, l-diversity (frequency, distinct) and (alpha,k)-anonymity, "
                f"not {part}; audit a table small enough for enumeration, or another goal."
            )
        if isinstance(part, KAnonymity | AlphaKAnonymity):
            cap[sizes < part.k] = -1
    return cap, least


@dataclass(frozen=True, eq=False)
class FailedCuts:
    """The groups that failed cuts say something about, and these cuts. Places are rows of these groups in their order."""

    rows: Codes  # (place)
    first: Counts  # (group + 1) -> where its places begin
    cell_of_place: Counts  # places of a cell are in the same parts of all cuts
    group_of_cell: Counts
    size_of_cell: Counts
    values: Codes  # (place) -> its true value
    n_values: int
    forbidden: NDArray[np.bool_]  # (place, value), or empty if the adversary has no facts
    cuts: NDArray[np.int32]  # (group, number) -> cut
    sides: NDArray[np.uint64]  # (place, word) -> on which side of its group's cuts
    starts: Counts  # (part + 1), of `rows_of_parts`
    rows_of_parts: Codes
    cap: Counts  # (part)
    least: int
    cut_of_trace: Counts  # (cut) -> its number in the trace

    @classmethod
    def of(
        cls, trace: Trace, partition: Partition, column: Column, goal: Property | None, forbidden: NDArray[np.bool_]
    ) -> "FailedCuts":
        """Of a trace that ended in these groups."""
        in_group = np.zeros((partition.n_groups, column.n_values), np.int64)
        np.add.at(in_group, (partition.group_of_row, column.codes), 1)
        rows, starts, kept = _select(trace.rows, trace.starts, ~trace.is_made)
        cap, least = limits_of(goal, np.diff(starts))
        doomed: NDArray[np.bool_] = swapping.find_doomed(
            partition.group_of_row[rows], starts, in_group, partition.sizes, cap, least
        )
        rows, starts, open_cuts = _select(rows, starts, np.logical_not(doomed))
        kept, cap = kept[open_cuts], cap.reshape(-1, 2)[open_cuts].ravel()

        groups_of_rows = partition.group_of_row[rows]
        n_cuts = swapping.count_divided(groups_of_rows, starts, partition.n_groups)
        has_facts = np.logical_or.reduce(forbidden, axis=1)
        is_live: NDArray[np.bool_] = np.greater(n_cuts, 0)
        is_live[partition.group_of_row[has_facts]] = True
        live_place = is_live[partition.group_of_row[partition.rows]]
        live_rows = partition.rows[live_place]
        place_of_row = np.full(column.codes.size, -1, np.int64)
        place_of_row[live_rows] = np.arange(live_rows.size)
        most = int(n_cuts.max(initial=0))
        cuts = np.full((partition.n_groups, most), -1, np.int32)
        sides = np.zeros((live_rows.size, -(-most // 64)), np.uint64)
        swapping.find_sides(groups_of_rows, place_of_row[rows], starts, partition.n_groups, cuts, sides)

        number = np.cumsum(is_live) - 1
        group_of_place = number[partition.group_of_row[live_rows]]
        fact = np.where(has_facts[live_rows], live_rows + 1, 0)  # whoever has facts is like nobody else
        keys = np.column_stack([group_of_place.astype(np.uint64), sides, fact.astype(np.uint64)])
        of_cell, cell_of_place = np.unique(keys, axis=0, return_inverse=True)
        return cls(
            live_rows,
            np.append(0, np.cumsum(partition.sizes[is_live])).astype(np.int64),
            cell_of_place.astype(np.int64),
            of_cell[:, 0].astype(np.int64),
            np.bincount(cell_of_place, minlength=len(of_cell)).astype(np.int64),
            column.codes[live_rows],
            column.n_values,
            forbidden[live_rows] if has_facts.any() else np.empty((0, 0), np.bool_),
            np.ascontiguousarray(cuts[is_live]),
            sides,
            starts,
            rows,
            cap,
            least,
            kept,
        )

    @property
    def n_places(self) -> int:
        return int(self.rows.size)

    @property
    def n_groups(self) -> int:
        return int(self.first.size - 1)

    def tally(self, value_of_place: Codes, true_values: Codes) -> NDArray[np.int32]:
        """What is known of every part, given the values of the places; other rows have their true values."""
        value_of_row = true_values.copy()
        value_of_row[self.rows] = value_of_place
        tally = np.zeros((self.starts.size - 1, swapping.COUNTS + self.n_values), np.int32)
        tally[:, swapping.CAP] = self.cap
        swapping.tally_parts(value_of_row[self.rows_of_parts], self.starts, tally)
        return tally


def _select(rows: Codes, starts: Counts, chosen: NDArray[np.bool_]) -> tuple[Codes, Counts, Counts]:
    """Some of the cuts: their rows, the starts of their parts, and their numbers."""
    sizes = np.diff(starts)
    parts = np.repeat(chosen, 2)
    return rows[np.repeat(parts, sizes)], np.append(0, np.cumsum(sizes[parts])), np.flatnonzero(chosen)
