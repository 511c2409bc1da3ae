# SPDX-License-Identifier: Apache-2.0
"""Tiers: what is certain of quasi-identifiers with the cells alone, with their tightness, and with the method.

A cell of a row is refined if some row of its class surely has a finer value there; a reader does not know which of them. Everything
is counted so that it holds at the least: of a class, one column at a time, unless several columns are certain together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.downcoding.bounds import CountBounds, Counts
from overt.adversary.downcoding.published import Published, PublishedColumn
from overt.kernels.lone_boxes import find_lone_boxes
from overt.table import Kind

MOST_COMPARED = (
    2_000_000_000  # boxes that are held against each other, beyond which nobody is said to be alone in the table
)


@dataclass(frozen=True)
class Alone:
    """Rows that a predicate made of their class and a recovered value picks out alone."""

    n_in_class: int
    n_in_table: (
        int | None
    )  # of these, those that no other class can have a row beside; None if there were too many to compare
    expected_rows: (
        float | None
    )  # how many rows of such a table the predicate would hold for, columns being independent (the median)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"in_class": self.n_in_class, "in_table": self.n_in_table, "expected_rows": self.expected_rows}


@dataclass(frozen=True)
class Tier:
    """What is certain at one tier."""

    name: str
    n_finer: int  # generalized cells for which a strictly finer label is certain
    n_exact: int  # those for which it is a single value
    n_rows_known: int  # rows with every quasi-identifier certain, those published exactly among them
    n_rows_below: int  # rows in classes below k in a table that follows from the release
    alone: Alone
    finer_of_column: tuple[int, ...]
    guessed: float | None = (
        None  # generalized cells whose exact value a guess gets right, on the average; for the owner
    )

    def to_dict(self, n_generalized: int, n_rows: int) -> dict[str, Any]:
        """Plain values, with shares."""
        return {
            "cells_finer": self.n_finer,
            "share_of_cells_finer": self.n_finer / max(1, n_generalized),
            "cells_exact": self.n_exact,
            "rows_known": self.n_rows_known,
            "rows_below_k": self.n_rows_below,
            "share_of_rows_below_k": self.n_rows_below / max(1, n_rows),
            "alone": self.alone.to_dict(),
            "guessed_right": None if self.guessed is None else self.guessed / max(1, n_generalized),
        }


def measure_tier(
    name: str, published: Published, bounds: Sequence[CountBounds], k: int, n_rows_of_value: Sequence[Counts]
) -> Tier:
    """Count what bounds on the classes of a release make certain. How often values occur only weighs predicates."""
    sizes = published.n_rows
    finer = [refined(column, of_column) for column, of_column in zip(published.columns, bounds, strict=True)]
    below = np.zeros_like(sizes)
    exact = 0
    for column, of_column in zip(published.columns, bounds, strict=True):
        exact += int(np.where(column.is_generalized, of_column.sum(of_column.lo * of_column.is_value), 0).sum())
        below = np.maximum(below, rows_below(column, of_column, k))
    return Tier(
        name=name,
        n_finer=sum(int(of_column.sum()) for of_column in finer),
        n_exact=exact,
        n_rows_known=int(rows_known(bounds, sizes).sum()),
        n_rows_below=int(below.sum()),
        alone=find_alone(published, bounds, n_rows_of_value),
        finer_of_column=tuple(int(of_column.sum()) for of_column in finer),
    )


def refined(column: PublishedColumn, bounds: CountBounds) -> Counts:
    """(class) -> rows for which a finer value than the cell is certain."""
    sizes = bounds.n_rows
    counted = np.minimum(sizes, bounds.sum(np.where(is_finer(column, bounds), bounds.lo, 0)))
    if column.form in ("range", "set"):  # all values but one make a shorter range, or a smaller set
        rest = bounds.lo + bounds.spread(sizes) - bounds.hi
        if column.form == "range":
            rest = np.where(_is_end(bounds), rest, 0)
        counted = np.maximum(counted, np.where(bounds.n_items > 1, bounds.most(rest), 0))
    counted = np.where(possible_is_finer(column, bounds), sizes, counted)
    result: Counts = np.where(column.is_generalized, np.minimum(counted, sizes), 0)
    return result


def is_finer(column: PublishedColumn, bounds: CountBounds) -> NDArray[np.bool_]:
    """(item) -> whether it holds fewer values than the cell."""
    finer: NDArray[np.bool_] = bounds.greatest - bounds.least + 1 < bounds.spread(column.width)
    return finer


def possible_is_finer(column: PublishedColumn, bounds: CountBounds) -> NDArray[np.bool_]:
    """(class) -> whether what remains possible is a finer cell of the same form."""
    possible = bounds.hi > 0
    n_codes = column.column.n_values
    least = n_codes - bounds.most(np.where(possible, n_codes - bounds.least, 0))
    greatest = bounds.most(np.where(possible, bounds.greatest, -1))
    narrower: NDArray[np.bool_]
    if column.form == "set":
        narrower = bounds.most(~possible) > 0
        return narrower
    tree = column.column.hierarchy
    if column.form in ("range", "grid") and column.column.kind is not Kind.CATEGORY:
        low, high = column.hull
        narrower = (least > low) | (greatest < high)
    elif tree is None:
        narrower = (least == greatest) & column.is_generalized
    else:
        node = tree.common_ancestor(least, greatest)
        narrower = tree.n_leaves_of_node[node] < column.width
    return narrower


def _is_end(bounds: CountBounds) -> NDArray[np.bool_]:
    """(item) -> whether it is the first or the last of its cell."""
    is_end = np.zeros(bounds.lo.size, np.bool_)
    is_end[bounds.first[:-1]] = True
    is_end[bounds.first[1:] - 1] = True
    return is_end


def rows_below(column: PublishedColumn, bounds: CountBounds, k: int) -> Counts:
    """(class) -> rows in classes below k, if the finer values of this column are written into the table.

    Rows without a certain one keep the cell, and are a class of their own.
    """
    counted = np.where(is_finer(column, bounds), bounds.lo, 0)
    named = bounds.sum(counted)
    rest = bounds.n_rows - named
    below = bounds.sum(np.where(counted < k, counted, 0)) + np.where(rest < k, rest, 0)
    result: Counts = np.where(named > 0, below, 0)
    return result


def rows_known(bounds: Sequence[CountBounds], sizes: Counts) -> Counts:
    """(class) -> rows all of whose values are certain.

    If each of several columns has one value for nearly all rows, some rows have them all: n minus those that each may lack.
    """
    lacking = [sizes - of_column.most(of_column.lo * of_column.is_value) for of_column in bounds]
    together: Counts = np.sum(lacking, axis=0)
    best = np.zeros_like(sizes)
    for of_column, own in zip(bounds, lacking, strict=True):
        others = of_column.spread(together - own)
        known = np.maximum(of_column.lo * of_column.is_value - others, 0)
        best = np.maximum(best, of_column.sum(known))
    return best


def find_alone(published: Published, bounds: Sequence[CountBounds], n_rows_of_value: Sequence[Counts]) -> Alone:
    """Rows that are certainly the only one of their class with a value."""
    classes, columns, items, n_alone = [], [], [], np.zeros_like(published.n_rows)
    for j, (column, of_column) in enumerate(zip(published.columns, bounds, strict=True)):
        is_alone = (of_column.lo == 1) & (of_column.hi == 1) & is_finer(column, of_column)
        n_alone = np.maximum(n_alone, of_column.sum(is_alone))
        item = np.flatnonzero(is_alone)
        classes.append(np.repeat(np.arange(published.n_classes), of_column.n_items)[item])
        columns.append(np.full(item.size, j))
        items.append(item)
    n_in_class = int(n_alone.sum())
    if not n_in_class:
        return Alone(0, 0, None)
    low, high = (np.stack(ends) for ends in zip(*(column.hull for column in published.columns), strict=True))
    of_box, column_of_box = np.concatenate(classes), np.concatenate(columns)
    least = np.concatenate([of_column.least[item] for of_column, item in zip(bounds, items, strict=True)])
    greatest = np.concatenate([of_column.greatest[item] for of_column, item in zip(bounds, items, strict=True)])
    expected = float(np.median(_expected_rows(published, of_box, column_of_box, least, greatest, n_rows_of_value)))
    if of_box.size * published.n_classes > MOST_COMPARED:
        return Alone(n_in_class, None, expected)
    is_lone = np.zeros(of_box.size, np.bool_)
    find_lone_boxes(of_box, column_of_box, least.astype(np.int64), greatest.astype(np.int64), low, high, is_lone)
    by_column = np.zeros((len(published.columns), published.n_classes), np.int64)
    np.add.at(by_column, (column_of_box[is_lone], of_box[is_lone]), 1)
    return Alone(n_in_class, int(by_column.max(axis=0).sum()), expected)


def _expected_rows(
    published: Published,
    class_of_box: Counts,
    column_of_box: Counts,
    least: NDArray[Any],
    greatest: NDArray[Any],
    n_rows_of_value: Sequence[Counts],
) -> NDArray[np.float64]:
    """(box) -> the rows that a table with these frequencies would have in it, if its columns were independent."""
    n_rows = int(published.n_rows.sum())
    weight = np.full(class_of_box.size, float(n_rows))
    for j, (column, counts) in enumerate(zip(published.columns, n_rows_of_value, strict=True)):
        below = np.append(0, np.cumsum(counts)) / max(1, int(counts.sum()))
        items = below[column.cells.greatest + 1] - below[column.cells.least]
        share = np.add.reduceat(items, column.cells.first[:-1])[column.cell_of_class][class_of_box]
        own = column_of_box == j
        share[own] = below[greatest[own] + 1] - below[least[own]]
        weight *= share
    return weight
