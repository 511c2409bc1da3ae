# SPDX-License-Identifier: Apache-2.0
"""Engines: how a posterior is found, by what a method hands over about itself.

A method says that it treats people alike by proof (`posterior_is_share`), or hands over which cuts it tried (`trace`), how it
chose its node (`best_node`), or what its own inference concludes (`believed`). None of its code is used otherwise,
except where it is run on every table there could be, or on every step of a chain.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from overt.adversary.chain import AT_LEAST, sample_posterior
from overt.adversary.enumeration import count_tables, enumerate_posterior
from overt.adversary.failed_trials import FailedTrials
from overt.adversary.knowledge import Knowledge
from overt.adversary.listing import MOST_COUNTED
from overt.adversary.nodes import preferred_nodes
from overt.adversary.posterior import Posterior, Sampled, crossed_shares, shares
from overt.adversary.wandering import wander
from overt.errors import InvalidInput
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease, FullDomainRelease, Release
from overt.table import Table
from overt.trace import Believed, BestNode, Trace, Trials

FEW_TABLES = 5_000  # up to here everything is tried
SMALL = 1_000  # rows beyond which they are not counted


@runtime_checkable
class Traceable(Protocol):
    """A method that hands over what it tried."""

    @property
    def goal(self) -> Property:
        """What both parts of a cut must satisfy."""

    def trace(self, table: Table, *, on_progress: Progress = silent) -> Trace:
        """Every cut that is tried on a table."""


@runtime_checkable
class Searching(Protocol):
    """A method that chooses a node of the lattice of hierarchies."""

    @property
    def goal(self) -> Property:
        """What every group must satisfy."""

    def best_node(self, table: Table) -> BestNode:
        """How the node is chosen."""


@runtime_checkable
class Inferring(Protocol):
    """A method that tries levels in order, and works out itself what someone who knows that believes."""

    @property
    def goal(self) -> Property:
        """What a level must satisfy."""

    def believed(self, release: Release, *, rng: Generator) -> Believed:
        """What is believed of everybody."""

    def failed_levels(self, release: Release, *, rng: Generator) -> Trials | None:
        """The levels that failed before, if nothing else decided."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """What someone with the method believes, and what the release rests on."""

    posterior: Posterior
    trace: Trace | None = None
    failed: FailedTrials | None = None


def alone_of(release: Release, *, hidden: bool = True) -> Posterior:
    """What the release alone says."""
    if isinstance(release, CrossBucketRelease):
        return crossed_shares(release)
    return shares(release.partition, release.table.the_sensitive("An audit"), hidden=hidden)


def replay(
    release: Release,
    knowledge: Knowledge,
    *,
    rng: Generator,
    seconds: float,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Replayed:
    """What someone with this knowledge believes of everybody."""
    began, method, column = time.perf_counter(), release.made_by, release.table.the_sensitive("An audit")
    if not knowledge.n_facts and (not knowledge.replays or getattr(method, "posterior_is_share", False)):
        return Replayed(alone_of(release))
    if isinstance(release, CrossBucketRelease):
        raise InvalidInput(
            "Cross-buckets are audited if they were made by a method that is proven safe, and without facts: who of a group is "
            "in which bucket is not published, and that is not followed."
        )
    trace = None
    if knowledge.replays and not knowledge.n_facts and isinstance(method, Inferring):
        believed = method.believed(release, rng=rng)
        if not believed.error.any() or method.failed_levels(release, rng=rng) is None:
            return Replayed(_as_posterior(believed, time.perf_counter() - began))
    if knowledge.replays and isinstance(method, Traceable):
        trace = method.trace(release.table, on_progress=on_progress)
    if has_few_tables(release, FEW_TABLES):
        on_progress("Trying every table", 0, 0)
        return Replayed(enumerate_posterior(release, method, knowledge=knowledge), trace)  # type: ignore[arg-type]
    goal: Property | None = None
    several: Iterable[Trials] | None = None
    if not knowledge.replays:
        several = []
    elif trace is not None and isinstance(method, Traceable):
        goal, several = method.goal, [Trials.of_cuts(trace)]
    elif isinstance(method, Searching) and isinstance(release, FullDomainRelease):
        goal, several = method.goal, preferred_of(release, method, on_progress)
    elif isinstance(method, Inferring) and (levels := method.failed_levels(release, rng=rng)) is not None:
        goal, several = method.goal, [levels]
    if several is None:
        if release.table.n_rows > SMALL:
            raise InvalidInput(
                f"Audits of large tables follow Mondrian, full-domain search, levels in order and the methods that treat "
                f"people alike by proof; {type(method).__name__} is none of these. Audit a part of up to {SMALL:,} rows."
            )
        left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
        again = wander(
            release,
            method,  # type: ignore[arg-type]
            knowledge=knowledge,
            rng=rng,
            seconds=left,
            sweeps=sweeps,
            on_progress=on_progress,
        )
        return Replayed(again)
    failed = FailedTrials.of(several, release.partition, column, goal, knowledge.forbidden(column), hidden=True)
    left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
    posterior = sample_posterior(failed, rng=rng, seconds=left, sweeps=sweeps, on_progress=on_progress)
    return Replayed(posterior, trace, failed)


def _as_posterior(believed: Believed, seconds: float) -> Posterior:
    """What a method's inference found; if it lies between bounds, an estimate without chains."""
    sampled = None
    if believed.error.any():
        n_cells = len(believed.chance)
        sampled = Sampled(0, 0, 0, 0.0, seconds, np.ones(n_cells), np.full(n_cells, np.inf), 0)
    n_tables = None if believed.n_tables is None or believed.n_tables > MOST_COUNTED else believed.n_tables
    return Posterior(believed.cell_of_row, believed.chance, believed.error, believed.how, n_tables, sampled)


def preferred_of(release: FullDomainRelease, method: Searching, on_progress: Progress) -> Iterable[Trials]:
    """What a search preferred to the node that it chose."""
    if not release.search.is_complete:
        raise InvalidInput(
            "The search for this release ran out of time, and where it stopped cannot be replayed; search without a limit."
        )
    search = method.best_node(release.table)
    return preferred_nodes(release.table, release.node, release.partition, search, method.goal, on_progress=on_progress)


def has_few_tables(release: Release, most: int) -> bool:
    """Whether at most so many tables agree with a release; those of large ones are not even counted."""
    column = release.table.the_sensitive("An audit")
    return release.table.n_rows <= SMALL and count_tables(release.partition, column) <= most
