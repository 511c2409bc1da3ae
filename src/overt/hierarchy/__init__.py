# SPDX-License-Identifier: Apache-2.0
"""Value generalization hierarchies: the tree (`Hierarchy`), and the ways to get one for a column's values.

A builder is a small frozen value that can be printed, compared and written in a recipe. Its one verb,
`build`, makes the hierarchy of the values that a column really has.
"""

from overt.hierarchy.base import Builder
from overt.hierarchy.dates import Dates
from overt.hierarchy.icd10 import Icd10
from overt.hierarchy.levels import Levels
from overt.hierarchy.nested import Flat, Nested
from overt.hierarchy.numbers import CutPoints, Intervals, Quantiles
from overt.hierarchy.prefixes import Prefixes
from overt.hierarchy.tree import Hierarchy

__all__ = [
    "Builder",
    "CutPoints",
    "Dates",
    "Flat",
    "Hierarchy",
    "Icd10",
    "Intervals",
    "Levels",
    "Nested",
    "Prefixes",
    "Quantiles",
]
