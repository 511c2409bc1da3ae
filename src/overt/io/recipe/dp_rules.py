# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""Recipes of differentially private releases: what they must not ask for, and which columns they release."""

from collections.abc import Iterator, Mapping
from typing import Any

from overt.io.recipe.settings import Settings
from overt.io.recipe.toml_lines import KeyPath
from overt.method import Method


def dp_contradictions(settings: Settings, method: type[Method]) -> Iterator[tuple[KeyPath, str]]:
    """What a recipe must not ask of a differentially private release."""
    words = "would break the guarantee of a differentially private release"
    if settings.goal:
        yield ("goal", 0), f"{method.name} has no goal: what it holds is epsilon and delta; take [[goal]] out."
    if settings.output.others:
        yield ("output", "others"), f"a column that is released as it is {words}; give it a hierarchy and a role."
    if getattr(settings.input, "query", None) is not None:
        yield (
            ("input", "query"),
            "a query can make many rows of one, or fail because of one, which "
            f"{words}; make a table of what it gives, and name that.",
        )
    if settings.output.flat:
        yield ("output", "flat"), "a differentially private release is one table already; take 'flat' out."
    for name, column in settings.columns.items():
        if getattr(column, "show", None) is not None:
            yield (
                ("columns", name, "show"),
                "a differentially private release shows labels of the hierarchy; take 'show' out.",
            )
        if getattr(column, "repeats", None) is not None:
            yield (
                ("columns", name, "repeats"),
                f"a refusal that depends on the data {words}: look for repeated people beforehand, and take 'repeats' out.",
            )
        if getattr(column, "unreadable", None) is not None:
            yield (
                ("columns", name, "unreadable"),
                "what cannot be read is '*' in a differentially private release, whatever it is; take 'unreadable' out.",
            )
        if getattr(column, "missing", "refuse") != "refuse":
            yield (
                ("columns", name, "missing"),
                "a missing value is '*' in a differentially private release, whatever column it is in; take 'missing' out.",
            )


def released_columns(settings: Settings, hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchies of all columns that have a role in the release, in the order of the recipe; None where there is none."""
    roles = ("quasi-identifier", "sensitive")
    return {name: hierarchies.get(name) for name, column in settings.columns.items() if column.role in roles}
