# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/other_tools/test_published_cells.py
"""The classes of a published table whose cells are labels of any level, and who is in which.

A tool with local recoding shows a column at several levels, so a person's values may be covered by the labels of several classes. But
rows with the same quasi-identifiers look the same to it and are in one class, and how large every class is can be seen. What follows
from that is followed, one combination of quasi-identifiers after the other; in the file of ARX in our tests it tells everybody's class.

Guarantee   Sound if the tool treats rows with the same quasi-identifiers alike. Nothing is guessed: if somebody's class does not follow,
            the file is not read.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.adversary.downcoding.published import GroupCells, Published, chosen_cells
from overt.adversary.other_tools.published_levels import STAR, hand_out, labels_of_levels
from overt.errors import InvalidData, InvalidInput
from overt.lattice import nodes_of_levels
from overt.partition import Partition
from overt.table import Column, Table

MOST_PAIRS = 400_000_000  # combinations of quasi-identifiers times classes


def read_published(table: Table, shown: pl.DataFrame) -> Published:
    """The classes of a published table whose cells are values, labels of any level, or stars."""
    columns = table.quasi_identifiers
    missing = [column.name for column in columns if column.name not in shown.columns]
    if missing:
        raise InvalidInput(
            f"The published table lacks {', '.join(map(repr, missing))}; it has the columns {', '.join(shown.columns)}."
        )
    if shown.is_empty():
        raise InvalidInput("The published file has no rows; give the file that the tool wrote.")
    texts = shown.select(pl.col(column.name).cast(pl.String).fill_null(STAR) for column in columns)
    classes = texts.group_by(pl.all(), maintain_order=True).len("number of rows")
    cells = [_read_labels(column, classes.get_column(column.name)) for column in columns]
    return Published.of_cells(
        columns, ["chosen"] * len(columns), cells, classes.get_column("number of rows").to_numpy()
    )


def _read_labels(column: Column, texts: pl.Series) -> GroupCells:
    """What every label covers."""
    ends: dict[str, tuple[int, int]] = {STAR: (0, column.n_values - 1)}
    levels = nodes_of_levels(column)
    for nodes, labels in zip(reversed(levels), reversed(labels_of_levels(column)), strict=True):
        for code, label in enumerate(labels.to_list()):
            covered = np.flatnonzero(nodes == nodes[code])
            ends[label] = (int(covered[0]), int(covered[-1]))
    unknown = sorted(set(texts.to_list()) - set(ends))
    if unknown:
        raise InvalidData(
            f"{len(unknown)} of the published texts of {column.name!r} are no value of the column and no label of its hierarchy; "
            "give the hierarchy that the tool was given."
        )
    return chosen_cells(np.array([ends[text] for text in texts.to_list()], np.int32))


def read_local_recoding(
    table: Table, shown: pl.DataFrame, name: str
) -> tuple[Table, Partition, bool, NDArray[np.int32]]:
    """The table with the sensitive values of the release, its classes, whether these values are the true ones, and what the classes show.

    Suppressed rows, all stars, are in group -1.
    """
    published = read_published(table, shown)
    columns = table.quasi_identifiers
    class_of_row = class_of_rows(table, published)
    unknown = int((class_of_row < 0).sum())
    if unknown:
        raise InvalidData(
            f"The file shows columns at several levels (local recoding), and the class of {unknown:,} rows does not follow from it and the "
            "original. Are these its hierarchies and its rows?"
        )
    partition = Partition(class_of_row.astype(np.int32), published.n_classes)
    texts = shown.select(pl.col(column.name).cast(pl.String).fill_null(STAR) for column in columns)
    classes = texts.unique(keep="first", maintain_order=True).with_columns(position=published.class_of_group)
    class_of_line = texts.join(classes, on=texts.columns, maintain_order="left")["position"].to_numpy()
    starred = texts.select(pl.all_horizontal(pl.all() == STAR)).to_series().to_numpy()
    of_line = np.where(starred, -1, class_of_line).astype(np.int32)
    filled, released, knows_truth = hand_out(table, name, shown[name], partition, of_line)
    class_of_group = np.unique(of_line[of_line >= 0])  # groups are numbered in this order
    cells = np.stack([column.hull.T[class_of_group] for column in published.columns]).astype(np.int32)
    return filled, released, knows_truth, cells


def class_of_rows(table: Table, published: Published) -> NDArray[np.int64]:
    """(row) -> the class that it is in, -1 where that does not follow."""
    combinations, number, n_rows = np.unique(
        np.stack([column.codes for column in table.quasi_identifiers], axis=1),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    if len(combinations) * published.n_classes > MOST_PAIRS:
        raise InvalidInput("The published file has too many classes to find out who is in which.")
    covers = np.ones((len(combinations), published.n_classes), np.bool_)
    for j, column in enumerate(published.columns):
        low, high = column.hull
        codes = combinations[:, j, None]
        covers &= (low <= codes) & (codes <= high)
    found: NDArray[np.int64] = assign_classes(covers, n_rows, published.n_rows)[number.ravel()]
    return found


def assign_classes(
    covers: NDArray[np.bool_], n_rows: NDArray[np.int64], size_of_class: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(combination) -> the one class that it can be in, -1 where that does not follow; `covers` is (combination, class)."""
    can, left = covers.copy(), size_of_class.astype(np.int64).copy()
    found = np.full(n_rows.size, -1)
    while True:
        is_free = found < 0
        can[is_free] &= n_rows[is_free, None] <= left
        only = np.flatnonzero(is_free & (can.sum(axis=1) == 1))
        found[only] = can[only].argmax(axis=1)
        np.subtract.at(left, found[only], n_rows[only])
        if (left < 0).any():
            raise InvalidInput("The classes of the published file do not have room for the rows of the original.")
        is_free[only] = False
        needs_all = (left > 0) & (n_rows @ (can & is_free[:, None]) == left)
        rest = np.flatnonzero(is_free & (can & needs_all).any(axis=1))
        found[rest] = (can[rest] & needs_all).argmax(axis=1)
        np.subtract.at(left, found[rest], n_rows[rest])
        if (left < 0).any():
            raise InvalidInput("The classes of the published file do not have room for the rows of the original.")
        if not (only.size or rest.size):
            return found
