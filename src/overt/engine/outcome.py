# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_commands.py
"""Outcome: what a run achieved, at what cost, and what its owner should know before publishing it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks import Verdict
from overt.engine.alternative import find_alternative
from overt.engine.result import RunResult
from overt.guarantee import Guarantee
from overt.metrics.known_counts import find_known_counts
from overt.metrics.rare_values import Likelier, rare_values_of
from overt.partition import Groups
from overt.persons import Persons
from overt.privacy import FrequencyLDiversity, RelativeRisk, TCloseness
from overt.privacy.base import Property, SensitiveProperty
from overt.release import Release
from overt.report.person_sentences import (
    base_rates,
    counted_persons,
    not_promised_of,
    of_cut,
    of_knowledge,
    of_known_counts,
    rows_published,
)
from overt.report.sentences import counted, of_rare
from overt.table import Column, Kind, Table

if TYPE_CHECKING:
    from overt.report.leak import Leak

MANY_AMOUNTS = 30  # different ones
PUBLISH_ONE = "(publish one release only: two of the same people together reveal more than either)"
FEW_FOUND = (
    5  # rows or persons whom a value of theirs finds: fewer are rare values, which are cautioned of by themselves
)


@dataclass(frozen=True)
class HeldProperty:
    """A property that holds of a release, and the best parameter that does."""

    name: str
    asked: str
    reached: str


@dataclass(frozen=True)
class Outcome(RunResult):
    """What `overt.run` gives; `files` is empty if the check failed, because then nothing is written."""

    recipe_path: Path
    method: str
    n_rows: int
    n_dropped: int
    n_suppressed: int
    n_groups: int
    holds: tuple[HeldProperty, ...]
    guarantee: Guarantee
    average_group_size: float
    discernibility: int
    cautions: tuple[str, ...]
    remarks: Mapping[str, str]
    verdict: Verdict
    input_path: str  # of data in a database, the reference to it
    files: Mapping[str, Any]  # of a release in a database, the names of its tables
    checked: str  # what to name to a check
    manifest_path: Path
    owner_record_path: Path
    in_files: bool = True  # else in tables of a database
    report_paths: tuple[Path, ...] = ()
    owner_report_paths: tuple[Path, ...] = ()
    leak: "Leak | None" = None  # what someone who knows the method learns; None if it was not asked
    cleared: tuple[str, ...] = ()  # files that a run which was killed had begun
    persons: Persons | None = None  # whose rows were put together; None: a row is a person
    n_rows_of_persons: int = 0  # that they have in the release
    said_of_persons: str = ""  # how many, with how many rows
    knowledge: str = ""  # whose knowledge of visits is covered
    base_rates: tuple[str, ...] = ()  # how frequent values are among persons, beside their bounds
    instead: str = ""  # that the method leaks, and which one reaches the same goal and does not

    @classmethod
    def of(
        cls,
        release: Release,
        tables: Mapping[str, pl.DataFrame],
        goal: Property,
        verdict: Verdict,
        *,
        recipe_path: Path,
        others: tuple[str, ...],
        warned: tuple[str, ...],
        input_path: str,
        files: Mapping[str, Any],
        checked: str,
        in_files: bool,
        manifest_path: Path,
        owner_record_path: Path,
        report_paths: tuple[Path, ...] = (),
        owner_report_paths: tuple[Path, ...] = (),
        leak: "Leak | None" = None,
        cleared: tuple[str, ...] = (),
        has_pilot: bool = False,
    ) -> "Outcome":
        """Measure a release that was made for a goal and is published as these tables."""
        method = release.method
        sizes = group_sizes(release, tables)
        return cls(
            recipe_path=recipe_path,
            method=method.name,
            n_rows=release.table.n_rows,
            n_dropped=release.table.n_dropped,
            n_suppressed=release.n_suppressed,
            n_groups=sizes.size,
            holds=tuple(
                HeldProperty(part.name, str(part), part.describe_measure(release.groups)) for part in goal.parts
            ),
            guarantee=method.guarantee,
            average_group_size=float(sizes.mean()),
            discernibility=int((sizes * sizes).sum()) + release.n_suppressed * release.table.n_rows,
            cautions=(*warned, *find_cautions(release, goal, others, has_pilot=has_pilot)),
            remarks=release.remarks,
            verdict=verdict,
            input_path=input_path,
            files=files,
            checked=checked,
            in_files=in_files,
            manifest_path=manifest_path,
            owner_record_path=owner_record_path,
            report_paths=report_paths,
            owner_report_paths=owner_report_paths,
            leak=leak,
            cleared=cleared,
            persons=release.table.persons,
            n_rows_of_persons=rows_published(release.table),
            said_of_persons=counted_persons(release.table, release.table.n_rows - release.n_suppressed),
            knowledge=of_knowledge(release.table),
            base_rates=tuple(base_rates(release.table, goal)),
            instead=find_alternative(release, goal),
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """What a person wants to know about a release that was just written, as labels and texts."""
        things = "rows" if self.persons is None else "persons"
        yield from rows_of_release(
            self.said_of_persons, self.n_dropped, self.n_suppressed, self.n_groups, self.method, self.persons
        )
        yield from rows_of_promise(self.holds, self.guarantee, self.knowledge, self.base_rates)
        if self.leak is not None:
            from overt.report.leak import brief

            yield "Leak", brief(self.leak)
        if self.instead:
            yield "Instead", self.instead
        yield (
            "Cost",
            f"groups of {self.average_group_size:,.1f} {things} on average; discernibility {self.discernibility:,}",
        )
        yield from self.remarks.items()
        yield from (("Caution", caution) for caution in self.cautions)
        yield from (("Files" if self.in_files else "Tables", str(place)) for place in self.files.values())
        yield from (("Files", str(path)) for path in (self.manifest_path, *self.report_paths))
        yield from (("Owner", str(path)) for path in (self.owner_record_path, *self.owner_report_paths))
        if self.cleared:
            yield "Cleared", sentence_of_cleared(self.cleared)
        yield "Again", again(self.recipe_path, report=bool(self.report_paths))
        yield "Again", PUBLISH_ONE
        yield "Check", f"overt check {as_typed(self.input_path)} {as_typed(self.checked)}"

    def content(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "method": self.method,
            "rows": self.n_rows,
            "rows_dropped": self.n_dropped,
            "rows_suppressed": self.n_suppressed,
            "groups": self.n_groups,
            "goal": [{"property": held.name, "asked": held.asked, "reached": held.reached} for held in self.holds],
            **self.guarantee.to_dict(),
            "average_group_size": self.average_group_size,
            "discernibility": self.discernibility,
            "cautions": list(self.cautions),
            "remarks": dict(self.remarks),
            **findings_of(self.verdict),
            "files": {name: str(path) for name, path in self.files.items()},
            "manifest": str(self.manifest_path) if self.files else None,
            "owner_record": str(self.owner_record_path) if self.files else None,
            "report": [str(path) for path in self.report_paths],
            "owner_report": [str(path) for path in self.owner_report_paths],
            "cleared": list(self.cleared),
            "leak": None if self.leak is None else of_leak(self.leak),
            "persons": None
            if self.persons is None
            else content_of_persons(
                self.persons, self.n_rows - self.n_suppressed, self.n_rows_of_persons, self.knowledge, self.base_rates
            ),
            "instead": self.instead or None,
        }


def rows_of_release(
    said: str, n_dropped: int, n_suppressed: int, n_groups: int, method: str, persons: Persons | None
) -> Iterator[tuple[str, str]]:
    """Who is in a release, as labels and texts: how many are `said`, in how many groups, and which rows of theirs were cut."""
    left_out = (
        [f"{counted(n_dropped, 'row' if persons is None else 'person')} with a missing sensitive value left out"]
        if n_dropped
        else []
    )
    left_out += [f"{n_suppressed:,} suppressed"] if n_suppressed else []
    dropped = f" ({', '.join(left_out)})" if left_out else ""
    yield "Release", f"{said}{dropped} in {counted(n_groups, 'group')}, by {method}"
    if persons is not None and persons.keep is not None:
        yield "Cut", of_cut(persons)


def rows_of_promise(
    holds: Iterable[HeldProperty], guarantee: Guarantee, knowledge: str, rates: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """What holds of a release, against whom, and how frequent values are among persons, as labels and texts."""
    yield from (("Holds", f"{held.asked}; reached: {held.reached}") for held in holds)
    yield "Against", f"{guarantee}"
    if knowledge:
        yield "Knowledge", knowledge
    yield from (("Base rate", words) for words in rates)


def content_of_persons(
    persons: Persons, n_persons: int, n_rows: int, knowledge: str, rates: Iterable[str]
) -> dict[str, Any]:
    """The persons of a release, and what became of their rows, as plain values."""
    return {
        "persons": n_persons,
        "rows": n_rows,
        "rows_read": persons.n_rows,
        "rows_cut": persons.n_cut,
        "known": persons.known,
        "knowledge": knowledge,
        "base_rates": list(rates),
    }


def again(recipe: Path, *, report: bool = False) -> str:
    """The command that makes the release again, in the place of the one that is there."""
    return f"overt run {as_typed(recipe)}{' --report' if report else ''} --overwrite"


def as_typed(word: str | Path) -> str:
    """A path as a shell takes it: in quotes where it has a blank."""
    return quote(str(word))


def of_leak(leak: "Leak") -> dict[str, Any]:
    """What someone who knows the method learns, as a run says it."""
    return {name: value for name, value in leak.to_dict().items() if name in ("sentence", "verdict", "audit")}


def group_sizes(release: Release, tables: Mapping[str, pl.DataFrame]) -> NDArray[np.int64]:
    """The sizes of groups as a reader sees them: two groups of a method that show the same are one, and a bucket is a group."""
    people = next(iter(tables.values()))
    if release.shows_exactly:
        return people.get_column("bucket").value_counts().get_column("count").to_numpy()
    shown = people.select(column.name for column in release.table.quasi_identifiers)
    if release.is_crossed:
        return shown.group_by(pl.all()).len().get_column("len").to_numpy()
    is_first = (
        shown.select(pl.any_horizontal(pl.all().ne_missing(pl.all().shift()))).to_series().to_numpy(writable=True)
    )
    is_first[:1] = True  # rows are sorted by what they show
    return np.diff(np.append(np.flatnonzero(is_first), is_first.size))


def sentence_of_cleared(names: Iterable[str]) -> str:
    """What became of the files that a run which was killed had begun."""
    return f"removed unfinished files of a killed run, and restored what they were about to replace: {', '.join(names)}"


def findings_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    findings = [{"name": f.name, "ok": f.ok, "sentence": f.sentence} for f in verdict.findings]
    return {"ok": verdict.ok, "findings": findings}


def _n_special(column: Column, n_rows: int) -> int:
    """Rows, or persons, with a value that is not missing, and not what most have, such as a zero."""
    totals = column.total_of_member
    if column.bundles is not None:
        return n_rows
    is_missing = np.arange(totals.size) == (-1 if column.missing_code is None else column.missing_code)
    n_known, most = int(totals[~is_missing].sum()), int(totals[~is_missing].max(initial=0))
    return n_known - most if 2 * most > n_known else n_known


def _lines_that_are_found(table: Table) -> Iterator[str]:
    """Sensitive columns that nearly tell rows apart, beside others: who knows somebody's value reads the others in its line."""
    if len(table.sensitive) < 2:
        return
    things = "persons" if table.has_bundles else "rows"
    for column in table.sensitive:
        n_rows = int(column.total_of_value.sum())  # of rows that lie elsewhere there are only totals
        is_alone = column.total_of_member == 1
        if column.bundles is None and column.missing_code is not None:
            is_alone[column.missing_code] = False
        n_alone = min(int(is_alone.sum()), n_rows)
        if n_alone >= FEW_FOUND and n_alone * 2 >= _n_special(column, n_rows):
            others = ", ".join(repr(one.name) for one in table.sensitive if one is not column)
            yield (
                f"{n_alone:,} of {n_rows:,} {things} have a value of {column.name!r} that nobody else has, and beside it stands {others}: whoever knows "
                f"somebody's {column.name!r}, from a bill say, finds the line and reads the rest. Leave {column.name!r} out, round it, or release it by itself."
            )


def _not_looked_at(goal: Property, of_values: Mapping[str, tuple[int, Fraction]], n_groups: int) -> Iterator[str]:
    """Sensitive columns of which the goal asks nothing; of each it is known in how many groups everyone has the same value, and the worst share."""
    looked_at = {part.column for part in goal.parts if isinstance(part, SensitiveProperty)}
    for name, (n_alike, share) in of_values.items():
        if None in looked_at or name in looked_at:
            continue
        yield (
            f"The goal does not look at {name!r}: in {n_alike:,} of {counted(n_groups, 'group')} everyone has the same "
            f"value, and in the worst group one value has {float(share):.0%} of the rows. Add l-diversity for it."
        )


ELSEWHERE = ", with new data: other goals for these people are refused now"  # after a pilot, when a release was made


def _amounts_kept_near(sensitive: Iterable[Column], goal: Property) -> set[str]:
    """Columns of amounts of which t-closeness is asked: an amount that hardly anybody else has is rare in any group, and says nothing by that."""
    bounded = {part.column for part in goal.parts if isinstance(part, TCloseness)}
    amounts = (column for column in sensitive if column.kind is Kind.NUMBER)
    return {
        column.name
        for column in amounts
        if column.n_values > MANY_AMOUNTS and not bounded.isdisjoint((None, column.name))
    }


def find_cautions(
    release: Release, goal: Property, others: tuple[str, ...], *, has_pilot: bool = False
) -> Iterator[str]:
    """What a release does not protect from, as far as its owner could overlook it; with a pilot, these people have no other goal."""
    yield from release.cautions
    persons = release.table.persons
    yield from not_promised_of(persons, has_bundles=release.table.has_bundles)
    yield from of_known_counts(find_known_counts(release))
    if persons is not None and persons.n_alike:
        yield (
            f"{persons.n_alike:,} persons are called like another one but for upper and lower case, and count as others: write them alike if they are the same."
        )
    of_values = {
        name: (
            int((np.diff(histogram.first) == 1).sum()),
            1 / Fraction(FrequencyLDiversity(1, column=name).measure(release.groups)),
        )
        for name, histogram in release.groups.histograms.items()
    }
    rare = rare_values_of(release.groups)
    yield from cautions_of_values(
        goal, release.table, of_values, release.n_groups, rare, release.groups, has_pilot=has_pilot
    )
    if others:
        names = ", ".join(map(repr, others))
        yield f"Released unchanged, and not covered by any guarantee: {names}. Anybody who knows them may find people by them."


def cautions_of_values(
    goal: Property,
    table: Table,
    of_values: Mapping[str, tuple[int, Fraction]],
    n_groups: int,
    rare: Iterable[Likelier],
    some_groups: Groups,
    *,
    has_pilot: bool = False,
) -> Iterator[str]:
    """What a goal leaves open of sensitive values, wherever the rows are.

    `of_values` says of each column in how many groups everyone has the same value, and the worst share; `some_groups` how values are written. After a pilot
    another goal for the same people is refused, so what is advised needs new data.
    """
    if goal.caution:
        yield goal.caution
    yield from _not_looked_at(goal, of_values, n_groups)
    yield from _lines_that_are_found(table)
    near = _amounts_kept_near(table.sensitive, goal)
    for likelier in rare:
        if likelier.column not in near:
            yield f"{of_rare(likelier)} To bound that, ask for relative-risk{ELSEWHERE if has_pilot else ''}."
    for part in goal.parts:
        if isinstance(part, RelativeRisk) and (n_unknown := part.names_unknown(some_groups)):
            named = "1 value that nobody has" if n_unknown == 1 else f"{n_unknown} values that nobody has"
            yield f"The goal names {named} under `positive`, so the goal limits nothing there: check how the data spells it."
