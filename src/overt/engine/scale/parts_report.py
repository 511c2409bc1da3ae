# SPDX-License-Identifier: Apache-2.0
"""The public report of a release in parts, counted where the parts are: a function of the published files and of what was decided before.

The parts are read again as texts, by the code that reads tables, as any reader would. Who looks alike is counted from what lines show. Values are
judged within the groups that show the same or, where they stand in a table of their own, within their buckets: whoever looks a person up knows the
bucket of each line that can be theirs, so that the worst bucket bounds the worst case of any person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from overt.audience import Audience
from overt.engine.report_files import left_out_by, recipe_text
from overt.engine.scale.group_measures import MEASURED, GroupMeasures, MeasureGroups
from overt.engine.scale.parts import REPORT
from overt.engine.scale.parts_check import Everything, PublishedParts
from overt.engine.scale.seam import MOST_COUNTED, Data, RowBatch, ScaleEngine, column_of, n_fragments_of
from overt.engine.scale.staging import BUCKET, Staged, stage_table
from overt.io.intake import Intake
from overt.io.manifest import FileRecord, now, versions
from overt.io.recipe.recipe import Recipe
from overt.privacy.base import Property
from overt.release import BucketRelease, CrossBucketRelease, GeneralizedRelease, Release
from overt.report.json import json_of
from overt.report.owner_report import Goal, PublishedFile, rows_by_size
from overt.report.public import SeenInRelease, public_report_of, whose_of
from overt.report.public_html import page_of_public
from overt.table import Codes, Column, Kind

_KINDS: dict[tuple[str, ...], type[Release]] = {
    kind.table_names: kind for kind in (GeneralizedRelease, CrossBucketRelease, BucketRelease)
}
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ByCodes:
    """Rows that agree on these columns go together."""

    names: tuple[str, ...]
    n_fragments: int

    def __call__(self, rows: RowBatch) -> Codes:
        mixed = np.zeros(rows.height, np.uint64)
        for name in self.names:
            mixed = (mixed + column_of(rows, name).astype(np.uint64) + np.uint64(1)) * _GOLDEN
            mixed ^= mixed >> np.uint64(29)
        return (mixed % np.uint64(self.n_fragments)).astype(np.int32)


def kind_of_tables(names: Iterable[str]) -> type[Release]:
    """The kind of the releases that are made of tables with these names."""
    return _KINDS[tuple(names)]


def measure_groups(
    engine: ScaleEngine,
    data: Data,
    names: Sequence[str],
    sensitive: tuple[Column, ...],
    goal: Property | None,
    n_rows: int,
    least: int | None = None,
) -> GroupMeasures:
    """What holds of the rows that agree on some columns."""
    number, measure = (
        ByCodes(tuple(names), n_fragments_of(engine, n_rows)),
        MeasureGroups(tuple(names), sensitive, goal, least),
    )
    needed = engine.only(data, [*names, *(f"s{i}" for i in range(len(sensitive)))])
    found = engine.select(engine.apply(needed, number, measure, MEASURED), Everything(), MEASURED, MOST_COUNTED)
    return GroupMeasures.of(found, [column.name for column in sensitive], goal)


def report_of_parts(
    engine: ScaleEngine, recipe: Recipe, parts: Sequence[PublishedParts], records: Mapping[str, FileRecord]
) -> dict[str, bytes]:
    """The public report of published parts, for people and for programs."""
    method = recipe.method
    kind = kind_of_tables(part.name for part in parts)
    people = _read(engine, recipe, parts[0])
    of_values = people if len(parts) == 1 else _read(engine, recipe, parts[1])
    n_rows = people.n_rows
    found = measure_groups(engine, people.data, people.quasi_names, (), None, n_rows)
    by = people.quasi_names if len(parts) == 1 else (BUCKET,)
    least = None if len(parts) == 1 or kind is BucketRelease else found.least
    judged = measure_groups(engine, of_values.data, by, of_values.sensitive, recipe.goal, n_rows, least)
    seen = SeenInRelease(
        kind=kind.kind,
        shows_people=kind is BucketRelease or (kind is CrossBucketRelease and found.least == 1),
        where="group" if len(parts) == 1 else "bucket",
        n_buckets=None if len(parts) == 1 else judged.n_groups,
        found=found.identification(),
        learnt=tuple(judged.disclosure(c.name, blind_guess_of(c)) for c in of_values.sensitive),
        rare=judged.rare,
        goals=tuple(
            Goal(
                str(part),
                one.described or "cannot be measured on the release alone",
                bool(one.described) and not one.n_broken,
            )
            for part, one in zip(recipe.goal.parts, judged.goals, strict=True)
        ),
        rows_of_size=_rows_by_size(found),
        columns=(*people.quasi_identifiers, *of_values.sensitive),
        whose=whose_of(has_buckets=len(parts) > 1),
    )
    report = public_report_of(
        seen,
        method,
        recipe.goal,
        name=recipe.output_path.name,
        identifiers=recipe.columns_of("identifier"),
        left_out=left_out_by(recipe),
        files=tuple(PublishedFile(name, one.rows, one.sha256) for name, one in records.items()),
        recipe=recipe_text(recipe, Audience.PUBLIC),
        created=f"{now():%Y-%m-%d %H:%M} UTC",
        versions=versions(),
    )
    return dict(zip(REPORT, (page_of_public(report).encode(), json_of(report).encode()), strict=True))


def write_report(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a report into the folder of its release, where a check knows these names."""
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _read(engine: ScaleEngine, recipe: Recipe, part: PublishedParts) -> Staged:
    """The texts of a published table as a table."""
    sensitive = recipe.columns_of("sensitive")
    quasi = recipe.columns_of("quasi-identifier")
    intake = Intake(
        quasi_identifiers=quasi,
        sensitive=sensitive,
        kinds={
            **dict.fromkeys(quasi, Kind.CATEGORY),
            **{n: k for n, k in recipe.choices("kind").items() if n in sensitive},
        },
        hierarchies={name: builder for name, builder in recipe.hierarchies.items() if name in sensitive},
        missing="own value",
        others=(),
    )
    shown = tuple(column.name for column in (*part.quasi, *part.sensitive))
    return stage_table(engine, part.place, intake, coin_names=(), published=shown)


def blind_guess_of(column: Column) -> Fraction:
    """How often guessing the most frequent value is right."""
    return Fraction(int(column.total_of_value.max()), int(column.total_of_value.sum()))


def _rows_by_size(found: GroupMeasures) -> Any:
    rows = [
        rows_by_size(np.array([size])) * n
        for size, n in zip(found.sizes.tolist(), found.n_groups_of_size.tolist(), strict=True)
    ]
    return np.sum(rows, axis=0)
