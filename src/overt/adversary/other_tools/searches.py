# SPDX-License-Identifier: Apache-2.0
"""Releases made by other tools: the search that such a tool performs, replayed from its description, and the same audit.

Paper       Not in a paper; R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality Attack in Privacy Preserving Data
            Publishing", VLDB 2007, is the idea for a single search.
Implements  `LeastCost`: the node of the lattice that costs least, with suppressed rows shown as stars beside their sensitive
            values, as ARX does. `FirstOnPath`: the column with the most different values is generalized until the goal
            holds, as anjana does without suppression. `MedianCuts`: groups are cut at the median of the widest column for
            which both sides hold the goal, as anonypy does.
Departs     Nodes that cost the same as the chosen one are not taken to have failed: which of them a tool takes is not known.
Guarantee   None for the tool. The figures hold if the tool did what is described here; that the release can be its result is checked.

What the adversary has: the quasi-identifiers of everyone, the hierarchies, the published table, the name of the search and its
parameters. The sensitive values of the original table are used only to see that the release can come from it.
"""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.knowledge import Knowledge
from overt.adversary.learner.findings import Learned
from overt.adversary.learner.learner import learn
from overt.adversary.most_exposed import find_worst
from overt.adversary.other_tools.published_classes import read_local_recoding
from overt.adversary.other_tools.published_levels import NoLevels, cells_of_levels, read_full_domain
from overt.adversary.posterior import shares
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.monte_carlo import AT_LEAST, compile_loops, sample_posterior
from overt.adversary.replay.preferred_nodes import first_nodes, preferred_nodes
from overt.adversary.replay.time_limit import NotReplayed, OutOfTime, in_time, not_known, until
from overt.adversary.summary import Audit, promised
from overt.errors import InvalidInput, TooLarge
from overt.lattice import Node, nodes_of_levels
from overt.metrics.risk import risk_of_release
from overt.partition import Groups, Partition
from overt.privacy.base import Number, Property, exact, require_number
from overt.progress import Progress, silent
from overt.release import GeneralizedRelease, LabelledRelease
from overt.table import Column, Kind, Table
from overt.trace import BestNode, Trace, Trials

LOCAL_RECODING = (
    "The file shows columns at several levels (local recoding): which rows each round of the search was given, and in which order rounds came, "
    "is not in it, so the search cannot be replayed from a file. On the average, someone who replays it learns no less than the release alone says."
)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What a release rests on: who is in which group, and what was tried before."""

    table: Table  # with the sensitive values of the release, if there were none
    partition: Partition
    several: Iterable[Trials]
    hides_suppressed: bool
    knows_truth: bool
    trace: Trace | None = None
    why_not: str = ""  # replaying it is not possible, whatever the time
    shown: NDArray[np.int32] | None = (
        None  # (quasi-identifier, group, 2) -> the codes that labels cover; None: no more than the rows
    )

    @property
    def release(self) -> GeneralizedRelease:
        """The groups with what they show."""
        if self.shown is None:
            return GeneralizedRelease(self.table, self.partition, None)
        return LabelledRelease(self.table, self.partition, None, self.shown)


class ToolSearch(Protocol):
    """How another tool searches."""

    name: ClassVar[str]

    @property
    def goal(self) -> Property:
        """What it certifies."""

    def reconstruct(
        self, table: Table, shown: pl.DataFrame | None, sensitive: str | None, on_progress: Progress
    ) -> Reconstruction:
        """What it must have tried before it came to a release."""


@dataclass(frozen=True, kw_only=True)
class LeastCost:
    """The node that costs least, of all that reach the goal; rows of groups that break it are shown as stars.

    Parameters
    ----------
    goal
        What every group that is shown satisfies.
    optimise
        What the node has the least of; see `FullDomain`. "discernibility" is computed by ARX in the same way.
    max_suppressed
        The share of the rows that may be suppressed.

    """

    name: ClassVar[str] = "full-domain optimum, as ARX"

    goal: Property
    optimise: str = "discernibility"
    max_suppressed: Number = 0

    def __post_init__(self) -> None:
        require_number("max_suppressed", self.max_suppressed, least=0, most=1)

    def reconstruct(
        self, table: Table, shown: pl.DataFrame | None, sensitive: str | None, on_progress: Progress
    ) -> Reconstruction:
        """From the labels of the published table. If it is by local recoding, who is in which class is read, and no more."""
        try:
            table, node, partition, knows_truth = read_full_domain(table, shown, sensitive)
        except NoLevels:
            assert shown is not None
            name = table.the_sensitive("An audit").name if table.sensitive else str(sensitive)
            table, partition, knows_truth, cells = read_local_recoding(table, shown, name)
            return Reconstruction(table, partition, (), False, knows_truth, why_not=LOCAL_RECODING, shown=cells)
        most_suppressed = min(int(exact(self.max_suppressed) * table.n_rows), table.n_rows - 1)
        search = BestNode(self.optimise, most_suppressed, hides_suppressed=False, knows_ties=False)
        several = preferred_nodes(table, node, partition, search, self.goal, on_progress=on_progress)
        cells = cells_of_levels(table, node, partition)
        return Reconstruction(table, partition, several, False, knows_truth, shown=cells)


@dataclass(frozen=True, kw_only=True)
class FirstOnPath:
    """Of the columns that can still be generalized, the one that shows most different values goes up a level, until the goal holds."""

    name: ClassVar[str] = "full-domain, first found, as anjana"

    goal: Property

    def reconstruct(
        self, table: Table, shown: pl.DataFrame | None, sensitive: str | None, on_progress: Progress
    ) -> Reconstruction:
        """From the labels of the published table; no row may be suppressed."""
        table, node, partition, knows_truth = read_full_domain(table, shown, sensitive)
        cells = cells_of_levels(table, node, partition)
        if partition.n_suppressed:
            why_not = "The path of anjana is replayed for releases without suppressed rows only."
            return Reconstruction(table, partition, (), False, knows_truth, why_not=why_not, shown=cells)
        path = path_to_top(table)
        if node not in path:
            raise InvalidInput(
                "The levels of the release are not on the path that generalizes the column with most values."
            )
        tried = first_nodes(table, path[: path.index(node) + 1])
        return Reconstruction(table, partition, tried, False, knows_truth, shown=cells)


@dataclass(frozen=True, kw_only=True)
class MedianCuts:
    """Every group is cut in two by the first column, the widest first, for which both parts hold the goal.

    Numbers are cut below their median, categories half-way through the values in the order of the rows. Widths are
    relative to those of the whole table: a range of numbers, a number of categories.
    """

    name: ClassVar[str] = "Mondrian, as anonypy"

    goal: Property

    def require_result(self, table: Table, shown: pl.DataFrame) -> None:
        """Refuse a published file that median cuts of this table cannot have given: other groups, or other sensitive values in them."""
        column = table.the_sensitive("An audit of median cuts")
        if groups_shown(table, shown, column) != groups_made(cut_at_medians(table, self.goal)[0], column):
            raise InvalidInput(
                "Median cuts of the original do not give the groups of the published file, so its search cannot be replayed; check the "
                "claim and the columns that were given."
            )

    def reconstruct(
        self, table: Table, shown: pl.DataFrame | None, sensitive: str | None, on_progress: Progress
    ) -> Reconstruction:
        """By running it on the original table; the published one is not needed."""
        table.the_sensitive("An audit of median cuts")
        partition, trace = cut_at_medians(table, self.goal)
        return Reconstruction(table, partition, [Trials.of_cuts(trace)], False, True, trace)


def audit_other(
    table: Table,
    shown: pl.DataFrame | None,
    search: ToolSearch,
    *,
    rng: Generator,
    sensitive: str | None = None,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Audit:
    """Measure what somebody who replays the search of another tool can conclude about everybody in its release.

    Parameters
    ----------
    table
        The original: everyone's quasi-identifiers with their hierarchies; with its sensitive column or without.
    shown
        The published table, rows in any order. Not needed for `MedianCuts`.
    search
        How the tool searches.
    rng
        Where random numbers come from.
    sensitive
        The name of the sensitive column, if the original has none.
    knowledge
        What the adversary knows besides.
    seconds, sweeps
        How long to sample where tables cannot be listed; see `audit_release`.
    on_progress
        Is told how far it is.


    >>> import numpy as np
    >>> import overt
    >>> people = pl.DataFrame({"street": ["A", "A", "B", "B", "B"], "disease": ["HIV", "HIV", "flu", "cold", "gout"]})
    >>> known = {"quasi_identifiers": ["street"], "sensitive": ["disease"], "hierarchies": {"street": overt.Flat()}}
    >>> table, shown = overt.read_frame(people, **known), people.with_columns(street=pl.lit("*"))
    >>> search = overt.LeastCost(goal=overt.DistinctLDiversity(2))
    >>> overt.audit_other(table, shown, search, rng=np.random.default_rng(1)).n_certain
    2

    """
    compile_loops()
    began, knowledge = time.perf_counter(), knowledge or Knowledge()
    deadline = began + seconds if sweeps is None else inf
    found = search.reconstruct(table, shown, sensitive, in_time(deadline, on_progress))
    column = found.table.the_sensitive("An audit")
    release = found.release
    alone = shares(found.partition, column, hidden=found.hides_suppressed)
    several = found.several if knowledge.replays else ()
    failed, forbidden = None, knowledge.forbidden(column)
    try:
        if found.why_not and knowledge.replays:
            raise NotReplayed(found.why_not)
        tried = until(deadline, several)
        failed = FailedTrials.of(tried, found.partition, column, search.goal, forbidden, hidden=found.hides_suppressed)
    except OutOfTime:
        replayed = not_known(alone, time.perf_counter() - began)
    except (NotReplayed, TooLarge) as error:
        replayed = not_known(alone, time.perf_counter() - began, str(error))
    else:
        left = max(AT_LEAST * seconds, seconds - (time.perf_counter() - began))
        replayed = sample_posterior(
            failed, rng=rng, seconds=left, sweeps=sweeps, knows_truth=found.knows_truth, on_progress=on_progress
        )
    return Audit(
        method=search.name,
        column=column.name,
        n_rows=found.table.n_rows,
        n_groups=found.partition.n_groups,
        knowledge=knowledge,
        bound=promised(search.goal, column.name),
        alone=alone,
        replayed=replayed,
        worst=find_worst(release, alone, replayed, found.trace, failed),
        found=risk_of_release(release).identification,
        shows_exactly=False,
    )


def learn_other(
    table: Table, shown: pl.DataFrame | None, search: ToolSearch, *, rng: Generator, on_progress: Progress = silent
) -> Learned:
    """How many people a learner guesses right from the release of another tool; the table has its sensitive column."""
    name = table.the_sensitive("A learner").name
    found = search.reconstruct(table, shown, name, on_progress)
    release = found.release
    return learn(release, rng=rng, goal=search.goal, method=search.name, on_progress=on_progress)


def groups_made(partition: Partition, column: Column) -> Counter[tuple[tuple[str, int], ...]]:
    """How many groups have each mix of sensitive values."""
    groups = np.split(partition.rows, partition.starts[1:-1])
    texts = column.values.cast(pl.String).to_list()
    return Counter(tuple(sorted(Counter(str(texts[code]) for code in column.codes[rows]).items())) for rows in groups)


def groups_shown(table: Table, shown: pl.DataFrame, column: Column) -> Counter[tuple[tuple[str, int], ...]]:
    """The same of a published file, whose lines may stand for as many rows as their column `count` says."""
    names = [one.name for one in table.quasi_identifiers]
    missing = [name for name in (*names, column.name) if name not in shown.columns]
    if missing:
        raise InvalidInput(f"The published file has no column {missing[0]!r}; give the file that shows it.")
    given = shown["count"].cast(pl.String).cast(pl.Int64, strict=False) if "count" in shown.columns else None
    counts = [1] * shown.height if given is None or given.null_count() else given.to_list()
    mixes: dict[tuple[str, ...], Counter[str]] = {}
    for row, count in zip(shown.select([*names, column.name]).cast(pl.String).iter_rows(), counts, strict=True):
        mixes.setdefault(tuple(row[:-1]), Counter())[str(row[-1])] += count
    return Counter(tuple(sorted(mix.items())) for mix in mixes.values())


def path_to_top(table: Table) -> list[Node]:
    """The nodes that generalizing the column with the most different values, the first of equals, comes to."""
    shown = [nodes_of_levels(column)[:, column.codes] for column in table.quasi_identifiers]
    n_shown = [[np.unique(level).size for level in levels] for levels in shown]
    node = [0] * len(shown)
    path = [tuple(node)]
    while open_columns := [j for j, level in enumerate(node) if level + 1 < len(n_shown[j])]:
        widest = max(open_columns, key=lambda j: (n_shown[j][node[j]], -j))
        node[widest] += 1
        path.append(tuple(node))
    return path


def cut_at_medians(table: Table, goal: Property) -> tuple[Partition, Trace]:
    """The groups of `MedianCuts`, and every cut that was tried."""
    measures = [_measure(column) for column in table.quasi_identifiers]
    everyone = np.arange(table.n_rows, dtype=np.int32)
    scale = [
        _width(column, numbers[everyone]) for column, numbers in zip(table.quasi_identifiers, measures, strict=True)
    ]
    waiting, finished, tried = [everyone], [], []
    while waiting:
        rows = waiting.pop(0)
        widths = [
            _width(column, numbers[rows]) / (whole or 1)
            for column, numbers, whole in zip(table.quasi_identifiers, measures, scale, strict=True)
        ]
        for j in sorted(range(len(widths)), key=lambda j: -widths[j]):
            is_left = _left_of_cut(table.quasi_identifiers[j], measures[j][rows])
            left, right = rows[is_left], rows[~is_left]
            if not left.size or not right.size:
                continue  # nobody's value decides that
            starts = np.array([0, left.size, rows.size], np.int64)
            parts = np.concatenate([left, right])
            is_made = not goal.breaks(Groups.of_ranges(table.sensitive, parts, starts)).any()
            tried.append((parts, starts, j, is_made))
            if is_made:
                waiting += [left, right]
                break
        else:
            finished.append(rows)
    group_of_row = np.empty(table.n_rows, np.int32)
    for group, rows in enumerate(finished):
        group_of_row[rows] = group
    if not tried:
        return Partition(group_of_row, len(finished)), Trace.empty()
    sizes = np.concatenate([np.diff(starts) for _, starts, _, _ in tried])
    trace = Trace(
        np.concatenate([parts for parts, *_ in tried]),
        np.append(0, np.cumsum(sizes)),
        np.array([j for _, _, j, _ in tried], np.int32),
        np.array([is_made for *_, is_made in tried], np.bool_),
    )
    return Partition(group_of_row, len(finished)), trace


def _measure(column: Column) -> NDArray[np.float64]:
    """(row) -> its number, or the code of its category."""
    if column.kind is Kind.NUMBER:
        return column.values.cast(pl.Float64).to_numpy()[column.codes]
    return column.codes.astype(np.float64)


def _width(column: Column, numbers: NDArray[np.float64]) -> float:
    return float(np.ptp(numbers)) if column.kind is Kind.NUMBER else float(np.unique(numbers).size)


def _left_of_cut(column: Column, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are below the median, or have one of the first half of the categories as they come."""
    if column.kind is Kind.NUMBER:
        below: NDArray[np.bool_] = numbers < np.median(numbers)
        return below
    values, first = np.unique(numbers, return_index=True)
    come_first = values[np.argsort(first)][: values.size // 2]
    return np.isin(numbers, come_first)
