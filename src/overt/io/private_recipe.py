# SPDX-License-Identifier: Apache-2.0
"""Recipes of private releases: what they must not ask for, and which columns they release."""

from collections.abc import Iterator, Mapping
from typing import Any

from overt.io.settings import Settings
from overt.io.toml_lines import Path as KeyPath


def private_contradictions(settings: Settings, method: Any) -> Iterator[tuple[KeyPath, str]]:
    """What a recipe must not ask of a private release."""
    words = "would break the guarantee of a private release"
    if settings.goal:
        yield ("goal", 0), f"{method.name} has no goal: what it holds is epsilon and delta; take [[goal]] out."
    if settings.output.others:
        yield ("output", "others"), f"a column that is released as it is {words}; give it a hierarchy and a role."
    if settings.output.flat:
        yield ("output", "flat"), "a private release is one table already; take 'flat' out."
    for name, column in settings.columns.items():
        if getattr(column, "show", None) is not None:
            yield ("columns", name, "show"), "a private release shows labels of the hierarchy; take 'show' out."
        if getattr(column, "repeats", None) is not None:
            yield (
                ("columns", name, "repeats"),
                f"a refusal that depends on the data {words}: look for repeated people beforehand, and take 'repeats' out.",
            )
        if getattr(column, "missing", "refuse") != "refuse":
            yield (
                ("columns", name, "missing"),
                "a missing value is '*' in a private release, whatever column it is in; take 'missing' out.",
            )


def released_columns(settings: Settings, hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchies of all columns that have a role in the release, in the order of the recipe; None where there is none."""
    roles = ("quasi-identifier", "sensitive")
    return {name: hierarchies.get(name) for name, column in settings.columns.items() if column.role in roles}
