# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_check.py
"""Promises: what the method of a recipe promises of files, in the terms of a check that knows no method."""

from typing import Any

from overt.checks import Claim
from overt.checks.shapes import GroupShape
from overt.io.recipe.recipe import Recipe
from overt.method import Inferring, Searching
from overt.privacy import KAnonymity, exact
from overt.release import CrossBucketRelease, Release, ShuffledRelease
from overt.table import Table

RELEASE = frozenset(Release.table_names)
BOXES = frozenset(CrossBucketRelease.table_names)
SHUFFLED = frozenset(ShuffledRelease.table_names)
FLAT = frozenset({"flat"})

_SIZES = {"anatomy": "least", "dealing": "even", "rda": "least"}
_DIFFER = ("anatomy", "dealing", "rda", "gda", "batch-matching")


def shape_of(recipe: Recipe) -> GroupShape:
    """What can be seen of the method that a recipe names."""
    method: Any = recipe.method
    name = method.name
    parts = recipe.goal.parts
    l = max(
        (part.least_rows for part in parts if not isinstance(part, KAnonymity)),
        default=None,
    )
    k = max((part.k for part in parts if isinstance(part, KAnonymity)), default=1)
    tables = frozenset(recipe.method.table_names)
    is_crossed, is_safe = name == "cross-bucket", recipe.method.guarantee.resists_replay
    is_merged = l is not None and k > l  # merged groups repeat values
    differ = (name in _DIFFER and not is_merged) or (is_crossed and is_safe and method.bin_width is None)
    is_blind = name == "blind-buckets"
    functions = recipe.method.functions if isinstance(recipe.method, Inferring) else ""
    return GroupShape(
        method=name,
        tables=FLAT if recipe.settings.output.flat else tables,
        l=l,
        sizes=_SIZES.get(name, "any"),  # type: ignore[arg-type]
        differ=differ,
        strata=() if not is_safe and is_crossed else recipe.method.strata,
        cuts=(name == "mondrian" and not method.relaxed) or functions == "median cuts",
        one_level=isinstance(recipe.method, Searching),
        levels={"hierarchy levels": "together", "full domain": "each"}.get(functions),  # type: ignore[arg-type]
        boxes=tables == BOXES,
        least_box=method.box_size if is_blind else 1,
        least_bucket=method.bucket_size if is_blind else 1,
        crossed=method.k if is_crossed and is_safe else None,
        tight=tables in (RELEASE, BOXES, SHUFFLED) and not name.startswith(("record-", "full-domain", "algorithm-")),
    )


def claim_of(recipe: Recipe, n_rows: int, table: Table) -> Claim:
    """What a release of a table made by a recipe claims."""
    form = recipe.method.shows
    show = dict.fromkeys((column.name for column in table.quasi_identifiers), form) if form else {}
    asked = recipe.choices("show")
    show |= asked if table.persons is None else table.persons.expanded(asked)
    return Claim(goal=recipe.goal, n_rows=n_rows, others=recipe.settings.output.others, show=show)


def claimed_rows(recipe: Recipe, n_rows: int, n_lines: int) -> int:
    """As many as the release has or says it has, if its method may suppress the others; else all."""
    least = n_rows - int(exact(recipe.method.max_suppressed) * n_rows)
    return n_lines if least <= n_lines <= n_rows else n_rows
