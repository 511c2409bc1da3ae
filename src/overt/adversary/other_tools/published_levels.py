# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/other_tools/test_searches.py
"""What a full-domain tool published, read back: the levels of its columns, who is in which group, and who was suppressed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.adversary.replay.preferred_nodes import PreferredNodes
from overt.errors import InvalidData, InvalidInput
from overt.lattice import Node, nodes_of_levels
from overt.partition import Partition
from overt.table import Codes, Column, Kind, Role, Table

STAR = "*"


class NoLevels(InvalidInput):
    """A published table does not show each of its columns at one level."""


def read_full_domain(
    table: Table, shown: pl.DataFrame | None, sensitive: str | None
) -> tuple[Table, Node, Partition, bool]:
    """The table with the sensitive values of the release, its levels, its groups, and whether these values are the true ones.

    Suppressed rows, all stars, are in group -1. Without true values each group's are handed out to its members as they come.
    """
    if shown is None:
        raise InvalidInput("A full-domain search is replayed from the published table; give it as a frame.")
    columns = table.quasi_identifiers
    name = table.the_sensitive("An audit").name if table.sensitive else sensitive
    if name is None or not {name, *(column.name for column in columns)} <= set(shown.columns):
        raise InvalidInput(
            "The published table must have all quasi-identifiers and the sensitive column, which is named by `sensitive` "
            f"if the original lacks it; it has the columns {', '.join(shown.columns)}."
        )
    if shown.height != table.n_rows:
        raise InvalidData(f"The published table has {shown.height:,} rows and the original {table.n_rows:,}.")
    lines = Lines.of(shown, columns)
    for node in lines.possible_nodes():
        partition = PreferredNodes(table, "discernibility").partition(node)
        group_of_line = lines.match(partition, node)
        if group_of_line is not None:
            filled, released, knows_truth = hand_out(table, name, shown[name], partition, group_of_line)
            return filled, node, released, knows_truth
    raise NoLevels(
        "No combination of levels makes the groups that the published table shows; are these its hierarchies and its rows?"
    )


@dataclass(frozen=True, eq=False)
class Lines:
    """What a published table shows, as text, and what could be shown."""

    columns: tuple[Column, ...]
    texts: pl.DataFrame  # (line, quasi-identifier)
    starred: "NDArray[np.bool_]"  # (line) -> whether nothing is shown
    labels: list[list[pl.Series]]  # (quasi-identifier)(level)(code)

    @classmethod
    def of(cls, shown: pl.DataFrame, columns: tuple[Column, ...]) -> "Lines":
        texts = shown.select(pl.col(column.name).cast(pl.String).fill_null(STAR) for column in columns)
        starred = texts.select(pl.all_horizontal(pl.all() == STAR)).to_series().to_numpy()
        return cls(columns, texts, starred, [labels_of_levels(column) for column in columns])

    def possible_nodes(self) -> Iterable[Node]:
        """Levels at which all labels occur that are shown by lines that show something; the lowest first."""
        kept = self.texts.filter(~self.starred)
        levels = []
        for column, labels in zip(self.columns, self.labels, strict=True):
            seen = set(kept[column.name].unique().to_list()) or {STAR}
            levels.append([level for level, texts in enumerate(labels) if seen <= set(texts.to_list())])
        return product(*levels)

    def match(self, partition: Partition, node: Node) -> "Codes | None":
        """(line) -> the group of a node that it shows, -1 if it shows nothing; None if that does not fit."""
        first = partition.rows[partition.starts[:-1]]
        of_group = pl.DataFrame(
            {
                column.name: labels[level].gather(column.codes[first])
                for column, labels, level in zip(self.columns, self.labels, node, strict=True)
            }
        ).with_row_index("group")
        names = [column.name for column in self.columns]
        joined = self.texts.with_row_index("line").join(of_group, on=names, how="left", maintain_order="left")
        if joined.height != self.texts.height:
            return None  # two groups look alike
        group = joined["group"].cast(pl.Int32).fill_null(-1).to_numpy().copy()
        is_top = all(len(labels) - 1 == level for labels, level in zip(self.labels, node, strict=True))
        if not is_top:
            group[self.starred] = -1
        shown = np.bincount(group[group >= 0], minlength=partition.n_groups)
        fits = (shown == 0) | (shown == partition.sizes)  # a group is shown as a whole or suppressed as a whole
        return group if fits.all() and not (group[~self.starred] < 0).any() else None


def labels_of_levels(column: Column) -> list[pl.Series]:
    """(level)(code) -> the text that is published."""
    if column.hierarchy is not None:
        labels = column.hierarchy.labels.fill_null(STAR)
        return [labels.gather(nodes) for nodes in nodes_of_levels(column)]
    own = column.values.cast(pl.String).fill_null(STAR)
    return [own, pl.Series([STAR] * len(own), dtype=pl.String)]


def cells_of_levels(table: Table, node: Node, partition: Partition) -> NDArray[np.int32]:
    """(quasi-identifier, group, 2) -> the least and the greatest code that a group's label covers."""
    first = partition.rows[partition.starts[:-1]]
    cells = np.empty((len(node), partition.n_groups, 2), np.int32)
    for j, (column, level) in enumerate(zip(table.quasi_identifiers, node, strict=True)):
        label = nodes_of_levels(column)[level]
        least, greatest = np.full(label.max() + 1, label.size, np.int32), np.full(label.max() + 1, -1, np.int32)
        np.minimum.at(least, label, np.arange(label.size, dtype=np.int32))
        np.maximum.at(greatest, label, np.arange(label.size, dtype=np.int32))
        own = label[column.codes[first]]
        cells[j] = np.column_stack([least[own], greatest[own]])
    return cells


def hand_out(
    table: Table, name: str, values: pl.Series, partition: Partition, group_of_line: Codes
) -> tuple[Table, Partition, bool]:
    """Number the groups that are shown, and hand out the published values, or compare them with the true ones."""
    is_shown = np.bincount(group_of_line[group_of_line >= 0], minlength=partition.n_groups) > 0
    number = np.where(is_shown, np.cumsum(is_shown) - 1, -1).astype(np.int32)
    released = Partition(number[partition.group_of_row], int(is_shown.sum()))
    of_line = np.where(group_of_line < 0, -1, number[group_of_line])
    true = table.the_sensitive("An audit") if table.sensitive else None
    dictionary = values.unique().sort() if true is None else true.values
    texts = pl.DataFrame({"text": dictionary.cast(pl.String), "code": np.arange(len(dictionary), dtype=np.int32)})
    published = pl.DataFrame({"text": values.cast(pl.String)}).join(
        texts, on="text", how="left", maintain_order="left"
    )["code"]
    if published.null_count():
        raise InvalidInput(f"The published table has values of {name!r} that the original does not have.")
    lines, people = np.argsort(of_line, kind="stable"), np.argsort(released.group_of_row, kind="stable")
    codes = np.empty(table.n_rows, np.int32)
    codes[people] = published.to_numpy()[lines]
    if true is None:
        column = Column(name, Role.SENSITIVE, Kind.CATEGORY, codes, dictionary)
        return replace(table, columns=(*table.columns, column)), released, False
    if not np.array_equal(_by_group(released, codes), _by_group(released, true.codes)):
        raise InvalidInput("The groups of the published table do not have the sensitive values that the original has.")
    return table, released, True


def _by_group(partition: Partition, codes: Codes) -> Codes:
    """Values group by group, sorted."""
    return codes[np.lexsort([codes, partition.group_of_row])]
