# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_report.py
"""Owner's report: everything that can be said about a release, measured once; `html`, `text` and `to_dict` only put it in form.

It is made from the original data and is for their owner alone: on a small table everyone's value follows from its figures.
It shows no identifier, no row, and nothing that fewer than `least_rows` rows have (the rule is in `overt.report.bins`). What
may be published is in `overt.report.public`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.downcoding.findings import Downcoding
from overt.audience import NOTICE, Audience
from overt.checks import Verdict
from overt.errors import InvalidInput
from overt.guarantee import Guarantee
from overt.markup import Markup
from overt.method import Method
from overt.metrics.equal_rows import rows_alike
from overt.metrics.rare_values import rare_values_of
from overt.metrics.risk import AttributeDisclosure, Risk, risk_of_release, risk_of_table
from overt.metrics.rows_of_persons import by_rows
from overt.metrics.uniques import Uniques, find_uniques
from overt.metrics.utility import Utility, measure_utility
from overt.privacy.base import Property
from overt.release import Release
from overt.report.bins import bins_of
from overt.report.leak import Leak, brief
from overt.report.opening import Opening
from overt.report.person_sentences import base_rates, counted_persons, of_cut, of_knowledge
from overt.report.plots import Plot, bars_before_and_after
from overt.report.sentences import headline, of_rare, of_worst_group
from overt.report.sequence import LevelsTried, levels_of
from overt.table import Column, Kind, Role, Table

LEAST_ROWS = 10  # what fewer rows have is not shown, nor what fewer than k have
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # the least sizes of the bins of group sizes


@dataclass(frozen=True)
class PublishedFile:
    """A file of the release, or a table of a database."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Goal:
    """A property that was asked for, and the best parameter that holds."""

    asked: str
    reached: str
    holds: bool


@dataclass(frozen=True)
class Fate:
    """What became of a column, in words."""

    name: str
    role: str
    kind: str
    n_values: int
    became: str


@dataclass(frozen=True)
class Distribution:
    """A column in bins that can be shown: rows before, and rows as a reader of the release would expect them."""

    name: str
    role: str
    labels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[float, ...]
    plot: Plot = field(repr=False)


@dataclass(frozen=True, eq=False)
class Report:
    """What was asked of a release, what holds and against whom, what it cost and what remains."""

    name: str  # of the release
    source: str  # the name of the file or table that it was made from
    created: str
    versions: Mapping[str, str]
    method: str
    parameters: str
    guarantee: Guarantee
    goals: tuple[Goal, ...]
    opening: Opening
    findings: tuple[tuple[str, bool, str], ...]
    cautions: tuple[str, ...]
    whom: str  # "600 rows", or "600 persons with 1,190 rows": who is released
    n_rows: int  # of the original, without those dropped
    n_dropped: int
    n_suppressed: int
    identifiers: tuple[str, ...]
    columns: tuple[Fate, ...]
    least_rows: int
    before: Risk
    after: Risk
    uniques: Uniques
    utility: Utility
    group_sizes: Plot
    distributions: tuple[Distribution, ...]
    recipe: str
    kind: str  # "generalized", "buckets" or "cross-buckets"
    levels_tried: LevelsTried | None = None  # if levels were tried in order
    leak: Leak | None = None  # what someone who knows the method learns, if it was asked
    downcoded: Downcoding | None = None  # what a reader learns about quasi-identifiers, if it was asked
    files: tuple[PublishedFile, ...] = ()
    thing: str = "row"  # what is counted: "person" where people can have several rows
    base_rates: tuple[str, ...] = ()  # how frequent values are among persons, beside their bounds
    cut: str = ""  # which rows of persons were not kept

    @property
    def is_checked(self) -> bool:
        """Whether the release was checked and is as claimed."""
        return bool(self.findings) and all(ok for _, ok, _ in self.findings)

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for holds, and a check, if there was one, agrees."""
        return all(goal.holds for goal in self.goals) and (self.is_checked or not self.findings)

    @property
    def resists_replay(self) -> bool:
        """Whether the guarantee holds against someone who runs the published method again."""
        return self.guarantee.resists_replay

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        utility = self.utility
        return {
            "report": 2,  # the version of this format
            "audience": str(Audience.OWNER),
            "notice": NOTICE,
            "release": self.name,
            "source": self.source,
            "files": [asdict(file) for file in self.files],
            "verdict": {
                "sentence": headline(self),
                **{heading.lower().replace(" ", "_"): list(said) for heading, said in self.opening.rows},
            },
            "created": self.created,
            "versions": dict(self.versions),
            "method": self.method,
            "parameters": self.parameters,
            **self.guarantee.to_dict(),
            "resists_replay": self.resists_replay,
            "holds": self.holds,
            "goal": [asdict(goal) for goal in self.goals],
            "checked": self.is_checked,
            "findings": [{"name": name, "ok": ok, "sentence": text} for name, ok, text in self.findings],
            "cautions": list(self.cautions),
            "rows": self.n_rows,
            "rows_dropped": self.n_dropped,
            "rows_suppressed": self.n_suppressed,
            "base_rates": list(self.base_rates),
            "rows_cut": self.cut or None,
            "columns": [asdict(fate) for fate in self.columns],
            "nothing_shown_below_rows": self.least_rows,
            "risk": {"before": self.before.to_dict(), "after": self.after.to_dict()},
            "uniques": {
                "rows": self.uniques.n_unique,
                "looked_at_sets_of_up_to": self.uniques.max_size,
                "by_size_of_smallest_set": list(self.uniques.n_of_size),
                "sets": [{"columns": list(one.columns), "rows": one.n_rows} for one in self.uniques.sets[:50]],
            },
            "utility": {
                "average_group_size": utility.average_group_size,
                "discernibility": utility.discernibility,
                "certainty_penalty": utility.certainty_penalty,
                "non_uniform_entropy": utility.non_uniform_entropy,
                "precision": utility.precision,
                "marginal_divergence": utility.marginal_divergence,
                "pair_divergence": utility.pair_divergence,
                "mean_error": utility.mean_error,
                "columns": [
                    {key: value for key, value in vars(column).items() if key != "expected"}
                    for column in utility.columns
                ],
                "pairs": [asdict(pair) for pair in utility.pairs],
                "pairs_left_out": [list(pair) for pair in utility.pairs_left_out],
                "predictions": [{**asdict(one), "kept": one.kept} for one in utility.predictions],
            },
            "plots": {
                "group_sizes": dict(self.group_sizes.spec),
                "columns": {one.name: dict(one.plot.spec) for one in self.distributions},
            },
            "levels_tried": None if self.levels_tried is None else self.levels_tried.to_dict(),
            "leak": None if self.leak is None else self.leak.to_dict(),
            "downcoding": None if self.downcoded is None else self.downcoded.to_dict(),
            "recipe": self.recipe,
        }

    def _repr_html_(self) -> Markup:
        from overt.report.html import body_of

        return body_of(self)


def make_report(
    release: Release,
    *,
    goal: Property,
    verdict: Verdict | None = None,
    cautions: Sequence[str] = (),
    name: str = "the release",
    source: str = "the table",
    recipe: str = "",
    created: str = "",
    versions: Mapping[str, str] | None = None,
    leak: Leak | None = None,
    downcoded: Downcoding | None = None,
    files: Sequence[PublishedFile] = (),
) -> Report:
    """Measure a release and put together the owner's report. If an audit was made, pass what it found as `leak`.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> method = Mondrian(goal=KAnonymity(4))  # strict cuts that never look at diseases: replaying them tells nothing
    >>> report = make_report(method.anonymize(table), goal=method.goal)
    >>> report.resists_replay, report.after.identification.n_unique
    (True, 0)
    """
    if release.hides_table:
        raise InvalidInput(
            "A report compares a release with its table, and this would reveal what a differentially private release hides. So there is none."
        )
    table = release.table
    method = release.method
    least_rows = max(LEAST_ROWS, goal.least_rows)
    utility, rows = measure_utility(release), by_rows(release)
    in_bins = least_rows * most_rows_of_a_person(table)  # so that as many persons are in a bin
    alike = rows_alike(table)
    before, after = risk_of_table(table, alike=alike), risk_of_release(release)
    expected = {column.name: column.expected for column in utility.columns}
    goals = tuple(Goal(str(g), g.describe_measure(release.groups), g.holds(release.groups)) for g in goal.parts)
    is_exact = release.shows_exactly or (release.is_crossed and after.identification.smallest == 1)
    rare = rare_values_of(release.groups)
    said = tuple(map(of_rare, rare))  # under the worst case, and not once more
    opening = Opening(
        promised=tuple(part.in_words for part in goal.parts),
        asked=tuple(one.asked for one in goals),
        holds=all(one.holds for one in goals) and (verdict is None or verdict.ok),
        guarantee=method.guarantee,
        found=after.identification,
        shows_exactly=is_exact,
        learnt=after.disclosures,
        rare=rare,
        where="bucket" if release.shows_exactly else "group",
        not_promised=tuple(
            words for words in dict.fromkeys((*cautions, *method.not_promised)) if not words.startswith(said)
        ),
        knowledge=of_knowledge(table),
        leak="" if leak is None or leak.is_proven else brief(leak).removesuffix("."),
    )
    return Report(
        name=name,
        source=source,
        created=created,
        versions=versions or {},
        method=method.name,
        parameters=parameters_of(method),
        guarantee=method.guarantee,
        goals=goals,
        opening=opening,
        files=tuple(files),
        thing=table.thing,
        base_rates=tuple(base_rates(table, goal)),
        cut="" if table.persons is None or table.persons.keep is None else of_cut(table.persons),
        findings=tuple((f.name, f.ok, f.sentence) for f in verdict.findings) if verdict is not None else (),
        cautions=tuple(cautions),
        whom=counted_persons(table, table.n_rows - release.n_suppressed),
        n_rows=table.n_rows,
        n_dropped=table.n_dropped,
        n_suppressed=release.n_suppressed,
        identifiers=table.identifiers,
        columns=tuple(
            _fate(release if column.role is Role.SENSITIVE else rows, column, utility, after.disclosures)
            for column in rows.table.columns
        ),
        least_rows=least_rows,
        before=before,
        after=after,
        uniques=find_uniques(table, alike=alike),
        utility=utility,
        group_sizes=plot_group_sizes(before, after, table.thing),
        distributions=tuple(_distribution(column, expected[column.name], in_bins) for column in rows.table.columns),
        recipe=recipe,
        kind=release.kind,
        levels_tried=levels_of(release, utility),
        leak=None if leak is None else replace(leak, least_rows=least_rows),
        downcoded=downcoded,
    )


def most_rows_of_a_person(table: Table) -> int:
    """The most rows that anybody has."""
    lengths = [int(c.bundles.lengths[c.codes].max(initial=1)) for c in table.sensitive if c.bundles is not None]
    return max(lengths, default=1)


def plot_group_sizes(before: Risk, after: Risk, thing: str = "row") -> Plot:
    """How many rows are in groups of which size, before and after."""
    labels = [size_label(i) for i in range(len(SIZES))]
    shares = [rows_by_size(risk.sizes) / risk.identification.n_rows for risk in (before, after)]
    last = max(i for i in range(len(SIZES)) if shares[0][i] or shares[1][i]) + 1
    return bars_before_and_after(
        labels[:last],
        [float(share) for share in shares[0][:last]],
        [float(share) for share in shares[1][:last]],
        description=f"How many people look alike: share of {thing}s by the size of their group, before and after",
        name="people who look alike",
    )


def rows_by_size(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """(bin of sizes) -> rows in groups of such a size."""
    place = np.searchsorted(SIZES, sizes, side="right") - 1
    return np.bincount(place, sizes, len(SIZES)).astype(np.float64)


def size_label(i: int) -> str:
    """The sizes of a bin, in words."""
    if i + 1 == len(SIZES):
        return f"{SIZES[i]:,}+"
    low, high = SIZES[i], SIZES[i + 1] - 1
    return f"{low}" if low == high else f"{low}–{high}"


def _distribution(column: Column, expected: Any, least_rows: int) -> Distribution:
    bins = bins_of(column, least_rows)
    before, after = bins.count(column.total_of_value), bins.count(expected)
    plot = bars_before_and_after(
        bins.labels,
        [float(share) for share in before / before.sum()],
        [float(share) for share in after / after.sum()],
        description=f"Distribution of {column.name}: share of rows, before and after",
        name=column.name,
        lying=column.kind is Kind.CATEGORY,
    )
    return Distribution(
        column.name,
        str(column.role),
        bins.labels,
        tuple(int(count) for count in before),
        tuple(float(count) for count in after),
        plot,
    )


def _fate(release: Release, column: Column, utility: Utility, learnt: Sequence[AttributeDisclosure]) -> Fate:
    """What became of a column, and so why its cells look as they do."""
    measured = next(one for one in utility.columns if one.name == column.name)
    worst = {one.column: one.worst for one in learnt}.get(column.name)
    became = _became(release, column, measured)
    if worst is not None:
        where = "bucket" if release.shows_exactly else "group"
        became = f"{became}; {of_worst_group(float(worst), release.table.thing, where)}"
    return Fate(column.name, str(column.role), str(column.kind), column.n_values, became)


def _became(release: Release, column: Column, measured: Any) -> str:
    if column.role is Role.SENSITIVE:
        if release.shuffled_rows is not None:
            return "values unchanged but shuffled in their bucket: the value in a row need not be that person's"
        return f"values unchanged, listed by {'bucket' if len(release.table_names) > 1 else 'group'}"
    if measured.certainty_penalty == 0 and measured.precision == 1:
        if release.shows_exactly:
            return "exact: what is protected is the link to sensitive values"
        return "exact in every row, because all rows of each group have the same value"
    if (level := release.level_of(column)) is not None:
        n_levels = 2 if column.hierarchy is None else column.hierarchy.n_levels
        if level == n_levels - 1:
            return "not shown at all: every cell is *"
        return "exact" if level == 0 else f"every cell at level {level} of {n_levels - 1} of its hierarchy"
    exact = _share_exact(release, column)
    shown = {"number": "ranges", "date": "ranges"}.get(str(column.kind))
    shown = shown or ("sets of values" if column.hierarchy is None else "labels of its hierarchy")
    return f"{exact:.0%} of rows show it exactly, the others {shown}".replace("%", " %", 1)


def _share_exact(release: Release, column: Column) -> float:
    position = [known.name for known in release.table.quasi_identifiers].index(column.name)
    least, greatest = release.boxes[position].T
    return float(release.partition.sizes[least == greatest].sum()) / release.table.n_rows


def parameters_of(method: Method) -> str:
    """The method's own parameters, those that differ from what is usual or say something."""
    given = {known.name: getattr(method, known.name) for known in fields(method) if known.name != "goal"}  # type: ignore[arg-type]  # all are dataclasses
    if isinstance(given.get("external"), str):
        given["external"] = Path(given["external"]).name
    return ", ".join(f"{name} = {value}" for name, value in given.items() if value not in (None, (), {}, False))
