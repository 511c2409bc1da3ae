# SPDX-License-Identifier: Apache-2.0
"""A learner who also replays a matching: rows that were matched by quasi-identifiers say which of them came from the same list.

Paper       Not in a paper. It joins D. Kifer's attack (SIGMOD 2009) with a replay of matching at equal ranks.
Implements  Lists of people are guessed, matched as the method matches them, and compared with the groups that were published. A chain
            swaps members of a group between lists, at a rising price for groups that come out otherwise; what a row leans to by
            its quasi-identifiers counts beside. Of several starts, the one is taken whose lists come nearest to the release.
Departs     nothing to depart from
Guarantee   None: it is one adversary, who sees what is published and nothing else, and a better one may guess more. So what they guess
            right is a lower bound. Values of which the release shows more groups than a batch has are not replayed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.learner.held_out import LEAST_CHANCE, HeldOut
from overt.kernels.matching_chain import anneal_lists
from overt.method import MatchesAtEqualRanks
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Codes, Column
from overt.threads import map_in_threads

MOST_GROUPS = 200  # of a batch: every step of the chain matches all of them again
MOST_PEOPLE = 3_000  # who are guessed
N_STARTS = 2
N_SWEEPS = 60
N_RISING = 45  # of them at a price that rises
PRICE = 1.0

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReplayedMatching:
    """What was guessed of the people of some batches."""

    batches: tuple[Rows, ...]  # those that can be replayed, (group, member) -> row; only some are
    rows: Rows  # of batches that were
    batch_of_row: Codes
    value: Codes  # (one of these rows) -> what is guessed

    @property
    def n_replayable(self) -> int:
        """People of all batches that can be replayed."""
        return sum(batch.size for batch in self.batches)


def replay_matching(
    release: Release, column: Column, learned: HeldOut, *, rng: Generator, on_progress: Progress = silent
) -> ReplayedMatching | None:
    """Guess the values of the people of some batches; None if the method does not match, or in a way that is not replayed."""
    method = release.made_by
    if not isinstance(method, MatchesAtEqualRanks) or release.is_crossed:
        return None
    scale = method.scale_of_columns(release.table)
    batches = _batches(release, column)
    if scale is None or not batches:
        return None
    order = [batches[i] for i in rng.permutation(len(batches))]
    before = np.cumsum([0, *(batch.size for batch in order)])[:-1]
    chosen = [batch for batch, n in zip(order, before, strict=True) if n < MOST_PEOPLE]
    on_progress("Replaying the matching", 0, len(chosen))
    codes = np.stack([one.codes for one in release.table.quasi_identifiers], axis=1)
    bits = np.array([max(1, (one.n_values - 1).bit_length()) for one in release.table.quasi_identifiers])
    leaning = np.log(np.maximum(learned.chance, LEAST_CHANCE))

    def guess(task: tuple[Rows, Generator]) -> Codes:
        groups, draws = task
        values = np.unique(column.codes[groups[0]])
        leans = leaning[groups.ravel()][:, learned.class_of_value[values]]
        return values[_lists_of(codes[groups.ravel()], groups.shape, scale, bits, leans, draws)].astype(np.int32)

    found = map_in_threads(guess, list(zip(chosen, rng.spawn(len(chosen)), strict=True)))
    numbers = np.repeat(np.arange(len(chosen), dtype=np.int32), [batch.size for batch in chosen])
    rows = np.concatenate([batch.ravel() for batch in chosen])
    return ReplayedMatching(tuple(batches), rows, numbers, np.concatenate(found))


def _lists_of(
    points: Codes,
    shape: tuple[int, ...],
    scale: NDArray[np.float64],
    bits: NDArray[np.int64],
    leaning: NDArray[np.float64],
    rng: Generator,
) -> NDArray[np.int64]:
    """(row of the batch, group by group) -> the list in which it is most often, of the start that comes nearest to the groups."""
    n_groups, n_lists = shape
    rising = np.linspace(0, PRICE, N_RISING)
    prices = np.concatenate([rising, np.full(N_SWEEPS - N_RISING, PRICE)])
    best, least = np.zeros(n_groups * n_lists, np.int64), None
    for _ in range(N_STARTS):
        member = np.arange(n_groups * n_lists, dtype=np.int32).reshape(shape)
        member = rng.permuted(member, axis=1)
        count = np.zeros((member.size, n_lists), np.int64)
        n_steps = member.size * N_SWEEPS
        energy = anneal_lists(
            member,
            np.ascontiguousarray(points, np.int32),
            scale,
            bits,
            leaning,
            prices,
            N_SWEEPS - N_RISING,
            rng.integers(0, 1 << 30, (n_steps, 3)),
            rng.standard_exponential(n_steps),
            count,
        )
        if least is None or energy < least:
            best, least = count.argmax(axis=1), energy
    return best


def _batches(release: Release, column: Column) -> list[Rows]:
    """(batch)(group, member) -> row: groups that show the same values, in the same stratum, if they can be from one batch.

    Most batches are of the same size. Groups that show the same values are more than that if several batches have these values,
    and which of them is in which cannot be seen.
    """
    partition, strata = release.partition, release.method.strata
    of_stratum = [one.codes for one in release.table.quasi_identifiers if one.name in strata]
    found: dict[tuple[int, ...], list[Codes]] = {}
    for rows in np.split(partition.rows, partition.starts[1:-1]):
        values = np.sort(column.codes[rows])
        if np.unique(values).size < max(2, values.size):
            continue
        key = (*values.tolist(), -1, *(int(codes[rows[0]]) for codes in of_stratum))
        found.setdefault(key, []).append(rows)
    sizes = np.array([len(groups) for groups in found.values()], np.int64)
    if not sizes.size:
        return []
    size, n_batches = np.unique(sizes, return_counts=True)
    usual = int(size[(n_batches * size).argmax()])
    most = min(usual, MOST_GROUPS)
    return [np.array(groups, np.int64) for groups in found.values() if 2 <= len(groups) <= most]
