# SPDX-License-Identifier: Apache-2.0
"""Posterior: what an adversary believes of everybody's sensitive value, and how surely we know that he does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.partition import Partition
from overt.release import CrossBucketRelease
from overt.table import Codes, Column

Chances = NDArray[np.float64]
ERRORS = 3  # a belief counts as above a bound if it is by more than so many standard errors
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Sampled:
    """How a posterior was estimated, and how far it can be trusted."""

    n_chains: int
    n_sweeps: int  # of each chain, on the average over components, without those that were thrown away
    n_proposed: int
    accepted: float  # the share of proposals that changed something
    seconds: float
    r_hat: Chances  # (cell) -> worst over its values; near 1 where all chains tell the same
    effective_size: Chances  # (cell) -> least over its values; infinite where nothing can vary
    n_still: int  # people of uncertain groups on whose value no chain ever moved: known for certain, or never reached
    n_near_truth: int = 0  # people of components whose chains all begin at the true table; R-hat says little of them

    def to_dict(self, posterior: "Posterior") -> dict[str, Any]:
        """Plain values, for programs."""
        errors, r_hats = posterior.error_of_row, self.r_hat
        return {
            "chains": self.n_chains,
            "sweeps": self.n_sweeps,
            "proposed_swaps": self.n_proposed,
            "swaps_per_proposal": self.accepted,
            "seconds": self.seconds,
            "standard_error": {"median": float(np.median(errors)), "99_percent": float(np.percentile(errors, 99))},
            "r_hat": {"99_percent": _percentile(r_hats, 99), "highest": _percentile(r_hats, 100)},
            "effective_size": {"1_percent": _percentile(self.effective_size, 1)},
            "never_moved": self.n_still,
            "all_chains_from_true_table": self.n_near_truth,
        }


def _percentile(numbers: Chances, percent: float) -> float | None:
    """A percentile of the numbers that are finite; None if there is none."""
    finite = numbers[np.isfinite(numbers)]
    return float(np.percentile(finite, percent)) if finite.size else None


@dataclass(frozen=True, eq=False)
class Posterior:
    """The chance of every value for every row. Rows of one cell are alike to the adversary."""

    cell_of_row: Codes
    chance: Chances  # (cell, value)
    error: Chances  # (cell, value) -> Monte Carlo standard error; 0 where the chance is exact
    how: str  # "enumeration", "shares", "chain", "proof" or the name of the method's own inference
    n_tables: int | None = None  # how many tables are left, where they were counted
    sampled: Sampled | None = None
    parts: Chances | None = None  # (2, cell, value) -> as two independent halves of the chains tell it, or not a number

    @property
    def is_exact(self) -> bool:
        return self.sampled is None

    def of_row(self, row: int) -> Chances:
        """(value) -> the chance that this row has it."""
        return self.chance[self.cell_of_row[row]]

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

    The largest of several estimates is too large. So half of the chains pick the value, and the other half tell its chance;
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
    counts = np.zeros((partition.n_groups + 1, column.n_values), np.int64)
    np.add.at(counts, (partition.group_of_row, column.codes), 1)  # -1 is the last
    if hidden:
        counts[-1] = 1
    if not partition.n_suppressed:
        counts = counts[:-1]
    chance = counts / counts.sum(axis=1, keepdims=True)
    cell_of_row = np.where(partition.group_of_row < 0, partition.n_groups, partition.group_of_row).astype(np.int32)
    return Posterior(cell_of_row, chance, np.zeros_like(chance), "shares")


def crossed_shares(release: CrossBucketRelease) -> Posterior:
    """The same for groups crossed with buckets: which bucket holds a person, and which of its values is theirs."""
    column = release.table.the_sensitive("An adversary")
    beliefs = release.groups.histograms[column.name]
    chance = np.zeros((release.n_groups, column.n_values))
    out_of = release.partition.sizes if beliefs.out_of is None else beliefs.out_of
    group = np.repeat(np.arange(release.n_groups), np.diff(beliefs.first))
    chance[group, beliefs.value] = beliefs.count / out_of[group]
    return Posterior(release.partition.group_of_row, chance, np.zeros_like(chance), "shares")
