# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_audit.py
"""Files that other tools published, and how these tools searched; a recipe says what the tool was given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from overt.adversary.other_tools.searches import FirstOnPath, LeastCost, MedianCuts, ToolSearch
from overt.engine.course import prepare
from overt.errors import InvalidInput
from overt.io.files import read_release
from overt.io.recipe.recipe import Recipe
from overt.method import Searching
from overt.progress import Progress
from overt.table import Table


@dataclass(frozen=True, eq=False)
class ToolFile:
    """What another tool published, the original, and its search."""

    search: ToolSearch
    table: Table
    shown: pl.DataFrame | None  # none where the search is made again from the original


def read_tool_file(recipe: Recipe, made_by: str, path: Path | None, on_progress: Progress) -> ToolFile:
    """A published file, held against the original where its tool's search is made again."""
    if made_by not in SEARCHES:
        raise InvalidInput(f"There is no search of {made_by!r}; there are {', '.join(SEARCHES)}.")
    if path is None and made_by != "anonypy":
        raise InvalidInput(f"The search of {made_by} is replayed from the published file; name it with --release.")
    search, table = SEARCHES[made_by](recipe), prepare(recipe, on_progress).table
    shown = None if path is None else read_release(path, neutralised=False)
    if shown is not None and isinstance(search, MedianCuts):
        search.require_result(table, shown)
    return ToolFile(search, table, shown)


def _as_arx(recipe: Recipe) -> LeastCost:
    method = recipe.method
    given: dict[str, Any] = {}
    if isinstance(method, Searching):
        given = {"optimise": method.optimise, "max_suppressed": method.max_suppressed}
    return LeastCost(goal=recipe.goal, **given)


SEARCHES: dict[str, Callable[[Recipe], ToolSearch]] = {
    "arx": _as_arx,
    "anjana": lambda recipe: FirstOnPath(goal=recipe.goal),
    "anonypy": lambda recipe: MedianCuts(goal=recipe.goal),
}
