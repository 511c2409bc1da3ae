# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""What a method at scale has made: the tables of a release, in fragments that are not yet written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from overt.engine.scale.seam import Data, FragmentOf, RowBatch
from overt.method import Method
from overt.partition import Partition
from overt.release import GeneralizedRelease, Release
from overt.table import Column, Table

FindRelease = Callable[[int, RowBatch, Method], Release]  # of the rows of one fragment


@dataclass(frozen=True, eq=False)
class MadeGroups:
    """The groups that show boxes or labels, to be found again: of which rows, in which fragments, and what a fragment would be as a release of its own."""

    data: Data = field(repr=False)
    number: FragmentOf
    find: FindRelease


def release_of_groups(quasi: tuple[Column, ...], groups: Partition, made_by: Method) -> GeneralizedRelease:
    """The rows of a fragment as a release of their own; its columns have the totals of the whole table."""
    return GeneralizedRelease(Table(quasi, pl.DataFrame()), groups, made_by)


@dataclass(frozen=True, eq=False)
class MadeTables:
    """The tables by name."""

    tables: Mapping[str, Any] = field(repr=False)
    n_fragments: int
    n_suppressed: int = 0
    remarks: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)  # columns that are shown at one level of their hierarchies
    groups: MadeGroups | None = None  # None: quasi-identifiers are shown as they are
