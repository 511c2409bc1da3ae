# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_opening.py
"""Public report: what may be said of a release to anybody, computed from the published tables and from what is public.

It takes the release as a reader has it (`overt.io.reader_view`), and neither the table nor what the method or an audit found out
about it. So two tables that give the same release give the same report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.audience import Audience
from overt.errors import OvertError
from overt.guarantee import Guarantee
from overt.method import Method
from overt.metrics.equal_rows import rows_alike
from overt.metrics.rare_values import Likelier, rare_values_of
from overt.metrics.risk import AttributeDisclosure, Identification, disclosure_of, identification_of
from overt.metrics.rows_of_persons import single_rows
from overt.persons import Persons
from overt.privacy.base import Property, SensitiveProperty
from overt.release import Release
from overt.report.bins import bins_of
from overt.report.cells_shown import CellsShown
from overt.report.opening import Opening, of_goals
from overt.report.owner_report import Goal, PublishedFile, parameters_of, rows_by_size, size_label
from overt.report.person_sentences import counted_persons, not_promised_of, of_knowledge
from overt.report.plots import Plot, bars
from overt.report.sentences import counted, of_worst_group
from overt.table import Column, Kind, Role


@dataclass(frozen=True, eq=False)
class ColumnShown:
    """A column as the release shows it."""

    name: str
    role: str
    n_different: int  # cells of a quasi-identifier, values of a sensitive column
    words: str
    cells: CellsShown | None  # of a quasi-identifier
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    plot: Plot = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicReport:
    """Everything that may be said of a release to anybody."""

    name: str  # of the release, not of the data
    created: str
    versions: Mapping[str, str]
    method: str
    parameters: str
    guarantee: Guarantee
    goals: tuple[Goal, ...]  # measured on the released rows
    not_promised: tuple[str, ...]
    left_out: tuple[str, ...]  # which rows may be missing, by the recipe
    identifiers: tuple[str, ...]
    others: tuple[str, ...]
    kind: str  # of the release
    n_buckets: int | None
    found: Identification
    learnt: tuple[AttributeDisclosure, ...]
    opening: Opening
    rows_of_size: tuple[tuple[str, int], ...]  # (size of group) -> rows
    group_sizes: Plot
    columns: tuple[ColumnShown, ...]
    files: tuple[PublishedFile, ...]
    recipe: str
    said_of_persons: str = ""  # "600 persons with 1,190 rows"
    knowledge: str = ""  # whose knowledge of visits is covered
    thing: str = "row"  # what is counted: "person" where people can have several rows

    @property
    def resists_replay(self) -> bool:
        """Whether the guarantee holds against someone who runs the published method again."""
        return self.guarantee.resists_replay

    @property
    def holds_on_release(self) -> bool:
        """Whether everything that was asked for holds of the released rows by themselves."""
        return all(goal.holds for goal in self.goals)

    @property
    def headline(self) -> str:
        """The report in one sentence, without its condition."""
        goals = of_goals([goal.asked for goal in self.goals])
        rows = self.said_of_persons or counted(self.found.n_rows, "row")
        if self.holds_on_release:
            return f"This release of {rows} satisfies {goals}."
        return (
            f"This release of {rows} was checked against the data to satisfy {goals}. The released rows alone do not show all of "
            "it; see the measurements below."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "report": 2,  # the version of this format
            "audience": str(Audience.PUBLIC),
            "release": self.name,
            "created": self.created,
            "versions": dict(self.versions),
            "method": self.method,
            "parameters": self.parameters,
            "against": str(self.guarantee),
            "adversary": str(self.guarantee.adversary),
            "beliefs": str(self.guarantee.beliefs),
            "strength": self.guarantee.strength,
            "measured": self.guarantee.measured or None,
            "resists_replay": self.resists_replay,
            "goal": [asdict(goal) for goal in self.goals],
            "not_promised": list(self.not_promised),
            "left_out": list(self.left_out),
            "persons": self.said_of_persons or None,
            "knowledge": self.knowledge or None,
            "identifiers": list(self.identifiers),
            "others": list(self.others),
            "kind": self.kind,
            "buckets": self.n_buckets,
            "identification": self.found.to_dict(),
            "attribute_disclosure": [one.to_dict() for one in self.learnt],
            "rare_values": [one.to_dict() for one in self.opening.rare],
            "verdict": {
                "sentence": self.headline,
                **{heading.lower().replace(" ", "_"): list(said) for heading, said in self.opening.rows},
            },
            "rows_by_group_size": dict(self.rows_of_size),
            "columns": [
                {
                    "name": one.name,
                    "role": one.role,
                    "different": one.n_different,
                    "shown": one.words,
                    "cells": None if one.cells is None else asdict(one.cells),
                    "distribution": dict(zip(one.labels, one.rows, strict=True)),
                }
                for one in self.columns
            ],
            "plots": {
                "group_sizes": dict(self.group_sizes.spec),
                "columns": {one.name: dict(one.plot.spec) for one in self.columns},
            },
            "files": [asdict(file) for file in self.files],
            "recipe": self.recipe,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenInRelease:
    """What a public report takes of a release: figures of what is published, wherever they were counted."""

    kind: str
    shows_people: bool  # whether quasi-identifiers are published as they are
    where: str  # "group" or "bucket": within what values are judged
    n_buckets: int | None
    found: Identification
    learnt: tuple[AttributeDisclosure, ...]
    rare: tuple[Likelier, ...]
    goals: tuple[Goal, ...]
    rows_of_size: NDArray[np.float64]  # (bin of sizes) -> rows
    columns: tuple[Column, ...]  # with totals; their rows are not looked at
    whose: str  # how sensitive values are shown
    persons: Persons | None = None
    has_bundles: bool = False
    said_of_persons: str = ""
    knowledge: str = ""
    is_pooled: bool = False  # which lines of a bucket are one person's is not published

    @property
    def thing(self) -> str:
        """What is counted."""
        return "row" if self.persons is None else "person"

    @classmethod
    def of(cls, read: Release, goal: Property) -> "SeenInRelease":
        """Of a release that was read back into memory."""
        table = read.table
        sizes = rows_alike(table).sizes if read.shows_exactly else read.partition.sizes
        found = identification_of(sizes)
        return cls(
            kind=read.kind,
            shows_people=shows_people(read, found),
            where="bucket" if _has_buckets(read) and read.shows_exactly else "group",
            n_buckets=read.value_groups.n_groups if _has_buckets(read) else None,
            found=found,
            learnt=tuple(disclosure_of(one, seen, read.groups.sizes) for one, seen in read.groups.histograms.items()),
            rare=rare_values_of(read.groups),
            goals=tuple(_measured(part, read) for part in goal.parts),
            rows_of_size=rows_by_size(sizes),
            columns=tuple(table.columns),
            whose=_whose(read),
            persons=table.persons,
            has_bundles=table.has_bundles,
            said_of_persons=counted_persons(table) if table.persons is not None else "",
            knowledge=of_knowledge(table),
        )

    def pooled(self, goal: Property) -> "SeenInRelease":
        """The same where nothing says which lines of a bucket are one person's: what was counted by persons' values is not in the release."""
        unmeasured = "counted by persons; the release does not say which rows are one person's"
        return replace(
            self,
            learnt=(),
            rare=(),
            goals=tuple(
                Goal(str(part), unmeasured, False) if isinstance(part, SensitiveProperty) else measured
                for part, measured in zip(goal.parts, self.goals, strict=True)
            ),
            is_pooled=True,
        )


def make_public_report(
    read: Release,
    *,
    goal: Property,
    is_pooled: bool = False,
    **known: Any,
) -> PublicReport:
    """Say what there is to say about a release, as its reader has it; `known` is what `public_report_of` takes beside figures.

    With `is_pooled` its reader does not see which rows are one person's.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> from overt.io.reader_view import release_as_read
    >>> from overt.io.publication import published_tables
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> method = Mondrian(goal=KAnonymity(4))
    >>> tables = published_tables(method.anonymize(table))
    >>> read = release_as_read(tables, made_by=method, quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> make_public_report(read, goal=method.goal).found.n_unique
    0
    """
    seen = SeenInRelease.of(read, goal)
    return public_report_of(seen.pooled(goal) if is_pooled else seen, read.method, goal, **known)


def public_report_of(
    seen: SeenInRelease,
    method: Method,
    goal: Property,
    *,
    name: str = "the release",
    others: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    left_out: Sequence[str] = (),
    files: Sequence[PublishedFile] = (),
    recipe: str = "",
    created: str = "",
    versions: Mapping[str, str] | None = None,
) -> PublicReport:
    """Put what was seen of a release, and what was decided before, into a report."""
    found, learnt, goals = seen.found, seen.learnt, seen.goals
    not_promised = tuple(_not_promised(seen, method, goal, others))
    opening = Opening(
        promised=tuple(part.in_words for part in goal.parts),
        asked=tuple(one.asked for one in goals),
        holds=True,  # it was checked before it was written
        guarantee=method.guarantee,
        found=found,
        shows_exactly=seen.shows_people,
        learnt=learnt,
        rare=seen.rare,
        where=seen.where,
        not_promised=not_promised,
        knowledge=seen.knowledge,
    )
    counts = [(size_label(i), int(rows)) for i, rows in enumerate(seen.rows_of_size)]
    counts = counts[: max(i for i, (_, rows) in enumerate(counts) if rows) + 1]
    return PublicReport(
        name=name,
        created=created,
        versions=versions or {},
        method=method.name,
        parameters=parameters_of(method),
        guarantee=method.guarantee,
        goals=goals,
        not_promised=not_promised,
        opening=opening,
        left_out=tuple(left_out),
        identifiers=tuple(identifiers),
        others=tuple(others),
        kind=seen.kind,
        n_buckets=seen.n_buckets,
        found=found,
        learnt=learnt,
        rows_of_size=tuple(counts),
        group_sizes=bars(
            [(label, rows / found.n_rows) for label, rows in counts],
            description=f"How many people look alike: share of {seen.thing}s by the size of their group",
            x="people who look alike",
            y=f"share of {seen.thing}s",
            as_share=True,
        ),
        columns=tuple(_shown(column, seen.whose) for column in seen.columns),
        files=tuple(files),
        recipe=recipe,
        said_of_persons=seen.said_of_persons,
        knowledge=seen.knowledge,
        thing=seen.thing,
    )


def _measured(part: Property, read: Release) -> Goal:
    """A property, measured on the released rows: what compares groups with the table compares them with these rows."""
    try:
        return Goal(str(part), part.describe_measure(read.groups), part.holds(read.groups))
    except OvertError:
        return Goal(str(part), "cannot be measured on the release alone", False)


def _not_promised(seen: SeenInRelease, method: Method, goal: Property, others: Sequence[str]) -> list[str]:
    """What somebody who relies on the release should not take it to promise."""
    words = [*method.not_promised]
    if goal.caution:
        words.append(goal.caution)
    looked_at = {part.column for part in goal.parts if isinstance(part, SensitiveProperty)}
    words += [
        f"Nothing is asked of {one.column!r}: {counted(one.n_certain, f'{seen.thing} is', f'{seen.thing}s are')} in groups where everyone has the same "
        f"value, and {of_worst_group(float(one.worst), seen.thing)}."
        for one in seen.learnt
        if None not in looked_at and one.column not in looked_at
    ]
    words += not_promised_of(seen.persons, has_bundles=seen.has_bundles)
    if others:
        names = ", ".join(map(repr, others))
        words.append(
            f"Released unchanged, and not covered by any guarantee: {names}. Anybody who knows them may find people by them."
        )
    if seen.shows_people:
        words.append("Who is in the table is not hidden: quasi-identifiers are published exactly.")
    if seen.is_pooled:
        words.append(
            "Which rows are one person's is not published, so this report measures nothing about the values of persons. That the goals hold of them was "
            "compared with the data before the release was written."
        )
    if seen.learnt:
        words.append(
            "The share of a value in a group is its probability for a reader who considers all ways to assign the group's values equally "
            "likely. A reader who knows more about a person, or about how columns depend on each other, may conclude more."
        )
    words.append("Several releases about the same people can reveal more together than each of them alone.")
    return words


def shows_people(release: Release, found: Identification) -> bool:
    """Whether quasi-identifiers are published as they are, and people can be seen to be in the table: boxes of one person show that too."""
    return release.shows_exactly or (release.is_crossed and found.smallest == 1)


def _has_buckets(read: Release) -> bool:
    """Whether sensitive values are listed by bucket, apart from what a row shows of its person."""
    return read.shows_exactly or read.is_crossed


def _whose(read: Release) -> str:
    """How a release shows sensitive values."""
    if read.shuffled_rows is not None:
        return "values unchanged, assigned at random to the rows of their bucket: the value in a row need not be that person's"
    return whose_of(has_buckets=_has_buckets(read))


def whose_of(*, has_buckets: bool) -> str:
    """How a release shows sensitive values, whose lines show nothing but the release's own."""
    return "values unchanged, listed by bucket" if has_buckets else "values unchanged, in any order inside a group"


def _shown(column: Column, whose: str) -> ColumnShown:
    """A column as the release shows it; nothing needs to be hidden of what everybody has."""
    column = single_rows(column)
    bins = bins_of(column, 1)
    rows = bins.count(column.total_of_value)
    values = list(zip(bins.labels, (float(share) for share in rows / rows.sum()), strict=True))
    is_sensitive = column.role is Role.SENSITIVE
    cells = None if is_sensitive else CellsShown.of(column)
    return ColumnShown(
        name=column.name,
        role=str(column.role),
        n_different=column.n_values,
        words=whose if cells is None else cells.words,
        cells=cells,
        labels=bins.labels,
        rows=tuple(np.rint(rows).astype(int).tolist()),
        plot=bars(
            values,
            description=f"{column.name}: share of released rows",
            x=column.name,
            y="share of rows",
            as_share=True,
            lying=column.kind is Kind.CATEGORY,
        ),
    )
