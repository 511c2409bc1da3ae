# SPDX-License-Identifier: Apache-2.0
# Tested through tests/contracts/test_file_shapes.py
"""Group shape: what a method promises of its groups that can be seen in files. A method says it, and a check, which knows no method, looks for it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class GroupShape:
    """What a method promises of its groups, as far as files show it."""

    method: str
    tables: frozenset[str] = frozenset({"release"})
    l: int | None = None  # what l-diversity the promises speak of
    sizes: Literal["any", "even", "least"] = (
        "any"  # floor(n / l) groups: as even as can be, or of l with the rest beside
    )
    differ: bool = False  # all values of a group, if groups can be told apart
    strata: tuple[str, ...] = ()  # no group mixes values of these
    cuts: bool = False  # groups are made by cuts between values, one after the other
    one_level: bool = False  # all cells of a column are at one level of its hierarchy
    levels: Literal["together", "each"] | None = None  # groups are the rows that are alike at some levels
    boxes: bool = False  # a flat table shows boxes, not exact quasi-identifiers
    least_box: int = 1  # rows that show the same box
    least_bucket: int = 1  # rows of a bucket
    crossed: int | None = None  # this many people of a box, over buckets that show the same boxes
    tight: bool = False  # boxes are no wider than their rows
