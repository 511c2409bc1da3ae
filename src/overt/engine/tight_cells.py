# SPDX-License-Identifier: Apache-2.0
"""Columns that a release shows as narrowly as its rows allow, so that their cells name values that somebody has: a caution for the owner."""

from collections.abc import Iterator, Mapping

from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.release import Release
from overt.table import Column, Kind


def find_tight_cells(release: Release, show: Mapping[str, str]) -> Iterator[str]:
    """One sentence, if a quasi-identifier is shown as tight ranges or as sets. `show` is what was asked for, by column."""
    if not release.has_boxes or release.is_row_by_row or not release.n_groups:
        return
    forms = {column.name: _form(release, column, show.get(column.name)) for column in release.table.quasi_identifiers}
    ranges = [name for name, form in forms.items() if form == "range"]
    sets = [name for name, form in forms.items() if form == "set"]
    if not ranges and not sets:
        return
    shown = [f"{_names(ranges)} as ranges that end at somebody's values"] if ranges else []
    shown += [f"{_names(sets)} as sets that name every value of a group"] if sets else []
    remedy = (
        ' Use cells = "grid" to round ranges outward.'
        if any(_has_grid(release.table.column(n)) for n in ranges)
        else ""
    )
    remedy += " With a hierarchy a column shows labels instead of sets." if sets else ""
    yield (
        f"The release shows {' and '.join(shown)}. Somebody who knows nobody's quasi-identifiers can recover some of them from that; `overt audit` "
        f"counts how many.{remedy}"
    )


def _form(release: Release, column: Column, asked: str | None) -> str:
    if asked is None and release.level_of(column) is not None:
        return "level"
    if asked == "grid" or (asked is None and release.shows_on_grid):
        return form_on_grid(column)
    usual = "range" if column.kind is not Kind.CATEGORY else "set" if column.hierarchy is None else "label"
    return asked or usual


def _has_grid(column: Column) -> bool:
    return blocks_of(column) is not None


def _names(names: list[str]) -> str:
    return ", ".join(map(repr, names))
