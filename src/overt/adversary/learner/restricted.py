# SPDX-License-Identifier: Apache-2.0
"""Restricted: what a learner believes of people once the values of their group or bucket are known.

Given how much everybody leans to every value, a way to hand out the values of a group has the product of its people's
leanings as weight. Groups whose ways can be counted are exact; larger ones are scaled until people and values add up (Sinkhorn).
In groups crossed with buckets two things are unknown, who of a group is which row and which row of a bucket has which value: a
chain over both, which begins anywhere and so comes to the right beliefs if it runs long enough.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.learner.held_out import HeldOut
from overt.adversary.posterior import Chances
from overt.errors import TooLarge
from overt.kernels.assignments import best_in_groups
from overt.kernels.counting import count_values_in_ranges, starts_of
from overt.kernels.crossed_chain import add_chances, swap_in_parts
from overt.partition import Partition
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease
from overt.table import Codes, Column
from overt.threads import map_in_threads

MOST_WORK = 20_000.0  # states of a group times its values, per row: 14 different values, or hundreds of two
MOST_CROSSED_WORK = 600.0  # the same where it is done over and over: 9 different values
MOST_CHANCES = 20_000_000  # people times values, in groups crossed with buckets
N_CHAINS = 4
N_SETTLING = 60  # sweeps of a chain that are not counted
N_STAGES = 6  # in which they settle
N_SWEEPS = 250
MOST_ROUNDS = 500
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Guesses:
    """The likeliest value of every row and what is believed of it."""

    value: Codes  # (row) -> -1 if nothing was asked about it
    belief: Chances
    exact: NDArray[np.bool_]  # (row) -> whether all ways were counted
    error: Chances  # (row) -> of the belief, because chains are finite


def guess_in_groups(learned: HeldOut, column: Column, partition: Partition, chosen: Codes) -> Guesses:
    """What is believed of the rows of some groups, or buckets, when it is known who is in which."""
    sizes = partition.sizes[chosen]
    rows = np.concatenate(
        [np.empty(0, np.int32), *(partition.rows[partition.starts[g] : partition.starts[g + 1]] for g in chosen)]
    )
    starts = starts_of(sizes)
    first, value, count = count_values_in_ranges(column.codes[rows], starts, column.n_values)
    best, belief, is_exact = best_in_groups(
        learned.chance, learned.class_of_value, rows, starts, first, value, count, MOST_WORK, MOST_ROUNDS, TOLERANCE
    )
    exact = np.zeros(best.size, np.bool_)
    exact[rows] = np.repeat(is_exact, sizes)
    return Guesses(best, belief, exact, np.zeros(best.size))


def guess_in_crossed(
    learned: HeldOut, column: Column, release: CrossBucketRelease, *, rng: Generator, on_progress: Progress = silent
) -> Guesses:
    """What is believed of everybody when it is known who is in which group, but not in which bucket.

    The largest of several estimates is too large: half of the chains pick a value, the other half tell its chance.
    """
    by_chain = crossed_chances(learned, column, release, rng=rng, on_progress=on_progress)
    rows = np.arange(column.codes.size)
    best = by_chain[: N_CHAINS // 2].sum(axis=0).argmax(axis=1)
    told = by_chain[N_CHAINS // 2 :, rows, best].astype(np.float64)
    best[release.partition.group_of_row < 0] = -1
    error = np.abs(np.diff(told, axis=0)).mean(axis=0) / N_CHAINS**0.5
    return Guesses(best.astype(np.int32), told.mean(axis=0), np.zeros(rows.size, np.bool_), error)


def crossed_chances(
    learned: HeldOut,
    column: Column,
    release: CrossBucketRelease,
    *,
    rng: Generator,
    n_sweeps: int = N_SWEEPS,
    on_progress: Progress = silent,
) -> NDArray[np.float32]:
    """(chain, row, value) -> chance, from chains that begin at random ways to fill the release."""
    if column.codes.size * column.n_values > MOST_CHANCES:
        raise TooLarge(
            f"A learner is asked about {column.codes.size:,} people with {column.n_values:,} values, in groups crossed with "
            f"buckets; at most {MOST_CHANCES:,} chances are kept. Ask about a sample of the table, released in the same way."
        )
    on_progress("Guessing who has what", 0, 1)
    groups, buckets = release.partition, release.buckets
    limits = np.array([MOST_ROUNDS, TOLERANCE])

    def run(draws: Generator) -> NDArray[np.float32]:
        chances = np.zeros((column.codes.size, column.n_values), np.float32)
        state = shuffled_within(groups, None, draws), shuffled_within(buckets, column.codes, draws)
        for sweep in range(N_SETTLING + n_sweeps):
            warmth = (1 + sweep * N_STAGES // N_SETTLING) / N_STAGES  # at first leanings count for less
            lean = learned.chance**warmth if warmth < 1 else learned.chance, learned.class_of_value
            for parts, moves_people in ((groups, True), (buckets, False)):
                draw = draws.random((parts.rows.size, 2))
                swap_in_parts(parts.rows, parts.starts, *state, *lean, moves_people, draw)
            if sweep >= N_SETTLING:
                add_chances(groups.rows, groups.starts, *state, *lean, MOST_CROSSED_WORK, limits, chances)
        chances /= n_sweeps
        return chances

    return np.stack(map_in_threads(run, rng.spawn(N_CHAINS)))


def shuffled_within(parts: Partition, content: Codes | None, rng: Generator) -> Codes:
    """The content of every part (its rows, if none is given) in a random order."""
    shuffled = (np.arange(parts.group_of_row.size, dtype=np.int32) if content is None else content).copy()
    rows = parts.rows
    order = np.lexsort((rng.random(rows.size), parts.group_of_row[rows]))
    shuffled[rows] = shuffled[rows[order]]
    return shuffled
