# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Full-domain generalization at scale: one pass counts the combinations of quasi-identifiers that occur, and the search works on these counts.

What a node reaches and costs is a function of how often each combination occurs with each sensitive value
(`overt.algorithms.full_domain.rolling`), whoever counted them: the search is that of one machine, and so are its node and the rows that it
suppresses. The driver holds the combinations, at most so many as may be counted at once, and never rows; a table with more is refused.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.algorithms.full_domain.rolling import LARGEST_KEY, DistinctRows, RolledRows
from overt.engine.scale.fragment_lines import ShownLines, as_lines, order_lines
from overt.engine.scale.groups_by_cuts import like_of
from overt.engine.scale.made_tables import MadeGroups, MadeTables
from overt.engine.scale.scaled_methods import ChoosesNode
from overt.engine.scale.seam import RowBatch, codes_of, column_of, count_cells, n_fragments_of
from overt.engine.scale.staging import Staged, with_codes
from overt.errors import TooLarge
from overt.io.encoding import values_as_came
from overt.io.own_content import in_own_type
from overt.kernels.counting import starts_of
from overt.lattice import Lattice, Search, nodes_of_levels
from overt.method import Method
from overt.partition import Groups, Histogram, Partition
from overt.progress import Progress
from overt.release import FullDomainRelease, Release
from overt.table import Codes, Column, Table

_ALL = -1  # the sensitive column of counts that look at none
_AT_ONCE = 1 << 20  # counted lines that wait to be added up


@dataclass(frozen=True)
class PackedKeys:
    """Several codes as few numbers of 64 bits."""

    names: tuple[str, ...]
    n_codes: tuple[int, ...]

    @property
    def parts(self) -> list[list[int]]:
        """(key) -> the columns in it."""
        parts: list[list[int]] = []
        n_keys = LARGEST_KEY
        for j, n in enumerate(self.n_codes):
            if n_keys * n >= LARGEST_KEY:
                parts.append([])
                n_keys = 1
            parts[-1].append(j)
            n_keys *= n
        return parts

    def keys(self, codes: Sequence[NDArray[Any]] | NDArray[Any]) -> dict[str, NDArray[np.int64]]:
        """The keys of rows with these codes of each column."""
        found = {}
        for i, part in enumerate(self.parts):
            key = np.zeros(len(codes[0]), np.int64)
            for j in part:
                key = key * self.n_codes[j] + codes[j]
            found[f"key{i}"] = key
        return found

    def codes(self, counted: RowBatch) -> Codes:
        """(row, column) -> code."""
        codes = np.empty((counted.height, len(self.n_codes)), np.int32)
        for i, part in enumerate(self.parts):
            left = column_of(counted, f"key{i}")
            for j in reversed(part):
                left, codes[:, j] = np.divmod(left, self.n_codes[j])
        return codes


@dataclass(frozen=True, eq=False)
class CountCombinations:
    """How often every combination of quasi-identifiers occurs, and how often with each value of each sensitive column."""

    packed: PackedKeys
    sensitive: tuple[str, ...]

    @property
    def like(self) -> RowBatch:
        keys = {f"key{i}": pl.Int64 for i in range(len(self.packed.parts))}
        return pl.DataFrame(schema={**keys, "column": pl.Int32, "value": pl.Int32, "n": pl.Int64})

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        waiting, n_waiting = [self.like], 0
        for rows in batches:
            keys = pl.DataFrame(self.packed.keys(codes_of(rows, self.packed.names)))
            for j, name in [(_ALL, None), *enumerate(self.sensitive)]:
                value = pl.lit(0, pl.Int32) if name is None else rows.get_column(name)
                of_column = keys.with_columns(pl.lit(j, pl.Int32).alias("column"), value.alias("value"))
                waiting.append(of_column.group_by(pl.all()).agg(n=pl.len().cast(pl.Int64)))
                n_waiting += waiting[-1].height
            if n_waiting > max(_AT_ONCE, 2 * waiting[0].height):
                waiting, n_waiting = [_added(waiting)], 0
        yield _added(waiting)


def _added(counted: Sequence[RowBatch]) -> RowBatch:
    return pl.concat(counted).group_by(pl.exclude("n")).agg(pl.col("n").sum())


def count_combinations(staged: Staged, *, with_values: bool) -> DistinctRows:
    """The distinct rows of a staged table."""
    columns = staged.quasi_identifiers
    packed = PackedKeys(staged.quasi_names, tuple(column.n_values for column in columns))
    sensitive = staged.sensitive if with_values else ()
    count = CountCombinations(packed, staged.sensitive_names if with_values else ())
    try:
        found = staged.engine.histogram(staged.data, count, count.like)
    except TooLarge as error:
        raise TooLarge(
            f"full-domain counts the combinations of quasi-identifiers that occur. {error} Or use mondrian or blind-buckets, which need no such counts."
        ) from None
    keys = [name for name in found.columns if name.startswith("key")]
    everyone = found.filter(pl.col("column") == _ALL).sort(keys)
    numbered = everyone.select(*keys, pl.int_range(pl.len(), dtype=pl.Int64).alias("distinct"))
    histograms = {}
    for j, column in enumerate(sensitive):
        of_column = found.filter(pl.col("column") == j).join(numbered, on=keys, how="left").sort("distinct", "value")
        n_of_distinct = np.bincount(column_of(of_column, "distinct"), minlength=everyone.height)
        histograms[column.name] = Histogram(
            starts_of(n_of_distinct),
            column_of(of_column, "value").astype(np.int32),
            column_of(of_column, "n").copy(),
            column.total_of_value,
            None if column.hierarchy is None else column.hierarchy.node_of_leaf,
            None,
            column.values,
        )
    return DistinctRows(packed.codes(everyone), Groups(column_of(everyone, "n").copy(), histograms))


@dataclass(frozen=True, eq=False)
class NodeGroups:
    """The group of every row at a node, as keys; and which of the groups are suppressed."""

    packed: PackedKeys
    rank_of_code: tuple[Codes, ...]  # (column, code)
    suppressed: RowBatch  # keys

    def keys(self, rows: RowBatch) -> RowBatch:
        """The keys of the groups of rows."""
        codes = codes_of(rows, self.packed.names)
        return pl.DataFrame(self.packed.keys([rank[code] for rank, code in zip(self.rank_of_code, codes, strict=True)]))

    def kept(self, rows: RowBatch) -> NDArray[np.bool_]:
        """Which rows are published."""
        keys = self.keys(rows)
        if not self.suppressed.height:
            return np.ones(rows.height, np.bool_)
        gone = self.suppressed.with_columns(pl.lit(True).alias("gone"))
        found = keys.join(gone, on=keys.columns, how="left", maintain_order="left")
        return found.get_column("gone").is_null().to_numpy()


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """The values of a sensitive column in the rows that are published."""

    groups: NodeGroups
    name: str

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        return column_of(rows, self.name)[self.groups.kept(rows)].astype(np.int64)


@dataclass(frozen=True, eq=False)
class FragmentOfGroup:
    """Rows of one group go together."""

    groups: NodeGroups
    n_fragments: int

    def __call__(self, rows: RowBatch) -> Codes:
        mixed = np.zeros(rows.height, np.uint64)
        for key in self.groups.keys(rows):
            mixed = (mixed + key.to_numpy().view(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        return (mixed % np.uint64(self.n_fragments)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class PublishLevels:
    """The lines of one fragment, each column at one level."""

    groups: NodeGroups
    levels: tuple[int, ...]
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    lines: ShownLines
    search: Search

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        rows = rows.filter(self.groups.kept(rows))
        if not rows.height:
            return like_of(self.lines)
        quasi = with_codes(self.quasi, codes_of(rows, self.groups.packed.names))
        values = [column_of(rows, f"s{i}") for i in range(len(self.sensitive))]
        sensitive = [replace(c, codes=of.copy()) for c, of in zip(self.sensitive, values, strict=True)]
        number = _numbered(self.groups.keys(rows))
        groups = Partition(number, int(number.max()) + 1)
        cells = self.lines.at_levels(quasi, groups, self.levels)
        order = order_lines([*(c.cell_of_group[groups.group_of_row] for c in cells), *(c.codes for c in sensitive)])
        shown = as_lines(cells, quasi, groups.group_of_row[order])
        shown |= {column.name: self.lines.values(column, column.codes[order]) for column in sensitive}
        return self.lines.frame(shown)

    def release(self, fragment: int, rows: RowBatch, made_by: Method) -> Release:
        """The fragment as a release of its own, with the rows that are suppressed."""
        quasi, kept = with_codes(self.quasi, codes_of(rows, self.groups.packed.names)), self.groups.kept(rows)
        number = np.full(rows.height, -1, np.int32)
        number[kept] = _numbered(self.groups.keys(rows.filter(kept)))
        groups = Partition(number, int(number.max(initial=-1)) + 1)
        return FullDomainRelease(Table(quasi, pl.DataFrame()), groups, made_by, self.levels, self.search)


def _numbered(keys: RowBatch) -> Codes:
    """(row) -> the number of its keys."""
    rank = keys.select(pl.struct(pl.all()).rank("dense").cast(pl.Int32)).to_series().to_numpy()
    return (rank - 1).astype(np.int32)


def make_groups_by_levels(staged: Staged, method: ChoosesNode, lines: ShownLines, on_progress: Progress) -> MadeTables:
    """The release of full-domain generalization."""
    begin = time.monotonic()
    on_progress("Counting combinations", 0, 0)
    distinct = count_combinations(staged, with_values=method.goal.looks_at_values)
    rows = RolledRows(staged.table(), distinct=distinct)
    best, search = method.search(rows, begin, on_progress)
    columns = staged.quasi_identifiers
    ranks = tuple(_ranks(column, level) for column, level in zip(columns, best.node, strict=True))
    packed = PackedKeys(staged.quasi_names, tuple(int(rank.max()) + 1 for rank in ranks))
    of_groups = distinct.codes[best.rolled.representative[best.broken]]
    suppressed = pl.DataFrame(packed.keys([rank[of_groups[:, j]] for j, rank in enumerate(ranks)]))
    groups = NodeGroups(packed, ranks, suppressed)
    if suppressed.height:
        lines = replace(lines, types=_types_of_published(staged, groups))
    n_fragments = n_fragments_of(staged.engine, staged.n_rows)
    briefly = replace(search, state_of_node=None)  # the states of all nodes need not travel
    publish = PublishLevels(groups, best.node, columns, staged.sensitive, lines, briefly)
    fragment_of = FragmentOfGroup(groups, n_fragments)
    levels = dict(zip(Lattice.of(columns).columns, best.node, strict=True))
    of_top = zip(levels.items(), search.lattice.top, strict=True)
    return MadeTables(
        {"release": staged.engine.apply(staged.data, fragment_of, publish, like_of(lines))},
        n_fragments,
        n_suppressed=best.n_suppressed,
        remarks={"Levels": ", ".join(f"{n} {level} of {top}" for (n, level), top in of_top), "Search": f"{search}"},
        levels=levels,
        groups=MadeGroups(staged.engine.only(staged.data, staged.quasi_names), fragment_of, publish.release),
    )


def _types_of_published(staged: Staged, groups: NodeGroups) -> dict[str, pl.DataType]:
    """(sensitive column) -> the type of what is published of it, where no source declares one: suppressed rows have no say in it."""
    types, table = {}, staged.table()
    for column, name in zip(staged.sensitive, staged.sensitive_names, strict=True):
        values = values_as_came(column).alias(column.name)
        if in_own_type(values.clear(), table).dtype != values.dtype:  # it could be another
            n_rows_of_value = count_cells(staged.engine, staged.data, PublishedValues(groups, name), column.n_values)
            types[column.name] = in_own_type(values.gather(np.flatnonzero(n_rows_of_value)), table).dtype
    return types


def _ranks(column: Column, level: int) -> Codes:
    """(code) -> its node at a level, numbered from 0."""
    return np.unique(nodes_of_levels(column)[level], return_inverse=True)[1].astype(np.int32)
