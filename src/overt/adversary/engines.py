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

from numpy.random import Generator

from overt.adversary.chain import AT_LEAST, sample_posterior
from overt.adversary.enumeration import count_tables, enumerate_posterior
from overt.adversary.failed_trials import FailedTrials
from overt.adversary.knowledge import Knowledge
from overt.adversary.nodes import preferred_nodes
from overt.adversary.posterior import Posterior, crossed_shares, shares
from overt.errors import InvalidInput
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease, FullDomainRelease, Release
from overt.table import Table
from overt.trace import BestNode, Trace, Trials

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
    trace = None
    if knowledge.replays and isinstance(method, Traceable):
        trace = method.trace(release.table, on_progress=on_progress)
    if has_few_tables(release, FEW_TABLES):
        on_progress("Trying every table", 0, 0)
        return Replayed(enumerate_posterior(release, method, knowledge=knowledge), trace)  # type: ignore[arg-type]
    if isinstance(release, CrossBucketRelease):
        raise InvalidInput(
            "Large cross-bucket releases are audited only if made by a method that is proven safe, and without facts."
        )
    goal: Property | None = None
    several: Iterable[Trials] = ()
    if not knowledge.replays:
        pass
    elif trace is not None and isinstance(method, Traceable):
        goal, several = method.goal, [Trials.of_cuts(trace)]
    elif isinstance(method, Searching) and isinstance(release, FullDomainRelease):
        goal = method.goal
        several = preferred_of(release, method, on_progress)
    else:
        raise InvalidInput(
            f"Audits of large tables follow Mondrian, full-domain search and the methods that treat people alike by proof; "
            f"{type(method).__name__} is neither. A small part of the table, up to {FEW_TABLES:,} possible ones, can be audited."
        )
    failed = FailedTrials.of(several, release.partition, column, goal, knowledge.forbidden(column), hidden=True)
    left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
    posterior = sample_posterior(failed, rng=rng, seconds=left, sweeps=sweeps, on_progress=on_progress)
    return Replayed(posterior, trace, failed)


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
    partition = release.buckets if isinstance(release, CrossBucketRelease) else release.partition
    return release.table.n_rows <= SMALL and count_tables(partition, column) <= most
