# SPDX-License-Identifier: Apache-2.0
# Tested through tests/kernels/test_failed_trials.py
"""OpenParts: what of the trials that failed can turn out otherwise if values lie otherwise inside the released groups."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.adversary.replay.goal_rules import GoalRules
from overt.errors import InvalidInput
from overt.kernels import failed_trials as kernels
from overt.kernels import places_missing as lacking
from overt.partition import Partition
from overt.table import Codes, Column
from overt.trace import NEVER, Trials

N_RANDOM = 16  # tables that show how much of a trial is usually broken
BY_FAR = 10
NO_CHANCE = -70.0  # 4e-31
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OpenParts:
    """Parts of trials whose verdict can change. Ragged: trial -> parts -> rows."""

    rows: Codes
    starts: Counts
    first_part: Counts
    cap: Counts
    rules: lacking.Rules
    weight: Counts
    needed: Counts
    words: list[str]  # (trial)

    @classmethod
    def joined(cls, several: "list[OpenParts]", goal: GoalRules) -> "OpenParts":
        """All of several, whose rules are those of one goal."""
        no_rows, no_numbers, no_pairs = np.empty(0, np.int32), np.empty(0, np.int64), np.empty((0, 2), np.int64)
        sizes = np.concatenate([no_numbers, *(np.diff(one.starts) for one in several)])
        return cls(
            np.concatenate([no_rows, *(one.rows for one in several)]),
            np.append(0, np.cumsum(sizes)),
            np.append(0, np.cumsum(np.concatenate([no_numbers, *(np.diff(one.first_part) for one in several)]))),
            np.concatenate([no_numbers, *(one.cap for one in several)]),
            goal.of(sizes)[1],
            np.concatenate([no_pairs, *(one.weight for one in several)]),
            np.concatenate([no_pairs, *(one.needed for one in several)]),
            [words for one in several for words in one.words],
        )

    def take(self, chosen: Counts) -> "OpenParts":
        """Some of the trials, in this order."""
        parts, first_part = take_ragged(self.first_part, chosen)
        places, starts = take_ragged(self.starts, parts)
        return OpenParts(
            self.rows[places],
            starts,
            first_part,
            self.cap[parts],
            self.rules,
            self.weight[parts],
            self.needed[chosen],
            [self.words[i] for i in chosen.tolist()],
        )


def find_open(
    trials: Iterable[Trials], everybody: Partition, column: Column, goal: GoalRules, is_free: NDArray[np.bool_]
) -> Iterator[OpenParts]:
    """Trials that may not fail, depending on how the values lie, and their parts that can break the goal and need not.

    Trials of many parts are also left out if they fail by far: if in random tables what is broken exceeds what is needed by
    BY_FAR standard deviations. Parts of such trials are left out if they are sound now and a bound on the chance that they
    are broken in a random table is below exp(NO_CHANCE). Neither has a weight in any posterior that could be seen.
    """
    in_group, random_tables = count_values(everybody, column), None
    top_share = np.zeros((everybody.n_groups, column.n_values + 1))
    np.cumsum(-np.sort(-in_group, axis=1) / everybody.sizes[:, None], axis=1, out=top_share[:, 1:])
    top_share[is_free, 1:] = 1
    for one in trials:
        cap, rules = goal.of(np.diff(one.starts))
        groups, n_parts = everybody.group_of_row[one.rows], np.diff(one.first_part)
        verdict = kernels.judge_parts(groups, one.starts, in_group, everybody.sizes, is_free, cap, rules)
        trial_of_part = np.repeat(np.arange(one.n_trials), n_parts)
        sure = np.zeros((one.n_trials, 2), np.int64)
        always = verdict == kernels.ALWAYS
        np.add.at(sure, trial_of_part[always], one.weight[always])
        is_kept: NDArray[np.bool_] = np.logical_not((sure >= one.needed).any(axis=1))
        if (is_kept & (n_parts > 2)).any():
            if random_tables is None:
                random_tables = scatter_tables(everybody, column, is_free)
            amount = kernels.weigh_broken(
                random_tables, one.rows, one.first_part, one.starts, cap, rules, one.weight, column.n_values
            )
            is_kept &= ~((n_parts > 2) & fails_by_far(amount, one.needed))
        can_break = verdict == kernels.OPEN
        if (n_parts > 2).any():
            chance = kernels.bound_chances(groups, one.starts, top_share, cap, rules)
            can_break &= (chance > NO_CHANCE) | breaks_now(one, column, cap, rules)
        kept = is_kept[trial_of_part] & (can_break | ((n_parts == 2)[trial_of_part] & ~always))
        parts = np.flatnonzero(kept)
        n_kept = np.bincount(trial_of_part[parts], minlength=one.n_trials)[is_kept]
        can_fail = np.bincount(trial_of_part[verdict == kernels.OPEN], minlength=one.n_trials)[is_kept]
        if not (n_kept.all() and can_fail.all()):
            raise InvalidInput(
                "Something that was preferred to this release holds the goal whatever values people have; the method as it "
                "was described would not have made this release."
            )
        places, starts = take_ragged(one.starts, parts)
        needed = np.where(one.needed == NEVER, NEVER, one.needed - sure)
        yield OpenParts(
            one.rows[places],
            starts,
            np.append(0, np.cumsum(n_kept)),
            cap[parts],
            rules,
            one.weight[parts],
            needed[is_kept],
            [one.words[i] if one.words else "" for i in np.flatnonzero(is_kept).tolist()],
        )


def breaks_now(trials: Trials, column: Column, cap: Counts, rules: lacking.Rules) -> NDArray[np.bool_]:
    """(part) -> whether it is broken in the table as it was handed over."""
    each = np.arange(trials.starts.size, dtype=np.int64)  # every part a trial of its own
    amount = kernels.weigh_broken(
        column.codes[None, :], trials.rows, each, trials.starts, cap, rules, trials.weight, column.n_values
    )
    broken: NDArray[np.bool_] = amount[0, :, 0] > 0
    return broken


def scatter_tables(everybody: Partition, column: Column, is_free: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(table, row) -> values, shuffled inside the groups; always the same ones, they only tell what is usual."""
    rng = np.random.default_rng(0)
    tables = np.empty((N_RANDOM, column.codes.size), np.int32)
    free = is_free[everybody.group_of_row]
    for table in tables:
        table[everybody.rows] = column.codes[np.lexsort((rng.random(column.codes.size), everybody.group_of_row))]
        table[free] = rng.integers(0, column.n_values, int(free.sum()))
    return tables


def fails_by_far(amount: Counts, needed: Counts) -> NDArray[np.bool_]:
    """(trial) -> whether much more is broken in random tables than is needed; amounts are (table, trial, 3)."""
    needs = np.column_stack([np.where(needed[:, 0] <= 1, 1, NEVER), needed]).astype(np.float64)
    mean, spread = amount.mean(axis=0), amount.std(axis=0, ddof=1)
    is_far = mean - BY_FAR * np.maximum(spread, np.sqrt(np.maximum(mean, 1))) > needs
    by_far: NDArray[np.bool_] = np.logical_or.reduce(is_far, axis=1)
    return by_far


def count_values(partition: Partition, column: Column) -> Counts:
    """(group, value) -> how often it occurs."""
    counts = np.zeros((partition.n_groups, column.n_values), np.int64)
    np.add.at(counts, (partition.group_of_row, column.codes), 1)
    return counts


def take_ragged(starts: Counts, chosen: Counts) -> tuple[Counts, Counts]:
    """The places of some of the ranges that begin at `starts`, one after the other; and where they begin there."""
    sizes = np.diff(starts)[chosen]
    new_starts = np.append(0, np.cumsum(sizes))
    places = np.arange(new_starts[-1]) + np.repeat(starts[:-1][chosen] - new_starts[:-1], sizes)
    return places, new_starts
