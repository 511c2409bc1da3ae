# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_steps.py
"""Known columns: what somebody might know of a person, exactly or as coarsely as a level of its hierarchy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from overt.table import Column, Table

LABELS_OF_UNITS = {"day": "day", "month": "month", "quarter": "quarter", "year": "year", "decade": "decade"}


@dataclass(frozen=True)
class KnownColumn:
    """A column at a level; level 0 is the exact value."""

    column: str
    level: int
    words: str  # how it is known

    @property
    def key(self) -> str:
        """As a form sends it."""
        return f"{self.level} {self.column}"


def knowable(table: Table) -> tuple[KnownColumn, ...]:
    """What might be known: every quasi-identifier exactly, and at the levels of its hierarchy below the root."""
    found = []
    for column in table.quasi_identifiers:
        found.append(KnownColumn(column.name, 0, "exactly"))
        if column.hierarchy is not None:
            for level in range(1, column.hierarchy.n_levels - 1):
                example = column.hierarchy.labels[int(column.hierarchy.node_of_leaf[level, 0])]
                found.append(KnownColumn(column.name, level, f"as {example}"))
    return tuple(found)


def table_known(table: Table, known: Sequence[KnownColumn]) -> Table:
    """The table with these columns alone, as coarse as they are known."""
    return Table(tuple(at_level(table.column(one.column), one.level) for one in known), pl.DataFrame())


def at_level(column: Column, level: int) -> Column:
    """A column whose values are the labels of a level of its hierarchy."""
    if level == 0 or column.hierarchy is None:
        return replace(column, hierarchy=None)
    nodes, code_of_leaf = np.unique(column.hierarchy.node_of_leaf[level], return_inverse=True)
    labels = column.hierarchy.labels.gather(nodes)
    return Column(column.name, column.role, column.kind, code_of_leaf.astype(np.int32)[column.codes], labels)
