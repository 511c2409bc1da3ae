# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_check.py
"""Promises: what the method of a recipe promises of files, in the terms of a check that knows no method."""

from dataclasses import replace

from overt.checks import Claim
from overt.group_shape import GroupShape
from overt.io.recipe.recipe import Recipe
from overt.privacy import exact
from overt.table import Table


def shape_of(recipe: Recipe) -> GroupShape:
    """What can be seen of the method that a recipe names, in the tables that the recipe asks for."""
    shape = recipe.method.file_shape
    return replace(shape, tables=frozenset({"flat"})) if recipe.settings.output.flat else shape


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
