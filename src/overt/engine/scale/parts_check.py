# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""The check of a release in parts: what `overt.checks` finds of files in memory, found by counting.

It shares no code with the methods. The parts are read back from where they were written. Every cell must name values of the original;
the sensitive values must be, one for one, those of the original; the goal is judged of the groups that a reader sees, brought together by
what they show. Of boxes and buckets, every bucket is judged by itself: what is believed of the people of a box is a mixture of
their buckets, and every property that this library knows, if it holds of each, holds of mixtures.

That a line shows what its own row holds is compared where lines are written (`fragment_lines`), since nobody can tell later which row a line was.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks import Claim, Finding, Verdict
from overt.checks.findings import AGAIN
from overt.checks.published_lines import Shared
from overt.checks.reading import Readings, Texts, form_of, read_cells
from overt.checks.verdict import counted
from overt.engine.scale.group_measures import MEASURED, GroupMeasures, MeasureGroups
from overt.engine.scale.seam import (
    MOST_COUNTED,
    NO_CELLS,
    Data,
    RowBatch,
    ScaleEngine,
    TablePlace,
    column_of,
    count_cells,
    dense,
    n_fragments_of,
    require_countable,
)
from overt.engine.scale.staging import Staged
from overt.errors import TooLarge
from overt.hierarchy.texts import texts_of
from overt.privacy.base import Property
from overt.table import Codes, Column

BUCKET = "bucket"
_KEYS = 2
_SUMS = 4


@dataclass(frozen=True, eq=False)
class PublishedParts:
    """A published table: what it is called, where its parts lie, and which columns it should have."""

    name: str
    place: TablePlace
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    has_buckets: bool

    @property
    def is_exact(self) -> bool:
        """Whether quasi-identifiers are shown as they are."""
        return self.name == "quasi-identifiers"

    @property
    def wanted(self) -> list[str]:
        """The names of its columns."""
        bucket = [BUCKET] if self.has_buckets else []
        return [*bucket, *(column.name for column in (*self.quasi, *self.sensitive))]


@dataclass(frozen=True, eq=False)
class ReadLines:
    """Lines as numbers: what they show as two hashes, sensitive values as codes, the bucket, and whether a cell cannot be read."""

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    forms: tuple[str, ...]
    has_buckets: bool
    keys: tuple[int, ...]
    is_exact: bool = False

    @property
    def like(self) -> RowBatch:
        schema: dict[str, Any] = dict.fromkeys(("h0", "h1"), pl.Int64) if self.quasi else {}
        schema |= {f"s{i}": pl.Int32 for i in range(len(self.sensitive))}
        schema |= {BUCKET: pl.Int64} if self.has_buckets else {}
        return pl.DataFrame(schema={**schema, "unreadable": pl.Int32})

    def __call__(self, lines: RowBatch) -> RowBatch:
        unreadable = np.zeros(lines.height, np.int32)
        columns: dict[str, Any] = {}
        if self.quasi:
            shown = np.zeros((_KEYS, lines.height), np.uint64)
            for i, (column, form) in enumerate(zip(self.quasi, self.forms, strict=True)):
                if self.is_exact:
                    alone = Shared.of_column(column, _as_text(lines.get_column(f"q{i}"))).code_of_line
                    unreadable += alone >= column.n_values
                    shown += hash_codes(alone, i, self.keys)
                    continue
                texts = Texts.of(_as_text(lines.get_column(f"q{i}")))
                readings = read_cells(texts.distinct, column, form)
                unreadable += readings.is_unreadable[texts.text_of_line]
                for k, key in enumerate(self.keys[:_KEYS]):
                    shown[k] += _mix(_hash_runs(readings, key) + np.uint64(i), key)[texts.text_of_line]
            columns |= {f"h{k}": of_key.view(np.int64) for k, of_key in enumerate(shown)}
        for i, column in enumerate(self.sensitive):
            shared = Shared.of_column(column, _as_text(lines.get_column(f"s{i}")))
            unreadable += shared.code_of_line >= column.n_values
            columns[f"s{i}"] = np.minimum(shared.code_of_line, column.n_values - 1).astype(np.int32)
        if self.has_buckets:
            bucket = lines.get_column(BUCKET).cast(pl.Int64, strict=False).fill_null(0).to_numpy()
            unreadable += bucket < 1
            columns[BUCKET] = np.maximum(bucket, 0)
        return pl.DataFrame({**columns, "unreadable": unreadable}, schema=self.like.schema)


def _as_text(cells: pl.Series) -> pl.Series:
    texts = texts_of(cells)
    return pl.select(pl.when(texts != "").then(texts)).to_series()


def _mix(numbers: NDArray[np.uint64], key: int) -> NDArray[np.uint64]:
    """Numbers that tell nothing of one another, from others and a key (splitmix64)."""
    mixed = (numbers + np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def hash_codes(codes: Codes, i: int, keys: tuple[int, ...]) -> NDArray[np.uint64]:
    """(key, row) -> what a cell of column i that shows one value adds to the number of what its line shows."""
    runs = codes.astype(np.uint64) << np.uint64(32) | codes.astype(np.uint64)
    return np.stack([_mix(_mix(runs, key) + np.uint64(i), key) for key in keys[:_KEYS]])


@dataclass(frozen=True)
class SumOfRows:
    """Sums over rows of secret functions of what they show: equal for two tables only if the same is shown as often in both."""

    names: tuple[str, ...]  # of codes; of the quasi-identifiers of lines, whose numbers are known already, none
    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        sums = np.zeros(_SUMS, np.int64)
        for rows in batches:
            if self.names:
                shown = np.zeros((_KEYS, rows.height), np.uint64)
                for i, name in enumerate(self.names):
                    shown += hash_codes(column_of(rows, name), i, self.keys)
            else:
                shown = np.stack([column_of(rows, f"h{k}").view(np.uint64) for k in range(_KEYS)])
            both = shown[0] + (shown[1] << np.uint64(1))
            sums += [int((_mix(both, key) >> np.uint64(34)).sum()) for key in self.keys[_KEYS:]]
        yield pl.DataFrame({"cell": np.arange(_SUMS), "n": sums}, schema=NO_CELLS.schema)


def _hash_runs(readings: Readings, key: int) -> NDArray[np.uint64]:
    """(text) -> a number that depends on which codes it covers."""
    runs = readings.least.astype(np.uint64) << np.uint64(32) | readings.greatest.astype(np.uint64)
    total = np.append(np.uint64(0), np.cumsum(_mix(runs, key), dtype=np.uint64))
    return total[readings.first[1:]] - total[readings.first[:-1]]


@dataclass(frozen=True)
class ByHash:
    """Lines that show the same go together."""

    column: str
    n_fragments: int

    def __call__(self, rows: RowBatch) -> Codes:
        return (column_of(rows, self.column).view(np.uint64) % np.uint64(self.n_fragments)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class MeasureBuckets(MeasureGroups):
    """The measures of the buckets of one fragment, and the greatest number of a bucket."""

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        greatest = [("bucket", 0, f"{int(column_of(rows, BUCKET).max())}")]
        numbered = pl.DataFrame(greatest, schema=MEASURED.schema, orient="row")
        return pl.concat([super().__call__(fragment, rows), numbered])


@dataclass(frozen=True)
class Everything:
    """Choose all rows."""

    def __call__(self, rows: RowBatch) -> RowBatch:
        return rows


@dataclass(frozen=True, eq=False)
class Judgement:
    """What holds of all groups."""

    groups: GroupMeasures
    greatest_bucket: int

    @classmethod
    def of(cls, engine: ScaleEngine, lines: Data, by: str, judge: MeasureGroups, n_lines: int) -> "Judgement":
        """Bring the lines that agree together, and judge them."""
        number = ByHash(by, n_fragments_of(engine, n_lines))
        needed = engine.only(lines, [*judge.names, *(f"s{i}" for i in range(len(judge.sensitive)))])
        found = engine.select(engine.apply(needed, number, judge, MEASURED), Everything(), MEASURED, MOST_COUNTED)
        names = [column.name for column in judge.sensitive]
        buckets = found.filter(pl.col("what") == "bucket").get_column("numbers").cast(pl.Int64)
        return cls(GroupMeasures.of(found, names, judge.goal), int(buckets.max() or 0))  # type: ignore[arg-type]


@dataclass(frozen=True)
class IsUnreadable:
    """Whether a line has a cell that cannot be read."""

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        return (column_of(rows, "unreadable") > 0).astype(np.int64)


@dataclass(frozen=True)
class EachCode:
    """Of every row a cell for its value of each of these columns."""

    names: tuple[str, ...]
    offset: tuple[int, ...]

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        of_columns = zip(self.names, self.offset, strict=True)
        return np.concatenate([column_of(rows, name).astype(np.int64) + offset for name, offset in of_columns])


@dataclass(frozen=True)
class CountTuples:
    """How often every combination of some codes occurs, each known by a secret function of it."""

    names: tuple[str, ...]
    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counted = NO_CELLS
        for rows in batches:
            mixed = sum(
                (hash_codes(column_of(rows, n), i, self.keys)[0] for i, n in enumerate(self.names)), np.uint64(0)
            )
            here = (
                pl.DataFrame({"cell": np.asarray(mixed, np.uint64).view(np.int64)})
                .group_by("cell")
                .agg(n=pl.len().cast(pl.Int64))
            )
            counted = pl.concat([counted, here]).group_by("cell").agg(pl.col("n").sum())
            require_countable(counted.height)
        yield counted


@dataclass(frozen=True)
class SumOfBuckets:
    """Sums over lines of secret functions of the bucket: equal for two tables only if every bucket has as many lines in both."""

    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        sums = np.zeros(len(self.keys), np.int64)
        for rows in batches:
            bucket = column_of(rows, BUCKET).astype(np.uint64)
            sums += [int((_mix(bucket, key) >> np.uint64(34)).sum()) for key in self.keys]
        yield pl.DataFrame({"cell": np.arange(len(self.keys)), "n": sums}, schema={"cell": pl.Int64, "n": pl.Int64})


@dataclass(frozen=True, eq=False)
class MeasuredParts:
    """What was measured of a release: of the people who look alike, and of the groups or buckets whose values are shown together."""

    people: GroupMeasures
    values: GroupMeasures


def check_parts(
    engine: ScaleEngine,
    tables: Sequence[PublishedParts],
    claim: Claim,
    original: Staged,
) -> tuple[Verdict, MeasuredParts | None]:
    """Decide whether the parts of a release are what they claim to be, of a staged table."""
    n_rows = original.n_rows
    layout = [_find_columns(engine, table) for table in tables]
    faulty = next((finding for finding in layout if not finding.ok), None)
    if faulty is not None:
        return Verdict((faulty,)), None
    keys = tuple(secrets.randbits(64) for _ in range(_KEYS + _SUMS))
    lines, n_lines, n_unreadable = {}, {}, {}
    for table in tables:
        forms = tuple(form_of(column, claim.show.get(column.name)) for column in table.quasi)
        read = ReadLines(table.quasi, table.sensitive, forms, table.has_buckets, keys, table.is_exact)
        names = {BUCKET: BUCKET} if table.has_buckets else {}
        names |= {f"q{i}": column.name for i, column in enumerate(table.quasi)}
        names |= {f"s{i}": column.name for i, column in enumerate(table.sensitive)}
        lines[table.name] = engine.stage(engine.open(table.place, names), read, read.like)
        fine, unreadable = count_cells(engine, lines[table.name], IsUnreadable(), 2).tolist()
        n_lines[table.name], n_unreadable[table.name] = fine + unreadable, unreadable
    findings = [layout[0], _find_rows(n_lines, claim, n_rows), _find_cells(n_unreadable)]
    if not all(finding.ok for finding in findings):
        return Verdict(tuple(findings)), None
    of_values = next(table for table in tables if table.sensitive or len(tables) == 1)
    if of_values.sensitive:
        findings.append(_find_values(lines[of_values.name], original, n_rows - claim.n_rows, keys))
    people = tables[0]
    if len(tables) == 1:
        seen = Judgement.of(
            engine, lines[people.name], "h0", MeasureGroups(("h0", "h1"), people.sensitive, claim.goal), claim.n_rows
        )
        findings.append(_find_goal(claim.goal, seen.groups, "group"))
        return Verdict(tuple(findings)), MeasuredParts(seen.groups, seen.groups)
    sums = [
        engine.histogram(
            lines[table.name], SumOfBuckets(keys[_KEYS:]), pl.DataFrame(schema={"cell": pl.Int64, "n": pl.Int64})
        )
        .sort("cell")
        .get_column("n")
        .to_list()
        for table in tables
    ]
    findings.append(_find_buckets(sums[0] == sums[1]))
    boxes = Judgement.of(engine, lines[people.name], "h0", MeasureGroups(("h0", "h1"), (), None), claim.n_rows)
    if people.is_exact:
        shown = _sums(engine, lines[people.name], (), keys)
        findings.append(_find_people(shown == _sums(engine, original.data, original.quasi_names, keys)))
    box_size = None if people.is_exact else boxes.groups.least
    measure = MeasureBuckets((BUCKET,), of_values.sensitive, claim.goal, box_size)
    buckets = Judgement.of(engine, lines[of_values.name], BUCKET, measure, claim.n_rows)
    if buckets.greatest_bucket != buckets.groups.n_groups:
        findings.append(
            Finding("buckets", False, f"The buckets are not numbered from 1 to {buckets.groups.n_groups:,}. {AGAIN}")
        )
    findings.append(_find_goal(claim.goal, buckets.groups, "bucket"))
    return Verdict(tuple(findings)), MeasuredParts(boxes.groups, buckets.groups)


def _find_columns(engine: ScaleEngine, table: PublishedParts) -> Finding:
    there = list(engine.columns(table.place))
    if sorted(there) != sorted(table.wanted):
        missing = [name for name in table.wanted if name not in there]
        unasked = [name for name in there if name not in table.wanted]
        faults = [f"lacks {', '.join(map(repr, missing))}"] * bool(missing)
        faults += [f"shows {', '.join(map(repr, unasked))}, which nobody asked for"] * bool(unasked)
        return Finding("columns", False, f"The table {table.name!r} {'; it '.join(faults)}. {AGAIN}")
    return Finding("columns", True, "The release shows the columns of the recipe and nothing else.")


def _find_rows(n_lines: Mapping[str, int], claim: Claim, n_rows: int) -> Finding:
    for n in n_lines.values():
        if n != claim.n_rows or n > n_rows:
            return Finding(
                "rows",
                False,
                f"The release has {counted(n, 'row')}, and of this data it should have {claim.n_rows:,}. {AGAIN}",
            )
    return Finding("rows", True, f"The release has {counted(claim.n_rows, 'row')}, as claimed.")


def _find_cells(n_unreadable: Mapping[str, int]) -> Finding:
    n = sum(n_unreadable.values())
    if n:
        return Finding(
            "cells",
            False,
            f"{counted(n, 'line')} cannot be read: no value, range, set or label of the original is written there. {AGAIN}",
        )
    return Finding("cells", True, "Every cell names values of the original.")


def _find_values(lines: Data, original: Staged, n_suppressed: int, keys: tuple[int, ...]) -> Finding:
    """Whether the sensitive values are those of the original: of each column by counts, and those of one row together by sums over rows."""
    engine, names = original.engine, original.sensitive_names
    n_wrong = 0
    for some in _countable_together(original.sensitive):
        known = np.concatenate([original.sensitive[j].total_of_value for j in some])
        sizes = [original.sensitive[j].n_values for j in some]
        offset = tuple(np.append(0, np.cumsum(sizes)[:-1]).tolist())
        found = count_cells(engine, lines, EachCode(tuple(names[j] for j in some), offset), sum(sizes))
        n_wrong += int(np.maximum(found - known, 0).sum() if n_suppressed else np.abs(found - known).sum())
    if n_wrong:
        return Finding(
            "truth",
            False,
            f"The sensitive values of the release are not those of the original: {n_wrong:,} too many or too few. {AGAIN}",
        )
    together = _are_together(lines, original, n_suppressed, keys) if len(names) > 1 else True
    if together is False:
        return Finding(
            "truth",
            False,
            f"Each sensitive column has the values of the original, but not those that belong together in one line. {AGAIN}",
        )
    words = "The sensitive values of the release are, one for one, those of the original."
    if n_suppressed:
        words = f"The sensitive values of the release are those of the original but for {counted(n_suppressed, 'row')}."
    if together is None:
        words += f" Not checked: which values belong together in one line, since there are more than {MOST_COUNTED:,} combinations of them."
    return Finding("truth", True, words)


def _are_together(lines: Data, original: Staged, n_suppressed: int, keys: tuple[int, ...]) -> bool | None:
    """Whether values that are in one line are in one row of the original; None if that would be too much to count."""
    engine, names = original.engine, original.sensitive_names
    if not n_suppressed:
        return _sums(engine, lines, names, keys) == _sums(engine, original.data, names, keys)
    count = CountTuples(names, keys)
    try:
        found, known = (engine.histogram(of, count, NO_CELLS) for of in (lines, original.data))
    except TooLarge:
        return None
    both = found.join(known, on="cell", how="left")
    return bool((both.get_column("n") <= both.get_column("n_right").fill_null(0)).all())


def _countable_together(columns: Sequence[Column]) -> list[list[int]]:
    """The places of columns, in groups whose values can be counted at once."""
    groups: list[list[int]] = []
    n_values = MOST_COUNTED
    for j, column in enumerate(columns):
        if n_values + column.n_values > MOST_COUNTED:
            groups.append([])
            n_values = 0
        groups[-1].append(j)
        n_values += column.n_values
    return groups


def _sums(engine: ScaleEngine, data: Data, names: tuple[str, ...], keys: tuple[int, ...]) -> list[int]:
    found: list[int] = dense(engine.histogram(data, SumOfRows(names, keys), NO_CELLS), _SUMS).tolist()
    return found


def _find_people(agree: bool) -> Finding:
    if not agree:
        return Finding("people", False, f"The quasi-identifiers of the release are not those of the original. {AGAIN}")
    return Finding("people", True, "The quasi-identifiers of the release are, line for line, those of the original.")


def _find_buckets(agree: bool) -> Finding:
    if not agree:
        return Finding("buckets", False, f"The two tables differ in the sizes of their buckets. {AGAIN}")
    return Finding("buckets", True, "Both tables have the same buckets, of the same sizes.")


def _find_goal(goal: Property, seen: GroupMeasures, called: str) -> Finding:
    measured = f"measured: {seen.described}"
    if seen.n_broken:
        return Finding(
            "goal",
            False,
            f"{goal} is broken by {seen.n_broken:,} of {counted(seen.n_groups, called)} ({measured}). {AGAIN}",
        )
    return Finding("goal", True, f"{goal} holds in {counted(seen.n_groups, called)} ({measured}).")
