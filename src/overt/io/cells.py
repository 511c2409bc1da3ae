# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_publication.py
"""Published cells: which text a group shows in a column. Every distinct text is written once.

One value is its text, a range `20..35` (on a grid, `20..39`), a set `{a, b}`, an inner node of a hierarchy its label, all values that are
published `*`. Missing alone is an empty cell; with others it is `20..35 or missing`, or the last member of a set. A category's
own text stands in double quotes, as a JSON string, wherever it could be taken for something else.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.hierarchy.texts import texts_of
from overt.kernels.boxes import bounds_of_groups
from overt.kernels.ordering import bounds_beside, masks_of_groups, number_lists, order_of_lists, sets_of_groups
from overt.partition import Partition
from overt.table import Codes, Column, Kind

_NOTHING_BUT_TYPE = r"(\.0|T00:00:00\.0+)$"
_COULD_BE_MISREAD = r'^$|^\*$|^missing$| or missing$|\.\.|["{},]|^\s|\s$'


@dataclass(frozen=True, eq=False)
class Cells:
    """What every group shows in a column: `texts[cell_of_group[g]]`. Cells are numbered in the order of their codes."""

    texts: pl.Series  # distinct; a null is an empty cell
    cell_of_group: Codes

    @property
    def n_cells(self) -> int:
        return len(self.texts)


def cells_of(column: Column, partition: Partition, show: str | None) -> Cells:
    """What the groups show in a quasi-identifier: a "range", a "label", a "set", a "grid", or what is usual for the column."""
    if show is None:
        show = usual_form(column)
    if show not in _FORMS:
        raise InvalidInput(f"Column {column.name!r} is to be shown as {show!r}; choose one of {', '.join(_FORMS)}.")
    if show == "grid":
        show = form_on_grid(column)
    return _distinct(*_FORMS[show](column, partition))


def _distinct(texts: pl.Series, cell_of_group: NDArray[np.int64]) -> Cells:
    """Two nodes may have one label (and the same leaves): one text, one cell."""
    distinct = texts.unique(maintain_order=True)
    if len(distinct) < len(texts):
        number = {text: cell for cell, text in enumerate(distinct)}
        cell_of_group = np.array([number[text] for text in texts])[cell_of_group]
    return Cells(distinct, cell_of_group.astype(np.int32))


def level_cells(column: Column, partition: Partition, level: int) -> Cells:
    """What the groups show if all values are generalized to one level; without a hierarchy, level 1 is `*`."""
    some_row = partition.rows[partition.starts[:-1]]
    code_of_group = column.codes[some_row]
    if column.hierarchy is not None:
        return _distinct(*_node_labels(column, column.hierarchy.node_of_leaf[level][code_of_group]))
    if level:
        return Cells(pl.Series(["*"]), np.zeros(partition.n_groups, np.int32))
    codes, cell_of_group = np.unique(code_of_group, return_inverse=True)
    return _distinct(texts_of_values(column).gather(codes), cell_of_group)


def usual_form(column: Column) -> str:
    """How a quasi-identifier is shown unless something else is asked for."""
    if column.kind is not Kind.CATEGORY:
        return "range"
    return "set" if column.hierarchy is None else "label"


def texts_of_values(column: Column) -> pl.Series:
    """The text of every value of a column, in quotes where it could be misread; null for missing.

    A whole number and a midnight are written alike whatever other values the column has: `20`, `2024-03-31`.
    """
    texts = texts_of(column.values)
    if column.kind is not Kind.CATEGORY:
        return texts.str.replace(_NOTHING_BUT_TYPE, "")
    risky = texts.str.contains(_COULD_BE_MISREAD).fill_null(False)
    if not risky.any():
        return texts
    written = texts.to_list()
    for code in risky.arg_true():
        written[code] = json.dumps(written[code], ensure_ascii=False)
    return pl.Series(written, dtype=pl.String)


def _ranges(column: Column, partition: Partition) -> tuple[pl.Series, NDArray[np.int64]]:
    rows, starts, missing = partition.rows, partition.starts, column.missing_code
    if missing is None:
        least, greatest = bounds_of_groups(column.codes, rows, starts).T.astype(np.int64)
        or_missing = np.zeros(least.size, np.int64)
    else:
        least, greatest, or_missing = bounds_beside(column.codes, rows, starts, missing).T.astype(np.int64)
    n = column.n_values + 1
    keys, cell_of_group = np.unique(((least + 1) * n + greatest + 1) * 2 + or_missing, return_inverse=True)
    least, greatest, or_missing = keys // 2 // n - 1, keys // 2 % n - 1, keys % 2
    texts = texts_of_values(column)
    known = least >= 0
    parts = pl.DataFrame(
        {
            "least": texts.gather(np.where(known, least, 0)),
            "greatest": texts.gather(np.where(known, greatest, 0)),
            "is_value": least == greatest,
            "or_missing": or_missing == 1,
            "known": known,
        }
    )
    one = pl.when("is_value").then("least").otherwise(pl.concat_str("least", pl.lit(".."), "greatest"))
    cell = pl.when("or_missing").then(one + " or missing").otherwise(one)
    return parts.select(pl.when("known").then(cell)).to_series(), cell_of_group


def _grid(column: Column, partition: Partition) -> tuple[pl.Series, NDArray[np.int64]]:
    """Ranges of whole blocks, from the block of the least value to that of the greatest."""
    blocks = blocks_of(column)
    assert blocks is not None
    rows, starts, missing = partition.rows, partition.starts, column.missing_code
    ends = bounds_beside(column.codes, rows, starts, -1 if missing is None else missing).astype(np.int64)
    known = ends[:, 0] >= 0
    ends[:, :2] = np.where(known[:, None], blocks.block_of_code[np.maximum(ends[:, :2], 0)], -1)
    cells, cell_of_group = np.unique(ends, axis=0, return_inverse=True)
    one = pl.concat_str("least", pl.lit(".."), "greatest")
    texts = pl.DataFrame(
        {
            "least": blocks.least.gather(np.maximum(cells[:, 0], 0)),
            "greatest": blocks.greatest.gather(np.maximum(cells[:, 1], 0)),
            "or_missing": cells[:, 2] == 1,
            "known": cells[:, 0] >= 0,
        }
    ).select(pl.when("known").then(pl.when("or_missing").then(one + " or missing").otherwise(one)))
    return texts.to_series(), cell_of_group.reshape(-1)


def _labels(column: Column, partition: Partition) -> tuple[pl.Series, NDArray[np.int64]]:
    tree = column.hierarchy
    if tree is None:
        raise InvalidInput(f"Column {column.name!r} is to be shown by labels and has no hierarchy; give it one.")
    bounds = bounds_of_groups(column.codes, partition.rows, partition.starts)
    return _node_labels(column, tree.common_ancestor(bounds[:, 0], bounds[:, 1]))


def _node_labels(column: Column, node_of_group: Codes) -> tuple[pl.Series, NDArray[np.int64]]:
    """The labels of nodes of the column's hierarchy, in the order of their leaves."""
    tree = column.hierarchy
    assert tree is not None
    nodes = np.unique(node_of_group)
    nodes = nodes[np.lexsort((nodes, tree.n_leaves_of_node[nodes], tree.first_leaf_of_node[nodes]))]
    cell_of_node = np.zeros(tree.n_nodes, np.int64)
    cell_of_node[nodes] = np.arange(nodes.size)
    labels = pl.concat([texts_of_values(column), tree.labels.slice(tree.n_leaves)])
    return labels.gather(nodes), cell_of_node[node_of_group]


def _sets(column: Column, partition: Partition) -> tuple[pl.Series, NDArray[np.int64]]:
    if column.n_values <= 64:
        masks = masks_of_groups(column.codes, partition.rows, partition.starts)
        distinct, cell_of_group = np.unique(~masks, return_inverse=True)  # sets with the least code come first
        bits = (~distinct[:, None] >> np.arange(63, 63 - column.n_values, -1, dtype=np.uint64)) & np.uint64(1)
        cell, code = np.nonzero(bits)
    else:
        first, item = sets_of_groups(column.codes, partition.rows, partition.starts)
        number, representatives = number_lists(first, item)
        lists = [item[first[group] : first[group + 1]] for group in representatives]
        sizes = np.array([members.size for members in lists])
        ended = [np.append(members, np.int32(column.n_values)) for members in lists]  # as masks are ordered
        order = order_of_lists(np.append(0, np.cumsum(sizes + 1)), np.concatenate(ended))
        cell_of_number = np.empty(order.size, np.int64)
        cell_of_number[order] = np.arange(order.size)
        cell_of_group = cell_of_number[number]
        cell, code = np.repeat(np.arange(order.size), sizes[order]), np.concatenate([lists[i] for i in order])
    everything = column.n_values if partition.kept is None else np.unique(column.codes[partition.kept]).size
    members = texts_of_values(column).gather(code)
    sets = pl.DataFrame({"cell": cell, "member": members}).group_by("cell", maintain_order=True)
    joined = pl.concat_str(pl.lit("{"), pl.col("text").fill_null("missing"), pl.lit("}"))
    texts = sets.agg(
        text=pl.col("member").fill_null("missing").str.join(", "), one=pl.col("member").first(), size=pl.len()
    ).select(
        pl.when(pl.col("size") == 1).then("one").when(pl.col("size") == everything).then(pl.lit("*")).otherwise(joined)
    )
    return texts.to_series(), cell_of_group


_FORMS: Mapping[str, Callable[[Column, Partition], tuple[pl.Series, NDArray[np.int64]]]] = {
    "range": _ranges,
    "label": _labels,
    "set": _sets,
    "grid": _grid,
}
