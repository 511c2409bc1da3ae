# SPDX-License-Identifier: Apache-2.0
"""Posterior: what an adversary believes about everybody's sensitive value, and how confident the estimate is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.partition import Partition, n_members
from overt.release import CrossBucketRelease
from overt.table import Codes, Column

Chances = NDArray[np.float64]
ERRORS = 3  # a belief counts as above a bound if it is by more than so many standard errors
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Sampled:
    """How a posterior was estimated, and how far it can be trusted."""

    n_runs: int  # independent of each other
    n_proposed: int
    accepted: float  # the share of proposals that changed something
    seconds: float
    spread: Chances  # (cell) -> how far runs differ: the standard deviation of log Z, or log R-hat where a method is run again
    needed: float | None = None  # seconds that would help, if of somebody nothing is known
    why: str = ""  # nothing is known of anybody, where no time would help

    def to_dict(self, posterior: "Posterior") -> dict[str, Any]:
        """Plain values, for programs."""
        errors = posterior.error_of_row[posterior.is_known_of_row]
        spreads = self.spread[np.isfinite(self.spread)]
        return {
            "runs": self.n_runs,
            "proposed_swaps": self.n_proposed,
            "swaps_per_proposal": self.accepted,
            "seconds": self.seconds,
            "standard_error": {"median": percentile(errors, 50), "99_percent": percentile(errors, 99)},
            "spread": {"99_percent": percentile(spreads, 99), "highest": percentile(spreads, 100)},
            "not_known": int((~posterior.is_known_of_row).sum()),
            "seconds_that_would_help": self.needed,
            "why_not": self.why or None,
        }


def percentile(numbers: Chances, percent: float) -> float | None:
    """A percentile; None of no numbers."""
    return float(np.percentile(numbers, percent)) if numbers.size else None


@dataclass(frozen=True, eq=False)
class Posterior:
    """The chance of every value for every row. Rows of one cell are alike to the adversary."""

    cell_of_row: Codes
    chance: Chances  # (cell, value)
    error: Chances  # (cell, value) -> Monte Carlo standard error; 0 where the chance is exact
    how: str  # "enumeration", "listing", "shares", "sampling", "chain" or the name of the method's own inference
    n_tables: int | None = None  # how many tables are left, where they were counted
    sampled: Sampled | None = None
    parts: Chances | None = None  # (2, cell, value) -> as two independent halves of the runs tell it, or not a number
    is_known: NDArray[np.bool_] | None = None  # (cell) -> whether the estimate can be relied on; None: everywhere

    @property
    def is_exact(self) -> bool:
        return self.sampled is None

    def of_row(self, row: int) -> Chances:
        """(value) -> the chance that this row has it."""
        return self.chance[self.cell_of_row[row]]

    @property
    def is_known_of_row(self) -> NDArray[np.bool_]:
        """Whether the runs agree about the row, or it is known exactly."""
        if self.is_known is None:
            return np.ones(self.cell_of_row.size, np.bool_)
        return self.is_known[self.cell_of_row]

    @property
    def belief_of_row(self) -> Chances:
        """The chance of each row's likeliest value."""
        return self.chance.max(axis=1, initial=0)[self.cell_of_row]

    @property
    def error_of_row(self) -> Chances:
        """The standard error of that chance."""
        best = self.chance.argmax(axis=1) if self.chance.size else np.empty(0, np.int64)
        return self.error[np.arange(best.size), best][self.cell_of_row]


def expected_best(posterior: Posterior, otherwise: Chances, weight: Chances | None = None) -> Chances:
    """(row) -> the chance of its likeliest value, times its weight (cell, value), without the bias of picking the best.

    The largest of several estimates is too large. So half of the runs pick the value, and the other half tell its chance;
    `otherwise` is what the release alone says, for rows of which a half told nothing.
    """
    weight = np.ones(1) if weight is None else weight
    if posterior.parts is None:
        best: Chances = (posterior.chance * weight).max(axis=1, initial=0)
        return best[posterior.cell_of_row]
    one, other = posterior.parts * weight
    cells = np.arange(len(one))
    told = ((other[cells, one.argmax(axis=1)] + one[cells, other.argmax(axis=1)]) / 2)[posterior.cell_of_row]
    return np.where(np.isnan(told), otherwise, told)


def shares(partition: Partition, column: Column, *, hidden: bool = True) -> Posterior:
    """Every value with its share of the group: what a release says to someone who does not replay anything.

    Suppressed rows are like each other: nothing is known of their values if these are `hidden`, otherwise their shares.
    """
    counts = np.zeros((partition.n_groups + 1, n_members(column)), np.int64)
    if column.bundles is not None:  # of the persons who have it in any row
        first, code = column.bundles.members(column.codes)
        np.add.at(counts, (np.repeat(partition.group_of_row, np.diff(first)), code), 1)
        chance = counts[:-1] / partition.sizes[:, None]
        return Posterior(partition.group_of_row, chance, np.zeros_like(chance), "shares")
    np.add.at(counts, (partition.group_of_row, column.codes), 1)  # -1 is the last
    if hidden:
        counts[-1] = 1
    if not partition.n_suppressed:
        counts = counts[:-1]
    chance = counts / counts.sum(axis=1, keepdims=True)
    cell_of_row = np.where(partition.group_of_row < 0, partition.n_groups, partition.group_of_row).astype(np.int32)
    return Posterior(cell_of_row, chance, np.zeros_like(chance), "shares")


def crossed_shares(release: CrossBucketRelease, column: Column) -> Posterior:
    """The same for groups crossed with buckets: which bucket holds a person, and which of its values is theirs."""
    beliefs = release.groups.histograms[column.name]
    chance = np.zeros((release.n_groups, n_members(column)))
    out_of = release.partition.sizes if beliefs.out_of is None else beliefs.out_of
    group = np.repeat(np.arange(release.n_groups), np.diff(beliefs.first))
    chance[group, beliefs.value] = beliefs.count / out_of[group]
    return Posterior(release.partition.group_of_row, chance, np.zeros_like(chance), "shares")
