# SPDX-License-Identifier: Apache-2.0
"""Engines: how a posterior is found, by what a method hands over about itself.

A method says that it treats people alike by proof (`Guarantee.posterior_is_share`), or hands over which cuts it tried (`trace`), how it
chose its node (`best_node`), or what its own inference concludes (`believed`). None of its code is used otherwise,
except where it is run on every table there could be, or on every step of a chain.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.random import Generator

from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import Posterior, Sampled, crossed_shares, shares
from overt.adversary.replay.component_listing import MOST_COUNTED
from overt.adversary.replay.enumeration import count_tables, enumerate_posterior, values_of
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.goal_rules import GoalRules
from overt.adversary.replay.monte_carlo import AT_LEAST, compile_loops, sample_posterior
from overt.adversary.replay.preferred_nodes import preferred_nodes
from overt.adversary.replay.rerun_chain import wander
from overt.adversary.replay.time_limit import NotReplayed, OutOfTime, in_time, not_known, unsupported, until
from overt.errors import InvalidInput, TooLarge
from overt.method import Inferring, Searching, Traceable
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import FullDomainRelease, Release
from overt.table import Column
from overt.trace import Believed, Trace, Trials

FEW_TABLES = 5_000  # up to here everything is tried
SMALL = 1_000  # rows beyond which they are not counted
TRYING = 0.5  # of the time goes to that at most


@dataclass(frozen=True, eq=False)
class Replayed:
    """What someone with the method believes, and what the release rests on."""

    posteriors: tuple[Posterior, ...]  # (sensitive column)
    trace: Trace | None = None
    failed: FailedTrials | None = None

    @property
    def posterior(self) -> Posterior:
        """Of the first sensitive column, or the only one."""
        return self.posteriors[0]


def alone_of(release: Release, column: Column, *, hidden: bool = True) -> Posterior:
    """What the release alone says of a sensitive column."""
    if release.is_crossed:
        return crossed_shares(release.crossed(), column)
    return shares(release.partition, column, hidden=hidden)


def replay(
    release: Release,
    knowledge: Knowledge,
    *,
    rng: Generator,
    seconds: float,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Replayed:
    """What someone with this knowledge believes of everybody, and of every sensitive column.

    Where the method cannot be followed, nothing is known of anybody but what the release says, and why.
    """
    method, columns = release.method, release.table.judged
    if knowledge.n_facts:
        release.table.the_sensitive("An audit with facts about single people")
    alone = tuple(alone_of(release, column) for column in columns)
    if not knowledge.n_facts and (not knowledge.replays or method.guarantee.posterior_is_share):
        return Replayed(alone)
    if release.is_crossed and knowledge.n_facts:
        raise InvalidInput(
            "Facts about single people are not followed through cross-buckets: who of a group is in which bucket is not published. Ask "
            "without facts."
        )
    began = time.perf_counter()
    try:
        return _follow(
            release, knowledge, alone, rng=rng, seconds=seconds, sweeps=sweeps, began=began, on_progress=on_progress
        )
    except (NotReplayed, TooLarge) as error:
        used = time.perf_counter() - began
        return Replayed(tuple(not_known(one, used, str(error)) for one in alone))


def _follow(
    release: Release,
    knowledge: Knowledge,
    alone: tuple[Posterior, ...],
    *,
    rng: Generator,
    seconds: float,
    sweeps: int | None,
    began: float,
    on_progress: Progress,
) -> Replayed:
    """The same, for a release that does not speak for itself."""
    method, columns = release.method, release.table.judged
    if release.is_crossed:
        raise NotReplayed(
            "Cross-buckets are followed if they were made by a method that is proven safe: who of a group is in which bucket is not "
            "published."
        )
    trace = None
    if knowledge.replays and not knowledge.n_facts and isinstance(method, Inferring) and len(columns) == 1:
        believed = method.believed(release, rng=rng)
        if not believed.error.any() or method.failed_levels(release, rng=rng) is None:
            return Replayed((_as_posterior(believed, time.perf_counter() - began),))
    if knowledge.replays and isinstance(method, Traceable):
        trace = method.trace(release.table, on_progress=on_progress)
    if has_few_tables(release, FEW_TABLES):
        is_followed = isinstance(method, Traceable | Searching | Inferring) or not knowledge.replays
        deadline = began + (TRYING if is_followed else 1.0) * seconds if sweeps is None else inf
        try:
            every = enumerate_posterior(
                release, method, knowledge=knowledge, deadline=deadline, on_progress=on_progress
            )
            return Replayed(values_of(release).split(every), trace)
        except OutOfTime:  # a slow method; what failed can be listed without running it
            if not is_followed:
                used = time.perf_counter() - began
                return Replayed(tuple(not_known(one, used) for one in alone), trace)
    paused = time.perf_counter()
    compile_loops()
    began += time.perf_counter() - paused  # compiling is not part of the time
    goal: Property | None = None
    several: Iterable[Trials] | None = None
    deadline = began + seconds if sweeps is None else inf
    match method, release:
        case _ if not knowledge.replays:
            several = []
        case Traceable(), _ if trace is not None:
            goal, several = method.goal, [Trials.of_cuts(trace)]
        case Searching(), FullDomainRelease() if can_follow(release, method.goal):
            goal, several = method.goal, preferred_of(release, method, in_time(deadline, on_progress))
        case Inferring(), _ if len(columns) == 1 and (levels := method.failed_levels(release, rng=rng)) is not None:
            goal, several = method.goal, [levels]
    if several is None:
        if release.table.n_rows > SMALL:
            if method.guarantee.resists_replay:
                raise NotReplayed(
                    f"What someone who replays {method.name} believes of each person is bounded by proof, and not computed for more than "
                    f"{SMALL:,} rows once groups are merged. Audit a part of the table, or ask for a k of at most l."
                )
            raise NotReplayed(
                f"Audits of large tables follow Mondrian, full-domain search, levels in order and the methods that treat "
                f"people alike by proof; {type(method).__name__} is none of these. Audit a part of up to {SMALL:,} rows."
            )
        left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
        again = wander(
            release,
            method,
            knowledge=knowledge,
            rng=rng,
            seconds=left,
            sweeps=sweeps,
            on_progress=on_progress,
        )
        return Replayed(tuple(unsupported(one) for one in values_of(release).split(again)))
    values, tried = values_of(release), until(deadline, several)
    forbidden = knowledge.forbidden(values.column)
    try:
        failed = FailedTrials.of(tried, release.partition, values.column, goal, forbidden, hidden=True, values=values)
    except OutOfTime:
        used = time.perf_counter() - began
        return Replayed(tuple(not_known(one, used) for one in alone), trace)
    left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
    posterior = sample_posterior(failed, rng=rng, seconds=left, sweeps=sweeps, on_progress=on_progress)
    return Replayed(values.split(posterior), trace, failed)


def can_follow(release: Release, goal: Property) -> bool:
    """Whether what failed can be told without running the method: not if groups are compared with values that nobody sees."""
    return not (release.partition.n_suppressed and GoalRules(goal, values_of(release)).is_beside_table)


def _as_posterior(believed: Believed, seconds: float) -> Posterior:
    """What a method's inference found; if it lies between bounds, an estimate without chains."""
    sampled = None
    if believed.error.any():
        sampled = Sampled(0, 0, 0.0, seconds, np.zeros(len(believed.chance)))
    n_tables = None if believed.n_tables is None or believed.n_tables > MOST_COUNTED else believed.n_tables
    return Posterior(believed.cell_of_row, believed.chance, believed.error, believed.how, n_tables, sampled)


def preferred_of(release: FullDomainRelease, method: Searching, on_progress: Progress) -> Iterable[Trials]:
    """What a search preferred to the node that it chose."""
    if not release.search.is_complete:
        raise NotReplayed(
            "The search for this release ran out of time, and where it stopped cannot be replayed; search without a limit."
        )
    search = method.best_node(release.table)
    return preferred_nodes(release.table, release.node, release.partition, search, method.goal, on_progress=on_progress)


def has_few_tables(release: Release, most: int) -> bool:
    """Whether at most so many tables agree with a release; those of large ones are not even counted."""
    return release.table.n_rows <= SMALL and count_tables(release.partition, values_of(release).column) <= most
