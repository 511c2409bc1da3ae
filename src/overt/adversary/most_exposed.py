# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/test_audit.py
"""The person of whom most is believed, and what told it: which cut that was tried and failed."""

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import ERRORS, ROUNDING, Chances, Posterior
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.summary import Worst
from overt.release import Release
from overt.trace import Trace


def find_worst(
    release: Release,
    alone: Posterior,
    replayed: Posterior,
    trace: Trace | None,
    failed: FailedTrials | None = None,
) -> Worst:
    """The person of whom most is believed, error allowed for, and the failed cut or level that tells most about them."""
    partition = release.partition
    belief, error = replayed.belief_of_row, replayed.error_of_row
    surely = np.where(replayed.is_known_of_row, belief - ERRORS * error, -1.0)
    row = int(np.argmax(surely if replayed.is_known_of_row.any() else alone.belief_of_row))
    group = partition.group_of_row[row]
    members = np.flatnonzero(partition.group_of_row == group)
    value = int(np.argmax(replayed.of_row(row)))
    chance = replayed.chance[replayed.cell_of_row[members], value]
    return Worst(
        row=row,
        group_size=members.size,
        n_alike=int((np.abs(chance - belief[row]) <= max(ROUNDING, error[row])).sum()),
        belief=float(belief[row]),
        error=float(error[row]),
        share=float(alone.belief_of_row[row]),
        why=_why(release, trace, failed, row, members, chance),
    )


def _why(
    release: Release,
    trace: Trace | None,
    failed: FailedTrials | None,
    row: int,
    members: NDArray[np.int64],
    chance: Chances,
) -> str:
    """Which failed trial told most: the one between whose parts the belief in the worst value differs most."""
    if trace is None:
        if np.ptp(chance) <= ROUNDING:
            return "the share of a value in its group"
        return (failed and _why_by_trials(failed, row, members, chance)) or "how the method chose the groups"
    chance_of_row = dict(zip(members.tolist(), chance.tolist(), strict=True))
    best, words = ROUNDING, "the share of a value in its group"
    for place in np.flatnonzero(trace.rows == row):
        part = int(np.searchsorted(trace.starts, place, side="right")) - 1
        if trace.is_made[part // 2]:
            continue
        here, there = (trace.rows[trace.starts[side] : trace.starts[side + 1]].tolist() for side in (part, part ^ 1))
        with_row = [chance_of_row[other] for other in here if other in chance_of_row]
        apart = [chance_of_row[other] for other in there if other in chance_of_row]
        if not apart:
            continue
        gap = float(np.mean(with_row) - np.mean(apart))
        if gap > best:
            best = gap
            name = release.table.quasi_identifiers[trace.column_of_cut[part // 2]].name
            words = (
                f"a cut of {name!r} into {len(here):,} and {len(there):,} rows was tried and failed; it would have set "
                f"{len(with_row):,} row{'s' if len(with_row) > 1 else ''} of this group apart from {len(apart):,}"
            )
    return words


def _why_by_trials(failed: FailedTrials, row: int, members: NDArray[np.int64], chance: Chances) -> str | None:
    """The trial whose part with this row differs most in belief from the rest of the group, in words."""
    chance_of_row = np.full(failed.column.codes.size, np.nan)
    chance_of_row[members] = chance
    best, words = ROUNDING, None
    part_of_trial = failed.layout.first_part
    for place in np.flatnonzero(failed.rows_of_parts == row):
        part = int(np.searchsorted(failed.starts, place, side="right")) - 1
        rows = failed.rows_of_parts[failed.starts[part] : failed.starts[part + 1]]
        here = chance_of_row[rows][~np.isnan(chance_of_row[rows])]
        n_apart = members.size - here.size
        if not n_apart:
            continue
        gap = float(here.mean() - (chance.sum() - here.sum()) / n_apart)
        if gap > best:
            best = gap
            trial = int(np.searchsorted(part_of_trial, part, side="right")) - 1
            words = (
                f"{failed.words[trial]}; {'they' if 'levels' in failed.words[trial] else 'it'} would have set {here.size:,} "
                f"row{'s' if here.size > 1 else ''} of this group apart from {n_apart:,}"
            )
    return words
