# SPDX-License-Identifier: Apache-2.0
"""Audit: what someone who replays the method believes of people, beside what the release alone says.

A belief is the chance of a person's likeliest sensitive value. It is compared with what the goal promises (1/l, or
alpha); a goal that promises nothing of that kind is compared with the share of the most frequent value in the group.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.chain import sample_posterior
from overt.adversary.enumeration import count_tables, enumerate_posterior
from overt.adversary.failed_cuts import FailedCuts
from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import Chances, Posterior, shares
from overt.errors import InvalidInput
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, exact
from overt.privacy.l_diversity import FrequencyLDiversity
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease, RecordRelease, Release
from overt.table import Table
from overt.trace import Trace

if TYPE_CHECKING:
    import polars as pl

FACTORS = (Fraction(1), Fraction("1.1"), Fraction("1.25"), Fraction("1.5"))
ERRORS = 3  # a belief counts as above a bound if it is by more than so many standard errors
FEW_TABLES = 5_000  # up to here everything is tried
SMALL = 1_000  # rows beyond which they are not counted
ROUNDING = 1e-9


@runtime_checkable
class Traceable(Protocol):
    """A method that hands over what it tried."""

    @property
    def goal(self) -> Property:
        """What both parts of a cut must satisfy."""

    def trace(self, table: Table, *, on_progress: Progress = silent) -> Trace:
        """Every cut that is tried on a table."""


@dataclass(frozen=True)
class Worst:
    """The person of whom most is believed, without a name or a value."""

    row: int = field(repr=False)  # for the owner
    group_size: int
    n_alike: int  # people of the group of whom the same is believed
    belief: float
    error: float
    share: float  # what the release alone says
    why: str


@dataclass(frozen=True, eq=False)
class Audit:
    """What an adversary believes with the release alone, and with the method."""

    method: str
    column: str
    n_rows: int
    n_groups: int
    knowledge: Knowledge
    bound: Fraction | None  # what the goal promises, if it promises a bound on beliefs
    alone: Posterior = field(repr=False)
    replayed: Posterior = field(repr=False)
    worst: Worst

    @property
    def bound_of_row(self) -> Chances:
        """What the belief of each row is held against."""
        return np.full(self.n_rows, float(self.bound)) if self.bound is not None else self.alone.belief_of_row

    def is_above(self, factor: Fraction | float = 1, *, posterior: Posterior | None = None) -> NDArray[np.bool_]:
        """(row) -> whether its belief exceeds so many times the bound, by more than the error of the estimate."""
        posterior = posterior or self.replayed
        surely = posterior.belief_of_row - ERRORS * posterior.error_of_row
        return np.greater(surely, float(factor) * self.bound_of_row + ROUNDING)

    def share_above(self, factor: Fraction | float = 1, *, posterior: Posterior | None = None) -> float:
        """The share of people above so many times the bound."""
        return float(self.is_above(factor, posterior=posterior).mean())

    @property
    def guesses(self) -> tuple[float, float]:
        """How many values the adversary expects to guess right: with the release alone, and with the method."""
        return float(self.alone.belief_of_row.sum()), float(self.replayed.belief_of_row.sum())

    @property
    def n_certain(self) -> int:
        """People whose value is known, as far as the estimate can tell."""
        return int((self.replayed.belief_of_row >= 1 - ROUNDING).sum())

    def of_rows(self) -> "pl.DataFrame":
        """For the owner: every row's position, its belief with the release alone, with the method, and the error."""
        import polars as pl

        return pl.DataFrame(
            {
                "row": np.arange(self.n_rows),
                "release alone": self.alone.belief_of_row,
                "with the method": self.replayed.belief_of_row,
                "standard error": self.replayed.error_of_row,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about single people."""
        sampled = self.replayed.sampled
        return {
            "method": self.method,
            "sensitive": self.column,
            "rows": self.n_rows,
            "groups": self.n_groups,
            "facts": self.knowledge.n_facts,
            "bound": None if self.bound is None else str(self.bound),
            "how": self.replayed.how,
            "above": [
                {
                    "times": float(factor),
                    "release_alone": self.share_above(factor, posterior=self.alone),
                    "with_method": self.share_above(factor),
                }
                for factor in FACTORS
            ],
            "certain": self.n_certain,
            "highest_belief": {
                "release_alone": float(self.alone.belief_of_row.max()),
                "with_method": self.worst.belief,
                "standard_error": self.worst.error,
                "group_size": self.worst.group_size,
                "people_alike": self.worst.n_alike,
                "why": self.worst.why,
            },
            "guessed_right": {"release_alone": self.guesses[0], "with_method": self.guesses[1]},
            "tables_left": None if self.replayed.n_tables is None else str(self.replayed.n_tables),
            "sampled": sampled and sampled.to_dict(self.replayed),
        }


def audit_release(
    release: Release,
    *,
    rng: Generator,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Audit:
    """Ask of a release what someone who replays its method believes of everybody.

    Exact for methods that are proven to treat people or values alike, and where few tables agree with the release; for
    methods that hand over what they tried, estimated for so many seconds (or sweeps). Anything else is refused.
    """
    knowledge, method = knowledge or Knowledge(), release.made_by
    column = release.table.the_sensitive("An audit")
    if isinstance(release, CrossBucketRelease | RecordRelease) or release.n_suppressed:
        raise InvalidInput(
            "Audits cover releases in which every row is in one group and shown with it; not cross-buckets, rows "
            "generalized one by one, or suppressed rows."
        )
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to audit.")
    alone = shares(release.partition, column)
    few = has_few_tables(release, FEW_TABLES)
    trace = None
    if knowledge.replays and isinstance(method, Traceable):
        trace = method.trace(release.table, on_progress=on_progress)
    if not knowledge.n_facts and (not knowledge.replays or getattr(method, "posterior_is_share", False)):
        replayed = alone
    elif trace is None and not few and knowledge.replays:
        raise InvalidInput(
            f"Audits of large tables follow Mondrian and the methods that treat people alike by proof; "
            f"{type(method).__name__} is neither. A small part of the table, up to {FEW_TABLES:,} possible ones, can be audited."
        )
    elif few:
        on_progress("Trying every table", 0, 0)
        replayed = enumerate_posterior(release, method, knowledge=knowledge)  # type: ignore[arg-type]
    else:
        goal = method.goal if isinstance(method, Traceable) else None
        failed = FailedCuts.of(trace or Trace.empty(), release.partition, column, goal, knowledge.forbidden(column))
        replayed = sample_posterior(
            failed, release.partition, column, rng=rng, seconds=seconds, sweeps=sweeps, on_progress=on_progress
        )
    return Audit(
        method=getattr(method, "name", type(method).__name__),
        column=column.name,
        n_rows=release.table.n_rows,
        n_groups=release.n_groups,
        knowledge=knowledge,
        bound=promised(getattr(method, "goal", None), column.name),
        alone=alone,
        replayed=replayed,
        worst=find_worst(release, alone, replayed, trace),
    )


def has_few_tables(release: Release, most: int) -> bool:
    """Whether at most so many tables agree with a release; those of large ones are not even counted."""
    column = release.table.the_sensitive("An audit")
    return release.table.n_rows <= SMALL and count_tables(release.partition, column) <= most


def promised(goal: Property | None, column: str) -> Fraction | None:
    """The least bound on beliefs about a column that a goal promises to someone who sees the release."""
    bounds = [
        exact(part.alpha) if isinstance(part, AlphaKAnonymity) else 1 / exact(part.l)
        for part in (goal.parts if goal is not None else ())
        if isinstance(part, AlphaKAnonymity | FrequencyLDiversity) and part.column in (None, column)
    ]
    return min(bounds, default=None)


def find_worst(release: Release, alone: Posterior, replayed: Posterior, trace: Trace | None) -> Worst:
    """The person of whom most is believed, error allowed for, and the failed cut that tells most about them."""
    partition = release.partition
    belief, error = replayed.belief_of_row, replayed.error_of_row
    row = int(np.argmax(belief - ERRORS * error))
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
        why=_why(release, trace, row, members, chance),
    )


def _why(release: Release, trace: Trace | None, row: int, members: NDArray[np.int64], chance: Chances) -> str:
    """Which failed cut told most: the one between whose sides the belief in the worst value differs most."""
    if trace is None:
        return "the share of a value in its group" if np.ptp(chance) <= ROUNDING else "how the method chose the groups"
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
                f"{len(with_row):,} rows of this group apart from {len(apart):,}"
            )
    return words
