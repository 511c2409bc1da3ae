# SPDX-License-Identifier: Apache-2.0
"""Which way a release is audited: exact where that is possible, a chain of swaps where the method says what it tried."""

from typing import Protocol, runtime_checkable

from numpy.random import Generator

from overt.adversary.chain import sample_posterior
from overt.adversary.enumeration import count_tables, enumerate_posterior
from overt.adversary.failed_cuts import FailedCuts
from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import crossed_shares, shares
from overt.adversary.summary import Audit, promised
from overt.adversary.worst import find_worst
from overt.errors import InvalidInput
from overt.metrics.risk import risk_of_release
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import BucketRelease, CrossBucketRelease, RecordRelease, Release
from overt.table import Table
from overt.trace import Trace

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
    is_proven = not knowledge.n_facts and (not knowledge.replays or getattr(method, "posterior_is_share", False))
    is_covered = is_proven or not isinstance(release, CrossBucketRelease)
    if not is_covered or isinstance(release, RecordRelease) or release.n_suppressed:
        raise InvalidInput(
            "Audits cover releases in which every row is in one group and shown with it; not cross-buckets by a method "
            "that is not proven safe, rows generalized one by one, or suppressed rows."
        )
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to audit.")
    alone = crossed_shares(release) if isinstance(release, CrossBucketRelease) else shares(release.partition, column)
    few = has_few_tables(release, FEW_TABLES)
    trace = None
    if knowledge.replays and isinstance(method, Traceable):
        trace = method.trace(release.table, on_progress=on_progress)
    if is_proven:
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
        found=risk_of_release(release).identification,
        shows_exactly=isinstance(release, BucketRelease),
    )


def has_few_tables(release: Release, most: int) -> bool:
    """Whether at most so many tables agree with a release; those of large ones are not even counted."""
    column = release.table.the_sensitive("An audit")
    return release.table.n_rows <= SMALL and count_tables(release.partition, column) <= most
