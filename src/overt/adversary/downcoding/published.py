# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/downcoding/test_tiers.py
"""What a reader sees of the quasi-identifiers of a release: classes of rows that look alike, and what their cells say.

Which value a row has is used here once, to find out which cells it is published with. Everything else is made from those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overt.adversary.downcoding.bounds import CellItems, CountBounds, Counts
from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy
from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.ordering import bounds_beside, number_lists, sets_of_groups
from overt.partition import Partition
from overt.release import Release
from overt.table import Codes, Column, Kind

FORMS = ("range", "label", "set", "grid", "level", "chosen", "exact")
TIGHT = ("range", "label", "set", "grid")  # whose cells are the smallest that hold the rows


class GroupCells(NamedTuple):
    """The distinct cells of a column, and which one each group shows."""

    items: CellItems
    cell_of_group: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """A column as it is published."""

    column: Column
    form: str
    cells: CellItems  # the items of every distinct cell
    cell_of_class: Codes

    @property
    def width(self) -> Counts:
        """(class) -> how many values its cell covers."""
        first, widths = self.cells.first, self.cells.greatest.astype(np.int64) - self.cells.least + 1
        of_class: Counts = np.add.reduceat(widths, first[:-1])[self.cell_of_class]
        return of_class

    @property
    def is_generalized(self) -> NDArray[np.bool_]:
        """(class) -> whether its cell covers more than one value."""
        covered: NDArray[np.bool_] = self.width > 1
        return covered

    @property
    def hull(self) -> NDArray[np.int64]:
        """(2, class) -> the least and the greatest code of its cell."""
        first = self.cells.first
        ends = np.stack([self.cells.least[first[:-1]], self.cells.greatest[first[1:] - 1]]).astype(np.int64)
        of_class: NDArray[np.int64] = ends[:, self.cell_of_class]
        return of_class


@dataclass(frozen=True, eq=False)
class Published:
    """Classes of rows that show the same cells in all columns."""

    columns: tuple[PublishedColumn, ...]
    n_rows: Counts  # (class)
    class_of_group: Codes

    @classmethod
    def of(cls, release: Release, show: Mapping[str, str] | None = None) -> "Published":
        """What a release shows, if its quasi-identifiers are shown in these forms and otherwise as usual."""
        partition, columns = shown_groups(release), release.table.quasi_identifiers
        forms = [form_of(release, column, (show or {}).get(column.name)) for column in columns]
        return cls.of_cells(
            columns,
            forms,
            [_cells(release, column, partition, form) for column, form in zip(columns, forms, strict=True)],
            partition.sizes,
        )

    @classmethod
    def of_cells(
        cls, columns: Sequence[Column], forms: Sequence[str], cells: Sequence[GroupCells], sizes: Counts
    ) -> "Published":
        """Groups of these sizes; those that show the same are one class."""
        shown = np.stack([one.cell_of_group for one in cells])
        classes, class_of_group = np.unique(shown, axis=1, return_inverse=True)
        n_rows = np.bincount(class_of_group.ravel(), weights=sizes, minlength=classes.shape[1]).astype(np.int64)
        published = tuple(
            PublishedColumn(column, form, one.items, of_class.astype(np.int32))
            for column, form, one, of_class in zip(columns, forms, cells, classes, strict=True)
        )
        return cls(published, n_rows, class_of_group.ravel().astype(np.int32))

    @property
    def n_classes(self) -> int:
        return int(self.n_rows.size)

    def cover(self) -> tuple[CountBounds, ...]:
        """T0: values are among those that cells show, and nothing else is known."""
        return tuple(CountBounds.of(one.cells.covering(), one.cell_of_class, self.n_rows) for one in self.columns)

    def tight(self) -> tuple[CountBounds, ...]:
        """T1: cells are the smallest that hold their rows, so ends are attained."""
        return tuple(CountBounds.of(one.cells, one.cell_of_class, self.n_rows) for one in self.columns)


def shown_groups(release: Release) -> Partition:
    """The rows that are published with the same quasi-identifiers."""
    return Partition.of_columns(release.table.quasi_identifiers) if release.shows_exactly else release.partition


def form_of(release: Release, column: Column, asked: str | None) -> str:
    """How a column of a release is shown."""
    if asked is not None and asked not in TIGHT:
        raise InvalidInput(f"Column {column.name!r} is to be shown as {asked!r}; choose one of {', '.join(TIGHT)}.")
    if release.shows_exactly:
        return "exact"
    if release.is_row_by_row:
        return "chosen"
    if asked is None and release.level_of(column) is not None:
        return "level"
    if (asked or release.form_of(column)) == "grid" and column.kind is not Kind.CATEGORY:
        return form_on_grid(column)
    return usual_form(column) if asked in (None, "grid") else asked


def usual_form(column: Column) -> str:
    """How a quasi-identifier is shown unless something else is asked for."""
    if column.kind is not Kind.CATEGORY:
        return "range"
    return "set" if column.hierarchy is None else "label"


def _cells(release: Release, column: Column, partition: Partition, form: str) -> GroupCells:
    match form:
        case "exact":
            return _exact_cells(column, partition)
        case "level" | "chosen":
            bounds = release.chosen_bounds(column)
            assert bounds is not None
            return chosen_cells(bounds)
        case "range":
            return range_cells(column, partition)
        case "set":
            return set_cells(column, partition)
        case "grid":
            return grid_cells(column, partition)
        case _:
            return label_cells(column, partition)


def _exact_cells(column: Column, partition: Partition) -> GroupCells:
    code = column.codes[partition.rows[partition.starts[:-1]]]
    codes, cell_of_group = np.unique(code, return_inverse=True)
    return GroupCells(CellItems.of([[(c, c, True, False)] for c in codes.tolist()]), cell_of_group)


def chosen_cells(bounds: NDArray[np.int32]) -> GroupCells:
    """Ranges of codes that were not chosen by which rows they hold: a level, or a generalization of one row."""
    cells, cell_of_group = np.unique(bounds, axis=0, return_inverse=True)
    items = [[(least, greatest, True, False)] for least, greatest in cells.tolist()]
    return GroupCells(CellItems.of(items), cell_of_group.ravel())


def range_cells(column: Column, partition: Partition) -> GroupCells:
    """Ranges from the least to the greatest value of the rows, with or without missing."""
    return _ranges_of(column, partition, np.arange(column.n_values, dtype=np.int32))


def grid_cells(column: Column, partition: Partition) -> GroupCells:
    """Ranges of whole blocks of the grid, from the block of the least value to that of the greatest."""
    return _ranges_of(column, partition, block_of_code(column))


def block_of_code(column: Column) -> Codes:
    """(code) -> the number of its block."""
    blocks = blocks_of(column)
    if blocks is None:
        raise InvalidInput(f"Column {column.name!r} has no grid: its ranges can only end at values.")
    return blocks.block_of_code


def _ranges_of(column: Column, partition: Partition, block: Codes) -> GroupCells:
    """Ranges of blocks of neighbouring codes. Both end blocks are occupied."""
    missing = column.missing_code
    if missing is None:
        ends = np.column_stack(
            [bounds_of_groups(column.codes, partition.rows, partition.starts), np.zeros(partition.n_groups)]
        )
    else:
        ends = bounds_beside(column.codes, partition.rows, partition.starts, missing)
    ends = ends.astype(np.int64)
    known = ends[:, 0] >= 0
    ends[:, :2] = np.where(known[:, None], block[np.maximum(ends[:, :2], 0)], -1)
    cells, cell_of_group = np.unique(ends, axis=0, return_inverse=True)
    n_known = column.n_values - (missing is not None)
    first_code = np.searchsorted(block[:n_known], np.arange(block[:n_known].max(initial=-1) + 2))
    items = []
    for low, high, or_missing in cells.tolist():
        one = []
        if low >= 0:
            one.append((first_code[low], first_code[low + 1] - 1, True, False))
        if high > low + 1:
            one.append((first_code[low + 1], first_code[high] - 1, False, False))
        if high > low:
            one.append((first_code[high], first_code[high + 1] - 1, True, False))
        if or_missing or low < 0:
            assert missing is not None
            one.append((missing, missing, True, False))
        items.append(one)
    return GroupCells(CellItems.of(items), cell_of_group.ravel())


def set_cells(column: Column, partition: Partition) -> GroupCells:
    """Sets of the values that the rows have."""
    first, item = sets_of_groups(column.codes, partition.rows, partition.starts)
    number, representatives = number_lists(first, item)
    sets = [item[first[group] : first[group + 1]].tolist() for group in representatives]
    return GroupCells(
        CellItems.of([[(c, c, True, False) for c in codes] for codes in sets]), np.asarray(number, np.int64)
    )


def label_cells(column: Column, partition: Partition) -> GroupCells:
    """Labels of the lowest nodes above the rows; without a hierarchy one value or everything."""
    bounds = bounds_of_groups(column.codes, partition.rows, partition.starts)
    tree = column.hierarchy
    if tree is None:
        node_of_group = np.where(bounds[:, 0] == bounds[:, 1], bounds[:, 0], column.n_values)
        nodes, cell_of_group = np.unique(node_of_group, return_inverse=True)
        return GroupCells(
            CellItems.of([_of_leaf_or_all(node, column.n_values) for node in nodes.tolist()]), cell_of_group
        )
    nodes, cell_of_group = np.unique(tree.common_ancestor(bounds[:, 0], bounds[:, 1]), return_inverse=True)
    return GroupCells(label_items(tree, nodes.tolist()), cell_of_group)


def label_items(tree: Hierarchy, nodes: Sequence[int]) -> CellItems:
    """The labels below each of some labels that are the lowest above their rows: no row may have all under one of them."""
    parent, first, width = tree.parent_of_node, tree.first_leaf_of_node, tree.n_leaves_of_node
    items = []
    for node in nodes:
        children = [node] if node < tree.n_leaves else np.flatnonzero(parent == node).tolist()
        children = sorted(
            (child for child in children if child != node or node < tree.n_leaves), key=lambda c: first[c]
        )
        several = len(children) > 1
        items.append([(first[c], first[c] + width[c] - 1, not several, several) for c in children])
    return CellItems.of(items)


def _of_leaf_or_all(node: int, n_values: int) -> list[tuple[int, int, bool, bool]]:
    if node < n_values:
        return [(node, node, True, False)]
    return [(code, code, False, True) for code in range(n_values)]
