# SPDX-License-Identifier: Apache-2.0
"""Outcome: what a run achieved, at what cost, and what its owner should know before publishing it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.check import Verdict
from overt.io.database.address import TableName
from overt.privacy import FrequencyLDiversity
from overt.privacy.base import Property, SensitiveProperty
from overt.release import BucketRelease, RecordRelease, Release
from overt.report.leak import Leak, brief


@dataclass(frozen=True)
class Held:
    """A property that holds of a release, and the best parameter that does."""

    name: str
    asked: str
    reached: str


@dataclass(frozen=True)
class Outcome:
    """What `overt run` reports; `files` is empty if the check failed, because then nothing is written."""

    method: str
    n_rows: int
    n_dropped: int
    n_suppressed: int
    n_groups: int
    holds: tuple[Held, ...]
    against: str
    average_group_size: float
    discernibility: int
    cautions: tuple[str, ...]
    remarks: Mapping[str, str]
    verdict: Verdict
    input_path: Path | str  # of data in a database, the reference to it
    files: Mapping[str, Path | TableName]
    manifest_path: Path
    report_paths: tuple[Path, ...] = ()
    leak: Leak | None = None  # what someone who has the method learns; None if it was not asked

    @classmethod
    def of(
        cls,
        release: Release,
        tables: Mapping[str, pl.DataFrame],
        goal: Property,
        verdict: Verdict,
        *,
        others: tuple[str, ...],
        warned: tuple[str, ...],
        input_path: Path | str,
        files: Mapping[str, Path | TableName],
        manifest_path: Path,
        report_paths: tuple[Path, ...] = (),
        leak: Leak | None = None,
    ) -> "Outcome":
        """Measure a release that was made for a goal and is published as these tables."""
        method: Any = release.made_by
        sizes = group_sizes(release, tables)
        return cls(
            method=method.name,
            n_rows=release.table.n_rows,
            n_dropped=release.table.n_dropped,
            n_suppressed=release.n_suppressed,
            n_groups=sizes.size,
            holds=tuple(Held(part.name, str(part), part.describe_measure(release.groups)) for part in goal.parts),
            against=method.against,
            average_group_size=float(sizes.mean()),
            discernibility=int((sizes * sizes).sum()) + release.n_suppressed * release.table.n_rows,
            cautions=(*warned, *find_cautions(release, goal, others)),
            remarks=release.remarks,
            verdict=verdict,
            input_path=input_path,
            files=files,
            manifest_path=manifest_path,
            report_paths=report_paths,
            leak=leak,
        )

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain values, for programs."""
        found = self.leak and self.leak.audit
        return {
            "method": self.method,
            "rows": self.n_rows,
            "rows_dropped": self.n_dropped,
            "rows_suppressed": self.n_suppressed,
            "groups": self.n_groups,
            "goal": [{"property": held.name, "asked": held.asked, "reached": held.reached} for held in self.holds],
            "against": self.against,
            "average_group_size": self.average_group_size,
            "discernibility": self.discernibility,
            "cautions": list(self.cautions),
            "remarks": dict(self.remarks),
            **findings_of(self.verdict),
            "files": {name: str(path) for name, path in self.files.items()},
            "manifest": str(self.manifest_path) if self.files else None,
            "report": [str(path) for path in self.report_paths],
            "leak": None if self.leak is None else {"sentence": brief(self.leak), "audit": found and found.to_dict()},
        }


def group_sizes(release: Release, tables: Mapping[str, pl.DataFrame]) -> NDArray[np.int64]:
    """The sizes of groups as a reader sees them: two groups of a method that show the same are one."""
    if "release" not in tables:
        return release.partition.sizes
    shown = tables["release"].select(column.name for column in release.table.quasi_identifiers)
    is_first = (
        shown.select(pl.any_horizontal(pl.all().ne_missing(pl.all().shift()))).to_series().to_numpy(writable=True)
    )
    is_first[:1] = True  # rows are sorted by what they show
    return np.diff(np.append(np.flatnonzero(is_first), is_first.size))


def findings_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    findings = [{"name": f.name, "ok": f.ok, "sentence": f.sentence} for f in verdict.findings]
    return {"ok": verdict.ok, "findings": findings}


def find_cautions(release: Release, goal: Property, others: tuple[str, ...]) -> Iterator[str]:
    """What a release does not protect from, as far as its owner could overlook it."""
    yield from release.cautions
    if goal.caution:
        yield goal.caution
    looked_at = {part.column for part in goal.parts if isinstance(part, SensitiveProperty)}
    for name, histogram in release.groups.histograms.items():
        if None in looked_at or name in looked_at:
            continue
        n_alike = int((np.diff(histogram.first) == 1).sum())
        share = 1 / Fraction(FrequencyLDiversity(1, column=name).measure(release.groups))
        yield (
            f"The goal does not look at {name!r}: in {n_alike:,} of {release.n_groups:,} groups everyone has the same "
            f"value, and in the worst group one value has {float(share):.0%} of the rows. Add l-diversity for it."
        )
    if others:
        names = ", ".join(map(repr, others))
        yield f"Released as they are, and no part of any guarantee: {names}. Whoever knows them may find people by them."
    if isinstance(release, RecordRelease) and release.n_groups:
        n_alone = int((release.partition.sizes == 1).sum())
        kept = release.partition.rows  # what became of suppressed rows is no generalization
        yield (
            f"Every row is weighed by itself (mean risk {release.risk_of_row[kept].mean():.4g}, at worst "
            f"{release.risk_of_row[kept].max():.4g}; mean utility {release.utility_of_row[kept].mean():.4g}; by {release.solver}). Nothing "
            f"is promised of groups, and {n_alone:,} rows look like no other."
        )
    if isinstance(release, BucketRelease):
        yield "Quasi-identifiers are published exactly: anyone who knows a person's can see that the person is in the table."
