# SPDX-License-Identifier: Apache-2.0
"""Report: everything that is said about a release, measured once; `html`, `text` and `to_dict` only put it in form.

A report is made by the owner from the original data, so it shows some of them: distributions before and after. It never
shows an identifier, a row, or anything that fewer than `least_rows` rows have (the rule is in `overt.report.bins`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from overt.check import Verdict
from overt.errors import InvalidInput
from overt.markup import Markup
from overt.metrics.alike import rows_alike
from overt.metrics.risk import Risk, risk_of_release, risk_of_table
from overt.metrics.uniques import Uniques, find_uniques
from overt.metrics.utility import Utility, measure_utility
from overt.privacy.base import Property
from overt.release import BucketRelease, CrossBucketRelease, FullDomainRelease, PrivateRelease, Release
from overt.report.bins import bins_of
from overt.report.leak import Leak
from overt.report.plots import Plot, bars_before_and_after
from overt.report.sequence import LevelsTried, levels_of
from overt.table import Column, Kind, Role

LEAST_ROWS = 10  # what fewer rows have is not shown, nor what fewer than k have
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # the least sizes of the bins of group sizes
_REPLAY_WORDS = ("also replays the method", "also knows the method")


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

    source: str  # the name of the file or table
    created: str
    versions: Mapping[str, str]
    method: str
    parameters: str
    against: str
    goals: tuple[Goal, ...]
    findings: tuple[tuple[str, bool, str], ...]
    cautions: tuple[str, ...]
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
    leak: Leak | None = None  # what someone who has the method learns, if it was asked

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
        """Whether the guarantee holds against someone who runs the published method again. Not, if nothing says so."""
        return any(words in self.against for words in _REPLAY_WORDS)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        utility = self.utility
        return {
            "report": 1,  # the version of this format
            "source": self.source,
            "created": self.created,
            "versions": dict(self.versions),
            "method": self.method,
            "parameters": self.parameters,
            "against": self.against,
            "resists_replay": self.resists_replay,
            "holds": self.holds,
            "goal": [asdict(goal) for goal in self.goals],
            "checked": self.is_checked,
            "findings": [{"name": name, "ok": ok, "sentence": text} for name, ok, text in self.findings],
            "cautions": list(self.cautions),
            "rows": self.n_rows,
            "rows_dropped": self.n_dropped,
            "rows_suppressed": self.n_suppressed,
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
    source: str = "the table",
    recipe: str = "",
    created: str = "",
    versions: Mapping[str, str] | None = None,
    leak: Leak | None = None,
) -> Report:
    """Measure a release and put together what there is to say about it; a leak is measured by whoever has one.

    >>> from overt import KAnonymity, Mondrian, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> method = Mondrian(goal=KAnonymity(4))
    >>> report = make_report(method.anonymize(table), goal=method.goal)
    >>> report.resists_replay, report.after.identification.n_unique
    (False, 0)
    """
    if isinstance(release, PrivateRelease):
        raise InvalidInput(
            "A report compares a release with its table, which tells what a private one hides; there is none."
        )
    table = release.table
    method: Any = release.made_by
    least_rows = max(LEAST_ROWS, goal.least_rows)
    utility = measure_utility(release)
    alike = rows_alike(table)
    before, after = risk_of_table(table, alike=alike), risk_of_release(release)
    expected = {column.name: column.expected for column in utility.columns}
    return Report(
        source=source,
        created=created,
        versions=versions or {},
        method=method.name,
        parameters=_parameters(method),
        against=method.against,
        goals=tuple(Goal(str(g), g.describe_measure(release.groups), g.holds(release.groups)) for g in goal.parts),
        findings=tuple((f.name, f.ok, f.sentence) for f in verdict.findings) if verdict is not None else (),
        cautions=tuple(cautions),
        n_rows=table.n_rows,
        n_dropped=table.n_dropped,
        n_suppressed=release.n_suppressed,
        identifiers=table.identifiers,
        columns=tuple(_fate(release, column, utility) for column in table.columns),
        least_rows=least_rows,
        before=before,
        after=after,
        uniques=find_uniques(table, alike=alike),
        utility=utility,
        group_sizes=plot_group_sizes(before, after),
        distributions=tuple(_distribution(column, expected[column.name], least_rows) for column in table.columns),
        recipe=recipe,
        kind=_kind(release),
        levels_tried=levels_of(release, utility),
        leak=None if leak is None else replace(leak, least_rows=least_rows),
    )


def plot_group_sizes(before: Risk, after: Risk) -> Plot:
    """How many rows are in groups of which size, before and after."""
    labels = [_size_label(i) for i in range(len(SIZES))]
    shares = [_rows_by_size(risk) / risk.identification.n_rows for risk in (before, after)]
    last = max(i for i in range(len(SIZES)) if shares[0][i] or shares[1][i]) + 1
    return bars_before_and_after(
        labels[:last],
        [float(share) for share in shares[0][:last]],
        [float(share) for share in shares[1][:last]],
        description="How many people look alike: share of rows by the size of their group, before and after",
        name="people who look alike",
    )


def _rows_by_size(risk: Risk) -> np.ndarray[Any, Any]:
    place = np.searchsorted(SIZES, risk.sizes, side="right") - 1
    return np.bincount(place, risk.sizes, len(SIZES))


def _size_label(i: int) -> str:
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


def _fate(release: Release, column: Column, utility: Utility) -> Fate:
    """What became of a column, and so why its cells look as they do."""
    measured = next(one for one in utility.columns if one.name == column.name)
    return Fate(column.name, str(column.role), str(column.kind), column.n_values, _became(release, column, measured))


def _became(release: Release, column: Column, measured: Any) -> str:
    if column.role is Role.SENSITIVE:
        if isinstance(release, BucketRelease | CrossBucketRelease):
            return "values unchanged, listed by bucket: nothing says which is whose"
        return "values unchanged: nothing says which of a group's values is whose"
    if measured.certainty_penalty == 0 and measured.precision == 1:
        if isinstance(release, BucketRelease):
            return "exact: what is protected is the link to sensitive values"
        return "exact in every row: groups happen to agree on it"
    if isinstance(release, FullDomainRelease):
        level = release.level_of_column[column.name]
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


def _parameters(method: Any) -> str:
    """The method's own parameters, those that differ from what is usual or say something."""
    given = {known.name: getattr(method, known.name) for known in fields(method) if known.name != "goal"}
    return ", ".join(f"{name} = {value}" for name, value in given.items() if value not in (None, (), False))


def _kind(release: Release) -> str:
    match release:
        case BucketRelease():
            return "buckets"
        case CrossBucketRelease():
            return "cross-buckets"
        case _:
            return "generalized"
