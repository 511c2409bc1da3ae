# SPDX-License-Identifier: Apache-2.0
# Tested through tests/hierarchy/test_levels.py
"""Builder: what every way to make a hierarchy has in common, and the planting of the tree itself."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.hierarchy.tree import Hierarchy, starts_of_runs
from overt.table import Kind

Counts = NDArray[np.int64]


class Builder(Protocol):
    """A way to make a hierarchy: its fields say how, `build` is its one verb."""

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        """Make the hierarchy of a column's sorted distinct values (a null, if any, last).

        `n_rows_of_value` says how often each value occurs; only `Quantiles` looks at it.
        """


class Level(NamedTuple):
    """One level between leaves and root: neighbouring leaves in blocks."""

    starts: NDArray[np.int64]  # (block) -> its first leaf
    labels: Sequence[str | None]  # (block) -> text; None where the node of the level below stands for itself


def plant(leaves: pl.Series, levels: Sequence[Level], *, root: str = "*") -> Hierarchy:
    """The hierarchy over ordered leaves (a null last, not in the levels) whose levels, finest first, are given.

    A block that holds the same leaves as a node below and has the same label is that node.
    """
    n_leaves = len(leaves)
    labels = texts_of(leaves).alias("label")
    node_of_leaf = [np.arange(n_leaves, dtype=np.int32)]
    missing = [n_leaves - 1] if leaves.null_count() else []
    for starts, names in levels:
        blocks = Level(np.append(starts, missing).astype(np.int64), [*names, *(None for _ in missing)])
        nodes, labels = _stack(blocks, node_of_leaf[-1], labels)
        node_of_leaf.append(nodes)
    top = node_of_leaf[-1]
    if not (n_leaves and (top == top[0]).all() and top[0] >= n_leaves and labels[int(top[0])] == root):
        labels = pl.concat([labels, pl.Series([root])])
    node_of_leaf.append(np.full(n_leaves, len(labels) - 1, np.int32))
    return Hierarchy(leaves, labels, np.stack(node_of_leaf))


def _stack(blocks: Level, below: NDArray[np.int32], labels: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """The nodes of the next level, and the labels with those of its new nodes."""
    starts, names = blocks.starts, pl.Series(blocks.labels, dtype=pl.String)
    ends = np.append(starts[1:], below.size)[: starts.size]
    alone = pl.Series(below[starts] == below[ends - 1])
    known = labels.gather(below[starts])
    is_new = ~(alone & (names.is_null() | (names == known).fill_null(False)))
    rank = is_new.cast(pl.Int64).cum_sum().to_numpy() - 1
    node_of_block = np.where(is_new.to_numpy(), len(labels) + rank, below[starts]).astype(np.int32)
    return np.repeat(node_of_block, ends - starts), pl.concat([labels, names.filter(is_new)])


def known_values(values: pl.Series, kind: Kind) -> pl.Series:
    """The values without the null at the end, if they are a column's distinct values in order."""
    known = values.head(len(values) - values.null_count())
    in_order = kind is Kind.CATEGORY or known.is_sorted()
    if known.null_count() or not in_order or known.n_unique() != len(known):
        raise InvalidInput(
            f"A hierarchy is built from distinct values in ascending order, a null last; those of {column_name(values)} "
            "are not: use `values.unique().sort(nulls_last=True)`."
        )
    return known


def column_name(values: pl.Series) -> str:
    """How a message calls the column."""
    return f"column {values.name!r}" if values.name else "the column"


def contiguous_level(
    keys: NDArray[np.generic], label_of_leaf: Callable[[int], str | None], values: pl.Series, kind: Kind
) -> Level:
    """A level from what each leaf, in order, belongs to; `label_of_leaf` is asked for the first of each block.

    In a column of numbers or dates, blocks must be ranges: what is published as a range has to be one.
    """
    starts = starts_of_runs(keys)
    labels = [label_of_leaf(start) for start in starts.tolist()]
    met = set()
    for key, label in zip(keys[starts].tolist(), labels, strict=True):
        if key in met:
            raise InvalidInput(
                f"The label {label!r} stands for values of {column_name(values)} that are not neighbours, and a "
                f"{kind} column keeps its values in order; declare the column a category."
            )
        met.add(key)
    return Level(starts, labels)
