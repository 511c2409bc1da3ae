# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""What a method at scale has made: the tables of a release, in fragments that are not yet written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class MadeTables:
    """The tables by name."""

    tables: Mapping[str, Any] = field(repr=False)
    n_fragments: int
    n_suppressed: int = 0
    remarks: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)  # columns that are shown at one level of their hierarchies
